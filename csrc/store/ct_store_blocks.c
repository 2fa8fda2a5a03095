/* What is said of the blocks of codes in the file beside the store. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

const char *ct_store_codes_path(const ct_store *store) { return store->codes_path; }

static int add_row(ct_store_blocks *to, sqlite3_stmt *statement, ct_error *error) {
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        uint64_t *grown = ct_realloc(to->hashes, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        to->hashes = grown;
        to->capacity = capacity;
    }
    to->hashes[to->count++] = (uint64_t)sqlite3_column_int64(statement, 1);
    return CT_OK;
}

int ct_store_get_blocks(ct_store *store, ct_store_blocks *out, ct_error *error) {
    ct_connection *reader;
    *out = (ct_store_blocks){0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_BLOCK_LIST, error);
    int code = SQLITE_ROW;
    if (!statement) status = error->status;
    /* A gap ends the list: what is behind it does not follow on. */
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW &&
           sqlite3_column_int64(statement, 0) == (int64_t)out->count)
        status = add_row(out, statement, error);
    if (!status && code != SQLITE_ROW && code != SQLITE_DONE)
        status = ct_sql_fail(reader, code, "reading what is known of the codes", error);
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    if (status) ct_store_blocks_free(out);
    return status;
}

void ct_store_blocks_free(ct_store_blocks *blocks) {
    ct_free(blocks->hashes);
    *blocks = (ct_store_blocks){0};
}

int ct_store_put_block(ct_store *store, size_t place, uint64_t hash, ct_error *error) {
    pthread_mutex_lock(&store->write_mutex);
    ct_connection *connection = &store->deriver;
    int status = ct_sql_begin(connection, error);
    if (!status) {
        sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_BLOCK_PUT, error);
        if (statement) {
            sqlite3_bind_int64(statement, 1, (int64_t)place);
            sqlite3_bind_int64(statement, 2, (int64_t)hash);
            status = ct_sql_do(connection, statement, "noting a block of codes", error);
        } else {
            status = error->status;
        }
        status = ct_sql_end(connection, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}
