/* Lifetimes: who may be in a call, in which process, and what is torn down in which order. */
#include <pthread.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "base/ct_utf8.h"
#include "encoder/ct_encoder.h"
#include "engine/ct_keeper.h"
#include "engine/ct_worker.h"
#include "index/ct_index.h"
#include "recall/ct_recall.h"
#include "store/ct_result.h"
#include "store/ct_store.h"

#define TEXT_BYTES_MAX (16u << 20)
#define LIMIT_MAX 10000

/* With fewer chunks a search by words takes no longer than it takes to wake a thread that does it. */
#define HELPED_CHUNKS 4096

struct ct_engine {
    pid_t owner;
    pthread_mutex_t mutex;
    pthread_cond_t idle;
    int calls; /* in flight, guarded by mutex */
    int closed;
    int counted; /* in ct_process */
    ct_encoder *encoder;
    ct_store *store;
    ct_index *index;
    ct_keeper *keeper;
    ct_worker *worker;
    ct_recall_nearby nearby; /* guarded by mutex */
    pthread_mutex_t helper_mutex; /* held by the recall that has the helper */
    ct_team *helper; /* of two; made when it is first of use */
    int has_cores;   /* more than one */
};

/* Begin a call.  Everything after a CT_OK is undone by leave. */
static int enter(ct_engine *engine, ct_error *error) {
    if (engine->owner != getpid())
        return ct_fail(error, CT_FORKED,
                       "this engine was opened before a fork, which SQLite cannot cross: start the process by "
                       "spawn, or fork first and open the store then");
    int status = CT_OK;
    pthread_mutex_lock(&engine->mutex);
    if (engine->closed) status = ct_fail(error, CT_CLOSED, "the engine is closed");
    else engine->calls++;
    pthread_mutex_unlock(&engine->mutex);
    return status;
}

static void leave(ct_engine *engine) {
    pthread_mutex_lock(&engine->mutex);
    if (--engine->calls == 0) pthread_cond_broadcast(&engine->idle);
    pthread_mutex_unlock(&engine->mutex);
}

static void release_parts(ct_engine *engine) {
    ct_team_destroy(engine->helper);
    engine->helper = NULL;
    if (engine->worker) ct_worker_stop(engine->worker);
    ct_keeper_free(engine->keeper);
    if (engine->store) ct_store_close(engine->store);
    if (engine->counted) ct_process_leave();
    ct_index_destroy(engine->index);
    ct_encoder_release(engine->encoder);
    engine->worker = NULL;
    engine->keeper = NULL;
    engine->store = NULL;
    engine->index = NULL;
    engine->encoder = NULL;
}

int ct_engine_open(const ct_engine_options *options, ct_encoder *encoder, ct_engine **out,
                   ct_error *error) {
    ct_error_clear(error);
    ct_engine *engine = ct_alloc_zero(sizeof *engine);
    if (!engine) return ct_fail_nomem(error);
    engine->owner = getpid();
    engine->has_cores = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_mutex_init(&engine->helper_mutex, NULL);
    pthread_cond_init(&engine->idle, NULL);
    engine->encoder = ct_encoder_retain(encoder);
    ct_store_options store_options = {
        .path = options->path,
        .durability = options->durability,
        .busy_ms = options->busy_ms,
        .fingerprint = ct_encoder_fingerprint(encoder),
        .dimension = ct_encoder_dimension(encoder),
    };
    int status = ct_encoder_check_owner(encoder, error);
    if (!status) status = ct_process_enter(error);
    engine->counted = !status;
    if (!status) status = ct_store_open(&store_options, &engine->store, error);
    if (!status) status = ct_index_create(store_options.dimension, &engine->index, error);
    if (!status) status = ct_keeper_open(engine->store, encoder, engine->index, &engine->keeper, error);
    if (!status) status = ct_worker_start(engine->store, encoder, engine->keeper, &engine->worker, error);
    if (status) {
        ct_engine_free(engine);
        return status;
    }
    *out = engine;
    return CT_OK;
}

void ct_engine_close(ct_engine *engine) {
    if (engine->owner != getpid()) return;
    pthread_mutex_lock(&engine->mutex);
    int first = !engine->closed;
    engine->closed = 1;
    if (first && engine->worker) ct_worker_end_waits(engine->worker);
    while (engine->calls > 0) pthread_cond_wait(&engine->idle, &engine->mutex);
    if (first) release_parts(engine);
    pthread_mutex_unlock(&engine->mutex);
}

void ct_engine_free(ct_engine *engine) {
    if (!engine || engine->owner != getpid()) return;
    ct_engine_close(engine);
    pthread_cond_destroy(&engine->idle);
    pthread_mutex_destroy(&engine->mutex);
    pthread_mutex_destroy(&engine->helper_mutex);
    ct_free(engine);
}

void ct_engine_drop(ct_engine **holder) { ct_engine_free(*holder); }

/* ---- ingest -------------------------------------------------------------------------------- */

static int check_text(const char *text, size_t bytes, const char *what, ct_error *error) {
    if (!text) return ct_fail(error, CT_INVALID, "%s is missing", what);
    if (bytes > TEXT_BYTES_MAX)
        return ct_fail(error, CT_INVALID, "%s has %zu bytes; at most %u are allowed", what, bytes,
                       TEXT_BYTES_MAX);
    switch (ct_utf8_check(text, bytes)) {
    case CT_UTF8_BLANK: return ct_fail(error, CT_INVALID, "%s is empty", what);
    case CT_UTF8_NUL: return ct_fail(error, CT_INVALID, "%s holds a NUL character", what);
    case CT_UTF8_MALFORMED: return ct_fail(error, CT_INVALID, "%s is not valid UTF-8", what);
    case CT_UTF8_GOOD: break;
    }
    return CT_OK;
}

static int check_name(const char *name, const char *what, ct_error *error) {
    return check_text(name, name ? strlen(name) : 0, what, error);
}

static int check_message(const ct_message_input *message, ct_error *error) {
    int status = check_text(message->text, message->text_bytes, "text", error);
    if (!status) status = check_name(message->role, "role", error);
    if (!status) status = check_name(message->session, "session", error);
    if (!status && message->source) status = check_name(message->source, "source", error);
    if (!status && message->uid) status = check_name(message->uid, "uid", error);
    return status;
}

static int check_names(const char *const *names, size_t count, const char *what, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < count; i++) status = check_name(names[i], what, error);
    return status;
}

static int check_filter(const ct_filter *filter, ct_error *error) {
    int status = check_names(filter->sessions, filter->session_count, "session", error);
    if (!status) status = check_names(filter->roles, filter->role_count, "role", error);
    return status;
}

int ct_engine_ingest(ct_engine *engine, const ct_message_input *messages, size_t count, int64_t *ids,
                     ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    for (size_t i = 0; !status && i < count; i++) {
        ct_error detail = {0};
        status = check_message(&messages[i], &detail);
        if (status && count > 1) ct_fail(error, status, "message %zu: %.480s", i, detail.message);
        else if (status) ct_fail(error, status, "%s", detail.message);
    }
    size_t inserted = 0;
    if (!status && count)
        status = ct_store_insert(engine->store, messages, count, ids, &inserted, error);
    if (!status && inserted) ct_worker_wake(engine->worker);
    leave(engine);
    return status;
}

int ct_engine_flush(ct_engine *engine, int64_t timeout_ms, int64_t *pending, ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    int waited = ct_worker_wait(engine->worker, ct_clock_ns() + timeout_ms * 1000000, error);
    status = waited == CT_TIMEOUT ? CT_OK : waited;
    if (!status) status = ct_store_count_pending(engine->store, pending, error);
    leave(engine);
    return status ? status : waited;
}

/* ---- reading ------------------------------------------------------------------------------- */

int ct_engine_get(ct_engine *engine, const int64_t *ids, size_t count, ct_result **out,
                  ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    ct_result *result = ct_result_new();
    status = result ? ct_store_get(engine->store, ids, count, result, error) : ct_fail_nomem(error);
    leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

static int check_limit(int32_t limit, ct_error *error) {
    if (limit >= 1 && limit <= LIMIT_MAX) return CT_OK;
    return ct_fail(error, CT_INVALID, "limit is %d; it must be from 1 to %d", limit, LIMIT_MAX);
}

int ct_engine_messages(ct_engine *engine, const ct_filter *filter, int64_t after, int32_t limit,
                       ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = check_limit(limit, error);
    if (!status) status = check_filter(filter, error);
    if (!status) status = enter(engine, error);
    if (status) return status;
    ct_result *result = ct_result_new();
    ct_bound_filter bound = {0};
    status = result ? ct_store_bind_filter(engine->store, filter, &bound, error) : ct_fail_nomem(error);
    if (!status) status = ct_store_list(engine->store, &bound, after, limit, result, error);
    ct_bound_filter_free(&bound);
    leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

/* NULL when there is no need, no second processor, or another recall has it. */
static ct_team *take_helper(ct_engine *engine) {
    ct_error why = {0};
    if (ct_index_count(engine->index) < HELPED_CHUNKS || !engine->has_cores) return NULL;
    if (pthread_mutex_trylock(&engine->helper_mutex)) return NULL;
    if (!engine->helper && ct_team_create(2, &engine->helper, &why)) engine->helper = NULL;
    ct_team *helper = engine->helper;
    if (!helper) pthread_mutex_unlock(&engine->helper_mutex);
    return helper;
}

static int run_recall(ct_engine *engine, const ct_query *query, ct_result *result, ct_error *error) {
    int64_t started = ct_clock_ns();
    pthread_mutex_lock(&engine->mutex);
    ct_recall_parts parts = {engine->store, engine->encoder, engine->index, ct_keeper_file(engine->keeper),
                             engine->nearby, NULL};
    pthread_mutex_unlock(&engine->mutex);
    ct_recall recall;
    parts.helper = take_helper(engine);
    /* Before the wait: behind it the model would be at the next message of the backlog. */
    int status = ct_recall_begin(&recall, &parts, query, result, error);
    if (parts.helper) pthread_mutex_unlock(&engine->helper_mutex);
    int64_t began = ct_clock_ns();
    if (!status && query->stages & (CT_STAGE_DENSE | CT_STAGE_LATE)) {
        status = ct_worker_catch_up(engine->worker, began + query->wait_ms * 1000000ll, error);
        if (status == CT_TIMEOUT) status = ct_store_count_pending(engine->store, &result->pending, error);
        if (!status) status = ct_keeper_refresh(engine->keeper, error);
    }
    result->timings.wait_ns = ct_clock_ns() - began;
    if (!status) status = ct_recall_run(&recall, result, error);
    ct_recall_free(&recall);
    result->timings.total_ns = ct_clock_ns() - started;
    return status;
}

/* Whether codes were moved from the store into the file just while they were looked for. */
static int were_moved(ct_engine *engine, int64_t moves) {
    ct_error ignored = {0};
    ct_code_file *file = ct_keeper_file(engine->keeper);
    if (!ct_code_file_take_missed(file)) return 0;
    ct_code_file_note_missed(file); /* for the refresh */
    return !ct_keeper_refresh(engine->keeper, &ignored) && ct_index_moves(engine->index) != moves;
}

int ct_engine_recall(ct_engine *engine, const ct_query *query, ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = check_limit(query->limit, error);
    if (!status) status = check_text(query->text, query->text_bytes, "query", error);
    if (!status) status = check_filter(&query->filter, error);
    if (!status && !(query->stages & (CT_STAGE_DENSE | CT_STAGE_LEXICAL)))
        status = ct_fail(error, CT_INVALID, "a recall needs the dense or the lexical stage");
    if (!status && (query->standing < 0 || query->standing > LIMIT_MAX))
        status = ct_fail(error, CT_INVALID, "standing_limit is %d; it must be from 0 to %d", query->standing,
                         LIMIT_MAX);
    if (!status && query->wait_ms < 0) status = ct_fail(error, CT_INVALID, "wait_ms is negative");
    if (!status && (query->budget_tokens < 0 || query->budget_bytes < 0))
        status = ct_fail(error, CT_INVALID, "a budget is negative");
    if (!status) status = enter(engine, error);
    if (status) return status;
    ct_result *result = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        int64_t moves = ct_index_moves(engine->index);
        result = ct_result_new();
        status = result ? run_recall(engine, query, result, error) : ct_fail_nomem(error);
        if (status || attempt || !were_moved(engine, moves)) break;
        ct_result_free(result);
    }
    if (ct_code_file_is_damaged(ct_keeper_file(engine->keeper))) ct_worker_wake(engine->worker);
    leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

int ct_engine_stats(ct_engine *engine, ct_stats *out, ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    ct_stats stats = {.dimension = ct_encoder_dimension(engine->encoder)};
    status = ct_keeper_refresh(engine->keeper, error);
    if (!status) status = ct_store_stats(engine->store, &stats, error);
    if (!status) status = ct_index_validate(engine->index, error);
    if (!status) {
        stats.restoring += ct_keeper_lost(engine->keeper);
        stats.index_bytes = (int64_t)ct_index_bytes(engine->index);
        ct_worker_last_error(engine->worker, stats.last_error, sizeof stats.last_error);
        *out = stats;
    }
    leave(engine);
    return status;
}

/* ---- an index that is kept elsewhere ------------------------------------------------------- */

void ct_engine_set_nearby(ct_engine *engine, ct_find_nearby find, void *state) {
    if (engine->owner != getpid()) return;
    pthread_mutex_lock(&engine->mutex);
    engine->nearby = (ct_recall_nearby){find, state};
    pthread_mutex_unlock(&engine->mutex);
}

int ct_engine_vectors(ct_engine *engine, int64_t after, size_t capacity, int64_t *chunk_ids, float *vectors,
                      size_t *count, ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    status = ct_keeper_refresh(engine->keeper, error);
    if (!status) ct_index_vectors(engine->index, after, capacity, chunk_ids, vectors, count);
    leave(engine);
    return status;
}

int ct_engine_mark(ct_engine *engine, int64_t through, size_t *count, uint64_t *hash, ct_error *error) {
    ct_error_clear(error);
    int status = enter(engine, error);
    if (status) return status;
    status = ct_keeper_refresh(engine->keeper, error);
    if (!status) ct_index_mark(engine->index, through, count, hash);
    leave(engine);
    return status;
}
