#include "recall/ct_grains.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "recall/ct_token_read.h"

/* The last chunk can be short, the one before it is not. */
#define EDGE_CHUNKS 2

/* Chunks [first, first + count). */
struct ct_grain_line {
    size_t first;
    size_t count;
    int is_whole;
};

void ct_grains_free(ct_grains *grains) {
    ct_free(grains->lines);
    ct_id_map_free(&grains->places);
    ct_free(grains->chunks);
    ct_free(grains->chunk_grains);
    ct_free(grains->list);
    ct_free(grains->matches);
}

static int grow_chunks(ct_grains *grains, size_t more, ct_error *error) {
    if (grains->chunk_count + more <= grains->chunk_capacity) return CT_OK;
    size_t capacity = 2 * (grains->chunk_count + more);
    ct_chunk_place *chunks = ct_realloc(grains->chunks, capacity * sizeof *chunks);
    if (!chunks) return ct_fail_nomem(error);
    grains->chunks = chunks;
    /* One more: where the last one's grains end. */
    size_t *starts = ct_realloc(grains->chunk_grains, (capacity + 1) * sizeof *starts);
    if (!starts) return ct_fail_nomem(error);
    grains->chunk_grains = starts;
    grains->chunk_capacity = capacity;
    return CT_OK;
}

static int add_chunks(ct_grains *grains, int64_t message_id, ct_grain_line *to, int only_edges,
                      ct_error *error) {
    size_t count = ct_index_chunks(grains->parts->index, message_id, NULL, 0);
    if (grow_chunks(grains, count, error)) return CT_NOMEM;
    ct_chunk_place *places = grains->chunks + grains->chunk_count;
    size_t now = ct_index_chunks(grains->parts->index, message_id, places, count); /* more may have come */
    count = now < count ? now : count;
    to->first = grains->chunk_count;
    to->is_whole = !only_edges || count <= 2 * EDGE_CHUNKS;
    to->count = to->is_whole ? count : 2 * EDGE_CHUNKS;
    if (!to->is_whole) memmove(places + EDGE_CHUNKS, places + count - EDGE_CHUNKS, EDGE_CHUNKS * sizeof *places);
    grains->chunk_count += to->count;
    return CT_OK;
}

int ct_grains_want(ct_grains *grains, int64_t message_id, int only_edges, ct_error *error) {
    uint32_t place = ct_id_map_get(&grains->places, message_id, UINT32_MAX);
    if (place != UINT32_MAX) {
        ct_grain_line *known = &grains->lines[place];
        return known->is_whole || only_edges ? CT_OK : add_chunks(grains, message_id, known, 0, error);
    }
    if (grains->line_count == grains->line_capacity) {
        size_t capacity = grains->line_capacity ? 2 * grains->line_capacity : 1024;
        ct_grain_line *grown = ct_realloc(grains->lines, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        grains->lines = grown;
        grains->line_capacity = capacity;
    }
    int status = add_chunks(grains, message_id, &grains->lines[grains->line_count], only_edges, error);
    if (status) return status;
    if (ct_id_map_put(&grains->places, message_id, (uint32_t)grains->line_count)) return ct_fail_nomem(error);
    grains->line_count++;
    return CT_OK;
}

static int grow_grains(ct_grains *grains) {
    size_t capacity = grains->capacity ? 2 * grains->capacity : 2048;
    ct_grain *list = ct_realloc(grains->list, capacity * sizeof *list);
    if (!list) return CT_NOMEM;
    grains->list = list;
    float *matches = ct_realloc(grains->matches, capacity * grains->query->count * sizeof *matches);
    if (!matches) return CT_NOMEM;
    grains->matches = matches;
    grains->capacity = capacity;
    return CT_OK;
}

static int match_chunk(void *state, size_t place, const uint64_t *codes, size_t count) {
    ct_grains *grains = state;
    size_t words = (size_t)ct_encoder_code_bits(grains->parts->encoder) / 64;
    size_t tokens = grains->query->count, chunk = grains->read_count + place;
    grains->chunk_grains[chunk] = grains->count;
    for (size_t start = 0; start < count; start += CT_GRAIN_TOKENS) {
        if (grains->count == grains->capacity && grow_grains(grains)) return CT_NOMEM;
        size_t some = count - start < CT_GRAIN_TOKENS ? count - start : CT_GRAIN_TOKENS;
        float *match = grains->matches + grains->count * tokens;
        for (size_t t = 0; t < tokens; t++) match[t] = -1;
        ct_late_best(grains->query->codes, codes + start * words, some, match);
        grains->list[grains->count++] = (ct_grain){chunk, some};
    }
    grains->chunk_grains[chunk + 1] = grains->count;
    return CT_OK;
}

int ct_grains_read(ct_grains *grains, ct_error *error) {
    int status = ct_token_read(grains->parts, grains->chunks + grains->read_count,
                               grains->chunk_count - grains->read_count, match_chunk, grains, error);
    if (status == CT_NOMEM) ct_fail_nomem(error); /* match_chunk cannot say so */
    grains->read_count = grains->chunk_count;
    return status;
}

void ct_grains_of(const ct_grains *grains, int64_t message_id, size_t *begin, size_t *end) {
    uint32_t place = ct_id_map_get(&grains->places, message_id, UINT32_MAX);
    *begin = *end = 0;
    if (place == UINT32_MAX || !grains->lines[place].count) return;
    const ct_grain_line *line = &grains->lines[place];
    *begin = grains->chunk_grains[line->first];
    *end = grains->chunk_grains[line->first + line->count];
}
