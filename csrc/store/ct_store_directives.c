/* Standing directives: which there are, and which took the place of which. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

/* `ended` of those in force. */
#define STANDING INT64_MAX

void ct_directives_free(ct_directives *directives) {
    for (size_t i = 0; i < directives->count; i++) ct_free(directives->list[i].mean);
    ct_free(directives->list);
    *directives = (ct_directives){0};
}

static int keep_mean(sqlite3_stmt *statement, ct_directive_row *row, ct_error *error) {
    const void *blob = sqlite3_column_blob(statement, 7);
    size_t bytes = (size_t)sqlite3_column_bytes(statement, 7);
    if (!blob || !bytes) return CT_OK;
    row->mean = ct_alloc(bytes);
    if (!row->mean) return ct_fail_nomem(error);
    memcpy(row->mean, blob, bytes);
    row->view.mean = row->mean;
    row->view.bits = bytes;
    return CT_OK;
}

/* Add what a statement with parameters ?1 before, ?2 limit, ?3 finds. */
static int add_rows(ct_connection *connection, ct_statement which, int64_t before, int64_t limit, int64_t third,
                    ct_directives *to, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, which, error);
    if (!statement) return error->status;
    ct_directive_row *list = ct_realloc(to->list, (to->count + (size_t)limit) * sizeof *list);
    if (!list) return ct_fail_nomem(error);
    to->list = list;
    sqlite3_bind_int64(statement, 1, before);
    sqlite3_bind_int64(statement, 2, limit);
    sqlite3_bind_int64(statement, 3, third);
    int status = CT_OK, code = SQLITE_DONE;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        ct_directive_row *row = &list[to->count++];
        *row = (ct_directive_row){
            .time_ms = sqlite3_column_int64(statement, 1),
            .message_id = sqlite3_column_int64(statement, 2),
            .start = (size_t)sqlite3_column_int64(statement, 3),
            .bytes = (size_t)sqlite3_column_int64(statement, 4),
            .view = {.kind = sqlite3_column_int(statement, 5), .hash = sqlite3_column_int64(statement, 6)},
        };
        status = keep_mean(statement, row, error);
    }
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(connection, code, "reading directives", error);
    sqlite3_reset(statement);
    return status;
}

static int newest_first(const void *a, const void *b) {
    const ct_directive_row *x = a, *y = b;
    if (x->time_ms != y->time_ms) return x->time_ms < y->time_ms ? 1 : -1;
    if (x->message_id != y->message_id) return x->message_id < y->message_id ? 1 : -1;
    return (x->start < y->start) - (x->start > y->start);
}

static int read_all(ct_connection *reader, const ct_bound_filter *filter, ct_directives *out, ct_error *error) {
    int64_t until = filter->until_ms;
    int status = CT_OK;
    if (!filter->restrict_sessions) {
        status = add_rows(reader, CT_SQL_DIRECTIVE_STANDING, until, CT_STANDING_MAX, STANDING, out, error);
        if (!status && until < STANDING)
            status = add_rows(reader, CT_SQL_DIRECTIVE_ENDED, until, CT_STANDING_MAX, STANDING, out, error);
    }
    for (size_t i = 0; !status && i < filter->session_count; i++)
        status = add_rows(reader, CT_SQL_DIRECTIVE_SESSION, until, CT_STANDING_SESSION_MAX, filter->sessions[i],
                          out, error);
    return status;
}

int ct_store_directives(ct_store *store, const ct_bound_filter *filter, ct_directives *out, ct_error *error) {
    ct_connection *reader;
    ct_directives found = {0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = ct_sql_begin_read(reader, error);
    if (!status) status = ct_sql_end(reader, read_all(reader, filter, &found, error), error);
    ct_reader_give(store, reader);
    if (found.count) qsort(found.list, found.count, sizeof *found.list, newest_first);
    if (status) ct_directives_free(&found);
    else *out = found;
    return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int end_one(ct_connection *connection, const ct_directive_row *row, int64_t ended, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_DIRECTIVE_END, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, row->message_id);
    sqlite3_bind_int64(statement, 2, (int64_t)row->start);
    sqlite3_bind_int64(statement, 3, ended);
    return ct_sql_do(connection, statement, "ending a directive", error);
}

static int add_one(ct_connection *connection, int64_t message_id, const ct_new_directive *directive,
                   ct_error *error) {
    const ct_directive_view *view = &directive->view;
    sqlite3_stmt *statement = ct_sql_get(connection, CT_SQL_DIRECTIVE_ADD, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, message_id);
    sqlite3_bind_int64(statement, 2, STANDING);
    sqlite3_bind_int64(statement, 3, (int64_t)directive->start);
    sqlite3_bind_int64(statement, 4, (int64_t)directive->bytes);
    sqlite3_bind_int(statement, 5, view->kind);
    sqlite3_bind_int64(statement, 6, view->hash);
    if (view->mean) sqlite3_bind_blob64(statement, 7, view->mean, view->bits, SQLITE_STATIC);
    return ct_sql_do(connection, statement, "storing a directive", error);
}

/* Messages are embedded newest first, so that either may be the newer of the two. */
static int settle(ct_connection *connection, const ct_directive_row *all, size_t count, size_t own, ct_error *error) {
    const ct_directive_row *row = &all[own];
    int status = CT_OK;
    for (size_t i = own; i-- > 0;) /* the first to take its place */
        if (ct_directive_replaces(&all[i].view, &row->view)) return end_one(connection, row, all[i].time_ms, error);
    for (size_t i = own + 1; !status && i < count; i++)
        if (ct_directive_replaces(&row->view, &all[i].view)) status = end_one(connection, &all[i], row->time_ms, error);
    return status;
}

int ct_sql_put_directives(ct_connection *connection, int64_t message_id, const ct_new_directive *directives,
                          size_t count, ct_error *error) {
    int status = CT_OK;
    for (size_t d = 0; !status && d < count; d++) {
        ct_directives all = {0};
        status = add_one(connection, message_id, &directives[d], error);
        if (!status && sqlite3_changes(connection->db) == 0) continue; /* stored before */
        if (!status)
            status = add_rows(connection, CT_SQL_DIRECTIVE_STANDING, STANDING, CT_STANDING_MAX, STANDING, &all, error);
        if (all.count) qsort(all.list, all.count, sizeof *all.list, newest_first);
        for (size_t i = 0; !status && i < all.count; i++) {
            if (all.list[i].message_id != message_id || all.list[i].start != directives[d].start) continue;
            status = settle(connection, all.list, all.count, i, error);
            break;
        }
        ct_directives_free(&all);
    }
    return status;
}
