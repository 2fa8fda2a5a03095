#include "engine/ct_check.h"

#include <string.h>

#include "base/ct_error.h"
#include "base/ct_utf8.h"

#define TEXT_BYTES_MAX (16u << 20)

int ct_check_text(const char *text, size_t bytes, const char *what, ct_error *error) {
    if (!text) return ct_fail(error, CT_INVALID, "%s is missing", what);
    if (bytes > TEXT_BYTES_MAX)
        return ct_fail(error, CT_INVALID, "%s has %zu bytes; at most %u are allowed", what, bytes,
                       TEXT_BYTES_MAX);
    switch (ct_utf8_check(text, bytes)) {
    case CT_UTF8_BLANK: return ct_fail(error, CT_INVALID, "%s is empty", what);
    case CT_UTF8_NUL: return ct_fail(error, CT_INVALID, "%s holds a NUL character", what);
    case CT_UTF8_MALFORMED: return ct_fail(error, CT_INVALID, "%s is not valid UTF-8", what);
    case CT_UTF8_GOOD: break;
    }
    return CT_OK;
}

int ct_check_name(const char *name, const char *what, ct_error *error) {
    return ct_check_text(name, name ? strlen(name) : 0, what, error);
}

int ct_check_message(const ct_message_input *message, ct_error *error) {
    int status = ct_check_text(message->text, message->text_bytes, "text", error);
    if (!status) status = ct_check_name(message->role, "role", error);
    if (!status) status = ct_check_name(message->session, "session", error);
    if (!status && message->source) status = ct_check_name(message->source, "source", error);
    if (!status && message->uid) status = ct_check_name(message->uid, "uid", error);
    return status;
}

static int check_names(const char *const *names, size_t count, const char *what, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < count; i++) status = ct_check_name(names[i], what, error);
    return status;
}

int ct_check_filter(const ct_filter *filter, ct_error *error) {
    int status = check_names(filter->sessions, filter->session_count, "session", error);
    if (!status) status = check_names(filter->roles, filter->role_count, "role", error);
    return status;
}

int ct_check_limit(int32_t limit, ct_error *error) {
    if (limit >= 1 && limit <= CT_LIMIT_MAX) return CT_OK;
    return ct_fail(error, CT_INVALID, "limit is %d; it must be from 1 to %d", limit, CT_LIMIT_MAX);
}
