/* Late interaction (MaxSim of ColBERT: Khattab and Zaharia, SIGIR 2020) over binary token codes, in
 * context: for each token of the query the best match in a passage or, discounted by distance, in
 * what stands around it in the conversation; of these the mean, weighted by rarity.
 *
 * An answer seldom repeats the words of its question; what was said just before it often does. */
#ifndef CT_LATE_STAGE_H
#define CT_LATE_STAGE_H

#include "recall/ct_pool.h"
#include "recall/ct_recall.h"
#include "recall/ct_speaker.h"

/* Messages before, and as many behind a message, that may count as its surroundings. */
#define CT_LATE_REACH 4

/* Give each candidate of the pool that is embedded its `late` and `own`.  Names of speakers do not
 * count: who said a message is known better from its role.
 * in_context: 0 leaves the surroundings out.  until_ms: nothing from this time on is looked at. */
int ct_late_stage_run(const ct_recall_parts *parts, const ct_query_tokens *query,
                      const ct_speakers *speakers, int in_context, int64_t until_ms, ct_pool *pool,
                      ct_error *error);

#endif
