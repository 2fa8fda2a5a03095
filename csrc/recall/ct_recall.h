/* From a query to ranked messages. */
#ifndef CT_RECALL_H
#define CT_RECALL_H

#include "ct.h"
#include "encoder/ct_encoder.h"
#include "index/ct_index.h"
#include "store/ct_store.h"

typedef struct ct_recall_parts {
    ct_store *store;
    ct_encoder *encoder;
    ct_index *index;
} ct_recall_parts;

/* Whether a message passes a filter of roles and times; its session is not looked at. */
int ct_recall_passes(const ct_bound_filter *filter, const ct_index_message *about);

/* Candidates by meaning and by words, fused; fills rows, scores and timings of result. */
int ct_recall_run(const ct_recall_parts *parts, const ct_query *query, ct_result *result,
                  ct_error *error);

#endif
