#include "store/ct_sql.h"

#include <string.h>

#include "base/ct_error.h"

#define DIRECTIVE_COLUMNS "SELECT ended, time, message_id, start, bytes, kind, hash, mean FROM directive"

#define TOLD_COLUMNS "SELECT message.id, session_id, role_id, time, role.name"
#define EPISODE_COLUMNS "SELECT id, session_id, last_id, messages, begins, ends FROM episode"

static const char *const statement_text[CT_SQL_STATEMENT_COUNT] = {
    [CT_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [CT_SQL_BEGIN_READ] = "BEGIN",
    [CT_SQL_COMMIT] = "COMMIT",
    [CT_SQL_ROLLBACK] = "ROLLBACK",
    [CT_SQL_SAVE] = "SAVEPOINT caller",
    [CT_SQL_SAVE_KEEP] = "RELEASE caller",
    [CT_SQL_SAVE_UNDO] = "ROLLBACK TO caller",
    [CT_SQL_SESSION_ID] = "SELECT id FROM session WHERE name = ?1",
    [CT_SQL_SESSION_ADD] = "INSERT INTO session(name) VALUES(?1)",
    [CT_SQL_ROLE_ID] = "SELECT id FROM role WHERE name = ?1",
    [CT_SQL_ROLE_ADD] = "INSERT INTO role(name) VALUES(?1)",
    [CT_SQL_ROLE_NAME] = "SELECT name FROM role WHERE id = ?1",
    [CT_SQL_UID_FIND] = "SELECT id, session_id, role_id, text FROM message WHERE uid = ?1",
    [CT_SQL_MESSAGE_ADD] = "INSERT INTO message(time, session_id, role_id, text, source, metadata, uid)"
                           " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [CT_SQL_WORDS_ADD] = "INSERT INTO words(rowid, role, text) VALUES(?1, ?2, ?3)",
    [CT_SQL_WORD_COUNT] = "SELECT doc FROM vocabulary WHERE term = ?1",
    [CT_SQL_PHRASE_COUNT] = "SELECT count(*) FROM words WHERE words MATCH ?1",
    [CT_SQL_RANK] = "SELECT ct_rank(words, ?2) FROM words WHERE words MATCH ?1"
                    " AND rowid BETWEEN ?3 AND ?4",
    [CT_SQL_LENGTHS] = "SELECT id, sz FROM words_docsize WHERE id > ?1 ORDER BY id LIMIT ?2",
    [CT_SQL_MESSAGE_KEYS] = "SELECT session_id, role_id, time FROM message WHERE id = ?1",
    [CT_SQL_MESSAGE_LATEST] = "SELECT id FROM message WHERE session_id = (SELECT id FROM session WHERE name = ?1)"
                              " AND id > ?2 ORDER BY id DESC LIMIT ?3",
    [CT_SQL_MESSAGE_LAST] = "SELECT max(id) FROM message",
    [CT_SQL_MESSAGE_BOUNDS] = "SELECT min(id), max(id) FROM message WHERE session_id = ?1",
    [CT_SQL_PENDING_ADD] = "INSERT INTO pending(message_id) VALUES(?1)",
    [CT_SQL_MESSAGE_GET] =
        "SELECT message.id, time, session.name, role.name, text, source, metadata, uid FROM message"
        " JOIN session ON session.id = session_id JOIN role ON role.id = role_id"
        " WHERE message.id = ?1",
    [CT_SQL_PENDING_NEXT] =
        "SELECT message_id, next_chunk, role.name, text FROM pending"
        " JOIN message ON message.id = message_id JOIN role ON role.id = role_id"
        " WHERE tries < 3 AND message_id <= ?1 ORDER BY message_id DESC LIMIT 1",
    [CT_SQL_PENDING_ANY] = "SELECT EXISTS(SELECT 1 FROM pending"
                           " JOIN message ON message.id = message_id WHERE tries < 3)",
    [CT_SQL_PENDING_IS] = "SELECT EXISTS(SELECT 1 FROM pending JOIN message ON message.id = message_id"
                          " WHERE message_id = ?1 AND tries < 3)",
    [CT_SQL_PENDING_COUNT] = "SELECT count(*) FROM pending",
    [CT_SQL_AGAIN_NEXT] = "SELECT message_id, 0, role.name, text FROM again"
                          " JOIN message ON message.id = message_id JOIN role ON role.id = role_id"
                          " ORDER BY message_id DESC LIMIT 1",
    [CT_SQL_AGAIN_DONE] = "DELETE FROM again WHERE message_id = ?1",
    [CT_SQL_PENDING_COUNT_MOST] = "SELECT count(*) FROM (SELECT 1 FROM pending WHERE tries < 3 LIMIT ?1)",
    [CT_SQL_PENDING_BOUNDS] = "SELECT (SELECT min(message_id) FROM pending), (SELECT max(message_id) FROM pending),"
                              " (SELECT max(id) FROM chunk)",
    [CT_SQL_PENDING_MOVE] = "UPDATE pending SET next_chunk = ?2 WHERE message_id = ?1 AND next_chunk < ?2",
    [CT_SQL_PENDING_DONE] = "DELETE FROM pending WHERE message_id = ?1",
    [CT_SQL_PENDING_FAILED] = "UPDATE pending SET tries = tries + 1 WHERE message_id = ?1",
    [CT_SQL_CHUNK_ADD] = "INSERT OR IGNORE INTO chunk(message_id, seq, code) VALUES(?1, ?2, ?3)",
    [CT_SQL_CHUNK_FIND] = "SELECT id FROM chunk WHERE message_id = ?1 AND seq = ?2",
    [CT_SQL_CHUNK_SCAN] =
        "SELECT chunk.id, message_id, session_id, role_id, time, code FROM chunk"
        " JOIN message ON message.id = message_id WHERE chunk.id > ?1 ORDER BY chunk.id",
    [CT_SQL_TOKENS_ADD] = "INSERT OR IGNORE INTO token(chunk_id, codes) VALUES(?1, ?2)",
    [CT_SQL_TOKENS_GET] = "SELECT codes FROM token WHERE chunk_id = ?1",
    [CT_SQL_BLOCK_LIST] = "SELECT place, start, bytes, hash FROM block WHERE place >= ?1 ORDER BY place",
    [CT_SQL_BLOCK_PUT] = "INSERT OR IGNORE INTO block(place, start, bytes, hash) VALUES(?1, ?2, ?3, ?4)",
    [CT_SQL_BLOCK_DROP] = "DELETE FROM block WHERE place = ?1 AND start = ?2 AND hash = ?3",
    [CT_SQL_BLOCK_TOKENS] = "SELECT chunk_id, codes FROM token WHERE chunk_id BETWEEN ?1 AND ?2 ORDER BY chunk_id",
    [CT_SQL_TOKENS_DROP] = "DELETE FROM token WHERE chunk_id BETWEEN ?1 AND ?2",
    [CT_SQL_AGAIN_ADD] =
        "INSERT OR IGNORE INTO again(message_id) SELECT message_id FROM chunk WHERE id BETWEEN ?1 AND ?2"
        " AND id NOT IN (SELECT chunk_id FROM token WHERE chunk_id BETWEEN ?1 AND ?2)",
    [CT_SQL_TERM_ADD] = "INSERT INTO term(id, chunks) VALUES(?1, 1)"
                        " ON CONFLICT(id) DO UPDATE SET chunks = chunks + 1",
    [CT_SQL_TERM_GET] = "SELECT chunks FROM term WHERE id = ?1",
    [CT_SQL_DIRECTIVE_ADD] =
        "INSERT OR IGNORE INTO directive(ended, time, message_id, start, bytes, session_id, kind, hash, mean)"
        " SELECT ?2, time, id, ?3, ?4, session_id, ?5, ?6, ?7 FROM message WHERE id = ?1",
    [CT_SQL_DIRECTIVE_END] = "UPDATE directive SET ended = ?3 WHERE message_id = ?1 AND start = ?2",
    [CT_SQL_DIRECTIVE_STANDING] =
        DIRECTIVE_COLUMNS " WHERE ended = ?3 AND time < ?1 ORDER BY time DESC LIMIT ?2",
    [CT_SQL_DIRECTIVE_ENDED] =
        DIRECTIVE_COLUMNS " WHERE ended >= ?1 AND ended < ?3 AND time < ?1 ORDER BY ended LIMIT ?2",
    [CT_SQL_DIRECTIVE_SESSION] =
        DIRECTIVE_COLUMNS " WHERE session_id = ?3 AND time < ?1 ORDER BY time DESC LIMIT ?2",
    [CT_SQL_PROGRESS] = "SELECT (SELECT last FROM progress WHERE step = 'messages'),"
                        " (SELECT last FROM progress WHERE step = 'words'), (SELECT max(id) FROM message),"
                        " (SELECT min(message_id) FROM pending WHERE tries < 3),"
                        " EXISTS(SELECT 1 FROM episode WHERE stale),"
                        " (SELECT max(seq) FROM sqlite_sequence WHERE name = 'message'),"
                        " (SELECT last FROM progress WHERE step = 'dropped')",
    [CT_SQL_PROGRESS_GET] = "SELECT last FROM progress WHERE step = ?1",
    [CT_SQL_PROGRESS_PUT] = "INSERT INTO progress(step, last) VALUES(?1, ?2)"
                            " ON CONFLICT(step) DO UPDATE SET last = ?2 WHERE last < ?2",
    [CT_SQL_TOLD_NEXT] = TOLD_COLUMNS ", text FROM message JOIN role ON role.id = role_id"
                         " WHERE message.id > ?1 AND message.id <= ?2 ORDER BY message.id LIMIT ?3",
    [CT_SQL_TOLD_GET] = TOLD_COLUMNS ", text FROM message JOIN role ON role.id = role_id WHERE message.id = ?1",
    [CT_SQL_TOLD_SESSION] = TOLD_COLUMNS ", substr(text, 1, ?4) FROM message JOIN role ON role.id = role_id"
                            " WHERE session_id = ?3 AND message.id BETWEEN ?1 AND ?2 ORDER BY message.id",
    [CT_SQL_SAYING_FIND] = "SELECT first_id, role_id FROM saying WHERE hash = ?1 ORDER BY first_id",
    [CT_SQL_SAYING_PUT] = "INSERT OR REPLACE INTO saying(hash, first_id, role_id) VALUES(?1, ?2, ?3)",
    [CT_SQL_DUPLICATE_ADD] = "INSERT INTO duplicate(message_id, first_id) VALUES(?1, ?2)",
    [CT_SQL_DUPLICATE_LIST] =
        "WITH said(first) AS (SELECT coalesce((SELECT first_id FROM duplicate WHERE message_id = ?1), ?1))"
        " SELECT first FROM said WHERE first <> ?1 UNION ALL"
        " SELECT message_id FROM duplicate, said WHERE first_id = first AND message_id <> ?1"
        " ORDER BY 1 DESC LIMIT ?2",
    [CT_SQL_REPLACED_ADD] = "INSERT OR IGNORE INTO replaced(newer_id, older_id) VALUES(?1, ?2)",
    [CT_SQL_REPLACED_OLDER] = "SELECT older_id FROM replaced WHERE newer_id = ?1 ORDER BY 1 LIMIT ?2",
    [CT_SQL_REPLACED_NEWER] = "SELECT newer_id FROM replaced WHERE older_id = ?1 ORDER BY 1 LIMIT ?2",
    [CT_SQL_EPISODE_LAST] = EPISODE_COLUMNS " WHERE session_id = ?1 ORDER BY id DESC LIMIT 1",
    [CT_SQL_EPISODE_TAIL] = "SELECT id, time FROM message WHERE session_id = ?1 AND id BETWEEN ?2 AND ?3"
                            " ORDER BY id DESC LIMIT ?4",
    [CT_SQL_EPISODE_PUT] =
        "INSERT OR REPLACE INTO episode(id, session_id, last_id, messages, begins, ends, stale)"
        " SELECT ?1, ?2, ?3, count(*), min(time), max(time), 1 FROM message"
        " WHERE session_id = ?2 AND id BETWEEN ?1 AND ?3",
    [CT_SQL_EPISODE_NEXT] = EPISODE_COLUMNS " WHERE stale ORDER BY id LIMIT 1",
    [CT_SQL_EPISODE_OF] = EPISODE_COLUMNS " WHERE session_id = ?1 AND id <= ?2 ORDER BY id DESC LIMIT 1",
    [CT_SQL_EPISODE_FRESH] = "UPDATE episode SET stale = 0 WHERE id = ?1 AND last_id = ?2 AND stale",
    [CT_SQL_DIGEST_DROP] = "DELETE FROM digest WHERE episode_id = ?1",
    [CT_SQL_DIGEST_ADD] = "INSERT INTO digest(episode_id, rank, message_id, start, bytes, score)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [CT_SQL_DIGEST_GET] = "SELECT episode_id, rank, message_id, start, bytes, score FROM digest"
                          " WHERE episode_id = ?1 ORDER BY rank",
    [CT_SQL_DIRECTIVE_COUNT] = "SELECT count(*) FROM directive WHERE ended = ?1 AND NOT kind & ?2",
    [CT_SQL_WORDS_MERGE] = "INSERT INTO words(words, rank) VALUES('merge', ?1)",
};

int ct_sql_fail(ct_connection *connection, int code, const char *doing, ct_error *error) {
    const char *file = connection->file;
    switch (code & 0xff) {
    case SQLITE_NOMEM: return ct_fail_nomem(error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ct_fail(error, CT_BUSY, "%s: another process holds the store's lock; try again", file);
    case SQLITE_FULL:
        return ct_fail(error, CT_FULL, "%s: the disk is full; nothing was changed", file);
    case SQLITE_NOTADB:
        return ct_fail(error, CT_CORRUPT, "%s is not a Cortext store (not a SQLite file)", file);
    case SQLITE_CORRUPT:
        return ct_fail(error, CT_CORRUPT, "%s is damaged (%s while %s); restore it from a backup", file,
                       sqlite3_errmsg(connection->db), doing);
    case SQLITE_CONSTRAINT: /* none that a call could break */
    case SQLITE_MISMATCH:
        return ct_fail(error, CT_CORRUPT, "%s is damaged: its tables do not fit together (%s while %s)", file,
                       sqlite3_errmsg(connection->db), doing);
    case SQLITE_TOOBIG: return ct_fail(error, CT_INVALID, "a value is too large for the store");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOLFS:
    case SQLITE_PROTOCOL:
        return ct_fail(error, CT_IO, "%s: %s while %s", file, sqlite3_errmsg(connection->db), doing);
    case SQLITE_ERROR:
        if (!strncmp(sqlite3_errmsg(connection->db), "no such ", 8)) /* table or column: the statements are constant */
            return ct_fail(error, CT_CORRUPT, "%s is damaged: its tables are not those of a store (%s while %s)", file,
                           sqlite3_errmsg(connection->db), doing);
        /* fall through */
    default:
        return ct_fail(error, CT_INTERNAL, "%s: unexpected SQLite error %d (%s) while %s", file, code,
                       sqlite3_errmsg(connection->db), doing);
    }
}

int ct_sql_check_log(const ct_store *store, ct_error *error) {
    if (store->guard.descriptor < 0 || ct_log_guard_holds(&store->guard)) return CT_OK;
    return ct_fail(error, CT_IO,
                   "%s: its log (-wal) was removed or replaced while the store was open; nothing more can be stored "
                   "or read until it is closed and opened again",
                   store->name);
}

sqlite3_stmt *ct_sql_get(ct_connection *connection, ct_statement which, ct_error *error) {
    sqlite3_stmt *statement = connection->statements[which];
    if (statement) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        return statement;
    }
    int code = sqlite3_prepare_v3(connection->db, statement_text[which], -1, SQLITE_PREPARE_PERSISTENT,
                                  &statement, NULL);
    if (code != SQLITE_OK) {
        ct_sql_fail(connection, code, "preparing a statement", error);
        return NULL;
    }
    connection->statements[which] = statement;
    return statement;
}

int ct_sql_do(ct_connection *connection, sqlite3_stmt *statement, const char *doing, ct_error *error) {
    int code = sqlite3_step(statement);
    int status = code == SQLITE_DONE || code == SQLITE_ROW
                     ? CT_OK
                     : ct_sql_fail(connection, sqlite3_extended_errcode(connection->db), doing, error);
    sqlite3_reset(statement);
    return status;
}

int ct_sql_run(ct_connection *connection, const char *sql, const char *doing, ct_error *error) {
    int code = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? CT_OK : ct_sql_fail(connection, code, doing, error);
}

static int run_kept(ct_connection *connection, ct_statement which, const char *doing, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    return statement ? ct_sql_do(connection, statement, doing, error) : (int)error->status;
}

/* How a transaction ends must need no memory: it is what is done when there is none. */
int ct_sql_prepare_ends(ct_connection *connection, ct_error *error) {
    static const ct_statement ends[] = {CT_SQL_COMMIT, CT_SQL_ROLLBACK, CT_SQL_SAVE, CT_SQL_SAVE_KEEP, CT_SQL_SAVE_UNDO};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!ct_sql_get(connection, ends[i], error)) return error->status;
    return CT_OK;
}

/* One that could not be ended is, before the next begins. */
static void end_last(ct_connection *connection) {
    ct_error ignored = {0};
    if (!sqlite3_get_autocommit(connection->db)) run_kept(connection, CT_SQL_ROLLBACK, "rolling back", &ignored);
}

int ct_sql_begin(ct_connection *connection, ct_error *error) {
    end_last(connection);
    return run_kept(connection, CT_SQL_BEGIN, "beginning a transaction", error);
}

int ct_sql_begin_read(ct_connection *connection, ct_error *error) {
    end_last(connection);
    return run_kept(connection, CT_SQL_BEGIN_READ, "beginning to read", error);
}

int ct_sql_end(ct_connection *connection, int status, ct_error *error) {
    if (!status) status = run_kept(connection, CT_SQL_COMMIT, "committing", error);
    if (status && !sqlite3_get_autocommit(connection->db)) {
        ct_error ignored = {0};
        run_kept(connection, CT_SQL_ROLLBACK, "rolling back", &ignored);
    }
    return status;
}

int ct_sql_save(ct_connection *connection, ct_error *error) {
    return run_kept(connection, CT_SQL_SAVE, "beginning a transaction", error);
}

int ct_sql_end_save(ct_connection *connection, int status, int *kept, ct_error *error) {
    if (!status) status = run_kept(connection, CT_SQL_SAVE_KEEP, "ending a savepoint", error);
    *kept = !sqlite3_get_autocommit(connection->db);
    if (status && *kept) {
        ct_error ignored = {0};
        *kept = !run_kept(connection, CT_SQL_SAVE_UNDO, "rolling back", &ignored) &&
                !run_kept(connection, CT_SQL_SAVE_KEEP, "rolling back", &ignored);
        if (!*kept) ct_sql_end(connection, status, &ignored);
    }
    return status;
}
