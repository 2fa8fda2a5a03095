/* One score from the stages': a pure function, so that it can be tested and fitted apart. */
#ifndef CT_FUSE_H
#define CT_FUSE_H

#include "recall/ct_pool.h"

/* Give every candidate its score, 0 to 1. */
void ct_fuse_score(ct_pool *pool);

#endif
