/* All chunk codes in memory, and the best of them for a vector.
 *
 * A code is a unit vector as int8 with one scale: 4 bytes of float, then one byte a dimension.
 * Derived data: it is loaded from the store, or from the file beside it, and never written back. */
#ifndef CT_INDEX_H
#define CT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"
#include "index/ct_code_file.h"

typedef struct ct_index ct_index;

/* Bytes of one code as stored. */
size_t ct_code_bytes(int32_t dimension);
void ct_code_make(const float *vector, int32_t dimension, unsigned char *code);

int ct_index_create(int32_t dimension, ct_index **out, ct_error *error);
void ct_index_destroy(ct_index *index);

typedef struct ct_index_entry {
    int64_t chunk_id; /* greater than every one before, otherwise the entry is passed over */
    int64_t message_id;
    int64_t session_id;
    int64_t role_id;
    int64_t time_ms;
    const unsigned char *code;
} ct_index_entry;

int ct_index_add(ct_index *index, const ct_index_entry *entry, ct_error *error);

/* So many chunks will be added. */
int ct_index_reserve(ct_index *index, size_t chunks, ct_error *error);

/* Add what a full block holds, its signs set, and take it over.  CT_INTERNAL when it does not follow on a full one,
 * CT_CORRUPT when an entry of it cannot be: those before it stay added. */
int ct_index_add_block(ct_index *index, ct_block *block, ct_error *error);

/* A block that is full, by its place; NULL when it is not yet.  Its entries do not change any more, and what
 * it says of tokens is the caller's to set until it is published. */
ct_block *ct_index_full_block(ct_index *index, size_t place);

/* Publish where in the file the codes of tokens of a full block are; -1: they are in the store. */
void ct_index_set_tokens_at(ct_index *index, size_t place, int64_t at);
int64_t ct_index_tokens_at(ct_index *index, size_t place);

/* How often that was published. */
int64_t ct_index_moves(ct_index *index);

/* Bytes of one code here. */
size_t ct_index_padded(const ct_index *index);

/* The id up to which chunks are in; 0 at first. */
int64_t ct_index_last_chunk(ct_index *index);

/* Which entries take part.  Sorted id lists; a NULL list restricts nothing. */
typedef struct ct_index_filter {
    const int64_t *sessions;
    size_t session_count;
    const int64_t *roles;
    size_t role_count;
    int64_t since_ms;
    int64_t until_ms;
    int64_t before_id; /* only messages with a smaller id; 0: all */
} ct_index_filter;

typedef struct ct_dense_hit {
    int64_t message_id;
    double score; /* cosine of the query and the message's best chunk */
} ct_dense_hit;

/* A query vector made ready for many searches.  Free with ct_index_query_free. */
typedef struct ct_index_query {
    int16_t *values;
    float scale;
    uint8_t *tables; /* for the scan */
} ct_index_query;

int ct_index_query_make(const ct_index *index, const float *vector, ct_index_query *out,
                        ct_error *error);
void ct_index_query_free(ct_index_query *query);

/* Cosine of one message's best chunk; 0 and *score untouched when it has none here. */
int ct_index_score(ct_index *index, const ct_index_query *query, int64_t message_id, double *score);

/* The `capacity` best messages, best first, ties to the newer id.  Scores are those of the codes; beyond
 * some thousand chunks a message that belongs in the list can be missing from it, rarely: see
 * ct_index_search.c. */
int ct_index_search(ct_index *index, const ct_index_query *query, const ct_index_filter *filter,
                    ct_dense_hit *hits, size_t capacity, size_t *count, ct_error *error);

/* The same of the chunks that something else found to be near, and of all behind the chunk `known`.  Ids
 * that are not here or come twice are passed over.  Scores are those of ct_index_search. */
int ct_index_search_near(ct_index *index, const ct_index_query *query, const int64_t *chunk_ids,
                         size_t chunk_count, int64_t known, ct_dense_hit *hits, size_t capacity, size_t *count,
                         ct_error *error);

/* The vectors that codes stand for, vectors[count][dimension], of chunks with id > after in order of id;
 * *count is 0 when there are no more. */
void ct_index_vectors(ct_index *index, int64_t after, size_t capacity, int64_t *chunk_ids, float *vectors,
                      size_t *count);

/* How many chunks there are up to this id, and, unless it is NULL, a hash of their ids and codes. */
void ct_index_mark(ct_index *index, int64_t through, size_t *count, uint64_t *hash);

/* What the index knows of a message. */
typedef struct ct_index_message {
    int64_t session_id;
    int64_t role_id;
    int64_t time_ms;
} ct_index_message;

/* Between which ids the messages from a span of time are; INT64_MAX and 0 when there are none.  *last_chunk: of
 * all, at that moment. */
void ct_index_bounds(ct_index *index, int64_t since_ms, int64_t until_ms, int64_t *first, int64_t *last,
                     int64_t *last_chunk);

/* What is known of these messages is asked for soon: have it brought near, all at once rather than one after
 * another. */
void ct_index_expect(ct_index *index, const int64_t *message_ids, size_t count);

/* 0 and *out untouched when the message has no chunk here. */
int ct_index_find(ct_index *index, int64_t message_id, ct_index_message *out);

/* The unit vector of a message, out of dimension floats: that of the mean of its chunks.  0 and out untouched when it
 * has none here. */
int ct_index_vector(ct_index *index, int64_t message_id, float *out);

/* How many chunks of a message are here; places of the first `capacity` in order of the text. */
size_t ct_index_chunks(ct_index *index, int64_t message_id, ct_chunk_place *places, size_t capacity);

/* The message among its neighbours, in order of their ids: those of its session that are here, up to
 * `before` and `after` of them.  message_ids has room for before + 1 + after; 0 when it is not here. */
size_t ct_index_neighbours(ct_index *index, int64_t message_id, int32_t before, int32_t after,
                           int64_t *message_ids);

size_t ct_index_count(ct_index *index);
size_t ct_index_bytes(ct_index *index);

/* CT_OK when the structure is consistent, else CT_INTERNAL with what is wrong. */
int ct_index_validate(ct_index *index, ct_error *error);

#endif
