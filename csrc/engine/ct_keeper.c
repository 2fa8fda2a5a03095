#include "engine/ct_keeper.h"

#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "index/ct_block_file.h"

struct ct_keeper {
    ct_store *store;
    ct_index *index;
    size_t code_bytes;
    pthread_mutex_t mutex; /* one refresh at a time */
    size_t saved;          /* blocks in the file */
    size_t tried;          /* blocks that were full when saving last failed */
};

static int load_blocks(ct_keeper *keeper, ct_error *error) {
    ct_store_blocks blocks;
    ct_block *block = NULL;
    ct_error ignored = {0};
    size_t padded = ct_index_padded(keeper->index);
    int status = ct_store_get_blocks(keeper->store, &blocks, error);
    if (status) return status;
    status = ct_index_reserve(keeper->index, blocks.count * CT_BLOCK_ENTRIES, error);
    while (!status && keeper->saved < blocks.count) {
        status = ct_block_file_read(ct_store_codes_path(keeper->store), keeper->saved, padded,
                                    blocks.hashes[keeper->saved], &block, error);
        if (!status) status = ct_index_add_block(keeper->index, block, &ignored);
        keeper->saved += !status;
    }
    ct_store_blocks_free(&blocks);
    /* The store has it all, and says better what is wrong with it. */
    return status == CT_NOMEM ? ct_fail_nomem(error) : CT_OK;
}

typedef struct loader {
    ct_index *index;
    ct_error *error;
} loader;

static int load_chunk(void *state, const ct_chunk_row *row) {
    const loader *to = state;
    ct_index_entry entry = {row->id,      row->message_id, row->session_id,
                            row->role_id, row->time_ms,    row->code};
    return ct_index_add(to->index, &entry, to->error);
}

int ct_keeper_refresh(ct_keeper *keeper, ct_error *error) {
    loader to = {keeper->index, error};
    pthread_mutex_lock(&keeper->mutex);
    int status = ct_store_scan_chunks(keeper->store, ct_index_last_chunk(keeper->index), keeper->code_bytes,
                                      load_chunk, &to, error);
    pthread_mutex_unlock(&keeper->mutex);
    return status;
}

int ct_keeper_open(ct_store *store, int32_t dimension, ct_index *index, ct_keeper **out, ct_error *error) {
    ct_keeper *keeper = ct_alloc_zero(sizeof *keeper);
    if (!keeper) return ct_fail_nomem(error);
    pthread_mutex_init(&keeper->mutex, NULL);
    keeper->store = store;
    keeper->index = index;
    keeper->code_bytes = ct_code_bytes(dimension);
    int status = load_blocks(keeper, error);
    if (!status) status = ct_keeper_refresh(keeper, error);
    if (status) ct_keeper_free(keeper);
    else *out = keeper;
    return status;
}

void ct_keeper_free(ct_keeper *keeper) {
    if (!keeper) return;
    pthread_mutex_destroy(&keeper->mutex);
    ct_free(keeper);
}

void ct_keeper_save(ct_keeper *keeper) {
    const ct_block *block;
    ct_error error = {0};
    if (ct_keeper_refresh(keeper, &error)) return;
    size_t full = ct_index_count(keeper->index) / CT_BLOCK_ENTRIES, padded = ct_index_padded(keeper->index);
    if (full <= keeper->tried) return;
    keeper->tried = full;
    /* Its hash comes after the block: what a crash leaves of a block has no hash. */
    while ((block = ct_index_full_block(keeper->index, keeper->saved)) &&
           !ct_block_file_write(ct_store_codes_path(keeper->store), keeper->saved, block, padded, &error) &&
           !ct_store_put_block(keeper->store, keeper->saved, ct_block_hash(block, padded), &error))
        keeper->saved++;
}
