/* What the reader of a stream knows already: texts of the context window and messages that were staged. */
#ifndef CT_KNOWN_H
#define CT_KNOWN_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_known ct_known;

int ct_known_create(ct_known **out, ct_error *error);
void ct_known_free(ct_known *known);

/* Know a text: any UTF-8.  CT_NOMEM: it may be known in part. */
int ct_known_add_text(ct_known *known, const char *text, size_t bytes, ct_error *error);

/* Know a message by its id, from 1 on. */
int ct_known_add_message(ct_known *known, int64_t message_id, ct_error *error);
int ct_known_has_message(const ct_known *known, int64_t message_id);

/* The share, 0 to 1, of a text's runs of three words that stand in the known texts; of a shorter text it is one run.
 * Case and punctuation do not count, scripts without spaces go by characters.  Without words 1: there is nothing in
 * it. */
double ct_known_overlap(const ct_known *known, const char *text, size_t bytes);

/* How many words a text has, counted so. */
size_t ct_known_count(const char *text, size_t bytes);

/* How many of its words have a digit. */
size_t ct_known_count_numbers(const char *text, size_t bytes);

/* Whether every word of a text that has a digit stands in the known texts: 1 when it has none. */
int ct_known_has_numbers(const ct_known *known, const char *text, size_t bytes);

#endif
