/* Keeps SQLite's log from being removed while the store is open.
 *
 * SQLite removes the log when the last connection closes, and knows that it is the last by POSIX locks. A process loses
 * those of a file as soon as any part of it closes that file, as when the host copies its own store. So each open
 * store also holds a lock of another kind on the log, which nothing but its own end gives back: who cannot have it
 * alone leaves the log where it is.  A log that is gone all the same, by another program's hand, is noticed. */
#ifndef CT_LOG_GUARD_H
#define CT_LOG_GUARD_H

#include <sqlite3.h>

#include "ct.h"

typedef struct ct_log_guard {
    const char *path; /* SQLite's, as long as its connection is open */
    int descriptor;   /* -1: closed */
} ct_log_guard;

/* Of a database that was read from; waits so long for one that is just being closed.  CT_IO, CT_BUSY. */
int ct_log_guard_open(sqlite3 *db, int32_t busy_ms, ct_log_guard *guard, ct_error *error);

/* Whether the log with the name is still the one that is open. */
int ct_log_guard_holds(const ct_log_guard *guard);

/* Whether no other store has this log open; it is held alone from then on. */
int ct_log_guard_is_last(const ct_log_guard *guard);

void ct_log_guard_close(ct_log_guard *guard);

#endif
