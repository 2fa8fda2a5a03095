/* Lengths of messages, read ahead of the searches that ask for them. */
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_lengths.h"

/* Columns of the full-text index: role and text. */
#define COLUMNS 2

/* The sum of what FTS5 keeps of a row, a varint a column; 0 when it is anything else. */
static uint32_t sum_columns(const unsigned char *sizes, size_t bytes) {
    uint64_t sum = 0, value = 0;
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++) {
        value = value << 7 | (sizes[i] & 0x7f);
        if (value > UINT32_MAX) return 0;
        if (sizes[i] & 0x80) continue;
        sum += value;
        value = 0;
        columns++;
    }
    return bytes && !(sizes[bytes - 1] & 0x80) && columns == COLUMNS && sum <= UINT32_MAX ? (uint32_t)sum : 0;
}

int ct_store_read_lengths(ct_store *store, int64_t *after, int32_t most, int32_t *count, ct_error *error) {
    ct_connection *reader;
    int code = SQLITE_DONE;
    *count = 0;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_LENGTHS, error);
    if (!statement) status = error->status;
    else {
        sqlite3_bind_int64(statement, 1, *after);
        sqlite3_bind_int(statement, 2, most);
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            *after = sqlite3_column_int64(statement, 0);
            _Atomic uint32_t *kept = ct_length_of(store, *after);
            const unsigned char *sizes = sqlite3_column_blob(statement, 1);
            uint32_t words = sizes ? sum_columns(sizes, (size_t)sqlite3_column_bytes(statement, 1)) : 0;
            if (kept && words) atomic_store_explicit(kept, words, memory_order_relaxed);
            ++*count;
        }
        sqlite3_reset(statement);
        if (code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading lengths", error);
    }
    ct_reader_give(store, reader);
    return status;
}
