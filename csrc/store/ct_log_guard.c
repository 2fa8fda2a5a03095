#include "store/ct_log_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ct_clock.h"
#include "base/ct_error.h"

#define POLL_US 1000

int ct_log_guard_holds(const ct_log_guard *guard) {
    struct stat open_one, named;
    return !fstat(guard->descriptor, &open_one) && !stat(guard->path, &named) && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

int ct_log_guard_open(sqlite3 *db, int32_t busy_ms, ct_log_guard *guard, ct_error *error) {
    int64_t deadline = ct_clock_ns() + busy_ms * 1000000ll;
    guard->path = sqlite3_filename_wal(sqlite3_db_filename(db, "main"));
    for (;;) {
        guard->descriptor = open(guard->path, O_RDONLY | O_CLOEXEC);
        if (guard->descriptor < 0) return ct_fail(error, CT_IO, "cannot open %s: %s", guard->path, strerror(errno));
        int failed = flock(guard->descriptor, LOCK_SH | LOCK_NB);
        if (!failed && ct_log_guard_holds(guard)) return CT_OK;
        if (failed && errno != EWOULDBLOCK && errno != EINTR) {
            /* A file system without such locks: as without a guard. */
            return CT_OK;
        }
        ct_log_guard_close(guard);
        if (ct_clock_ns() > deadline)
            return ct_fail(error, CT_BUSY, "%s: another process is closing the store; try again", guard->path);
        usleep(POLL_US);
    }
}

int ct_log_guard_is_last(const ct_log_guard *guard) {
    return guard->descriptor >= 0 && !flock(guard->descriptor, LOCK_EX | LOCK_NB);
}

void ct_log_guard_close(ct_log_guard *guard) {
    if (guard->descriptor >= 0) close(guard->descriptor);
    guard->descriptor = -1;
}
