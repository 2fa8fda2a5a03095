/* Cuts a stream of text into segments while it comes in: at the end of a sentence, or after so many characters.
 *
 * Where a segment ends depends on the text alone, never on how it was divided into deltas.  One never ends inside a
 * character with its marks, a word, a number, a URL, a code span or an abbreviation, whatever the script, unless the
 * thing itself is longer than CT_SEGMENT_BYTES.  Between two segments is nothing but white space.
 *
 * Abbreviations are known of English, German, French and Spanish; in scripts written without spaces a segment that is
 * too long is cut between any two characters. */
#ifndef CT_SEGMENTER_H
#define CT_SEGMENTER_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

/* Characters after which a segment ends before the next word. */
#define CT_SEGMENT_CHARACTERS 120

/* A sentence with fewer takes the next one along: "Yes." finds nothing. */
#define CT_SEGMENT_LEAST 16

/* Nothing longer is kept together. */
#define CT_SEGMENT_BYTES 4096

typedef struct ct_segmenter ct_segmenter;

typedef struct ct_segment {
    const char *text; /* UTF-8, no white space around it; valid during the call */
    size_t bytes;
    int64_t start; /* characters before it in the stream */
    int64_t end;
    int ends_paragraph; /* a line break, or the end of the stream, follows */
} ct_segment;

/* Called for every segment that is not blank; a non-zero return ends the call, which returns it: what is
 * left of the delta is lost. */
typedef int ct_segment_visit(void *state, const ct_segment *segment);

int ct_segmenter_create(ct_segmenter **out, ct_error *error);
void ct_segmenter_free(ct_segmenter *segmenter);

/* Take in what came, which may end inside a character.  What is not UTF-8 counts as U+FFFD, NUL too. */
int ct_segmenter_feed(ct_segmenter *segmenter, const char *bytes, size_t count, ct_segment_visit *visit, void *state);

/* The stream has ended: what is left is a segment, and a new stream may begin. */
int ct_segmenter_flush(ct_segmenter *segmenter, ct_segment_visit *visit, void *state);

/* Forget what came in. */
void ct_segmenter_reset(ct_segmenter *segmenter);

#endif
