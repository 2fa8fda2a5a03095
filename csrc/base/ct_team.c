#include "base/ct_team.h"

#include <pthread.h>
#include <signal.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

typedef struct member {
    ct_team *team;
    size_t number;
    pthread_t thread;
} member;

struct ct_team {
    size_t size;
    size_t started; /* threads that there are */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Guarded by mutex. */
    size_t round; /* of work */
    size_t busy;  /* threads that are in it */
    size_t meeting;
    size_t arrived;
    int ending;
    void (*work)(void *state, size_t number);
    void *state;
    member members[];
};

static void *serve(void *argument) {
    member *self = argument;
    ct_team *team = self->team;
    size_t done = 0;
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (team->round == done && !team->ending) pthread_cond_wait(&team->changed, &team->mutex);
        if (team->ending) break;
        done = team->round;
        pthread_mutex_unlock(&team->mutex);
        team->work(team->state, self->number);
        pthread_mutex_lock(&team->mutex);
        if (--team->busy == 0) pthread_cond_broadcast(&team->changed);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

/* The process's signals are for its own threads. */
static int start(member *of) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&of->thread, NULL, serve, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int ct_team_create(size_t size, ct_team **out, ct_error *error) {
    ct_team *team = ct_alloc_zero(sizeof *team + (size - 1) * sizeof *team->members);
    if (!team) return ct_fail_nomem(error);
    team->size = size;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->changed, NULL);
    for (size_t i = 0; i + 1 < size; i++) {
        team->members[i] = (member){.team = team, .number = i + 1};
        if (start(&team->members[i])) {
            ct_team_destroy(team);
            return ct_fail(error, CT_INTERNAL, "cannot start a thread");
        }
        team->started++;
    }
    *out = team;
    return CT_OK;
}

void ct_team_destroy(ct_team *team) {
    if (!team) return;
    pthread_mutex_lock(&team->mutex);
    team->ending = 1;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->mutex);
    for (size_t i = 0; i < team->started; i++) pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->mutex);
    ct_free(team);
}

size_t ct_team_size(const ct_team *team) { return team->size; }

void ct_team_run(ct_team *team, void (*work)(void *state, size_t member), void *state) {
    if (team->size == 1) {
        work(state, 0);
        return;
    }
    pthread_mutex_lock(&team->mutex);
    team->work = work;
    team->state = state;
    team->busy = team->size - 1;
    team->round++;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->mutex);
    work(state, 0);
    pthread_mutex_lock(&team->mutex);
    while (team->busy) pthread_cond_wait(&team->changed, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

void ct_team_meet(ct_team *team) {
    if (team->size == 1) return;
    pthread_mutex_lock(&team->mutex);
    size_t meeting = team->meeting;
    if (++team->arrived == team->size) {
        team->arrived = 0;
        team->meeting++;
        pthread_cond_broadcast(&team->changed);
    } else {
        while (team->meeting == meeting) pthread_cond_wait(&team->changed, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
}
