/* What consolidation reads of a store and what it leaves there: see the tables in ct_schema.c.
 *
 * Nothing is read under a lock.  What a batch of messages comes to is stored together with the mark of how
 * far it goes, and only if the mark is still where it was when the batch was begun: of two that work at the
 * same time one has worked for nothing. */
#ifndef CT_CONSOLIDATED_H
#define CT_CONSOLIDATED_H

#include "store/ct_store.h"

typedef struct ct_progress {
    int64_t done;    /* up to this message everything is consolidated, but for the sentences of stale episodes */
    int64_t through; /* up to this one it can be: those behind it are not embedded yet */
    int64_t merged;  /* up to this one the words are merged */
    int any_stale;
    int fits; /* 0: it names messages that never were */
    int64_t dropped; /* so often all was dropped and begun again */
} ct_progress;

int ct_store_progress(ct_store *store, ct_progress *out, ct_error *error);

/* How many directives are in force. */
int ct_store_count_directives(ct_store *store, int64_t *count, ct_error *error);

/* ---- messages ------------------------------------------------------------------------------- */

/* A message as it is looked at here.  Strings are owned. */
typedef struct ct_told {
    int64_t id;
    int64_t session_id;
    int64_t role_id;
    int64_t time_ms;
    char *role;
    char *text;
    size_t text_bytes;
} ct_told;

typedef struct ct_told_list {
    ct_told *list;
    size_t count;
    size_t capacity;
} ct_told_list;

void ct_told_list_free(ct_told_list *told);

/* Messages with after < id <= through in order of id, at most `most`, of about so many bytes together, one
 * at least.  Adds to *out; free it with ct_told_list_free, also after a failure. */
int ct_store_told_next(ct_store *store, int64_t after, int64_t through, size_t most, size_t bytes,
                       ct_told_list *out, ct_error *error);

/* The same of one message; adds nothing when it is not there. */
int ct_store_told(ct_store *store, int64_t id, ct_told_list *out, ct_error *error);

/* ---- duplicates ----------------------------------------------------------------------------- */

typedef struct ct_saying_row {
    int64_t hash;
    int64_t first_id;
    int64_t role_id; /* whose words they are; 0: a tool's */
} ct_saying_row;

/* Those with a hash, oldest first, at most `capacity`. */
int ct_store_sayings(ct_store *store, int64_t hash, ct_saying_row *out, size_t capacity, size_t *count,
                     ct_error *error);

/* Ids of messages that say the same as this one, newest first. */
int ct_store_duplicates(ct_store *store, int64_t id, int64_t *ids, size_t capacity, size_t *count, ct_error *error);

/* ---- what replaces what --------------------------------------------------------------------- */

typedef struct ct_id_pair {
    int64_t newer; /* of duplicates: the one that says it again */
    int64_t older;
} ct_id_pair;

/* Ids that a message replaces (newer: 0), or that replace it (1), lowest first. */
int ct_store_replaced(ct_store *store, int64_t id, int newer, int64_t *ids, size_t capacity, size_t *count,
                      ct_error *error);

/* All pairs that one of many messages is in: free *pairs by ct_free. */
int ct_store_replaced_pairs(ct_store *store, const int64_t *ids, size_t count, ct_id_pair **pairs,
                            size_t *pair_count, ct_error *error);

/* ---- episodes ------------------------------------------------------------------------------- */

typedef struct ct_episode_row {
    int64_t id; /* of its first message; 0: there is none */
    int64_t session_id;
    int64_t last_id;
    int64_t messages;
    int64_t start_ms;
    int64_t end_ms;
} ct_episode_row;

/* The last of a session. */
int ct_store_last_episode(ct_store *store, int64_t session_id, ct_episode_row *out, ct_error *error);

/* The one that a message is in. */
int ct_store_episode_of(ct_store *store, int64_t session_id, int64_t message_id, ct_episode_row *out,
                        ct_error *error);

/* The first one whose sentences are to be chosen.  *found: 0 when there is none. */
int ct_store_stale_episode(ct_store *store, ct_episode_row *out, int *found, ct_error *error);

/* A message of an episode. */
typedef struct ct_member {
    int64_t id;
    int64_t time_ms;
} ct_member;

/* The last messages of an episode, newest first. */
int ct_store_episode_tail(ct_store *store, const ct_episode_row *episode, ct_member *out, size_t capacity,
                          size_t *count, ct_error *error);

/* The messages of an episode in order, of each text at most so many characters. */
int ct_store_episode_told(ct_store *store, const ct_episode_row *episode, size_t characters, ct_told_list *out,
                          ct_error *error);

typedef struct ct_digest_row {
    int64_t episode_id;
    int64_t rank;
    int64_t message_id;
    size_t start;
    size_t bytes;
    double score;
} ct_digest_row;

/* ---- writing -------------------------------------------------------------------------------- */

/* What a batch of messages comes to. */
typedef struct ct_consolidated {
    int64_t from; /* the mark as it was */
    int64_t dropped;
    int64_t last; /* as it is to be */
    ct_saying_row *sayings;
    ct_id_pair *duplicates;
    ct_id_pair *replaced;
    ct_episode_row *episodes; /* by id, session and last message: the rest follows */
    size_t saying_count, duplicate_count, replaced_count, episode_count;
} ct_consolidated;

/* All or none.  CT_CONFLICT: somebody else has moved the mark.  CT_CORRUPT: it does not go with what is there. */
int ct_store_put_consolidated(ct_store *store, const ct_consolidated *batch, ct_error *error);

/* Drop all that it left, so that it begins with the first message again.  CT_CONFLICT: somebody else has come further,
 * or has dropped it. */
int ct_store_drop_consolidated(ct_store *store, const ct_progress *as_of, ct_error *error);

/* The sentences of an episode in place of those it had.  CT_CONFLICT: it has changed since, or has them. */
int ct_store_put_digest(ct_store *store, const ct_episode_row *episode, const ct_digest_row *rows, size_t count,
                        ct_error *error);

/* Merge words by about so many pages; *done: there is nothing left to merge, and `through` is noted. */
int ct_store_merge_words(ct_store *store, int pages, int64_t through, int *done, ct_error *error);

/* ---- what it is asked for -------------------------------------------------------------------- */

typedef struct ct_episode_list {
    ct_episode_row *list;
    size_t count;
} ct_episode_list;

/* Episodes of the filter's sessions with a time in its span and id > after, in order of id; newest: those
 * with the greatest ids, falling.  Free the list by ct_free. */
int ct_store_episodes(ct_store *store, const ct_bound_filter *filter, int64_t after, int newest, size_t limit,
                      ct_episode_list *out, ct_error *error);

/* The sentences of an episode, best first, at most `capacity`. */
int ct_store_digest(ct_store *store, int64_t episode_id, ct_digest_row *out, size_t capacity, size_t *count,
                    ct_error *error);

#endif
