/* Filling a ct_error: status and one sentence for the user. */
#ifndef CT_ERROR_H
#define CT_ERROR_H

#include "ct.h"

/* Set error (which may be NULL) and return status.  The first error is kept: an error that is
 * already set stays as it is. */
__attribute__((format(printf, 3, 4))) int ct_fail(ct_error *error, int status, const char *format,
                                                  ...);
int ct_fail_nomem(ct_error *error);
void ct_error_clear(ct_error *error);

#endif
