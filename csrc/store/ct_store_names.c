/* Names of sessions and roles. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

int ct_sql_find_name(ct_connection *connection, ct_statement find, const char *name, int64_t *id,
                     ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(connection, find, error);
    if (!statement) return error->status;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    int status = CT_OK;
    if (code == SQLITE_ROW) *id = sqlite3_column_int64(statement, 0);
    else if (code == SQLITE_DONE) *id = 0;
    else status = ct_sql_fail(connection, code, "looking up a name", error);
    sqlite3_reset(statement);
    return status;
}

int ct_sql_add_name(ct_connection *connection, ct_statement find, ct_statement add, const char *name,
                    int64_t *id, ct_error *error) {
    int status = ct_sql_find_name(connection, find, name, id, error);
    if (status || *id) return status;
    sqlite3_stmt *statement = ct_sql_get(connection, add, error);
    if (!statement) return error->status;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    status = ct_sql_do(connection, statement, "adding a name", error);
    if (!status) *id = sqlite3_last_insert_rowid(connection->db);
    return status;
}

void ct_roles_free(ct_roles *roles) {
    for (size_t i = 0; i < roles->count; i++) ct_free(roles->list[i].name);
    roles->count = 0;
}

static int read_role(ct_connection *reader, int64_t id, ct_roles *to, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_ROLE_NAME, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, id);
    int code = sqlite3_step(statement), status = CT_OK;
    if (code == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        char *copy = ct_copy_string(name ? name : "");
        if (copy) to->list[to->count++] = (ct_role){id, copy};
        else status = ct_fail_nomem(error);
    } else if (code != SQLITE_DONE) {
        status = ct_sql_fail(reader, code, "reading the roles", error);
    }
    sqlite3_reset(statement);
    return status;
}

int ct_store_roles(ct_store *store, const int64_t *ids, size_t count, ct_roles *out, ct_error *error) {
    ct_connection *reader;
    ct_roles roles = {.count = 0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    for (size_t i = 0; !status && i < count && i < CT_ROLES_MAX; i++)
        status = read_role(reader, ids[i], &roles, error);
    ct_reader_give(store, reader);
    if (status) ct_roles_free(&roles);
    else *out = roles;
    return status;
}
