/* What a segment brings up, and whether that is worth an interruption. */
#include <math.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "engine/ct_engine_parts.h"
#include "engine/ct_gate_mind_parts.h"
#include "gate/ct_relevance.h"
#include "recall/ct_question.h"
#include "store/ct_consolidated.h"
#include "store/ct_result.h"

/* What is looked for beyond the limit, since some of it will be known. */
#define SPARE 6

/* Most bytes that one segment brings up. */
#define BYTES 8192

/* So much of a segment is looked up; only a run without a break is longer. */
#define LOOKED_UP 512

/* The odds of what goes along with the best are at least this part of its own. */
#define BESIDE 0.01

/* And of what is brought up at least this part of those of the best that is known: where that answers the segment, the
 * rest only looks like it. */
#define BEYOND_KNOWN 0.8

/* From this cosine on two texts say the same, if their numbers are the same. */
#define SAME_FROM 0.90
#define SAME_TO 0.96

/* Of so much of a text's runs of words on it is said. */
#define SAID 0.6

/* Certainty that a topic ends with a paragraph. */
#define PARAGRAPH 0.3

/* A message, with what is known of it. */
typedef struct finding {
    double overlap;
    double novelty;
    double utility;
    double relevance;
    int is_replaced; /* by another that was found */
} finding;

/* A segment that is looked at. */
typedef struct look {
    ct_gate_mind *mind;
    ct_engine *engine;
    const ct_decision *segment;
    ct_relevance_asking by;
    ct_result *result;
    finding *found; /* [result->count] */
    float *vector;  /* of the segment */
    float *room;    /* for two more */
} look;

/* ---- one message ---------------------------------------------------------------------------- */

static double cosine(const ct_gate_mind *mind, const float *a, const float *b) {
    double sum = 0;
    for (int32_t i = 0; i < mind->dimension; i++) sum += (double)a[i] * b[i];
    return sum;
}

static double ramp(double value, double from, double to) { return fmin(fmax((value - from) / (to - from), 0), 1); }

static int is_known_by_id(const ct_gate_mind *mind, int64_t id) {
    return ct_known_has_message(mind->context, id) || ct_known_has_message(mind->staged, id);
}

static int is_known(const ct_gate_mind *mind, const ct_row *row) {
    int known = is_known_by_id(mind, row->id);
    for (size_t i = 0; !known && i < row->duplicate_count; i++) known = is_known_by_id(mind, row->duplicates[i]);
    return known;
}

static double overlap_of(const ct_gate_mind *mind, const char *text, size_t bytes) {
    return fmax(ct_known_overlap(mind->context, text, bytes), ct_known_overlap(mind->staged, text, bytes));
}

/* How near the nearest of what is known is, and of what is active; -1: there is nothing. */
static void nearest(const look *at, const float *vector, float *room, double *known, double *active) {
    const ct_gate_mind *mind = at->mind;
    ct_active items[CT_WORKING_ITEMS];
    size_t count = ct_working_read(at->engine->working, mind->session, items);
    *known = *active = -1;
    for (size_t i = 0; i < mind->vector_count; i++)
        *known = fmax(*known, cosine(mind, vector, mind->vectors + i * (size_t)mind->dimension));
    for (size_t i = 0; i < count; i++)
        if (ct_index_vector(at->engine->index, items[i].message_id, room))
            *active = fmax(*active, items[i].activation * cosine(mind, vector, room));
}

static finding look_at(const look *at, const ct_row *row) {
    const ct_gate_mind *mind = at->mind;
    finding of = {.novelty = 1, .utility = at->by.asks, .overlap = overlap_of(mind, row->text, row->text_bytes)};
    float *vector = at->room, *other = at->room + mind->dimension;
    double known = -1, active = -1;
    if (ct_index_vector(at->engine->index, row->id, vector)) {
        nearest(at, vector, other, &known, &active);
        of.novelty = fmin(fmax(1 - fmax(known, active), 0), 1);
    }
    int has_numbers = ct_known_has_numbers(mind->context, row->text, row->text_bytes) ||
                      ct_known_has_numbers(mind->staged, row->text, row->text_bytes);
    if (has_numbers) of.overlap = fmax(of.overlap, ramp(known, SAME_FROM, SAME_TO));
    if (is_known(mind, row)) of.overlap = 1;
    of.relevance = ct_relevance_of(&at->by, row);
    return of;
}

/* ---- what replaces what --------------------------------------------------------------------- */

/* Whether the reader has a message that another replaces, or says it: then the newer one corrects that. */
static int is_said(const look *at, const ct_known *segment, const ct_row *row) {
    const char *text = row->text;
    size_t bytes = row->text_bytes;
    return is_known_by_id(at->mind, row->id) || overlap_of(at->mind, text, bytes) >= SAID ||
           ct_known_overlap(segment, text, bytes) >= SAID ||
           (ct_known_count_numbers(text, bytes) && ct_known_has_numbers(segment, text, bytes));
}

static size_t place_of(const ct_result *result, int64_t id) {
    size_t i = 0;
    while (i < result->count && result->rows[i].id != id) i++;
    return i;
}

/* What replaces another is as relevant as that one, and stands for it. */
static int look_at_pair(look *at, const ct_known *segment, const ct_id_pair *pair, ct_error *error) {
    size_t newer = place_of(at->result, pair->newer), older = place_of(at->result, pair->older);
    if (newer == at->result->count) return CT_OK;
    finding *of = &at->found[newer];
    ct_result *other = NULL;
    const ct_row *row = NULL;
    int status = CT_OK;
    if (older < at->result->count) {
        at->found[older].is_replaced = 1;
        of->relevance = fmax(of->relevance, at->found[older].relevance);
        row = &at->result->rows[older];
    } else {
        other = ct_result_new();
        status = other ? ct_store_get_present(at->engine->store, &pair->older, 1, other, error) : ct_fail_nomem(error);
        if (!status && other->count) row = &other->rows[0];
    }
    if (row && is_said(at, segment, row)) {
        const ct_row *by = &at->result->rows[newer];
        of->utility = 1;
        /* It may say the same but for one word, which is the point. */
        if (!is_known(at->mind, by) && overlap_of(at->mind, by->text, by->text_bytes) < 1) of->overlap = 0;
    }
    ct_result_free(other);
    return status;
}

/* By this recall, which shows what it ordered, and by consolidation. */
static int look_at_links(look *at, ct_error *error) {
    const ct_result *result = at->result;
    ct_known *segment = NULL;
    ct_id_pair *stored = NULL;
    size_t count = 0;
    int64_t *ids = ct_alloc((result->count + 1) * sizeof *ids);
    int status = ids ? ct_known_create(&segment, error) : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < result->count; i++) ids[i] = result->rows[i].id;
    if (!status) status = ct_known_add_text(segment, at->segment->text, at->segment->text_bytes, error);
    if (!status) status = ct_store_replaced_pairs(at->engine->store, ids, result->count, &stored, &count, error);
    for (size_t i = 0; !status && i < count; i++) status = look_at_pair(at, segment, &stored[i], error);
    for (size_t i = 0; !status && i < result->count; i++)
        for (size_t k = 0; !status && k < result->rows[i].supersedes_count; k++)
            status = look_at_pair(at, segment, &(ct_id_pair){result->rows[i].id, result->rows[i].supersedes[k]}, error);
    ct_free(stored);
    ct_free(ids);
    ct_known_free(segment);
    return status;
}

/* ---- all that was found --------------------------------------------------------------------- */

static int search(look *at, ct_error *error) {
    const ct_gate_mind *mind = at->mind;
    ct_query query = {
        .text = at->segment->text,
        .text_bytes = ct_gate_beginning(at->segment->text, at->segment->text_bytes, LOOKED_UP),
        .filter = mind->filter,
        .limit = ct_knobs_read(&mind->knobs).gate_limit + SPARE,
        .stages = CT_STAGE_ALL & ~CT_STAGE_DATE,
        .collapse = 1,
        .budget_bytes = BYTES,
    };
    int status = ct_engine_search(at->engine, &query, 1, at->vector, &at->result, error);
    if (status) return status;
    at->found = ct_alloc((at->result->count + 1) * sizeof *at->found);
    if (!at->found) return ct_fail_nomem(error);
    at->by = (ct_relevance_asking){
        .asks = ct_question_share(at->segment->text, at->segment->text_bytes),
        .words = (double)ct_known_count(at->segment->text, at->segment->text_bytes),
        .confidence = at->result->confidence,
    };
    for (size_t i = 0; i < at->result->count; i++) at->found[i] = look_at(at, &at->result->rows[i]);
    return look_at_links(at, error);
}

static double odds(const finding *of) { return of->relevance / fmax(1 - of->relevance, 1e-9); }

/* Whether it is worth anything to the reader, however relevant it is. */
static int is_worth(const look *at, const finding *of) {
    ct_gate_view view = {.relevance = 1, .novelty = of->novelty, .utility = of->utility, .overlap = of->overlap,
                         .since = INFINITY};
    return !of->is_replaced && ct_gate_decide(&view, &at->mind->knobs).should_interrupt;
}

/* What the odds of something have to be for it to be brought up. */
static double least_odds(const look *at) {
    double least = 0;
    for (size_t i = 0; i < at->result->count; i++) {
        const finding *of = &at->found[i];
        least = fmax(least, odds(of) * (is_worth(at, of) ? BESIDE : of->overlap >= SAID ? BEYOND_KNOWN : 0));
    }
    return least;
}

static int is_wanted(const look *at, const finding *of, double least) { return odds(of) >= least && is_worth(at, of); }

/* What speaks for an interruption: the most relevant of what is wanted; if nothing is, the most relevant, but for what
 * another stands for. */
static size_t choose(const look *at) {
    size_t count = at->result->count, chosen = count;
    double least = least_odds(at);
    for (int any = 0; chosen == count && any < 2; any++)
        for (size_t i = 0; i < count; i++)
            if ((any ? !at->found[i].is_replaced : is_wanted(at, &at->found[i], least)) &&
                (chosen == count || at->found[i].relevance > at->found[chosen].relevance))
                chosen = i;
    return chosen;
}

static int by_score(const void *a, const void *b) {
    double x = ((const ct_row *)a)->score, y = ((const ct_row *)b)->score;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Keep of the rows the most relevant that are wanted, at most the gate's limit; they are known from here on. */
static int keep(look *at, ct_error *error) {
    ct_result *result = at->result;
    size_t limit = (size_t)ct_knobs_read(&at->mind->knobs).gate_limit, kept = 0;
    double least = least_odds(at);
    int status = CT_OK;
    for (size_t i = 0; i < result->count; i++) {
        if (!is_wanted(at, &at->found[i], least)) continue;
        ct_row row = result->rows[i];
        row.score = at->found[i].relevance;
        result->rows[kept++] = row;
    }
    qsort(result->rows, kept, sizeof *result->rows, by_score);
    result->count = kept < limit ? kept : limit;
    for (size_t i = 0; !status && i < result->count; i++)
        status = ct_gate_mind_know_row(at->mind, at->mind->staged, at->engine, &result->rows[i], error);
    return status;
}

/* ---- the decision --------------------------------------------------------------------------- */

static ct_gate_view view_of(const look *at, const ct_affect *affect, int ends_paragraph, int ends_turn) {
    const ct_gate_mind *mind = at->mind;
    double edge = ends_turn ? 1 : ends_paragraph ? PARAGRAPH : 0;
    ct_gate_view view = {
        .affect = ct_affect_of(affect, at->vector),
        .drift = ct_topic_drift(&mind->topic, at->vector),
        .since = mind->topic.since,
        .boundary = 1 - (1 - edge) * (1 - ct_topic_shift(&mind->topic, at->vector)),
    };
    size_t chosen = choose(at);
    if (chosen == at->result->count) return view;
    view.relevance = at->found[chosen].relevance;
    view.novelty = at->found[chosen].novelty;
    view.utility = at->found[chosen].utility;
    view.overlap = at->found[chosen].overlap;
    return view;
}

int ct_gate_mind_decide(ct_gate_mind *mind, ct_engine *engine, const ct_affect *affect, int ends_paragraph, int ends_turn,
                        ct_decision *decision, ct_error *error) {
    size_t dimension = (size_t)mind->dimension;
    float *room = ct_alloc(3 * dimension * sizeof *room);
    if (!room) return ct_fail_nomem(error);
    look at = {.mind = mind, .engine = engine, .segment = decision, .vector = room, .room = room + dimension};
    int64_t began = ct_clock_ns();
    int status = ct_gate_mind_follow(mind, engine, error);
    if (!status) status = search(&at, error);
    if (status) goto end;
    decision->encode_ns = at.result->timings.encode_ns;
    decision->view = view_of(&at, affect, ends_paragraph, ends_turn);
    decision->verdict = ct_gate_decide(&decision->view, &mind->knobs);
    if (decision->verdict.should_stage) {
        status = keep(&at, error);
        if (!status && at.result->count) {
            decision->staged = at.result;
            at.result = NULL;
        }
    }
    if (!status) ct_topic_add(&mind->topic, at.vector, decision->verdict.should_interrupt);
    decision->search_ns = ct_clock_ns() - began - decision->encode_ns;
end:
    ct_result_free(at.result);
    ct_free(at.found);
    ct_free(room);
    return status;
}
