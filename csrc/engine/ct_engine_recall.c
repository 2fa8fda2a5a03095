/* Recall, as a call of the engine: the helper thread, the wait for the backlog, codes that move meanwhile. */
#include <pthread.h>

#include "base/ct_alloc.h"
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

static int run_recall(ct_engine *engine, const ct_query *query, int is_beside, float *vector, ct_result *result,
                      ct_error *error) {
    int64_t started = ct_clock_ns();
    ct_recall_parts parts = {.store = engine->store, .encoder = engine->encoder, .index = engine->index,
                             .file = ct_keeper_file(engine->keeper)};
    if (!is_beside) {
        pthread_mutex_lock(&engine->mutex);
        parts.nearby = engine->nearby;
        pthread_mutex_unlock(&engine->mutex);
        parts.helper = take_helper(engine);
    }
    ct_recall recall;
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
    if (!status && vector)
        memcpy(vector, ct_recall_vector(&recall), (size_t)ct_encoder_dimension(engine->encoder) * sizeof *vector);
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

int ct_engine_search(ct_engine *engine, const ct_query *query, int is_beside, float *vector, ct_result **out,
                     ct_error *error) {
    ct_result *result = NULL;
    int status = CT_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        int64_t moves = ct_index_moves(engine->index);
        result = ct_result_new();
        status = result ? run_recall(engine, query, is_beside, vector, result, error) : ct_fail_nomem(error);
        if (status || attempt || !were_moved(engine, moves)) break;
        ct_result_free(result);
    }
    if (ct_code_file_is_damaged(ct_keeper_file(engine->keeper))) ct_worker_wake(engine->worker);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

/* ---- working memory ------------------------------------------------------------------------ */

static int read_working(ct_engine *engine, const char *session, ct_result **out, ct_error *error) {
    ct_active items[CT_WORKING_ITEMS];
    int64_t ids[CT_WORKING_ITEMS];
    size_t count = ct_working_read(engine->working, session, items);
    for (size_t i = 0; i < count; i++) ids[i] = items[i].message_id;
    ct_result *result = ct_result_new();
    int status = result ? ct_store_get_present(engine->store, ids, count, result, error) : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < result->count; i++)
        for (size_t k = 0; k < count; k++)
            if (items[k].message_id == result->rows[i].id) result->rows[i].score = items[k].activation;
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}

/* A turn of the session that asks: what was found is brought to mind, as strongly as it was found. */
static int bring_to_mind(ct_engine *engine, const char *session, ct_result *result, ct_error *error) {
    ct_active found[CT_WORKING_ITEMS];
    size_t count = result->count < CT_WORKING_ITEMS ? result->count : CT_WORKING_ITEMS;
    for (size_t i = 0; i < count; i++) {
        double best = result->rows[0].score;
        found[i] = (ct_active){result->rows[i].id, best > 0 ? result->rows[i].score / best : 0};
    }
    ct_working_turn(engine->working, session);
    int status = ct_working_rise(engine->working, session, found, count, error);
    return status ? status : read_working(engine, session, &result->working, error);
}

int ct_engine_working(ct_engine *engine, const char *session, ct_result **out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_check_name(session, "session", error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    status = read_working(engine, session, out, error);
    ct_engine_leave(engine);
    return status;
}

/* ---- the call ------------------------------------------------------------------------------ */

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
    if (!status && query->asking) status = ct_check_name(query->asking, "session", error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_result *result = NULL;
    status = ct_engine_search(engine, query, 0, NULL, &result, error);
    if (!status && query->asking) status = bring_to_mind(engine, query->asking, result, error);
    ct_engine_leave(engine);
    if (status) ct_result_free(result);
    else *out = result;
    return status;
}
