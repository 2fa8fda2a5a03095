/* How many tokens a text costs. */
#ifndef CT_COST_H
#define CT_COST_H

#include "encoder/ct_encoder.h"

/* A model takes a whole word of a script that it does not know for one token; so many bytes of such a
 * word count for one, which is near what others count. */
#define CT_COST_TOKEN_BYTES 8

/* Where a part of a text that begins at `start` ends, of at most so many bytes: behind a space where there is one, never
 * inside a character. */
size_t ct_cost_part(const char *text, size_t bytes, size_t start, size_t most);

/* As the model counts, but one for CT_COST_TOKEN_BYTES at least.  Exact up to `most`; of what costs more, only that
 * it does. */
int ct_cost_tokens(ct_encoder *encoder, const char *text, size_t bytes, size_t most, size_t *tokens,
                   ct_error *error);

#endif
