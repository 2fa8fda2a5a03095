#include "recall/ct_token_read.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* Codes that the store had. */
typedef struct kept {
    size_t words; /* of one code */
    uint64_t *codes;
    size_t count; /* words in all */
    size_t capacity;
    size_t *ends; /* [chunks]: words up to the end of each one's */
} kept;

static int keep(void *state, size_t place, const uint64_t *codes, size_t code_count) {
    kept *to = state;
    size_t words = code_count * to->words;
    if (to->count + words > to->capacity) {
        size_t capacity = 2 * (to->count + words);
        uint64_t *grown = ct_realloc(to->codes, capacity * sizeof *grown);
        if (!grown) return CT_NOMEM;
        to->codes = grown;
        to->capacity = capacity;
    }
    if (words) memcpy(to->codes + to->count, codes, words * sizeof *codes);
    to->ends[place] = to->count += words;
    return CT_OK;
}

/* All that the store has, since it is read as of one moment. */
static int read_store(const ct_recall_parts *parts, const ct_chunk_place *places, size_t count, kept *to,
                      ct_error *error) {
    size_t wanted = 0;
    int64_t *ids = ct_alloc(count * sizeof *ids);
    to->ends = ct_alloc(count * sizeof *to->ends);
    int status = ids && to->ends ? CT_OK : ct_fail_nomem(error);
    for (size_t i = 0; !status && i < count; i++)
        if (places[i].block < 0) ids[wanted++] = places[i].chunk_id;
    if (!status && wanted) status = ct_store_read_codes(parts->store, ids, wanted, to->words, keep, to, error);
    ct_free(ids);
    return status == CT_NOMEM ? ct_fail_nomem(error) : status;
}

static int read_file(const ct_recall_parts *parts, const ct_chunk_place *place, size_t words, uint64_t **buffer,
                     size_t *capacity, size_t *count, ct_error *error) {
    ct_error why = {0};
    *count = place->end - place->begin;
    if (*count > *capacity) {
        uint64_t *grown = ct_realloc(*buffer, *count * words * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        *buffer = grown;
        *capacity = *count;
    }
    /* Without them the message is found by its vector and its words. */
    if (ct_code_file_tokens(parts->file, place, words, *buffer, &why)) *count = 0;
    return CT_OK;
}

int ct_token_read(const ct_recall_parts *parts, const ct_chunk_place *places, size_t count,
                  int (*visit)(void *state, size_t place, const uint64_t *codes, size_t code_count), void *state,
                  ct_error *error) {
    kept stored = {.words = (size_t)ct_encoder_code_bits(parts->encoder) / 64};
    uint64_t *buffer = NULL;
    size_t capacity = 0, next = 0, at = 0;
    if (!stored.words) return CT_OK;
    int status = read_store(parts, places, count, &stored, error);
    for (size_t i = 0; !status && i < count; i++) {
        size_t codes = 0;
        if (places[i].block >= 0) {
            status = read_file(parts, &places[i], stored.words, &buffer, &capacity, &codes, error);
            if (!status) status = visit(state, i, buffer, codes);
        } else {
            codes = (stored.ends[next] - at) / stored.words;
            if (!codes) ct_code_file_note_missed(parts->file);
            status = visit(state, i, stored.codes + at, codes);
            at = stored.ends[next++];
        }
    }
    ct_free(buffer);
    ct_free(stored.codes);
    ct_free(stored.ends);
    return status;
}
