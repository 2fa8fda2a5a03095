#include "simd/ct_simd.h"

#include <stdatomic.h>
#include <string.h>

#include "ct.h"
#include "simd/ct_simd_late.h"
#include "simd/ct_simd_scan.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static int32_t dot_scalar(const int16_t *query, const int8_t *code, size_t dimension) {
    int32_t sum = 0;
    for (size_t i = 0; i < dimension; i++) sum += (int32_t)query[i] * code[i];
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static int32_t dot_avx2(const int16_t *query, const int8_t *code,
                                                        size_t dimension) {
    __m256i sum0 = _mm256_setzero_si256(), sum1 = _mm256_setzero_si256();
    for (size_t i = 0; i < dimension; i += 32) {
        __m256i c0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(code + i)));
        __m256i c1 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(code + i + 16)));
        __m256i q0 = _mm256_loadu_si256((const __m256i *)(query + i));
        __m256i q1 = _mm256_loadu_si256((const __m256i *)(query + i + 16));
        sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(q0, c0));
        sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(q1, c1));
    }
    __m256i sum = _mm256_add_epi32(sum0, sum1);
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

__attribute__((target("avx512f,avx512bw"))) static int32_t dot_avx512(const int16_t *query,
                                                                      const int8_t *code,
                                                                      size_t dimension) {
    __m512i sum0 = _mm512_setzero_si512(), sum1 = _mm512_setzero_si512();
    for (size_t i = 0; i < dimension; i += 64) {
        __m512i c0 = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(code + i)));
        __m512i c1 = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(code + i + 32)));
        sum0 = _mm512_add_epi32(sum0, _mm512_madd_epi16(_mm512_loadu_si512(query + i), c0));
        sum1 = _mm512_add_epi32(sum1, _mm512_madd_epi16(_mm512_loadu_si512(query + i + 32), c1));
    }
    return _mm512_reduce_add_epi32(_mm512_add_epi32(sum0, sum1));
}

static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }
static int has_fma(void) { return has_avx2() && __builtin_cpu_supports("fma"); }
static int has_avx512(void) {
    return has_fma() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
}
static int has_vnni512(void) {
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
/* Only forced, in tests: it shows on a CPU with AVX-512 that the kernels of 256 bits are right. */
static int has_vnni256(void) { return has_vnni512() && __builtin_cpu_supports("avx512vl"); }
#ifdef CT_HAS_AVXVNNI
static int has_avxvnni(void) {
    unsigned a, b, c, d;
    return has_fma() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 4));
}
#endif
static int has_popcnt512(void) { return has_vnni512() && __builtin_cpu_supports("avx512vpopcntdq"); }
#endif

#if defined(__aarch64__)
static int32_t dot_neon(const int16_t *query, const int8_t *code, size_t dimension) {
    int32x4_t sum0 = vdupq_n_s32(0), sum1 = vdupq_n_s32(0);
    for (size_t i = 0; i < dimension; i += 16) {
        int8x16_t c = vld1q_s8(code + i);
        int16x8_t low = vmovl_s8(vget_low_s8(c)), high = vmovl_s8(vget_high_s8(c));
        int16x8_t q0 = vld1q_s16(query + i), q1 = vld1q_s16(query + i + 8);
        sum0 = vmlal_s16(sum0, vget_low_s16(q0), vget_low_s16(low));
        sum1 = vmlal_s16(sum1, vget_high_s16(q0), vget_high_s16(low));
        sum0 = vmlal_s16(sum0, vget_low_s16(q1), vget_low_s16(high));
        sum1 = vmlal_s16(sum1, vget_high_s16(q1), vget_high_s16(high));
    }
    return vaddvq_s32(vaddq_s32(sum0, sum1));
}
#endif

static int always(void) { return 1; }

/* Best first. */
static const struct level {
    ct_kernels kernels;
    int (*supported)(void);
} levels[] = {
#if defined(__x86_64__)
    {{"avx512vpopcntdq", dot_avx512, ct_late_avx512, ct_scan_avx512, ct_over_avx512, &ct_dense_avx512vnni},
     has_popcnt512},
    {{"avx512vnni", dot_avx512, ct_late_avx2, ct_scan_avx512, ct_over_avx512, &ct_dense_avx512vnni},
     has_vnni512},
    {{"vnni256", dot_avx2, ct_late_avx2, ct_scan_avx2, ct_over_avx2, &ct_dense_vnni256},
     has_vnni256},
    {{"avx512", dot_avx512, ct_late_avx2, ct_scan_avx512, ct_over_avx512, &ct_dense_avx512},
     has_avx512},
#ifdef CT_HAS_AVXVNNI
    {{"avxvnni", dot_avx2, ct_late_avx2, ct_scan_avx2, ct_over_avx2, &ct_dense_avxvnni},
     has_avxvnni},
#endif
    {{"avx2", dot_avx2, ct_late_avx2, ct_scan_avx2, ct_over_avx2, &ct_dense_avx2},
     has_fma},
#elif defined(__aarch64__)
    {{"neon", dot_neon, ct_late_neon, ct_scan_neon, ct_over_neon, &ct_dense_neon},
     always},
#endif
    {{"scalar", dot_scalar, ct_late_scalar, ct_scan_scalar, ct_over_scalar, &ct_dense_scalar},
     always},
};
#define LEVEL_COUNT (sizeof levels / sizeof *levels)

static _Atomic(const ct_kernels *) chosen;

const ct_kernels *ct_simd(void) {
    const ct_kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);
    if (kernels) return kernels;
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (!levels[i].supported()) continue;
        kernels = &levels[i].kernels;
        break;
    }
    atomic_store_explicit(&chosen, kernels, memory_order_release);
    return kernels;
}

const char *ct_simd_name(void) { return ct_simd()->name; }

size_t ct_simd_levels(const char **names, size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (!levels[i].supported()) continue;
        if (count < capacity) names[count] = levels[i].kernels.name;
        count++;
    }
    return count;
}

int ct_simd_force(const char *name) {
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(levels[i].kernels.name, name) != 0 || !levels[i].supported()) continue;
        atomic_store_explicit(&chosen, &levels[i].kernels, memory_order_release);
        return CT_OK;
    }
    return CT_INVALID;
}

int64_t ct_simd_dot(const int16_t *query, const int8_t *code, size_t dimension) {
    return ct_simd()->dot(query, code, dimension);
}

/* A hypervisor may report AMX and yet not enable its register state: executing it then raises
 * SIGILL.  XCR0 bits 17 and 18 tell whether the tile state is enabled. */
int ct_amx_is_safe(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & (1u << 24))) return 1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27))) return 0;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & (3u << 17)) == (3u << 17);
#else
    return 1;
#endif
}
