#include "simd/ct_simd_dense.h"

#include <math.h>
#include <string.h>

static const float ct_dense_mask[32] = {[16] = -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                                        -INFINITY,        -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                                        -INFINITY,        -INFINITY, -INFINITY, -INFINITY};

/* ---- one value at a time ------------------------------------------------------------------- */

static inline float scale_by_power(float a, float b) { return ldexpf(a, (int)b); }

#define NAME(x) x##_scalar
#define TARGET
#define VEC float
#define LANES 1
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define STORE_I8(p, v) (*(p) = (int8_t)(int32_t)(v))
#define SET(x) ((float)(x))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define FMA(a, b, c) ((a) * (b) + (c))
#define MAX(a, b) fmaxf(a, b)
#define MIN(a, b) fminf(a, b)
#define ABS(a) fabsf(a)
#define ROUND(a) rintf(a)
#define SCALE2(a, b) scale_by_power(a, b)
#define SUM(a) (a)
#define LARGEST(a) (a)
#include "simd/ct_simd_dense_level.h"
#include "simd/ct_simd_dense_undef.h"

void ct_dense_multiply_i8_scalar(const ct_dense_i8 *weights, size_t panel, const ct_dense_rows *a,
                                 const float *bias, float *c, size_t c_stride, size_t rows) {
    size_t groups = weights->inputs / CT_DENSE_GROUP;
    const uint8_t *values = weights->values + panel * weights->inputs * CT_DENSE_PANEL;
    const float *scales = weights->scales + panel * groups * CT_DENSE_PANEL;
    for (size_t r = 0; r < rows; r++)
        for (size_t n = 0; n < CT_DENSE_PANEL; n++) {
            float sum = bias ? bias[n] : 0;
            for (size_t g = 0; g < groups; g++) {
                int32_t whole = a->sums[r * groups + g];
                for (size_t k = g * CT_DENSE_GROUP; k < (g + 1) * CT_DENSE_GROUP; k++)
                    whole += a->values[r * weights->inputs + k] *
                             values[k / 4 * CT_DENSE_PANEL * 4 + n * 4 + k % 4];
                float scale = scales[g * CT_DENSE_PANEL + n] * a->scales[r * groups + g];
                sum = fmaf((float)whole, scale, sum);
            }
            c[r * c_stride + n] = sum;
        }
}

const ct_dense_kernels ct_dense_scalar = {multiply_scalar, NULL,        quantize_scalar,
                                          normalize_scalar, gelu_scalar, softmax_scalar};

#if defined(__x86_64__)
#include <immintrin.h>

/* ---- AVX2 with FMA ------------------------------------------------------------------------- */

#define TARGET_AVX2 __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#define TARGET TARGET_AVX2

static inline TARGET __m256 scale_avx2(__m256 a, __m256 b) {
    __m256i exponent = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(b), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(exponent));
}

static inline TARGET float sum_of_avx2(__m256 a) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

static inline TARGET float largest_of_avx2(__m256 a) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

static inline TARGET void store_i8_avx2(int8_t *to, __m256 values) {
    __m256i whole = _mm256_cvtps_epi32(values);
    __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64((__m128i *)to, _mm_packs_epi16(half, half));
}

#define VEC __m256
#define LANES 8
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define STORE_I8(p, v) store_i8_avx2(p, v)
#define SET(x) _mm256_set1_ps(x)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define DIV(a, b) _mm256_div_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define MAX(a, b) _mm256_max_ps(a, b)
#define MIN(a, b) _mm256_min_ps(a, b)
#define ABS(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#define ROUND(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define SCALE2(a, b) scale_avx2(a, b)
#define SUM(a) sum_of_avx2(a)
#define LARGEST(a) largest_of_avx2(a)
#include "simd/ct_simd_dense_level.h"
#include "simd/ct_simd_dense_undef.h"

/* No instruction sums four products of signed bytes: two do, of one factor's size and the other with its sign. Two
 * products of at most 127 * 127 fit 16 bits. */
static inline __attribute__((always_inline)) TARGET_AVX2 __m256i dot_i8_avx2(__m256i sum, __m256i left, __m256i right) {
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(right), _mm256_sign_epi8(left, right));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#define NAME(x) x##_avx2
#define TARGET TARGET_AVX2
#include "simd/ct_simd_dense_i8_256.h"
#define START(x) SET_WHOLE(0)
#define LOAD_WHOLE(p) _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(p)), _mm256_set1_epi8(-128))
#define DOT(sum, left, right) dot_i8_avx2(sum, left, right)
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_avx2 = {multiply_avx2,  multiply_i8_avx2, quantize_avx2,
                                        normalize_avx2, gelu_avx2,        softmax_avx2};

/* ---- AVX-512 ------------------------------------------------------------------------------- */

#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq")))
#define NAME(x) x##_avx512
#define TARGET TARGET_AVX512
#define VEC __m512
#define LANES 16
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define STORE_I8(p, v) _mm_storeu_si128((__m128i *)(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)))
#define SET(x) _mm512_set1_ps(x)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define DIV(a, b) _mm512_div_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define MAX(a, b) _mm512_max_ps(a, b)
#define MIN(a, b) _mm512_min_ps(a, b)
#define ABS(a) _mm512_abs_ps(a)
#define ROUND(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define SCALE2(a, b) _mm512_scalef_ps(a, b)
#define SUM(a) _mm512_reduce_add_ps(a)
#define LARGEST(a) _mm512_reduce_max_ps(a)
#include "simd/ct_simd_dense_level.h"
#include "simd/ct_simd_dense_undef.h"

static inline __attribute__((always_inline)) TARGET_AVX512 __m512i dot_i8_avx512(__m512i sum, __m512i left, __m512i right) {
    __m512i with_sign = _mm512_mask_sub_epi8(left, _mm512_movepi8_mask(right), _mm512_setzero_si512(), left);
    __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(right), with_sign);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}

#define NAME(x) x##_avx512
#define TARGET TARGET_AVX512
#include "simd/ct_simd_dense_i8_512.h"
#define START(x) SET_WHOLE(0)
#define LOAD_WHOLE(p) _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set1_epi8(-128))
#define DOT(sum, left, right) dot_i8_avx512(sum, left, right)
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_avx512 = {multiply_avx512,  multiply_i8_avx512, quantize_avx512,
                                          normalize_avx512, gelu_avx512,        softmax_avx512};

/* ---- AVX-512 with VNNI --------------------------------------------------------------------- */

#define NAME(x) x##_avx512vnni
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni")))
#include "simd/ct_simd_dense_i8_512.h"
#define START(x) SET_WHOLE(x)
#define LOAD_WHOLE(p) _mm512_loadu_si512(p)
#define DOT(sum, left, right) _mm512_dpbusd_epi32(sum, left, right)
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_avx512vnni = {multiply_avx512,  multiply_i8_avx512vnni, quantize_avx512,
                                              normalize_avx512, gelu_avx512,            softmax_avx512};

/* ---- VNNI in vectors of 256 bits ----------------------------------------------------------- */

#define NAME(x) x##_vnni256
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512vl,avx512vnni")))
#include "simd/ct_simd_dense_i8_256.h"
#define START(x) SET_WHOLE(x)
#define LOAD_WHOLE(p) _mm256_loadu_si256((const __m256i *)(p))
#define DOT(sum, left, right) _mm256_dpbusd_epi32(sum, left, right)
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_vnni256 = {multiply_avx2,  multiply_i8_vnni256, quantize_avx2,
                                           normalize_avx2, gelu_avx2,           softmax_avx2};

#ifdef CT_HAS_AVXVNNI
#define NAME(x) x##_avxvnni
#define TARGET __attribute__((target("avx2,fma,avxvnni")))
#include "simd/ct_simd_dense_i8_256.h"
#define START(x) SET_WHOLE(x)
#define LOAD_WHOLE(p) _mm256_loadu_si256((const __m256i *)(p))
#define DOT(sum, left, right) _mm256_dpbusd_avx_epi32(sum, left, right)
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_avxvnni = {multiply_avx2,  multiply_i8_avxvnni, quantize_avx2,
                                           normalize_avx2, gelu_avx2,           softmax_avx2};
#endif
#endif

#if defined(__aarch64__)
#include <arm_neon.h>

/* ---- NEON ---------------------------------------------------------------------------------- */

#define NAME(x) x##_neon
#define TARGET

static inline float32x4_t scale_neon(float32x4_t a, float32x4_t b) {
    int32x4_t exponent = vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(b), vdupq_n_s32(127)), 23);
    return vmulq_f32(a, vreinterpretq_f32_s32(exponent));
}

static inline void store_i8_neon(int8_t *to, float32x4_t values) {
    int16x4_t half = vmovn_s32(vcvtnq_s32_f32(values));
    int8x8_t bytes = vmovn_s16(vcombine_s16(half, half));
    memcpy(to, &bytes, 4);
}

#define VEC float32x4_t
#define LANES 4
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define STORE_I8(p, v) store_i8_neon(p, v)
#define SET(x) vdupq_n_f32(x)
#define ADD(a, b) vaddq_f32(a, b)
#define SUB(a, b) vsubq_f32(a, b)
#define MUL(a, b) vmulq_f32(a, b)
#define DIV(a, b) vdivq_f32(a, b)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define MAX(a, b) vmaxnmq_f32(a, b) /* the number, where the other is none */
#define MIN(a, b) vminnmq_f32(a, b)
#define ABS(a) vabsq_f32(a)
#define ROUND(a) vrndnq_f32(a)
#define SCALE2(a, b) scale_neon(a, b)
#define SUM(a) vaddvq_f32(a)
#define LARGEST(a) vmaxnmvq_f32(a)
#include "simd/ct_simd_dense_level.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_neon = {multiply_neon,  NULL,      quantize_neon,
                                        normalize_neon, gelu_neon, softmax_neon};

/* ---- NEON with products of bytes ----------------------------------------------------------- */

#ifdef CT_HAS_DOTPROD
#define NAME(x) x##_dotprod
#ifdef __ARM_FEATURE_DOTPROD
#define TARGET
#else
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define ROWS 6
#define VEC float32x4_t
#define WHOLE int8x16_t
#define LANES 4
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define SET(x) vdupq_n_f32(x)
#define MUL(a, b) vmulq_f32(a, b)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define SET_WHOLE(x) vreinterpretq_s8_s32(vdupq_n_s32(x))
#define START(x) vdupq_n_s8(0)
#define LOAD_WHOLE(p) vreinterpretq_s8_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)))
#define TO_FLOAT(a) vcvtq_f32_s32(vreinterpretq_s32_s8(a))
#define DOT(sum, left, right) vreinterpretq_s8_s32(vdotq_s32(vreinterpretq_s32_s8(sum), left, right))
#include "simd/ct_simd_dense_i8.h"
#include "simd/ct_simd_dense_undef.h"

const ct_dense_kernels ct_dense_dotprod = {multiply_neon,  multiply_i8_dotprod, quantize_neon,
                                           normalize_neon, gelu_neon,           softmax_neon};
#endif
#endif
