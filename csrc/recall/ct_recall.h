/* From a query to ranked messages. */
#ifndef CT_RECALL_H
#define CT_RECALL_H

#include "ct.h"
#include "recall/ct_parts.h"

/* Candidates by meaning and by words, fused; fills rows, scores and timings of result. */
int ct_recall_run(const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                  ct_error *error);

#endif
