#include "simd/ct_simd_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

int ct_scan_most(size_t bytes) { return bytes <= 258 ? 127 : (int)(65535 / (2 * bytes)); }

/* ---- sums ---------------------------------------------------------------------------------- */

void ct_scan_scalar(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count,
                    uint16_t *sums) {
    const uint8_t *high = tables + bytes * CT_SCAN_GROUP;
    for (size_t g = 0; g < count; g++, sums += CT_SCAN_GROUP) {
        for (size_t i = 0; i < CT_SCAN_GROUP; i++) sums[i] = 0;
        for (size_t b = 0; b < bytes; b++, groups += CT_SCAN_GROUP)
            for (size_t i = 0; i < CT_SCAN_GROUP; i++)
                sums[i] = (uint16_t)(sums[i] + tables[b * CT_SCAN_GROUP + (groups[i] & 15)] +
                                     high[b * CT_SCAN_GROUP + (groups[i] >> 4)]);
    }
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))

/* Even and odd codes' sums, in 16 bits each, in their order. */
AVX2 static void store_sums(__m256i even, __m256i odd, uint16_t *sums) {
    __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
    _mm_storeu_si128((__m128i *)sums, _mm256_castsi256_si128(low));
    _mm_storeu_si128((__m128i *)(sums + 8), _mm256_castsi256_si128(high));
    _mm_storeu_si128((__m128i *)(sums + 16), _mm256_extracti128_si256(low, 1));
    _mm_storeu_si128((__m128i *)(sums + 24), _mm256_extracti128_si256(high, 1));
}

AVX2 void ct_scan_avx2(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count,
                       uint16_t *sums) {
    const uint8_t *high_tables = tables + bytes * CT_SCAN_GROUP;
    const __m256i four = _mm256_set1_epi8(15), byte = _mm256_set1_epi16(255);
    for (size_t g = 0; g < count; g++, sums += CT_SCAN_GROUP) {
        __m256i even = _mm256_setzero_si256(), odd = _mm256_setzero_si256();
        for (size_t b = 0; b < bytes; b++, groups += CT_SCAN_GROUP) {
            __m256i codes = _mm256_loadu_si256((const __m256i *)groups);
            __m256i low = _mm256_shuffle_epi8(
                _mm256_loadu_si256((const __m256i *)(tables + b * CT_SCAN_GROUP)),
                _mm256_and_si256(codes, four));
            __m256i high = _mm256_shuffle_epi8(
                _mm256_loadu_si256((const __m256i *)(high_tables + b * CT_SCAN_GROUP)),
                _mm256_and_si256(_mm256_srli_epi16(codes, 4), four));
            __m256i both = _mm256_add_epi8(low, high); /* 2 * 127 at most */
            even = _mm256_add_epi16(even, _mm256_and_si256(both, byte));
            odd = _mm256_add_epi16(odd, _mm256_srli_epi16(both, 8));
        }
        store_sums(even, odd, sums);
    }
}

/* Two bytes of 32 codes at once. */
AVX512 void ct_scan_avx512(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count,
                           uint16_t *sums) {
    const uint8_t *high_tables = tables + bytes * CT_SCAN_GROUP;
    const size_t group_bytes = bytes * CT_SCAN_GROUP;
    const __m512i four = _mm512_set1_epi8(15), byte = _mm512_set1_epi16(255);
    for (size_t g = 0; g < count; g++, groups += group_bytes, sums += CT_SCAN_GROUP) {
        __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
        for (size_t at = 0; at < group_bytes; at += 64) {
            __m512i codes = _mm512_loadu_si512(groups + at);
            __m512i low = _mm512_shuffle_epi8(_mm512_loadu_si512(tables + at), _mm512_and_si512(codes, four));
            __m512i high = _mm512_shuffle_epi8(_mm512_loadu_si512(high_tables + at),
                                               _mm512_and_si512(_mm512_srli_epi16(codes, 4), four));
            __m512i both = _mm512_add_epi8(low, high);
            even = _mm512_add_epi16(even, _mm512_and_si512(both, byte));
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16(both, 8));
        }
        store_sums(_mm256_add_epi16(_mm512_castsi512_si256(even), _mm512_extracti64x4_epi64(even, 1)),
                   _mm256_add_epi16(_mm512_castsi512_si256(odd), _mm512_extracti64x4_epi64(odd, 1)), sums);
    }
}
#elif defined(__aarch64__)
void ct_scan_neon(const uint8_t *tables, size_t bytes, const uint8_t *groups, size_t count, uint16_t *sums) {
    const uint8_t *high_tables = tables + bytes * CT_SCAN_GROUP;
    const uint8x16_t four = vdupq_n_u8(15);
    for (size_t g = 0; g < count; g++, sums += CT_SCAN_GROUP) {
        uint16x8_t sum[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
        for (size_t b = 0; b < bytes; b++, groups += CT_SCAN_GROUP) {
            uint8x16_t low_table = vld1q_u8(tables + b * CT_SCAN_GROUP);
            uint8x16_t high_table = vld1q_u8(high_tables + b * CT_SCAN_GROUP);
            for (size_t half = 0; half < 2; half++) {
                uint8x16_t codes = vld1q_u8(groups + 16 * half);
                uint8x16_t both = vaddq_u8(vqtbl1q_u8(low_table, vandq_u8(codes, four)),
                                           vqtbl1q_u8(high_table, vshrq_n_u8(codes, 4)));
                sum[2 * half] = vaddw_u8(sum[2 * half], vget_low_u8(both));
                sum[2 * half + 1] = vaddw_u8(sum[2 * half + 1], vget_high_u8(both));
            }
        }
        for (size_t i = 0; i < 4; i++) vst1q_u16(sums + 8 * i, sum[i]);
    }
}
#endif

/* ---- which are good ------------------------------------------------------------------------ */

size_t ct_over_scalar(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i] >= least) places[found++] = (uint32_t)i;
    return found;
}

#if defined(__x86_64__)
AVX2 size_t ct_over_avx2(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places) {
    const __m256i limit = _mm256_set1_epi16((short)least);
    size_t found = 0;
    for (size_t i = 0; i < count; i += 16) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(sums + i));
        __m256i good = _mm256_cmpeq_epi16(_mm256_max_epu16(some, limit), some);
        /* Two bits a sum: keep one. */
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(good) & 0x55555555u;
        for (; mask; mask &= mask - 1) places[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(mask) / 2;
    }
    return found;
}

AVX512 size_t ct_over_avx512(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places) {
    const __m512i limit = _mm512_set1_epi16((short)least);
    size_t found = 0;
    for (size_t i = 0; i < count; i += 32) {
        uint32_t mask = _mm512_cmpge_epu16_mask(_mm512_loadu_si512(sums + i), limit);
        for (; mask; mask &= mask - 1) places[found++] = (uint32_t)i + (uint32_t)__builtin_ctz(mask);
    }
    return found;
}
#elif defined(__aarch64__)
size_t ct_over_neon(const uint16_t *sums, size_t count, uint16_t least, uint32_t *places) {
    const uint16x8_t limit = vdupq_n_u16(least);
    size_t found = 0;
    for (size_t i = 0; i < count; i += 8) {
        if (vmaxvq_u16(vcgeq_u16(vld1q_u16(sums + i), limit)) == 0) continue;
        for (size_t s = i; s < i + 8; s++)
            if (sums[s] >= least) places[found++] = (uint32_t)s;
    }
    return found;
}
#endif
