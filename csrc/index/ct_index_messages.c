/* What the index knows of single messages. */
#include "index/ct_index_parts.h"

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

size_t ct_index_chunks(ct_index *index, int64_t message_id, int64_t *chunk_ids, size_t capacity) {
    size_t count = 0;
    pthread_rwlock_rdlock(&index->lock);
    uint32_t latest = ct_id_map_get(&index->latest, message_id, CT_NO_ENTRY);
    for (uint32_t e = latest; e != CT_NO_ENTRY; e = ct_index_earlier(index, e)) count++;
    size_t left = count; /* a message's chunks are stored in order, so the latest is the last */
    for (uint32_t e = latest; e != CT_NO_ENTRY; e = ct_index_earlier(index, e))
        if (--left < capacity) chunk_ids[left] = ct_index_block(index, e)->chunk_id[e % CT_BLOCK_ENTRIES];
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
