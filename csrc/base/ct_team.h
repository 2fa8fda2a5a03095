/* A few threads that do one piece of work together and sleep in between.
 *
 * They wait in the kernel, never in a loop: beside other busy processes a team slows down in proportion. */
#ifndef CT_TEAM_H
#define CT_TEAM_H

#include <stddef.h>

#include "ct.h"

typedef struct ct_team ct_team;

/* `size` counts the caller of ct_team_run.  A team of 1 has no threads. */
int ct_team_create(size_t size, ct_team **out, ct_error *error);
void ct_team_destroy(ct_team *team);

size_t ct_team_size(const ct_team *team);

/* Call work(state, member) for members 0 to size - 1, at the same time; returns when all have returned.
 * One call at a time. */
void ct_team_run(ct_team *team, void (*work)(void *state, size_t member), void *state);

/* Inside work: wait until every member has come here. */
void ct_team_meet(ct_team *team);

#endif
