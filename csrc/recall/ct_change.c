#include "recall/ct_change.h"

#include "recall/ct_question.h"
#include "recall/ct_role.h"

/* From this share on a message asks rather than states. */
#define ASKS 0.5

int ct_change_read(const char *text, size_t bytes, ct_statement *out) {
    if (ct_question_share(text, bytes) >= ASKS) return 0;
    ct_statement_read(text, bytes, out);
    return out->count > 0;
}

int ct_change_is_newer(int64_t time_ms, int64_t id, int64_t than_time_ms, int64_t than_id) {
    return time_ms != than_time_ms ? time_ms > than_time_ms : id > than_id;
}

int ct_change_may(const char *newer_role, const char *older_role) {
    return !ct_role_is_tool(newer_role) || ct_role_is_tool(older_role);
}
