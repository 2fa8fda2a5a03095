/* Late interaction (MaxSim of ColBERT: Khattab and Zaharia, SIGIR 2020) over binary token codes, in
 * context: for each token of the query the best match in a passage or, discounted by distance, in
 * what stands around it in the conversation; of these the mean, weighted by rarity.
 *
 * An answer seldom repeats the words of its question; what was said just before it often does.  And it
 * need not say the date that a question names when it is from that date. */
#ifndef CT_LATE_STAGE_H
#define CT_LATE_STAGE_H

#include "recall/ct_grains.h"
#include "recall/ct_pool.h"

/* Messages before, and as many behind a message, that may count as its surroundings. */
#define CT_LATE_REACH 4

/* What was read serves until the end of the recall. */
typedef struct ct_late_stage {
    ct_token_query query;
    ct_grains grains;
    const ct_query *asked;

    size_t *sequence; /* the grains of a message and its surroundings, in order */
    size_t sequence_count;
    size_t sequence_capacity;
} ct_late_stage;

/* Nothing from the end of the query's filter on is looked at.  Nothing to do when tokens are none. */
int ct_late_stage_begin(const ct_recall_parts *parts, const ct_query *query, const ct_query_tokens *tokens,
                        const ct_speakers *speakers, ct_late_stage *out, ct_error *error);

/* Give each candidate that is embedded, and has none yet, its match by itself: `own`, and `late`.  Its
 * `date` is known by then. */
int ct_late_stage_match(ct_late_stage *stage, ct_pool *pool, ct_error *error);

/* Give these candidates the match in context, where it is not known: `late`. */
int ct_late_stage_look_around(ct_late_stage *stage, ct_pool *pool, const int64_t *message_ids, size_t count,
                              ct_error *error);

void ct_late_stage_free(ct_late_stage *stage);

#endif
