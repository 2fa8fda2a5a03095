/* SQLite's locks do not survive a fork: a child that opens any database while its parent's are open
 * shares their bookkeeping, loses writes and can hang.  So each open database is counted, and a
 * process forked while some were open opens none. */
#ifndef CT_PROCESS_H
#define CT_PROCESS_H

#include "ct.h"

/* Before opening a database: CT_FORKED when the parent had some open.  Undone by leave. */
int ct_process_enter(ct_error *error);
void ct_process_leave(void);

/* How often this process and those it comes from were forked since the first call: another number than before is
 * another process.  Cheaper than asking the system. */
int ct_process_forks(void);

#endif
