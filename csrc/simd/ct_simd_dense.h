/* Kernels of a dense network's forward pass: matrix products, and what stands between them.
 *
 * Sums are floating point and their order follows the width of the vectors, so levels agree to
 * rounding, not bit by bit as the other kernels do. */
#ifndef CT_SIMD_DENSE_H
#define CT_SIMD_DENSE_H

#include <stddef.h>
#include <stdint.h>

/* Outputs of a matrix stand in panels of so many, padded with zeros. */
#define CT_DENSE_PANEL 32

/* Inputs that share a scale in eight bits.  With one scale for a whole row the cosine to float32 falls
 * to .983 on texts of many scripts, with 32 it stays above .998. */
#define CT_DENSE_GROUP 32

/* Eight-bit weights of one matrix. */
typedef struct ct_dense_i8 {
    const uint8_t *values; /* [outputs / 32][inputs / 4][32][4], each plus 128 */
    const float *scales;   /* [outputs / 32][inputs / 32][32] */
    size_t inputs;         /* a multiple of CT_DENSE_GROUP */
} ct_dense_i8;

/* Eight-bit rows to multiply with. */
typedef struct ct_dense_rows {
    int8_t *values; /* [rows][inputs] */
    float *scales;  /* [rows][inputs / 32] */
    int32_t *sums;  /* [rows][inputs / 32]: -128 times the sum of a group's values */
} ct_dense_rows;

typedef struct ct_dense_kernels {
    /* c[m][n] = bias[n] + sum over k of a[m][k] * b[k][n], n = 0 to 31.  bias may be NULL. */
    void (*multiply)(const float *a, size_t a_stride, const float *b, size_t b_stride, const float *bias,
                     float *c, size_t c_stride, size_t rows, size_t inputs);
    /* The same in eight bits, for the outputs of panel `panel`; NULL where the CPU has no instructions
     * for it. */
    void (*multiply_i8)(const ct_dense_i8 *weights, size_t panel, const ct_dense_rows *a, const float *bias,
                        float *c, size_t c_stride, size_t rows);
    /* Rows to eight bits. */
    void (*quantize)(const float *x, size_t rows, size_t inputs, const ct_dense_rows *out);
    /* x = (x + add, less its mean, over its deviation) * gain + bias; add may be NULL. */
    void (*normalize)(float *x, const float *add, const float *gain, const float *bias, size_t count,
                      float epsilon);
    /* x * P(X <= x) for a normal X, to 1e-6 or a ten-millionth of x. */
    void (*gelu)(float *x, size_t count);
    /* Positive, of sum 1.  Up to a multiple of 16 finite values stand behind the count; they are lost. */
    void (*softmax)(float *x, size_t count);
} ct_dense_kernels;

/* By the names of ct_simd's levels. */
extern const ct_dense_kernels ct_dense_scalar;
#if defined(__x86_64__)
extern const ct_dense_kernels ct_dense_avx2;
extern const ct_dense_kernels ct_dense_avx512;
extern const ct_dense_kernels ct_dense_avx512vnni;
extern const ct_dense_kernels ct_dense_vnni256; /* in the encoding of AVX-512 */
/* Compilers know the encoding of AVX since GCC 11 and Clang 12. */
#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11
#define CT_HAS_AVXVNNI
extern const ct_dense_kernels ct_dense_avxvnni;
#endif
#elif defined(__aarch64__)
extern const ct_dense_kernels ct_dense_neon;
/* Compilers take the instructions for one function alone since GCC 8 and Clang 16. */
#if defined(__ARM_FEATURE_DOTPROD) || (defined(__clang__) ? __clang_major__ >= 16 : __GNUC__ >= 8)
#define CT_HAS_DOTPROD
extern const ct_dense_kernels ct_dense_dotprod;
#endif
#endif

/* The twin of every multiply_i8. */
void ct_dense_multiply_i8_scalar(const ct_dense_i8 *weights, size_t panel, const ct_dense_rows *a,
                                 const float *bias, float *c, size_t c_stride, size_t rows);

#endif
