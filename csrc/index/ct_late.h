/* Late interaction: how well a query's tokens match those of a message.
 *
 * A message's token is one bit a dimension; a query's token keeps four.  The value of a dimension is
 * one of -15, -13, ... 15 times the token's scale: bit p of its number u stands for +-2^p, so that
 *
 *     sum of value * sign = 15 bits - 2 sum over p of 2^p popcount(plane p of u ^ code)
 *
 * and one number a pair, the sum on the right, is all that the codes are needed for. */
#ifndef CT_LATE_H
#define CT_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_late_query ct_late_query;

/* vectors[count][bits], each of unit length or zero.  Free with ct_late_query_free. */
int ct_late_query_make(const float *vectors, size_t count, int32_t bits, ct_late_query **out,
                       ct_error *error);
void ct_late_query_free(ct_late_query *query);

/* best[t] = the larger of best[t] and the best cosine estimate of query token t and any of the codes,
 * [code_count][bits / 64]. */
void ct_late_best(const ct_late_query *query, const uint64_t *codes, size_t code_count, float *best);

#endif
