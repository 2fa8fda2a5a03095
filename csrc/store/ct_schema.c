/* The tables, how they come to be, and whether a file is one of ours.
 *
 *   message   every message, as it was given
 *   words     FTS5 over role and text as ct_word_text gives them, contentless: postings only, the
 *             text is in message.  Vowel signs (Mn, Mc) are part of a word, as Indic scripts need
 *   vocabulary  in how many messages each word is; a view of words, it stores nothing
 *   pending   messages that are not embedded yet
 *   again     messages whose codes of tokens were lost with the file beside the store
 *   chunk     one code a window of a message: 4 bytes of scale, then one int8 a dimension
 *   token     the binary codes of a chunk's tokens, until its block is in the file beside the store
 *   block     the blocks of that file, and by which hash to know them
 *   term      in how many chunks a token stands; under id -1 how many chunks were counted
 *   directive standing directives and what lifts one, each sentence once; `ended` is the time of the one
 *             that took its place.  Ordered so that those in force are read newest first in one run
 *
 * What consolidation derives, and could derive again:
 *   progress  up to which message each of its steps has come; and how often all of this was dropped
 *   saying    what was said, by a hash of its words: the first message that says it, and the role that
 *             does, 0 while only tools do
 *   duplicate messages that say again what a first one said
 *   replaced  messages whose value a newer one replaces
 *   episode   runs of a session's messages; the id is that of the first.  `stale`: it has changed since its
 *             sentences were chosen.  The last one of a session is open: what is new may join it
 *   digest    the best sentences of an episode, as spans of its messages in bytes
 *
 * Ids are never used again (AUTOINCREMENT), so that "id > last seen" finds everything new. */
#include <stdio.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_clock.h"
#include "base/ct_error.h"
#include "store/ct_sql.h"

#define APPLICATION_ID 0x43547874 /* "CTxt" */

static const char schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE role(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE message(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL,"
    " session_id INTEGER NOT NULL, role_id INTEGER NOT NULL, text TEXT NOT NULL, source TEXT,"
    " metadata TEXT, uid TEXT);"
    "CREATE INDEX message_session ON message(session_id);"
    "CREATE UNIQUE INDEX message_uid ON message(uid) WHERE uid IS NOT NULL;"
    "CREATE VIRTUAL TABLE words USING fts5(role, text, content='',"
    " tokenize='porter unicode61 remove_diacritics 2 categories ''" CT_CATEGORIES "''');"
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);"
    "CREATE TABLE pending(message_id INTEGER PRIMARY KEY, next_chunk INTEGER NOT NULL DEFAULT 0,"
    " tries INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE again(message_id INTEGER PRIMARY KEY);"
    "CREATE TABLE chunk(id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL,"
    " seq INTEGER NOT NULL, code BLOB NOT NULL);"
    "CREATE UNIQUE INDEX chunk_message ON chunk(message_id, seq);"
    "CREATE TABLE token(chunk_id INTEGER PRIMARY KEY, codes BLOB NOT NULL);"
    "CREATE TABLE block(place INTEGER PRIMARY KEY, start INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " hash INTEGER NOT NULL);"
    "CREATE TABLE term(id INTEGER PRIMARY KEY, chunks INTEGER NOT NULL);"
    "CREATE TABLE directive(ended INTEGER NOT NULL, time INTEGER NOT NULL, message_id INTEGER NOT NULL,"
    " start INTEGER NOT NULL, bytes INTEGER NOT NULL, session_id INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " hash INTEGER NOT NULL, mean BLOB, PRIMARY KEY(ended, time, message_id, start)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX directive_sentence ON directive(message_id, start);"
    "CREATE INDEX directive_session ON directive(session_id, time);"
    "CREATE TABLE progress(step TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE saying(hash INTEGER NOT NULL, first_id INTEGER NOT NULL, role_id INTEGER NOT NULL,"
    " PRIMARY KEY(hash, first_id)) WITHOUT ROWID;"
    "CREATE TABLE duplicate(message_id INTEGER PRIMARY KEY, first_id INTEGER NOT NULL);"
    "CREATE INDEX duplicate_first ON duplicate(first_id);"
    "CREATE TABLE replaced(older_id INTEGER NOT NULL, newer_id INTEGER NOT NULL,"
    " PRIMARY KEY(older_id, newer_id)) WITHOUT ROWID;"
    "CREATE INDEX replaced_newer ON replaced(newer_id);"
    "CREATE TABLE episode(id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL, last_id INTEGER NOT NULL,"
    " messages INTEGER NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL, stale INTEGER NOT NULL);"
    "CREATE INDEX episode_session ON episode(session_id);"
    "CREATE INDEX episode_stale ON episode(id) WHERE stale;"
    "CREATE TABLE digest(episode_id INTEGER NOT NULL, rank INTEGER NOT NULL, message_id INTEGER NOT NULL,"
    " start INTEGER NOT NULL, bytes INTEGER NOT NULL, score REAL NOT NULL, PRIMARY KEY(episode_id, rank))"
    " WITHOUT ROWID;";

static int read_number(ct_connection *connection, const char *sql, int64_t *out, ct_error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? CT_OK : ct_sql_fail(connection, code, "reading the header", error);
}

static int set_meta(ct_connection *connection, const char *key, const char *value, ct_error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection->db, "INSERT INTO meta(key, value) VALUES(?1, ?2)", -1,
                                  &statement, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? CT_OK : ct_sql_fail(connection, code, "writing the header", error);
}

static int check_model(ct_connection *connection, const ct_store_options *options, ct_error *error) {
    sqlite3_stmt *statement = NULL;
    int status = CT_OK;
    int code = sqlite3_prepare_v2(connection->db, "SELECT value FROM meta WHERE key = 'model'", -1,
                                  &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    const char *stored = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = ct_sql_fail(connection, code, "reading the header", error);
    else if (!stored)
        status = ct_fail(error, CT_CORRUPT, "%s is damaged: it does not say which model wrote it",
                         connection->file);
    else if (strcmp(stored, options->fingerprint) != 0)
        status = ct_fail(error, CT_MODEL_MISMATCH,
                         "%s was written with the model %s, not with %s; open it with that model or "
                         "ingest its messages into a new store",
                         connection->file, stored, options->fingerprint);
    sqlite3_finalize(statement);
    return status;
}

static int create(ct_connection *connection, const ct_store_options *options, ct_error *error) {
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION_ID,
             CT_SCHEMA_VERSION);
    int status = ct_sql_run(connection, schema, "creating the tables", error);
    if (!status) status = ct_sql_run(connection, pragmas, "creating the tables", error);
    if (!status) status = set_meta(connection, "model", options->fingerprint, error);
    return status;
}

/* SQLite does not wait by itself for a lock that this change needs. */
static int use_log(ct_store *store, ct_error *error) {
    int64_t deadline = ct_clock_ns() + store->busy_ms * 1000000ll;
    for (;;) {
        ct_error attempt = {0};
        int status = ct_sql_run(&store->writer,
                                "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=8388608",
                                "switching to the write-ahead log", &attempt);
        if (status != CT_BUSY || ct_clock_ns() > deadline)
            return status ? ct_fail(error, status, "%s", attempt.message) : CT_OK;
        usleep(5000);
    }
}

int ct_schema_prepare(ct_store *store, const ct_store_options *options, ct_error *error) {
    ct_connection *writer = &store->writer;
    int64_t application = 0, version = 0, tables = 0;
    /* Look before anything is written: a file of somebody else stays as it is. */
    /* In one transaction, since another process may be creating it right now. */
    int status = ct_sql_run(writer, "BEGIN", "reading the header", error);
    if (!status) status = read_number(writer, "SELECT count(*) FROM sqlite_schema", &tables, error);
    if (!status) status = read_number(writer, "PRAGMA application_id", &application, error);
    if (!status) status = read_number(writer, "PRAGMA user_version", &version, error);
    if (!status) status = ct_sql_run(writer, "COMMIT", "reading the header", error);
    if (status) return status;
    if (tables > 0 && application != APPLICATION_ID)
        return ct_fail(error, CT_CORRUPT, "%s is a SQLite file of another program, not a Cortext store",
                       store->name);
    if (version > CT_SCHEMA_VERSION)
        return ct_fail(error, CT_TOO_NEW,
                       "%s has format %d, this Cortext reads up to %d; upgrade Cortext to open it",
                       store->name, (int)version, CT_SCHEMA_VERSION);

    status = use_log(store, error);
    if (!status && tables > 0) return check_model(writer, options, error);
    if (!status) status = ct_sql_begin(writer, error);
    if (status) return status;
    /* Another process may have created the tables since. */
    status = read_number(writer, "SELECT count(*) FROM sqlite_schema", &tables, error);
    if (!status)
        status = tables > 0 ? check_model(writer, options, error) : create(writer, options, error);
    return ct_sql_end(writer, status, error);
}
