/* Which of the leading messages replaces which: the newer value of the same thing.
 *
 * A pair, the older before the newer in time, is linked when both are short, both answer the query,
 * their words show a change (ct_statement_compare) and their token codes are near each other.  What
 * looks alike and is no such pair is not linked; of two from one role the newer may rise a little to
 * stand before the older, unless the query asks for the older by a word that only that has. */
#ifndef CT_SUPERSEDE_H
#define CT_SUPERSEDE_H

#include "recall/ct_parts.h"
#include "store/ct_result.h"

/* Rows that are looked at, the best. */
#define CT_SUPERSEDE_ROWS 64

/* rows: best first, with their scores.  Gives the leading ones their links, which belong to the
 * result, and changes scores so that none stands above what supersedes it; the order of the rows is
 * left as it was.  A row without a late score takes no part.
 *
 * Links that consolidation stored count as well, also to messages that are no rows, as far as the filter passes them.
 *
 * What a tool printed (role "tool", "toolResult", "tool_result" or "function") never supersedes what
 * anybody said; it can be superseded, also by a later output. */
int ct_supersede_run(const ct_recall_parts *parts, const ct_query *query, const ct_bound_filter *filter,
                     const ct_query_tokens *tokens, ct_result *result, ct_error *error);

#endif
