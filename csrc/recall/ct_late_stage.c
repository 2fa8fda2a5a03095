#include "recall/ct_late_stage.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "index/ct_late.h"

/* Matches are kept by grain, a run of so many tokens.  What is scored is a passage, a few grains: in
 * a whole long text any query would find a match for each of its tokens somewhere. */
#define GRAIN_TOKENS 32
#define PASSAGE_GRAINS 4

/* A grain lends its matches to a passage behind it times FROM_BEFORE, to one before it times
 * FROM_BEHIND, each less by 1/e every so many tokens between the two; never less than SHARE_LEAST. */
#define FROM_BEFORE 0.9f
#define DECAY_TOKENS 200.0f
#define FROM_BEHIND 0.8f
#define SHARE_LEAST 0.3f

/* Of a longer message the first chunks count, some 58,000 tokens with the bundled model.  Of one that
 * is no candidate itself, only what can stand near one. */
#define CHUNKS_MAX 256
#define EDGE_CHUNKS 1

/* A pasted page as a query: its rarest tokens stand for it. */
#define TOKENS_MAX 64

/* How many chunks of general text the model's token frequencies are worth beside the store's own: a
 * small store cannot tell a rare word from a common one. */
#define PRIOR_CHUNKS 300.0
#define WEIGHT_LEAST 0.05
#define WEIGHT_NAME 0.001f /* a query may be nothing but a name */

typedef struct grain {
    size_t chunk;  /* place of its chunk */
    size_t tokens; /* how many */
} grain;

/* A message whose codes are read: chunks [first, first + count). */
typedef struct line {
    int64_t message_id;
    size_t first;
    size_t count;
} line;

/* A candidate among its neighbours, in order. */
typedef struct group {
    int64_t ids[2 * CT_LATE_REACH + 1];
    size_t count;
} group;

typedef struct late {
    const ct_recall_parts *parts;
    ct_late_query *query;
    float weights[TOKENS_MAX]; /* their sum is 1 */
    size_t tokens;

    line *lines; /* the candidates' first */
    size_t line_count;
    size_t line_capacity;
    ct_id_map places; /* message id to line */
    group *groups;    /* one a candidate */

    int64_t *chunk_ids;
    size_t *chunk_grains[2]; /* each chunk's first grain, and how many */
    size_t chunk_count;
    size_t chunk_capacity;

    grain *grains;
    float *matches; /* [grain][tokens] */
    size_t grain_count;
    size_t grain_capacity;

    size_t *sequence; /* the grains of one group, in order */
    size_t sequence_count;
    size_t sequence_capacity;
} late;

static void late_free(late *state) {
    ct_late_query_free(state->query);
    ct_free(state->lines);
    ct_id_map_free(&state->places);
    ct_free(state->groups);
    ct_free(state->chunk_ids);
    ct_free(state->chunk_grains[0]);
    ct_free(state->chunk_grains[1]);
    ct_free(state->grains);
    ct_free(state->matches);
    ct_free(state->sequence);
}

/* ---- weights ------------------------------------------------------------------------------- */

typedef struct weighted {
    float weight;
    size_t token;
} weighted;

static int by_weight(const void *a, const void *b) {
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->token > y->token) - (x->token < y->token);
}

/* Rarity as BM25 has it (Robertson and Sparck Jones). */
static float rarity(double chunks, double total) {
    double weight = log(1 + (total - chunks + 0.5) / (chunks + 0.5));
    return (float)(weight > WEIGHT_LEAST ? weight : WEIGHT_LEAST);
}

static int weigh(late *state, const ct_query_tokens *query, const ct_speakers *speakers, ct_error *error) {
    const ct_recall_parts *parts = state->parts;
    size_t bits = (size_t)ct_encoder_code_bits(parts->encoder);
    float *vectors = NULL, sum = 0;
    int64_t total = 0;
    int64_t *counts = ct_alloc(query->count * sizeof *counts);
    weighted *order = ct_alloc(query->count * sizeof *order);
    int status = counts && order ? CT_OK : ct_fail_nomem(error);
    if (!status)
        status = ct_store_term_counts(parts->store, query->ids, query->count, counts, &total, error);
    if (status) goto done;
    for (size_t i = 0; i < query->count; i++) {
        double prior = (double)ct_encoder_token_prior(parts->encoder, query->ids[i]);
        order[i].token = i;
        order[i].weight =
            rarity((double)counts[i] + PRIOR_CHUNKS * prior, (double)total + PRIOR_CHUNKS);
        if (ct_speaker_is_name_token(speakers, query->ids[i])) order[i].weight = WEIGHT_NAME;
    }
    state->tokens = query->count;
    if (state->tokens > TOKENS_MAX) {
        qsort(order, query->count, sizeof *order, by_weight);
        state->tokens = TOKENS_MAX;
    }
    vectors = ct_alloc(state->tokens * bits * sizeof *vectors);
    if (!vectors) {
        status = ct_fail_nomem(error);
        goto done;
    }
    for (size_t i = 0; i < state->tokens; i++) sum += order[i].weight;
    for (size_t i = 0; i < state->tokens; i++) {
        memcpy(vectors + i * bits, query->vectors + order[i].token * bits, bits * sizeof *vectors);
        state->weights[i] = order[i].weight / sum;
    }
    status = ct_late_query_make(vectors, state->tokens, (int32_t)bits, &state->query, error);
done:
    ct_free(vectors);
    ct_free(counts);
    ct_free(order);
    return status;
}

/* ---- what to read -------------------------------------------------------------------------- */

static int add_line(late *state, int64_t message_id, ct_error *error) {
    if (ct_id_map_get(&state->places, message_id, UINT32_MAX) != UINT32_MAX) return CT_OK;
    if (state->line_count == state->line_capacity) {
        size_t capacity = state->line_capacity ? 2 * state->line_capacity : 1024;
        line *grown = ct_realloc(state->lines, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        state->lines = grown;
        state->line_capacity = capacity;
    }
    if (ct_id_map_put(&state->places, message_id, (uint32_t)state->line_count)) return ct_fail_nomem(error);
    state->lines[state->line_count++] = (line){.message_id = message_id};
    return CT_OK;
}

static int grow_chunks(late *state, ct_error *error) {
    size_t capacity = state->chunk_capacity ? 2 * state->chunk_capacity : 1024;
    int64_t *ids = ct_realloc(state->chunk_ids, capacity * sizeof *ids);
    if (ids) state->chunk_ids = ids;
    for (int i = 0; i < 2 && ids; i++) {
        size_t *grown = ct_realloc(state->chunk_grains[i], capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        state->chunk_grains[i] = grown;
    }
    if (!ids) return ct_fail_nomem(error);
    state->chunk_capacity = capacity;
    return CT_OK;
}

static int add_chunks(late *state, line *of, int is_candidate, ct_error *error) {
    int64_t ids[CHUNKS_MAX];
    size_t count = ct_index_chunks(state->parts->index, of->message_id, ids, CHUNKS_MAX);
    if (count > CHUNKS_MAX) count = CHUNKS_MAX;
    of->first = state->chunk_count;
    for (size_t i = 0; i < count; i++) {
        if (!is_candidate && i >= EDGE_CHUNKS && i + EDGE_CHUNKS < count) continue;
        if (state->chunk_count == state->chunk_capacity && grow_chunks(state, error)) return CT_NOMEM;
        state->chunk_grains[0][state->chunk_count] = state->chunk_grains[1][state->chunk_count] = 0;
        state->chunk_ids[state->chunk_count++] = ids[i];
    }
    of->count = state->chunk_count - of->first;
    return CT_OK;
}

/* A message never looks at what came at or after until_ms: not even to be found by it. */
static size_t drop_later(const late *state, int64_t until_ms, int64_t own, int64_t *ids, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        ct_index_message about;
        if (ids[i] != own && (!ct_index_find(state->parts->index, ids[i], &about) || about.time_ms >= until_ms))
            continue;
        ids[kept++] = ids[i];
    }
    return kept;
}

static int gather(late *state, int in_context, int64_t until_ms, const ct_pool *pool, ct_error *error) {
    int status = CT_OK;
    state->groups = ct_alloc(pool->count * sizeof *state->groups);
    if (!state->groups) return ct_fail_nomem(error);
    for (size_t i = 0; !status && i < pool->count; i++)
        status = add_line(state, pool->list[i].message_id, error);
    for (size_t i = 0; !status && i < pool->count; i++) {
        group *around = &state->groups[i];
        int64_t own = pool->list[i].message_id;
        int32_t reach = in_context ? CT_LATE_REACH : 0;
        around->count = ct_index_neighbours(state->parts->index, own, reach, reach, around->ids);
        if (until_ms != INT64_MAX)
            around->count = drop_later(state, until_ms, own, around->ids, around->count);
        for (size_t n = 0; !status && n < around->count; n++)
            status = add_line(state, around->ids[n], error);
    }
    for (size_t i = 0; !status && i < state->line_count; i++)
        status = add_chunks(state, &state->lines[i], i < pool->count, error);
    return status;
}

/* ---- matches ------------------------------------------------------------------------------- */

static int grow_grains(late *state) {
    size_t capacity = state->grain_capacity ? 2 * state->grain_capacity : 2048;
    grain *grains = ct_realloc(state->grains, capacity * sizeof *grains);
    if (grains) state->grains = grains;
    float *matches = grains ? ct_realloc(state->matches, capacity * state->tokens * sizeof *matches) : NULL;
    if (!matches) return CT_NOMEM;
    state->matches = matches;
    state->grain_capacity = capacity;
    return CT_OK;
}

static int match_chunk(void *context, size_t place, const uint64_t *codes, size_t count) {
    late *state = context;
    size_t words = (size_t)ct_encoder_code_bits(state->parts->encoder) / 64;
    state->chunk_grains[0][place] = state->grain_count;
    for (size_t start = 0; start < count; start += GRAIN_TOKENS) {
        if (state->grain_count == state->grain_capacity && grow_grains(state)) return CT_NOMEM;
        size_t some = count - start < GRAIN_TOKENS ? count - start : GRAIN_TOKENS;
        float *match = state->matches + state->grain_count * state->tokens;
        for (size_t t = 0; t < state->tokens; t++) match[t] = -1;
        ct_late_best(state->query, codes + start * words, some, match);
        state->grains[state->grain_count++] = (grain){place, some};
    }
    state->chunk_grains[1][place] = state->grain_count - state->chunk_grains[0][place];
    return CT_OK;
}

/* ---- scores -------------------------------------------------------------------------------- */

static double mean_of(const late *state, const float *match) {
    double sum = 0;
    for (size_t t = 0; t < state->tokens; t++) sum += (double)(state->weights[t] * match[t]);
    return sum;
}

static void lend(const late *state, size_t of, float share, float *to) {
    const float *match = state->matches + of * state->tokens;
    for (size_t t = 0; t < state->tokens; t++)
        if (share * match[t] > to[t]) to[t] = share * match[t];
}

/* Let the grains on one side of a passage lend to it, from the nearest on. */
static void lend_side(const late *state, size_t from, size_t count, int step, float share,
                      float *to) {
    float distance = 0;
    for (size_t i = 0; i < count; i++, from += (size_t)step) {
        size_t of = state->sequence[from];
        float now = share * expf(-distance / DECAY_TOKENS);
        if (now < SHARE_LEAST) return;
        lend(state, of, now, to);
        distance += (float)state->grains[of].tokens;
    }
}

/* The grains of a group into state->sequence; where its own begin and end. */
static int lay_out(late *state, const group *of, int64_t own, size_t *begin, size_t *end, ct_error *error) {
    state->sequence_count = 0;
    *begin = *end = 0;
    for (size_t i = 0; i < of->count; i++) {
        const line *next = &state->lines[ct_id_map_get(&state->places, of->ids[i], 0)];
        if (of->ids[i] == own) *begin = state->sequence_count;
        for (size_t c = next->first; c < next->first + next->count; c++) {
            size_t some = state->chunk_grains[1][c];
            if (state->sequence_count + some > state->sequence_capacity) {
                size_t capacity = 2 * (state->sequence_count + some);
                size_t *grown = ct_realloc(state->sequence, capacity * sizeof *grown);
                if (!grown) return ct_fail_nomem(error);
                state->sequence = grown;
                state->sequence_capacity = capacity;
            }
            for (size_t g = 0; g < some; g++)
                state->sequence[state->sequence_count++] = state->chunk_grains[0][c] + g;
        }
        if (of->ids[i] == own) *end = state->sequence_count;
    }
    return CT_OK;
}

/* Tokens of a message before one of its grains. */
static int64_t place_of(const late *state, int64_t message_id, size_t of) {
    const line *own = &state->lines[ct_id_map_get(&state->places, message_id, 0)];
    size_t chunk = state->grains[of].chunk;
    size_t within = (of - state->chunk_grains[0][chunk]) * GRAIN_TOKENS;
    return (int64_t)((chunk - own->first) * ct_encoder_step(state->parts->encoder) + within);
}

static int score(late *state, const group *of, ct_candidate *candidate, ct_error *error) {
    size_t begin, end, stop;
    int status = lay_out(state, of, candidate->message_id, &begin, &end, error);
    if (status) return status;
    for (size_t start = begin; start < end; start = stop) {
        float best[TOKENS_MAX];
        double best_match = -1;
        size_t core = state->sequence[start]; /* the grain that the passage owes most to */
        size_t chunk = state->grains[state->sequence[start]].chunk;
        for (size_t t = 0; t < state->tokens; t++) best[t] = -1;
        for (stop = start; stop < end && stop < start + PASSAGE_GRAINS; stop++) {
            if (state->grains[state->sequence[stop]].chunk != chunk) break;
            lend(state, state->sequence[stop], 1, best);
            double match = mean_of(state, state->matches + state->sequence[stop] * state->tokens);
            if (match > best_match) {
                best_match = match;
                core = state->sequence[stop];
            }
        }
        double alone = mean_of(state, best);
        lend_side(state, start - 1, start, -1, FROM_BEFORE, best);
        lend_side(state, stop, state->sequence_count - stop, 1, FROM_BEHIND, best);
        double together = mean_of(state, best);
        if (!(candidate->own >= alone)) {
            candidate->own = alone;
            candidate->passage = place_of(state, candidate->message_id, core);
        }
        if (!(candidate->late >= together)) candidate->late = together;
    }
    return CT_OK;
}

int ct_late_stage_run(const ct_recall_parts *parts, const ct_query_tokens *query,
                      const ct_speakers *speakers, int in_context, int64_t until_ms, ct_pool *pool,
                      ct_error *error) {
    late state = {.parts = parts};
    if (!query->count || !pool->count) return CT_OK;
    int status = weigh(&state, query, speakers, error);
    if (!status) status = gather(&state, in_context, until_ms, pool, error);
    if (!status)
        status = ct_store_read_codes(parts->store, state.chunk_ids, state.chunk_count,
                                     (size_t)ct_encoder_code_bits(parts->encoder) / 64, match_chunk,
                                     &state, error);
    if (status == CT_NOMEM) ct_fail_nomem(error); /* match_chunk cannot say so */
    for (size_t i = 0; !status && i < pool->count; i++)
        status = score(&state, &state.groups[i], &pool->list[i], error);
    late_free(&state);
    return status;
}
