/* Full-text search.  The query's words are found with FTS5's own tokenizer and quoted one by one, so
 * that no punctuation of a user can be query syntax, and a word splits in a query as it does in a
 * message. */
#include <stdio.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_sql.h"

/* A question has few words; of a pasted page the first ones stand for the rest. */
#define TERMS_MAX 64

typedef struct terms {
    struct term {
        char *text; /* as the tokenizer folded it */
        size_t bytes;
    } list[TERMS_MAX];
    size_t count;
    int nomem;
} terms;

static int keep_term(void *state, int flags, const char *token, int bytes, int start, int end) {
    terms *found = state;
    (void)flags;
    (void)start;
    (void)end;
    for (size_t i = 0; i < found->count; i++)
        if (found->list[i].bytes == (size_t)bytes && memcmp(found->list[i].text, token, (size_t)bytes) == 0)
            return SQLITE_OK;
    if (found->count == TERMS_MAX) return SQLITE_DONE;
    char *copy = ct_copy(token, (size_t)bytes);
    if (!copy) {
        found->nomem = 1;
        return SQLITE_NOMEM;
    }
    found->list[found->count].text = copy;
    found->list[found->count++].bytes = (size_t)bytes;
    return SQLITE_OK;
}

static fts5_api *find_fts5(sqlite3 *db) {
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(statement, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return api;
}

static int split(ct_connection *reader, const char *text, size_t bytes, terms *out, ct_error *error) {
    const char *arguments[] = {"remove_diacritics", "2"};
    fts5_tokenizer tokenizer;
    void *state = NULL;
    Fts5Tokenizer *instance = NULL;
    fts5_api *api = find_fts5(reader->db);
    if (!api) return ct_fail(error, CT_INTERNAL, "this SQLite was built without FTS5");
    int code = api->xFindTokenizer(api, "unicode61", &state, &tokenizer);
    if (code == SQLITE_OK) code = tokenizer.xCreate(state, arguments, 2, &instance);
    if (code == SQLITE_OK)
        code = tokenizer.xTokenize(instance, out, FTS5_TOKENIZE_QUERY, text, (int)bytes, keep_term);
    if (instance) tokenizer.xDelete(instance);
    if (out->nomem || code == SQLITE_NOMEM) return ct_fail_nomem(error);
    if (code != SQLITE_OK && code != SQLITE_DONE)
        return ct_sql_fail(reader, code, "splitting the query", error);
    return CT_OK;
}

/* "a" OR "b" OR ...  Tokens hold letters and digits only, so there is no quote to escape. */
static char *join(const terms *found) {
    size_t size = 1;
    for (size_t i = 0; i < found->count; i++) size += found->list[i].bytes + 6;
    char *expression = ct_alloc(size), *end = expression;
    if (!expression) return NULL;
    *end = 0;
    for (size_t i = 0; i < found->count; i++)
        end += snprintf(end, size - (size_t)(end - expression), "%s\"%s\"", i ? " OR " : "",
                        found->list[i].text);
    return expression;
}

static int run(ct_connection *reader, const char *expression, const ct_bound_filter *filter,
               ct_lexical_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    int filtered = filter->restrict_sessions || filter->restrict_roles || filter->since_ms != INT64_MIN ||
                   filter->until_ms != INT64_MAX;
    const char *sql =
        filtered ? "SELECT words.rowid, rank FROM words JOIN message ON message.id = words.rowid"
                   " WHERE words MATCH ?1 AND " CT_SQL_FILTER " ORDER BY rank LIMIT ?2"
                 : "SELECT rowid, rank FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2";
    sqlite3_stmt *statement = NULL;
    int status = CT_OK;
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) status = ct_sql_fail(reader, code, "searching words", error);
    if (!status) {
        sqlite3_bind_text(statement, 1, expression, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, (int64_t)capacity);
        if (filtered) status = ct_sql_bind_filter(statement, filter, error);
    }
    while (!status && *count < capacity && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        hits[*count].message_id = sqlite3_column_int64(statement, 0);
        hits[(*count)++].score = -sqlite3_column_double(statement, 1);
    }
    if (!status && code != SQLITE_DONE && code != SQLITE_ROW)
        status = ct_sql_fail(reader, code, "searching words", error);
    sqlite3_finalize(statement);
    return status;
}

int ct_store_search(ct_store *store, const char *text, size_t bytes, const ct_bound_filter *filter,
                    ct_lexical_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    terms found = {.count = 0};
    ct_connection *reader;
    *count = 0;
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = split(reader, text, bytes, &found, error);
    if (!status && found.count > 0) {
        char *expression = join(&found);
        status = expression ? run(reader, expression, filter, hits, capacity, count, error)
                            : ct_fail_nomem(error);
        ct_free(expression);
    }
    ct_reader_give(store, reader);
    for (size_t i = 0; i < found.count; i++) ct_free(found.list[i].text);
    return status;
}
