#include "store/ct_vector_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_process.h"

struct ct_vector_store {
    sqlite3 *db;
    sqlite3_stmt *get;
    sqlite3_stmt *put;
    int64_t model_id;
    size_t vector_bytes;
};

#define APPLICATION_ID "1129603427" /* "CTxc" */

static const char schema[] =
    "PRAGMA application_id=" APPLICATION_ID "; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
    "CREATE TABLE IF NOT EXISTS model(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS vector(model_id INTEGER, ids BLOB, value BLOB NOT NULL,"
    " PRIMARY KEY(model_id, ids)) WITHOUT ROWID;";

/* Whether a file has content that is not a cache's. */
static int is_foreign(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    int foreign = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT count(*) > 0 AND (SELECT application_id FROM pragma_application_id)"
                           " <> " APPLICATION_ID " FROM sqlite_schema",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        foreign = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return foreign;
}

/* FNV-1a, by which a damaged value is known: a code has no wrong bits of its own. */
static uint64_t hash(uint64_t state, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) state = (state ^ p[i]) * 0x100000001b3u;
    return state;
}

static uint64_t hash_value(const ct_vector_store *store, const float *vector, const uint64_t *codes,
                           size_t code_bytes) {
    return hash(hash(0xcbf29ce484222325u, vector, store->vector_bytes), codes, code_bytes);
}

static int find_model(ct_vector_store *store, const char *fingerprint) {
    static const char *const sql[2] = {"INSERT OR IGNORE INTO model(name) VALUES(?1)",
                                       "SELECT id FROM model WHERE name = ?1"};
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(store->db, sql[i], -1, &statement, NULL);
        if (code == SQLITE_OK) {
            sqlite3_bind_text(statement, 1, fingerprint, -1, SQLITE_STATIC);
            code = sqlite3_step(statement);
        }
        if (code == SQLITE_ROW) store->model_id = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        if (code != SQLITE_ROW && code != SQLITE_DONE) return code;
    }
    return SQLITE_OK;
}

int ct_vector_store_open(const char *path, const char *fingerprint, int32_t dimension,
                         ct_vector_store **out, ct_error *error) {
    ct_vector_store *store = ct_alloc_zero(sizeof *store);
    if (!store) return ct_fail_nomem(error);
    store->vector_bytes = (size_t)dimension * sizeof(float);
    if (ct_process_enter(error)) {
        ct_free(store);
        return CT_FORKED;
    }
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    int code = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_busy_timeout(store->db, 5000);
        if (is_foreign(store->db)) {
            ct_vector_store_close(store);
            return ct_fail(error, CT_IO, "%s is not an embedding cache; give another path", path);
        }
        code = sqlite3_exec(store->db, schema, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) code = find_model(store, fingerprint);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v3(store->db, "SELECT value FROM vector WHERE model_id = ?1 AND ids = ?2",
                                  -1, SQLITE_PREPARE_PERSISTENT, &store->get, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v3(store->db, "INSERT OR REPLACE INTO vector VALUES(?1, ?2, ?3)", -1,
                                  SQLITE_PREPARE_PERSISTENT, &store->put, NULL);
    if (code != SQLITE_OK) {
        int status = ct_fail(error, CT_IO, "cannot use the embedding cache %s: %s", path,
                             sqlite3_errmsg(store->db));
        ct_vector_store_close(store);
        return status;
    }
    *out = store;
    return CT_OK;
}

void ct_vector_store_close(ct_vector_store *store) {
    sqlite3_finalize(store->get);
    sqlite3_finalize(store->put);
    sqlite3_close(store->db);
    ct_free(store);
    ct_process_leave();
}

static void bind_key(ct_vector_store *store, sqlite3_stmt *statement, const int32_t *ids, size_t count) {
    sqlite3_bind_int64(statement, 1, store->model_id);
    sqlite3_bind_blob64(statement, 2, ids, count * sizeof *ids, SQLITE_STATIC);
}

int ct_vector_store_get(ct_vector_store *store, const int32_t *ids, size_t count, float *vector,
                        uint64_t *codes, size_t code_words) {
    size_t code_bytes = code_words * sizeof *codes;
    uint64_t kept = 0;
    bind_key(store, store->get, ids, count);
    int found = sqlite3_step(store->get) == SQLITE_ROW;
    const unsigned char *value = found ? sqlite3_column_blob(store->get, 0) : NULL;
    found = value && (size_t)sqlite3_column_bytes(store->get, 0) ==
                         store->vector_bytes + code_bytes + sizeof kept;
    if (found) {
        memcpy(vector, value, store->vector_bytes);
        if (code_bytes) memcpy(codes, value + store->vector_bytes, code_bytes);
        memcpy(&kept, value + store->vector_bytes + code_bytes, sizeof kept);
    }
    sqlite3_reset(store->get);
    return found && kept == hash_value(store, vector, codes, code_bytes); /* a damaged one is a miss */
}

void ct_vector_store_put(ct_vector_store *store, const int32_t *ids, size_t count, const float *vector,
                         const uint64_t *codes, size_t code_words) {
    size_t code_bytes = code_words * sizeof *codes;
    uint64_t sum = hash_value(store, vector, codes, code_bytes);
    size_t bytes = store->vector_bytes + code_bytes + sizeof sum;
    unsigned char *value = ct_alloc(bytes);
    if (!value) return;
    memcpy(value, vector, store->vector_bytes);
    if (code_bytes) memcpy(value + store->vector_bytes, codes, code_bytes);
    memcpy(value + bytes - sizeof sum, &sum, sizeof sum);
    bind_key(store, store->put, ids, count);
    sqlite3_bind_blob64(store->put, 3, value, bytes, SQLITE_STATIC);
    sqlite3_step(store->put);
    sqlite3_reset(store->put);
    ct_free(value);
}
