/* Which directives stand, those that matter for the query first. */
#ifndef CT_STANDING_H
#define CT_STANDING_H

#include "recall/ct_parts.h"

/* Sets result->standing to at most query->standing directives.  Of the filter sessions and `until` count:
 * a directive said before `since`, or by another of those who may give any, still stands. */
int ct_standing_find(const ct_recall_parts *parts, const ct_query *query, const ct_bound_filter *filter,
                     const ct_query_tokens *tokens, ct_result *result, ct_error *error);

#endif
