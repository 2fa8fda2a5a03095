/* Kernels behind one table, chosen once by what the CPU can run.  Every kernel has a scalar twin
 * that defines its result; all levels give bit-equal results, but for `dense` (see there). */
#ifndef CT_SIMD_H
#define CT_SIMD_H

#include <stddef.h>
#include <stdint.h>

#include "simd/ct_simd_dense.h"

/* Codes are padded with zeros to a multiple of this many dimensions. */
#define CT_SIMD_BLOCK 64

/* Query values stay within +-CT_QUERY_MAX, so that 32-bit sums cannot overflow below
 * CT_DIMENSION_MAX dimensions: 2047 * 127 * 8192 < 2^31. */
#define CT_QUERY_MAX 2047
#define CT_CODE_MAX 127
#define CT_DIMENSION_MAX 8192

/* Bits of one dimension of a query token. */
#define CT_LATE_PLANES 4

typedef struct ct_kernels {
    const char *name;
    /* sum(query[i] * code[i]); dimension is a multiple of CT_SIMD_BLOCK. */
    int32_t (*dot)(const int16_t *query, const int8_t *code, size_t dimension);
    /* least[t], over the codes: sum over planes p of 2^p * popcount(planes[t][p] ^ code).
     * planes[tokens][CT_LATE_PLANES][words], codes[count][words]; count >= 1, words <= 16. */
    void (*late)(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes, size_t count,
                 uint32_t *least);
    /* sums[count][CT_SCAN_GROUP]: of each code those that its bits choose.  groups[count][bytes][CT_SCAN_GROUP];
     * tables as ct_simd_scan.h says; bytes is even. */
    void (*scan)(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count, uint16_t *sums);
    /* Places among `count` sums, a multiple of CT_SCAN_GROUP, that hold `least` or more, in order. */
    size_t (*over)(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places);
    const ct_dense_kernels *dense;
} ct_kernels;

/* The level in use.  Thread-safe. */
const ct_kernels *ct_simd(void);

static inline size_t ct_simd_padded(size_t dimension) {
    return (dimension + CT_SIMD_BLOCK - 1) / CT_SIMD_BLOCK * CT_SIMD_BLOCK;
}

#endif
