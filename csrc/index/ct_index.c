#include "index/ct_index.h"

#include <math.h>
#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "simd/ct_simd.h"

/* Blocks keep growth cheap: codes never move. */
#define BLOCK_ENTRIES 4096

typedef struct block {
    int8_t *codes; /* [BLOCK_ENTRIES][padded] */
    float scale[BLOCK_ENTRIES];
    int64_t message_id[BLOCK_ENTRIES];
    int64_t time_ms[BLOCK_ENTRIES];
    int64_t session_id[BLOCK_ENTRIES];
    int64_t role_id[BLOCK_ENTRIES];
} block;

struct ct_index {
    pthread_rwlock_t lock;
    int32_t dimension;
    size_t padded;
    block **blocks;
    size_t block_count;
    size_t block_capacity;
    size_t count;
    int64_t last_chunk;
};

int ct_index_create(int32_t dimension, ct_index **out, ct_error *error) {
    if (dimension < 1 || dimension > CT_DIMENSION_MAX)
        return ct_fail(error, CT_MODEL, "%d dimensions are not supported", dimension);
    ct_index *index = ct_alloc_zero(sizeof *index);
    if (!index) return ct_fail_nomem(error);
    pthread_rwlock_init(&index->lock, NULL);
    index->dimension = dimension;
    index->padded = ct_simd_padded((size_t)dimension);
    *out = index;
    return CT_OK;
}

void ct_index_destroy(ct_index *index) {
    if (!index) return;
    for (size_t i = 0; i < index->block_count; i++) {
        ct_free(index->blocks[i]->codes);
        ct_free(index->blocks[i]);
    }
    ct_free(index->blocks);
    pthread_rwlock_destroy(&index->lock);
    ct_free(index);
}

static int add_block(ct_index *index) {
    if (index->block_count == index->block_capacity) {
        size_t capacity = index->block_capacity ? index->block_capacity * 2 : 16;
        block **blocks = ct_realloc(index->blocks, capacity * sizeof *blocks);
        if (!blocks) return -1;
        index->blocks = blocks;
        index->block_capacity = capacity;
    }
    block *fresh = ct_alloc_zero(sizeof *fresh);
    if (!fresh) return -1;
    fresh->codes = ct_alloc_aligned(BLOCK_ENTRIES * index->padded);
    if (!fresh->codes) {
        ct_free(fresh);
        return -1;
    }
    index->blocks[index->block_count++] = fresh;
    return 0;
}

int ct_index_add(ct_index *index, const ct_index_entry *entry, ct_error *error) {
    int status = CT_OK;
    pthread_rwlock_wrlock(&index->lock);
    if (entry->chunk_id <= index->last_chunk) goto done; /* another thread brought it in */
    if (index->count == index->block_count * BLOCK_ENTRIES && add_block(index)) {
        status = ct_fail_nomem(error);
        goto done;
    }
    block *last = index->blocks[index->count / BLOCK_ENTRIES];
    size_t i = index->count % BLOCK_ENTRIES;
    memcpy(&last->scale[i], entry->code, sizeof(float));
    memcpy(last->codes + i * index->padded, entry->code + sizeof(float), (size_t)index->dimension);
    last->message_id[i] = entry->message_id;
    last->session_id[i] = entry->session_id;
    last->role_id[i] = entry->role_id;
    last->time_ms[i] = entry->time_ms;
    index->count++;
    index->last_chunk = entry->chunk_id;
done:
    pthread_rwlock_unlock(&index->lock);
    return status;
}

int64_t ct_index_last_chunk(ct_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    int64_t last = index->last_chunk;
    pthread_rwlock_unlock(&index->lock);
    return last;
}

size_t ct_index_count(ct_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    size_t count = index->count;
    pthread_rwlock_unlock(&index->lock);
    return count;
}

size_t ct_index_bytes(ct_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    size_t bytes = sizeof *index + index->block_capacity * sizeof *index->blocks +
                   index->block_count * (sizeof(block) + BLOCK_ENTRIES * index->padded);
    pthread_rwlock_unlock(&index->lock);
    return bytes;
}

int ct_index_validate(ct_index *index, ct_error *error) {
    int status = CT_OK;
    pthread_rwlock_rdlock(&index->lock);
    size_t needed = (index->count + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    if (index->block_count != needed)
        status = ct_fail(error, CT_INTERNAL, "index: %zu blocks for %zu entries", index->block_count,
                         index->count);
    for (size_t i = 0; !status && i < index->count; i++) {
        const block *b = index->blocks[i / BLOCK_ENTRIES];
        size_t at = i % BLOCK_ENTRIES;
        if (b->message_id[at] < 1 || !isfinite(b->scale[at]) || b->scale[at] < 0)
            status = ct_fail(error, CT_INTERNAL, "index: entry %zu is damaged", i);
        for (size_t d = (size_t)index->dimension; !status && d < index->padded; d++)
            if (b->codes[at * index->padded + d])
                status = ct_fail(error, CT_INTERNAL, "index: padding of entry %zu is not zero", i);
    }
    pthread_rwlock_unlock(&index->lock);
    return status;
}

/* ---- search -------------------------------------------------------------------------------- */

static int contains(const int64_t *ids, size_t count, int64_t id) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < count && ids[low] == id;
}

static int passes(const ct_index_filter *filter, const block *b, size_t i) {
    return b->time_ms[i] >= filter->since_ms && b->time_ms[i] < filter->until_ms &&
           (!filter->sessions || contains(filter->sessions, filter->session_count, b->session_id[i])) &&
           (!filter->roles || contains(filter->roles, filter->role_count, b->role_id[i]));
}

static int is_worse(const ct_dense_hit *a, const ct_dense_hit *b) {
    return a->score < b->score || (a->score == b->score && a->message_id < b->message_id);
}

/* heap[0] is the worst of the best. */
static void sift_down(ct_dense_hit *heap, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && is_worse(&heap[child + 1], &heap[child])) child++;
        if (!is_worse(&heap[child], &heap[at])) return;
        ct_dense_hit swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

static void sift_up(ct_dense_hit *heap, size_t at) {
    while (at > 0 && is_worse(&heap[at], &heap[(at - 1) / 2])) {
        ct_dense_hit swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

/* Offer one chunk's score; a message counts once, with its best. */
static void offer(ct_dense_hit *heap, size_t *count, size_t capacity, ct_dense_hit hit) {
    if (*count == capacity && !is_worse(&heap[0], &hit)) return;
    for (size_t i = 0; i < *count; i++) {
        if (heap[i].message_id != hit.message_id) continue;
        if (hit.score > heap[i].score) {
            heap[i].score = hit.score;
            sift_down(heap, *count, i);
        }
        return;
    }
    if (*count < capacity) {
        heap[*count] = hit;
        sift_up(heap, (*count)++);
    } else {
        heap[0] = hit;
        sift_down(heap, *count, 0);
    }
}

static int16_t *quantise_query(const ct_index *index, const float *query, float *scale) {
    int16_t *quantised = ct_alloc_aligned(index->padded * sizeof *quantised);
    if (!quantised) return NULL;
    float largest = 0;
    for (int32_t i = 0; i < index->dimension; i++) largest = fmaxf(largest, fabsf(query[i]));
    *scale = largest > 0 ? largest / CT_QUERY_MAX : 1;
    for (int32_t i = 0; i < index->dimension; i++) quantised[i] = (int16_t)lrintf(query[i] / *scale);
    return quantised;
}

int ct_index_search(ct_index *index, const float *query, const ct_index_filter *filter,
                    ct_dense_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    float query_scale;
    int16_t *quantised = quantise_query(index, query, &query_scale);
    if (!quantised) return ct_fail_nomem(error);
    int32_t (*dot)(const int16_t *, const int8_t *, size_t) = ct_simd()->dot;
    int unfiltered = !filter->sessions && !filter->roles && filter->since_ms == INT64_MIN &&
                     filter->until_ms == INT64_MAX;
    size_t found = 0;

    pthread_rwlock_rdlock(&index->lock);
    for (size_t b = 0; capacity && b * BLOCK_ENTRIES < index->count; b++) {
        const block *current = index->blocks[b];
        size_t entries = index->count - b * BLOCK_ENTRIES;
        if (entries > BLOCK_ENTRIES) entries = BLOCK_ENTRIES;
        for (size_t i = 0; i < entries; i++) {
            if (!unfiltered && !passes(filter, current, i)) continue;
            int32_t product = dot(quantised, current->codes + i * index->padded, index->padded);
            ct_dense_hit hit = {current->message_id[i],
                                (double)product * (double)(query_scale * current->scale[i])};
            offer(hits, &found, capacity, hit);
        }
    }
    pthread_rwlock_unlock(&index->lock);

    *count = found;
    for (size_t left = found; left > 1;) { /* heap sort: the worst goes last */
        ct_dense_hit worst = hits[0];
        hits[0] = hits[--left];
        hits[left] = worst;
        sift_down(hits, left, 0);
    }
    ct_free(quantised);
    return CT_OK;
}
