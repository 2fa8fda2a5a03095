/* The best chunks for a vector.
 *
 * Every chunk is looked at, at one bit a dimension; those whose bits match best are scored by their
 * codes.  A small index is scored by its codes at once. */
#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "index/ct_index_parts.h"
#include "simd/ct_simd.h"
#include "simd/ct_simd_scan.h"

/* Chunks that are scored by their codes for one message that is wanted, and at least.  Of 100,000
 * messages of made-up English, embedded by MiniLM, the best 10 by their codes are among the best 100 by
 * their bits in .999 of the cases, the best 200 among 900 in .996. */
#define POOL_FACTOR 4
#define POOL_LEAST 100

/* Bits say the less the fewer they are: below so many dimensions the pool grows as they shrink. */
#define POOL_DIMENSIONS 384

/* When many chunks of few messages leave less than half as many messages as chunks were wanted, so many
 * times as many are scored. */
#define WIDEN_FACTOR 8

/* ---- the query ----------------------------------------------------------------------------- */

static double half_range(const float *four) {
    double sum = 0;
    for (int d = 0; d < 4; d++) sum += fabs((double)four[d]);
    return sum;
}

/* What each choice of four bits adds to the product with the signs, 0 for the least of them. */
static void set_table(const float *four, double unit, uint8_t *table) {
    double half = half_range(four);
    for (int bits = 0; bits < 16; bits++) {
        double sum = half;
        for (int d = 0; d < 4; d++) sum += bits >> d & 1 ? -(double)four[d] : (double)four[d];
        table[bits] = table[bits + 16] = (uint8_t)lrint(sum * unit);
    }
}

int ct_index_query_make(const ct_index *index, const float *vector, ct_index_query *out,
                        ct_error *error) {
    size_t padded = index->padded, bytes = padded / 8;
    int16_t *values = ct_alloc_aligned(padded * sizeof *values);
    uint8_t *tables = ct_alloc_aligned(bytes * CT_SCAN_TABLE_BYTES);
    float *wide = ct_alloc_aligned(padded * sizeof *wide);
    if (!values || !tables || !wide) {
        ct_free(values);
        ct_free(tables);
        ct_free(wide);
        return ct_fail_nomem(error);
    }
    memcpy(wide, vector, (size_t)index->dimension * sizeof *wide);
    float largest = 0;
    double widest = 0;
    for (size_t i = 0; i < padded; i++) largest = fmaxf(largest, fabsf(wide[i]));
    for (size_t i = 0; i < padded; i += 4) widest = fmax(widest, half_range(wide + i));
    out->scale = largest > 0 ? largest / CT_QUERY_MAX : 1;
    for (size_t i = 0; i < padded; i++) values[i] = (int16_t)lrintf(wide[i] / out->scale);
    double unit = widest > 0 ? ct_scan_most(bytes) / (2 * widest) : 0;
    for (size_t b = 0; b < bytes; b++) {
        set_table(wide + 8 * b, unit, tables + b * CT_SCAN_GROUP);
        set_table(wide + 8 * b + 4, unit, tables + (bytes + b) * CT_SCAN_GROUP);
    }
    ct_free(wide);
    out->values = values;
    out->tables = tables;
    return CT_OK;
}

void ct_index_query_free(ct_index_query *query) {
    ct_free(query->values);
    ct_free(query->tables);
    query->values = NULL;
    query->tables = NULL;
}

static double score_entry(const ct_index *index, const ct_kernels *kernels, const ct_index_query *query,
                          uint32_t entry) {
    const ct_block *block = ct_index_block(index, entry);
    size_t at = entry % CT_BLOCK_ENTRIES;
    int32_t product = kernels->dot(query->values, block->codes + at * index->padded, index->padded);
    return (double)product * (double)(query->scale * block->scale[at]);
}

int ct_index_score(ct_index *index, const ct_index_query *query, int64_t message_id, double *score) {
    const ct_kernels *kernels = ct_simd();
    pthread_rwlock_rdlock(&index->lock);
    uint32_t latest = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    double best = -1;
    for (uint32_t entry = latest; entry != CT_NO_ENTRY; entry = ct_index_earlier(index, entry)) {
        double value = score_entry(index, kernels, query, entry);
        if (value > best) best = value;
    }
    pthread_rwlock_unlock(&index->lock);
    if (latest != CT_NO_ENTRY) *score = best;
    return latest != CT_NO_ENTRY;
}

/* ---- filters ------------------------------------------------------------------------------- */

static int contains(const int64_t *ids, size_t count, int64_t id) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] < id) low = middle + 1;
        else high = middle;
    }
    return low < count && ids[low] == id;
}

static int passes(const ct_index_filter *filter, const ct_block *block, size_t at) {
    return block->time_ms[at] >= filter->since_ms && block->time_ms[at] < filter->until_ms &&
           (!filter->before_id || block->message_id[at] < filter->before_id) &&
           (!filter->sessions || contains(filter->sessions, filter->session_count, block->session_id[at])) &&
           (!filter->roles || contains(filter->roles, filter->role_count, block->role_id[at]));
}

static int is_open(const ct_index_filter *filter) {
    return !filter->sessions && !filter->roles && !filter->before_id && filter->since_ms == INT64_MIN &&
           filter->until_ms == INT64_MAX;
}

/* ---- by bits ------------------------------------------------------------------------------- */

/* Entries to score by their codes.  There is room for as many keys as a scan holds between two looks: twice
 * those that are wanted, and a block's.  A key is the sum of its bits, then the entry, so that of equals the
 * newer is the larger. */
typedef struct pool {
    uint64_t *keys;
    size_t count;
    size_t wanted;
    int is_cut; /* there were more than are wanted */
} pool;

/* Move the `wanted` largest to the front (Hoare's quickselect). */
static void keep_largest(pool *of) {
    uint64_t *keys = of->keys;
    if (of->count <= of->wanted) return;
    of->is_cut = 1;
    size_t low = 0, high = of->count - 1;
    while (low < high) {
        uint64_t pivot = keys[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (keys[i] > pivot) i++;
            while (keys[j] < pivot) j--;
            if (i >= j) break;
            uint64_t swap = keys[i];
            keys[i] = keys[j];
            keys[j] = swap;
        }
        if (of->wanted <= j) high = j;
        else low = j + 1;
        if (low >= of->wanted) break;
    }
    of->count = of->wanted;
}

static uint16_t least_sum(const pool *of) {
    uint64_t least = UINT64_MAX;
    if (of->count < of->wanted) return 0;
    for (size_t i = 0; i < of->count; i++)
        if (of->keys[i] < least) least = of->keys[i];
    return (uint16_t)(least >> 32);
}

static void add(pool *to, const ct_block *block, const ct_index_filter *filter, uint16_t sum, uint32_t entry) {
    if (filter && !passes(filter, block, entry % CT_BLOCK_ENTRIES)) return;
    to->keys[to->count++] = (uint64_t)sum << 32 | entry;
}

/* The entries from `from` on whose bits match best; filter is NULL when all pass. */
static void scan(const ct_index *index, const ct_index_query *query, const ct_index_filter *filter, size_t from,
                 pool *to) {
    const ct_kernels *kernels = ct_simd();
    uint16_t sums[CT_BLOCK_ENTRIES], least = 0;
    uint32_t places[CT_BLOCK_ENTRIES];
    for (size_t first = from - from % CT_BLOCK_ENTRIES; first < index->count; first += CT_BLOCK_ENTRIES) {
        const ct_block *block = ct_index_block(index, (uint32_t)first);
        size_t entries = index->count - first < CT_BLOCK_ENTRIES ? index->count - first : CT_BLOCK_ENTRIES;
        size_t groups = (entries + CT_SCAN_GROUP - 1) / CT_SCAN_GROUP;
        kernels->scan(query->tables, index->padded / 8, block->signs, groups, sums);
        size_t over = kernels->over(sums, groups * CT_SCAN_GROUP, least, places);
        for (size_t i = 0; i < over && places[i] < entries; i++)
            if (first + places[i] >= from) add(to, block, filter, sums[places[i]], (uint32_t)first + places[i]);
        if (to->count < 2 * to->wanted) continue;
        keep_largest(to);
        least = least_sum(to);
    }
    keep_largest(to);
}

static void take_all(const ct_index *index, const ct_index_filter *filter, size_t from, pool *to) {
    for (uint32_t entry = (uint32_t)from; entry < index->count; entry++)
        add(to, ct_index_block(index, entry), filter, 0, entry);
}

/* The entries of the filter's sessions; 0 when they are more than there is room for. */
static int take_sessions(const ct_index *index, const ct_index_filter *filter, size_t room, pool *to) {
    size_t seen = 0;
    for (size_t i = 0; i < filter->session_count; i++) {
        uint32_t place = ct_id_map_get(&index->sessions, filter->sessions[i], CT_NO_ENTRY);
        if (place == CT_NO_ENTRY) continue;
        for (uint32_t last = index->lists[place].newest; last != CT_NO_ENTRY; last = *ct_index_before(index, last))
            for (uint32_t entry = last; entry != CT_NO_ENTRY; entry = ct_index_earlier(index, entry)) {
                if (seen++ == room) return 0;
                add(to, ct_index_block(index, entry), filter, 0, entry);
            }
    }
    return 1;
}

static void find(const ct_index *index, const ct_index_query *query, const ct_index_filter *filter, size_t room,
                 pool *to) {
    if (index->count <= room) {
        take_all(index, filter, 0, to);
    } else if (!filter || !filter->sessions || !take_sessions(index, filter, room, to)) {
        to->count = 0;
        scan(index, query, filter, 0, to);
    }
}

/* ---- by codes ------------------------------------------------------------------------------ */

static int is_worse(const ct_dense_hit *a, const ct_dense_hit *b) {
    return a->score < b->score || (a->score == b->score && a->message_id < b->message_id);
}

static int best_first(const void *a, const void *b) {
    return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

static int by_message(const void *a, const void *b) {
    const ct_dense_hit *x = a, *y = b;
    if (x->message_id != y->message_id) return x->message_id < y->message_id ? -1 : 1;
    return best_first(a, b);
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

static void offer(ct_dense_hit *heap, size_t *count, size_t capacity, const ct_dense_hit *hit) {
    if (*count < capacity) {
        heap[*count] = *hit;
        sift_up(heap, (*count)++);
    } else if (is_worse(&heap[0], hit)) {
        heap[0] = *hit;
        sift_down(heap, *count, 0);
    }
}

/* Codes lie anywhere: so many are asked of memory ahead. */
#define AHEAD 8

static void fetch_ahead(const ct_index *index, const pool *from, size_t i) {
    if (i >= from->count) return;
    uint32_t entry = (uint32_t)from->keys[i];
    const char *code = (const char *)ct_index_block(index, entry)->codes + entry % CT_BLOCK_ENTRIES * index->padded;
    for (size_t at = 0; at < index->padded; at += 64) __builtin_prefetch(code + at);
}

/* The best messages of a pool, and how many messages are in it.  parts has room for as many hits as the
 * pool has keys. */
static size_t choose(const ct_index *index, const ct_index_query *query, const pool *from,
                     ct_dense_hit *parts, ct_dense_hit *hits, size_t capacity, size_t *messages) {
    const ct_kernels *kernels = ct_simd();
    size_t count = 0, part_count = 0;
    for (size_t i = 0; i < from->count; i++) {
        fetch_ahead(index, from, i + AHEAD);
        uint32_t entry = (uint32_t)from->keys[i];
        ct_dense_hit hit = {ct_index_message_id(index, entry), score_entry(index, kernels, query, entry)};
        if (ct_index_block(index, entry)->is_part[entry % CT_BLOCK_ENTRIES]) parts[part_count++] = hit;
        else offer(hits, &count, capacity, &hit);
    }
    qsort(parts, part_count, sizeof *parts, by_message);
    *messages = from->count - part_count;
    for (size_t i = 0; i < part_count; i++) { /* a message counts once, with its best chunk */
        if (i && parts[i].message_id == parts[i - 1].message_id) continue;
        offer(hits, &count, capacity, &parts[i]);
        ++*messages;
    }
    qsort(hits, count, sizeof *hits, best_first);
    return count;
}

/* One look, with so many chunks scored by their codes.  *enough is set when those are of so many messages
 * at least, or when there are no more. */
static int search(const ct_index *index, const ct_index_query *query, const ct_index_filter *filter,
                  size_t wanted, ct_dense_hit *hits, size_t capacity, size_t *count, size_t least, int *enough,
                  ct_error *error) {
    size_t messages = 0, room = 2 * wanted + CT_BLOCK_ENTRIES;
    if (room > index->count) room = index->count;
    pool found = {.keys = ct_alloc(room * sizeof *found.keys), .wanted = wanted};
    ct_dense_hit *parts = ct_alloc(room * sizeof *parts);
    int status = found.keys && parts ? CT_OK : ct_fail_nomem(error);
    if (!status) {
        find(index, query, filter, room, &found);
        *count = choose(index, query, &found, parts, hits, capacity, &messages);
        *enough = messages >= least || !found.is_cut;
    }
    ct_free(found.keys);
    ct_free(parts);
    return status;
}

/* Chunks to score for so many messages. */
static size_t pool_size(const ct_index *index, size_t capacity) {
    size_t wanted = capacity * POOL_FACTOR + POOL_LEAST;
    return index->dimension < POOL_DIMENSIONS ? wanted * POOL_DIMENSIONS / (size_t)index->dimension : wanted;
}

int ct_index_search(ct_index *index, const ct_index_query *query, const ct_index_filter *filter,
                    ct_dense_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    int status = CT_OK, enough = 0;
    size_t wanted = pool_size(index, capacity), least = wanted / 2;
    *count = 0;
    if (capacity == 0) return CT_OK;
    pthread_rwlock_rdlock(&index->lock);
    for (; !status && !enough; wanted *= WIDEN_FACTOR)
        status = search(index, query, is_open(filter) ? NULL : filter, wanted, hits, capacity, count, least,
                        &enough, error);
    pthread_rwlock_unlock(&index->lock);
    return status;
}

/* ---- what is near already ------------------------------------------------------------------ */

static int by_key(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The entries of chunks among the first `end` entries, each once. */
static void take_chunks(const ct_index *index, const int64_t *chunk_ids, size_t chunk_count, size_t end, pool *to) {
    for (size_t i = 0; i < chunk_count; i++) {
        size_t through = ct_index_entries_through(index, chunk_ids[i]);
        if (through == 0 || through > end) continue;
        uint32_t entry = (uint32_t)(through - 1);
        if (ct_index_block(index, entry)->chunk_id[entry % CT_BLOCK_ENTRIES] == chunk_ids[i])
            to->keys[to->count++] = entry;
    }
    qsort(to->keys, to->count, sizeof *to->keys, by_key);
    size_t kept = 0;
    for (size_t i = 0; i < to->count; i++)
        if (i == 0 || to->keys[i] != to->keys[i - 1]) to->keys[kept++] = to->keys[i];
    to->count = kept;
}

int ct_index_search_near(ct_index *index, const ct_index_query *query, const int64_t *chunk_ids,
                         size_t chunk_count, int64_t known, ct_dense_hit *hits, size_t capacity, size_t *count,
                         ct_error *error) {
    *count = 0;
    if (capacity == 0) return CT_OK;
    pthread_rwlock_rdlock(&index->lock);
    size_t end = ct_index_entries_through(index, known), tail = index->count - end, messages;
    pool late = {.wanted = pool_size(index, capacity)};
    size_t room = 2 * late.wanted + CT_BLOCK_ENTRIES;
    if (room > tail) room = tail;
    pool found = {.keys = ct_alloc((room + chunk_count) * sizeof *found.keys)};
    ct_dense_hit *parts = ct_alloc((room + chunk_count) * sizeof *parts);
    int status = found.keys && parts ? CT_OK : ct_fail_nomem(error);
    if (!status) {
        take_chunks(index, chunk_ids, chunk_count, end, &found);
        late.keys = found.keys + found.count;
        if (tail <= room) take_all(index, NULL, end, &late);
        else scan(index, query, NULL, end, &late);
        found.count += late.count;
        *count = choose(index, query, &found, parts, hits, capacity, &messages);
    }
    pthread_rwlock_unlock(&index->lock);
    ct_free(found.keys);
    ct_free(parts);
    return status;
}
