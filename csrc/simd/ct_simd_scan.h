/* ct_kernels.scan by level: how well a query matches one bit a dimension, for many codes at once.
 *
 * The method is that of product quantisation with tables in registers (Andre et al., "Cache locality is
 * not enough", VLDB 2015): four bits of a code choose one of 16 sums that were made for the query. */
#ifndef CT_SIMD_SCAN_H
#define CT_SIMD_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Codes that stand together: of all of them the first byte, then the second, and so on. */
#define CT_SCAN_GROUP 32

/* A query's sums by four bits: for each byte of a code those of its low half, twice, then for each byte
 * those of its high half, twice. */
#define CT_SCAN_TABLE_BYTES (2 * CT_SCAN_GROUP)

/* A sum is at most this, so that those of all bytes of a code together stay within 16 bits. */
int ct_scan_most(size_t bytes);

void ct_scan_scalar(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count,
                    uint16_t *sums);
#if defined(__x86_64__)
void ct_scan_avx2(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count, uint16_t *sums);
void ct_scan_avx512(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count,
                    uint16_t *sums);
#elif defined(__aarch64__)
void ct_scan_neon(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count, uint16_t *sums);
#endif

size_t ct_over_scalar(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places);
#if defined(__x86_64__)
size_t ct_over_avx2(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places);
size_t ct_over_avx512(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places);
#elif defined(__aarch64__)
size_t ct_over_neon(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places);
#endif

#endif
