/* What consolidation reads: messages, and what it left before. */
#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_connection.h"
#include "store/ct_consolidated.h"
#include "store/ct_sql.h"

typedef int take_row(void *state, sqlite3_stmt *row, ct_error *error);
enum { ENOUGH = -1 };

/* Run a statement whose parameters are numbers on a reader, and give each row to `take`, which ends the reading by
 * ENOUGH or a failure. */
static int read_rows(ct_store *store, ct_statement which, const int64_t *numbers, int count, take_row *take,
                     void *state, ct_error *error) {
    ct_connection *reader;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    sqlite3_stmt *statement = ct_sql_get(reader, which, error);
    int code = SQLITE_DONE;
    if (!statement) status = error->status;
    for (int i = 0; !status && i < count; i++) sqlite3_bind_int64(statement, i + 1, numbers[i]);
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) status = take(state, statement, error);
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading what is consolidated", error);
    if (statement) sqlite3_reset(statement);
    ct_reader_give(store, reader);
    return status == ENOUGH ? CT_OK : status;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static int take_progress(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    ct_progress *to = state;
    int64_t last = sqlite3_column_int64(row, 2);
    int64_t pending = sqlite3_column_type(row, 3) == SQLITE_NULL ? INT64_MAX : sqlite3_column_int64(row, 3);
    to->done = sqlite3_column_int64(row, 0);
    to->merged = sqlite3_column_int64(row, 1);
    to->through = pending <= last ? pending - 1 : last;
    int64_t ever = sqlite3_column_int64(row, 5);
    to->fits = to->done >= 0 && to->done <= ever && to->merged >= 0 && to->merged <= ever;
    /* One that failed before may wait again. */
    if (to->fits && to->through < to->done) to->through = to->done;
    to->any_stale = sqlite3_column_int(row, 4);
    to->dropped = sqlite3_column_int64(row, 6);
    return CT_OK;
}

int ct_store_progress(ct_store *store, ct_progress *out, ct_error *error) {
    return read_rows(store, CT_SQL_PROGRESS, NULL, 0, take_progress, out, error);
}

static int take_number(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    *(int64_t *)state = sqlite3_column_int64(row, 0);
    return CT_OK;
}

int ct_store_count_directives(ct_store *store, int64_t *count, ct_error *error) {
    const int64_t standing[] = {INT64_MAX, CT_DIRECTIVE_LIFTS};
    return read_rows(store, CT_SQL_DIRECTIVE_COUNT, standing, 2, take_number, count, error);
}

typedef struct number_list {
    int64_t *list;
    size_t capacity;
    size_t count;
} number_list;

static int take_numbers(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    number_list *to = state;
    if (to->count == to->capacity) return ENOUGH;
    to->list[to->count++] = sqlite3_column_int64(row, 0);
    return CT_OK;
}

static int read_numbers(ct_store *store, ct_statement which, int64_t about, int64_t *ids, size_t capacity,
                        size_t *count, ct_error *error) {
    const int64_t numbers[] = {about, (int64_t)capacity};
    number_list to = {ids, capacity, 0};
    int status = read_rows(store, which, numbers, 2, take_numbers, &to, error);
    *count = to.count;
    return status;
}

int ct_store_duplicates(ct_store *store, int64_t id, int64_t *ids, size_t capacity, size_t *count,
                        ct_error *error) {
    return read_numbers(store, CT_SQL_DUPLICATE_LIST, id, ids, capacity, count, error);
}

int ct_store_replaced(ct_store *store, int64_t id, int newer, int64_t *ids, size_t capacity, size_t *count,
                      ct_error *error) {
    ct_statement which = newer ? CT_SQL_REPLACED_NEWER : CT_SQL_REPLACED_OLDER;
    return read_numbers(store, which, id, ids, capacity, count, error);
}

/* ---- messages ------------------------------------------------------------------------------- */

void ct_told_list_free(ct_told_list *told) {
    for (size_t i = 0; i < told->count; i++) {
        ct_free(told->list[i].role);
        ct_free(told->list[i].text);
    }
    ct_free(told->list);
    *told = (ct_told_list){0};
}

typedef struct told_reading {
    ct_told_list *to;
    size_t bytes; /* that may still come */
} told_reading;

static int take_told(void *state, sqlite3_stmt *row, ct_error *error) {
    told_reading *of = state;
    ct_told_list *to = of->to;
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 16;
        ct_told *grown = ct_realloc(to->list, capacity * sizeof *grown);
        if (!grown) return ct_fail_nomem(error);
        to->list = grown;
        to->capacity = capacity;
    }
    const char *role = (const char *)sqlite3_column_text(row, 4), *text = (const char *)sqlite3_column_text(row, 5);
    ct_told told = {
        .id = sqlite3_column_int64(row, 0),
        .session_id = sqlite3_column_int64(row, 1),
        .role_id = sqlite3_column_int64(row, 2),
        .time_ms = sqlite3_column_int64(row, 3),
        .text_bytes = (size_t)sqlite3_column_bytes(row, 5),
    };
    told.role = ct_copy_string(role ? role : "");
    told.text = ct_copy(text ? text : "", told.text_bytes);
    if (!told.role || !told.text) {
        ct_free(told.role);
        ct_free(told.text);
        return ct_fail_nomem(error);
    }
    to->list[to->count++] = told;
    if (told.text_bytes >= of->bytes) return ENOUGH;
    of->bytes -= told.text_bytes;
    return CT_OK;
}

int ct_store_told_next(ct_store *store, int64_t after, int64_t through, size_t most, size_t bytes,
                       ct_told_list *out, ct_error *error) {
    const int64_t numbers[] = {after, through, (int64_t)most};
    told_reading of = {out, bytes};
    return read_rows(store, CT_SQL_TOLD_NEXT, numbers, 3, take_told, &of, error);
}

int ct_store_told(ct_store *store, int64_t id, ct_told_list *out, ct_error *error) {
    told_reading of = {out, SIZE_MAX};
    return read_rows(store, CT_SQL_TOLD_GET, &id, 1, take_told, &of, error);
}

int ct_store_episode_told(ct_store *store, const ct_episode_row *episode, size_t characters, ct_told_list *out,
                          ct_error *error) {
    const int64_t numbers[] = {episode->id, episode->last_id, episode->session_id, (int64_t)characters};
    told_reading of = {out, SIZE_MAX};
    return read_rows(store, CT_SQL_TOLD_SESSION, numbers, 4, take_told, &of, error);
}

/* ---- duplicates ----------------------------------------------------------------------------- */

typedef struct saying_reading {
    ct_saying_row *list;
    size_t capacity, count;
    int64_t hash;
} saying_reading;

static int take_saying(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    saying_reading *to = state;
    if (to->count == to->capacity) return ENOUGH;
    to->list[to->count++] = (ct_saying_row){to->hash, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    return CT_OK;
}

int ct_store_sayings(ct_store *store, int64_t hash, ct_saying_row *out, size_t capacity, size_t *count,
                     ct_error *error) {
    saying_reading to = {out, capacity, 0, hash};
    int status = read_rows(store, CT_SQL_SAYING_FIND, &hash, 1, take_saying, &to, error);
    *count = to.count;
    return status;
}

/* ---- episodes ------------------------------------------------------------------------------- */

static ct_episode_row episode_of(sqlite3_stmt *row) {
    return (ct_episode_row){
        .id = sqlite3_column_int64(row, 0),
        .session_id = sqlite3_column_int64(row, 1),
        .last_id = sqlite3_column_int64(row, 2),
        .messages = sqlite3_column_int64(row, 3),
        .start_ms = sqlite3_column_int64(row, 4),
        .end_ms = sqlite3_column_int64(row, 5),
    };
}

static int take_episode(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    *(ct_episode_row *)state = episode_of(row);
    return ENOUGH;
}

int ct_store_last_episode(ct_store *store, int64_t session_id, ct_episode_row *out, ct_error *error) {
    *out = (ct_episode_row){0};
    return read_rows(store, CT_SQL_EPISODE_LAST, &session_id, 1, take_episode, out, error);
}

int ct_store_episode_of(ct_store *store, int64_t session_id, int64_t message_id, ct_episode_row *out,
                        ct_error *error) {
    const int64_t numbers[] = {session_id, message_id};
    *out = (ct_episode_row){0};
    int status = read_rows(store, CT_SQL_EPISODE_OF, numbers, 2, take_episode, out, error);
    if (!status && message_id > out->last_id) *out = (ct_episode_row){0};
    return status;
}

int ct_store_stale_episode(ct_store *store, ct_episode_row *out, int *found, ct_error *error) {
    *out = (ct_episode_row){.id = INT64_MIN};
    int status = read_rows(store, CT_SQL_EPISODE_NEXT, NULL, 0, take_episode, out, error);
    *found = out->id != INT64_MIN;
    return status;
}

typedef struct member_reading {
    ct_member *list;
    size_t count;
} member_reading;

static int take_member(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    member_reading *to = state;
    to->list[to->count++] = (ct_member){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    return CT_OK;
}

int ct_store_episode_tail(ct_store *store, const ct_episode_row *episode, ct_member *out, size_t capacity,
                          size_t *count, ct_error *error) {
    const int64_t numbers[] = {episode->session_id, episode->id, episode->last_id, (int64_t)capacity};
    member_reading to = {out, 0};
    int status = read_rows(store, CT_SQL_EPISODE_TAIL, numbers, 4, take_member, &to, error);
    *count = to.count;
    return status;
}

int ct_store_episodes(ct_store *store, const ct_bound_filter *filter, int64_t after, int newest, size_t limit,
                      ct_episode_list *out, ct_error *error) {
    /* ?3 to ?6 as in every filter; roles are no matter of episodes. */
    static const char *const orders[] = {
        "SELECT id, session_id, last_id, messages, begins, ends FROM episode WHERE id > ?1"
        " AND (?3 IS NULL OR session_id IN (SELECT value FROM json_each(?3)))"
        " AND ?4 IS NULL AND ends >= ?5 AND begins < ?6 ORDER BY id LIMIT ?2",
        "SELECT id, session_id, last_id, messages, begins, ends FROM episode WHERE id > ?1"
        " AND (?3 IS NULL OR session_id IN (SELECT value FROM json_each(?3)))"
        " AND ?4 IS NULL AND ends >= ?5 AND begins < ?6 ORDER BY id DESC LIMIT ?2",
    };
    ct_connection *reader;
    ct_episode_list found = {ct_alloc(limit * sizeof *found.list), 0};
    if (!found.list) return ct_fail_nomem(error);
    int status = ct_reader_take(store, &reader, error);
    if (status) {
        ct_free(found.list);
        return status;
    }
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(reader->db, orders[newest != 0], -1, &statement, NULL);
    if (code != SQLITE_OK) status = ct_sql_fail(reader, code, "listing episodes", error);
    if (!status) {
        sqlite3_bind_int64(statement, 1, after);
        sqlite3_bind_int64(statement, 2, (int64_t)limit);
        status = ct_sql_bind_filter(statement, filter, error);
    }
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) found.list[found.count++] = episode_of(statement);
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "listing episodes", error);
    sqlite3_finalize(statement);
    ct_reader_give(store, reader);
    if (status) ct_free(found.list);
    else *out = found;
    return status;
}

/* ---- sentences ------------------------------------------------------------------------------ */

typedef struct digest_reading {
    ct_digest_row *list;
    size_t capacity, count;
} digest_reading;

static int take_digest(void *state, sqlite3_stmt *row, ct_error *error) {
    (void)error;
    digest_reading *to = state;
    if (to->count == to->capacity) return ENOUGH;
    to->list[to->count++] = (ct_digest_row){
        .episode_id = sqlite3_column_int64(row, 0),
        .rank = sqlite3_column_int64(row, 1),
        .message_id = sqlite3_column_int64(row, 2),
        .start = (size_t)sqlite3_column_int64(row, 3),
        .bytes = (size_t)sqlite3_column_int64(row, 4),
        .score = sqlite3_column_double(row, 5),
    };
    return CT_OK;
}

int ct_store_digest(ct_store *store, int64_t episode_id, ct_digest_row *out, size_t capacity, size_t *count,
                    ct_error *error) {
    digest_reading to = {out, capacity, 0};
    int status = read_rows(store, CT_SQL_DIGEST_GET, &episode_id, 1, take_digest, &to, error);
    *count = to.count;
    return status;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

typedef struct pair_list {
    ct_id_pair *list;
    size_t count, capacity;
} pair_list;

static int read_pairs_of(ct_connection *reader, int64_t id, int newer, pair_list *to, ct_error *error) {
    sqlite3_stmt *statement = ct_sql_get(reader, newer ? CT_SQL_REPLACED_NEWER : CT_SQL_REPLACED_OLDER, error);
    if (!statement) return error->status;
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, -1); /* all */
    int status = CT_OK, code = SQLITE_DONE;
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t other = sqlite3_column_int64(statement, 0);
        if (to->count == to->capacity) {
            size_t capacity = to->capacity ? 2 * to->capacity : 16;
            ct_id_pair *grown = ct_realloc(to->list, capacity * sizeof *grown);
            if (!grown) {
                status = ct_fail_nomem(error);
                break;
            }
            to->list = grown;
            to->capacity = capacity;
        }
        to->list[to->count++] = newer ? (ct_id_pair){other, id} : (ct_id_pair){id, other};
    }
    if (!status && code != SQLITE_DONE) status = ct_sql_fail(reader, code, "reading what is replaced", error);
    sqlite3_reset(statement);
    return status;
}

int ct_store_replaced_pairs(ct_store *store, const int64_t *ids, size_t count, ct_id_pair **pairs,
                            size_t *pair_count, ct_error *error) {
    ct_connection *reader;
    pair_list found = {0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = ct_sql_begin_read(reader, error);
    if (!status) {
        for (size_t i = 0; !status && i < count; i++) {
            status = read_pairs_of(reader, ids[i], 0, &found, error);
            if (!status) status = read_pairs_of(reader, ids[i], 1, &found, error);
        }
        status = ct_sql_end(reader, status, error);
    }
    ct_reader_give(store, reader);
    if (status) ct_free(found.list);
    else {
        *pairs = found.list;
        *pair_count = found.count;
    }
    return status;
}
