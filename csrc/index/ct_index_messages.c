/* What the index knows of single messages. */
#include <math.h>
#include <string.h>

#include "index/ct_index_parts.h"

void ct_index_bounds(ct_index *index, int64_t since_ms, int64_t until_ms, int64_t *first, int64_t *last,
                     int64_t *last_chunk) {
    int64_t low = INT64_MAX, high = 0;
    pthread_rwlock_rdlock(&index->lock);
    for (size_t b = 0; b < index->block_count; b++) {
        const ct_block *block = index->blocks[b];
        size_t count = index->count - b * CT_BLOCK_ENTRIES;
        if (count > CT_BLOCK_ENTRIES) count = CT_BLOCK_ENTRIES;
        for (size_t i = 0; i < count; i++) {
            if (block->time_ms[i] < since_ms || block->time_ms[i] >= until_ms) continue;
            if (block->message_id[i] < low) low = block->message_id[i];
            if (block->message_id[i] > high) high = block->message_id[i];
        }
    }
    *last_chunk = index->last_chunk;
    pthread_rwlock_unlock(&index->lock);
    *first = low;
    *last = high;
}

void ct_index_expect(ct_index *index, const int64_t *message_ids, size_t count) {
    pthread_rwlock_rdlock(&index->lock);
    for (size_t i = 0; i < count; i++) ct_id_map_expect(&index->latest, message_ids[i]);
    for (size_t i = 0; i < count; i++) {
        uint32_t entry = ct_id_map_get(&index->latest, message_ids[i], CT_NO_ENTRY);
        if (entry == CT_NO_ENTRY) continue;
        const ct_block *block = ct_index_block(index, entry);
        size_t at = entry % CT_BLOCK_ENTRIES;
        __builtin_prefetch(&block->chunk_id[at]);
        __builtin_prefetch(&block->message_id[at]);
        __builtin_prefetch(&block->time_ms[at]);
        __builtin_prefetch(&block->session_id[at]);
        __builtin_prefetch(&block->role_id[at]);
        __builtin_prefetch(&block->token_end[at]);
        __builtin_prefetch(&block->token_hash[at]);
        __builtin_prefetch(&block->earlier[at]);
        __builtin_prefetch(&block->before[at]);
        __builtin_prefetch(&block->after[at]);
    }
    pthread_rwlock_unlock(&index->lock);
}

int ct_index_find(ct_index *index, int64_t message_id, ct_index_message *out) {
    pthread_rwlock_rdlock(&index->lock);
    uint32_t entry = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    if (entry != CT_NO_ENTRY) {
        const ct_block *block = ct_index_block(index, entry);
        size_t at = entry % CT_BLOCK_ENTRIES;
        *out = (ct_index_message){block->session_id[at], block->role_id[at], block->time_ms[at]};
    }
    pthread_rwlock_unlock(&index->lock);
    return entry != CT_NO_ENTRY;
}

int ct_index_vector(ct_index *index, int64_t message_id, float *out) {
    size_t dimension = (size_t)index->dimension;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t latest = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    if (latest != CT_NO_ENTRY) memset(out, 0, dimension * sizeof *out);
    for (uint32_t e = latest; e != CT_NO_ENTRY; e = ct_index_earlier(index, e)) {
        const ct_block *block = ct_index_block(index, e);
        size_t at = e % CT_BLOCK_ENTRIES;
        const int8_t *code = block->codes + at * index->padded;
        for (size_t d = 0; d < dimension; d++) out[d] += (float)code[d] * block->scale[at];
    }
    pthread_rwlock_unlock(&index->lock);
    if (latest == CT_NO_ENTRY) return 0;
    float square = 0;
    for (size_t d = 0; d < dimension; d++) square += out[d] * out[d];
    for (size_t d = 0; square > 0 && d < dimension; d++) out[d] /= sqrtf(square);
    return 1;
}

static ct_chunk_place place_of(const ct_index *index, uint32_t entry) {
    const ct_block *block = ct_index_block(index, entry);
    size_t at = entry % CT_BLOCK_ENTRIES;
    ct_chunk_place place = {.chunk_id = block->chunk_id[at], .block = -1};
    if (block->tokens_at < 0) return place;
    place.block = entry / CT_BLOCK_ENTRIES;
    place.at = block->tokens_at;
    place.begin = at ? block->token_end[at - 1] : 0;
    place.end = block->token_end[at];
    place.hash = block->token_hash[at];
    return place;
}

size_t ct_index_chunks(ct_index *index, int64_t message_id, ct_chunk_place *places, size_t capacity) {
    size_t count = 0;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t latest = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    for (uint32_t e = latest; e != CT_NO_ENTRY; e = ct_index_earlier(index, e)) count++;
    size_t left = count; /* a message's chunks are stored in order, so the latest is the last */
    for (uint32_t e = latest; e != CT_NO_ENTRY; e = ct_index_earlier(index, e))
        if (--left < capacity) places[left] = place_of(index, e);
    pthread_rwlock_unlock(&index->lock);
    return count;
}

size_t ct_index_neighbours(ct_index *index, int64_t message_id, int32_t before, int32_t after,
                           int64_t *message_ids) {
    size_t count = 0;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t entry = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    if (entry != CT_NO_ENTRY) {
        uint32_t first = entry, previous;
        int32_t steps = 0;
        for (; steps < before && (previous = *ct_index_before(index, first)) != CT_NO_ENTRY; steps++)
            first = previous;
        for (; first != CT_NO_ENTRY && steps >= -after; steps--, first = *ct_index_after(index, first))
            message_ids[count++] = ct_index_message_id(index, first);
    }
    pthread_rwlock_unlock(&index->lock);
    return count;
}
