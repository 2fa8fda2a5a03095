#include "recall/ct_recall.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "recall/ct_confidence.h"
#include "recall/ct_fluency.h"
#include "recall/ct_fuse.h"
#include "recall/ct_late_stage.h"
#include "recall/ct_lexical.h"
#include "recall/ct_pack.h"
#include "recall/ct_pool.h"
#include "recall/ct_question.h"
#include "recall/ct_speaker.h"
#include "recall/ct_standing.h"
#include "recall/ct_supersede.h"
#include "store/ct_result.h"

/* Candidates each stage hands over for one hit that is asked for, and at least. */
#define POOL_FACTOR 4
#define POOL_LEAST 200

/* The best of these bring their neighbours into the pool: so many of them, so many to each side. */
#define LEADERS 50
#define NEIGHBOURS 2

/* How much of its words' score a message lends to those 1, 2, ... away. */
static const double lent_words[] = {0.7, 0.5};

/* Messages whose text is read for one hit that is asked for, and at least. */
#define READ_FACTOR 2
#define READ_LEAST 40

/* When too many of the candidates say the same, so many times as many are looked for. */
#define WIDEN_FACTOR 8

/* A message that is a span's own length before or behind it is half as near as one in it; of a span
 * that is very short or open this long. */
#define NEAR_LEAST_MS (1 * 86400000.0)
#define NEAR_MOST_MS (30 * 86400000.0)

/* Hits below this part of the best one's score are no evidence, when nothing or all speaks for an
 * answer in the store. */
#define CUT_UNSURE 0.75
#define CUT_SURE 0.5

typedef struct run {
    const ct_recall_parts *parts;
    const ct_query *query;
    ct_bound_filter filter;
    ct_index_query vector;
    ct_query_tokens tokens;
    ct_words words; /* all of the query's */
    ct_speakers speakers;
    double fluency; /* how much of the query the model knows */
    ct_pool pool;
} run;

static void run_free(run *state) {
    ct_bound_filter_free(&state->filter);
    ct_index_query_free(&state->vector);
    ct_query_tokens_free(&state->tokens);
    ct_words_free(&state->words);
    ct_pool_free(&state->pool);
}

static int uses(const run *state, ct_stage stage) { return (state->query->stages & (int32_t)stage) != 0; }

/* ---- candidates ---------------------------------------------------------------------------- */

static int encode(run *state, ct_error *error) {
    const ct_recall_parts *parts = state->parts;
    float *vector = ct_alloc((size_t)ct_encoder_dimension(parts->encoder) * sizeof *vector);
    if (!vector) return ct_fail_nomem(error);
    int status = ct_encoder_query(parts->encoder, state->query->text, state->query->text_bytes, vector,
                                  &state->tokens, error);
    if (!status) status = ct_index_query_make(parts->index, vector, &state->vector, error);
    if (!status)
        status = ct_fluency_of(parts->encoder, state->query->text, state->query->text_bytes, &state->fluency,
                               error);
    ct_free(vector);
    return status;
}

static int find_dense(run *state, size_t capacity, ct_error *error) {
    const ct_bound_filter *bound = &state->filter;
    ct_index_filter filter = {
        .sessions = bound->restrict_sessions ? bound->sessions : NULL,
        .session_count = bound->session_count,
        .roles = bound->restrict_roles ? bound->roles : NULL,
        .role_count = bound->role_count,
        .since_ms = bound->since_ms,
        .until_ms = bound->until_ms,
    };
    size_t count = 0;
    ct_dense_hit *hits = ct_alloc(capacity * sizeof *hits);
    if (!hits) return ct_fail_nomem(error);
    ct_index_search(state->parts->index, &state->vector, &filter, hits, capacity, &count);
    int status = CT_OK;
    for (size_t i = 0; !status && i < count; i++) {
        ct_candidate *candidate = ct_pool_add(&state->pool, hits[i].message_id);
        if (candidate) candidate->dense = hits[i].score;
        else status = ct_fail_nomem(error);
    }
    ct_free(hits);
    return status;
}

static int find_lexical(run *state, size_t capacity, ct_error *error) {
    const ct_recall_parts *parts = state->parts;
    size_t count = 0;
    ct_lexical_hit *hits = ct_alloc(capacity * sizeof *hits);
    if (!hits) return ct_fail_nomem(error);
    ct_lexical_select(&state->words);
    int status = ct_store_search(parts->store, &state->words, &state->filter, hits, capacity, &count, error);
    for (size_t i = 0; !status && i < count; i++) {
        ct_candidate *candidate = ct_pool_add(&state->pool, hits[i].message_id);
        if (candidate) candidate->lexical = hits[i].score;
        else status = ct_fail_nomem(error);
    }
    ct_free(hits);
    return status;
}

static int contains(const int64_t *ids, size_t count, int64_t id) {
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id) return 1;
    return 0;
}

/* Neighbours are of one session, so of the filter only roles and times are left to look at. */
int ct_recall_passes(const ct_bound_filter *filter, const ct_index_message *about) {
    return about->time_ms >= filter->since_ms && about->time_ms < filter->until_ms &&
           (!filter->restrict_roles || contains(filter->roles, filter->role_count, about->role_id));
}

static int add_neighbours(run *state, ct_error *error) {
    int64_t ids[2 * NEIGHBOURS + 1], leaders[LEADERS];
    ct_index *index = state->parts->index;
    ct_fuse_score(&state->pool, state->fluency);
    int64_t leader_count = ct_pool_leaders(&state->pool, LEADERS, leaders);
    if (leader_count < 0) return ct_fail_nomem(error);
    for (int64_t l = 0; l < leader_count; l++) {
        size_t count = ct_index_neighbours(index, leaders[l], NEIGHBOURS, NEIGHBOURS, ids);
        for (size_t i = 0; i < count; i++) {
            ct_index_message about;
            if (!ct_index_find(index, ids[i], &about) || !ct_recall_passes(&state->filter, &about)) continue;
            if (!ct_pool_add(&state->pool, ids[i])) return ct_fail_nomem(error);
        }
    }
    return CT_OK;
}

/* ---- what the stages say ------------------------------------------------------------------- */

static double nearness(const run *state, int64_t time_ms) {
    double nearest = 0;
    for (size_t i = 0; i < state->query->date_count; i++) {
        const ct_period *span = &state->query->dates[i];
        double away = 0, width = (double)span->end_ms - (double)span->start_ms;
        if (time_ms < span->start_ms) away = (double)span->start_ms - (double)time_ms;
        else if (time_ms >= span->end_ms) away = (double)time_ms - (double)span->end_ms;
        double near = exp2(-away / fmin(fmax(width, NEAR_LEAST_MS), NEAR_MOST_MS));
        if (near > nearest) nearest = near;
    }
    return nearest;
}

static double lent_by_neighbours(const run *state, int64_t message_id) {
    enum { REACH = sizeof lent_words / sizeof *lent_words };
    int64_t ids[2 * REACH + 1];
    double best = 0;
    size_t own = 0, count = ct_index_neighbours(state->parts->index, message_id, REACH, REACH, ids);
    while (own < count && ids[own] != message_id) own++;
    for (size_t i = 0; i < count; i++) {
        const ct_candidate *lender = i == own ? NULL : ct_pool_find(&state->pool, ids[i]);
        if (!lender || isnan(lender->lexical)) continue;
        double lent = lent_words[(i < own ? own - i : i - own) - 1] * lender->lexical;
        if (lent > best) best = lent;
    }
    return best;
}

static void describe(run *state) {
    for (size_t i = 0; i < state->pool.count; i++) {
        ct_candidate *candidate = &state->pool.list[i];
        ct_index_message about;
        if (!ct_index_find(state->parts->index, candidate->message_id, &about)) continue;
        candidate->role_id = about.role_id;
        candidate->speaker = ct_speaker_is_named(&state->speakers, about.role_id);
        if (uses(state, CT_STAGE_DATE)) candidate->date = nearness(state, about.time_ms);
        if (uses(state, CT_STAGE_CONTEXT) && state->words.count)
            candidate->around = lent_by_neighbours(state, candidate->message_id);
        if (isnan(candidate->dense) && state->vector.values)
            ct_index_score(state->parts->index, &state->vector, candidate->message_id, &candidate->dense);
    }
}

/* ---- the answer ---------------------------------------------------------------------------- */

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
static int supersede(run *state, ct_result *result, ct_error *error) {
    for (size_t i = 0; i < result->count; i++)
        result->rows[i].supersedes_count = result->rows[i].superseded_by_count = 0;
    ct_free(result->links);
    result->links = NULL;
    int status = ct_supersede_run(state->parts, state->query, &state->tokens, result, error);
    if (!status) qsort(result->rows, result->count, sizeof *result->rows, by_score);
    return status;
}

/* The score at which the evidence ends: the surer it is that something answers, the more of what stands
 * behind the best is worth having. */
static double least_score(const run *state, const ct_result *result) {
    if (!uses(state, CT_STAGE_CUT) || !result->count) return -INFINITY;
    double part = CUT_UNSURE + (CUT_SURE - CUT_UNSURE) * result->confidence;
    /* Where words decide, scores fall faster than the evidence does. */
    return part * state->fluency * result->rows[0].score;
}

/* Read so many more of the leading messages, and rank all that were with what their text says. */
static int read_more(run *state, size_t most, ct_result *result, ct_error *error) {
    size_t first = result->count, count = 0;
    int64_t *ids = ct_alloc(state->pool.count * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    ct_fuse_score(&state->pool, state->fluency);
    int64_t leaders = ct_pool_leaders(&state->pool, state->pool.count, ids);
    for (int64_t i = 0; i < leaders && count < most; i++) {
        ct_candidate *candidate = ct_pool_find(&state->pool, ids[i]);
        if (candidate->is_read) continue;
        candidate->is_read = 1;
        ids[count++] = ids[i];
    }
    int status = leaders < 0 ? ct_fail_nomem(error)
                             : ct_store_get(state->parts->store, ids, count, result, error);
    ct_free(ids);
    if (status || !result->count) return status;
    for (size_t i = first; uses(state, CT_STAGE_QUESTION) && i < result->count; i++)
        ct_pool_find(&state->pool, result->rows[i].id)->question =
            ct_question_share(result->rows[i].text, result->rows[i].text_bytes);
    ct_fuse_score(&state->pool, state->fluency);
    for (size_t i = 0; i < result->count; i++)
        fill(&result->rows[i], ct_pool_find(&state->pool, result->rows[i].id));
    qsort(result->rows, result->count, sizeof *result->rows, by_score);
    result->confidence = ct_confidence_of(&state->pool, &state->speakers);
    if (uses(state, CT_STAGE_SUPERSESSION)) status = supersede(state, result, error);
    return status;
}

/* Look for more candidates, once: those that there are say the same too often. */
static int widen(run *state, ct_error *error) {
    size_t capacity = state->pool.count * WIDEN_FACTOR;
    int status = CT_OK;
    if (uses(state, CT_STAGE_DENSE)) status = find_dense(state, capacity, error);
    if (!status && uses(state, CT_STAGE_LEXICAL)) status = find_lexical(state, capacity, error);
    if (!status && uses(state, CT_STAGE_CONTEXT)) status = add_neighbours(state, error);
    if (!status) describe(state);
    if (!status && uses(state, CT_STAGE_LATE))
        status = ct_late_stage_run(state->parts, &state->tokens, &state->speakers,
                                   uses(state, CT_STAGE_CONTEXT), state->query->filter.until_ms,
                                   &state->pool, error);
    return status;
}

static int fetch(run *state, size_t capacity, ct_result *result, ct_error *error) {
    size_t limit = (size_t)state->query->limit;
    size_t most = limit * READ_FACTOR > READ_LEAST ? limit * READ_FACTOR : READ_LEAST;
    ct_pack pack = {state->parts, state->query, &state->filter, &state->pool, .result = result, .least = -INFINITY};
    /* With fewer in the pool no stage had more to give. */
    int status, may_widen = state->pool.count >= capacity;
    for (;;) {
        status = read_more(state, most, result, error);
        if (!status) status = ct_pack_collapse(&pack, error);
        if (status || pack.count >= limit) break;
        pack.least = least_score(state, result);
        if (result->count && result->rows[result->count - 1].score < pack.least) break;
        if (result->count == state->pool.count) {
            if (!may_widen) break;
            may_widen = 0;
            status = widen(state, error);
            if (status || result->count == state->pool.count) break;
        }
        most = result->count; /* each time as many as were read before */
    }
    pack.least = least_score(state, result);
    if (!status) status = ct_pack_choose(&pack, error);
    ct_pack_free(&pack);
    for (size_t i = 0; i < result->count; i++) result->rows[i].score = fmax(result->rows[i].score, 0);
    return status;
}

int ct_recall_run(const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                  ct_error *error) {
    size_t limit = (size_t)query->limit;
    size_t capacity = limit * POOL_FACTOR > POOL_LEAST ? limit * POOL_FACTOR : POOL_LEAST;
    run state = {.parts = parts, .query = query, .fluency = 1};
    ct_timings *timings = &result->timings;
    int64_t began = ct_clock_ns(), now;
    int status = ct_store_bind_filter(parts->store, &query->filter, &state.filter, error);

    if (!status && (uses(&state, CT_STAGE_DENSE) || uses(&state, CT_STAGE_LATE)))
        status = encode(&state, error);
    timings->encode_ns = (now = ct_clock_ns()) - began;
    began = now;

    if (!status && uses(&state, CT_STAGE_DENSE)) status = find_dense(&state, capacity, error);
    timings->dense_ns = (now = ct_clock_ns()) - began;
    began = now;

    if (!status && (uses(&state, CT_STAGE_LEXICAL) || uses(&state, CT_STAGE_SPEAKER)))
        status = ct_store_split(parts->store, query->text, query->text_bytes, &state.words, error);
    if (!status && uses(&state, CT_STAGE_SPEAKER))
        status = ct_speaker_find(parts->store, parts->encoder, &state.words, &state.speakers, error);
    if (!status && uses(&state, CT_STAGE_LEXICAL)) status = find_lexical(&state, capacity, error);
    timings->lexical_ns = (now = ct_clock_ns()) - began;
    began = now;

    if (!status && uses(&state, CT_STAGE_CONTEXT)) status = add_neighbours(&state, error);
    if (!status) describe(&state);
    if (!status && uses(&state, CT_STAGE_LATE))
        status = ct_late_stage_run(parts, &state.tokens, &state.speakers, uses(&state, CT_STAGE_CONTEXT),
                                   query->filter.until_ms, &state.pool, error);
    timings->late_ns = (now = ct_clock_ns()) - began;
    began = now;

    if (!status) status = fetch(&state, capacity, result, error);
    if (!status && query->standing)
        status = ct_standing_find(parts, query, &state.filter, &state.tokens, result, error);
    timings->fetch_ns = ct_clock_ns() - began;
    run_free(&state);
    return status;
}
