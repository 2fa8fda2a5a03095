/* Messages out. */
#include <stdio.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_result.h"
#include "store/ct_sql.h"

static int keep_column(ct_result *result, sqlite3_stmt *statement, int column, const char **out) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return ct_result_keep(result, text, (size_t)sqlite3_column_bytes(statement, column), out);
}

/* Add the row that a statement with the columns of CT_SQL_MESSAGE_GET stands on. */
static int keep_row(ct_result *result, sqlite3_stmt *statement, ct_error *error) {
    ct_row *row = ct_result_add(result);
    if (!row) return ct_fail_nomem(error);
    row->id = sqlite3_column_int64(statement, 0);
    row->time_ms = sqlite3_column_int64(statement, 1);
    if (keep_column(result, statement, 2, &row->session) ||
        keep_column(result, statement, 3, &row->role) || keep_column(result, statement, 4, &row->text))
        return ct_fail_nomem(error);
    row->text_bytes = (size_t)sqlite3_column_bytes(statement, 4);
    if (keep_column(result, statement, 5, &row->source) ||
        keep_column(result, statement, 6, &row->metadata) ||
        keep_column(result, statement, 7, &row->uid))
        return ct_fail_nomem(error);
    if (!row->text)
        return ct_fail(error, CT_CORRUPT, "message %lld has no text", (long long)row->id);
    return CT_OK;
}

static int get(ct_store *store, const int64_t *ids, size_t count, int passes_over, ct_result *result, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_MESSAGE_GET, error);
    status = statement ? ct_sql_begin_read(reader, error) : (int)error->status;
    for (size_t i = 0; !status && i < count; i++) {
        sqlite3_bind_int64(statement, 1, ids[i]);
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) status = keep_row(result, statement, error);
        else if (code == SQLITE_DONE && !passes_over)
            status = ct_fail(error, CT_NOT_FOUND, "there is no message %lld", (long long)ids[i]);
        else if (code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading a message", error);
        sqlite3_reset(statement);
    }
    if (statement) status = ct_sql_end(reader, status, error);
    ct_reader_give(store, reader);
    return status;
}

int ct_store_get(ct_store *store, const int64_t *ids, size_t count, ct_result *result, ct_error *error) {
    return get(store, ids, count, 0, result, error);
}

int ct_store_get_present(ct_store *store, const int64_t *ids, size_t count, ct_result *result, ct_error *error) {
    return get(store, ids, count, 1, result, error);
}

int ct_store_latest(ct_store *store, const char *session, int64_t after, size_t capacity, int64_t *ids, size_t *count,
                    ct_error *error) {
    ct_connection *reader;
    int code = SQLITE_DONE, status = ct_reader_take(store, &reader, error);
    *count = 0;
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_MESSAGE_LATEST, error);
    if (!statement) status = (int)error->status;
    if (!status) {
        sqlite3_bind_text(statement, 1, session, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, after);
        sqlite3_bind_int64(statement, 3, (int64_t)capacity);
        while (*count < capacity && (code = sqlite3_step(statement)) == SQLITE_ROW)
            ids[(*count)++] = sqlite3_column_int64(statement, 0);
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            status = ct_sql_fail(reader, code, "reading the last messages of a session", error);
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
    ct_reader_give(store, reader);
    for (size_t i = 0; i < *count / 2; i++) {
        int64_t id = ids[i];
        ids[i] = ids[*count - 1 - i];
        ids[*count - 1 - i] = id;
    }
    return status;
}

/* ---- filters ------------------------------------------------------------------------------- */

int ct_store_list(ct_store *store, const ct_bound_filter *filter, int64_t after, int32_t limit,
                  ct_result *result, ct_error *error) {
    static const char sql[] =
        "SELECT message.id, time, session.name, role.name, text, source, metadata, uid FROM message"
        " JOIN session ON session.id = session_id JOIN role ON role.id = role_id"
        " WHERE message.id > ?1 AND " CT_SQL_FILTER " ORDER BY message.id LIMIT ?2";
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) status = ct_sql_fail(reader, code, "listing messages", error);
    if (!status) {
        sqlite3_bind_int64(statement, 1, after);
        sqlite3_bind_int(statement, 2, limit);
        status = ct_sql_bind_filter(statement, filter, error);
    }
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW)
        status = keep_row(result, statement, error);
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "listing messages", error);
    sqlite3_finalize(statement);
    ct_reader_give(store, reader);
    return status;
}
