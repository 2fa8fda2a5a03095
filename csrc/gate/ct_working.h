/* Working memory: of each session the few messages that are active in it.
 *
 * A message rises when it is brought to mind, by a * (1 - activation), so that it nears 1 the more often that is; all
 * of a session fade with each of its turns.  What has faded, and what is least active of too many, is forgotten; so
 * is the session that was quiet the longest of too many.  A leaky accumulator, as base-level activation is modelled
 * by (Anderson and Schooler, Psychological Science 2(6), 1991), by turns instead of seconds. */
#ifndef CT_WORKING_H
#define CT_WORKING_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

#define CT_WORKING_ITEMS 8
#define CT_WORKING_SESSIONS 64

typedef struct ct_working ct_working;

typedef struct ct_active {
    int64_t message_id;
    double activation; /* 0 to 1 */
} ct_active;

int ct_working_create(ct_working **out, ct_error *error);
void ct_working_free(ct_working *working);

/* A turn of the session begins: what is active in it fades. */
void ct_working_turn(ct_working *working, const char *session);

/* Messages are brought to mind, each as strongly as its activation here says.  CT_NOMEM: nothing is changed. */
int ct_working_rise(ct_working *working, const char *session, const ct_active *messages, size_t count, ct_error *error);

/* What is active, most first, into out[CT_WORKING_ITEMS]; returns how many. */
size_t ct_working_read(ct_working *working, const char *session, ct_active *out);

#endif
