/* What of a text is handed to the full-text index.  Its tokenizer (FTS5's unicode61) finds words between
 * spaces and punctuation; this adds the words that have no such borders. */
#ifndef CT_WORD_TEXT_H
#define CT_WORD_TEXT_H

#include <stddef.h>

/* The text with
 *   - runs of scripts written without spaces, and of Hangul, as single characters and overlapping pairs;
 *   - identifiers such as parseHttpResponse followed by their parts;
 *   - a few letters folded that the tokenizer leaves apart (full-width ASCII, ß, Arabic alef forms).
 * Anything else stays as it is, byte for byte.  At most 4 bytes for each of the text.  Takes time linear
 * in it, and any bytes: what is not UTF-8 becomes a space.  CT_NOMEM; free *out with ct_free. */
int ct_word_text(const char *text, size_t bytes, char **out, size_t *out_bytes);

typedef struct ct_span {
    size_t start;
    size_t bytes;
    int lone; /* an identifier without punctuation, so that its first word is the whole */
} ct_span;

/* The parts of a query that are meant as a whole: what is in quotation marks, and identifiers of
 * several words (paths, versions, snake_case, camelCase).  Returns how many, at most `capacity`. */
size_t ct_word_spans(const char *text, size_t bytes, ct_span *spans, size_t capacity);

#endif
