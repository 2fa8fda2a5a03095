/* Lifetimes: who may be in a call, in which process, and what is torn down in which order. */
#include <pthread.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_process.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "store/ct_result.h"

static void release_parts(ct_engine *engine) {
    if (engine->gates) ct_gates_stop(engine->gates);
    ct_gates_release(engine->gates);
    engine->gates = NULL;
    ct_team_destroy(engine->helper);
    engine->helper = NULL;
    if (engine->worker) ct_worker_stop(engine->worker);
    ct_keeper_free(engine->keeper);
    if (engine->store) ct_store_close(engine->store);
    if (engine->counted) ct_process_leave();
    ct_stage_bus_free(engine->staged);
    ct_working_free(engine->working);
    ct_index_destroy(engine->index);
    ct_encoder_release(engine->encoder);
    engine->worker = NULL;
    engine->keeper = NULL;
    engine->store = NULL;
    engine->staged = NULL;
    engine->working = NULL;
    engine->index = NULL;
    engine->encoder = NULL;
}

/* What waits for the next context, of one scope and of all. */
static const ct_stage_bounds staged_bounds = {.scope_items = 16, .scope_bytes = 16384, .items = 256, .bytes = 262144};

int ct_engine_open(const ct_engine_options *options, ct_encoder *encoder, ct_engine **out,
                   ct_error *error) {
    ct_error_clear(error);
    ct_engine *engine = ct_alloc_zero(sizeof *engine);
    if (!engine) return ct_fail_nomem(error);
    engine->owner = getpid();
    engine->has_cores = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_mutex_init(&engine->helper_mutex, NULL);
    pthread_mutex_init(&engine->consolidating, NULL);
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
    if (!status) status = ct_stage_bus_create(&staged_bounds, &engine->staged, error);
    if (!status) status = ct_working_create(&engine->working, error);
    if (!status) status = ct_gates_create(engine, &engine->gates, error);
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
    if (first && engine->gates) ct_gates_end_waits(engine->gates);
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
    pthread_mutex_destroy(&engine->consolidating);
    ct_free(engine);
}

void ct_engine_drop(ct_engine **holder) { ct_engine_free(*holder); }

/* ---- ingest -------------------------------------------------------------------------------- */

int ct_engine_ingest(ct_engine *engine, const ct_message_input *messages, size_t count, int64_t *ids,
                     ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    for (size_t i = 0; !status && i < count; i++) {
        ct_error detail = {0};
        status = ct_check_message(&messages[i], &detail);
        if (status && count > 1) ct_fail(error, status, "message %zu: %.480s", i, detail.message);
        else if (status) ct_fail(error, status, "%s", detail.message);
    }
    size_t inserted = 0;
    if (!status && count)
        status = ct_store_insert(engine->store, messages, count, ids, &inserted, error);
    if (!status && inserted) ct_worker_wake(engine->worker);
    ct_engine_leave(engine);
    return status;
}

int ct_engine_flush(ct_engine *engine, int64_t timeout_ms, int64_t *pending, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    int waited = ct_worker_wait(engine->worker, ct_clock_ns() + timeout_ms * 1000000, error);
    status = waited == CT_TIMEOUT ? CT_OK : waited;
    if (!status) status = ct_store_count_pending(engine->store, pending, error);
    ct_engine_leave(engine);
    return status ? status : waited;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef int get_call(ct_store *store, const int64_t *ids, size_t count, ct_result *result, ct_error *error);

static int get(ct_engine *engine, get_call *call, const int64_t *ids, size_t count, ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_result *result = ct_result_new();
    status = result ? call(engine->store, ids, count, result, error) : ct_fail_nomem(error);
    ct_engine_leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

int ct_engine_get(ct_engine *engine, const int64_t *ids, size_t count, ct_result **out,
                  ct_error *error) {
    return get(engine, ct_store_get, ids, count, out, error);
}

int ct_engine_get_present(ct_engine *engine, const int64_t *ids, size_t count, ct_result **out, ct_error *error) {
    return get(engine, ct_store_get_present, ids, count, out, error);
}

int ct_engine_messages(ct_engine *engine, const ct_filter *filter, int64_t after, int32_t limit,
                       ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_check_limit(limit, error);
    if (!status) status = ct_check_filter(filter, error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_result *result = ct_result_new();
    ct_bound_filter bound = {0};
    status = result ? ct_store_bind_filter(engine->store, filter, &bound, error) : ct_fail_nomem(error);
    if (!status) status = ct_store_list(engine->store, &bound, after, limit, result, error);
    ct_bound_filter_free(&bound);
    ct_engine_leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

int ct_engine_stats(ct_engine *engine, ct_stats *out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
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
    ct_engine_leave(engine);
    return status;
}
