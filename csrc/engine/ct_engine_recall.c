/* Recall, as a call of the engine: the helper thread, the wait for the backlog, codes that move meanwhile. */
#include <pthread.h>

#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "recall/ct_recall.h"
#include "store/ct_result.h"

/* With fewer chunks a search by words takes no longer than it takes to wake a thread that does it. */
#define HELPED_CHUNKS 4096

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
    int status = ct_check_limit(query->limit, error);
    if (!status) status = ct_check_text(query->text, query->text_bytes, "query", error);
    if (!status) status = ct_check_filter(&query->filter, error);
    if (!status && !(query->stages & (CT_STAGE_DENSE | CT_STAGE_LEXICAL)))
        status = ct_fail(error, CT_INVALID, "a recall needs the dense or the lexical stage");
    if (!status && (query->standing < 0 || query->standing > CT_LIMIT_MAX))
        status = ct_fail(error, CT_INVALID, "standing_limit is %d; it must be from 0 to %d", query->standing,
                         CT_LIMIT_MAX);
    if (!status && query->wait_ms < 0) status = ct_fail(error, CT_INVALID, "wait_ms is negative");
    if (!status && (query->budget_tokens < 0 || query->budget_bytes < 0))
        status = ct_fail(error, CT_INVALID, "a budget is negative");
    if (!status) status = ct_engine_enter(engine, error);
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
    ct_engine_leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}
