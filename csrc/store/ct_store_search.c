/* Messages by their words, best first by BM25.
 *
 * While the words' lists are short together, every message in them is scored.  From a length on the
 * rare words choose: messages that hold one of them are scored, by all words; the lists of the common
 * ones are then only skipped through.  When all are common, messages that hold several of them are, the newest
 * first, up to a number.  Should that not give enough, the newest of the other messages fill up.  So the
 * messages that are scored do not grow with the store; the lists that are skipped through do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_hash.h"
#include "store/ct_connection.h"
#include "store/ct_fts.h"
#include "store/ct_sql.h"

/* Entries of word lists that are read for each hit that is wanted, before common words stop choosing:
 * about 0.2 microseconds each.  Measured for conversations among 48,000 other messages: with 12 the first
 * twenty hits are as good as with 30 or with all entries read. */
#define SCORED_FACTOR 12

/* Entries of word lists that are read at all, if only to be skipped.  Beyond that the commonest words of a query
 * count for nothing, and of a list that is longer by itself the newest part is read. */
#define READ_MOST 50000.0

/* The same when a filter lets too few of them pass. */
#define READ_MOST_FILTERED 200000.0

/* A step back through time is at most so many times the one before. */
#define STEP 8

/* Git shows seven digits of a hash; fewer would match by chance. */
#define START_BYTES 7

typedef struct term {
    const char *text; /* a word, or several with a space between */
    int64_t messages; /* that hold it */
    int is_start; /* of longer words: a hash by its first digits */
} term;

typedef struct search {
    ct_connection *reader;
    term terms[CT_WORDS_MAX + CT_PHRASES_MAX];
    size_t count;
    int64_t low, high; /* ids that can pass the filter */
    int64_t last;      /* the highest id there is */
    ct_ranking ranking;
    ct_error *error;
} search;

/* ---- in how many messages ------------------------------------------------------------------ */

/* FTS5 counts by reading the whole list of a word.  What took long is kept, and serves in proportion
 * until the store has grown by a sixteenth: BM25 takes the logarithm. */
#define COUNT_KEPT 256

typedef struct counting {
    search *to;
    sqlite3_stmt *statement;
    int64_t messages;
} counting;

static int64_t kept_count(const search *to, uint64_t hash) {
    ct_store *store = to->ranking.store;
    int64_t messages = 0;
    pthread_mutex_lock(&store->counts_mutex);
    const ct_word_count *kept = &store->counts[hash % CT_COUNTS];
    if (kept->hash == hash && kept->last > 0 && to->last >= kept->last &&
        to->last - kept->last < kept->last / 16)
        messages = (int64_t)((double)kept->messages * ((double)to->last / (double)kept->last));
    pthread_mutex_unlock(&store->counts_mutex);
    return messages;
}

static void keep_count(const search *to, uint64_t hash, int64_t messages) {
    ct_store *store = to->ranking.store;
    if (messages < COUNT_KEPT) return;
    pthread_mutex_lock(&store->counts_mutex);
    store->counts[hash % CT_COUNTS] = (ct_word_count){hash, messages, to->last};
    pthread_mutex_unlock(&store->counts_mutex);
}

static int count_stem(void *state, int flags, const char *token, int bytes, int start, int end) {
    counting *counted = state;
    uint64_t hash = ct_hash(token, (size_t)bytes, 0);
    (void)flags;
    (void)start;
    (void)end;
    counted->messages = kept_count(counted->to, hash);
    if (counted->messages > 0) return SQLITE_OK;
    sqlite3_bind_text(counted->statement, 1, token, bytes, SQLITE_STATIC);
    int code = sqlite3_step(counted->statement);
    if (code == SQLITE_ROW) counted->messages = sqlite3_column_int64(counted->statement, 0);
    sqlite3_reset(counted->statement);
    keep_count(counted->to, hash, counted->messages);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Whether a word that no message holds may stand for the beginning of an identifier. */
static int may_be_start(const char *word) {
    size_t bytes = strlen(word);
    return bytes >= START_BYTES && strcspn(word, "0123456789") < bytes;
}

static int count_words(search *to, const ct_words *words) {
    ct_tokenizer tokenizer;
    counting counted = {.to = to, .statement = ct_sql_get(to->reader, CT_SQL_WORD_COUNT, to->error)};
    if (!counted.statement) return to->error->status;
    int status = ct_tokenizer_open(to->reader, 1, &tokenizer, to->error);
    for (size_t i = 0; !status && i < words->count; i++) {
        const char *word = words->list[i];
        counted.messages = 0;
        int code = tokenizer.methods.xTokenize(tokenizer.instance, &counted, FTS5_TOKENIZE_QUERY, word,
                                               (int)strlen(word), count_stem);
        if (code != SQLITE_OK) status = ct_sql_fail(to->reader, code, "counting words", to->error);
        else if (counted.messages > 0) to->terms[to->count++] = (term){word, counted.messages, 0};
        else if (may_be_start(word)) to->terms[to->count++] = (term){word, 1, 1};
    }
    sqlite3_clear_bindings(counted.statement);
    ct_tokenizer_close(&tokenizer);
    return status;
}

static int count_phrases(search *to, const ct_words *words) {
    char quoted[CT_PHRASE_BYTES + 3];
    for (size_t i = 0; i < words->phrase_count; i++) {
        sqlite3_stmt *statement = ct_sql_get(to->reader, CT_SQL_PHRASE_COUNT, to->error);
        if (!statement) return to->error->status;
        snprintf(quoted, sizeof quoted, "\"%s\"", words->phrases[i]);
        sqlite3_bind_text(statement, 1, quoted, -1, SQLITE_STATIC);
        int code = sqlite3_step(statement);
        int64_t messages = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
        if (code != SQLITE_ROW) return ct_sql_fail(to->reader, code, "counting words", to->error);
        if (messages > 0) to->terms[to->count++] = (term){words->phrases[i], messages, 0};
    }
    return CT_OK;
}

static int by_rarity(const void *a, const void *b) {
    const term *x = a, *y = b;
    if (x->messages != y->messages) return x->messages < y->messages ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* ---- running ------------------------------------------------------------------------------- */

static char *put_terms(char *end, const term *terms, size_t count, int all) {
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(end, !i ? "\"" : all ? " AND \"" : " OR \"");
        end = stpcpy(stpcpy(end, terms[i].text), terms[i].is_start ? "\"*" : "\"");
    }
    return end;
}

/* "a" OR "b" OR ..., or with one or all of the first ones required: ("a" AND "b") AND ("a" OR "b" OR ...).
 * Terms hold letters and digits only, so there is no quote to escape. */
static char *make_expression(const term *terms, size_t count, size_t required, int all) {
    size_t size = 16;
    for (size_t i = 0; i < count; i++) size += 2 * (strlen(terms[i].text) + 8);
    char *expression = ct_alloc(size), *end = expression;
    if (!expression) return NULL;
    if (required) end = stpcpy(put_terms(stpcpy(end, "("), terms, required, all), ") AND (");
    end = put_terms(end, terms, count, 0);
    stpcpy(end, required ? ")" : "");
    return expression;
}

/* Rank the messages low to high that match. */
static int rank(search *to, const char *expression, int64_t low, int64_t high) {
    sqlite3_stmt *statement = ct_sql_get(to->reader, CT_SQL_RANK, to->error);
    if (!statement) return to->error->status;
    int code;
    sqlite3_bind_text(statement, 1, expression, -1, SQLITE_STATIC);
    sqlite3_bind_pointer(statement, 2, &to->ranking, CT_RANKING_POINTER, NULL);
    sqlite3_bind_int64(statement, 3, low);
    sqlite3_bind_int64(statement, 4, high);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) continue;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return code == SQLITE_DONE ? CT_OK : ct_sql_fail(to->reader, code, "searching words", to->error);
}

/* The ids between which messages can pass the filter. */
static int find_bounds(search *to) {
    const ct_bound_filter *filter = to->ranking.filter;
    sqlite3_stmt *statement = ct_sql_get(to->reader, CT_SQL_MESSAGE_BOUNDS, to->error);
    int code = SQLITE_ROW;
    if (!statement) return to->error->status;
    size_t sessions = filter->restrict_sessions ? filter->session_count : 0;
    for (size_t i = 0; code == SQLITE_ROW && i < sessions; i++) {
        sqlite3_reset(statement);
        sqlite3_bind_int64(statement, 1, filter->sessions[i]);
        code = sqlite3_step(statement);
        if (code != SQLITE_ROW || sqlite3_column_type(statement, 0) == SQLITE_NULL) continue;
        int64_t low = sqlite3_column_int64(statement, 0), high = sqlite3_column_int64(statement, 1);
        if (low < to->low) to->low = low;
        if (high > to->high) to->high = high;
    }
    sqlite3_reset(statement);
    if (code == SQLITE_ROW) {
        statement = ct_sql_get(to->reader, CT_SQL_MESSAGE_LAST, to->error);
        if (!statement) return to->error->status;
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) to->last = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    if (code != SQLITE_ROW) return ct_sql_fail(to->reader, code, "searching words", to->error);
    if (!filter->restrict_sessions) {
        to->low = 1;
        to->high = to->last;
    }
    if (to->low < filter->first_id) to->low = filter->first_id;
    if (to->high > filter->last_id) to->high = filter->last_id;
    return CT_OK;
}

/* Score the messages that hold one of the first `rare` terms, or any term when it is 0. */
static int rank_holding(search *to, size_t rare) {
    char *expression = make_expression(to->terms, to->count, rare, 0);
    if (!expression) return ct_fail_nomem(to->error);
    to->ranking.before = rare;
    int status = rank(to, expression, to->low, to->high);
    to->ranking.before = 0;
    to->ranking.passed = rare;
    ct_free(expression);
    return status;
}

/* When to stop going back through time. */
typedef enum until {
    SEEN = 1, /* so many were looked at */
    FULL = 2, /* there are enough hits */
} until;

/* Back through time, until all that is asked for holds.  share: of the ids, at most those that match; how many do is
 * seen on the way. */
static int rank_back(search *to, const char *expression, double share, double most, unsigned stop) {
    int status = CT_OK;
    double width = most / share;
    size_t before = to->ranking.seen;
    int64_t high = to->high;
    while (!status && high >= to->low) {
        double seen = (double)(to->ranking.seen - before), left = stop & SEEN ? most - seen : 0;
        if (left <= 0 && (!(stop & FULL) || to->ranking.count >= to->ranking.capacity)) break;
        if (high < to->high)
            width = fmin(STEP * width, left <= 0 || seen <= 0 ? INFINITY : left * (double)(to->high - high) / seen);
        int64_t low = width < (double)(high - to->low) ? high - (int64_t)width : to->low;
        status = rank(to, expression, low, high);
        high = low - 1;
    }
    return status;
}

/* Score the newest messages that hold a term. */
static int rank_newest(search *to, double share, double most) {
    char *expression = make_expression(to->terms, to->count, 0, 0);
    if (!expression) return ct_fail_nomem(to->error);
    int status = rank_back(to, expression, share, most, FULL);
    ct_free(expression);
    return status;
}

/* All terms are common: score the messages that hold several, as many of the rarest as leave few enough,
 * were they independent. */
static int rank_joint(search *to, double most) {
    double share = 1;
    size_t joint = 0;
    while (joint < to->count && share * (double)to->last > most)
        share *= fmin((double)to->terms[joint++].messages / (double)to->last, 1);
    if (joint < 2) return CT_OK;
    char *expression = make_expression(to->terms, to->count, joint, 1);
    if (!expression) return ct_fail_nomem(to->error);
    to->ranking.before = joint;
    /* They may as well always come together.  None is looked at again, so that under a filter all are. */
    int status = rank_back(to, expression, (double)to->terms[0].messages / (double)to->last, most,
                           to->ranking.keys ? SEEN | FULL : SEEN);
    to->ranking.before = 0;
    to->ranking.passed = joint;
    to->ranking.passed_all = 1;
    ct_free(expression);
    return status;
}

/* Leave out what would take too long to read. */
static void limit_reading(search *to, double read_most) {
    double part = (double)(to->high - to->low + 1) / (double)to->last, read = 0;
    size_t kept = 0;
    while (kept < to->count && (!kept || read + part * (double)to->terms[kept].messages <= read_most))
        read += part * (double)to->terms[kept++].messages;
    to->count = kept;
    if (read > read_most) to->low = to->high - (int64_t)((double)(to->high - to->low) * read_most / read);
}

/* Rank as far as so many list entries go. */
static int rank_within(search *to, double read_most) {
    int status;
    limit_reading(to, read_most);
    double total = 0, most = (double)to->ranking.capacity * SCORED_FACTOR;
    size_t rare = 0;
    for (size_t i = 0; i < to->count; i++) {
        to->ranking.messages[i] = to->terms[i].messages;
        total += (double)to->terms[i].messages;
        if (total <= most) rare = i + 1;
    }
    to->ranking.terms = to->count;
    double share = total / (double)to->last;
    if (share * (double)(to->high - to->low + 1) <= most) return rank_holding(to, 0);
    status = rare ? rank_holding(to, rare) : rank_joint(to, most);
    if (!status) status = rank_newest(to, share, most);
    return status;
}

static int run(search *to, const ct_words *words) {
    int status = find_bounds(to);
    if (!status) status = count_words(to, words);
    if (!status) status = count_phrases(to, words);
    if (status || to->count == 0 || to->low > to->high) return status;
    qsort(to->terms, to->count, sizeof *to->terms, by_rarity);
    if (to->count > CT_TERMS_MAX) to->count = CT_TERMS_MAX;
    int64_t low = to->low;
    size_t count = to->count;
    status = rank_within(to, READ_MOST);
    if (status || !to->ranking.keys || to->ranking.count == to->ranking.capacity) return status;
    if (to->low == low && to->count == count) return status;
    /* What was read did not pass the filter; what would may be in the rest. */
    to->low = low;
    to->count = count;
    ct_ranking_clear(&to->ranking);
    return rank_within(to, READ_MOST_FILTERED);
}

int ct_store_search(ct_store *store, const ct_words *words, const ct_bound_filter *filter,
                    ct_lexical_hit *hits, size_t capacity, size_t *count, ct_error *error) {
    search to = {
        .low = INT64_MAX,
        .ranking = {.store = store, .filter = filter, .hits = hits, .capacity = capacity},
        .error = error,
    };
    if (capacity == 0) return CT_OK;
    int status = ct_reader_take(store, &to.reader, error);
    if (status) return status;
    status = ct_sql_begin_read(to.reader, error);
    if (!status && !ct_bound_filter_is_open(filter)) {
        to.ranking.keys = ct_sql_get(to.reader, CT_SQL_MESSAGE_KEYS, error);
        if (!to.ranking.keys) status = error->status;
    }
    if (!status) status = run(&to, words);
    if (to.ranking.keys) sqlite3_reset(to.ranking.keys);
    status = ct_sql_end(to.reader, status, error);
    ct_reader_give(store, to.reader);
    if (status) return status;
    ct_ranking_sort(&to.ranking);
    *count = to.ranking.count;
    return CT_OK;
}
