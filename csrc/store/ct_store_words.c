/* Full-text search.  The query's words are found with FTS5's own tokenizer and quoted one by one, so
 * that no punctuation of a user can be query syntax, and a word splits in a query as it does in a
 * message. */
#include <stdio.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "store/ct_sql.h"

typedef struct splitting {
    ct_words *words;
    int nomem;
} splitting;

static int keep_word(void *state, int flags, const char *token, int bytes, int start, int end) {
    splitting *to = state;
    ct_words *words = to->words;
    (void)flags;
    (void)start;
    (void)end;
    for (size_t i = 0; i < words->count; i++)
        if (strlen(words->list[i]) == (size_t)bytes && memcmp(words->list[i], token, (size_t)bytes) == 0)
            return SQLITE_OK;
    if (words->count == CT_WORDS_MAX) return SQLITE_DONE;
    words->list[words->count] = ct_copy(token, (size_t)bytes);
    to->nomem = !words->list[words->count];
    if (to->nomem) return SQLITE_NOMEM;
    words->count++;
    return SQLITE_OK;
}

void ct_words_free(ct_words *words) {
    for (size_t i = 0; i < words->count; i++) ct_free(words->list[i]);
    words->count = 0;
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

static int split(ct_connection *reader, const char *text, size_t bytes, ct_words *out,
                 ct_error *error) {
    const char *arguments[] = {"remove_diacritics", "2"};
    fts5_tokenizer tokenizer;
    void *state = NULL;
    Fts5Tokenizer *instance = NULL;
    splitting to = {.words = out};
    fts5_api *api = find_fts5(reader->db);
    if (!api) return ct_fail(error, CT_INTERNAL, "this SQLite was built without FTS5");
    int code = api->xFindTokenizer(api, "unicode61", &state, &tokenizer);
    if (code == SQLITE_OK) code = tokenizer.xCreate(state, arguments, 2, &instance);
    if (code == SQLITE_OK)
        code = tokenizer.xTokenize(instance, &to, FTS5_TOKENIZE_QUERY, text, (int)bytes, keep_word);
    if (instance) tokenizer.xDelete(instance);
    if (to.nomem || code == SQLITE_NOMEM) return ct_fail_nomem(error);
    if (code != SQLITE_OK && code != SQLITE_DONE)
        return ct_sql_fail(reader, code, "splitting the query", error);
    return CT_OK;
}

int ct_store_split(ct_store *store, const char *text, size_t bytes, ct_words *out, ct_error *error) {
    ct_connection *reader;
    ct_words words = {.count = 0};
    int status = ct_reader_take(store, &reader, error);
    if (status) return status;
    status = split(reader, text, bytes, &words, error);
    ct_reader_give(store, reader);
    if (status) ct_words_free(&words);
    else *out = words;
    return status;
}

/* "a" OR "b" OR ...  Tokens hold letters and digits only, so there is no quote to escape. */
static char *join(const ct_words *words) {
    size_t size = 1;
    for (size_t i = 0; i < words->count; i++) size += strlen(words->list[i]) + 6;
    char *expression = ct_alloc(size), *end = expression;
    if (!expression) return NULL;
    *end = 0;
    for (size_t i = 0; i < words->count; i++)
        end += snprintf(end, size - (size_t)(end - expression), "%s\"%s\"", i ? " OR " : "",
                        words->list[i]);
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

int ct_store_search(ct_store *store, const ct_words *words, const ct_bound_filter *filter,
                    ct_lexical_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    size_t found = 0;
    int status = CT_OK;
    if (words->count > 0) {
        ct_connection *reader;
        char *expression = join(words);
        if (!expression) return ct_fail_nomem(error);
        status = ct_reader_take(store, &reader, error);
        if (!status) {
            status = run(reader, expression, filter, hits, capacity, &found, error);
            ct_reader_give(store, reader);
        }
        ct_free(expression);
    }
    if (!status) *count = found;
    return status;
}
