#include "index/ct_index.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_hash.h"
#include "index/ct_index_parts.h"
#include "simd/ct_simd.h"

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
    for (size_t i = 0; i < index->block_count; i++) ct_block_free(index->blocks[i]);
    ct_free(index->blocks);
    ct_id_map_free(&index->latest);
    ct_id_map_free(&index->sessions);
    ct_free(index->lists);
    pthread_rwlock_destroy(&index->lock);
    ct_free(index);
}

/* ---- order in a session -------------------------------------------------------------------- */

/* The list of a session, made when it is new; NULL when memory is short. */
static ct_session_list *session_of(ct_index *index, int64_t session_id) {
    uint32_t place = ct_id_map_get(&index->sessions, session_id, CT_NO_ENTRY);
    if (place != CT_NO_ENTRY) return &index->lists[place];
    if (index->list_count == index->list_capacity) {
        size_t capacity = index->list_capacity ? index->list_capacity * 2 : 16;
        ct_session_list *lists = ct_realloc(index->lists, capacity * sizeof *lists);
        if (!lists) return NULL;
        index->lists = lists;
        index->list_capacity = capacity;
    }
    if (ct_id_map_put(&index->sessions, session_id, (uint32_t)index->list_count)) return NULL;
    ct_session_list *list = &index->lists[index->list_count++];
    *list = (ct_session_list){session_id, CT_NO_ENTRY, CT_NO_ENTRY};
    return list;
}

static void join(const ct_index *index, ct_session_list *list, uint32_t before, uint32_t entry,
                 uint32_t after) {
    *ct_index_before(index, entry) = before;
    *ct_index_after(index, entry) = after;
    if (before != CT_NO_ENTRY) *ct_index_after(index, before) = entry;
    if (after != CT_NO_ENTRY) *ct_index_before(index, after) = entry;
    else list->newest = entry;
}

/* Put a message at its place that is not in the list yet. */
static void insert_message(const ct_index *index, ct_session_list *list, uint32_t entry) {
    int64_t id = ct_index_message_id(index, entry);
    uint32_t before = list->newest, after = CT_NO_ENTRY, touched = list->touched;
    if (before != CT_NO_ENTRY && ct_index_message_id(index, before) > id) {
        list->touched = entry;
        if (touched != CT_NO_ENTRY &&
            llabs(ct_index_message_id(index, touched) - id) < ct_index_message_id(index, before) - id)
            before = touched;
        after = *ct_index_after(index, before);
        while (before != CT_NO_ENTRY && ct_index_message_id(index, before) > id) {
            after = before;
            before = *ct_index_before(index, before);
        }
        while (after != CT_NO_ENTRY && ct_index_message_id(index, after) < id) { /* from `touched` on */
            before = after;
            after = *ct_index_after(index, after);
        }
    }
    join(index, list, before, entry, after);
}

/* A message's later chunk stands for it from now on. */
static void replace_entry(const ct_index *index, ct_session_list *list, uint32_t earlier, uint32_t entry) {
    if (list->touched == earlier) list->touched = entry;
    join(index, list, *ct_index_before(index, earlier), entry, *ct_index_after(index, earlier));
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A new block behind the others, the one given or an empty one; -1 when memory is short. */
static int append_block(ct_index *index, ct_block *block) {
    if (index->block_count == index->block_capacity) {
        size_t capacity = index->block_capacity ? index->block_capacity * 2 : 16;
        ct_block **blocks = ct_realloc(index->blocks, capacity * sizeof *blocks);
        if (!blocks) return -1;
        index->blocks = blocks;
        index->block_capacity = capacity;
    }
    if (!block && !(block = ct_block_new(index->padded, 0))) return -1;
    index->blocks[index->block_count++] = block;
    return 0;
}

/* Count in the next entry, whose row stands in its block. */
static int link_entry(ct_index *index, ct_error *error) {
    uint32_t entry = (uint32_t)index->count, earlier;
    ct_block *block = ct_index_block(index, entry);
    size_t at = entry % CT_BLOCK_ENTRIES;
    if (block->message_id[at] < 1 || block->session_id[at] < 1) /* the maps hold no others */
        return ct_fail(error, CT_CORRUPT,
                       "the store is damaged: embedding %lld is of message %lld in session %lld",
                       (long long)block->chunk_id[at], (long long)block->message_id[at],
                       (long long)block->session_id[at]);
    if (!(block->scale[at] >= 0 && block->scale[at] <= 1)) /* of unit vectors; also NaN */
        return ct_fail(error, CT_CORRUPT, "the store is damaged: embedding %lld is of no unit vector",
                       (long long)block->chunk_id[at]);
    ct_session_list *list = session_of(index, block->session_id[at]);
    if (!list || ct_id_map_exchange(&index->latest, block->message_id[at], entry, CT_NO_ENTRY, &earlier))
        return ct_fail_nomem(error);
    block->earlier[at] = earlier;
    block->is_part[at] = earlier != CT_NO_ENTRY;
    if (earlier == CT_NO_ENTRY) {
        insert_message(index, list, entry);
    } else {
        ct_index_block(index, earlier)->is_part[earlier % CT_BLOCK_ENTRIES] = 1;
        replace_entry(index, list, earlier, entry);
    }
    index->count++;
    index->last_chunk = block->chunk_id[at];
    return CT_OK;
}

static int check_room(const ct_index *index, ct_error *error) {
    if (index->count < CT_NO_ENTRY) return CT_OK;
    return ct_fail(error, CT_INTERNAL, "the index holds %zu chunks and cannot grow", index->count);
}

int ct_index_add(ct_index *index, const ct_index_entry *entry, ct_error *error) {
    int status = CT_OK;
    pthread_rwlock_wrlock(&index->lock);
    if (entry->chunk_id <= index->last_chunk) goto done; /* another thread brought it in */
    status = check_room(index, error);
    if (!status && index->count == index->block_count * CT_BLOCK_ENTRIES && append_block(index, NULL))
        status = ct_fail_nomem(error);
    if (status) goto done;
    ct_block *last = ct_index_block(index, (uint32_t)index->count);
    size_t at = index->count % CT_BLOCK_ENTRIES;
    memcpy(&last->scale[at], entry->code, sizeof(float));
    memset(last->codes + at * index->padded, 0, index->padded);
    memcpy(last->codes + at * index->padded, entry->code + sizeof(float), (size_t)index->dimension);
    last->chunk_id[at] = entry->chunk_id;
    last->message_id[at] = entry->message_id;
    last->session_id[at] = entry->session_id;
    last->role_id[at] = entry->role_id;
    last->time_ms[at] = entry->time_ms;
    ct_block_set_signs(last, at, index->padded);
    status = link_entry(index, error);
done:
    pthread_rwlock_unlock(&index->lock);
    return status;
}

int ct_index_reserve(ct_index *index, size_t chunks, ct_error *error) {
    pthread_rwlock_wrlock(&index->lock);
    int failed = ct_id_map_reserve(&index->latest, chunks);
    pthread_rwlock_unlock(&index->lock);
    return failed ? ct_fail_nomem(error) : CT_OK;
}

int ct_index_add_block(ct_index *index, ct_block *block, ct_error *error) {
    pthread_rwlock_wrlock(&index->lock);
    int status = check_room(index, error);
    if (!status && (index->count != index->block_count * CT_BLOCK_ENTRIES ||
                    block->chunk_id[0] <= index->last_chunk))
        status = ct_fail(error, CT_INTERNAL, "index: a block does not follow on entry %zu", index->count);
    if (!status && append_block(index, block)) status = ct_fail_nomem(error);
    if (status) ct_block_free(block);
    for (size_t i = 0; !status && i < CT_BLOCK_ENTRIES; i++) {
        if (i && block->chunk_id[i] <= block->chunk_id[i - 1])
            status = ct_fail(error, CT_CORRUPT, "index: chunks of a block are not in order");
        else
            status = link_entry(index, error);
    }
    pthread_rwlock_unlock(&index->lock);
    return status;
}

ct_block *ct_index_full_block(ct_index *index, size_t place) {
    pthread_rwlock_rdlock(&index->lock);
    ct_block *block = place < index->count / CT_BLOCK_ENTRIES ? index->blocks[place] : NULL;
    pthread_rwlock_unlock(&index->lock);
    return block;
}

void ct_index_set_tokens_at(ct_index *index, size_t place, int64_t at) {
    pthread_rwlock_wrlock(&index->lock);
    index->blocks[place]->tokens_at = at;
    index->moves++;
    pthread_rwlock_unlock(&index->lock);
}

int64_t ct_index_tokens_at(ct_index *index, size_t place) {
    pthread_rwlock_rdlock(&index->lock);
    int64_t at = index->blocks[place]->tokens_at;
    pthread_rwlock_unlock(&index->lock);
    return at;
}

int64_t ct_index_moves(ct_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    int64_t moves = index->moves;
    pthread_rwlock_unlock(&index->lock);
    return moves;
}

/* ---- what there is ------------------------------------------------------------------------- */

size_t ct_index_padded(const ct_index *index) { return index->padded; }

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

size_t ct_index_entries_through(const ct_index *index, int64_t chunk_id) {
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->blocks[middle / CT_BLOCK_ENTRIES]->chunk_id[middle % CT_BLOCK_ENTRIES] <= chunk_id) low = middle + 1;
        else high = middle;
    }
    return low;
}

void ct_index_vectors(ct_index *index, int64_t after, size_t capacity, int64_t *chunk_ids, float *vectors,
                      size_t *count) {
    size_t dimension = (size_t)index->dimension, done = 0;
    pthread_rwlock_rdlock(&index->lock);
    size_t entry = ct_index_entries_through(index, after);
    for (; done < capacity && entry < index->count; done++, entry++) {
        const ct_block *block = ct_index_block(index, (uint32_t)entry);
        size_t at = entry % CT_BLOCK_ENTRIES;
        const int8_t *code = block->codes + at * index->padded;
        chunk_ids[done] = block->chunk_id[at];
        for (size_t d = 0; d < dimension; d++) vectors[done * dimension + d] = (float)code[d] * block->scale[at];
    }
    pthread_rwlock_unlock(&index->lock);
    *count = done;
}

void ct_index_mark(ct_index *index, int64_t through, size_t *count, uint64_t *hash) {
    uint64_t sum = 0;
    pthread_rwlock_rdlock(&index->lock);
    size_t entries = ct_index_entries_through(index, through);
    pthread_rwlock_unlock(&index->lock);
    /* Entries do not change; the list of blocks may. */
    for (size_t first = 0; hash && first < entries; first += CT_BLOCK_ENTRIES) {
        pthread_rwlock_rdlock(&index->lock);
        const ct_block *block = ct_index_block(index, (uint32_t)first);
        pthread_rwlock_unlock(&index->lock);
        size_t some = entries - first < CT_BLOCK_ENTRIES ? entries - first : CT_BLOCK_ENTRIES;
        sum = ct_hash(block->chunk_id, some * sizeof *block->chunk_id, sum);
        sum = ct_hash(block->scale, some * sizeof *block->scale, sum);
        sum = ct_hash(block->codes, some * index->padded, sum);
    }
    *count = entries;
    if (hash) *hash = sum;
}

size_t ct_index_bytes(ct_index *index) {
    pthread_rwlock_rdlock(&index->lock);
    size_t bytes = sizeof *index + index->block_capacity * sizeof *index->blocks +
                   index->block_count * ct_block_bytes(index->padded) + ct_id_map_bytes(&index->latest) +
                   ct_id_map_bytes(&index->sessions) + index->list_capacity * sizeof *index->lists;
    pthread_rwlock_unlock(&index->lock);
    return bytes;
}

/* ---- consistency --------------------------------------------------------------------------- */

static int validate_entries(const ct_index *index, ct_error *error) {
    int64_t last_chunk = 0;
    for (uint32_t i = 0; i < index->count; i++) {
        const ct_block *block = ct_index_block(index, i);
        size_t at = i % CT_BLOCK_ENTRIES;
        if (block->message_id[at] < 1 || !isfinite(block->scale[at]) || block->scale[at] < 0 ||
            block->chunk_id[at] <= last_chunk)
            return ct_fail(error, CT_INTERNAL, "index: entry %u is damaged", i);
        last_chunk = block->chunk_id[at];
        uint32_t earlier = block->earlier[at];
        if (earlier != CT_NO_ENTRY &&
            (earlier >= i || ct_index_message_id(index, earlier) != block->message_id[at] ||
             !block->is_part[at] || !ct_index_block(index, earlier)->is_part[earlier % CT_BLOCK_ENTRIES]))
            return ct_fail(error, CT_INTERNAL, "index: entry %u points to a wrong one", i);
        for (size_t d = (size_t)index->dimension; d < index->padded; d++)
            if (block->codes[at * index->padded + d])
                return ct_fail(error, CT_INTERNAL, "index: padding of entry %u is not zero", i);
    }
    return CT_OK;
}

/* Each message's last chunk stands in the list of its session, in order; nothing else does. */
static int validate_lists(const ct_index *index, ct_error *error) {
    size_t listed = 0;
    for (size_t l = 0; l < index->list_count; l++) {
        uint32_t after = CT_NO_ENTRY;
        uint32_t entry = index->lists[l].newest;
        for (; entry != CT_NO_ENTRY; after = entry, entry = *ct_index_before(index, entry)) {
            int64_t id = ct_index_message_id(index, entry);
            int64_t session = ct_index_block(index, entry)->session_id[entry % CT_BLOCK_ENTRIES];
            if (listed++ == index->latest.count || *ct_index_after(index, entry) != after ||
                (after != CT_NO_ENTRY && ct_index_message_id(index, after) <= id) ||
                ct_id_map_get(&index->latest, id, CT_NO_ENTRY) != entry ||
                ct_id_map_get(&index->sessions, session, CT_NO_ENTRY) != l)
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
    pthread_rwlock_rdlock(&index->lock);
    int status = CT_OK;
    /* One block may stand empty: memory for its first entry's place in the map ran out. */
    size_t needed = (index->count + CT_BLOCK_ENTRIES - 1) / CT_BLOCK_ENTRIES;
    if (index->block_count < needed || index->block_count > needed + 1)
        status = ct_fail(error, CT_INTERNAL, "index: %zu blocks for %zu entries", index->block_count,
                         index->count);
    if (!status) status = validate_entries(index, error);
    if (!status) status = validate_lists(index, error);
    pthread_rwlock_unlock(&index->lock);
    return status;
}
