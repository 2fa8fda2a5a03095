/* The embedding backlog and what comes of it. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_sql.h"

int ct_store_next_pending(ct_store *store, ct_pending *out, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_PENDING_NEXT, error);
    int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (!statement) {
        status = error->status;
    } else if (code == SQLITE_ROW) {
        ct_pending pending = {
            .message_id = sqlite3_column_int64(statement, 0),
            .next_chunk = sqlite3_column_int64(statement, 1),
        };
        const char *role = (const char *)sqlite3_column_text(statement, 2);
        const char *text = (const char *)sqlite3_column_text(statement, 3);
        pending.text_bytes = (size_t)sqlite3_column_bytes(statement, 3);
        pending.role = ct_copy_string(role ? role : "");
        pending.text = ct_copy(text ? text : "", pending.text_bytes);
        if (pending.role && pending.text) *out = pending;
        else {
            ct_pending_free(&pending);
            status = ct_fail_nomem(error);
        }
    } else if (code == SQLITE_DONE) {
        status = CT_NOT_FOUND;
    } else {
        status = ct_sql_fail(reader, code, "reading the backlog", error);
    }
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    return status;
}

void ct_pending_free(ct_pending *pending) {
    ct_free(pending->role);
    ct_free(pending->text);
    pending->role = pending->text = NULL;
}

static int put_one(ct_connection *connection, int64_t message_id, int64_t seq, const unsigned char *code,
                   size_t code_bytes, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_CHUNK_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    sqlite3_bind_int64(statement, 2, seq);
    sqlite3_bind_blob64(statement, 3, code, code_bytes, SQLITE_STATIC);
    return ct_sql_do(connection, statement, "storing an embedding", error);
}

static int update_pending(ct_connection *connection, ct_statement which, int64_t message_id,
                          int64_t next_chunk, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    if (which == CT_SQL_PENDING_MOVE) sqlite3_bind_int64(statement, 2, next_chunk);
    return ct_sql_do(connection, statement, "updating the backlog", error);
}

int ct_store_put_chunks(ct_store *store, int64_t message_id, int64_t first_chunk, size_t count,
                        const unsigned char *codes, size_t code_bytes, int done, ct_error *error) {
    ct_connection *connection = &store->deriver;
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(connection, error);
    if (!status) {
        for (size_t i = 0; !status && i < count; i++)
            status = put_one(connection, message_id, first_chunk + (int64_t)i, codes + i * code_bytes,
                             code_bytes, error);
        if (!status)
            status = update_pending(connection, done ? CT_SQL_PENDING_DONE : CT_SQL_PENDING_MOVE,
                                    message_id, first_chunk + (int64_t)count, error);
        status = ct_sql_end(connection, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}

int ct_store_mark_failed(ct_store *store, int64_t message_id, ct_error *error) {
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(&store->deriver, error);
    if (!status) {
        status = update_pending(&store->deriver, CT_SQL_PENDING_FAILED, message_id, 0, error);
        status = ct_sql_end(&store->deriver, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}

static int read_one(ct_store *store, ct_statement which, int64_t *value, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, which, error);
    if (!statement) {
        status = error->status;
    } else {
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) *value = sqlite3_column_int64(statement, 0);
        else status = ct_sql_fail(reader, code, "reading the backlog", error);
        sqlite3_reset(statement);
    }
    ct_reader_give(store, reader);
    return status;
}

int ct_store_has_pending(ct_store *store, int *any, ct_error *error) {
    int64_t value = 0;
    int status = read_one(store, CT_SQL_PENDING_ANY, &value, error);
    if (!status) *any = value != 0;
    return status;
}

int ct_store_count_pending(ct_store *store, int64_t *count, ct_error *error) {
    return read_one(store, CT_SQL_PENDING_COUNT, count, error);
}

int ct_store_scan_chunks(ct_store *store, int64_t after, size_t code_bytes,
                         int (*visit)(void *state, const ct_chunk_row *row), void *state,
                         ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_CHUNK_SCAN, error);
    if (!statement) status = error->status;
    else sqlite3_bind_int64(statement, 1, after);
    while (!status) {
        int code = sqlite3_step(statement);
        if (code == SQLITE_DONE) break;
        if (code != SQLITE_ROW) {
            status = ct_sql_fail(reader, code, "reading embeddings", error);
            break;
        }
        ct_chunk_row row = {
            .id = sqlite3_column_int64(statement, 0),
            .message_id = sqlite3_column_int64(statement, 1),
            .session_id = sqlite3_column_int64(statement, 2),
            .role_id = sqlite3_column_int64(statement, 3),
            .time_ms = sqlite3_column_int64(statement, 4),
            .code = sqlite3_column_blob(statement, 5),
        };
        if ((size_t)sqlite3_column_bytes(statement, 5) != code_bytes || !row.code)
            status = ct_fail(error, CT_CORRUPT, "%s is damaged: embedding %lld has the wrong size",
                             reader->file, (long long)row.id);
        else
            status = visit(state, &row);
    }
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    return status;
}
