#include "recall/ct_late_stage.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* What is scored is a passage: in a whole long text any query would find a match for each of its
 * tokens somewhere. */
#define PASSAGE_GRAINS 4

/* A grain lends its matches to a passage behind it times FROM_BEFORE, to one before it times
 * FROM_BEHIND, each less by 1/e every so many tokens between the two; never less than SHARE_LEAST. */
#define FROM_BEFORE 0.9f
#define DECAY_TOKENS 200.0f
#define FROM_BEHIND 0.8f
#define SHARE_LEAST 0.3f

/* So well does a message that is from a time match the words that name it. */
#define DATED_MATCH 0.5f

int ct_late_stage_begin(const ct_recall_parts *parts, const ct_query *query, const ct_query_tokens *tokens,
                        const ct_speakers *speakers, ct_late_stage *out, ct_error *error) {
    *out = (ct_late_stage){.asked = query};
    int status = CT_OK;
    if (tokens->count) status = ct_token_query_make(parts, query, tokens, speakers, &out->query, error);
    out->grains = (ct_grains){.parts = parts, .query = &out->query};
    return status;
}

void ct_late_stage_free(ct_late_stage *stage) {
    ct_token_query_free(&stage->query);
    ct_grains_free(&stage->grains);
    ct_free(stage->sequence);
}

/* ---- scores -------------------------------------------------------------------------------- */

static double mean_of(const ct_token_query *query, const float *match) {
    double sum = 0;
    for (size_t t = 0; t < query->count; t++) sum += (double)(query->weights[t] * match[t]);
    return sum;
}

static const float *match_of(const ct_late_stage *stage, size_t grain) {
    return stage->grains.matches + grain * stage->query.count;
}

static void lend(const ct_late_stage *stage, size_t grain, float share, float *to) {
    const float *match = match_of(stage, grain);
    for (size_t t = 0; t < stage->query.count; t++) to[t] = fmaxf(to[t], share * match[t]);
}

/* Let the grains on one side of a passage lend to it, from the nearest on. */
static void lend_side(const ct_late_stage *stage, size_t from, size_t count, int step, float share,
                      float *to) {
    float distance = 0;
    for (size_t i = 0; i < count; i++, from += (size_t)step) {
        size_t grain = stage->sequence[from];
        float now = share * expf(-distance / DECAY_TOKENS);
        if (now < SHARE_LEAST) return;
        lend(stage, grain, now, to);
        distance += (float)stage->grains.list[grain].tokens;
    }
}

/* The best passage in [begin, end) of the sequence, which is a message. */
static void score(const ct_late_stage *stage, size_t begin, size_t end, ct_candidate *candidate) {
    const ct_token_query *query = &stage->query;
    const ct_grain *grains = stage->grains.list;
    const size_t *sequence = stage->sequence;
    size_t stop, step = (size_t)ct_encoder_step(stage->grains.parts->encoder);
    for (size_t start = begin; start < end; start = stop) {
        float best[CT_TOKEN_QUERY_MAX];
        double core_match = -1;
        size_t core = sequence[start]; /* the grain that the passage owes most to */
        for (size_t t = 0; t < query->count; t++)
            best[t] = query->dated[t] ? DATED_MATCH * (float)candidate->date : -1;
        for (stop = start; stop < end && stop < start + PASSAGE_GRAINS; stop++) {
            if (grains[sequence[stop]].chunk != grains[sequence[start]].chunk) break;
            lend(stage, sequence[stop], 1, best);
            double match = mean_of(query, match_of(stage, sequence[stop]));
            if (match > core_match) {
                core_match = match;
                core = sequence[stop];
            }
        }
        double alone = mean_of(query, best);
        lend_side(stage, start - 1, start, -1, FROM_BEFORE, best);
        lend_side(stage, stop, stage->sequence_count - stop, 1, FROM_BEHIND, best);
        double together = mean_of(query, best);
        if (!(candidate->own >= alone)) {
            size_t first = core;
            while (first > sequence[begin] && grains[first - 1].chunk == grains[core].chunk) first--;
            candidate->own = alone;
            candidate->passage = (int64_t)((grains[core].chunk - grains[sequence[begin]].chunk) * step +
                                           (core - first) * CT_GRAIN_TOKENS);
        }
        if (!(candidate->late >= together)) candidate->late = together;
    }
}

/* Put the grains of a message behind those in the sequence. */
static int append(ct_late_stage *stage, int64_t message_id, ct_error *error) {
    size_t begin, end;
    ct_grains_of(&stage->grains, message_id, &begin, &end);
    if (stage->sequence_count + (end - begin) > stage->sequence_capacity) {
        size_t capacity = 2 * (stage->sequence_count + (end - begin));
        size_t *grown = ct_realloc(stage->sequence, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        stage->sequence = grown;
        stage->sequence_capacity = capacity;
    }
    for (size_t g = begin; g < end; g++) stage->sequence[stage->sequence_count++] = g;
    return CT_OK;
}

/* Score a candidate among these messages, of which it is one. */
static int score_among(ct_late_stage *stage, const int64_t *ids, size_t count, ct_candidate *candidate,
                       ct_error *error) {
    size_t begin = 0, end = 0;
    int status = CT_OK;
    stage->sequence_count = 0;
    for (size_t i = 0; !status && i < count; i++) {
        if (ids[i] == candidate->message_id) begin = stage->sequence_count;
        status = append(stage, ids[i], error);
        if (ids[i] == candidate->message_id) end = stage->sequence_count;
    }
    if (!status) score(stage, begin, end, candidate);
    return status;
}

int ct_late_stage_match(ct_late_stage *stage, ct_pool *pool, ct_error *error) {
    int status = CT_OK;
    if (!stage->query.count) return CT_OK;
    for (size_t i = 0; !status && i < pool->count; i++)
        if (isnan(pool->list[i].own)) status = ct_grains_want(&stage->grains, pool->list[i].message_id, 0, error);
    if (!status) status = ct_grains_read(&stage->grains, error);
    for (size_t i = 0; !status && i < pool->count; i++)
        if (isnan(pool->list[i].own))
            status = score_among(stage, &pool->list[i].message_id, 1, &pool->list[i], error);
    return status;
}

/* ---- in context ---------------------------------------------------------------------------- */

/* A candidate among its neighbours, in order. */
typedef struct group {
    int64_t ids[2 * CT_LATE_REACH + 1];
    size_t count;
} group;

/* A message never looks at what came from the end on: not even to be found by it. */
static void find_group(const ct_late_stage *stage, int64_t message_id, group *out) {
    ct_index *index = stage->grains.parts->index;
    size_t count = ct_index_neighbours(index, message_id, CT_LATE_REACH, CT_LATE_REACH, out->ids);
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        ct_index_message about;
        if (stage->asked->filter.until_ms != INT64_MAX && out->ids[i] != message_id &&
            (!ct_index_find(index, out->ids[i], &about) || about.time_ms >= stage->asked->filter.until_ms))
            continue;
        out->ids[out->count++] = out->ids[i];
    }
}

int ct_late_stage_look_around(ct_late_stage *stage, ct_pool *pool, const int64_t *message_ids, size_t count,
                              ct_error *error) {
    int status = CT_OK;
    if (!stage->query.count || !count) return CT_OK;
    group *groups = ct_alloc(count * sizeof *groups);
    if (!groups) return ct_fail_nomem(error);
    for (size_t i = 0; !status && i < count; i++) {
        groups[i].count = 0;
        if (ct_pool_find(pool, message_ids[i])->has_context) continue;
        find_group(stage, message_ids[i], &groups[i]);
        for (size_t n = 0; !status && n < groups[i].count; n++)
            status = ct_grains_want(&stage->grains, groups[i].ids[n], groups[i].ids[n] != message_ids[i], error);
    }
    if (!status) status = ct_grains_read(&stage->grains, error);
    for (size_t i = 0; !status && i < count; i++) {
        if (!groups[i].count) continue;
        ct_candidate *candidate = ct_pool_find(pool, message_ids[i]);
        candidate->has_context = 1;
        status = score_among(stage, groups[i].ids, groups[i].count, candidate, error);
    }
    ct_free(groups);
    return status;
}
