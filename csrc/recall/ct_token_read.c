#include "recall/ct_token_read.h"

#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* So many chunks, of so many bytes of codes together, are read before they are looked at. */
#define CHUNKS_AT_ONCE 512
#define BYTES_AT_ONCE (4 << 20)

/* What lies between two chunks is read along when it is no more: a call to the system costs as much. */
#define GAP_BYTES 4096

/* Codes of some of the chunks, [from, to) of the places. */
typedef struct reading {
    const ct_recall_parts *parts;
    const ct_chunk_place *places;
    size_t from, to;
    size_t words; /* of one code */

    uint64_t *buffer;
    size_t used, capacity; /* words */
    size_t begin[CHUNKS_AT_ONCE]; /* of each one's codes in the buffer */
    size_t count[CHUNKS_AT_ONCE]; /* codes of it; 0 where they are lost */
} reading;

static int make_room(reading *to, size_t words, ct_error *error) {
    if (to->used + words <= to->capacity) return CT_OK;
    size_t capacity = 2 * (to->used + words);
    uint64_t *grown = ct_realloc(to->buffer, capacity * sizeof *grown);
    if (!grown) return ct_fail_nomem(error);
    to->buffer = grown;
    to->capacity = capacity;
    return CT_OK;
}

/* As many as are read at once, one at least. */
static void choose_some(reading *to, size_t count) {
    size_t bytes = 0;
    for (to->to = to->from; to->to < count && to->to - to->from < CHUNKS_AT_ONCE; to->to++) {
        const ct_chunk_place *place = &to->places[to->to];
        bytes += (place->end - place->begin) * to->words * sizeof *to->buffer;
        if (bytes > BYTES_AT_ONCE && to->to > to->from) break;
    }
}

/* ---- from the store ------------------------------------------------------------------------ */

/* Where what was asked of the store goes. */
typedef struct asked {
    reading *to;
    size_t which[CHUNKS_AT_ONCE];
    ct_error *error;
} asked;

static int keep(void *state, size_t place, const uint64_t *codes, size_t code_count) {
    const asked *of = state;
    reading *to = of->to;
    size_t words = code_count * to->words;
    if (make_room(to, words, of->error)) return CT_NOMEM;
    if (words) memcpy(to->buffer + to->used, codes, words * sizeof *codes);
    to->begin[of->which[place]] = to->used;
    to->count[of->which[place]] = code_count;
    to->used += words;
    if (!words) ct_code_file_note_missed(to->parts->file);
    return CT_OK;
}

static int read_store(reading *to, ct_error *error) {
    asked of = {.to = to, .error = error};
    int64_t ids[CHUNKS_AT_ONCE];
    size_t count = 0;
    for (size_t i = to->from; i < to->to; i++) {
        if (to->places[i].block >= 0) continue;
        of.which[count] = i - to->from;
        ids[count++] = to->places[i].chunk_id;
    }
    if (!count) return CT_OK;
    return ct_store_read_codes(to->parts->store, ids, count, to->words, keep, &of, error);
}

/* ---- from the file ------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const ct_chunk_place *x = *(const ct_chunk_place *const *)a, *y = *(const ct_chunk_place *const *)b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Read chunks that are near each other, in order.  Without codes a message is found by its vector and its
 * words, so that a file that cannot be read is no error. */
static int read_run(reading *to, const ct_chunk_place *const *run, size_t count, ct_error *error) {
    ct_error why = {0};
    const ct_chunk_place *first = run[0], *last = run[count - 1];
    size_t words = (last->end - first->begin) * to->words;
    if (!words) return CT_OK;
    if (make_room(to, words, error)) return CT_NOMEM;
    uint64_t *codes = to->buffer + to->used;
    if (ct_code_file_tokens(to->parts->file, first, last, to->words, codes, &why)) return CT_OK;
    for (size_t i = 0; i < count; i++) {
        size_t at = (run[i]->begin - first->begin) * to->words;
        size_t which = (size_t)(run[i] - to->places) - to->from;
        if (run[i]->begin == run[i]->end) continue;
        if (!ct_code_file_knows(to->parts->file, run[i], to->words, codes + at)) continue;
        to->begin[which] = to->used + at;
        to->count[which] = run[i]->end - run[i]->begin;
    }
    to->used += words;
    return CT_OK;
}

static int read_file(reading *to, ct_error *error) {
    const ct_chunk_place *sorted[CHUNKS_AT_ONCE];
    size_t count = 0, next;
    int status = CT_OK;
    for (size_t i = to->from; i < to->to; i++)
        if (to->places[i].block >= 0) sorted[count++] = &to->places[i];
    qsort(sorted, count, sizeof *sorted, by_place);
    for (size_t i = 0; !status && i < count; i = next) {
        for (next = i + 1; next < count && sorted[next]->block == sorted[i]->block; next++) {
            size_t gap = sorted[next]->begin - (size_t)sorted[next - 1]->end;
            if (gap * to->words * sizeof *to->buffer > GAP_BYTES) break;
        }
        status = read_run(to, sorted + i, next - i, error);
    }
    return status;
}

int ct_token_read(const ct_recall_parts *parts, const ct_chunk_place *places, size_t count,
                  int (*visit)(void *state, size_t place, const uint64_t *codes, size_t code_count), void *state,
                  ct_error *error) {
    reading to = {.parts = parts, .places = places, .words = (size_t)ct_encoder_code_bits(parts->encoder) / 64};
    int status = CT_OK;
    if (!to.words) return CT_OK;
    for (; !status && to.from < count; to.from = to.to) {
        choose_some(&to, count);
        memset(to.count, 0, sizeof to.count);
        to.used = 0;
        status = read_store(&to, error);
        if (!status) status = read_file(&to, error);
        for (size_t i = to.from; !status && i < to.to; i++)
            status = visit(state, i, to.count[i - to.from] ? to.buffer + to.begin[i - to.from] : NULL,
                           to.count[i - to.from]);
    }
    ct_free(to.buffer);
    return status;
}
