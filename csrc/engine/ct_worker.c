#include "engine/ct_worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "engine/ct_judge.h"
#include "index/ct_index.h"

/* Chunks of a long message that are stored at once: a crash repeats at most these, and a newer message
 * waits for at most these. */
#define GROUP_CHUNKS 4

/* Messages between two looks whether codes can be saved, in a backlog. */
#define SAVE_MESSAGES 256

/* Messages whose lengths are read at once: about a millisecond. */
#define LENGTHS 4096

#define RETRY_NS 1000000000ll
/* Another process may be embedding what this one waits for. */
#define POLL_NS 5000000ll
/* A backlog is not worth a wait when it is more than so many times what can be embedded in that time,
 * since the pace varies. */
#define HOPELESS 2
/* Weight of the last message in the pace. */
#define PACE_SHARE 8

struct ct_worker {
    ct_store *store;
    ct_encoder *encoder;
    ct_keeper *keeper;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t work;
    pthread_cond_t progress;
    int wanted;      /* guarded by mutex, as the next three */
    uint64_t steps;  /* of progress, so that none goes by between looking and waiting */
    int64_t asked;   /* message that a caller waits for and that goes before newer ones, or 0 */
    int64_t pace_ns; /* that a message takes of late; 0: not known yet */
    int64_t lengths_to; /* message up to which lengths are known; of the thread */
    _Atomic int stopping;
    _Atomic int waits_ended;
    _Atomic int newer; /* messages came in since one was last chosen */
    char last_error[256]; /* guarded by mutex */
};

static void note(ct_worker *worker, const ct_error *error) {
    pthread_mutex_lock(&worker->mutex);
    snprintf(worker->last_error, sizeof worker->last_error, "%.255s", error->message);
    worker->steps++;
    pthread_cond_broadcast(&worker->progress);
    pthread_mutex_unlock(&worker->mutex);
}

static void note_pace(ct_worker *worker, int64_t took_ns) {
    pthread_mutex_lock(&worker->mutex);
    worker->pace_ns += worker->pace_ns ? (took_ns - worker->pace_ns) / PACE_SHARE : took_ns;
    pthread_mutex_unlock(&worker->mutex);
}

static int64_t take_asked(ct_worker *worker) {
    pthread_mutex_lock(&worker->mutex);
    int64_t asked = worker->asked;
    worker->asked = 0;
    pthread_mutex_unlock(&worker->mutex);
    return asked;
}

/* Room for the chunks of one group. */
typedef struct group {
    float *vector;
    unsigned char *codes;
    uint64_t *tokens;
    ct_new_chunk chunks[GROUP_CHUNKS];
} group;

static int embed_group(ct_worker *worker, const ct_pending *message, const ct_chunks *chunks,
                       size_t first, size_t count, group *to, ct_judge *judge, ct_error *error) {
    int32_t dimension = ct_encoder_dimension(worker->encoder);
    size_t code_bytes = ct_code_bytes(dimension);
    size_t words = (size_t)ct_encoder_code_bits(worker->encoder) / 64;
    ct_judge_clear(judge);
    for (size_t i = 0; i < count; i++) {
        if (atomic_load(&worker->stopping)) return CT_CLOSED;
        ct_new_chunk *chunk = &to->chunks[i];
        const int32_t *ids = ct_chunks_ids(chunks, first + i, &chunk->id_count);
        unsigned char *code = to->codes + i * code_bytes;
        uint64_t *tokens = to->tokens + i * chunks->window * words;
        int status = ct_encoder_chunk_codes(worker->encoder, chunks, first + i, CT_URGENCY_BACKLOG,
                                            to->vector, tokens, error);
        if (status) return status;
        ct_judge_chunk(judge, worker->encoder, message, chunks, first + i, to->vector, tokens);
        ct_code_make(to->vector, dimension, code);
        chunk->code = code;
        chunk->code_bytes = code_bytes;
        chunk->tokens = tokens;
        chunk->token_words = chunk->id_count * words;
        chunk->ids = words ? ids : NULL;
    }
    ct_derived derived = {
        .message_id = message->message_id,
        .first_chunk = (int64_t)first,
        .chunks = to->chunks,
        .chunk_count = count,
        .directives = judge->found,
        .directive_count = judge->found_count,
        .done = first + count == chunks->count,
    };
    return ct_store_put_derived(worker->store, &derived, error);
}

static int embed_message(ct_worker *worker, const ct_pending *message, ct_error *error) {
    int32_t dimension = ct_encoder_dimension(worker->encoder);
    size_t words = (size_t)ct_encoder_code_bits(worker->encoder) / 64;
    ct_chunks chunks;
    ct_judge judge = {0};
    int status = ct_encoder_chunk(worker->encoder, message->role, message->text, message->text_bytes, 0,
                                  &chunks, error);
    if (status) return status;
    group room = {
        .vector = ct_alloc((size_t)dimension * sizeof *room.vector),
        .codes = ct_alloc(GROUP_CHUNKS * ct_code_bytes(dimension)),
        .tokens = ct_alloc(GROUP_CHUNKS * chunks.window * words * sizeof *room.tokens),
    };
    if (!room.vector || !room.codes || !room.tokens) status = ct_fail_nomem(error);
    if (!status) status = ct_judge_open(worker->encoder, message, &chunks, &judge, error);
    size_t first = (size_t)message->next_chunk < chunks.count ? (size_t)message->next_chunk : 0;
    while (!status && first < chunks.count) {
        if (atomic_load(&worker->newer) && first > (size_t)message->next_chunk) break; /* goes on later */
        size_t count = chunks.count - first < GROUP_CHUNKS ? chunks.count - first : GROUP_CHUNKS;
        status = embed_group(worker, message, &chunks, first, count, &room, &judge, error);
        first += count;
    }
    ct_free(room.vector);
    ct_free(room.codes);
    ct_free(room.tokens);
    ct_judge_free(&judge);
    ct_chunks_free(&chunks);
    return status;
}

/* CT_NOT_FOUND: nothing waits. */
static int embed_next(ct_worker *worker, ct_error *error) {
    ct_pending message;
    int64_t asked = take_asked(worker), began = ct_clock_ns();
    atomic_store(&worker->newer, 0);
    int status = asked ? ct_store_next_pending(worker->store, asked, &message, error) : CT_NOT_FOUND;
    if (status == CT_NOT_FOUND) status = ct_store_next_pending(worker->store, INT64_MAX, &message, error);
    if (status) return status;
    status = embed_message(worker, &message, error);
    if (!status) note_pace(worker, ct_clock_ns() - began);
    if (status == CT_MODEL || status == CT_INVALID || status == CT_INTERNAL) {
        ct_error second = {0};
        ct_store_mark_failed(worker->store, message.message_id, &second);
    }
    ct_pending_free(&message);
    return status;
}

/* 1 when messages wait to be embedded again. */
static int save(ct_worker *worker) {
    ct_error error = {0};
    int is_wanted = ct_keeper_save(worker->keeper, &error);
    if (error.status == CT_IO || error.status == CT_FULL) note(worker, &error);
    return is_wanted;
}

/* What can be done while nothing waits, a step at a time; 0 when all is done. */
static int tidy(ct_worker *worker) {
    ct_error error = {0};
    int32_t count;
    if (save(worker)) return 1;
    return !ct_store_read_lengths(worker->store, &worker->lengths_to, LENGTHS, &count, &error) && count == LENGTHS;
}

static void *run(void *argument) {
    ct_worker *worker = argument;
    size_t embedded = 0;
    while (!atomic_load(&worker->stopping)) {
        ct_error error = {0};
        int status = embed_next(worker, &error);
        if (status == CT_CLOSED) break;
        if (status != CT_NOT_FOUND) note(worker, &error);
        if (!status) {
            if (++embedded % SAVE_MESSAGES == 0) save(worker);
            ct_store_checkpoint(worker->store, &error);
            if (error.status) note(worker, &error);
            continue;
        }
        if (status == CT_NOT_FOUND && tidy(worker)) continue;
        pthread_mutex_lock(&worker->mutex);
        if (status == CT_NOT_FOUND) {
            worker->steps++;
            pthread_cond_broadcast(&worker->progress);
            while (!worker->wanted && !atomic_load(&worker->stopping))
                pthread_cond_wait(&worker->work, &worker->mutex);
        } else if (!atomic_load(&worker->stopping)) {
            ct_clock_wait(&worker->work, &worker->mutex, ct_clock_ns() + RETRY_NS);
        }
        worker->wanted = 0;
        pthread_mutex_unlock(&worker->mutex);
    }
    return NULL;
}

static void destroy(ct_worker *worker) {
    pthread_cond_destroy(&worker->work);
    pthread_cond_destroy(&worker->progress);
    pthread_mutex_destroy(&worker->mutex);
    ct_free(worker);
}

int ct_worker_start(ct_store *store, ct_encoder *encoder, ct_keeper *keeper, ct_worker **out, ct_error *error) {
    ct_worker *worker = ct_alloc_zero(sizeof *worker);
    if (!worker) return ct_fail_nomem(error);
    worker->store = store;
    worker->encoder = encoder;
    worker->keeper = keeper;
    pthread_mutex_init(&worker->mutex, NULL);
    ct_clock_cond_init(&worker->work);
    ct_clock_cond_init(&worker->progress);
    /* The host's signals are the host's: none is delivered to this thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&worker->thread, NULL, run, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        destroy(worker);
        return ct_fail(error, CT_NOMEM, "cannot start the embedding thread");
    }
    *out = worker;
    return CT_OK;
}

void ct_worker_stop(ct_worker *worker) {
    atomic_store(&worker->stopping, 1);
    pthread_mutex_lock(&worker->mutex);
    pthread_cond_broadcast(&worker->work);
    pthread_cond_broadcast(&worker->progress);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    destroy(worker);
}

void ct_worker_wake(ct_worker *worker) {
    atomic_store(&worker->newer, 1);
    pthread_mutex_lock(&worker->mutex);
    worker->wanted = 1;
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->mutex);
}

/* Whether so much more waits than can be embedded in this time that a caller had better go on. */
static int is_hopeless(ct_worker *worker, int64_t left_ns, int *hopeless, ct_error *error) {
    pthread_mutex_lock(&worker->mutex);
    int64_t pace = worker->pace_ns;
    pthread_mutex_unlock(&worker->mutex);
    *hopeless = 0;
    if (pace <= 0) return CT_OK;
    int64_t most = left_ns / pace * HOPELESS + 1, count = 0;
    int status = ct_store_count_pending_to(worker->store, most + 1, &count, error);
    *hopeless = count > most;
    return status;
}

static uint64_t steps_of(ct_worker *worker) {
    pthread_mutex_lock(&worker->mutex);
    uint64_t steps = worker->steps;
    pthread_mutex_unlock(&worker->mutex);
    return steps;
}

/* Beyond `steps`, with message `asked` before newer ones. */
static void wait_for_progress(ct_worker *worker, uint64_t steps, int64_t asked, int64_t until) {
    pthread_mutex_lock(&worker->mutex);
    worker->wanted = 1; /* the backlog may be another process's */
    if (asked > worker->asked) worker->asked = asked;
    pthread_cond_signal(&worker->work);
    if (worker->steps == steps) ct_clock_wait(&worker->progress, &worker->mutex, until);
    pthread_mutex_unlock(&worker->mutex);
}

/* Of a hopeless backlog only `newest` is waited for; 0: all of any. */
static int wait_once(ct_worker *worker, uint64_t steps, int64_t newest, int64_t deadline_ns, ct_error *error) {
    if (atomic_load(&worker->waits_ended))
        return ct_fail(error, CT_CLOSED, "the engine was closed meanwhile");
    int64_t now = ct_clock_ns();
    if (now >= deadline_ns) return CT_TIMEOUT;
    int hopeless = 0, is_pending = 0;
    int status = newest ? is_hopeless(worker, deadline_ns - now, &hopeless, error) : CT_OK;
    if (!status && hopeless) status = ct_store_is_pending(worker->store, newest, &is_pending, error);
    if (status) return status;
    if (hopeless && !is_pending) return CT_TIMEOUT;
    int64_t until = now + POLL_NS < deadline_ns ? now + POLL_NS : deadline_ns;
    wait_for_progress(worker, steps, hopeless ? newest : 0, until);
    return CT_OK;
}

static int wait_until(ct_worker *worker, int64_t newest, int64_t deadline_ns, ct_error *error) {
    for (;;) {
        int any = 0;
        uint64_t steps = steps_of(worker);
        int status = ct_store_has_pending(worker->store, &any, error);
        if (status || !any) return status;
        status = wait_once(worker, steps, newest, deadline_ns, error);
        if (status) return status;
    }
}

int ct_worker_wait(ct_worker *worker, int64_t deadline_ns, ct_error *error) {
    return wait_until(worker, 0, deadline_ns, error);
}

int ct_worker_catch_up(ct_worker *worker, int64_t deadline_ns, ct_error *error) {
    int64_t newest = 0;
    int status = ct_store_newest(worker->store, &newest, error);
    return status ? status : wait_until(worker, newest, deadline_ns, error);
}

void ct_worker_end_waits(ct_worker *worker) {
    atomic_store(&worker->waits_ended, 1);
    pthread_mutex_lock(&worker->mutex);
    pthread_cond_broadcast(&worker->progress);
    pthread_mutex_unlock(&worker->mutex);
}

void ct_worker_last_error(ct_worker *worker, char *out, size_t capacity) {
    pthread_mutex_lock(&worker->mutex);
    snprintf(out, capacity, "%s", worker->last_error);
    pthread_mutex_unlock(&worker->mutex);
}
