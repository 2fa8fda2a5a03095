/* What a short message states, word by word, and whether a newer one states something else of the
 * same thing.
 *
 * Two messages are laid side by side by the content words that they share.  Between these, a change
 * has one substitution, of a value by a value of its kind, and all else of the older is left out or
 * kept; two facts that look alike have a second one, that of what they are about ("Anna's room is
 * 204", "Ben's room is 214").  The other kind of change ends what the older says ("no longer").
 *
 * Numbers, dates and times are found in any language and in the digits of the common scripts.  Cue
 * words, negations, names by their capital and what counts as a content word are known in English
 * only; in other languages less is found, not more. */
#ifndef CT_STATEMENT_H
#define CT_STATEMENT_H

#include <stddef.h>
#include <stdint.h>

/* A longer text says several things, of which one may have changed: it states nothing here. */
#define CT_STATEMENT_BYTES 200
#define CT_STATEMENT_WORDS 64

typedef enum ct_word_kind {
    CT_WORD_CONTENT,
    CT_WORD_NAME,   /* with a capital, inside a sentence */
    CT_WORD_NUMBER, /* has a digit, or is an English number up to twenty */
    CT_WORD_DAY,
    CT_WORD_MONTH,
    CT_WORD_FUNCTION,
    CT_WORD_CUE, /* says that something changes, ends or is not so; about no subject of its own */
} ct_word_kind;

/* How a number is written: only two of one shape are values of one kind. */
typedef enum ct_number_shape {
    CT_NUMBER_PLAIN,
    CT_NUMBER_YEAR,
    CT_NUMBER_ORDINAL,
    CT_NUMBER_TIME,
    CT_NUMBER_OTHER, /* a code, a version, a date in digits */
} ct_number_shape;

typedef struct ct_stated_word {
    const char *folded; /* lower case, NUL-terminated */
    uint16_t bytes;
    uint16_t stem; /* bytes of it that the word's forms share */
    uint16_t is; /* bits, inside ct_statement.c */
    uint8_t kind;
    uint8_t shape;
    uint8_t composed; /* of parts, with punctuation between */
    uint8_t opens;    /* first of its sentence or clause */
    double number; /* a time in minutes */
} ct_stated_word;

typedef struct ct_statement {
    ct_stated_word words[CT_STATEMENT_WORDS];
    size_t count;
    uint64_t beginnings; /* of its content words, hashed */
    char text[CT_STATEMENT_BYTES + CT_STATEMENT_WORDS];
} ct_statement;

/* Words of a text of at most CT_STATEMENT_BYTES bytes and CT_STATEMENT_WORDS words; of more, none.
 * out may not be copied: its words point into it. */
void ct_statement_read(const char *text, size_t bytes, ct_statement *out);

typedef struct ct_statement_pair {
    size_t shared;  /* content words of the older that the newer has */
    size_t missing; /* those that it has not */
    int asked;      /* of the query's words the older has more of its own than the newer */
    int changes;    /* as far as words can tell, the newer replaces or ends what the older says */
} ct_statement_pair;

ct_statement_pair ct_statement_compare(const ct_statement *older, const ct_statement *newer,
                                       const ct_statement *query);

#endif
