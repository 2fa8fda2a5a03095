/* Is a sentence a standing directive: something that the user wants done, or not done, from now on?
 *
 * By its form (the mood of its main clause, words of scope, what speaks against both) and by its
 * meaning (a linear probe on the mean of its tokens' codes).  Quoted text, code and questions that ask
 * for nothing lasting are no directives, whatever they say.  Made for English; other languages by a
 * few set phrases. */
#ifndef CT_DIRECTIVE_H
#define CT_DIRECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

/* Most sentences of one message that can be directives; of a longer text the first such. */
#define CT_DIRECTIVES_MAX 8

/* Most dimensions of a meaning. */
#define CT_MEANING_MAX CT_CODE_BITS_MAX

/* 1 when what this role says can be a directive: those of whom an agent takes orders.  Not what
 * assistants and tools say, and nobody by name, since nobody can tell whether Ann may give orders. */
int ct_directive_trusts(const char *role);

/* The mean of some tokens' codes, `bits` values from -127 to 127. */
void ct_directive_mean(const uint64_t *codes, size_t count, size_t bits, int8_t *mean);

/* Whether a sentence is a directive.  probe: [bits], then a bias; mean may be NULL, and probe: by the
 * form alone then. */
int ct_directive_holds(const ct_sentence *sentence, const float *probe, const int8_t *mean, size_t bits);

/* What decides whether two directives are about the same thing. */
typedef struct ct_directive_view {
    const char *text; /* of the sentence */
    size_t text_bytes;
    int withdraws;
    const int8_t *mean; /* [bits] or NULL */
    size_t bits;
} ct_directive_view;

/* Cosine of two means; 0 without. */
double ct_directive_cosine(const int8_t *a, const int8_t *b, size_t bits);

/* 1 when the newer of two directives takes the place of the older, or withdraws it. */
int ct_directive_replaces(const ct_directive_view *newer, const ct_directive_view *older);

#endif
