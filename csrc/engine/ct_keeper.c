#include "engine/ct_keeper.h"

#include <pthread.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "engine/ct_block_reader.h"

struct ct_keeper {
    ct_store *store;
    ct_index *index;
    ct_code_file *file;
    size_t code_bytes;
    size_t code_words; /* of a token */
    pthread_mutex_t mutex; /* one refresh at a time; guards the next two */
    int64_t known;         /* blocks before this place were looked for in the file */
    ct_block_rows lost;    /* not in the file as they should be; to be dropped by whoever saves */
    size_t failed_at;      /* blocks that were full when writing failed */
};

typedef struct loader {
    ct_index *index;
    size_t left; /* chunks that may be added still */
    ct_error *error;
} loader;

/* What ends a scan when no more chunks are wanted. */
#define ENOUGH (-1)

static int load_chunk(void *state, const ct_chunk_row *row) {
    loader *to = state;
    if (!to->left) return ENOUGH;
    to->left--;
    ct_index_entry entry = {row->id,      row->message_id, row->session_id,
                            row->role_id, row->time_ms,    row->code};
    return ct_index_add(to->index, &entry, to->error);
}

/* Add chunks that the store has and the index has not. */
static int load_from_store(const ct_keeper *keeper, size_t most, ct_error *error) {
    loader to = {keeper->index, most, error};
    int status = ct_store_scan_chunks(keeper->store, ct_index_last_chunk(keeper->index), keeper->code_bytes,
                                      load_chunk, &to, error);
    return status == ENOUGH ? CT_OK : status;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int add_lost(ct_keeper *keeper, const ct_block_row *row, ct_error *error) {
    ct_block_rows *lost = &keeper->lost;
    for (size_t i = 0; i < lost->count; i++)
        if (lost->list[i].place == row->place && lost->list[i].start == row->start) return CT_OK;
    if (lost->count == lost->capacity) {
        size_t capacity = lost->capacity ? 2 * lost->capacity : 16;
        ct_block_row *grown = ct_realloc(lost->list, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        lost->list = grown;
        lost->capacity = capacity;
    }
    lost->list[lost->count++] = *row;
    return CT_OK;
}

/* Room for what the blocks hold, were the store as large as they say; without it the index grows by and by. */
static void reserve(const ct_keeper *keeper, size_t blocks) {
    ct_error ignored = {0};
    int64_t first, last, chunks;
    if (ct_store_pending_bounds(keeper->store, &first, &last, &chunks, &ignored)) return;
    if (chunks > 0 && blocks <= (size_t)chunks / CT_BLOCK_ENTRIES)
        ct_index_reserve(keeper->index, blocks * CT_BLOCK_ENTRIES, &ignored);
}

/* Blocks come in their order: of one that is not in the file the store has the vectors. */
static int load_blocks(ct_keeper *keeper, const ct_block_rows *rows, ct_error *error) {
    ct_block_reader reader;
    int status = CT_OK;
    reserve(keeper, rows->count);
    ct_block_reader_begin(&reader, keeper->file, ct_index_padded(keeper->index), rows);
    for (size_t i = 0; !status && i < rows->count;) {
        const ct_block_row *row = &rows->list[i];
        size_t place = ct_index_count(keeper->index) / CT_BLOCK_ENTRIES;
        ct_block *block = NULL;
        int found = CT_IO;
        if (row->place <= (int64_t)place) i++;
        if (row->place < (int64_t)place) continue;
        ct_error why = {0};
        if (row->place == (int64_t)place) found = ct_block_reader_take(&reader, i - 1, &block);
        if (!found) found = ct_index_add_block(keeper->index, block, &why);
        if (found == CT_NOMEM) status = ct_fail_nomem(error);
        if (found == CT_NOT_FOUND) status = add_lost(keeper, row, error);
        if (!status && found) {
            size_t missing = CT_BLOCK_ENTRIES - ct_index_count(keeper->index) % CT_BLOCK_ENTRIES;
            status = load_from_store(keeper, missing, error);
            if (ct_index_count(keeper->index) / CT_BLOCK_ENTRIES == place) break; /* there are no more */
        }
    }
    ct_block_reader_end(&reader);
    return status;
}

int ct_keeper_open(ct_store *store, const ct_encoder *encoder, ct_index *index, ct_keeper **out,
                   ct_error *error) {
    ct_keeper *keeper = ct_alloc_zero(sizeof *keeper);
    if (!keeper) return ct_fail_nomem(error);
    pthread_mutex_init(&keeper->mutex, NULL);
    keeper->store = store;
    keeper->index = index;
    keeper->code_bytes = ct_code_bytes(ct_encoder_dimension(encoder));
    keeper->code_words = (size_t)ct_encoder_code_bits(encoder) / 64;
    ct_block_rows rows = {0};
    int status = ct_code_file_open(ct_store_codes_path(store), &keeper->file, error);
    if (!status) status = ct_store_get_blocks(store, INT64_MIN, &rows, error);
    if (!status) status = load_blocks(keeper, &rows, error);
    if (!status) status = load_from_store(keeper, SIZE_MAX, error);
    if (!status && rows.count) keeper->known = rows.list[rows.count - 1].place + 1;
    ct_block_rows_free(&rows);
    if (status) ct_keeper_free(keeper);
    else *out = keeper;
    return status;
}

void ct_keeper_free(ct_keeper *keeper) {
    if (!keeper) return;
    ct_block_rows_free(&keeper->lost);
    ct_code_file_close(keeper->file);
    pthread_mutex_destroy(&keeper->mutex);
    ct_free(keeper);
}

ct_code_file *ct_keeper_file(const ct_keeper *keeper) { return keeper->file; }

/* ---- keeping up ---------------------------------------------------------------------------- */

/* Another process has put a block into the file: learn where its codes of tokens are. */
static int adopt(ct_keeper *keeper, const ct_block_row *row, ct_error *error) {
    ct_block *known = row->place < 0 ? NULL : ct_index_full_block(keeper->index, (size_t)row->place), *block;
    if (!known || ct_index_tokens_at(keeper->index, (size_t)row->place) >= 0) return CT_OK;
    int status = ct_code_file_read(keeper->file, row->start, ct_index_padded(keeper->index), row->hash, &block, error);
    if (status == CT_NOT_FOUND) return add_lost(keeper, row, error);
    if (status) return status == CT_NOMEM ? CT_NOMEM : CT_OK;
    if (memcmp(known->chunk_id, block->chunk_id, CT_BLOCK_ENTRIES * sizeof *block->chunk_id) == 0) {
        memcpy(known->token_end, block->token_end, CT_BLOCK_ENTRIES * sizeof *block->token_end);
        memcpy(known->token_hash, block->token_hash, CT_BLOCK_ENTRIES * sizeof *block->token_hash);
        ct_index_set_tokens_at(keeper->index, (size_t)row->place, block->tokens_at);
    }
    ct_block_free(block);
    return CT_OK;
}

/* With the mutex held. */
static int adopt_all(ct_keeper *keeper, ct_error *error) {
    ct_block_rows rows;
    int64_t from = ct_code_file_take_missed(keeper->file) ? 0 : keeper->known;
    int status = ct_store_get_blocks(keeper->store, from, &rows, error);
    for (size_t i = 0; !status && i < rows.count; i++) {
        status = adopt(keeper, &rows.list[i], error);
        if (!status && rows.list[i].place >= keeper->known) keeper->known = rows.list[i].place + 1;
    }
    ct_block_rows_free(&rows);
    return status;
}

int ct_keeper_refresh(ct_keeper *keeper, ct_error *error) {
    pthread_mutex_lock(&keeper->mutex);
    int status = load_from_store(keeper, SIZE_MAX, error);
    if (!status) status = adopt_all(keeper, error);
    pthread_mutex_unlock(&keeper->mutex);
    return status;
}

/* ---- saving -------------------------------------------------------------------------------- */

static int drop(const ct_keeper *keeper, const ct_block_row *row, ct_error *error) {
    const ct_block *block = ct_index_full_block(keeper->index, (size_t)row->place);
    return block ? ct_store_drop_block(keeper->store, row, block->chunk_id, CT_BLOCK_ENTRIES, error) : CT_OK;
}

static int drop_lost(ct_keeper *keeper) {
    ct_error error = {0};
    pthread_mutex_lock(&keeper->mutex);
    size_t before = keeper->lost.count;
    while (keeper->lost.count && !drop(keeper, &keeper->lost.list[keeper->lost.count - 1], &error))
        keeper->lost.count--;
    int dropped = keeper->lost.count < before;
    pthread_mutex_unlock(&keeper->mutex);
    return dropped;
}

/* A reader met a block whose codes of tokens are not what they were.  Another process may have met them before, and
 * put the block into another place: that one is looked for at the next refresh. */
static int drop_damaged(ct_keeper *keeper) {
    int dropped = 0;
    int64_t place = ct_code_file_take_damaged(keeper->file);
    ct_block_rows rows;
    ct_error error = {0};
    if (place < 0 || ct_store_get_blocks(keeper->store, place, &rows, &error)) return 0;
    int64_t met = ct_index_tokens_at(keeper->index, (size_t)place);
    int64_t data_bytes = (int64_t)ct_block_data_bytes(ct_index_padded(keeper->index));
    int is_there = rows.count && rows.list[0].place == place;
    if (met >= 0 && is_there && rows.list[0].start + data_bytes == met) dropped = !drop(keeper, &rows.list[0], &error);
    else if (is_there) ct_code_file_note_missed(keeper->file);
    if (met >= 0 && (dropped || !is_there || rows.list[0].start + data_bytes != met))
        ct_index_set_tokens_at(keeper->index, (size_t)place, -1);
    ct_block_rows_free(&rows);
    return dropped;
}

static int save_block(ct_keeper *keeper, size_t place, int64_t start, ct_error *error) {
    ct_block *block = ct_index_full_block(keeper->index, place);
    uint32_t counts[CT_BLOCK_ENTRIES] = {0};
    uint64_t *codes = NULL;
    ct_block_row row = {.place = (int64_t)place, .start = start};
    size_t padded = ct_index_padded(keeper->index);
    int status = CT_OK;
    if (keeper->code_words)
        status = ct_store_read_block(keeper->store, block->chunk_id, CT_BLOCK_ENTRIES, keeper->code_words, &codes,
                                     counts, error);
    if (status) return status;
    ct_token_codes tokens = {codes, keeper->code_words};
    ct_block_set_tokens(block, &tokens, counts);
    row.bytes = ct_code_file_bytes(block, padded, tokens.words);
    status = ct_code_file_write(keeper->file, start, block, padded, &tokens, &row.hash, error);
    ct_free(codes);
    if (status) return status;
    /* Nobody adopts it in between. */
    pthread_mutex_lock(&keeper->mutex);
    status = ct_store_put_block(keeper->store, &row, block->chunk_id, CT_BLOCK_ENTRIES, error);
    if (!status) ct_index_set_tokens_at(keeper->index, place, start + (int64_t)ct_block_data_bytes(padded));
    pthread_mutex_unlock(&keeper->mutex);
    return status;
}

static int find_end(const ct_keeper *keeper, int64_t *end, ct_error *error) {
    ct_block_rows rows;
    int status = ct_store_get_blocks(keeper->store, 0, &rows, error);
    *end = 0;
    for (size_t i = 0; !status && i < rows.count; i++)
        if (rows.list[i].start + rows.list[i].bytes > *end) *end = rows.list[i].start + rows.list[i].bytes;
    ct_block_rows_free(&rows);
    return status;
}

/* With the file locked. */
static void save_all(ct_keeper *keeper, size_t full, ct_error *error) {
    int64_t end;
    int status = ct_keeper_refresh(keeper, error);
    for (size_t place = 0; !status && place < full; place++) {
        if (ct_index_tokens_at(keeper->index, place) >= 0) continue;
        status = find_end(keeper, &end, error);
        if (!status) status = save_block(keeper, place, end, error);
        if (status == CT_NOT_FOUND || status == CT_CONFLICT) status = CT_OK; /* made again, or not readable now */
    }
    /* Whoever has the store will be done with it; a disk that is full stays so for a while. */
    keeper->failed_at = status == CT_IO || status == CT_FULL ? full : 0;
}

static int is_all_saved(const ct_keeper *keeper, size_t full) {
    for (size_t place = 0; place < full; place++)
        if (ct_index_tokens_at(keeper->index, place) < 0) return 0;
    return 1;
}

static void save_full(ct_keeper *keeper, ct_error *error) {
    if (ct_keeper_refresh(keeper, error)) return;
    size_t full = ct_index_count(keeper->index) / CT_BLOCK_ENTRIES;
    if (full <= keeper->failed_at || is_all_saved(keeper, full)) return;
    if (ct_code_file_lock(keeper->file, error)) return;
    save_all(keeper, full, error);
    ct_code_file_unlock(keeper->file);
}

int64_t ct_keeper_lost(ct_keeper *keeper) {
    pthread_mutex_lock(&keeper->mutex);
    int64_t lost = (int64_t)keeper->lost.count * CT_BLOCK_ENTRIES;
    pthread_mutex_unlock(&keeper->mutex);
    return lost;
}

int ct_keeper_save(ct_keeper *keeper, ct_error *error) {
    int dropped = drop_lost(keeper) + drop_damaged(keeper);
    save_full(keeper, error);
    return dropped > 0;
}
