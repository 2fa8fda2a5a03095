/* From ranked messages to the list that is handed out: each thing said once, within the budgets, and
 * with the message before or behind a hit where it is needed to read the hit, unless a newer one
 * supersedes it.
 *
 * Messages say the same when their folded texts are equal (ct_fold), but
 *   - of two speakers each keeps their own words: only what a tool prints (role "tool", "function",
 *     "tool:NAME") collapses into what somebody said;
 *   - words that count from the day they were said on ("tomorrow") are compared within one day, UTC;
 *   - a short reply ("Yes, that one.") answers another question each time, and stays.
 * The newest stands for all, in the place and with the score of the best; a tool's copy stands for
 * others of its kind only. */
#ifndef CT_PACK_H
#define CT_PACK_H

#include "recall/ct_fold.h"
#include "recall/ct_pool.h"
#include "recall/ct_parts.h"
#include "store/ct_result.h"

/* Messages of which one is shown. */
typedef struct ct_saying {
    size_t best;  /* row that ranks first, the first member */
    size_t shown; /* row that stands for them */
    size_t last;  /* row that was added last */
    size_t voice; /* row of a speaker who is no tool, or CT_PACK_NONE */
    size_t count;
    size_t other; /* place of another saying with the same hash, or CT_PACK_NONE */
} ct_saying;

#define CT_PACK_NONE SIZE_MAX

typedef struct ct_pack {
    const ct_recall_parts *parts;
    const ct_query *query;
    const ct_bound_filter *filter;
    const ct_pool *pool;
    const ct_words *words; /* of the query */
    ct_result *result;
    double least; /* score below which nothing is handed out */
    /* Made by ct_pack_collapse. */
    ct_saying *sayings; /* in order of rank */
    size_t count;
    ct_folds folds;
    ct_folded *folded; /* of each row */
    size_t *next;      /* of each row: the next member of its saying, or CT_PACK_NONE */
    ct_id_map places;  /* of sayings by hash */
} ct_pack;

/* Gather the rows of the result, which are in order of rank, into sayings.  May be called again when
 * there are more rows. */
int ct_pack_collapse(ct_pack *pack, ct_error *error);

/* Leave in the result what is handed out.  In order of rank each hit is taken that fits what is left of
 * the budgets, so that a long one does not keep out the shorter ones behind it.  One that is
 * larger than a whole budget is cut to its best passage. */
int ct_pack_choose(ct_pack *pack, ct_error *error);

void ct_pack_free(ct_pack *pack);

#endif
