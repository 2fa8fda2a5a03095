/* What consolidation leaves in the store. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_consolidated.h"
#include "store/ct_sql.h"

#define MESSAGES "messages"
#define WORDS "words"
#define DROPPED "dropped"

/* Begin on the connection of consolidation, with write_mutex held until ends. */
static int begin(ct_store *store, ct_error *error) {
    pthread_mutex_lock(&store->write_mutex);
    int status = ct_sql_check_log(store, error);
    if (!status && !store->consolidator.db) status = ct_connection_open(store, &store->consolidator, 0, 0, error);
    if (!status) status = ct_sql_begin(&store->consolidator, error);
    if (status) pthread_mutex_unlock(&store->write_mutex);
    return status;
}

static int end(ct_store *store, int status, ct_error *error) {
    status = ct_sql_end(&store->consolidator, status, error);
    pthread_mutex_unlock(&store->write_mutex);
    return status;
}

/* Run a statement whose parameters are numbers. */
static int run(ct_connection *connection, ct_statement which, const int64_t *numbers, int count, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    if (!statement) return error->status;
    for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 1, numbers[i]);
    return ct_sql_do(connection, statement, "consolidating", error);
}

static int read_mark(ct_connection *connection, const char *step, int64_t *last, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_PROGRESS_GET, error);
    if (!statement) return error->status;
    sqlite3_bind_text(statement, 1, step, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    *last = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? CT_OK
                                                     : ct_sql_fail(connection, code, "reading the progress", error);
}

static int put_mark(ct_connection *connection, const char *step, int64_t last, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_PROGRESS_PUT, error);
    if (!statement) return error->status;
    sqlite3_bind_text(statement, 1, step, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, last);
    return ct_sql_do(connection, statement, "noting the progress", error);
}

static int put_all(ct_connection *connection, const ct_consolidated *batch, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < batch->saying_count; i++) {
        const ct_saying_row *row = &batch->sayings[i];
        status = run(connection, CT_SQL_SAYING_PUT, (int64_t[]){row->hash, row->first_id, row->role_id}, 3, error);
    }
    for (size_t i = 0; !status && i < batch->duplicate_count; i++) {
        const ct_id_pair *pair = &batch->duplicates[i];
        status = run(connection, CT_SQL_DUPLICATE_ADD, (int64_t[]){pair->newer, pair->older}, 2, error);
    }
    for (size_t i = 0; !status && i < batch->replaced_count; i++) {
        const ct_id_pair *pair = &batch->replaced[i];
        status = run(connection, CT_SQL_REPLACED_ADD, (int64_t[]){pair->newer, pair->older}, 2, error);
    }
    for (size_t i = 0; !status && i < batch->episode_count; i++) {
        const ct_episode_row *row = &batch->episodes[i];
        status = run(connection, CT_SQL_EPISODE_PUT, (int64_t[]){row->id, row->session_id, row->last_id}, 3, error);
    }
    return status;
}

/* Whether nobody else has been at it since the marks were read. */
static int check_marks(ct_connection *connection, int64_t done, int64_t dropped, ct_error *error) {
    int64_t done_now = 0, dropped_now = 0;
    int status = read_mark(connection, MESSAGES, &done_now, error);
    if (!status) status = read_mark(connection, DROPPED, &dropped_now, error);
    if (!status && (done_now != done || dropped_now != dropped))
        status = ct_fail(error, CT_CONFLICT, "the store is being consolidated by somebody else");
    return status;
}

int ct_store_put_consolidated(ct_store *store, const ct_consolidated *batch, ct_error *error) {
    int status = begin(store, error);
    if (status) return status;
    ct_connection *connection = &store->consolidator;
    status = check_marks(connection, batch->from, batch->dropped, error);
    if (!status) status = put_all(connection, batch, error);
    if (!status) status = put_mark(connection, MESSAGES, batch->last, error);
    return end(store, status, error);
}

int ct_store_drop_consolidated(ct_store *store, const ct_progress *as_of, ct_error *error) {
    int status = begin(store, error);
    if (status) return status;
    status = check_marks(&store->consolidator, as_of->done, as_of->dropped, error);
    if (!status) status = ct_sql_run(&store->consolidator,
                        "DELETE FROM progress; DELETE FROM saying; DELETE FROM duplicate; DELETE FROM replaced;"
                        "DELETE FROM digest; DELETE FROM episode;",
                        "dropping what was consolidated", error);
    if (!status) status = put_mark(&store->consolidator, DROPPED, (as_of->dropped & UINT32_MAX) + 1, error);
    return end(store, status, error);
}

static int put_sentence(ct_connection *connection, const ct_digest_row *row, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_DIGEST_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, row->episode_id);
    sqlite3_bind_int64(statement, 2, row->rank);
    sqlite3_bind_int64(statement, 3, row->message_id);
    sqlite3_bind_int64(statement, 4, (int64_t)row->start);
    sqlite3_bind_int64(statement, 5, (int64_t)row->bytes);
    sqlite3_bind_double(statement, 6, row->score);
    return ct_sql_do(connection, statement, "storing a digest", error);
}

int ct_store_put_digest(ct_store *store, const ct_episode_row *episode, const ct_digest_row *rows, size_t count,
                        ct_error *error) {
    int status = begin(store, error);
    if (status) return status;
    ct_connection *connection = &store->consolidator;
    const int64_t now[] = {episode->id, episode->last_id};
    status = run(connection, CT_SQL_EPISODE_FRESH, now, 2, error);
    if (!status && sqlite3_changes(connection->db) == 0)
        status = ct_fail(error, CT_CONFLICT, "the episode has changed meanwhile");
    if (!status) status = run(connection, CT_SQL_DIGEST_DROP, now, 1, error);
    for (size_t i = 0; !status && i < count; i++) status = put_sentence(connection, &rows[i], error);
    return end(store, status, error);
}

int ct_store_merge_words(ct_store *store, int pages, int64_t through, int *done, ct_error *error) {
    int status = begin(store, error);
    if (status) return status;
    ct_connection *connection = &store->consolidator;
    const int64_t most = pages;
    int before = sqlite3_total_changes(connection->db);
    status = run(connection, CT_SQL_WORDS_MERGE, &most, 1, error);
    /* FTS5 says it so: fewer than two changes, and there was nothing to merge. */
    *done = !status && sqlite3_total_changes(connection->db) - before < 2;
    if (*done) status = put_mark(connection, WORDS, through, error);
    return end(store, status, error);
}
