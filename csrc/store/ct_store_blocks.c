/* What the store says of the blocks of codes in the file beside it, and what it hands over to them. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

const char *ct_store_codes_path(const ct_store *store) { return store->codes_path; }

/* Sums of what is in range cannot overflow. */
#define LARGEST ((int64_t)1 << 50)

static int is_in_range(int64_t value) { return value >= 0 && value < LARGEST; }

static int add_row(ct_block_rows *to, const ct_connection *reader, sqlite3_stmt *statement, ct_error *error) {
    if (!is_in_range(sqlite3_column_int64(statement, 0)) || !is_in_range(sqlite3_column_int64(statement, 1)) ||
        !is_in_range(sqlite3_column_int64(statement, 2)))
        return ct_fail(error, CT_CORRUPT, "%s is damaged: block %lld of its codes is nowhere", reader->file,
                       (long long)sqlite3_column_int64(statement, 0));
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        ct_block_row *grown = ct_realloc(to->list, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        to->list = grown;
        to->capacity = capacity;
    }
    to->list[to->count++] = (ct_block_row){
        .place = sqlite3_column_int64(statement, 0),
        .start = sqlite3_column_int64(statement, 1),
        .bytes = sqlite3_column_int64(statement, 2),
        .hash = (uint64_t)sqlite3_column_int64(statement, 3),
    };
    return CT_OK;
}

int ct_store_get_blocks(ct_store *store, int64_t from, ct_block_rows *out, ct_error *error) {
    ct_connection *reader;
    *out = (ct_block_rows){0};
    int status = ct_reader_take(store, &reader, error), code = SQLITE_DONE;
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_BLOCK_LIST, error);
    if (statement) sqlite3_bind_int64(statement, 1, from);
    else status = error->status;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) status = add_row(out, reader, statement, error);
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading where codes are", error);
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    if (status) ct_block_rows_free(out);
    return status;
}

void ct_block_rows_free(ct_block_rows *rows) {
    ct_free(rows->list);
    *rows = (ct_block_rows){0};
}

/* ---- handing over -------------------------------------------------------------------------- */

typedef struct token_run {
    uint64_t *codes;
    size_t words;
    size_t capacity;
} token_run;

static int append(token_run *run, const void *codes, size_t bytes, ct_error *error) {
    size_t words = bytes / sizeof *run->codes;
    if (run->words + words > run->capacity) {
        size_t capacity = 2 * (run->words + words);
        uint64_t *grown = ct_realloc(run->codes, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        run->codes = grown;
        run->capacity = capacity;
    }
    if (words) memcpy(run->codes + run->words, codes, bytes);
    run->words += words;
    return CT_OK;
}

static int read_run(ct_connection *reader, const int64_t *chunk_ids, size_t count, size_t code_words,
                    token_run *run, uint32_t *counts, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_BLOCK_TOKENS, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, chunk_ids[0]);
    sqlite3_bind_int64(statement, 2, chunk_ids[count - 1]);
    int status = CT_OK, code = SQLITE_DONE;
    size_t i = 0;
    while (!status && i < count && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        size_t bytes = (size_t)sqlite3_column_bytes(statement, 1);
        if (sqlite3_column_int64(statement, 0) < chunk_ids[i]) continue; /* of no chunk */
        if (sqlite3_column_int64(statement, 0) > chunk_ids[i] || bytes % (code_words * sizeof *run->codes)) break;
        counts[i++] = (uint32_t)(bytes / (code_words * sizeof *run->codes));
        status = append(run, sqlite3_column_blob(statement, 1), bytes, error);
    }
    if (!status && i < count)
        status = code == SQLITE_ROW || code == SQLITE_DONE ? CT_NOT_FOUND
                                                           : ct_sql_fail(reader, code, "reading token codes", error);
    sqlite3_reset(statement);
    return status;
}

int ct_store_read_block(ct_store *store, const int64_t *chunk_ids, size_t count, size_t code_words,
                        uint64_t **codes, uint32_t *counts, ct_error *error) {
    token_run run = {0};
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = read_run(reader, chunk_ids, count, code_words, &run, counts, error);
    ct_reader_give(store, reader);
    if (status) ct_free(run.codes);
    else *codes = run.codes;
    return status;
}

/* Run a statement whose parameters are up to four numbers. */
static int run(ct_connection *connection, ct_statement which, const int64_t *numbers, int count, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    if (!statement) return error->status;
    for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 1, numbers[i]);
    return ct_sql_do(connection, statement, "noting where codes are", error);
}

int ct_store_put_block(ct_store *store, const ct_block_row *row, const int64_t *chunk_ids, size_t count,
                       ct_error *error) {
    ct_connection *connection = &store->deriver;
    const int64_t values[] = {row->place, row->start, row->bytes, (int64_t)row->hash};
    const int64_t range[] = {chunk_ids[0], chunk_ids[count - 1]};
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(connection, error);
    if (!status) {
        status = run(connection, CT_SQL_BLOCK_PUT, values, 4, error);
        if (!status && sqlite3_changes(connection->db) == 0)
            status = ct_fail(error, CT_CONFLICT, "block %lld is there already", (long long)row->place);
        if (!status) status = run(connection, CT_SQL_TOKENS_DROP, range, 2, error);
        status = ct_sql_end(connection, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}

int ct_store_drop_block(ct_store *store, const ct_block_row *row, const int64_t *chunk_ids, size_t count,
                        ct_error *error) {
    ct_connection *connection = &store->deriver;
    const int64_t values[] = {row->place, row->start, (int64_t)row->hash};
    const int64_t range[] = {chunk_ids[0], chunk_ids[count - 1]};
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(connection, error);
    if (!status) {
        status = run(connection, CT_SQL_BLOCK_DROP, values, 3, error);
        if (!status && sqlite3_changes(connection->db) > 0)
            status = run(connection, CT_SQL_AGAIN_ADD, range, 2, error);
        status = ct_sql_end(connection, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}
