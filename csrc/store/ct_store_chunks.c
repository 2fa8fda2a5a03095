/* The embedding backlog and what comes of it. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

int ct_store_next_pending(ct_store *store, int64_t last, ct_pending *out, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_PENDING_NEXT, error);
    if (statement) sqlite3_bind_int64(statement, 1, last);
    int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement);
        statement = ct_sql_get(reader, CT_SQL_AGAIN_NEXT, error);
        code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    }
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

/* The row of `term` that counts the chunks. */
#define ALL_CHUNKS (-1)

static int count_term(ct_connection *connection, int64_t id, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_TERM_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, id);
    return ct_sql_do(connection, statement, "counting tokens", error);
}

static int by_id(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int count_terms(ct_connection *connection, const int32_t *ids, size_t count, ct_error *error) {
    int32_t *sorted = ct_alloc(count * sizeof *sorted);
    if (!sorted) return ct_fail_nomem(error);
    memcpy(sorted, ids, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_id);
    int status = count_term(connection, ALL_CHUNKS, error);
    for (size_t i = 0; !status && i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) status = count_term(connection, sorted[i], error);
    ct_free(sorted);
    return status;
}

static int find_chunk(ct_connection *connection, int64_t message_id, int64_t seq, int64_t *id, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_CHUNK_FIND, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    sqlite3_bind_int64(statement, 2, seq);
    int status = CT_OK, code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *id = sqlite3_column_int64(statement, 0);
    else status = ct_sql_fail(connection, code, "storing an embedding", error);
    sqlite3_reset(statement);
    return status;
}

static int put_one(ct_connection *connection, int64_t message_id, int64_t seq, const ct_new_chunk *chunk,
                   ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_CHUNK_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    sqlite3_bind_int64(statement, 2, seq);
    sqlite3_bind_blob64(statement, 3, chunk->code, chunk->code_bytes, SQLITE_STATIC);
    int status = ct_sql_do(connection, statement, "storing an embedding", error);
    if (status || !chunk->ids) return status;
    int is_new = sqlite3_changes(connection->db) > 0;
    int64_t id = sqlite3_last_insert_rowid(connection->db);
    if (!is_new) status = find_chunk(connection, message_id, seq, &id, error);
    if (status) return status;
    statement = ct_sql_get(connection, CT_SQL_TOKENS_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_blob64(statement, 2, chunk->tokens, chunk->token_words * sizeof *chunk->tokens,
                        SQLITE_STATIC);
    status = ct_sql_do(connection, statement, "storing token codes", error);
    return status || !is_new ? status : count_terms(connection, chunk->ids, chunk->id_count, error);
}

static int update_pending(ct_connection *connection, ct_statement which, int64_t message_id,
                          int64_t next_chunk, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    if (which == CT_SQL_PENDING_MOVE) sqlite3_bind_int64(statement, 2, next_chunk);
    return ct_sql_do(connection, statement, "updating the backlog", error);
}

int ct_store_put_derived(ct_store *store, const ct_derived *derived, ct_error *error) {
    int64_t message_id = derived->message_id, next = derived->first_chunk + (int64_t)derived->chunk_count;
    ct_connection *connection = &store->deriver;
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_begin(connection, error);
    if (!status) {
        for (size_t i = 0; !status && i < derived->chunk_count; i++)
            status = put_one(connection, message_id, derived->first_chunk + (int64_t)i, &derived->chunks[i], error);
        if (!status && derived->directive_count)
            status = ct_sql_put_directives(connection, message_id, derived->directives, derived->directive_count,
                                           error);
        if (!status)
            status = update_pending(connection, derived->done ? CT_SQL_PENDING_DONE : CT_SQL_PENDING_MOVE,
                                    message_id, next, error);
        if (!status && derived->done) status = update_pending(connection, CT_SQL_AGAIN_DONE, message_id, 0, error);
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
        if (!status) status = update_pending(&store->deriver, CT_SQL_AGAIN_DONE, message_id, 0, error);
        status = ct_sql_end(&store->deriver, status, error);
    }
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}

/* The number that a statement gives for `about`, where it has a parameter. */
static int read_one(ct_store *store, ct_statement which, int64_t about, int64_t *value, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, which, error);
    if (!statement) {
        status = error->status;
    } else {
        if (sqlite3_bind_parameter_count(statement)) sqlite3_bind_int64(statement, 1, about);
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
    int status = read_one(store, CT_SQL_PENDING_ANY, 0, &value, error);
    if (!status) *any = value != 0;
    return status;
}

int ct_store_newest(ct_store *store, int64_t *id, ct_error *error) {
    return read_one(store, CT_SQL_MESSAGE_LAST, 0, id, error);
}

int ct_store_is_pending(ct_store *store, int64_t id, int *is, ct_error *error) {
    int64_t value = 0;
    int status = read_one(store, CT_SQL_PENDING_IS, id, &value, error);
    if (!status) *is = value != 0;
    return status;
}

int ct_store_count_pending(ct_store *store, int64_t *count, ct_error *error) {
    return read_one(store, CT_SQL_PENDING_COUNT, 0, count, error);
}

int ct_store_count_pending_to(ct_store *store, int64_t most, int64_t *count, ct_error *error) {
    return read_one(store, CT_SQL_PENDING_COUNT_MOST, most, count, error);
}

int ct_store_pending_bounds(ct_store *store, int64_t *first, int64_t *last, int64_t *last_chunk, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_PENDING_BOUNDS, error);
    if (!statement) {
        status = error->status;
    } else if (sqlite3_step(statement) == SQLITE_ROW) {
        int any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
        *first = any ? sqlite3_column_int64(statement, 0) : INT64_MAX;
        *last = any ? sqlite3_column_int64(statement, 1) : 0;
        *last_chunk = sqlite3_column_int64(statement, 2);
    } else {
        status = ct_sql_fail(reader, sqlite3_extended_errcode(reader->db), "reading the backlog", error);
    }
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    return status;
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

/* ---- token codes --------------------------------------------------------------------------- */

typedef struct codes_buffer {
    uint64_t *words; /* aligned, as SQLite's blobs are not */
    size_t bytes;
} codes_buffer;

/* Copy the codes of one chunk into the buffer. */
static int read_chunk_codes(ct_connection *reader, sqlite3_stmt *statement, int64_t chunk_id,
                            size_t code_bytes, codes_buffer *buffer, size_t *count, ct_error *error) {
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, chunk_id);
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return ct_sql_fail(reader, code, "reading token codes", error);
    const void *blob = code == SQLITE_ROW ? sqlite3_column_blob(statement, 0) : NULL;
    size_t bytes = code == SQLITE_ROW ? (size_t)sqlite3_column_bytes(statement, 0) : 0;
    if (bytes % code_bytes)
        return ct_fail(error, CT_CORRUPT, "%s is damaged: the token codes of embedding %lld have the "
                       "wrong size", reader->file, (long long)chunk_id);
    if (bytes > buffer->bytes) {
        uint64_t *grown = ct_realloc(buffer->words, bytes);
        if (!grown) return ct_fail_nomem(error);
        buffer->words = grown;
        buffer->bytes = bytes;
    }
    if (bytes && !blob) return ct_fail_nomem(error);
    if (bytes) memcpy(buffer->words, blob, bytes);
    *count = bytes / code_bytes;
    return CT_OK;
}

int ct_store_read_codes(ct_store *store, const int64_t *chunk_ids, size_t count, size_t code_words,
                        int (*visit)(void *state, size_t place, const uint64_t *codes, size_t code_count),
                        void *state, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    codes_buffer buffer = {NULL, 0};
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_TOKENS_GET, error);
    status = statement ? ct_sql_begin_read(reader, error) : (int)error->status;
    for (size_t i = 0; !status && i < count; i++) {
        size_t code_count = 0;
        status = read_chunk_codes(reader, statement, chunk_ids[i], code_words * sizeof(uint64_t), &buffer,
                                  &code_count, error);
        if (!status) status = visit(state, i, buffer.words, code_count);
    }
    if (statement) {
        sqlite3_reset(statement);
        status = ct_sql_end(reader, status, error);
    }
    ct_free(buffer.words);
    ct_reader_give(store, reader);
    return status;
}

static int read_term(ct_connection *reader, int64_t id, int64_t *chunks, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_TERM_GET, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, id);
    int status = CT_OK, code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *chunks = sqlite3_column_int64(statement, 0);
    else if (code == SQLITE_DONE) *chunks = 0;
    else status = ct_sql_fail(reader, code, "reading token counts", error);
    sqlite3_reset(statement);
    if (!status && *chunks < 0)
        status = ct_fail(error, CT_CORRUPT, "%s is damaged: token %lld stands in %lld chunks", reader->file,
                         (long long)id, (long long)*chunks);
    return status;
}

int ct_store_term_counts(ct_store *store, const int32_t *ids, size_t count, int64_t *counts,
                         int64_t *total, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = ct_sql_begin_read(reader, error);
    if (!status) {
        status = read_term(reader, ALL_CHUNKS, total, error);
        for (size_t i = 0; !status && i < count; i++) status = read_term(reader, ids[i], &counts[i], error);
        status = ct_sql_end(reader, status, error);
    }
    ct_reader_give(store, reader);
    return status;
}
