/* Consolidation as a call of the engine, and what can be asked for then. */
#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "consolidate/ct_consolidate.h"
#include "engine/ct_check.h"
#include "engine/ct_engine_parts.h"
#include "recall/ct_cost.h"
#include "store/ct_consolidated.h"
#include "store/ct_result.h"

static ct_recall_parts parts_of(ct_engine *engine) {
    return (ct_recall_parts){.store = engine->store, .encoder = engine->encoder, .index = engine->index,
                             .file = ct_keeper_file(engine->keeper)};
}

int ct_engine_consolidate(ct_engine *engine, int64_t budget_ms, ct_consolidation *report, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_recall_parts parts = parts_of(engine);
    int64_t deadline = ct_clock_ns() + budget_ms * 1000000;
    int left = 1;
    pthread_mutex_lock(&engine->consolidating);
    do {
        /* What is embedded by now is consolidated, and looked for in the index. */
        status = ct_keeper_refresh(engine->keeper, error);
        if (!status) status = ct_consolidate_step(&parts, report, &left, error);
    } while (!status && left && ct_clock_ns() < deadline);
    pthread_mutex_unlock(&engine->consolidating);
    report->complete = !status && !left;
    ct_engine_leave(engine);
    return status;
}

int ct_engine_consolidation(ct_engine *engine, ct_consolidation_state *out, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_progress progress;
    int64_t newest = 0, directives = 0;
    status = ct_store_progress(engine->store, &progress, error);
    if (!status) status = ct_store_newest(engine->store, &newest, error);
    if (!status) status = ct_store_count_directives(engine->store, &directives, error);
    if (!status && !progress.fits) progress.done = 0;
    if (!status)
        *out = (ct_consolidation_state){
            .waiting = progress.through > progress.done ? progress.through - progress.done : 0,
            .pending = newest > progress.through ? newest - progress.through : 0,
            .directives = directives,
        };
    ct_engine_leave(engine);
    return status;
}

int ct_engine_episodes(ct_engine *engine, const ct_filter *filter, int64_t after, int32_t newest, size_t capacity,
                       ct_episode *out, size_t *count, ct_error *error) {
    ct_error_clear(error);
    int status = ct_check_filter(filter, error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_bound_filter bound = {0};
    ct_episode_list found = {0};
    status = ct_store_bind_filter(engine->store, filter, &bound, error);
    if (!status) status = ct_store_episodes(engine->store, &bound, after, newest, capacity, &found, error);
    for (size_t i = 0; !status && i < found.count; i++) {
        const ct_episode_row *row = &found.list[i];
        if (row->messages < 1 || row->last_id < row->id || row->start_ms > row->end_ms)
            status = ct_fail(error, CT_CORRUPT, "the store is damaged: episode %lld is none", (long long)row->id);
        out[i] = (ct_episode){row->id, row->last_id, row->messages, row->start_ms, row->end_ms};
    }
    *count = found.count;
    ct_free(found.list);
    ct_bound_filter_free(&bound);
    ct_engine_leave(engine);
    return status;
}

/* ---- digests ------------------------------------------------------------------------------- */

static int cost_of(ct_engine *engine, const ct_digest_row *row, int64_t *tokens, ct_error *error) {
    ct_result *result = ct_result_new();
    size_t cost = 0;
    int status = result ? ct_store_get_present(engine->store, &row->message_id, 1, result, error) : ct_fail_nomem(error);
    const ct_row *of = !status && result->count ? &result->rows[0] : NULL;
    /* Without a sum: what was damaged may be any number. */
    if (of && (row->start > of->text_bytes || row->bytes > of->text_bytes - row->start))
        status = ct_fail(error, CT_CORRUPT, "the store is damaged: a digest names what message %lld does not say",
                         (long long)row->message_id);
    else if (of) status = ct_cost_tokens(engine->encoder, of->text + row->start, row->bytes, SIZE_MAX, &cost, error);
    *tokens = (int64_t)cost;
    ct_result_free(result);
    return status;
}

int ct_engine_digest(ct_engine *engine, int64_t episode, size_t capacity, ct_digest_sentence *out, size_t *count,
                     ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    size_t found = 0;
    ct_digest_row *rows = ct_alloc((capacity + 1) * sizeof *rows);
    status = rows ? ct_store_digest(engine->store, episode, rows, capacity, &found, error) : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < found; i++) {
        out[i] = (ct_digest_sentence){rows[i].message_id, rows[i].start, rows[i].bytes, rows[i].score, 0};
        status = cost_of(engine, &rows[i], &out[i].tokens, error);
    }
    *count = found;
    ct_free(rows);
    ct_engine_leave(engine);
    return status;
}

/* ---- what has to do with a message --------------------------------------------------------- */

/* Related messages on their way out. */
typedef struct relating {
    ct_engine *engine;
    const ct_bound_filter *filter;
    int64_t id;
    size_t limit;
    ct_related *out;
    size_t count;
} relating;

static int passes(const relating *of, int64_t id) {
    ct_index_message about;
    if (id == of->id || id < 1) return 0;
    if (ct_bound_filter_is_open(of->filter)) return 1;
    return ct_index_find(of->engine->index, id, &about) &&
           ct_bound_filter_passes(of->filter, about.session_id, about.role_id, about.time_ms);
}

static void add_all(relating *of, ct_relation relation, const int64_t *ids, size_t count) {
    size_t most = of->count + of->limit;
    for (size_t i = 0; i < count && of->count < most; i++)
        if (passes(of, ids[i])) of->out[of->count++] = (ct_related){ids[i], relation, 1};
}

static int add_linked(relating *of, int64_t *ids, size_t capacity, ct_error *error) {
    ct_store *store = of->engine->store;
    size_t count = 0;
    int status = ct_store_duplicates(store, of->id, ids, capacity, &count, error);
    if (!status) add_all(of, CT_RELATION_DUPLICATE, ids, count);
    if (!status) status = ct_store_replaced(store, of->id, 0, ids, capacity, &count, error);
    if (!status) add_all(of, CT_RELATION_SUPERSEDES, ids, count);
    if (!status) status = ct_store_replaced(store, of->id, 1, ids, capacity, &count, error);
    if (!status) add_all(of, CT_RELATION_SUPERSEDED_BY, ids, count);
    return status;
}

/* The nearest of the same episode, as far as it is embedded. */
static int add_beside(relating *of, int64_t session_id, int64_t *ids, ct_error *error) {
    ct_episode_row episode;
    int status = ct_store_episode_of(of->engine->store, session_id, of->id, &episode, error);
    if (status || !episode.id) return status;
    int32_t reach = (int32_t)(of->limit / 2 + of->limit % 2);
    size_t count = ct_index_neighbours(of->engine->index, of->id, reach, reach, ids), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= episode.id && ids[i] <= episode.last_id) ids[kept++] = ids[i];
    add_all(of, CT_RELATION_EPISODE, ids, kept);
    return CT_OK;
}

static int add_similar(relating *of, ct_error *error) {
    ct_index *index = of->engine->index;
    const ct_bound_filter *bound = of->filter;
    ct_index_filter filter = {
        .sessions = bound->restrict_sessions ? bound->sessions : NULL,
        .session_count = bound->session_count,
        .roles = bound->restrict_roles ? bound->roles : NULL,
        .role_count = bound->role_count,
        .since_ms = bound->since_ms,
        .until_ms = bound->until_ms,
    };
    ct_index_query query = {0};
    size_t count = 0, most = of->count + of->limit;
    float *vector = ct_alloc((size_t)ct_encoder_dimension(of->engine->encoder) * sizeof *vector);
    ct_dense_hit *hits = ct_alloc((of->limit + 1) * sizeof *hits);
    int status = vector && hits ? CT_OK : ct_fail_nomem(error);
    if (!status && ct_index_vector(index, of->id, vector)) {
        status = ct_index_query_make(index, vector, &query, error);
        if (!status) status = ct_index_search(index, &query, &filter, hits, of->limit + 1, &count, error);
        ct_index_query_free(&query);
    }
    for (size_t i = 0; !status && i < count && of->count < most; i++)
        if (hits[i].message_id != of->id)
            of->out[of->count++] = (ct_related){hits[i].message_id, CT_RELATION_SIMILAR, hits[i].score};
    ct_free(vector);
    ct_free(hits);
    return status;
}

static int relate(relating *of, ct_error *error) {
    ct_told_list told = {0};
    /* More than are asked for, since the filter may hide some. */
    size_t capacity = 4 * of->limit + 8;
    int64_t *ids = ct_alloc(capacity * sizeof *ids);
    int status = ids ? ct_store_told(of->engine->store, of->id, &told, error) : ct_fail_nomem(error);
    if (!status && !told.count)
        status = ct_fail(error, CT_NOT_FOUND, "there is no message %lld", (long long)of->id);
    if (!status) status = add_linked(of, ids, capacity, error);
    if (!status) status = add_beside(of, told.list[0].session_id, ids, error);
    if (!status) status = add_similar(of, error);
    ct_free(ids);
    ct_told_list_free(&told);
    return status;
}

int ct_engine_related(ct_engine *engine, int64_t id, const ct_filter *filter, int32_t limit, ct_related *out,
                      size_t *count, ct_error *error) {
    ct_error_clear(error);
    int status = ct_check_limit(limit, error);
    if (!status) status = ct_check_filter(filter, error);
    if (!status) status = ct_engine_enter(engine, error);
    if (status) return status;
    ct_bound_filter bound = {0};
    relating of = {.engine = engine, .filter = &bound, .id = id, .limit = (size_t)limit, .out = out};
    status = ct_store_bind_filter(engine->store, filter, &bound, error);
    if (!status) status = ct_keeper_refresh(engine->keeper, error);
    if (!status) status = relate(&of, error);
    *count = of.count;
    ct_bound_filter_free(&bound);
    ct_engine_leave(engine);
    return status;
}
