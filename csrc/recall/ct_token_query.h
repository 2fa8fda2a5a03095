/* The tokens of a query with what each counts for. */
#ifndef CT_TOKEN_QUERY_H
#define CT_TOKEN_QUERY_H

#include "index/ct_late.h"
#include "recall/ct_parts.h"
#include "recall/ct_speaker.h"

/* A pasted page as a query: its rarest tokens stand for it. */
#define CT_TOKEN_QUERY_MAX 64

typedef struct ct_token_query {
    ct_late_query *codes;
    float weights[CT_TOKEN_QUERY_MAX]; /* by rarity in the store; their sum is 1 */
    uint8_t dated[CT_TOKEN_QUERY_MAX]; /* it names a time, which a message's own time can match */
    size_t count;
} ct_token_query;

/* tokens: of query, at least one.  Names of speakers do not count: who said a message is known better
 * from its role.  Free with ct_token_query_free. */
int ct_token_query_make(const ct_recall_parts *parts, const ct_query *query, const ct_query_tokens *tokens,
                        const ct_speakers *speakers, ct_token_query *out, ct_error *error);
void ct_token_query_free(ct_token_query *query);

#endif
