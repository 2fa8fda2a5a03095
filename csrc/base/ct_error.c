#include "base/ct_error.h"

#include <stdarg.h>
#include <stdio.h>

int ct_fail(ct_error *error, int status, const char *format, ...) {
    if (!error || error->status != CT_OK) return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

int ct_fail_nomem(ct_error *error) { return ct_fail(error, CT_NOMEM, "out of memory"); }

void ct_error_clear(ct_error *error) {
    if (!error) return;
    error->status = CT_OK;
    error->message[0] = 0;
}
