#include "recall/ct_recall.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "recall/ct_fuse.h"
#include "recall/ct_lexical.h"
#include "store/ct_result.h"

/* Candidates each stage hands over for one hit that is asked for, and at least. */
#define POOL_FACTOR 4
#define POOL_LEAST 200

typedef struct candidates {
    ct_bound_filter filter;
    ct_index_query vector;
    ct_dense_hit *dense;
    size_t dense_count;
    ct_lexical_hit *lexical;
    size_t lexical_count;
    ct_fused_hit *fused;
    size_t fused_count;
} candidates;

static void candidates_free(candidates *pool) {
    ct_bound_filter_free(&pool->filter);
    ct_index_query_free(&pool->vector);
    ct_free(pool->dense);
    ct_free(pool->lexical);
    ct_free(pool->fused);
}

static int find_dense(const ct_recall_parts *parts, const ct_query *query, size_t capacity, candidates *pool,
                      ct_timings *timings, ct_error *error) {
    int64_t started = ct_clock_ns();
    float *vector = ct_alloc((size_t)ct_encoder_dimension(parts->encoder) * sizeof *vector);
    pool->dense = ct_alloc(capacity * sizeof *pool->dense);
    int status = vector && pool->dense ? CT_OK : ct_fail_nomem(error);
    if (!status)
        status = ct_encoder_embed(parts->encoder, &query->text, &query->text_bytes, 1, 1, vector, error);
    int64_t encoded = ct_clock_ns();
    timings->encode_ns = encoded - started;
    if (!status) status = ct_index_query_make(parts->index, vector, &pool->vector, error);
    if (!status) {
        const ct_bound_filter *bound = &pool->filter;
        ct_index_filter filter = {
            .sessions = bound->restrict_sessions ? bound->sessions : NULL,
            .session_count = bound->session_count,
            .roles = bound->restrict_roles ? bound->roles : NULL,
            .role_count = bound->role_count,
            .since_ms = bound->since_ms,
            .until_ms = bound->until_ms,
        };
        ct_index_search(parts->index, &pool->vector, &filter, pool->dense, capacity,
                        &pool->dense_count);
    }
    timings->dense_ns = ct_clock_ns() - encoded;
    ct_free(vector);
    return status;
}

static int find_lexical(const ct_recall_parts *parts, const ct_query *query, size_t capacity, candidates *pool,
                        ct_timings *timings, ct_error *error) {
    int64_t started = ct_clock_ns();
    ct_words words = {.count = 0};
    pool->lexical = ct_alloc(capacity * sizeof *pool->lexical);
    int status = pool->lexical ? CT_OK : ct_fail_nomem(error);
    if (!status) status = ct_store_split(parts->store, query->text, query->text_bytes, &words, error);
    if (!status) {
        ct_lexical_select(&words);
        status = ct_store_search(parts->store, &words, &pool->filter, pool->lexical, capacity,
                                 &pool->lexical_count, error);
    }
    ct_words_free(&words);
    timings->lexical_ns = ct_clock_ns() - started;
    return status;
}

static int fuse(const ct_recall_parts *parts, candidates *pool, ct_error *error) {
    pool->fused = ct_alloc((pool->dense_count + pool->lexical_count) * sizeof *pool->fused);
    if (!pool->fused) return ct_fail_nomem(error);
    pool->fused_count = ct_fuse_merge(pool->dense, pool->dense_count, pool->lexical,
                                      pool->lexical_count, pool->fused);
    /* A message found by its words has a cosine too, even if it does not lead by it. */
    for (size_t i = 0; pool->vector.values && i < pool->fused_count; i++)
        if (isnan(pool->fused[i].dense))
            ct_index_score(parts->index, &pool->vector, pool->fused[i].message_id,
                           &pool->fused[i].dense);
    ct_fuse_rank(pool->fused, pool->fused_count);
    return CT_OK;
}

static int fetch(const ct_recall_parts *parts, const candidates *pool, size_t limit, ct_result *result,
                 ct_error *error) {
    size_t count = pool->fused_count < limit ? pool->fused_count : limit;
    int64_t *ids = ct_alloc(count * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    for (size_t i = 0; i < count; i++) ids[i] = pool->fused[i].message_id;
    int status = ct_store_get(parts->store, ids, count, result, error);
    for (size_t i = 0; !status && i < count; i++) {
        result->rows[i].score = pool->fused[i].score;
        result->rows[i].dense = pool->fused[i].dense;
        result->rows[i].lexical = pool->fused[i].lexical;
    }
    ct_free(ids);
    return status;
}

int ct_recall_run(const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                  ct_error *error) {
    size_t limit = (size_t)query->limit;
    size_t capacity = limit * POOL_FACTOR > POOL_LEAST ? limit * POOL_FACTOR : POOL_LEAST;
    candidates pool = {.dense_count = 0};
    int status = ct_store_bind_filter(parts->store, &query->filter, &pool.filter, error);
    if (!status && query->dense)
        status = find_dense(parts, query, capacity, &pool, &result->timings, error);
    if (!status && query->lexical)
        status = find_lexical(parts, query, capacity, &pool, &result->timings, error);
    int64_t started = ct_clock_ns();
    if (!status) status = fuse(parts, &pool, error);
    if (!status) status = fetch(parts, &pool, limit, result, error);
    result->timings.fetch_ns = ct_clock_ns() - started;
    candidates_free(&pool);
    return status;
}
