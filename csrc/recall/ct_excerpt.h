/* A part of a text that holds what was asked for. */
#ifndef CT_EXCERPT_H
#define CT_EXCERPT_H

#include "store/ct_store.h"

/* The byte around which a window of about `size` bytes holds the most of the words, each counted once;
 * looked for not far from `near`, which it is when there are none. */
size_t ct_excerpt_centre(const char *text, size_t bytes, const ct_words *words, size_t near, size_t size);

/* The window [*start, *end) of about so many bytes around a place: from word to word where there are any,
 * never inside a character. */
void ct_excerpt_lay(const char *text, size_t bytes, size_t centre, size_t size, size_t *start, size_t *end);

#endif
