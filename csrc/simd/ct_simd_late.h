/* ct_kernels.late by level.  A level's function is only called where the CPU can run it. */
#ifndef CT_SIMD_LATE_H
#define CT_SIMD_LATE_H

#include <stddef.h>
#include <stdint.h>

void ct_late_scalar(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                    size_t count, uint32_t *least);
#if defined(__x86_64__)
void ct_late_avx2(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                  size_t count, uint32_t *least);
void ct_late_avx512(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                    size_t count, uint32_t *least);
#elif defined(__aarch64__)
void ct_late_neon(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                  size_t count, uint32_t *least);
#endif

#endif
