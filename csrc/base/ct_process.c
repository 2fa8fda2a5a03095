#include "base/ct_process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/ct_error.h"

/* Process id in the upper half, databases open in the lower: one value, so that no thread sees the
 * one without the other. */
static _Atomic uint64_t state;

static uint64_t pack(uint32_t process, uint32_t count) { return (uint64_t)process << 32 | count; }

int ct_process_enter(ct_error *error) {
    uint32_t self = (uint32_t)getpid();
    uint64_t before = atomic_load(&state);
    for (;;) {
        uint32_t count = (uint32_t)before;
        if (count > 0 && before >> 32 != self)
            return ct_fail(error, CT_FORKED,
                           "this process was forked while a store was open, and SQLite cannot be used "
                           "across a fork; start it by spawn, or fork before opening");
        if (atomic_compare_exchange_weak(&state, &before, pack(self, count + 1))) return CT_OK;
    }
}

void ct_process_leave(void) {
    uint32_t self = (uint32_t)getpid();
    uint64_t before = atomic_load(&state);
    while (before >> 32 == self && (uint32_t)before > 0)
        if (atomic_compare_exchange_weak(&state, &before, before - 1)) return;
}

static _Atomic int forks;
static pthread_once_t counted = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }
static void count_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

int ct_process_forks(void) {
    pthread_once(&counted, count_forks);
    return atomic_load(&forks);
}
