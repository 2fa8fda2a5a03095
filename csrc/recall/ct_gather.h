/* The messages that may answer a query, with what every stage says of them. */
#ifndef CT_GATHER_H
#define CT_GATHER_H

#include "ct.h"
#include "recall/ct_late_stage.h"
#include "recall/ct_pool.h"
#include "recall/ct_speaker.h"

typedef struct ct_gather {
    const ct_recall_parts *parts;
    const ct_query *query;
    const ct_bound_filter *filter;
    float *unit; /* the query's vector */
    ct_index_query vector; /* the same, for the index */
    ct_query_tokens tokens;
    ct_words words;   /* all of the query's */
    ct_words content; /* those that say something, the first of words */
    ct_lexical_hit *found; /* messages by words, looked up and not in the pool yet; NULL: none */
    size_t found_count;
    ct_speakers speakers;
    double fluency; /* how much of the query the model knows */
    ct_late_stage late;
    ct_pool pool;
} ct_gather;

int ct_gather_uses(const ct_gather *gather, ct_stage stage);

/* Look at the query itself: what it means and its words.  With a helper, and unless a span of time is asked for, so
 * many messages are looked up by words meanwhile. */
int ct_gather_prepare(ct_gather *gather, size_t capacity, ct_timings *timings, ct_error *error);

/* Fill the pool and score it: of each stage so many candidates, and the neighbours of the best.  After
 * ct_gather_prepare; may be called again for more.  Times of the stages are added to timings.  Free with ct_gather_free, also after a failure. */
int ct_gather_run(ct_gather *gather, size_t capacity, ct_timings *timings, ct_error *error);

void ct_gather_free(ct_gather *gather);

#endif
