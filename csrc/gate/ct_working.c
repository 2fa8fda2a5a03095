#include "gate/ct_working.h"

#include <math.h>
#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* What is left of an activation after a turn: half after two. */
#define KEPT 0.7

/* Part of what is missing to 1 that one strong reminder adds. */
#define RISE 0.6

/* Forgotten below: a strong reminder lasts seven turns. */
#define LEAST 0.05

typedef struct session {
    char *name;
    ct_active items[CT_WORKING_ITEMS]; /* most active first */
    size_t count;
    uint64_t used;
} session;

struct ct_working {
    pthread_mutex_t mutex;
    session list[CT_WORKING_SESSIONS];
    size_t count;
    uint64_t uses;
};

int ct_working_create(ct_working **out, ct_error *error) {
    ct_working *working = ct_alloc_zero(sizeof *working);
    if (!working) return ct_fail_nomem(error);
    pthread_mutex_init(&working->mutex, NULL);
    *out = working;
    return CT_OK;
}

void ct_working_free(ct_working *working) {
    if (!working) return;
    for (size_t i = 0; i < working->count; i++) ct_free(working->list[i].name);
    pthread_mutex_destroy(&working->mutex);
    ct_free(working);
}

static session *find(ct_working *working, const char *name) {
    for (size_t i = 0; i < working->count; i++)
        if (strcmp(working->list[i].name, name) == 0) return &working->list[i];
    return NULL;
}

/* A place for a session that has none; NULL when memory is short. */
static session *make(ct_working *working, const char *name) {
    char *kept = ct_copy_string(name);
    if (!kept) return NULL;
    session *at = &working->list[0];
    if (working->count < CT_WORKING_SESSIONS) {
        at = &working->list[working->count++];
    } else {
        for (size_t i = 1; i < working->count; i++)
            if (working->list[i].used < at->used) at = &working->list[i];
        ct_free(at->name);
    }
    *at = (session){.name = kept};
    return at;
}

static void take_out(session *of, size_t at) {
    of->count--;
    memmove(of->items + at, of->items + at + 1, (of->count - at) * sizeof *of->items);
}

/* Of two that are as active the one that came last goes first. */
static void put_in(session *to, ct_active item) {
    size_t at = 0;
    while (at < to->count && to->items[at].activation > item.activation) at++;
    if (at == CT_WORKING_ITEMS) return;
    if (to->count == CT_WORKING_ITEMS) to->count--;
    memmove(to->items + at + 1, to->items + at, (to->count - at) * sizeof *to->items);
    to->items[at] = item;
    to->count++;
}

void ct_working_turn(ct_working *working, const char *name) {
    pthread_mutex_lock(&working->mutex);
    session *of = find(working, name);
    for (size_t i = 0; of && i < of->count; i++) of->items[i].activation *= KEPT;
    while (of && of->count && of->items[of->count - 1].activation < LEAST) of->count--;
    pthread_mutex_unlock(&working->mutex);
}

static void rise(session *of, const ct_active *by) {
    ct_active item = {by->message_id, 0};
    for (size_t i = 0; i < of->count; i++)
        if (of->items[i].message_id == by->message_id) {
            item = of->items[i];
            take_out(of, i);
            break;
        }
    item.activation += (1 - item.activation) * RISE * fmin(fmax(by->activation, 0), 1);
    if (item.activation >= LEAST) put_in(of, item);
}

int ct_working_rise(ct_working *working, const char *name, const ct_active *messages, size_t count, ct_error *error) {
    pthread_mutex_lock(&working->mutex);
    session *of = find(working, name);
    if (!of && count) of = make(working, name);
    int status = of || !count ? CT_OK : ct_fail_nomem(error);
    if (of) of->used = ++working->uses;
    /* Backwards: of those that are as strong the first is the most active. */
    for (size_t i = count; of && i > 0; i--) rise(of, &messages[i - 1]);
    pthread_mutex_unlock(&working->mutex);
    return status;
}

size_t ct_working_read(ct_working *working, const char *name, ct_active *out) {
    pthread_mutex_lock(&working->mutex);
    const session *of = find(working, name);
    size_t count = of ? of->count : 0;
    for (size_t i = 0; i < count; i++) out[i] = of->items[i];
    pthread_mutex_unlock(&working->mutex);
    return count;
}
