#include "store/ct_connection.h"

#include <string.h>

#include "base/ct_error.h"
#include "store/ct_fts.h"

static int note_log_size(void *store, sqlite3 *db, const char *name, int pages) {
    (void)db;
    (void)name;
    atomic_store(&((ct_store *)store)->log_pages, pages);
    return SQLITE_OK;
}

int ct_connection_open(ct_store *store, ct_connection *connection, int read_only, int full_sync,
                       ct_error *error) {
    memset(connection, 0, sizeof *connection);
    connection->file = store->name;
    /* Readers open read-write too, since a read-only connection cannot recover a log; query_only
     * keeps them from writing. */
    int code = sqlite3_open_v2(store->path, &connection->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK) {
        int status = connection->db ? ct_sql_fail(connection, code, "opening", error)
                                    : ct_fail_nomem(error);
        ct_connection_close(connection);
        return status;
    }
    sqlite3_busy_timeout(connection->db, store->busy_ms);
    sqlite3_wal_hook(connection->db, note_log_size, store); /* also ends automatic checkpoints */
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL); /* see ct_log_guard.h */
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(connection->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    const char *pragmas = read_only   ? "PRAGMA query_only=1; PRAGMA cache_size=-8000"
                          : full_sync ? "PRAGMA synchronous=FULL; PRAGMA foreign_keys=0"
                                      : "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=0";
    int status = ct_sql_run(connection, pragmas, "setting up a connection", error);
    if (!status) status = ct_sql_prepare_ends(connection, error);
    if (!status && read_only) status = ct_fts_register(connection, error);
    if (status) ct_connection_close(connection);
    return status;
}

void ct_connection_close(ct_connection *connection) {
    for (int i = 0; i < CT_SQL_STATEMENT_COUNT; i++) sqlite3_finalize(connection->statements[i]);
    sqlite3_close(connection->db);
    memset(connection, 0, sizeof *connection);
}

int ct_reader_take(ct_store *store, ct_connection **out, ct_error *error) {
    int status = ct_sql_check_log(store, error);
    if (status) return status;
    pthread_mutex_lock(&store->reader_mutex);
    while (!store->readers_free && store->readers_open == CT_READERS_MAX)
        pthread_cond_wait(&store->reader_returned, &store->reader_mutex);
    if (store->readers_free) {
        *out = store->readers_free;
        store->readers_free = store->readers_free->next_free;
    } else {
        ct_connection *reader = &store->readers[store->readers_open];
        status = ct_connection_open(store, reader, 1, 0, error);
        if (!status) {
            store->readers_open++;
            *out = reader;
        }
    }
    pthread_mutex_unlock(&store->reader_mutex);
    return status;
}

void ct_reader_give(ct_store *store, ct_connection *reader) {
    pthread_mutex_lock(&store->reader_mutex);
    reader->next_free = store->readers_free;
    store->readers_free = reader;
    pthread_cond_signal(&store->reader_returned);
    pthread_mutex_unlock(&store->reader_mutex);
}
