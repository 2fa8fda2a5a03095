#include "engine/ct_gate_mind.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "engine/ct_engine_parts.h"
#include "gate/ct_known.h"
#include "gate/ct_topic.h"
#include "recall/ct_question.h"
#include "store/ct_result.h"

/* So much of a text says what it is about. */
#define EMBEDDED_BYTES 2048

/* Messages of the session that a reader is taken to have before it. */
#define FOLLOWED 32

/* What is looked for beyond the limit, since some of it will be known. */
#define SPARE 6

/* Most bytes that one segment brings up. */
#define BYTES 8192

/* So much of a segment is looked up; only a run without a break is longer. */
#define LOOKED_UP 512

/* How likely a message answers the segment: a logistic of its cosine, its score and its BM25, of whether the segment asks,
 * for who asks looks for something, and of how long it is, for few words are near to much by chance.  Fitted on the
 * streams of bench/gate.py that are for development. */
#define BY_COSINE 5.75
#define BY_SCORE 6.24
#define BY_WORDS 0.5 /* the logarithm of BM25 + 1 */
#define BY_ASKING 3.62
#define BY_LENGTH 1.38 /* the logarithm of the segment's words */
#define LIKELY (-9.3)

/* The odds of what goes along with the best are at least this part of its own. */
#define BESIDE 0.01

/* From this cosine on two texts say the same, if their numbers are the same. */
#define SAME_FROM 0.90
#define SAME_TO 0.96

/* Certainty that a topic ends with a paragraph. */
#define PARAGRAPH 0.3

struct ct_gate_mind {
    char *session;
    char *scope;
    ct_knobs knobs;
    ct_filter filter;
    int follows;
    int64_t followed; /* the last message of the session that is known */
    int32_t dimension;
    ct_known *context;
    ct_known *staged; /* for this stream */
    ct_topic topic;
    float *vectors; /* [CT_GATE_VECTORS][dimension], a ring */
    size_t vector_count;
    size_t next_vector;
};

/* ---- lifetime ------------------------------------------------------------------------------ */

static void free_names(const char *const *names, size_t count) {
    for (size_t i = 0; names && i < count; i++) ct_free((char *)(uintptr_t)names[i]);
    ct_free((void *)(uintptr_t)names);
}

static int copy_names(const char *const *names, size_t count, const char *const **out) {
    if (!count) return 0;
    char **copies = ct_alloc_zero(count * sizeof *copies);
    *out = (const char *const *)copies;
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = ct_copy_string(names[i]))) return -1;
    return copies ? 0 : -1;
}

int ct_gate_mind_create(const ct_gate_options *options, int32_t dimension, ct_gate_mind **out, ct_error *error) {
    ct_gate_mind *mind = ct_alloc_zero(sizeof *mind);
    if (!mind) return ct_fail_nomem(error);
    const ct_filter *filter = &options->filter;
    mind->knobs = options->knobs;
    mind->follows = options->follows;
    mind->dimension = dimension;
    mind->session = ct_copy_string(options->session);
    mind->scope = ct_copy_string(options->scope);
    mind->vectors = ct_alloc(CT_GATE_VECTORS * (size_t)dimension * sizeof *mind->vectors);
    mind->filter = (ct_filter){.session_count = filter->session_count, .role_count = filter->role_count,
                               .since_ms = filter->since_ms, .until_ms = filter->until_ms};
    int status = CT_OK;
    if (!mind->session || !mind->scope || !mind->vectors ||
        copy_names(filter->sessions, filter->session_count, &mind->filter.sessions) ||
        copy_names(filter->roles, filter->role_count, &mind->filter.roles))
        status = ct_fail_nomem(error);
    if (!status) status = ct_topic_open(&mind->topic, dimension, error);
    if (!status) status = ct_known_create(&mind->context, error);
    if (!status) status = ct_known_create(&mind->staged, error);
    if (status) ct_gate_mind_free(mind);
    else *out = mind;
    return status;
}

void ct_gate_mind_free(ct_gate_mind *mind) {
    if (!mind) return;
    free_names(mind->filter.sessions, mind->filter.session_count);
    free_names(mind->filter.roles, mind->filter.role_count);
    ct_free(mind->session);
    ct_free(mind->scope);
    ct_known_free(mind->context);
    ct_known_free(mind->staged);
    ct_topic_free(&mind->topic);
    ct_free(mind->vectors);
    ct_free(mind);
}

int ct_gate_mind_reset(ct_gate_mind *mind, ct_error *error) {
    ct_known *staged;
    int status = ct_known_create(&staged, error);
    if (status) return status;
    ct_known_free(mind->staged);
    mind->staged = staged;
    ct_topic_clear(&mind->topic);
    return CT_OK;
}

/* ---- what is known ------------------------------------------------------------------------- */

static float *add_vector(ct_gate_mind *mind) {
    float *vector = mind->vectors + mind->next_vector * (size_t)mind->dimension;
    mind->next_vector = (mind->next_vector + 1) % CT_GATE_VECTORS;
    if (mind->vector_count < CT_GATE_VECTORS) mind->vector_count++;
    return vector;
}

/* What only asks tells nothing: that the answer means much the same does not make it known. */
static int asks_only(const char *text, size_t bytes) { return ct_question_share(text, bytes) > 0.5; }

/* The bytes of a text's beginning, of `most` at most, that end with a whole character. */
static size_t beginning(const char *text, size_t bytes, size_t most) {
    if (bytes <= most) return bytes;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) most--;
    return most;
}

int ct_gate_mind_know_words(ct_gate_mind *mind, const char *text, size_t bytes, ct_error *error) {
    return ct_known_add_text(mind->context, text, bytes, error);
}

int ct_gate_mind_know_meaning(ct_gate_mind *mind, ct_engine *engine, const char *text, size_t bytes, ct_error *error) {
    size_t some = beginning(text, bytes, EMBEDDED_BYTES);
    int status = CT_OK;
    if (ct_utf8_check(text, some) != CT_UTF8_GOOD || asks_only(text, bytes)) return CT_OK;
    float *vector = ct_alloc((size_t)mind->dimension * sizeof *vector);
    if (!vector) return ct_fail_nomem(error);
    status = ct_encoder_embed(engine->encoder, &text, &some, 1, 0, vector, error);
    if (!status) memcpy(add_vector(mind), vector, (size_t)mind->dimension * sizeof *vector);
    ct_free(vector);
    return status;
}

/* A message whose text is at hand. */
static int know_row(ct_gate_mind *mind, ct_known *known, ct_engine *engine, const ct_row *row, ct_error *error) {
    int status = ct_known_add_message(known, row->id, error);
    for (size_t i = 0; !status && i < row->duplicate_count; i++)
        status = ct_known_add_message(known, row->duplicates[i], error);
    if (!status) status = ct_known_add_text(known, row->text, row->text_bytes, error);
    if (status || asks_only(row->text, row->text_bytes)) return status;
    float *vector = ct_alloc((size_t)mind->dimension * sizeof *vector);
    if (!vector) return ct_fail_nomem(error);
    if (ct_index_vector(engine->index, row->id, vector))
        memcpy(add_vector(mind), vector, (size_t)mind->dimension * sizeof *vector);
    ct_free(vector);
    return CT_OK;
}

int ct_gate_mind_know_messages(ct_gate_mind *mind, ct_engine *engine, const int64_t *ids, size_t count,
                               ct_error *error) {
    ct_result *result = ct_result_new();
    int status = result ? ct_store_get_present(engine->store, ids, count, result, error) : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < result->count; i++)
        status = know_row(mind, mind->context, engine, &result->rows[i], error);
    ct_result_free(result);
    return status;
}

static int follow(ct_gate_mind *mind, ct_engine *engine, ct_error *error) {
    int64_t ids[FOLLOWED];
    size_t count = 0;
    if (!mind->follows) return CT_OK;
    int status = ct_store_latest(engine->store, mind->session, mind->followed, FOLLOWED, ids, &count, error);
    if (status || !count) return status;
    status = ct_gate_mind_know_messages(mind, engine, ids, count, error);
    if (!status) mind->followed = ids[count - 1];
    return status;
}

/* ---- what a message is to the reader ------------------------------------------------------- */

static double cosine(const ct_gate_mind *mind, const float *a, const float *b) {
    double sum = 0;
    for (int32_t i = 0; i < mind->dimension; i++) sum += (double)a[i] * b[i];
    return sum;
}

static double ramp(double value, double from, double to) { return fmin(fmax((value - from) / (to - from), 0), 1); }

/* What a segment is by itself. */
typedef struct asking {
    double asks;
    double length;
} asking;

/* What is found for a segment, with what is known of it. */
typedef struct finding {
    double overlap;
    double novelty;
    double utility;
    double relevance;
} finding;

/* Whether it takes the place of something that is known. */
static int corrects(const ct_gate_mind *mind, const ct_row *row) {
    for (size_t i = 0; i < row->supersedes_count; i++)
        if (ct_known_has_message(mind->context, row->supersedes[i]) ||
            ct_known_has_message(mind->staged, row->supersedes[i]))
            return 1;
    return 0;
}

static int is_known(const ct_gate_mind *mind, const ct_row *row) {
    int known = ct_known_has_message(mind->context, row->id) || ct_known_has_message(mind->staged, row->id);
    for (size_t i = 0; !known && i < row->duplicate_count; i++)
        known = ct_known_has_message(mind->context, row->duplicates[i]) ||
                ct_known_has_message(mind->staged, row->duplicates[i]);
    return known;
}

/* How near the nearest of what is known is, and of what is active; -1: there is nothing. */
static void nearest(const ct_gate_mind *mind, ct_engine *engine, const float *vector, float *room, double *known,
                    double *active) {
    ct_active items[CT_WORKING_ITEMS];
    size_t count = ct_working_read(engine->working, mind->session, items);
    *known = *active = -1;
    for (size_t i = 0; i < mind->vector_count; i++)
        *known = fmax(*known, cosine(mind, vector, mind->vectors + i * (size_t)mind->dimension));
    for (size_t i = 0; i < count; i++)
        if (ct_index_vector(engine->index, items[i].message_id, room))
            *active = fmax(*active, items[i].activation * cosine(mind, vector, room));
}

static finding look_at(const ct_gate_mind *mind, ct_engine *engine, const ct_row *row, const asking *by,
                       float *room) {
    finding of = {.novelty = 1, .utility = by->asks};
    float *vector = room, *other = room + mind->dimension;
    double known = -1, active = -1;
    of.overlap = fmax(ct_known_overlap(mind->context, row->text, row->text_bytes),
                      ct_known_overlap(mind->staged, row->text, row->text_bytes));
    if (ct_index_vector(engine->index, row->id, vector)) {
        nearest(mind, engine, vector, other, &known, &active);
        of.novelty = fmin(fmax(1 - fmax(known, active), 0), 1);
    }
    int has_numbers = ct_known_has_numbers(mind->context, row->text, row->text_bytes) ||
                      ct_known_has_numbers(mind->staged, row->text, row->text_bytes);
    if (has_numbers) of.overlap = fmax(of.overlap, ramp(known, SAME_FROM, SAME_TO));
    if (corrects(mind, row)) {
        of.utility = 1;
        of.overlap = 0; /* it may say the same but for one word, which is the point */
    }
    if (is_known(mind, row)) of.overlap = 1;
    double score = LIKELY + BY_SCORE * row->score + BY_ASKING * by->asks + BY_LENGTH * by->length;
    if (!isnan(row->dense)) score += BY_COSINE * row->dense;
    if (!isnan(row->lexical)) score += BY_WORDS * log1p(fmax(row->lexical, 0));
    of.relevance = 1 / (1 + exp(-score));
    return of;
}

/* ---- a segment ----------------------------------------------------------------------------- */

static int search(const ct_gate_mind *mind, ct_engine *engine, const ct_decision *decision, float *vector,
                  ct_result **out, ct_error *error) {
    ct_query query = {
        .text = decision->text,
        .text_bytes = beginning(decision->text, decision->text_bytes, LOOKED_UP),
        .filter = mind->filter,
        .limit = ct_knobs_read(&mind->knobs).gate_limit + SPARE,
        .stages = CT_STAGE_ALL & ~CT_STAGE_DATE,
        .collapse = 1,
        .budget_bytes = BYTES,
    };
    return ct_engine_search(engine, &query, 1, vector, out, error);
}

/* Whether it is worth anything to the reader, however relevant it is. */
static int is_wanted(const finding *of, const ct_knobs *knobs) {
    ct_gate_view view = {.relevance = 1, .novelty = of->novelty, .utility = of->utility, .overlap = of->overlap,
                         .since = INFINITY};
    return ct_gate_decide(&view, knobs).should_interrupt;
}

static double odds(const finding *of) { return of->relevance / fmax(1 - of->relevance, 1e-9); }

/* Keep of the rows those that are worth staging, at most the gate's limit; they are known from here on. */
static int keep(ct_gate_mind *mind, ct_engine *engine, ct_result *result, const finding *found, double best,
                ct_error *error) {
    size_t limit = (size_t)ct_knobs_read(&mind->knobs).gate_limit, kept = 0;
    int status = CT_OK;
    for (size_t i = 0; !status && i < result->count && kept < limit; i++) {
        if (!is_wanted(&found[i], &mind->knobs) || odds(&found[i]) < BESIDE * best) continue;
        ct_row row = result->rows[i];
        status = know_row(mind, mind->staged, engine, &row, error);
        row.score = found[i].relevance;
        result->rows[kept++] = row;
    }
    result->count = kept;
    return status;
}

int ct_gate_mind_stage(const ct_gate_mind *mind, ct_engine *engine, const ct_result *staged, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < staged->count; i++) {
        const ct_row *row = &staged->rows[i];
        ct_staged message = {row->id, row->text_bytes, row->score, row->excerpt_start, row->excerpt_end};
        ct_active active = {row->id, row->score};
        int taken = 0;
        status = ct_stage_bus_put(engine->staged, mind->scope, &message, &taken, error);
        if (!status) status = ct_working_rise(engine->working, mind->session, &active, 1, error);
    }
    return status;
}

/* What speaks for an interruption: the best of what is not known; if all is, the best. */
static size_t choose(const finding *found, size_t count, const ct_knobs *knobs) {
    size_t best = count;
    for (int known = 0; best == count && known < 2; known++)
        for (size_t i = 0; i < count; i++)
            if ((known || is_wanted(&found[i], knobs)) && (best == count || found[i].relevance > found[best].relevance))
                best = i;
    return best;
}

int ct_gate_mind_decide(ct_gate_mind *mind, ct_engine *engine, const ct_affect *affect, int ends_paragraph, int ends_turn,
                        ct_decision *decision, ct_error *error) {
    size_t dimension = (size_t)mind->dimension;
    float *room = ct_alloc(3 * dimension * sizeof *room), *vector = room ? room + 2 * dimension : NULL;
    if (!room) return ct_fail_nomem(error);
    ct_result *result = NULL;
    finding *found = NULL;
    int64_t began = ct_clock_ns();
    int status = follow(mind, engine, error);
    if (!status) status = search(mind, engine, decision, vector, &result, error);
    if (status) goto end;
    decision->encode_ns = result->timings.encode_ns;
    found = ct_alloc((result->count + 1) * sizeof *found);
    if (!found) {
        status = ct_fail_nomem(error);
        goto end;
    }
    asking by = {ct_question_share(decision->text, decision->text_bytes),
                       log(fmax((double)ct_known_count(decision->text, decision->text_bytes), 1))};
    for (size_t i = 0; i < result->count; i++) found[i] = look_at(mind, engine, &result->rows[i], &by, room);
    size_t best = choose(found, result->count, &mind->knobs);
    double edge = ends_turn ? 1 : ends_paragraph ? PARAGRAPH : 0;
    decision->view = (ct_gate_view){
        .affect = ct_affect_of(affect, vector),
        .drift = ct_topic_drift(&mind->topic, vector),
        .since = mind->topic.since,
        .boundary = 1 - (1 - edge) * (1 - ct_topic_shift(&mind->topic, vector)),
    };
    if (best < result->count) {
        decision->view.relevance = found[best].relevance;
        decision->view.novelty = found[best].novelty;
        decision->view.utility = found[best].utility;
        decision->view.overlap = found[best].overlap;
    }
    decision->verdict = ct_gate_decide(&decision->view, &mind->knobs);
    if (decision->verdict.should_stage) {
        status = keep(mind, engine, result, found, best < result->count ? odds(&found[best]) : 0, error);
        if (!status && result->count) {
            decision->staged = result;
            result = NULL;
        }
    }
    if (!status) ct_topic_add(&mind->topic, vector, decision->verdict.should_interrupt);
    decision->search_ns = ct_clock_ns() - began - decision->encode_ns;
end:
    ct_result_free(result);
    ct_free(found);
    ct_free(room);
    return status;
}
