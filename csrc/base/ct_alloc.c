#define CT_ALLOC_IMPLEMENTATION
#include "base/ct_alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "ct.h"

static _Atomic int64_t fault_countdown;

void ct_fault_allocation(int64_t n) { atomic_store(&fault_countdown, n); }

static int must_fail(void) {
    if (atomic_load_explicit(&fault_countdown, memory_order_relaxed) <= 0) return 0;
    return atomic_fetch_sub(&fault_countdown, 1) == 1;
}

void *ct_alloc(size_t bytes) {
    if (must_fail()) return NULL;
    return malloc(bytes ? bytes : 1);
}

void *ct_alloc_zero(size_t bytes) {
    if (must_fail()) return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *ct_realloc(void *memory, size_t bytes) {
    if (must_fail()) return NULL;
    return realloc(memory, bytes ? bytes : 1);
}

void *ct_alloc_aligned(size_t bytes) {
    size_t rounded = (bytes + 63) / 64 * 64;
    if (must_fail()) return NULL;
    void *memory = aligned_alloc(64, rounded ? rounded : 64);
    if (memory) memset(memory, 0, rounded);
    return memory;
}

void *ct_alloc_large(size_t bytes) {
    size_t page = (size_t)2 << 20, rounded = (bytes + 63) / 64 * 64;
    if (must_fail()) return NULL;
    void *memory = NULL;
    if (posix_memalign(&memory, rounded < page ? 64 : page, rounded ? rounded : 64)) return NULL;
#ifdef MADV_HUGEPAGE
    if (rounded >= page) madvise(memory, rounded / page * page, MADV_HUGEPAGE); /* a wish: nothing hangs on it */
#endif
    return memory;
}

void ct_free(void *memory) { free(memory); }

char *ct_copy(const char *text, size_t bytes) {
    char *copy = ct_alloc(bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return copy;
}

char *ct_copy_string(const char *text) { return ct_copy(text, strlen(text)); }
