#include "store/ct_commit_queue.h"

void ct_commit_queue_init(ct_commit_queue *queue) {
    pthread_mutex_init(&queue->mutex, NULL);
    queue->is_led = 0;
    queue->first = queue->last = NULL;
}

void ct_commit_queue_destroy(ct_commit_queue *queue) { pthread_mutex_destroy(&queue->mutex); }

static void append(ct_commit_place **first, ct_commit_place **last, ct_commit_place *place) {
    place->next = NULL;
    if (*first) (*last)->next = place;
    else *first = place;
    *last = place;
}

/* The first who waits, taken out. */
static ct_commit_place *shift(ct_commit_queue *queue) {
    ct_commit_place *place = queue->first;
    queue->first = place->next;
    return place;
}

/* With the mutex held, under which the place's owner goes on: its condition is gone then. */
static void tell(ct_commit_place *place, ct_commit_state state) {
    place->state = state;
    pthread_cond_signal(&place->told);
}

int ct_commit_join(ct_commit_queue *queue, ct_commit_place *place, ct_commit_group *group) {
    pthread_mutex_lock(&queue->mutex);
    if (!queue->is_led) {
        queue->is_led = 1;
        place->state = CT_COMMIT_LEADS;
    } else {
        place->state = CT_COMMIT_WAITS;
        pthread_cond_init(&place->told, NULL);
        append(&queue->first, &queue->last, place);
        while (place->state == CT_COMMIT_WAITS) pthread_cond_wait(&place->told, &queue->mutex);
        pthread_cond_destroy(&place->told);
    }
    int leads = place->state == CT_COMMIT_LEADS;
    pthread_mutex_unlock(&queue->mutex);
    place->next = NULL;
    if (leads) *group = (ct_commit_group){place->messages, place->bytes, place, place};
    return leads;
}

ct_commit_place *ct_commit_take(ct_commit_queue *queue, ct_commit_group *group) {
    ct_commit_place *place = NULL;
    pthread_mutex_lock(&queue->mutex);
    if (queue->first && group->messages + queue->first->messages <= CT_COMMIT_MESSAGES &&
        group->bytes + queue->first->bytes <= CT_COMMIT_BYTES) {
        place = shift(queue);
        append(&group->first, &group->last, place);
        group->messages += place->messages;
        group->bytes += place->bytes;
    }
    pthread_mutex_unlock(&queue->mutex);
    return place;
}

void ct_commit_part(ct_commit_queue *queue, const ct_commit_group *group) {
    pthread_mutex_lock(&queue->mutex);
    /* The next leader first: the store waits for it. */
    if (queue->first) tell(shift(queue), CT_COMMIT_LEADS);
    else queue->is_led = 0;
    for (ct_commit_place *place = group->first->next, *next; place; place = next) {
        next = place->next;
        tell(place, CT_COMMIT_DONE);
    }
    pthread_mutex_unlock(&queue->mutex);
}
