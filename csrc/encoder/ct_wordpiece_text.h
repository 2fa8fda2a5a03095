#ifndef CT_WORDPIECE_TEXT_H
#define CT_WORDPIECE_TEXT_H
#include <stddef.h>
int ct_wordpiece_text(const char *utf8, size_t n, char **out, size_t *out_n);
#endif
