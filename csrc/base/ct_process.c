#include "base/ct_process.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/ct_error.h"

static _Atomic int open_count;
static _Atomic pid_t owner;

int ct_process_enter(ct_error *error) {
    pid_t self = getpid();
    if (atomic_fetch_add(&open_count, 1) == 0) atomic_store(&owner, self);
    if (atomic_load(&owner) == self) return CT_OK;
    atomic_fetch_sub(&open_count, 1);
    return ct_fail(error, CT_FORKED,
                   "this process was forked while a store was open, and SQLite cannot be used across "
                   "a fork; start it by spawn, or fork before opening");
}

void ct_process_leave(void) {
    if (atomic_load(&owner) == getpid()) atomic_fetch_sub(&open_count, 1);
}
