/* The one allocation hook of the core.  Tests make the n-th allocation fail through
 * ct_fault_allocation; everything else of the C library that allocates is poisoned, so that no path
 * escapes those tests. */
#ifndef CT_ALLOC_H
#define CT_ALLOC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* NULL when memory is short.  A size of 0 gives a valid pointer. */
void *ct_alloc(size_t bytes);
void *ct_alloc_zero(size_t bytes);
void *ct_realloc(void *memory, size_t bytes);
void *ct_alloc_aligned(size_t bytes); /* 64-byte aligned, zeroed */
void *ct_alloc_large(size_t bytes);   /* in large pages where the system has them: for what is read in full */
void ct_free(void *memory);           /* NULL is fine */

/* A NUL-terminated copy, or NULL when memory is short. */
char *ct_copy(const char *text, size_t bytes);
char *ct_copy_string(const char *text);

#ifndef CT_ALLOC_IMPLEMENTATION
#pragma GCC poison malloc calloc realloc free strdup strndup aligned_alloc posix_memalign
#endif

#endif
