#include "index/ct_index.h"

#include <math.h>
#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "index/ct_id_map.h"
#include "simd/ct_simd.h"

/* Blocks keep growth cheap: codes never move. */
#define BLOCK_ENTRIES 4096
#define NO_ENTRY UINT32_MAX

typedef struct block {
    int8_t *codes; /* [BLOCK_ENTRIES][padded] */
    float scale[BLOCK_ENTRIES];
    int64_t message_id[BLOCK_ENTRIES];
    int64_t time_ms[BLOCK_ENTRIES];
    int64_t session_id[BLOCK_ENTRIES];
    int64_t role_id[BLOCK_ENTRIES];
    int64_t chunk_id[BLOCK_ENTRIES];
    uint32_t earlier[BLOCK_ENTRIES]; /* entry with an earlier chunk of the same message */
    /* At the last chunk of a message: entries with the last chunk of its neighbours in the session. */
    uint32_t before[BLOCK_ENTRIES];
    uint32_t after[BLOCK_ENTRIES];
} block;

/* A session's messages are a list in order of their ids.  The backlog is embedded newest first, so a
 * message belongs at the end or close to the one that came last, which is where places are looked
 * for. */
typedef struct session_list {
    uint32_t newest;
    uint32_t touched; /* where the last message was put that was not the newest */
} session_list;

struct ct_index {
    pthread_rwlock_t lock;
    int32_t dimension;
    size_t padded;
    block **blocks;
    size_t block_count;
    size_t block_capacity;
    size_t count;
    int64_t last_chunk;
    ct_id_map latest; /* message id to the entry of its last chunk */
    ct_id_map sessions; /* session id to its place in lists */
    session_list *lists;
    size_t list_count;
    size_t list_capacity;
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
    ct_id_map_free(&index->latest);
    ct_id_map_free(&index->sessions);
    ct_free(index->lists);
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

/* ---- order in a session -------------------------------------------------------------------- */

static uint32_t *before_of(const ct_index *index, uint32_t entry) {
    return &index->blocks[entry / BLOCK_ENTRIES]->before[entry % BLOCK_ENTRIES];
}

static uint32_t *after_of(const ct_index *index, uint32_t entry) {
    return &index->blocks[entry / BLOCK_ENTRIES]->after[entry % BLOCK_ENTRIES];
}

static int64_t message_of(const ct_index *index, uint32_t entry) {
    return index->blocks[entry / BLOCK_ENTRIES]->message_id[entry % BLOCK_ENTRIES];
}

/* The list of a session, made when it is new; NULL when memory is short. */
static session_list *session_of(ct_index *index, int64_t session_id) {
    uint32_t place = ct_id_map_get(&index->sessions, session_id, NO_ENTRY);
    if (place != NO_ENTRY) return &index->lists[place];
    if (index->list_count == index->list_capacity) {
        size_t capacity = index->list_capacity ? index->list_capacity * 2 : 16;
        session_list *lists = ct_realloc(index->lists, capacity * sizeof *lists);
        if (!lists) return NULL;
        index->lists = lists;
        index->list_capacity = capacity;
    }
    if (ct_id_map_put(&index->sessions, session_id, (uint32_t)index->list_count)) return NULL;
    session_list *list = &index->lists[index->list_count++];
    *list = (session_list){NO_ENTRY, NO_ENTRY};
    return list;
}

static void join(const ct_index *index, session_list *list, uint32_t before, uint32_t entry,
                 uint32_t after) {
    *before_of(index, entry) = before;
    *after_of(index, entry) = after;
    if (before != NO_ENTRY) *after_of(index, before) = entry;
    if (after != NO_ENTRY) *before_of(index, after) = entry;
    else list->newest = entry;
}

/* Put a message at its place that is not in the list yet. */
static void insert_message(const ct_index *index, session_list *list, uint32_t entry) {
    int64_t id = message_of(index, entry);
    uint32_t before = list->newest, after = NO_ENTRY, touched = list->touched;
    if (before != NO_ENTRY && message_of(index, before) > id) {
        list->touched = entry;
        if (touched != NO_ENTRY && llabs(message_of(index, touched) - id) < message_of(index, before) - id)
            before = touched;
        after = *after_of(index, before);
        while (before != NO_ENTRY && message_of(index, before) > id) {
            after = before;
            before = *before_of(index, before);
        }
        while (after != NO_ENTRY && message_of(index, after) < id) { /* from `touched` on */
            before = after;
            after = *after_of(index, after);
        }
    }
    join(index, list, before, entry, after);
}

/* A message's later chunk stands for it from now on. */
static void replace_entry(const ct_index *index, session_list *list, uint32_t earlier, uint32_t entry) {
    if (list->touched == earlier) list->touched = entry;
    join(index, list, *before_of(index, earlier), entry, *after_of(index, earlier));
}

/* ---- adding -------------------------------------------------------------------------------- */

int ct_index_add(ct_index *index, const ct_index_entry *entry, ct_error *error) {
    int status = CT_OK;
    pthread_rwlock_wrlock(&index->lock);
    if (entry->chunk_id <= index->last_chunk) goto done; /* another thread brought it in */
    if (entry->message_id < 1 || entry->session_id < 1) { /* the maps hold no others */
        status = ct_fail(error, CT_CORRUPT,
                         "the store is damaged: embedding %lld is of message %lld in session %lld",
                         (long long)entry->chunk_id, (long long)entry->message_id,
                         (long long)entry->session_id);
        goto done;
    }
    float scale;
    memcpy(&scale, entry->code, sizeof scale);
    if (!(scale >= 0 && scale <= 1)) { /* of unit vectors; also NaN */
        status = ct_fail(error, CT_CORRUPT, "the store is damaged: embedding %lld is of no unit vector",
                         (long long)entry->chunk_id);
        goto done;
    }
    if (index->count == NO_ENTRY) {
        status = ct_fail(error, CT_INTERNAL, "the index holds %zu chunks and cannot grow", index->count);
        goto done;
    }
    uint32_t earlier = ct_id_map_get(&index->latest, entry->message_id, NO_ENTRY);
    session_list *list = session_of(index, entry->session_id);
    if (!list || (index->count == index->block_count * BLOCK_ENTRIES && add_block(index)) ||
        ct_id_map_put(&index->latest, entry->message_id, (uint32_t)index->count)) {
        status = ct_fail_nomem(error);
        goto done;
    }
    block *last = index->blocks[index->count / BLOCK_ENTRIES];
    size_t i = index->count % BLOCK_ENTRIES;
    last->scale[i] = scale;
    memcpy(last->codes + i * index->padded, entry->code + sizeof(float), (size_t)index->dimension);
    last->message_id[i] = entry->message_id;
    last->session_id[i] = entry->session_id;
    last->role_id[i] = entry->role_id;
    last->time_ms[i] = entry->time_ms;
    last->chunk_id[i] = entry->chunk_id;
    last->earlier[i] = earlier;
    if (earlier == NO_ENTRY) insert_message(index, list, (uint32_t)index->count);
    else replace_entry(index, list, earlier, (uint32_t)index->count);
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
                   index->block_count * (sizeof(block) + BLOCK_ENTRIES * index->padded) +
                   (index->latest.capacity + index->sessions.capacity) *
                       (sizeof *index->latest.ids + sizeof *index->latest.places) +
                   index->list_capacity * sizeof *index->lists;
    pthread_rwlock_unlock(&index->lock);
    return bytes;
}

static int validate_entries(const ct_index *index, ct_error *error) {
    int64_t last_chunk = 0;
    for (size_t i = 0; i < index->count; i++) {
        const block *b = index->blocks[i / BLOCK_ENTRIES];
        size_t at = i % BLOCK_ENTRIES;
        if (b->message_id[at] < 1 || !isfinite(b->scale[at]) || b->scale[at] < 0 ||
            b->chunk_id[at] <= last_chunk)
            return ct_fail(error, CT_INTERNAL, "index: entry %zu is damaged", i);
        last_chunk = b->chunk_id[at];
        if (b->earlier[at] != NO_ENTRY &&
            (b->earlier[at] >= i || message_of(index, b->earlier[at]) != b->message_id[at]))
            return ct_fail(error, CT_INTERNAL, "index: entry %zu points to a wrong one", i);
        for (size_t d = (size_t)index->dimension; d < index->padded; d++)
            if (b->codes[at * index->padded + d])
                return ct_fail(error, CT_INTERNAL, "index: padding of entry %zu is not zero", i);
    }
    return CT_OK;
}

/* Each message's last chunk stands in the list of its session, in order; nothing else does. */
static int validate_lists(const ct_index *index, ct_error *error) {
    size_t listed = 0;
    for (size_t l = 0; l < index->list_count; l++) {
        uint32_t after = NO_ENTRY;
        uint32_t entry = index->lists[l].newest;
        for (; entry != NO_ENTRY; after = entry, entry = *before_of(index, entry)) {
            int64_t id = message_of(index, entry);
            int64_t session = index->blocks[entry / BLOCK_ENTRIES]->session_id[entry % BLOCK_ENTRIES];
            if (listed++ == index->latest.count || *after_of(index, entry) != after ||
                (after != NO_ENTRY && message_of(index, after) <= id) ||
                ct_id_map_get(&index->latest, id, NO_ENTRY) != entry ||
                ct_id_map_get(&index->sessions, session, NO_ENTRY) != l)
                return ct_fail(error, CT_INTERNAL, "index: message %lld is not at its place",
                               (long long)id);
        }
    }
    if (listed != index->latest.count)
        return ct_fail(error, CT_INTERNAL, "index: %zu messages are in no session",
                       index->latest.count - listed);
    return CT_OK;
}

int ct_index_validate(ct_index *index, ct_error *error) {
    int status = CT_OK;
    pthread_rwlock_rdlock(&index->lock);
    /* One block may stand empty: memory for its first entry's place in the map ran out. */
    size_t needed = (index->count + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
    if (index->block_count < needed || index->block_count > needed + 1)
        status = ct_fail(error, CT_INTERNAL, "index: %zu blocks for %zu entries", index->block_count,
                         index->count);
    if (!status) status = validate_entries(index, error);
    if (!status) status = validate_lists(index, error);
    pthread_rwlock_unlock(&index->lock);
    return status;
}

/* ---- messages ------------------------------------------------------------------------------ */

int ct_index_find(ct_index *index, int64_t message_id, ct_index_message *out) {
    pthread_rwlock_rdlock(&index->lock);
    uint32_t entry = ct_id_map_get(&index->latest, message_id, NO_ENTRY);
    if (entry != NO_ENTRY) {
        const block *b = index->blocks[entry / BLOCK_ENTRIES];
        size_t at = entry % BLOCK_ENTRIES;
        *out = (ct_index_message){b->session_id[at], b->role_id[at], b->time_ms[at]};
    }
    pthread_rwlock_unlock(&index->lock);
    return entry != NO_ENTRY;
}

static uint32_t earlier_of(const ct_index *index, uint32_t entry) {
    return index->blocks[entry / BLOCK_ENTRIES]->earlier[entry % BLOCK_ENTRIES];
}

size_t ct_index_chunks(ct_index *index, int64_t message_id, int64_t *chunk_ids, size_t capacity) {
    size_t count = 0;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t latest = ct_id_map_get(&index->latest, message_id, NO_ENTRY);
    for (uint32_t e = latest; e != NO_ENTRY; e = earlier_of(index, e)) count++;
    size_t left = count; /* a message's chunks are stored in order, so the latest is the last */
    for (uint32_t e = latest; e != NO_ENTRY; e = earlier_of(index, e))
        if (--left < capacity)
            chunk_ids[left] = index->blocks[e / BLOCK_ENTRIES]->chunk_id[e % BLOCK_ENTRIES];
    pthread_rwlock_unlock(&index->lock);
    return count;
}

size_t ct_index_neighbours(ct_index *index, int64_t message_id, int32_t before, int32_t after,
                           int64_t *message_ids) {
    size_t count = 0;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t entry = ct_id_map_get(&index->latest, message_id, NO_ENTRY);
    if (entry != NO_ENTRY) {
        uint32_t first = entry, previous;
        int32_t steps = 0;
        for (; steps < before && (previous = *before_of(index, first)) != NO_ENTRY; steps++)
            first = previous;
        for (; first != NO_ENTRY && steps >= -after; steps--, first = *after_of(index, first))
            message_ids[count++] = message_of(index, first);
    }
    pthread_rwlock_unlock(&index->lock);
    return count;
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

int ct_index_query_make(const ct_index *index, const float *vector, ct_index_query *out,
                        ct_error *error) {
    int16_t *values = ct_alloc_aligned(index->padded * sizeof *values);
    if (!values) return ct_fail_nomem(error);
    float largest = 0;
    for (int32_t i = 0; i < index->dimension; i++) largest = fmaxf(largest, fabsf(vector[i]));
    out->scale = largest > 0 ? largest / CT_QUERY_MAX : 1;
    for (int32_t i = 0; i < index->dimension; i++) values[i] = (int16_t)lrintf(vector[i] / out->scale);
    out->values = values;
    return CT_OK;
}

void ct_index_query_free(ct_index_query *query) {
    ct_free(query->values);
    query->values = NULL;
}

static double score_entry(const ct_index *index, const ct_kernels *kernels, const ct_index_query *query,
                          const block *b, size_t i) {
    int32_t product = kernels->dot(query->values, b->codes + i * index->padded, index->padded);
    return (double)product * (double)(query->scale * b->scale[i]);
}

int ct_index_score(ct_index *index, const ct_index_query *query, int64_t message_id, double *score) {
    const ct_kernels *kernels = ct_simd();
    pthread_rwlock_rdlock(&index->lock);
    uint32_t entry = ct_id_map_get(&index->latest, message_id, NO_ENTRY);
    int found = entry != NO_ENTRY;
    double best = -1;
    while (entry != NO_ENTRY) {
        const block *b = index->blocks[entry / BLOCK_ENTRIES];
        double value = score_entry(index, kernels, query, b, entry % BLOCK_ENTRIES);
        if (value > best) best = value;
        entry = b->earlier[entry % BLOCK_ENTRIES];
    }
    pthread_rwlock_unlock(&index->lock);
    if (found) *score = best;
    return found;
}

void ct_index_search(ct_index *index, const ct_index_query *query, const ct_index_filter *filter,
                     ct_dense_hit *hits, size_t capacity, size_t *count) {
    const ct_kernels *kernels = ct_simd();
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
            ct_dense_hit hit = {current->message_id[i],
                                score_entry(index, kernels, query, current, i)};
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
}
