/* Messages in: each caller's all or none, on disk when it returns, and one commit for all who came while
 * another was at it. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"
#include "text/ct_word_text.h"

/* What one caller wants stored. */
typedef struct request {
    ct_commit_place place; /* first: a place is its request */
    const ct_message_input *messages;
    size_t count;
    int64_t *ids; /* [count], the caller's, so that nothing has to be allocated behind a commit */
    size_t added;
    int status;
    ct_error *error;
} request;

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

/* All of a caller's messages, in the open transaction. */
static int insert_all(ct_connection *connection, request *wanted) {
    int status = CT_OK;
    wanted->added = 0;
    for (size_t i = 0; !status && i < wanted->count; i++)
        status = insert_one(connection, &wanted->messages[i], &wanted->ids[i], &wanted->added, wanted->error);
    return status;
}

/* The same in a transaction of its own. */
static void insert_alone(ct_store *store, request *wanted) {
    ct_connection *writer = &store->writer;
    wanted->status = ct_sql_begin(writer, wanted->error);
    if (wanted->status) return;
    wanted->status = ct_sql_end(writer, insert_all(writer, wanted), wanted->error);
    if (!wanted->status) wanted->status = ct_sql_check_log(store, wanted->error);
}

/* The same behind what others have put into the transaction, which stays when this fails.  0: it does not:
 * SQLite took the whole transaction back, as it may when memory or the disk runs out. */
static int insert_beside(ct_connection *connection, request *wanted) {
    int kept = 1;
    wanted->status = ct_sql_save(connection, wanted->error);
    if (wanted->status) return !sqlite3_get_autocommit(connection->db);
    wanted->status = ct_sql_end_save(connection, insert_all(connection, wanted), &kept, wanted->error);
    return kept;
}

static request *request_of(ct_commit_place *place) { return (request *)place; }

/* Give those whose rows were in it what became of the transaction. */
static void spread(const ct_commit_group *group, int status, const ct_error *error) {
    for (ct_commit_place *place = group->first; place; place = place->next) {
        request *one = request_of(place);
        if (one->status) continue;
        one->status = status;
        if (status) ct_fail(one->error, status, "%s", error->message);
    }
}

/* A transaction for the leader and who waits behind it.  Alone, it is BEGIN, the rows, COMMIT. */
static void insert_group(ct_store *store, ct_commit_group *group) {
    ct_connection *writer = &store->writer;
    request *own = request_of(group->first);
    own->status = ct_sql_check_log(store, own->error);
    if (!own->status) own->status = ct_sql_begin(writer, own->error);
    if (own->status) return;
    own->status = insert_all(writer, own);
    if (own->status) {
        ct_sql_end(writer, own->status, own->error);
        return;
    }
    int kept = 1;
    ct_commit_place *place;
    while (kept && (place = ct_commit_take(&store->queue, group)))
        kept = insert_beside(writer, request_of(place));
    if (kept) {
        ct_error error = {0};
        int status = ct_sql_end(writer, CT_OK, &error);
        if (!status) status = ct_sql_check_log(store, &error);
        spread(group, status, &error);
        return;
    }
    /* What one caller met must not become the others': each once more, by itself. */
    for (place = group->first; place; place = place->next)
        if (!request_of(place)->status) insert_alone(store, request_of(place));
}

static size_t bytes_of(const ct_message_input *messages, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += messages[i].text_bytes + (messages[i].metadata ? strlen(messages[i].metadata) : 0);
    return bytes;
}

int ct_store_insert(ct_store *store, const ct_message_input *messages, size_t count, int64_t *ids,
                    size_t *inserted, ct_error *error) {
    request own = {
        .place = {.messages = count, .bytes = bytes_of(messages, count)},
        .messages = messages,
        .count = count,
        .ids = ct_alloc(count * sizeof *own.ids),
        .error = error,
    };
    ct_commit_group group;
    if (!own.ids) return ct_fail_nomem(error);
    if (ct_commit_join(&store->queue, &own.place, &group)) {
        pthread_mutex_lock(&store->write_mutex);
        insert_group(store, &group);
        pthread_mutex_unlock(&store->write_mutex);
        ct_commit_part(&store->queue, &group);
    }
    if (!own.status) {
        memcpy(ids, own.ids, count * sizeof *ids);
        *inserted = own.added;
    }
    ct_free(own.ids);
    return own.status;
}
