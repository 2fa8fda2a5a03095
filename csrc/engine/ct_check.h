/* What callers may give the engine; all but CT_OK is CT_INVALID and says what is wrong with `what`. */
#ifndef CT_CHECK_H
#define CT_CHECK_H

#include <stddef.h>

#include "ct.h"

/* Most hits, messages or directives that may be asked for. */
#define CT_LIMIT_MAX 10000

int ct_check_text(const char *text, size_t bytes, const char *what, ct_error *error);
int ct_check_name(const char *name, const char *what, ct_error *error);
int ct_check_message(const ct_message_input *message, ct_error *error);
int ct_check_filter(const ct_filter *filter, ct_error *error);

/* From 1 to CT_LIMIT_MAX. */
int ct_check_limit(int32_t limit, ct_error *error);

#endif
