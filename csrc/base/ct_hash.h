/* XXH64 (Yann Collet, xxHash specification 0.1.1): a fast 64-bit hash by which damage is noticed.  Nothing
 * here guards against somebody who means harm. */
#ifndef CT_HASH_H
#define CT_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t ct_hash(const void *data, size_t bytes, uint64_t seed);

#endif
