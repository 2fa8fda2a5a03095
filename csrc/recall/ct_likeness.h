/* How near two messages are by the codes of their tokens. */
#ifndef CT_LIKENESS_H
#define CT_LIKENESS_H

#include "encoder/ct_encoder.h"

/* A message with more tokens is not looked at. */
#define CT_LIKENESS_TOKENS 128

/* How near two messages must be for one to replace the other. */
#define CT_LIKENESS_LINK 0.28

/* A message's tokens, without those of its role; no count: there is nothing to compare. */
typedef struct ct_likeness {
    uint64_t *codes;  /* [count][words] */
    uint64_t *planes; /* the same as tokens of a query */
    size_t count;
} ct_likeness;

/* Tokens that stand before every message of this role. */
int ct_likeness_prefix(ct_encoder *encoder, const char *role, size_t *count, ct_error *error);

/* Copy a message's codes, of which the first `prefix` are of the role.  Free with ct_likeness_free.  CT_NOMEM. */
int ct_likeness_make(const uint64_t *codes, size_t count, size_t prefix, size_t words, ct_likeness *out);
void ct_likeness_free(ct_likeness *likeness);

/* The mean over one's tokens of the best match in the other, the better way round; -1 to 1. */
double ct_likeness_of(const ct_likeness *a, const ct_likeness *b, size_t words);

#endif
