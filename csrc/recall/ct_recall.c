#include "recall/ct_recall.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "recall/ct_confidence.h"
#include "recall/ct_fuse.h"
#include "recall/ct_gather.h"
#include "recall/ct_pack.h"
#include "recall/ct_question.h"
#include "recall/ct_standing.h"
#include "recall/ct_supersede.h"
#include "store/ct_result.h"

/* Candidates each stage hands over for one hit that is asked for, and at least.  Measured for conversations
 * among 48,000 other messages: 200, 500 and 1,000 find no more than 150; 100 may find less. */
#define POOL_FACTOR 4
#define POOL_LEAST 150

/* Messages whose text is read for one hit that is asked for, and at least. */
#define READ_FACTOR 2
#define READ_LEAST 40

/* When too many of the candidates say the same, so many times as many are looked for. */
#define WIDEN_FACTOR 8

/* Hits below this part of the best one's score are no evidence, when nothing or all speaks for an
 * answer in the store. */
#define CUT_UNSURE 0.75
#define CUT_SURE 0.5

static int by_score(const void *a, const void *b) {
    const ct_row *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->id < y->id) - (x->id > y->id);
}

static void fill(ct_row *row, const ct_candidate *from) {
    row->score = from->score;
    row->dense = from->dense;
    row->lexical = from->lexical;
    row->late = from->own;
    row->context = from->late;
    row->speaker = from->speaker;
    row->date = from->date;
    row->question = from->question;
    row->passage = from->passage;
}

/* Find what replaces what, in a list that is sorted before and after. */
static int supersede(ct_gather *gather, ct_result *result, ct_error *error) {
    for (size_t i = 0; i < result->count; i++)
        result->rows[i].supersedes_count = result->rows[i].superseded_by_count = 0;
    ct_free(result->links);
    result->links = NULL;
    int status = ct_supersede_run(gather->parts, gather->query, gather->filter, &gather->tokens, result, error);
    if (!status) qsort(result->rows, result->count, sizeof *result->rows, by_score);
    return status;
}

/* The score at which the evidence ends: the surer it is that something answers, the more of what stands
 * behind the best is worth having. */
static double least_score(const ct_gather *gather, const ct_result *result) {
    if (!ct_gather_uses(gather, CT_STAGE_CUT) || !result->count) return -INFINITY;
    double part = CUT_UNSURE + (CUT_SURE - CUT_UNSURE) * result->confidence;
    /* Where words decide, scores fall faster than the evidence does. */
    return part * gather->fluency * result->rows[0].score;
}

/* Read so many more of the leading messages, and rank all that were with what their text says. */
static int read_more(ct_gather *gather, size_t most, ct_result *result, ct_error *error) {
    size_t first = result->count, count = 0;
    int64_t *ids = ct_alloc(gather->pool.count * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    ct_fuse_score(&gather->pool, gather->fluency);
    int64_t leaders = ct_pool_leaders(&gather->pool, gather->pool.count, ids);
    for (int64_t i = 0; i < leaders && count < most; i++) {
        ct_candidate *candidate = ct_pool_find(&gather->pool, ids[i]);
        if (candidate->is_read) continue;
        candidate->is_read = 1;
        ids[count++] = ids[i];
    }
    int status = leaders < 0 ? ct_fail_nomem(error)
                             : ct_store_get(gather->parts->store, ids, count, result, error);
    ct_free(ids);
    if (status || !result->count) return status;
    for (size_t i = first; ct_gather_uses(gather, CT_STAGE_QUESTION) && i < result->count; i++)
        ct_pool_find(&gather->pool, result->rows[i].id)->question =
            ct_question_share(result->rows[i].text, result->rows[i].text_bytes);
    ct_fuse_score(&gather->pool, gather->fluency);
    for (size_t i = 0; i < result->count; i++)
        fill(&result->rows[i], ct_pool_find(&gather->pool, result->rows[i].id));
    qsort(result->rows, result->count, sizeof *result->rows, by_score);
    result->confidence = ct_confidence_of(&gather->pool, &gather->speakers);
    if (ct_gather_uses(gather, CT_STAGE_SUPERSESSION)) status = supersede(gather, result, error);
    return status;
}

static int fetch(ct_gather *gather, size_t capacity, ct_result *result, ct_error *error) {
    size_t limit = (size_t)gather->query->limit;
    size_t most = limit * READ_FACTOR > READ_LEAST ? limit * READ_FACTOR : READ_LEAST;
    ct_pack pack = {gather->parts, gather->query, gather->filter, &gather->pool,
                    &gather->content, .result = result, .least = -INFINITY};
    /* With fewer in the pool no stage had more to give. */
    int status, may_widen = gather->pool.count >= capacity;
    for (;;) {
        status = read_more(gather, most, result, error);
        if (!status) status = ct_pack_collapse(&pack, error);
        if (status || pack.count >= limit) break;
        pack.least = least_score(gather, result);
        if (result->count && result->rows[result->count - 1].score < pack.least) break;
        if (result->count == gather->pool.count) {
            if (!may_widen) break;
            may_widen = 0;
            status = ct_gather_run(gather, gather->pool.count * WIDEN_FACTOR, &result->timings, error);
            if (status || result->count == gather->pool.count) break;
        }
        most = result->count; /* each time as many as were read before */
    }
    pack.least = least_score(gather, result);
    if (!status) status = ct_pack_choose(&pack, error);
    ct_pack_free(&pack);
    for (size_t i = 0; i < result->count; i++) result->rows[i].score = fmax(result->rows[i].score, 0);
    return status;
}

/* Words are looked up between ids: bound those of a span of time.  What is embedded the index knows, when it has
 * all that the store has. */
static int bound_ids(const ct_recall_parts *parts, ct_bound_filter *filter, ct_error *error) {
    int64_t first, last, first_pending, last_pending, known, stored;
    if (filter->since_ms == INT64_MIN && filter->until_ms == INT64_MAX) return CT_OK;
    int status = ct_store_pending_bounds(parts->store, &first_pending, &last_pending, &stored, error);
    if (status) return status;
    ct_index_bounds(parts->index, filter->since_ms, filter->until_ms, &first, &last, &known);
    if (known < stored) return CT_OK;
    if (first > first_pending) first = first_pending;
    filter->first_id = first > 1 ? first : 1;
    filter->last_id = last > last_pending ? last : last_pending;
    return CT_OK;
}

static int64_t in_stages(const ct_timings *timings) {
    return timings->encode_ns + timings->dense_ns + timings->lexical_ns + timings->late_ns;
}

static size_t capacity_of(const ct_query *query) {
    size_t limit = (size_t)query->limit;
    return limit * POOL_FACTOR > POOL_LEAST ? limit * POOL_FACTOR : POOL_LEAST;
}

int ct_recall_begin(ct_recall *recall, const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                    ct_error *error) {
    *recall = (ct_recall){.parts = *parts};
    recall->gather = (ct_gather){.parts = &recall->parts, .query = query, .filter = &recall->filter, .fluency = 1};
    int status = ct_store_bind_filter(parts->store, &query->filter, &recall->filter, error);
    if (!status) status = ct_gather_prepare(&recall->gather, capacity_of(query), &result->timings, error);
    recall->parts.helper = NULL;
    return status;
}

int ct_recall_run(ct_recall *recall, ct_result *result, ct_error *error) {
    ct_gather *gather = &recall->gather;
    const ct_query *query = gather->query;
    ct_timings *timings = &result->timings;
    size_t capacity = capacity_of(query);
    int64_t began = ct_clock_ns(), before = in_stages(timings);
    int status = bound_ids(&recall->parts, &recall->filter, error);
    if (!status) status = ct_gather_run(gather, capacity, timings, error);
    if (!status) status = fetch(gather, capacity, result, error);
    if (!status && query->standing)
        status = ct_standing_find(&recall->parts, query, &recall->filter, &gather->tokens, result, error);
    if (status == CT_NOT_FOUND) { /* of a message that was found */
        ct_error why = *error;
        status = ct_fail(error, CT_CORRUPT, "the store is damaged: %s", why.message);
    }
    timings->fetch_ns = ct_clock_ns() - began - (in_stages(timings) - before);
    return status;
}

const float *ct_recall_vector(const ct_recall *recall) { return recall->gather.unit; }

void ct_recall_free(ct_recall *recall) {
    ct_gather_free(&recall->gather);
    ct_bound_filter_free(&recall->filter);
}
