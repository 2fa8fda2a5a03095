/* What the files of this folder share: the connections and the mapping of SQLite's codes. */
#ifndef CT_SQL_H
#define CT_SQL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "store/ct_commit_queue.h"
#include "store/ct_log_guard.h"
#include "store/ct_store.h"

/* Prepared when first used, kept for the life of the connection. */
typedef enum ct_statement {
    CT_SQL_BEGIN,
    CT_SQL_BEGIN_READ,
    CT_SQL_COMMIT,
    CT_SQL_ROLLBACK,
    CT_SQL_SAVE,
    CT_SQL_SAVE_KEEP,
    CT_SQL_SAVE_UNDO,
    CT_SQL_SESSION_ID,
    CT_SQL_SESSION_ADD,
    CT_SQL_ROLE_ID,
    CT_SQL_ROLE_ADD,
    CT_SQL_ROLE_NAME,
    CT_SQL_UID_FIND,
    CT_SQL_MESSAGE_ADD,
    CT_SQL_WORDS_ADD,
    CT_SQL_WORD_COUNT,
    CT_SQL_PHRASE_COUNT,
    CT_SQL_RANK,
    CT_SQL_LENGTHS,
    CT_SQL_MESSAGE_LAST,
    CT_SQL_MESSAGE_BOUNDS,
    CT_SQL_MESSAGE_KEYS,
    CT_SQL_MESSAGE_LATEST,
    CT_SQL_PENDING_ADD,
    CT_SQL_MESSAGE_GET,
    CT_SQL_PENDING_NEXT,
    CT_SQL_PENDING_ANY,
    CT_SQL_PENDING_IS,
    CT_SQL_PENDING_COUNT,
    CT_SQL_PENDING_COUNT_MOST,
    CT_SQL_PENDING_BOUNDS,
    CT_SQL_PENDING_MOVE,
    CT_SQL_PENDING_DONE,
    CT_SQL_PENDING_FAILED,
    CT_SQL_CHUNK_ADD,
    CT_SQL_CHUNK_FIND,
    CT_SQL_CHUNK_SCAN,
    CT_SQL_TOKENS_ADD,
    CT_SQL_TOKENS_GET,
    CT_SQL_BLOCK_LIST,
    CT_SQL_BLOCK_PUT,
    CT_SQL_BLOCK_DROP,
    CT_SQL_BLOCK_TOKENS,
    CT_SQL_TOKENS_DROP,
    CT_SQL_AGAIN_ADD,
    CT_SQL_AGAIN_NEXT,
    CT_SQL_AGAIN_DONE,
    CT_SQL_TERM_ADD,
    CT_SQL_TERM_GET,
    CT_SQL_DIRECTIVE_ADD,
    CT_SQL_DIRECTIVE_END,
    CT_SQL_DIRECTIVE_STANDING,
    CT_SQL_DIRECTIVE_ENDED,
    CT_SQL_DIRECTIVE_SESSION,
    CT_SQL_PROGRESS,
    CT_SQL_PROGRESS_GET,
    CT_SQL_PROGRESS_PUT,
    CT_SQL_TOLD_NEXT,
    CT_SQL_TOLD_GET,
    CT_SQL_TOLD_SESSION,
    CT_SQL_SAYING_FIND,
    CT_SQL_SAYING_PUT,
    CT_SQL_DUPLICATE_ADD,
    CT_SQL_DUPLICATE_LIST,
    CT_SQL_REPLACED_ADD,
    CT_SQL_REPLACED_OLDER,
    CT_SQL_REPLACED_NEWER,
    CT_SQL_EPISODE_LAST,
    CT_SQL_EPISODE_TAIL,
    CT_SQL_EPISODE_PUT,
    CT_SQL_EPISODE_NEXT,
    CT_SQL_EPISODE_OF,
    CT_SQL_EPISODE_FRESH,
    CT_SQL_DIGEST_DROP,
    CT_SQL_DIGEST_ADD,
    CT_SQL_DIGEST_GET,
    CT_SQL_DIRECTIVE_COUNT,
    CT_SQL_WORDS_MERGE,
    CT_SQL_STATEMENT_COUNT
} ct_statement;

typedef struct ct_connection {
    sqlite3 *db;
    sqlite3_stmt *statements[CT_SQL_STATEMENT_COUNT];
    const char *file;                /* name for messages */
    fts5_api *fts5;                  /* of a reader */
    struct ct_connection *next_free; /* of the reader pool */
} ct_connection;

#define CT_READERS_MAX 4

/* What is a letter to the full-text index: FTS5's own choice and vowel signs. */
#define CT_CATEGORIES "L* N* Co Mn Mc"

/* Lengths of messages in words, 0: not read yet. */
#define CT_LENGTH_BLOCK 16384
#define CT_LENGTH_BLOCKS 4096
typedef struct ct_length_block {
    _Atomic uint32_t words[CT_LENGTH_BLOCK];
} ct_length_block;

/* In how many messages a common word was, while `last` was the highest id. */
#define CT_COUNTS 4096
typedef struct ct_word_count {
    uint64_t hash;
    int64_t messages;
    int64_t last;
} ct_word_count;

struct ct_store {
    char *path;
    char *codes_path;
    char *name; /* last part of the path, for messages */
    int32_t durability;
    int32_t busy_ms;
    ct_commit_queue queue; /* of callers with messages; whoever leads it takes write_mutex */
    pthread_mutex_t write_mutex;
    ct_connection writer;
    ct_connection deriver;
    ct_connection consolidator; /* of consolidation, opened when first used; under write_mutex */
    ct_log_guard guard;
    pthread_mutex_t reader_mutex;
    pthread_cond_t reader_returned;
    ct_connection readers[CT_READERS_MAX];
    int readers_open;
    ct_connection *readers_free;
    _Atomic(ct_length_block *) lengths[CT_LENGTH_BLOCKS]; /* of the first messages, by id */
    pthread_mutex_t counts_mutex;
    ct_word_count counts[CT_COUNTS]; /* by hash */
    _Atomic int log_pages; /* in the write-ahead log after the last commit of this process */
};

/* Fill error from the connection's state and give the matching ct_status. */
int ct_sql_fail(ct_connection *connection, int code, const char *doing, ct_error *error);

/* The statement, reset and without bindings; NULL with error set. */
sqlite3_stmt *ct_sql_get(ct_connection *connection, ct_statement which, ct_error *error);

/* CT_IO when the log was removed under the open store: what is written to it is lost. */
int ct_sql_check_log(const ct_store *store, ct_error *error);

/* Step a statement that gives no row. */
int ct_sql_do(ct_connection *connection, sqlite3_stmt *statement, const char *doing, ct_error *error);

/* Run SQL text. */
int ct_sql_run(ct_connection *connection, const char *sql, const char *doing, ct_error *error);

/* Have the statements at hand that end a transaction, when the connection is opened. */
int ct_sql_prepare_ends(ct_connection *connection, ct_error *error);

int ct_sql_begin(ct_connection *connection, ct_error *error);

/* One view of the file for many statements, which also spares each its own lock. */
int ct_sql_begin_read(ct_connection *connection, ct_error *error);

/* Commit when status is CT_OK, otherwise roll back; gives the status of the whole. */
int ct_sql_end(ct_connection *connection, int status, ct_error *error);

/* Begin a part of the open transaction that can be taken back by itself. */
int ct_sql_save(ct_connection *connection, ct_error *error);

/* Keep that part when status is CT_OK, otherwise take it back; gives the status of the whole.  *kept: what came
 * before it is still in the open transaction; if not, that was rolled back. */
int ct_sql_end_save(ct_connection *connection, int status, int *kept, ct_error *error);

/* Id of a name in session or role; 0 when it is not there. */
int ct_sql_find_name(ct_connection *connection, ct_statement find, const char *name, int64_t *id,
                     ct_error *error);

/* The same, but adds it. */
int ct_sql_add_name(ct_connection *connection, ct_statement find, ct_statement add, const char *name,
                    int64_t *id, ct_error *error);

/* A condition on message by the parameters ?3 to ?6: sessions and roles as JSON arrays of ids or
 * NULL, since, until. */
#define CT_SQL_FILTER                                                            \
    "(?3 IS NULL OR session_id IN (SELECT value FROM json_each(?3)))"              \
    " AND (?4 IS NULL OR role_id IN (SELECT value FROM json_each(?4)))"            \
    " AND time >= ?5 AND time < ?6"
int ct_sql_bind_filter(sqlite3_stmt *statement, const ct_bound_filter *filter, ct_error *error);

/* Store directives of one message and end what they take the place of, or them, in the transaction that is
 * open. */
int ct_sql_put_directives(ct_connection *connection, int64_t message_id, const ct_new_directive *directives,
                          size_t count, ct_error *error);

/* Create or check the schema on the writer. */
int ct_schema_prepare(ct_store *store, const ct_store_options *options, ct_error *error);

#endif
