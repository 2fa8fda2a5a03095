/* How likely it is that the store answers a query. */
#ifndef CT_CONFIDENCE_H
#define CT_CONFIDENCE_H

#include "recall/ct_pool.h"
#include "recall/ct_speaker.h"

/* 0 to 1, from the scored pool.  An absolute match says whether it is about this at all; when the
 * query names somebody, another one's better match says that the premise may be wrong. */
double ct_confidence_of(const ct_pool *pool, const ct_speakers *speakers);

#endif
