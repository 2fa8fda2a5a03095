/* What a short message states, word by word.
 *
 * Numbers, dates and times are found in any language and in the digits of the common scripts.  Cue
 * words, endings, negations, number words and what counts as a content word are known in English only
 * ("now" and "new" in a few languages more), names by a capital inside a sentence; where a language
 * is not known, less is found rather than more. */
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

/* What English words say, and a few of other languages. */
enum {
    CT_IS_CUE = 1, /* often said when something changes; never enough by itself */
    CT_IS_ENDING = 2, /* what it stands beside is over */
    CT_IS_NEGATION = 4, /* what follows is not so */
    CT_IS_LASTING = 8, /* it was so, and is not */
    CT_IS_FILLER = 16, /* says nothing, beside the function words of the lexical stage */
    CT_IS_COPULA = 32, /* after a number it makes that the name of what is spoken of ("1182 is closed") */
    CT_IS_PAST = 64, /* two such events may both have happened */
    CT_IS_MONTH = 128,
    CT_IS_DAY = 256,
    CT_IS_NUMBER = 512,
    CT_IS_ADDS = 1024, /* something holds beside what held */
};

typedef struct ct_stated_word {
    const char *folded; /* lower case, NUL-terminated */
    uint16_t bytes;
    uint16_t stem; /* bytes of it that the word's forms share */
    uint16_t is;        /* CT_IS_ bits */
    uint8_t kind;
    uint8_t shape;
    uint8_t composed; /* of parts, with punctuation between */
    uint8_t opens;    /* first of its sentence or clause */
    double number;      /* a time in minutes */
    uint64_t beginning; /* a bit: words that are the same have one in common */
} ct_stated_word;

typedef struct ct_statement {
    ct_stated_word words[CT_STATEMENT_WORDS];
    size_t count;
    uint8_t content[CT_STATEMENT_WORDS]; /* places of the content words */
    size_t content_count;
    uint64_t beginnings; /* of all content words */
    char text[CT_STATEMENT_BYTES + CT_STATEMENT_WORDS];
} ct_statement;

/* Words of a text of at most CT_STATEMENT_BYTES bytes and CT_STATEMENT_WORDS words; of more, none.
 * out may not be copied: its words point into it. */
void ct_statement_read(const char *text, size_t bytes, ct_statement *out);

static inline int ct_stated_word_is_content(const ct_stated_word *word) {
    return word->kind != CT_WORD_FUNCTION && word->kind != CT_WORD_CUE;
}

#endif
