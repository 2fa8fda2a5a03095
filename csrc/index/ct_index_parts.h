/* What the files of the index share. */
#ifndef CT_INDEX_PARTS_H
#define CT_INDEX_PARTS_H

#include <pthread.h>

#include "index/ct_block.h"
#include "index/ct_id_map.h"
#include "index/ct_index.h"

/* A session's messages are a list in order of their ids.  The backlog is embedded newest first, so a
 * message belongs at the end or close to the one that came last, which is where places are looked
 * for. */
typedef struct ct_session_list {
    int64_t session_id;
    uint32_t newest;
    uint32_t touched; /* where the last message was put that was not the newest */
} ct_session_list;

struct ct_index {
    pthread_rwlock_t lock;
    int32_t dimension;
    size_t padded;
    ct_block **blocks; /* growth is cheap: codes never move */
    size_t block_count;
    size_t block_capacity;
    size_t count;
    int64_t last_chunk;
    int64_t moves;
    ct_id_map latest;   /* message id to the entry of its last chunk */
    ct_id_map sessions; /* session id to its place in lists */
    ct_session_list *lists;
    size_t list_count;
    size_t list_capacity;
};

static inline ct_block *ct_index_block(const ct_index *index, uint32_t entry) {
    return index->blocks[entry / CT_BLOCK_ENTRIES];
}

static inline uint32_t *ct_index_before(const ct_index *index, uint32_t entry) {
    return &ct_index_block(index, entry)->before[entry % CT_BLOCK_ENTRIES];
}

static inline uint32_t *ct_index_after(const ct_index *index, uint32_t entry) {
    return &ct_index_block(index, entry)->after[entry % CT_BLOCK_ENTRIES];
}

static inline uint32_t ct_index_earlier(const ct_index *index, uint32_t entry) {
    return ct_index_block(index, entry)->earlier[entry % CT_BLOCK_ENTRIES];
}

/* How many entries are of chunks up to this id.  Under the lock. */
size_t ct_index_entries_through(const ct_index *index, int64_t chunk_id);

static inline int64_t ct_index_message_id(const ct_index *index, uint32_t entry) {
    return ct_index_block(index, entry)->message_id[entry % CT_BLOCK_ENTRIES];
}

#endif
