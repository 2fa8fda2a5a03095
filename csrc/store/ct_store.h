/* The SQLite file: the only folder that includes sqlite3.h.
 *
 * Connections: one for acknowledged writes (fsync as the durability says), one for derived data
 * (embeddings; never fsynced by itself, since a lost one is made again from the backlog), and a small
 * pool of readers.  Callers with messages queue for the first, and those who wait share the next commit.
 * One mutex orders the two writers inside this process, so that they never spin on SQLite's lock; other
 * processes are waited for by SQLite's busy handler.  Checkpoints run on the derived connection, out of
 * the way of acknowledgements. */
#ifndef CT_STORE_H
#define CT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"
#include "directive/ct_directive.h"

#define CT_SCHEMA_VERSION 1

typedef struct ct_store ct_store;

typedef struct ct_store_options {
    const char *path;
    int32_t durability;
    int32_t busy_ms;
    const char *fingerprint; /* of the model */
    int32_t dimension;
} ct_store_options;

/* Opens or creates; the file is private to its owner. */
int ct_store_open(const ct_store_options *options, ct_store **out, ct_error *error);
void ct_store_close(ct_store *store);

/* All messages or none.  Sets *inserted to how many are new (a known uid is not).  Callers at the same time
 * share a commit, and fail each for itself unless it is the commit that fails. */
int ct_store_insert(ct_store *store, const ct_message_input *messages, size_t count, int64_t *ids,
                    size_t *inserted, ct_error *error);

/* Read whole messages into a result, in the order of the ids.  Scores are left alone. */
int ct_store_get(ct_store *store, const int64_t *ids, size_t count, ct_result *result,
                 ct_error *error);

/* A filter whose names were looked up.  Sorted ids; restricted says that names were given, so that
 * no ids then means that nothing passes. */
typedef struct ct_bound_filter {
    int64_t *sessions;
    size_t session_count;
    int restrict_sessions;
    int64_t *roles;
    size_t role_count;
    int restrict_roles;
    int64_t since_ms;
    int64_t until_ms;
    /* Messages with other ids do not pass, as far as was looked; 1 and INT64_MAX at first. */
    int64_t first_id;
    int64_t last_id;
} ct_bound_filter;

int ct_store_bind_filter(ct_store *store, const ct_filter *filter, ct_bound_filter *out,
                         ct_error *error);
void ct_bound_filter_free(ct_bound_filter *filter);

int ct_bound_filter_passes(const ct_bound_filter *filter, int64_t session_id, int64_t role_id, int64_t time_ms);

/* Whether everything passes. */
int ct_bound_filter_is_open(const ct_bound_filter *filter);

/* The names of some roles.  Free with ct_roles_free. */
#define CT_ROLES_MAX 64

typedef struct ct_role {
    int64_t id;
    char *name;
} ct_role;

typedef struct ct_roles {
    ct_role list[CT_ROLES_MAX];
    size_t count;
} ct_roles;

/* Of at most CT_ROLES_MAX ids; those that are not there are left out. */
int ct_store_roles(ct_store *store, const int64_t *ids, size_t count, ct_roles *out, ct_error *error);
void ct_roles_free(ct_roles *roles);

int ct_store_list(ct_store *store, const ct_bound_filter *filter, int64_t after, int32_t limit,
                  ct_result *result, ct_error *error);

/* The newest messages of a session with id > after, the oldest of them first; at most `capacity`. */
int ct_store_latest(ct_store *store, const char *session, int64_t after, size_t capacity, int64_t *ids, size_t *count,
                    ct_error *error);

/* Whole messages as ct_store_get, but those that are not there are passed over. */
int ct_store_get_present(ct_store *store, const int64_t *ids, size_t count, ct_result *result, ct_error *error);

/* ---- words --------------------------------------------------------------------------------- */

/* Different words that are looked at of a query; of a longer text the first ones. */
#define CT_WORDS_MAX 256
#define CT_PHRASES_MAX 8
#define CT_PHRASE_BYTES 256

typedef struct ct_lexical_hit {
    int64_t message_id;
    double score; /* BM25, higher is better */
} ct_lexical_hit;

/* A query's words as the full-text index splits and folds them (not stemmed), each once, and its
 * phrases: words that are meant as a whole, with a space between. */
typedef struct ct_words {
    char *list[CT_WORDS_MAX];
    size_t count;
    char *phrases[CT_PHRASES_MAX];
    size_t phrase_count;
} ct_words;

int ct_store_split(ct_store *store, const char *text, size_t bytes, ct_words *out, ct_error *error);
void ct_words_free(ct_words *words);

/* Messages that hold any of the words, best first; at most `capacity`. */
int ct_store_search(ct_store *store, const ct_words *words, const ct_bound_filter *filter,
                    ct_lexical_hit *hits, size_t capacity, size_t *count, ct_error *error);

/* Keep in memory how many words the next `most` messages with id > *after have, for searches; *after is the last
 * one, *count how many there were.  What is not kept is asked for one by one. */
int ct_store_read_lengths(ct_store *store, int64_t *after, int32_t most, int32_t *count, ct_error *error);

/* ---- embeddings ---------------------------------------------------------------------------- */

typedef struct ct_pending {
    int64_t message_id;
    int64_t next_chunk; /* chunks before this one are stored */
    char *role;
    char *text;
    size_t text_bytes;
} ct_pending;

/* The newest message, up to the id `last`, that waits for its embedding; CT_NOT_FOUND when none does.
 * Newest first, so that what was just said is recallable by meaning even behind a long import. */
int ct_store_next_pending(ct_store *store, int64_t last, ct_pending *out, ct_error *error);
void ct_pending_free(ct_pending *pending);

/* What is stored of one chunk. */
typedef struct ct_new_chunk {
    const unsigned char *code;
    size_t code_bytes;
    const uint64_t *tokens; /* codes of its tokens, all of one size */
    size_t token_words;     /* of all of them together */
    const int32_t *ids;     /* of its tokens, counted once each; NULL: none */
    size_t id_count;
} ct_new_chunk;

/* What is stored of a sentence that is a directive, or lifts one. */
typedef struct ct_new_directive {
    size_t start; /* in the text */
    size_t bytes;
    ct_directive_view view;
} ct_new_directive;

/* What comes of some chunks of one message, in order. */
typedef struct ct_derived {
    int64_t message_id;
    int64_t first_chunk;
    const ct_new_chunk *chunks;
    size_t chunk_count;
    const ct_new_directive *directives; /* that begin in them */
    size_t directive_count;
    int done; /* these are the last: the message waits no longer */
} ct_derived;

/* Store it, all or none.  What is there already stays and is not counted again. */
int ct_store_put_derived(ct_store *store, const ct_derived *derived, ct_error *error);

/* Count one failed attempt; after three the message is passed over until the next open. */
int ct_store_mark_failed(ct_store *store, int64_t message_id, ct_error *error);

/* The id of the newest message, 0 for none. */
int ct_store_newest(ct_store *store, int64_t *id, ct_error *error);

/* Whether messages wait that are not passed over, whether this one does, how many do, counted to `most`. */
int ct_store_has_pending(ct_store *store, int *any, ct_error *error);
int ct_store_is_pending(ct_store *store, int64_t id, int *is, ct_error *error);
int ct_store_count_pending_to(ct_store *store, int64_t most, int64_t *count, ct_error *error);

/* Between which ids all messages are that are not embedded, INT64_MAX and 0 when there are none, and the last
 * chunk of those that are; as of one moment. */
int ct_store_pending_bounds(ct_store *store, int64_t *first, int64_t *last, int64_t *last_chunk, ct_error *error);

/* How many are not embedded, those that are passed over included. */
int ct_store_count_pending(ct_store *store, int64_t *count, ct_error *error);

typedef struct ct_chunk_row {
    int64_t id;
    int64_t message_id;
    int64_t session_id;
    int64_t role_id;
    int64_t time_ms;
    const unsigned char *code;
} ct_chunk_row;

/* Call visit for each chunk with id > after, in order of id.  A non-zero return of visit ends it
 * and is returned. */
int ct_store_scan_chunks(ct_store *store, int64_t after, size_t code_bytes,
                         int (*visit)(void *state, const ct_chunk_row *row), void *state,
                         ct_error *error);

/* Read the token codes of many chunks.  visit gets the place of a chunk in chunk_ids, in
 * order, and its codes of code_words words each, of a chunk whose codes are not here none; a non-zero
 * return of it ends the reading and is returned.  CT_CORRUPT when codes have another size. */
int ct_store_read_codes(ct_store *store, const int64_t *chunk_ids, size_t count, size_t code_words,
                        int (*visit)(void *state, size_t place, const uint64_t *codes, size_t code_count),
                        void *state, ct_error *error);

/* ---- the file of codes --------------------------------------------------------------------- */

/* Where it is: the store's own path and "-codes". */
const char *ct_store_codes_path(const ct_store *store);

/* A block of codes in that file. */
typedef struct ct_block_row {
    int64_t place; /* among the blocks */
    int64_t start; /* in the file */
    int64_t bytes;
    uint64_t hash;
} ct_block_row;

typedef struct ct_block_rows {
    ct_block_row *list; /* in order of their places */
    size_t count;
    size_t capacity;
} ct_block_rows;

/* The blocks from a place on.  Free with ct_block_rows_free. */
int ct_store_get_blocks(ct_store *store, int64_t from, ct_block_rows *out, ct_error *error);
void ct_block_rows_free(ct_block_rows *rows);

/* Read the codes of tokens of all chunks of a block, in order; counts[count].  *codes is to be freed by ct_free.
 * CT_NOT_FOUND: the store does not hold all of them. */
int ct_store_read_block(ct_store *store, const int64_t *chunk_ids, size_t count, size_t code_words,
                        uint64_t **codes, uint32_t *counts, ct_error *error);

/* A block is in the file: the store gives its codes of tokens up.  CT_CONFLICT: another process was first. */
int ct_store_put_block(ct_store *store, const ct_block_row *row, const int64_t *chunk_ids, size_t count,
                       ct_error *error);

/* A block is lost: its messages are embedded again, behind everything that waits.  Nothing happens when the
 * block is not the one of the row any more. */
int ct_store_drop_block(ct_store *store, const ct_block_row *row, const int64_t *chunk_ids, size_t count,
                        ct_error *error);

/* In how many chunks each token stands, and how many chunks were counted. */
int ct_store_term_counts(ct_store *store, const int32_t *ids, size_t count, int64_t *counts,
                         int64_t *total, ct_error *error);

/* ---- directives ---------------------------------------------------------------------------- */

/* Most that are looked at, the newest, and of each session that a filter names. */
#define CT_STANDING_MAX 256
#define CT_STANDING_SESSION_MAX 96

typedef struct ct_directive_row {
    int64_t message_id;
    int64_t time_ms;
    size_t start;
    size_t bytes;
    ct_directive_view view;
    int8_t *mean; /* of view, owned */
} ct_directive_row;

typedef struct ct_directives {
    ct_directive_row *list; /* newest first */
    size_t count;
} ct_directives;

/* Directives, and what lifts them, of the filter's sessions from before its `until`.  Without sessions:
 * those in force.  With sessions what is in force is the caller's to find, since another session may
 * have ended one.  Free with ct_directives_free. */
int ct_store_directives(ct_store *store, const ct_bound_filter *filter, ct_directives *out, ct_error *error);
void ct_directives_free(ct_directives *directives);

/* Move committed pages from the log into the file when the log has grown; never blocks writers. */
int ct_store_checkpoint(ct_store *store, ct_error *error);

int ct_store_stats(ct_store *store, ct_stats *out, ct_error *error);

#endif
