/* One score from the stages': a pure function, so that it can be tested and fitted apart. */
#ifndef CT_FUSE_H
#define CT_FUSE_H

#include <stddef.h>

#include "recall/ct_pool.h"

/* Give every candidate its score, at most 1; below 0 it orders, but says no more than 0 does.
 * fluency: 0 to 1, how much of the query the model knows; see ct_fluency.h. */
void ct_fuse_score(ct_pool *pool, double fluency);

#endif
