/* Some messages on their way into what is consolidated, in order of id, and what has come of them so far.
 *
 * Each step looks at one message and at what is before it, never at what is behind: so what comes out does not depend
 * on where batches end, or on how often consolidation is called. */
#ifndef CT_BATCH_H
#define CT_BATCH_H

#include "recall/ct_fold.h"
#include "recall/ct_parts.h"
#include "store/ct_consolidated.h"

/* Messages of a session that a boundary is looked for among. */
#define CT_TRACK_REACH 20

/* A session's last episode, and the last messages of it. */
typedef struct ct_track {
    ct_episode_row open; /* no id: there is none yet */
    size_t count;        /* of the tail */
    ct_member tail[CT_TRACK_REACH]; /* oldest first */
    float *vectors; /* [CT_TRACK_REACH][dimension], of the tail; zero where there is none */
} ct_track;

typedef struct ct_batch {
    const ct_recall_parts *parts;
    ct_told_list told;
    ct_folds folds;
    ct_folded *folded; /* of each message */
    ct_track *tracks;
    size_t track_count, track_capacity;
    float *vector; /* room for one */
    ct_consolidated out;
    size_t saying_capacity, duplicate_capacity, replaced_capacity, episode_capacity;
    int64_t episodes_begun;
} ct_batch;

/* The messages behind `from`.  Free with ct_batch_free, also after a failure. */
int ct_batch_begin(ct_batch *batch, const ct_recall_parts *parts, const ct_progress *progress, ct_error *error);
void ct_batch_free(ct_batch *batch);

/* The steps, each for the message at this place. */
int ct_batch_find_duplicate(ct_batch *batch, size_t place, ct_error *error);
int ct_batch_find_replaced(ct_batch *batch, size_t place, ct_error *error);
int ct_batch_extend_episode(ct_batch *batch, size_t place, ct_error *error);

/* Note what changed.  CT_NOMEM. */
int ct_batch_add_pair(ct_id_pair **list, size_t *count, size_t *capacity, ct_id_pair pair, ct_error *error);

/* Room for one more in a list. */
void *ct_batch_grow(void *list, size_t count, size_t *capacity, size_t size);

#endif
