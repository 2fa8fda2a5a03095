/* How well each token of a query is matched in messages, by grain: a run of a few tokens of a chunk.
 * Token codes are read, each chunk's once. */
#ifndef CT_GRAINS_H
#define CT_GRAINS_H

#include "index/ct_id_map.h"
#include "recall/ct_token_query.h"

#define CT_GRAIN_TOKENS 32

typedef struct ct_grain {
    size_t chunk;  /* those of one message are numbered without a gap */
    size_t tokens; /* how many */
} ct_grain;

typedef struct ct_grain_line ct_grain_line;

typedef struct ct_grains {
    const ct_recall_parts *parts;
    const ct_token_query *query;

    ct_grain_line *lines; /* messages */
    size_t line_count;
    size_t line_capacity;
    ct_id_map places; /* message id to line */

    ct_chunk_place *chunks; /* of all lines; those from read_count on are still to be read */
    size_t *chunk_grains; /* where each one's grains begin */
    size_t chunk_count;
    size_t chunk_capacity;
    size_t read_count;

    ct_grain *list;
    float *matches; /* [grain][token]: cosine of the best match, -1 at least */
    size_t count;
    size_t capacity;
} ct_grains;

/* A message's grains are wanted; with only_edges, of a long one only what can stand near another
 * message. */
int ct_grains_want(ct_grains *grains, int64_t message_id, int only_edges, ct_error *error);

/* Read and match what is wanted. */
int ct_grains_read(ct_grains *grains, ct_error *error);

/* The grains [*begin, *end) of a message that was wanted. */
void ct_grains_of(const ct_grains *grains, int64_t message_id, size_t *begin, size_t *end);

void ct_grains_free(ct_grains *grains);

#endif
