/* UTF-8 as the core accepts it: well formed, no surrogates, no NUL. */
#ifndef CT_UTF8_H
#define CT_UTF8_H

#include <stddef.h>
#include <stdint.h>

typedef enum ct_utf8_verdict {
    CT_UTF8_GOOD = 0,
    CT_UTF8_BLANK,     /* nothing but white space */
    CT_UTF8_NUL,       /* holds a NUL character */
    CT_UTF8_MALFORMED, /* not UTF-8, a surrogate, or beyond U+10FFFF */
} ct_utf8_verdict;

/* Length of the character at p, 0 when it is malformed, and its code point.  left is at least 1. */
size_t ct_utf8_decode(const unsigned char *p, size_t left, uint32_t *point);

ct_utf8_verdict ct_utf8_check(const char *text, size_t bytes);

/* The largest count <= limit that does not end inside a character of a well formed text. */
size_t ct_utf8_floor(const char *text, size_t bytes, size_t limit);

#endif
