/* One ranking from two: a pure function, so that it can be tested and fitted apart. */
#ifndef CT_FUSE_H
#define CT_FUSE_H

#include <stddef.h>
#include <stdint.h>

#include "index/ct_index.h"
#include "store/ct_store.h"

typedef struct ct_fused_hit {
    int64_t message_id;
    double score;   /* 0 to 1 */
    double dense;   /* NaN: none */
    double lexical; /* the same */
} ct_fused_hit;

/* Merge both lists (each best first, without repeats) into out[dense_count + lexical_count] with their
 * stage scores.  Returns how many. */
size_t ct_fuse_merge(const ct_dense_hit *dense, size_t dense_count, const ct_lexical_hit *lexical,
                     size_t lexical_count, ct_fused_hit *out);

/* Give each its score and put the best first, ties to the newer id. */
void ct_fuse_rank(ct_fused_hit *hits, size_t count);

#endif
