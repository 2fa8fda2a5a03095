/* multiply_i8 in vectors of 256 bits; included once for each encoding of the instruction, between
 * definitions of NAME(x), TARGET and DOT(sum, unsigned, signed).  As the kernel of 512 bits, but a
 * panel in two halves: sixteen registers hold no more. */

#define ROWS 3

static inline __attribute__((always_inline)) TARGET void NAME(tile_i8)(
    const int rows, const uint8_t *values, const float *scales, const ct_dense_rows *a, size_t first,
    size_t inputs, const float *bias, float *c, size_t c_stride) {
    size_t groups = inputs / CT_DENSE_GROUP;
    const int8_t *row = a->values + first * inputs;
    const float *row_scales = a->scales + first * groups;
    const int32_t *row_sums = a->sums + first * groups;
    __m256 sums[ROWS][2];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) sums[r][v] = bias ? _mm256_loadu_ps(bias + 8 * v) : _mm256_setzero_ps();
    for (size_t g = 0; g < groups; g++) {
        __m256i whole[ROWS][2];
#pragma GCC unroll 3
        for (int r = 0; r < rows; r++)
            whole[r][0] = whole[r][1] = _mm256_set1_epi32(row_sums[(size_t)r * groups + g]);
#pragma GCC unroll 8
        for (size_t k = 0; k < CT_DENSE_GROUP; k += 4) {
            __m256i left = _mm256_loadu_si256((const __m256i *)values);
            __m256i right = _mm256_loadu_si256((const __m256i *)(values + 32));
            values += 4 * CT_DENSE_PANEL;
#pragma GCC unroll 3
            for (int r = 0; r < rows; r++) {
                int32_t four;
                __builtin_memcpy(&four, row + (size_t)r * inputs + g * CT_DENSE_GROUP + k, sizeof four);
                __m256i value = _mm256_set1_epi32(four);
                whole[r][0] = DOT(whole[r][0], left, value);
                whole[r][1] = DOT(whole[r][1], right, value);
            }
        }
        __m256 left = _mm256_loadu_ps(scales), right = _mm256_loadu_ps(scales + 8);
        scales += CT_DENSE_PANEL;
#pragma GCC unroll 3
        for (int r = 0; r < rows; r++) {
            __m256 scale = _mm256_set1_ps(row_scales[(size_t)r * groups + g]);
            sums[r][0] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole[r][0]), _mm256_mul_ps(left, scale), sums[r][0]);
            sums[r][1] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(whole[r][1]), _mm256_mul_ps(right, scale), sums[r][1]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) _mm256_storeu_ps(c + (size_t)r * c_stride + 8 * v, sums[r][v]);
}

static TARGET void NAME(multiply_i8)(const ct_dense_i8 *weights, size_t panel, const ct_dense_rows *a,
                                     const float *bias, float *c, size_t c_stride, size_t rows) {
    size_t inputs = weights->inputs;
    const uint8_t *values = weights->values + panel * inputs * CT_DENSE_PANEL;
    const float *scales = weights->scales + panel * (inputs / CT_DENSE_GROUP) * CT_DENSE_PANEL;
    for (size_t n = 0; n < CT_DENSE_PANEL; n += CT_DENSE_PANEL / 2) {
        const float *of = bias ? bias + n : NULL;
        size_t first = 0;
        for (; first + ROWS <= rows; first += ROWS)
            NAME(tile_i8)(ROWS, values + 4 * n, scales + n, a, first, inputs, of, c + first * c_stride + n, c_stride);
        float *rest = c + first * c_stride + n;
        if (rows - first == 2)
            NAME(tile_i8)(2, values + 4 * n, scales + n, a, first, inputs, of, rest, c_stride);
        else if (rows - first == 1)
            NAME(tile_i8)(1, values + 4 * n, scales + n, a, first, inputs, of, rest, c_stride);
    }
}

#undef ROWS
#undef NAME
#undef TARGET
#undef DOT
