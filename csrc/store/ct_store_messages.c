/* Messages in and out. */
#include <stdio.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_result.h"
#include "store/ct_sql.h"
#include "text/ct_word_text.h"

static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
    if (text) sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

/* *id of the message with this uid, 0 when there is none, CT_CONFLICT when it says something else. */
static int find_uid(ct_connection *connection, const ct_message_input *message, int64_t session_id,
                    int64_t role_id, int64_t *id, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_UID_FIND, error);
    if (!statement) return error->status;
    bind_text(statement, 1, message->uid);
    int code = sqlite3_step(statement);
    int status = CT_OK;
    *id = 0;
    if (code == SQLITE_ROW) {
        const void *text = sqlite3_column_text(statement, 3);
        size_t bytes = (size_t)sqlite3_column_bytes(statement, 3);
        if (sqlite3_column_int64(statement, 1) == session_id &&
            sqlite3_column_int64(statement, 2) == role_id && bytes == message->text_bytes &&
            memcmp(text, message->text, bytes) == 0)
            *id = sqlite3_column_int64(statement, 0);
        else
            status = ct_fail(error, CT_CONFLICT,
                             "a message with uid \"%.200s\" exists and has another text, role or session",
                             message->uid);
    } else if (code != SQLITE_DONE) {
        status = ct_sql_fail(connection, code, "looking up a uid", error);
    }
    sqlite3_reset(statement);
    return status;
}

static int add_words(ct_connection *connection, int64_t id, const ct_message_input *message,
                     ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_WORDS_ADD, error);
    char *role = NULL, *text = NULL;
    size_t role_bytes = 0, text_bytes = 0;
    int status = CT_OK;
    if (!statement) return error->status;
    if (ct_word_text(message->role, strlen(message->role), &role, &role_bytes) ||
        ct_word_text(message->text, message->text_bytes, &text, &text_bytes)) {
        status = ct_fail_nomem(error);
        goto done;
    }
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_text64(statement, 2, role, role_bytes, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text64(statement, 3, text, text_bytes, SQLITE_STATIC, SQLITE_UTF8);
    status = ct_sql_do(connection, statement, "indexing words", error);
    sqlite3_clear_bindings(statement);
done:
    ct_free(role);
    ct_free(text);
    return status;
}

static int insert_one(ct_connection *connection, const ct_message_input *message, int64_t *id,
                      size_t *inserted, ct_error *error) {
    int64_t session_id = 0, role_id = 0;
    int status = ct_sql_add_name(connection, CT_SQL_SESSION_ID, CT_SQL_SESSION_ADD, message->session,
                                  &session_id, error);
    if (!status)
        status = ct_sql_add_name(connection, CT_SQL_ROLE_ID, CT_SQL_ROLE_ADD, message->role, &role_id,
                                  error);
    if (status) return status;
    if (message->uid) {
        status = find_uid(connection, message, session_id, role_id, id, error);
        if (status || *id) return status;
    }
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_MESSAGE_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message->time_ms);
    sqlite3_bind_int64(statement, 2, session_id);
    sqlite3_bind_int64(statement, 3, role_id);
    sqlite3_bind_text64(statement, 4, message->text, message->text_bytes, SQLITE_STATIC, SQLITE_UTF8);
    bind_text(statement, 5, message->source);
    bind_text(statement, 6, message->metadata);
    bind_text(statement, 7, message->uid);
    status = ct_sql_do(connection, statement, "storing a message", error);
    if (status) return status;
    *id = sqlite3_last_insert_rowid(connection->db);
    status = add_words(connection, *id, message, error);
    if (status) return status;
    statement = ct_sql_get(connection, CT_SQL_PENDING_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, *id);
    status = ct_sql_do(connection, statement, "storing a message", error);
    if (!status) ++*inserted;
    return status;
}

int ct_store_insert(ct_store *store, const ct_message_input *messages, size_t count, int64_t *ids,
                    size_t *inserted, ct_error *error) {
    int64_t *new_ids = ct_alloc(count * sizeof *new_ids);
    if (!new_ids) return ct_fail_nomem(error);
    size_t added = 0;
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(&store->writer, error);
    if (!status) {
        for (size_t i = 0; !status && i < count; i++)
            status = insert_one(&store->writer, &messages[i], &new_ids[i], &added, error);
        status = ct_sql_end(&store->writer, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    if (!status) {
        memcpy(ids, new_ids, count * sizeof *ids);
        *inserted = added;
    }
    ct_free(new_ids);
    return status;
}

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

int ct_store_get(ct_store *store, const int64_t *ids, size_t count, ct_result *result,
                 ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    for (size_t i = 0; !status && i < count; i++) {
        sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_MESSAGE_GET, error);
        if (!statement) {
            status = error->status;
            break;
        }
        sqlite3_bind_int64(statement, 1, ids[i]);
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) status = keep_row(result, statement, error);
        else if (code == SQLITE_DONE)
            status = ct_fail(error, CT_NOT_FOUND, "there is no message %lld", (long long)ids[i]);
        else status = ct_sql_fail(reader, code, "reading a message", error);
        sqlite3_reset(statement);
    }
    ct_reader_give(store, reader);
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
