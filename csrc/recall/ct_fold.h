/* What a text says, less how it is put: to tell whether two say the same, word for word.
 *
 * Two texts that differ only in case, punctuation, white space, a greeting or a phrase such as "as I
 * said" fold to the same.  Any other word counts, and so do digits, signs, symbols and question
 * marks: a number, a name or a "not" is what makes a text another one.
 *
 * Rejected: shingles or minhash with a threshold.  Where one word of forty differs, that word is as a
 * rule the number, the name or the date. */
#ifndef CT_FOLD_H
#define CT_FOLD_H

#include <stddef.h>
#include <stdint.h>

/* Of a longer text the first so many bytes are folded; the rest must be the same to the byte. */
#define CT_FOLD_BYTES 4096

typedef struct ct_folded {
    size_t at; /* where its words begin in ct_folds.bytes */
    size_t bytes;
    const char *tail; /* what was not folded, a part of the text */
    size_t tail_bytes;
    uint64_t hash;
    size_t words; /* among the folded, greetings and the like included */
    int refers;   /* begins with "yes", "it", "that" and the like: with what was said before it */
    int numbers;  /* has a digit */
    int dated;    /* says when, counted from when it was said: "tomorrow" */
} ct_folded;

/* The words of many folded texts.  Zero is empty. */
typedef struct ct_folds {
    char *bytes;
    size_t used;
    size_t capacity;
} ct_folds;

/* text: valid UTF-8; must outlive *out.  0, or -1 when memory is short. */
int ct_fold(ct_folds *folds, const char *text, size_t bytes, ct_folded *out);

int ct_fold_equal(const ct_folds *folds, const ct_folded *a, const ct_folded *b);

void ct_folds_free(ct_folds *folds);

#endif
