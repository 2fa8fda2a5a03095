/* What every judgement of a newer value has in common, whoever makes it. */
#ifndef CT_CHANGE_H
#define CT_CHANGE_H

#include <stdint.h>

#include "recall/ct_statement_pair.h"

/* Read what a message states.  0: it asks, or is too long, and takes no part. */
int ct_change_read(const char *text, size_t bytes, ct_statement *out);

int ct_change_is_newer(int64_t time_ms, int64_t id, int64_t than_time_ms, int64_t than_id);

/* Whether what a role says can replace what another does: what a tool printed replaces what tools printed. */
int ct_change_may(const char *newer_role, const char *older_role);

#endif
