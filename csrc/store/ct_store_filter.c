/* Filters: names looked up once, then ids and times only. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_sql.h"

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int bind_names(ct_connection *reader, ct_statement find, const char *const *names, size_t count,
                      int64_t **ids, size_t *found, ct_error *error) {
    *ids = ct_alloc(count * sizeof **ids);
    if (!*ids) return ct_fail_nomem(error);
    for (size_t i = 0; i < count; i++) {
        int64_t id = 0;
        int status = ct_sql_find_name(reader, find, names[i], &id, error);
        if (status) return status;
        if (id) (*ids)[(*found)++] = id;
    }
    qsort(*ids, *found, sizeof **ids, compare_ids);
    size_t kept = 0;
    for (size_t i = 0; i < *found; i++)
        if (!i || (*ids)[i] != (*ids)[kept - 1]) (*ids)[kept++] = (*ids)[i];
    *found = kept;
    return CT_OK;
}

int ct_store_bind_filter(ct_store *store, const ct_filter *filter, ct_bound_filter *out,
                         ct_error *error) {
    ct_bound_filter bound = {
        .restrict_sessions = filter->session_count > 0,
        .restrict_roles = filter->role_count > 0,
        .since_ms = filter->since_ms,
        .until_ms = filter->until_ms,
        .first_id = 1,
        .last_id = INT64_MAX,
    };
    int status = CT_OK;
    if (bound.restrict_sessions || bound.restrict_roles) {
        ct_connection *reader;
        status = ct_reader_take(store, &reader, error);
        if (status) return status;
        if (bound.restrict_sessions)
            status = bind_names(reader, CT_SQL_SESSION_ID, filter->sessions, filter->session_count,
                                &bound.sessions, &bound.session_count, error);
        if (!status && bound.restrict_roles)
            status = bind_names(reader, CT_SQL_ROLE_ID, filter->roles, filter->role_count, &bound.roles,
                                &bound.role_count, error);
        ct_reader_give(store, reader);
    }
    if (status) ct_bound_filter_free(&bound);
    else *out = bound;
    return status;
}

static char *id_list(const int64_t *ids, size_t count) {
    size_t capacity = count * 21 + 3, used = 1;
    char *json = ct_alloc(capacity);
    if (!json) return NULL;
    json[0] = '[';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(json + used, capacity - used, "%s%lld", i ? "," : "", (long long)ids[i]);
    snprintf(json + used, capacity - used, "]");
    return json;
}

int ct_sql_bind_filter(sqlite3_stmt *statement, const ct_bound_filter *filter, ct_error *error) {
    const int64_t *ids[2] = {filter->sessions, filter->roles};
    const size_t counts[2] = {filter->session_count, filter->role_count};
    const int restricted[2] = {filter->restrict_sessions, filter->restrict_roles};
    for (int i = 0; i < 2; i++) {
        if (!restricted[i]) continue;
        char *json = id_list(ids[i], counts[i]);
        if (!json) return ct_fail_nomem(error);
        sqlite3_bind_text(statement, 3 + i, json, -1, SQLITE_TRANSIENT);
        ct_free(json);
    }
    sqlite3_bind_int64(statement, 5, filter->since_ms);
    sqlite3_bind_int64(statement, 6, filter->until_ms);
    return CT_OK;
}
