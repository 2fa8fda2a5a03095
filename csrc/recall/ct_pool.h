/* The messages under consideration in one recall, each once, with what every stage says of it. */
#ifndef CT_POOL_H
#define CT_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "index/ct_id_map.h"

/* Scores are NaN where a stage says nothing. */
typedef struct ct_candidate {
    int64_t message_id;
    int64_t role_id; /* 0: not in the index yet */
    double dense;    /* cosine of the best chunk */
    double lexical;  /* BM25 */
    double own;      /* late interaction with the message by itself */
    double late;     /* the same with what stands around it, where that was looked at */
    double around;   /* BM25 of the neighbours, discounted; 0: none */
    double speaker;  /* 1: the query names who said it */
    double date;     /* 0 to 1: how near to a time that the query names */
    double question; /* 0 to 1: how much of it asks rather than tells */
    double match; /* the absolute part of the score: without speaker, date and foreign words */
    double score; /* at most 1 */
    int64_t passage; /* tokens before what matches best in it, the speaker's name included; -1: unknown */
    int has_context; /* late is more than own */
    int is_described; /* what the index and the other candidates say of it is set */
    int is_read;
} ct_candidate;

typedef struct ct_pool {
    ct_candidate *list;
    size_t count;
    size_t capacity;
    ct_id_map places;
} ct_pool;

/* The candidate of a message, new or known; NULL when memory is short.  Valid until the next call. */
ct_candidate *ct_pool_add(ct_pool *pool, int64_t message_id);

/* The same, but NULL when it is not there. */
ct_candidate *ct_pool_find(const ct_pool *pool, int64_t message_id);

/* Ids of the `count` candidates with the best scores, best first, ties to the newer id; fewer when
 * there are fewer.  Returns how many, or -1 when memory is short. */
int64_t ct_pool_leaders(const ct_pool *pool, size_t count, int64_t *ids);

void ct_pool_free(ct_pool *pool);

#endif
