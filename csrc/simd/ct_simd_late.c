#include "simd/ct_simd_late.h"

#include "simd/ct_simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Inlined into each level's function, to be compiled for what that may use. */
#define CT_INLINE static inline __attribute__((always_inline))

CT_INLINE void late_by_pairs(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                             size_t count, uint32_t *least) {
    for (size_t t = 0; t < tokens; t++, planes += CT_LATE_PLANES * words) {
        least[t] = UINT32_MAX;
        for (size_t c = 0; c < count; c++) {
            uint32_t sum = 0;
            for (size_t p = CT_LATE_PLANES; p-- > 0;) {
                sum *= 2;
                for (size_t w = 0; w < words; w++)
                    sum += (uint32_t)__builtin_popcountll(planes[p * words + w] ^ codes[c * words + w]);
            }
            if (sum < least[t]) least[t] = sum;
        }
    }
}

void ct_late_scalar(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                    size_t count, uint32_t *least) {
    late_by_pairs(planes, tokens, words, codes, count, least);
}

#if defined(__x86_64__)
/* Codes that are unpacked at once, then read for every token. */
#define TILE_CODES 64

/* With more words a byte cannot hold the sum of its products: 2 * 4 * 15 < 128. */
#define SIGN_WORDS 4

#define AVX2 __attribute__((target("avx2,popcnt")))

/* 32 bits as 32 bytes: -1 where a bit is set, else 0. */
AVX2 CT_INLINE __m256i unpack_bits(uint32_t bits) {
    const __m256i spread = _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m256i each = _mm256_set1_epi64x((int64_t)0x8040201008040201u);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)bits), spread);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each);
}

AVX2 CT_INLINE __m256i unpack_half(const uint64_t *words, size_t half) {
    return unpack_bits((uint32_t)(words[half / 2] >> half % 2 * 32));
}

/* Of four codes, one after another at `signs`, in 16 bits each: 4096 less the product of values and
 * code. */
AVX2 CT_INLINE __m128i sign_products(const __m256i *values, size_t words, const int8_t *signs) {
    __m256i fields = _mm256_setzero_si256();
    for (size_t c = 4; c-- > 0;) {
        __m256i sum = _mm256_setzero_si256();
        for (size_t h = 0; h < 2 * words; h++) {
            __m256i sign = _mm256_loadu_si256((const __m256i *)(signs + (c * 2 * words + h) * 32));
            sum = _mm256_add_epi8(sum, _mm256_sign_epi8(values[h], sign));
        }
        sum = _mm256_xor_si256(sum, _mm256_set1_epi8(-128)); /* plus 128, unsigned */
        sum = _mm256_sad_epu8(sum, _mm256_setzero_si256());
        fields = _mm256_add_epi64(_mm256_slli_epi64(fields, 16), sum);
    }
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128(fields), _mm256_extracti128_si256(fields, 1));
    return _mm_add_epi64(half, _mm_unpackhi_epi64(half, half));
}

/* Of one code: -1 for each bit that is set, else 1. */
AVX2 CT_INLINE void unpack_code(const uint64_t *code, size_t words, int8_t *signs) {
    for (size_t h = 0; h < 2 * words; h++) {
        __m256i sign = _mm256_or_si256(unpack_half(code, h), _mm256_set1_epi8(1));
        _mm256_storeu_si256((__m256i *)(signs + h * 32), sign);
    }
}

AVX2 CT_INLINE void unpack_token(const uint64_t *planes, size_t words, __m256i *values) {
    for (size_t h = 0; h < 2 * words; h++) {
        values[h] = _mm256_set1_epi8(-15);
        for (size_t p = 0; p < CT_LATE_PLANES; p++) {
            __m256i weight = _mm256_set1_epi8((char)(2 << p));
            __m256i part = _mm256_and_si256(unpack_half(planes + p * words, h), weight);
            values[h] = _mm256_add_epi8(values[h], part);
        }
    }
}

AVX2 CT_INLINE void late_by_signs(const uint64_t *planes, size_t tokens, size_t words,
                                  const uint64_t *codes, size_t count, uint32_t *least) {
    int8_t signs[TILE_CODES * SIGN_WORDS * 64];
    __m256i values[2 * SIGN_WORDS];
    for (size_t t = 0; t < tokens; t++) least[t] = UINT32_MAX;
    for (size_t first = 0; first < count; first += TILE_CODES) {
        size_t here = count - first < TILE_CODES ? count - first : TILE_CODES;
        size_t lanes = (here + 3) / 4 * 4;
        for (size_t c = 0; c < lanes; c++) /* the last code fills up */
            unpack_code(codes + (first + (c < here ? c : here - 1)) * words, words, signs + c * 64 * words);
        for (size_t t = 0; t < tokens; t++) {
            unpack_token(planes + t * CT_LATE_PLANES * words, words, values);
            __m128i best = _mm_set1_epi16(-1);
            for (size_t c = 0; c < lanes; c += 4)
                best = _mm_min_epu16(best, sign_products(values, words, signs + c * 64 * words));
            uint64_t fields = (uint64_t)_mm_cvtsi128_si64(best);
            for (size_t f = 0; f < 4; f++, fields >>= 16) {
                uint32_t found = (15 * 64 * (uint32_t)words + (uint32_t)(fields & 0xffff) - 4096) / 2;
                if (found < least[t]) least[t] = found;
            }
        }
    }
}

AVX2 void ct_late_avx2(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                       size_t count, uint32_t *least) {
    if (words == 3) late_by_signs(planes, tokens, 3, codes, count, least);
    else if (words <= SIGN_WORDS) late_by_signs(planes, tokens, words, codes, count, least);
    else late_by_pairs(planes, tokens, words, codes, count, least);
}

#define POPCNT512 __attribute__((target("avx512f,avx512bw,avx512vpopcntdq")))

/* Of eight codes, side by side in `tile` word by word. */
POPCNT512 CT_INLINE __m512i late_lanes(const uint64_t *planes, size_t words, const uint64_t *tile) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t p = CT_LATE_PLANES; p-- > 0;) {
        sum = _mm512_add_epi64(sum, sum);
        for (size_t w = 0; w < words; w++) {
            __m512i differ = _mm512_xor_si512(_mm512_set1_epi64((int64_t)planes[p * words + w]),
                                              _mm512_loadu_si512(tile + w * TILE_CODES));
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differ));
        }
    }
    return sum;
}

POPCNT512 CT_INLINE void late_by_lanes(const uint64_t *planes, size_t tokens, size_t words,
                                       const uint64_t *codes, size_t count, uint32_t *least) {
    uint64_t tile[16 * TILE_CODES];
    for (size_t t = 0; t < tokens; t++) least[t] = UINT32_MAX;
    for (size_t first = 0; first < count; first += TILE_CODES) {
        size_t here = count - first < TILE_CODES ? count - first : TILE_CODES;
        size_t lanes = (here + 7) / 8 * 8;
        for (size_t c = 0; c < lanes; c++) /* the last code fills up */
            for (size_t w = 0; w < words; w++)
                tile[w * TILE_CODES + c] = codes[(first + (c < here ? c : here - 1)) * words + w];
        for (size_t t = 0; t < tokens; t++) {
            __m512i best = _mm512_set1_epi64(least[t]);
            const uint64_t *token = planes + t * CT_LATE_PLANES * words;
            for (size_t c = 0; c < lanes; c += 8)
                best = _mm512_min_epu64(best, late_lanes(token, words, tile + c));
            least[t] = (uint32_t)_mm512_reduce_min_epu64(best);
        }
    }
}

POPCNT512 void ct_late_avx512(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                              size_t count, uint32_t *least) {
    if (words == 3) late_by_lanes(planes, tokens, 3, codes, count, least);
    else late_by_lanes(planes, tokens, words, codes, count, least);
}
#endif

#if defined(__aarch64__)
/* Bytes of one word with their counts weighted stay below 15 * 8, so words add up in 16 bits. */
CT_INLINE void late_by_bytes(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                             size_t count, uint32_t *least) {
    for (size_t t = 0; t < tokens; t++, planes += CT_LATE_PLANES * words) {
        least[t] = UINT32_MAX;
        for (size_t c = 0; c < count; c++) {
            uint16x8_t sum = vdupq_n_u16(0);
            for (size_t w = 0; w < words; w++) {
                uint8x8_t code = vcreate_u8(codes[c * words + w]), bytes = vdup_n_u8(0);
                for (size_t p = CT_LATE_PLANES; p-- > 0;)
                    bytes = vadd_u8(vadd_u8(bytes, bytes),
                                    vcnt_u8(veor_u8(vcreate_u8(planes[p * words + w]), code)));
                sum = vaddw_u8(sum, bytes);
            }
            uint32_t found = vaddvq_u16(sum);
            if (found < least[t]) least[t] = found;
        }
    }
}

void ct_late_neon(const uint64_t *planes, size_t tokens, size_t words, const uint64_t *codes,
                  size_t count, uint32_t *least) {
    if (words == 3) late_by_bytes(planes, tokens, 3, codes, count, least);
    else late_by_bytes(planes, tokens, words, codes, count, least);
}
#endif
