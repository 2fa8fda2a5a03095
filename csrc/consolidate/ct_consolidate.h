/* Consolidation, a step at a time.  Nothing of what was said is changed by it; everything it stores follows from the
 * messages and could be made again. */
#ifndef CT_CONSOLIDATE_H
#define CT_CONSOLIDATE_H

#include "ct.h"
#include "recall/ct_parts.h"

/* Do a little, some milliseconds' worth, and add it to *report; *left: there is more to do.  Of one thread at a time in a
 * process; of what two processes do at once one does nothing. */
int ct_consolidate_step(const ct_recall_parts *parts, ct_consolidation *report, int *left, ct_error *error);

#endif
