#include "recall/ct_gather.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "recall/ct_fluency.h"
#include "recall/ct_fuse.h"
#include "recall/ct_lexical.h"

/* The best are looked at in their context, and so are the messages beside them, so many to each side:
 * an answer can owe all to the question before it.  So many leaders for one hit that is asked for, and
 * at least. */
#define LEADERS_FACTOR 2
#define LEADERS_LEAST 32
#define NEIGHBOURS 2

/* An index that is kept elsewhere is asked for so many times more chunks, in so many turns at most, when those
 * it gave are of too few messages: long ones are of many chunks. */
#define NEARBY_WIDEN 4
#define NEARBY_TURNS 2

/* Candidates from each of the first times that a query names. */
#define DATES_MAX 4
#define DATED 50

/* How much of its words' score a message lends to those 1, 2, ... away. */
static const double lent_words[] = {0.84, 0.6};

/* A message that is a span's own length before or behind it is half as near as one in it; of a span
 * that is very short or open this long. */
#define NEAR_LEAST_MS (1 * 86400000.0)
#define NEAR_MOST_MS (30 * 86400000.0)

void ct_gather_free(ct_gather *gather) {
    ct_free(gather->unit);
    ct_index_query_free(&gather->vector);
    ct_query_tokens_free(&gather->tokens);
    ct_words_free(&gather->words);
    ct_late_stage_free(&gather->late);
    ct_free(gather->found);
    ct_pool_free(&gather->pool);
}

int ct_gather_uses(const ct_gather *gather, ct_stage stage) {
    return (gather->query->stages & (int32_t)stage) != 0;
}

/* ---- the query ----------------------------------------------------------------------------- */

static int encode(ct_gather *gather, ct_error *error) {
    const ct_recall_parts *parts = gather->parts;
    const ct_query *query = gather->query;
    gather->unit = ct_alloc((size_t)ct_encoder_dimension(parts->encoder) * sizeof *gather->unit);
    if (!gather->unit) return ct_fail_nomem(error);
    int status =
        ct_encoder_query(parts->encoder, query->text, query->text_bytes, gather->unit, &gather->tokens, error);
    if (!status) status = ct_index_query_make(parts->index, gather->unit, &gather->vector, error);
    if (!status)
        status = ct_fluency_of(parts->encoder, query->text, query->text_bytes, &gather->fluency, error);
    return status;
}

static int split(ct_gather *gather, ct_error *error) {
    const ct_recall_parts *parts = gather->parts;
    const ct_query *query = gather->query;
    int status = ct_store_split(parts->store, query->text, query->text_bytes, &gather->words, error);
    if (status) return status;
    size_t content = ct_lexical_select(&gather->words);
    gather->content = gather->words;
    gather->content.count = content;
    return CT_OK;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* By an index that is kept elsewhere, of all there is.  *count stays 0 when it has no answer, or too few
 * messages. */
static int find_nearby(ct_gather *gather, ct_dense_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    const ct_recall_nearby *nearby = &gather->parts->nearby;
    ct_nearby near = {
        .vector = gather->unit,
        .dimension = (size_t)ct_encoder_dimension(gather->parts->encoder),
        .wanted = capacity + capacity / 2,
        .chunks = ct_index_count(gather->parts->index),
        .last_chunk = ct_index_last_chunk(gather->parts->index),
    };
    int status = CT_OK;
    for (int turn = 0; !status && *count < capacity && turn < NEARBY_TURNS; turn++, near.wanted *= NEARBY_WIDEN) {
        *count = 0;
        if (near.wanted >= near.chunks) break;
        near.chunk_ids = ct_alloc(near.wanted * sizeof *near.chunk_ids);
        if (!near.chunk_ids) return ct_fail_nomem(error);
        int answered = !nearby->find(nearby->state, &near) && near.count == near.wanted;
        if (answered)
            status = ct_index_search_near(gather->parts->index, &gather->vector, near.chunk_ids, near.count,
                                          near.known, hits, capacity, count, error);
        ct_free(near.chunk_ids);
        if (!answered) break;
    }
    if (*count < capacity) *count = 0;
    return status;
}

/* Of what passes the filter and is from a span of time. */
static int find_dense(ct_gather *gather, int64_t since_ms, int64_t until_ms, size_t capacity, ct_error *error) {
    const ct_bound_filter *bound = gather->filter;
    ct_index_filter filter = {
        .sessions = bound->restrict_sessions ? bound->sessions : NULL,
        .session_count = bound->session_count,
        .roles = bound->restrict_roles ? bound->roles : NULL,
        .role_count = bound->role_count,
        .since_ms = bound->since_ms > since_ms ? bound->since_ms : since_ms,
        .until_ms = bound->until_ms < until_ms ? bound->until_ms : until_ms,
    };
    size_t count = 0;
    ct_dense_hit *hits = ct_alloc(capacity * sizeof *hits);
    if (!hits) return ct_fail_nomem(error);
    int status = CT_OK;
    int is_open = ct_bound_filter_is_open(bound) && since_ms == INT64_MIN && until_ms == INT64_MAX;
    if (is_open && gather->parts->nearby.find)
        status = find_nearby(gather, hits, capacity, &count, error);
    if (!status && !count)
        status = ct_index_search(gather->parts->index, &gather->vector, &filter, hits, capacity, &count, error);
    for (size_t i = 0; !status && i < count; i++) {
        ct_candidate *candidate = ct_pool_add(&gather->pool, hits[i].message_id);
        if (candidate) candidate->dense = hits[i].score;
        else status = ct_fail_nomem(error);
    }
    ct_free(hits);
    return status;
}

/* A query can be all date and no content: then nothing else would lead to what is from that time. */
static int find_dated(ct_gather *gather, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < gather->query->date_count && i < DATES_MAX; i++)
        status = find_dense(gather, gather->query->dates[i].start_ms, gather->query->dates[i].end_ms, DATED, error);
    return status;
}

static int look_up_words(ct_gather *gather, size_t capacity, ct_error *error) {
    gather->found_count = 0;
    gather->found = ct_alloc(capacity * sizeof *gather->found);
    if (!gather->found) return ct_fail_nomem(error);
    return ct_store_search(gather->parts->store, &gather->content, gather->filter, gather->found, capacity,
                           &gather->found_count, error);
}

static int find_lexical(ct_gather *gather, size_t capacity, ct_error *error) {
    int status = gather->found ? CT_OK : look_up_words(gather, capacity, error);
    for (size_t i = 0; !status && i < gather->found_count; i++) {
        if (gather->found[i].message_id < 1) continue; /* no message of ours: the store is damaged */
        ct_candidate *candidate = ct_pool_add(&gather->pool, gather->found[i].message_id);
        if (candidate) candidate->lexical = gather->found[i].score;
        else status = ct_fail_nomem(error);
    }
    ct_free(gather->found);
    gather->found = NULL;
    return status;
}

/* Only who speaks in the candidates can be named: roles that the filter hides must not tell. */
static int find_speakers(ct_gather *gather, ct_error *error) {
    int64_t roles[CT_ROLES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < gather->pool.count && count < CT_ROLES_MAX; i++) {
        ct_index_message about;
        size_t at = 0;
        if (!ct_index_find(gather->parts->index, gather->pool.list[i].message_id, &about)) continue;
        while (at < count && roles[at] != about.role_id) at++;
        if (at == count) roles[count++] = about.role_id;
    }
    return ct_speaker_find(gather->parts, gather->query, &gather->words, roles, count, &gather->speakers, error);
}

/* ---- what the stages say of them ----------------------------------------------------------- */

static double nearness(const ct_gather *gather, int64_t time_ms) {
    double nearest = 0;
    for (size_t i = 0; i < gather->query->date_count; i++) {
        const ct_period *span = &gather->query->dates[i];
        double away = 0, width = (double)span->end_ms - (double)span->start_ms;
        if (time_ms < span->start_ms) away = (double)span->start_ms - (double)time_ms;
        else if (time_ms >= span->end_ms) away = (double)time_ms - (double)span->end_ms;
        double near = exp2(-away / fmin(fmax(width, NEAR_LEAST_MS), NEAR_MOST_MS));
        if (near > nearest) nearest = near;
    }
    return nearest;
}

static double lent_by_neighbours(const ct_gather *gather, int64_t message_id) {
    enum { REACH = sizeof lent_words / sizeof *lent_words };
    int64_t ids[2 * REACH + 1];
    double best = 0;
    size_t own = 0, count = ct_index_neighbours(gather->parts->index, message_id, REACH, REACH, ids);
    while (own < count && ids[own] != message_id) own++;
    for (size_t i = 0; i < count; i++) {
        const ct_candidate *lender = i == own ? NULL : ct_pool_find(&gather->pool, ids[i]);
        if (!lender || isnan(lender->lexical)) continue;
        double lent = lent_words[(i < own ? own - i : i - own) - 1] * lender->lexical;
        if (lent > best) best = lent;
    }
    return best;
}

/* Candidates come from all over the index. */
static int expect(ct_gather *gather, ct_error *error) {
    size_t count = 0;
    int64_t *ids = ct_alloc((gather->pool.count + 1) * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    for (size_t i = 0; i < gather->pool.count; i++)
        if (!gather->pool.list[i].is_described) ids[count++] = gather->pool.list[i].message_id;
    ct_index_expect(gather->parts->index, ids, count);
    ct_free(ids);
    return CT_OK;
}

static void describe(ct_gather *gather) {
    for (size_t i = 0; i < gather->pool.count; i++) {
        ct_candidate *candidate = &gather->pool.list[i];
        ct_index_message about;
        if (candidate->is_described) continue;
        candidate->is_described = 1;
        if (!ct_index_find(gather->parts->index, candidate->message_id, &about)) continue;
        candidate->role_id = about.role_id;
        candidate->speaker = ct_speaker_is_named(&gather->speakers, about.role_id);
        if (ct_gather_uses(gather, CT_STAGE_DATE)) candidate->date = nearness(gather, about.time_ms);
        if (ct_gather_uses(gather, CT_STAGE_CONTEXT) && gather->words.count)
            candidate->around = lent_by_neighbours(gather, candidate->message_id);
        if (isnan(candidate->dense) && gather->vector.values)
            ct_index_score(gather->parts->index, &gather->vector, candidate->message_id, &candidate->dense);
    }
}

static int match(ct_gather *gather, ct_error *error) {
    describe(gather);
    if (!ct_gather_uses(gather, CT_STAGE_LATE)) return CT_OK;
    return ct_late_stage_match(&gather->late, &gather->pool, error);
}

/* ---- what stands beside the best ----------------------------------------------------------- */

/* The best and the messages beside them, each once; those that are new join the pool. */
static int find_leaders(ct_gather *gather, int64_t *ids, size_t most, size_t *out, ct_error *error) {
    ct_index *index = gather->parts->index;
    ct_id_map seen = {0};
    size_t count = 0;
    ct_fuse_score(&gather->pool, gather->fluency);
    int64_t leaders = ct_pool_leaders(&gather->pool, most, ids);
    int status = leaders < 0 ? CT_NOMEM : CT_OK;
    for (int64_t l = 0; !status && l < leaders; l++)
        if (ct_id_map_put(&seen, ids[l], 0)) status = CT_NOMEM;
    if (!status) count = (size_t)leaders;
    for (int64_t l = 0; !status && l < leaders; l++) {
        int64_t beside[2 * NEIGHBOURS + 1];
        size_t some = ct_index_neighbours(index, ids[l], NEIGHBOURS, NEIGHBOURS, beside);
        for (size_t i = 0; !status && i < some; i++) {
            ct_index_message about;
            if (ct_id_map_get(&seen, beside[i], 1) == 0 || !ct_index_find(index, beside[i], &about) ||
                !ct_bound_filter_passes(gather->filter, about.session_id, about.role_id, about.time_ms))
                continue;
            if (!ct_pool_add(&gather->pool, beside[i]) || ct_id_map_put(&seen, beside[i], 0)) status = CT_NOMEM;
            else ids[count++] = beside[i];
        }
    }
    ct_id_map_free(&seen);
    *out = count;
    return status ? ct_fail_nomem(error) : CT_OK;
}

static int look_around(ct_gather *gather, ct_error *error) {
    size_t most = (size_t)gather->query->limit * LEADERS_FACTOR, count = 0;
    if (most < LEADERS_LEAST) most = LEADERS_LEAST;
    if (most > gather->pool.count) most = gather->pool.count;
    int64_t *ids = ct_alloc(most * (2 * NEIGHBOURS + 1) * sizeof *ids);
    if (!ids) return ct_fail_nomem(error);
    int status = find_leaders(gather, ids, most, &count, error);
    if (!status) status = match(gather, error);
    if (!status && ct_gather_uses(gather, CT_STAGE_LATE))
        status = ct_late_stage_look_around(&gather->late, &gather->pool, ids, count, error);
    ct_free(ids);
    return status;
}

/* ---- in turn ------------------------------------------------------------------------------- */

/* Of a span of time the index has to be as the store is before ids can be bounded. */
static int may_look_up_ahead(const ct_gather *gather) {
    return gather->parts->helper && ct_gather_uses(gather, CT_STAGE_LEXICAL) &&
           gather->filter->since_ms == INT64_MIN && gather->filter->until_ms == INT64_MAX;
}

/* What two threads do at the same time: one the meaning, one the words. */
typedef struct preparing {
    ct_gather *gather;
    size_t capacity;
    int64_t encoded_ns; /* when the meaning was known */
    int status[2];
    ct_error error[2];
} preparing;

static void prepare_half(void *state, size_t member) {
    preparing *of = state;
    ct_error *error = &of->error[member];
    if (member == 0) {
        of->status[0] = encode(of->gather, error);
        of->encoded_ns = ct_clock_ns();
    } else {
        of->status[1] = split(of->gather, error);
        if (!of->status[1]) of->status[1] = look_up_words(of->gather, of->capacity, error);
    }
}

static int prepare_beside(ct_gather *gather, size_t capacity, int64_t *encoded_ns, ct_error *error) {
    preparing of = {.gather = gather, .capacity = capacity};
    ct_team_run(gather->parts->helper, prepare_half, &of);
    int failed = of.status[0] ? 0 : 1;
    if (of.status[failed]) *error = of.error[failed];
    *encoded_ns = of.encoded_ns;
    return of.status[failed];
}

int ct_gather_prepare(ct_gather *gather, size_t capacity, ct_timings *timings, ct_error *error) {
    int64_t began = ct_clock_ns(), encoded = began;
    int meaning = ct_gather_uses(gather, CT_STAGE_DENSE) || ct_gather_uses(gather, CT_STAGE_LATE);
    int words = ct_gather_uses(gather, CT_STAGE_LEXICAL) || ct_gather_uses(gather, CT_STAGE_SPEAKER);
    int status = CT_OK;
    if (meaning && may_look_up_ahead(gather)) {
        status = prepare_beside(gather, capacity, &encoded, error);
    } else {
        if (meaning) status = encode(gather, error);
        encoded = ct_clock_ns();
        if (!status && words) status = split(gather, error);
    }
    timings->encode_ns += encoded - began;
    timings->lexical_ns += ct_clock_ns() - encoded;
    return status;
}

/* What the first candidates say about the query, once. */
static int begin_late(ct_gather *gather, ct_error *error) {
    int status = ct_gather_uses(gather, CT_STAGE_SPEAKER) ? find_speakers(gather, error) : CT_OK;
    if (!status && ct_gather_uses(gather, CT_STAGE_LATE))
        status = ct_late_stage_begin(gather->parts, gather->query, &gather->tokens, &gather->speakers,
                                     &gather->late, error);
    return status;
}

int ct_gather_run(ct_gather *gather, size_t capacity, ct_timings *timings, ct_error *error) {
    int is_first = gather->pool.count == 0;
    for (size_t i = 0; i < gather->pool.count; i++) gather->pool.list[i].is_described = 0;
    int status = CT_OK;
    int64_t began = ct_clock_ns(), now;

    if (ct_gather_uses(gather, CT_STAGE_DENSE))
        status = find_dense(gather, INT64_MIN, INT64_MAX, capacity, error);
    if (!status && ct_gather_uses(gather, CT_STAGE_DENSE)) status = find_dated(gather, error);
    timings->dense_ns += (now = ct_clock_ns()) - began;
    began = now;

    if (!status && ct_gather_uses(gather, CT_STAGE_LEXICAL)) status = find_lexical(gather, capacity, error);
    timings->lexical_ns += (now = ct_clock_ns()) - began;
    began = now;

    if (!status) status = expect(gather, error);
    if (!status && is_first) status = begin_late(gather, error);
    if (!status) status = match(gather, error);
    if (!status && ct_gather_uses(gather, CT_STAGE_CONTEXT)) status = look_around(gather, error);
    if (!status) ct_fuse_score(&gather->pool, gather->fluency);
    timings->late_ns += ct_clock_ns() - began;
    return status;
}
