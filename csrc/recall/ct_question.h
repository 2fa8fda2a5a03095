/* Whether a text asks rather than tells. */
#ifndef CT_QUESTION_H
#define CT_QUESTION_H

#include <stddef.h>

/* The share of the text that stands in sentences ending with a question mark, 0 to 1. */
double ct_question_share(const char *text, size_t bytes);

/* Whether the text ends with a question. */
int ct_question_ends(const char *text, size_t bytes);

#endif
