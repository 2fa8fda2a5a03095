/* One score from the stages': a pure function, so that it can be tested and fitted apart. */
#ifndef CT_FUSE_H
#define CT_FUSE_H

#include <stddef.h>

#include "recall/ct_pool.h"

/* Give every candidate its score, at most 1; below 0 it orders, but says no more than 0 does.
 * fluency: 0 to 1, how well the model knows the query's script; see ct_fuse_fluency. */
void ct_fuse_score(ct_pool *pool, double fluency);

/* A model that does not know a script sees single letters or nothing: 0 for a token a letter or unknown
 * tokens only, 1 for tokens of two and a half letters and more, all of them known. */
double ct_fuse_fluency(const char *query, size_t bytes, size_t tokens, size_t unknown);

#endif
