#include "recall/ct_supersede.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "index/ct_late.h"
#include "recall/ct_change.h"
#include "recall/ct_likeness.h"
#include "recall/ct_token_read.h"
#include "store/ct_consolidated.h"

/* Less than this and a message does not answer the query. */
#define LATE_LEAST 0.25

/* Of a query's tokens the first ones count. */
#define TOKENS_MAX 64

/* How near two messages must be for the newer to rise. */
#define NEAR_BONUS 0.30

/* By how much one may match a token of the query better than the other, times the token's rarity, the
 * rarest of the query counting 1. */
#define LEAD_OLDER 0.60
#define LEAD_NEWER 0.65

/* Two messages of one role look alike when the newer has at least two of five content words of the
 * older, or any of one that has hardly more. */
#define HARDLY_MORE 4

/* How far the newer of two that look alike may rise to stand before the older. */
#define BONUS 0.05

/* Chunks of general text that a token's frequency is known from. */
#define PRIOR_CHUNKS 300.0

/* Rows that are compared each with each, where a link is only said; where it hides a row, as many as
 * there is room for. */
#define LINKED_ROWS 30

/* A row as far as it takes part. */
typedef struct party {
    ct_statement said;
    int takes_part;
    int has_codes;
    size_t prefix; /* tokens of its role */
    ct_likeness tokens;
    float match[TOKENS_MAX];
} party;

typedef struct judging {
    const ct_recall_parts *parts;
    const ct_bound_filter *filter;
    ct_result *result;
    ct_id_pair *stored; /* links that consolidation found, with a row at one end at least */
    size_t stored_count;
    size_t rows;
    size_t words; /* of a code */
    party *parties;
    ct_late_query *tokens;
    size_t token_count;
    float rarity[TOKENS_MAX]; /* of the rarest token: 1 */
    size_t asked[CT_SUPERSEDE_ROWS]; /* rows whose codes are being read */
    /* By older and newer. */
    uint8_t alike[CT_SUPERSEDE_ROWS][CT_SUPERSEDE_ROWS];
    uint8_t changed[CT_SUPERSEDE_ROWS][CT_SUPERSEDE_ROWS];
    uint8_t linked[CT_SUPERSEDE_ROWS][CT_SUPERSEDE_ROWS];
    uint8_t preferred[CT_SUPERSEDE_ROWS][CT_SUPERSEDE_ROWS];
} judging;

static void judging_free(judging *state) {
    for (size_t i = 0; state->parties && i < state->rows; i++) ct_likeness_free(&state->parties[i].tokens);
    ct_free(state->parties);
    ct_free(state->stored);
    ct_late_query_free(state->tokens);
}

/* ---- by words ------------------------------------------------------------------------------- */

static int is_newer(const ct_row *row, const ct_row *than) {
    return ct_change_is_newer(row->time_ms, row->id, than->time_ms, than->id);
}

static int may_replace(const ct_row *newer, const ct_row *older) {
    return is_newer(newer, older) && ct_change_may(newer->role, older->role);
}

static int is_alike(ct_statement_pair pair, const ct_row *older, const ct_row *newer) {
    if (!pair.shared || pair.asked || strcmp(older->role, newer->role) != 0) return 0;
    return 2 * pair.missing <= 3 * pair.shared || pair.shared + pair.missing <= HARDLY_MORE;
}

static size_t judge_words(judging *state, const ct_query *query) {
    const ct_row *rows = state->result->rows;
    size_t pairs = 0;
    ct_statement asked;
    ct_statement_read(query->text, query->text_bytes, &asked);
    for (size_t i = 0; i < state->rows; i++) {
        party *of = &state->parties[i];
        if (!(rows[i].late >= LATE_LEAST)) continue;
        of->takes_part = ct_change_read(rows[i].text, rows[i].text_bytes, &of->said);
    }
    for (size_t i = 0; i < state->rows; i++)
        for (size_t j = 0; j < state->rows; j++) {
            party *older = &state->parties[i], *newer = &state->parties[j];
            if (!older->takes_part || !newer->takes_part || !may_replace(&rows[j], &rows[i])) continue;
            ct_statement_pair pair = ct_statement_compare(&older->said, &newer->said, &asked);
            state->changed[i][j] = pair.changes != 0;
            state->alike[i][j] = (uint8_t)is_alike(pair, &rows[i], &rows[j]);
            if (!state->changed[i][j] && !state->alike[i][j]) continue;
            older->has_codes = newer->has_codes = 1;
            pairs++;
        }
    return pairs;
}

/* ---- by codes ------------------------------------------------------------------------------- */

static int keep_codes(void *context, size_t place, const uint64_t *codes, size_t count) {
    judging *state = context;
    party *of = &state->parties[state->asked[place]];
    if (ct_likeness_make(codes, count, of->prefix, state->words, &of->tokens)) return CT_NOMEM;
    of->has_codes = of->tokens.count > 0;
    for (size_t t = 0; t < state->token_count; t++) of->match[t] = -1;
    if (of->has_codes) ct_late_best(state->tokens, of->tokens.codes, of->tokens.count, of->match);
    return CT_OK;
}

static int read_codes(judging *state, ct_error *error) {
    const ct_row *rows = state->result->rows;
    ct_chunk_place chunks[CT_SUPERSEDE_ROWS];
    size_t count = 0;
    for (size_t i = 0; i < state->rows; i++) {
        party *of = &state->parties[i];
        ct_chunk_place places[2];
        if (!of->has_codes) continue;
        of->has_codes = ct_index_chunks(state->parts->index, rows[i].id, places, 2) == 1;
        if (!of->has_codes) continue;
        size_t same = 0;
        while (same < count && strcmp(rows[state->asked[same]].role, rows[i].role) != 0) same++;
        if (same < count) {
            of->prefix = state->parties[state->asked[same]].prefix;
        } else {
            int status = ct_likeness_prefix(state->parts->encoder, rows[i].role, &of->prefix, error);
            if (status) return status;
        }
        chunks[count] = places[0];
        state->asked[count++] = i;
    }
    int status = ct_token_read(state->parts, chunks, count, keep_codes, state, error);
    return status == CT_NOMEM ? ct_fail_nomem(error) : status;
}

/* The most that a matches a token of the query better than b. */
static float lead(const judging *state, const party *a, const party *b) {
    float most = 0;
    for (size_t t = 0; t < state->token_count; t++)
        most = fmaxf(most, state->rarity[t] * (a->match[t] - b->match[t]));
    return most;
}

static void judge_codes(judging *state) {
    for (size_t i = 0; i < state->rows; i++)
        for (size_t j = 0; j < state->rows; j++) {
            party *older = &state->parties[i], *newer = &state->parties[j];
            if (!older->has_codes || !newer->has_codes) continue;
            if (!state->changed[i][j] && !state->alike[i][j]) continue;
            if (lead(state, older, newer) > LEAD_OLDER) continue;
            double near = ct_likeness_of(&older->tokens, &newer->tokens, state->words);
            state->linked[i][j] =
                state->changed[i][j] && near >= CT_LIKENESS_LINK && lead(state, newer, older) <= LEAD_NEWER;
            state->preferred[i][j] = state->alike[i][j] && near >= NEAR_BONUS;
        }
}

static int make_tokens(judging *state, const ct_query_tokens *tokens, ct_error *error) {
    float most = 0;
    state->token_count = tokens->count < TOKENS_MAX ? tokens->count : TOKENS_MAX;
    for (size_t t = 0; t < state->token_count; t++) {
        double prior = (double)ct_encoder_token_prior(state->parts->encoder, tokens->ids[t]);
        state->rarity[t] = (float)log(1 + (1 - prior) * PRIOR_CHUNKS / (prior * PRIOR_CHUNKS + 0.5));
        most = fmaxf(most, state->rarity[t]);
    }
    for (size_t t = 0; t < state->token_count && most > 0; t++) state->rarity[t] /= most;
    return ct_late_query_make(tokens->vectors, state->token_count, (int32_t)state->words * 64, &state->tokens, error);
}

/* ---- what follows --------------------------------------------------------------------------- */

/* Row places, the oldest first. */
static void by_time(const judging *state, size_t *order) {
    const ct_row *rows = state->result->rows;
    for (size_t i = 0; i < state->rows; i++) {
        size_t at = i;
        for (; at > 0 && is_newer(&rows[order[at - 1]], &rows[i]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The newer takes the place of what it supersedes, which follows it. */
static void rescore(judging *state) {
    ct_row *rows = state->result->rows;
    size_t order[CT_SUPERSEDE_ROWS];
    by_time(state, order);
    for (size_t n = 0; n < state->rows; n++) {
        double most = rows[order[n]].score + BONUS;
        for (size_t i = 0; i < state->rows; i++)
            if (state->preferred[i][order[n]] && rows[i].score <= most)
                rows[order[n]].score = fmax(rows[order[n]].score, nextafter(rows[i].score, 1));
    }
    for (size_t n = 0; n < state->rows; n++)
        for (size_t i = 0; i < state->rows; i++)
            if (state->linked[i][order[n]]) rows[order[n]].score = fmax(rows[order[n]].score, rows[i].score);
    for (size_t n = state->rows; n-- > 0;)
        for (size_t j = 0; j < state->rows; j++)
            if (state->linked[order[n]][j])
                rows[order[n]].score = fmin(rows[order[n]].score, nextafter(rows[j].score, 0));
}

/* ---- what consolidation found --------------------------------------------------------------- */

static int read_stored(judging *state, ct_error *error) {
    int64_t ids[CT_SUPERSEDE_ROWS];
    for (size_t i = 0; i < state->rows; i++) ids[i] = state->result->rows[i].id;
    return ct_store_replaced_pairs(state->parts->store, ids, state->rows, &state->stored, &state->stored_count, error);
}

static size_t find_row(const judging *state, int64_t id) {
    size_t i = 0;
    while (i < state->rows && state->result->rows[i].id != id) i++;
    return i;
}

/* Nothing is said of a message that the filter hides. */
static int passes(const judging *state, int64_t id) {
    ct_index_message about;
    return ct_index_find(state->parts->index, id, &about) &&
           ct_bound_filter_passes(state->filter, about.session_id, about.role_id, about.time_ms);
}

/* Of two rows that both answer the query it is the query that tells whether they are about the same: what was found here
 * holds.  Other links count as if they had been found here, as far as they may be told. */
static void take_stored(judging *state) {
    size_t kept = 0;
    for (size_t p = 0; p < state->stored_count; p++) {
        ct_id_pair pair = state->stored[p];
        size_t older = find_row(state, pair.older), newer = find_row(state, pair.newer);
        if (older < state->rows && newer < state->rows) {
            int are_judged = state->parties && state->parties[older].takes_part && state->parties[newer].takes_part;
            if (!are_judged) state->linked[older][newer] = 1;
        } else if (passes(state, older < state->rows ? pair.newer : pair.older)) {
            state->stored[kept++] = pair;
        }
    }
    state->stored_count = kept;
}

/* ---- telling -------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ids of the messages that row i has a link with, sorted, at *end. */
static size_t list_links(const judging *state, size_t i, int newer, int64_t **end, const int64_t **out) {
    const ct_row *rows = state->result->rows;
    size_t count = 0;
    *out = *end;
    for (size_t j = 0; j < state->rows; j++)
        if (newer ? state->linked[i][j] : state->linked[j][i]) (*end)[count++] = rows[j].id;
    for (size_t p = 0; p < state->stored_count; p++) {
        ct_id_pair pair = state->stored[p];
        if ((newer ? pair.older : pair.newer) == rows[i].id) (*end)[count++] = newer ? pair.newer : pair.older;
    }
    qsort(*end, count, sizeof **end, compare_ids);
    *end += count;
    return count;
}

static int note_links(judging *state, ct_error *error) {
    size_t count = state->stored_count;
    for (size_t i = 0; i < state->rows; i++)
        for (size_t j = 0; j < state->rows; j++) count += state->linked[i][j];
    if (!count) return CT_OK;
    int64_t *end = ct_alloc(2 * count * sizeof *end);
    if (!end) return ct_fail_nomem(error);
    state->result->links = end;
    for (size_t i = 0; i < state->rows; i++) {
        ct_row *row = &state->result->rows[i];
        row->supersedes_count = list_links(state, i, 0, &end, &row->supersedes);
        row->superseded_by_count = list_links(state, i, 1, &end, &row->superseded_by);
    }
    return CT_OK;
}

static int judge(judging *state, const ct_query *query, const ct_query_tokens *tokens, ct_error *error) {
    state->parties = ct_alloc_zero(state->rows * sizeof *state->parties);
    if (!state->parties) return ct_fail_nomem(error);
    if (!judge_words(state, query)) return CT_OK;
    int status = make_tokens(state, tokens, error);
    if (!status) status = read_codes(state, error);
    if (!status) judge_codes(state);
    return status;
}

int ct_supersede_run(const ct_recall_parts *parts, const ct_query *query, const ct_bound_filter *filter,
                     const ct_query_tokens *tokens, ct_result *result, ct_error *error) {
    size_t most = query->include_superseded ? LINKED_ROWS : CT_SUPERSEDE_ROWS;
    judging state = {
        .parts = parts,
        .filter = filter,
        .result = result,
        .rows = result->count < most ? result->count : most,
        .words = (size_t)ct_encoder_code_bits(parts->encoder) / 64,
    };
    int status = read_stored(&state, error);
    if (!status && tokens->count && result->count > 1) status = judge(&state, query, tokens, error);
    if (!status) {
        take_stored(&state);
        status = note_links(&state, error);
    }
    /* A query that names a time may want what held then. */
    if (!status && !query->date_count) rescore(&state);
    judging_free(&state);
    return status;
}
