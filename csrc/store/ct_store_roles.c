/* Who speaks in a store. */
#include "base/ct_alloc.h"
#include "store/ct_sql.h"
#include "base/ct_error.h"

void ct_roles_free(ct_roles *roles) {
    for (size_t i = 0; i < roles->count; i++) ct_free(roles->list[i].name);
    roles->count = 0;
}

int ct_store_roles(ct_store *store, ct_roles *out, ct_error *error) {
    ct_connection *reader;
    ct_roles roles = {.count = 0};
    int code = SQLITE_DONE;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, CT_SQL_ROLE_LIST, error);
    if (!statement) status = error->status;
    else sqlite3_bind_int(statement, 1, CT_ROLES_MAX);
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        char *copy = ct_copy_string(name ? name : "");
        if (copy) roles.list[roles.count++] = (ct_role){sqlite3_column_int64(statement, 0), copy};
        else status = ct_fail_nomem(error);
    }
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading the roles", error);
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    if (status) ct_roles_free(&roles);
    else *out = roles;
    return status;
}
