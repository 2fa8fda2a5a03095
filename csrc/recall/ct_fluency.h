/* How much of a query the model knows as language. */
#ifndef CT_FLUENCY_H
#define CT_FLUENCY_H

#include "encoder/ct_encoder.h"

/* 0 to 1: the share of the query's tokens that are whole words or long parts of words.  Numbers,
 * hashes and scripts that are foreign to the model fall apart into single letters, or become unknown
 * tokens, and what it makes of them is noise; quotations and identifiers are meant to the letter. */
int ct_fluency_of(ct_encoder *encoder, const char *text, size_t bytes, double *out, ct_error *error);

#endif
