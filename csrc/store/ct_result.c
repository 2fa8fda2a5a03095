#include "store/ct_result.h"

#include "base/ct_alloc.h"

struct ct_arena_block {
    ct_arena_block *next;
    size_t used;
    size_t size;
    char bytes[];
};

ct_result *ct_result_new(void) { return ct_alloc_zero(sizeof(ct_result)); }

ct_row *ct_result_add(ct_result *result) {
    if (result->count == result->capacity) {
        size_t capacity = result->capacity ? result->capacity * 2 : 16;
        ct_row *rows = ct_realloc(result->rows, capacity * sizeof *rows);
        if (!rows) return NULL;
        result->rows = rows;
        result->capacity = capacity;
    }
    ct_row *row = &result->rows[result->count++];
    memset(row, 0, sizeof *row);
    return row;
}

int ct_result_keep(ct_result *result, const char *text, size_t bytes, const char **out) {
    if (!text) {
        *out = NULL;
        return 0;
    }
    ct_arena_block *block = result->strings;
    if (!block || block->size - block->used < bytes + 1) {
        size_t size = bytes + 1 > 16384 ? bytes + 1 : 16384;
        block = ct_alloc(sizeof *block + size);
        if (!block) return -1;
        block->next = result->strings;
        block->used = 0;
        block->size = size;
        result->strings = block;
    }
    char *copy = block->bytes + block->used;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    block->used += bytes + 1;
    *out = copy;
    return 0;
}

size_t ct_result_count(const ct_result *result) { return result->count; }
const ct_row *ct_result_rows(const ct_result *result) { return result->rows; }
const ct_timings *ct_result_timings(const ct_result *result) { return &result->timings; }
int64_t ct_result_pending(const ct_result *result) { return result->pending; }
double ct_result_confidence(const ct_result *result) { return result->confidence; }
const ct_result *ct_result_standing(const ct_result *result) { return result->standing; }
const ct_result *ct_result_working(const ct_result *result) { return result->working; }

void ct_result_free(ct_result *result) {
    if (!result) return;
    while (result->strings) {
        ct_arena_block *block = result->strings;
        result->strings = block->next;
        ct_free(block);
    }
    ct_result_free(result->attached);
    ct_free(result->ids);
    ct_result_free(result->standing);
    ct_result_free(result->working);
    ct_free(result->rows);
    ct_free(result->links);
    ct_free(result);
}

void ct_result_drop(ct_result **holder) { ct_result_free(*holder); }
