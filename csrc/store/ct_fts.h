/* FTS5 from within: its tokenizer, and BM25 over the rows of a query. */
#ifndef CT_FTS_H
#define CT_FTS_H

#include "store/ct_sql.h"

typedef struct ct_tokenizer {
    fts5_tokenizer methods;
    Fts5Tokenizer *instance;
} ct_tokenizer;

/* The index's tokenizer, of a reader's connection, with or without its stemmer. */
int ct_tokenizer_open(ct_connection *connection, int stemmed, ct_tokenizer *out, ct_error *error);
void ct_tokenizer_close(ct_tokenizer *tokenizer);

/* Terms that take part in one search. */
#define CT_TERMS_MAX 64

/* What one search gathers while its statements run.  The best hits are a heap with the worst at 0. */
typedef struct ct_ranking {
    ct_store *store;
    size_t terms;
    int64_t messages[CT_TERMS_MAX]; /* that hold the term */
    size_t before;                  /* phrases of the expression that stand before the terms' own */
    size_t passed;                  /* messages with one of so many first terms were ranked already, */
    int passed_all;                 /* or only those with all of them */
    size_t seen;                    /* messages that were looked at */
    const ct_bound_filter *filter;
    sqlite3_stmt *keys; /* CT_SQL_MESSAGE_KEYS, or NULL: every message passes the filter */
    ct_lexical_hit *hits;
    size_t count;
    size_t capacity;
    double weight[CT_TERMS_MAX]; /* set at the first message */
    double mean_length;
} ct_ranking;

/* Make the SQL function ct_rank(words, pointer to ct_ranking) known, which adds the current row.
 * FTS5's own `rank` reads the length of every message with a statement of its own, counts each word's
 * messages anew, and has SQLite sort all of them: six times the time. */
#define CT_RANKING_POINTER "ct_ranking"
int ct_fts_register(ct_connection *connection, ct_error *error);

/* Begin anew with other terms. */
void ct_ranking_clear(ct_ranking *ranking);

/* Turn the heap into a list, best first. */
void ct_ranking_sort(ct_ranking *ranking);

#endif
