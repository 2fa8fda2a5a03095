#include "store/ct_fts.h"

#include <math.h>

#include "base/ct_error.h"
#include "store/ct_lengths.h"

/* The usual constants, those of FTS5's own bm25(). */
#define K1 1.2
#define B 0.75

/* BM25+ (Lv and Zhai, CIKM 2011): a word counts for at least so much however long the message is, so
 * that an error code in a long output is found. */
#define DELTA 1.0

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

int ct_tokenizer_open(ct_connection *connection, int stemmed, ct_tokenizer *out, ct_error *error) {
    const char *arguments[] = {"unicode61", "remove_diacritics", "2", "categories", CT_CATEGORIES};
    const int skipped = stemmed ? 0 : 1, count = 5 - skipped;
    void *state = NULL;
    out->instance = NULL;
    fts5_api *api = connection->fts5;
    int code = api->xFindTokenizer(api, stemmed ? "porter" : "unicode61", &state, &out->methods);
    if (code == SQLITE_OK)
        code = out->methods.xCreate(state, arguments + skipped, count, &out->instance);
    return code == SQLITE_OK ? CT_OK : ct_sql_fail(connection, code, "splitting the query", error);
}

void ct_tokenizer_close(ct_tokenizer *tokenizer) {
    if (tokenizer->instance) tokenizer->methods.xDelete(tokenizer->instance);
}

/* ---- the best so far ----------------------------------------------------------------------- */

/* Of equal scores the newer message is better, as in the fused list. */
static int is_worse(const ct_lexical_hit *a, const ct_lexical_hit *b) {
    return a->score < b->score || (a->score == b->score && a->message_id < b->message_id);
}

static void sink(ct_lexical_hit *heap, size_t count, size_t at, ct_lexical_hit hit) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && is_worse(&heap[child + 1], &heap[child])) child++;
        if (!is_worse(&heap[child], &hit)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = hit;
}

static int is_wanted(const ct_ranking *ranking, const ct_lexical_hit *hit) {
    return ranking->count < ranking->capacity || is_worse(&ranking->hits[0], hit);
}

static void add_hit(ct_ranking *ranking, ct_lexical_hit hit) {
    if (ranking->count == ranking->capacity) {
        sink(ranking->hits, ranking->count, 0, hit);
        return;
    }
    size_t at = ranking->count++;
    while (at > 0 && is_worse(&hit, &ranking->hits[(at - 1) / 2])) {
        ranking->hits[at] = ranking->hits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    ranking->hits[at] = hit;
}

void ct_ranking_clear(ct_ranking *ranking) {
    ranking->terms = ranking->before = ranking->passed = ranking->seen = ranking->count = 0;
    ranking->passed_all = 0;
    ranking->mean_length = 0; /* has the weights made again */
}

void ct_ranking_sort(ct_ranking *ranking) {
    for (size_t left = ranking->count; left > 1; left--) {
        ct_lexical_hit worst = ranking->hits[0];
        sink(ranking->hits, left - 1, 0, ranking->hits[left - 1]);
        ranking->hits[left - 1] = worst;
    }
}

/* ---- BM25 ---------------------------------------------------------------------------------- */

/* As FTS5's bm25(): a word of more than half of the messages says nothing, rather than the opposite. */
static int set_weights(ct_ranking *ranking, const Fts5ExtensionApi *api, Fts5Context *row) {
    sqlite3_int64 rows = 0, words = 0;
    int code = api->xRowCount(row, &rows);
    if (code == SQLITE_OK) code = api->xColumnTotalSize(row, -1, &words);
    if (code != SQLITE_OK) return code;
    for (size_t i = 0; i < ranking->terms; i++) {
        double held = (double)ranking->messages[i];
        double weight = log(((double)rows - held + 0.5) / (held + 0.5));
        ranking->weight[i] = weight > 1e-6 ? weight : 1e-6; /* also when the counts disagree (NaN) */
    }
    ranking->mean_length = rows > 0 && words > 0 ? (double)words / (double)rows : 1;
    return SQLITE_OK;
}

static double sum_terms(const ct_ranking *ranking, const int *times, double length) {
    double norm = K1 * (1 - B + B * length / ranking->mean_length), score = 0;
    for (size_t i = 0; i < ranking->terms; i++)
        if (times[i]) score += ranking->weight[i] * (times[i] * (K1 + 1) / (times[i] + norm) + DELTA);
    return score;
}

static int count_times(const ct_ranking *ranking, const Fts5ExtensionApi *api, Fts5Context *row,
                       int *times) {
    size_t held = 0;
    for (size_t i = 0; i < ranking->terms; i++) {
        Fts5PhraseIter place;
        int column, offset;
        times[i] = 0;
        int code = api->xPhraseFirst(row, (int)(ranking->before + i), &place, &column, &offset);
        if (code != SQLITE_OK) return code;
        while (column >= 0) {
            times[i]++;
            api->xPhraseNext(row, &place, &column, &offset);
        }
        if (times[i] && i < ranking->passed && !ranking->passed_all) return SQLITE_DONE;
        held += times[i] && i < ranking->passed;
    }
    return ranking->passed && held == ranking->passed ? SQLITE_DONE : SQLITE_OK;
}

/* ---- one message --------------------------------------------------------------------------- */

static int passes(const ct_ranking *ranking, int64_t id, int *out) {
    sqlite3_stmt *keys = ranking->keys;
    *out = 1;
    if (!keys) return SQLITE_OK;
    sqlite3_reset(keys);
    sqlite3_bind_int64(keys, 1, id);
    int code = sqlite3_step(keys);
    *out = code == SQLITE_ROW &&
           ct_bound_filter_passes(ranking->filter, sqlite3_column_int64(keys, 0),
                                  sqlite3_column_int64(keys, 1), sqlite3_column_int64(keys, 2));
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int rank_row(ct_ranking *ranking, const Fts5ExtensionApi *api, Fts5Context *row) {
    int times[CT_TERMS_MAX], words = 0, good = 0;
    if ((size_t)api->xPhraseCount(row) != ranking->before + ranking->terms) return SQLITE_ERROR;
    ranking->seen++;
    int code = ranking->mean_length > 0 ? SQLITE_OK : set_weights(ranking, api, row);
    if (code == SQLITE_OK) code = count_times(ranking, api, row, times);
    if (code != SQLITE_OK) return code == SQLITE_DONE ? SQLITE_OK : code;
    ct_lexical_hit hit = {.message_id = api->xRowid(row)};
    _Atomic uint32_t *kept = ct_length_of(ranking->store, hit.message_id);
    if (kept) words = (int)atomic_load_explicit(kept, memory_order_relaxed);
    if (words == 0) {
        /* Not worth asking when the shortest message would not do. */
        hit.score = sum_terms(ranking, times, 0);
        if (!is_wanted(ranking, &hit)) return SQLITE_OK;
        code = api->xColumnSize(row, -1, &words);
        if (code != SQLITE_OK) return code;
        if (words < 0) words = 0;
        if (kept) atomic_store_explicit(kept, (uint32_t)words, memory_order_relaxed);
    }
    hit.score = sum_terms(ranking, times, words);
    if (!is_wanted(ranking, &hit)) return SQLITE_OK;
    code = passes(ranking, hit.message_id, &good);
    if (code == SQLITE_OK && good) add_hit(ranking, hit);
    return code;
}

static void rank_function(const Fts5ExtensionApi *api, Fts5Context *row, sqlite3_context *context,
                          int count, sqlite3_value **values) {
    ct_ranking *ranking = count == 1 ? sqlite3_value_pointer(values[0], CT_RANKING_POINTER) : NULL;
    int code = ranking ? rank_row(ranking, api, row) : SQLITE_MISUSE;
    if (code != SQLITE_OK) sqlite3_result_error_code(context, code);
}

int ct_fts_register(ct_connection *connection, ct_error *error) {
    fts5_api *api = connection->fts5 = find_fts5(connection->db);
    if (!api) return ct_fail(error, CT_INTERNAL, "this SQLite was built without FTS5");
    int code = api->xCreateFunction(api, "ct_rank", NULL, rank_function, NULL);
    return code == SQLITE_OK ? CT_OK : ct_sql_fail(connection, code, "setting up a connection", error);
}
