/* Is a sentence a standing directive: something that the user wants done, or not done, from now on?
 *
 * By its form (the mood of its main clause, words of scope, what speaks against both) and by its
 * meaning (a linear probe on the vector of its chunk).  Quoted text, code and questions that ask
 * for nothing lasting are no directives, whatever they say.  Made for English; other languages by a
 * few set phrases. */
#ifndef CT_DIRECTIVE_H
#define CT_DIRECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

/* Where the reading of a text's sentences is; zero: at its beginning. */
typedef struct ct_sentence_reader {
    size_t next;
    int is_inside; /* of a line */
} ct_sentence_reader;

/* The next sentence, text[*start, *end), without the mark of a list's entry; code and quoted lines are passed over.
 * It may be empty.  0: there are no more. */
int ct_sentence_next(const char *text, size_t bytes, ct_sentence_reader *at, size_t *start, size_t *end);

/* Most sentences of one message that are looked at closer, the first. */
#define CT_SENTENCES_MAX 16

/* 1 when what this role says can be a directive: those of whom an agent takes orders.  Not what
 * assistants and tools say, and nobody by name, since nobody can tell whether Ann may give orders. */
int ct_directive_trusts(const char *role);

/* The mean of some tokens' codes, `bits` values from -127 to 127. */
void ct_directive_mean(const uint64_t *codes, size_t count, size_t bits, int8_t *mean);

/* Whether a sentence is a directive.  probe: [dimension] and a bias, for the unit vector of the chunk that
 * the sentence is in; NULL: by the form alone.  share: how much of the chunk is the sentence; of a small
 * part the vector says nothing. */
int ct_directive_holds(const ct_sentence *sentence, const float *probe, const float *vector, size_t dimension,
                       double share);

typedef enum ct_directive_kind {
    CT_DIRECTIVE_LIFTS = 1,   /* it is no directive, it lifts one */
    CT_DIRECTIVE_CHANGES = 2, /* it says that something is from now on */
    CT_DIRECTIVE_NAMES = 4,   /* it says what to call the user */
} ct_directive_kind;

/* What decides whether one directive takes the place of another. */
typedef struct ct_directive_view {
    int32_t kind;       /* of ct_directive_kind */
    int64_t hash;       /* of its words: the same sentence has the same */
    const int8_t *mean; /* [bits] or NULL */
    size_t bits;
} ct_directive_view;

/* Kind and hash of a sentence of the text; the mean is left alone. */
void ct_directive_describe(const char *text, const ct_sentence *sentence, ct_directive_view *view);

/* Cosine of two means; 0 without. */
double ct_directive_cosine(const int8_t *a, const int8_t *b, size_t bits);

/* 1 when the newer of two directives takes the place of the older, or withdraws it. */
int ct_directive_replaces(const ct_directive_view *newer, const ct_directive_view *older);

#endif
