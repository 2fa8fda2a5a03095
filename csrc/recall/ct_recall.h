/* From a query to ranked messages. */
#ifndef CT_RECALL_H
#define CT_RECALL_H

#include "ct.h"
#include "recall/ct_gather.h"
#include "recall/ct_parts.h"

/* A recall under way; it stays where it is. */
typedef struct ct_recall {
    ct_recall_parts parts;
    ct_bound_filter filter;
    ct_gather gather;
} ct_recall;

/* Understand the query, which takes a turn at the model, and look it up by words if there is a helper, for which
 * it needs the right of use until it returns.  What is embedded from here on counts too, so that one may wait for
 * it between this and the search.  Free with ct_recall_free, also after a failure. */
int ct_recall_begin(ct_recall *recall, const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                    ct_error *error);

/* Candidates by meaning and by words, fused; fills rows, scores and timings of result. */
int ct_recall_run(ct_recall *recall, ct_result *result, ct_error *error);

/* The query's vector, of unit length, from ct_recall_begin on; NULL when no stage asks for meaning. */
const float *ct_recall_vector(const ct_recall *recall);

void ct_recall_free(ct_recall *recall);

#endif
