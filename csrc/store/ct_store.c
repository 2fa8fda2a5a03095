/* Opening, closing, and what a store says of itself. */
#include "store/ct_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"

/* Pages in the log from which on the derived connection moves them into the file. */
#define CHECKPOINT_PAGES 1000

#define CODES_SUFFIX "-codes"

const char *ct_sqlite_version(void) { return sqlite3_libversion(); }

/* SQLite gives its log and index files the mode of the store, so setting that is enough. */
static int create_private(const char *path, ct_error *error) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        fchmod(file, 0600);
        close(file);
        return CT_OK;
    }
    if (errno != EEXIST)
        return ct_fail(error, errno == ENOSPC ? CT_FULL : CT_IO, "cannot create %s: %s", path,
                       strerror(errno));
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode))
        return ct_fail(error, CT_IO, "%s is not a regular file", path);
    /* SQLite takes a file shorter than a header for an empty one and would write over it. */
    if (info.st_size > 0 && info.st_size < 512)
        return ct_fail(error, CT_CORRUPT, "%s is not a Cortext store (only %lld bytes)", path,
                       (long long)info.st_size);
    return CT_OK;
}

/* Beside the file itself, which the path may only link to. */
static int name_codes(ct_store *store, ct_error *error) {
    const char *path = sqlite3_db_filename(store->writer.db, "main");
    size_t bytes = strlen(path) + sizeof CODES_SUFFIX;
    store->codes_path = ct_alloc(bytes);
    if (!store->codes_path) return ct_fail_nomem(error);
    snprintf(store->codes_path, bytes, "%s" CODES_SUFFIX, path);
    return CT_OK;
}

int ct_store_open(const ct_store_options *options, ct_store **out, ct_error *error) {
    int status = create_private(options->path, error);
    if (status) return status;
    ct_store *store = ct_alloc_zero(sizeof *store);
    if (!store) return ct_fail_nomem(error);
    store->guard.descriptor = -1;
    ct_commit_queue_init(&store->queue);
    pthread_mutex_init(&store->write_mutex, NULL);
    pthread_mutex_init(&store->reader_mutex, NULL);
    pthread_cond_init(&store->reader_returned, NULL);
    pthread_mutex_init(&store->counts_mutex, NULL);
    store->durability = options->durability;
    store->busy_ms = options->busy_ms;
    store->path = ct_copy_string(options->path);
    const char *slash = strrchr(options->path, '/');
    store->name = ct_copy_string(slash ? slash + 1 : options->path);
    if (!store->path || !store->name) status = ct_fail_nomem(error);
    if (!status)
        status = ct_connection_open(store, &store->writer, 0,
                                    options->durability == CT_DURABILITY_FULL, error);
    if (!status) status = ct_schema_prepare(store, options, error);
    if (!status) status = ct_log_guard_open(store->writer.db, store->busy_ms, &store->guard, error);
    if (!status) status = name_codes(store, error);
    if (!status) status = ct_connection_open(store, &store->deriver, 0, 0, error);
    if (!status)
        status = ct_sql_run(&store->deriver, "UPDATE pending SET tries = 0 WHERE tries > 0",
                            "resuming the backlog", error);
    if (status) {
        ct_store_close(store);
        return status;
    }
    *out = store;
    return CT_OK;
}

void ct_store_close(ct_store *store) {
    for (int i = 0; i < store->readers_open; i++) ct_connection_close(&store->readers[i]);
    ct_connection_close(&store->deriver);
    ct_connection_close(&store->consolidator);
    /* The last one takes the log with it. */
    if (store->writer.db && ct_log_guard_is_last(&store->guard))
        sqlite3_db_config(store->writer.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, (int *)NULL);
    ct_connection_close(&store->writer);
    ct_log_guard_close(&store->guard);
    for (int i = 0; i < CT_LENGTH_BLOCKS; i++) ct_free(store->lengths[i]);
    pthread_mutex_destroy(&store->counts_mutex);
    pthread_cond_destroy(&store->reader_returned);
    pthread_mutex_destroy(&store->reader_mutex);
    pthread_mutex_destroy(&store->write_mutex);
    ct_commit_queue_destroy(&store->queue);
    ct_free(store->codes_path);
    ct_free(store->path);
    ct_free(store->name);
    ct_free(store);
}

int ct_store_checkpoint(ct_store *store, ct_error *error) {
    if (atomic_load(&store->log_pages) < CHECKPOINT_PAGES) return CT_OK;
    int pages = 0, moved = 0;
    int code = sqlite3_wal_checkpoint_v2(store->deriver.db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages,
                                         &moved);
    if (code == SQLITE_BUSY) return CT_OK; /* another process is at it */
    if (code != SQLITE_OK) return ct_sql_fail(&store->deriver, code, "moving the log", error);
    atomic_store(&store->log_pages, pages - moved);
    return CT_OK;
}

static int64_t size_of(const char *path, const char *suffix) {
    char name[4096];
    struct stat info;
    if ((size_t)snprintf(name, sizeof name, "%s%s", path, suffix) >= sizeof name) return 0;
    return stat(name, &info) || !S_ISREG(info.st_mode) ? 0 : (int64_t)info.st_size;
}

int ct_store_stats(ct_store *store, ct_stats *out, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(reader->db,
                                  "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM session),"
                                  " (SELECT count(*) FROM chunk), (SELECT count(*) FROM pending),"
                                  " (SELECT count(*) FROM again)",
                                  -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        out->messages = sqlite3_column_int64(statement, 0);
        out->sessions = sqlite3_column_int64(statement, 1);
        out->chunks = sqlite3_column_int64(statement, 2);
        out->pending = sqlite3_column_int64(statement, 3);
        out->restoring = sqlite3_column_int64(statement, 4);
        out->file_bytes = size_of(store->path, "");
        out->wal_bytes = size_of(store->path, "-wal");
        out->codes_bytes = size_of(store->codes_path, "");
        out->schema_version = CT_SCHEMA_VERSION;
    } else {
        status = ct_sql_fail(reader, code, "counting", error);
    }
    sqlite3_finalize(statement);
    ct_reader_give(store, reader);
    return status;
}
