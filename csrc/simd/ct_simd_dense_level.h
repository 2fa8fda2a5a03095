/* The kernels of one level; included once for each, between definitions of
 *   NAME(x)  x with the level's name;  TARGET  the function attribute
 *   VEC, LANES, and on vectors LOAD, STORE, SET (all lanes one value), ADD, SUB, MUL, DIV, FMA (a * b + c),
 *   MAX, ABS, ROUND (to nearest), SCALE2 (a * 2^b for a whole b), SUM and LARGEST of the lanes. */

#define ROWS 6 /* of a tile: with two vectors each, their sums fit the registers */

/* `rows` is a constant wherever this is called: the loops over it unroll. */
static inline __attribute__((always_inline)) TARGET void NAME(tile)(
    const int rows, const float *a, size_t a_stride, const float *b, size_t b_stride, const float *bias,
    float *c, size_t c_stride, size_t inputs) {
    VEC sums[ROWS][2];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) sums[r][v] = bias ? LOAD(bias + v * LANES) : SET(0.0f);
    for (size_t k = 0; k < inputs; k++) {
        VEC left = LOAD(b + k * b_stride), right = LOAD(b + k * b_stride + LANES);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            VEC value = SET(a[(size_t)r * a_stride + k]);
            sums[r][0] = FMA(value, left, sums[r][0]);
            sums[r][1] = FMA(value, right, sums[r][1]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) STORE(c + (size_t)r * c_stride + v * LANES, sums[r][v]);
}

static TARGET void NAME(multiply)(const float *a, size_t a_stride, const float *b, size_t b_stride,
                                  const float *bias, float *c, size_t c_stride, size_t rows,
                                  size_t inputs) {
    for (size_t n = 0; n < CT_DENSE_PANEL; n += 2 * LANES) {
        const float *of = bias ? bias + n : NULL;
        size_t m = 0;
        for (; m + ROWS <= rows; m += ROWS)
            NAME(tile)(ROWS, a + m * a_stride, a_stride, b + n, b_stride, of, c + m * c_stride + n, c_stride,
                       inputs);
        a += m * a_stride;
        float *rest = c + m * c_stride + n;
        switch (rows - m) {
        case 5: NAME(tile)(5, a, a_stride, b + n, b_stride, of, rest, c_stride, inputs); break;
        case 4: NAME(tile)(4, a, a_stride, b + n, b_stride, of, rest, c_stride, inputs); break;
        case 3: NAME(tile)(3, a, a_stride, b + n, b_stride, of, rest, c_stride, inputs); break;
        case 2: NAME(tile)(2, a, a_stride, b + n, b_stride, of, rest, c_stride, inputs); break;
        case 1: NAME(tile)(1, a, a_stride, b + n, b_stride, of, rest, c_stride, inputs); break;
        default: break;
        }
        a -= m * a_stride;
    }
}

static TARGET void NAME(quantize)(const float *x, size_t rows, size_t inputs, const ct_dense_rows *out) {
    size_t groups = inputs / CT_DENSE_GROUP;
    int8_t *values = out->values;
    for (size_t g = 0; g < rows * groups; g++, x += CT_DENSE_GROUP, values += CT_DENSE_GROUP) {
        float rounded[CT_DENSE_GROUP];
        VEC most = SET(0.0f), total = SET(0.0f);
        for (size_t i = 0; i < CT_DENSE_GROUP; i += LANES) most = MAX(most, ABS(LOAD(x + i)));
        float peak = LARGEST(most);
        VEC factor = SET(peak > 0 ? 127 / peak : 0);
        for (size_t i = 0; i < CT_DENSE_GROUP; i += LANES) {
            /* MAX gives a number for NaN, which broken weights lead to and no cast may see. */
            VEC near = MAX(ROUND(MUL(LOAD(x + i), factor)), SET(-127.0f));
            total = ADD(total, near);
            STORE(rounded + i, near);
        }
        for (size_t i = 0; i < CT_DENSE_GROUP; i++) values[i] = (int8_t)(int32_t)rounded[i];
        out->scales[g] = peak / 127;
        out->sums[g] = -128 * (int32_t)SUM(total);
    }
}

static TARGET void NAME(normalize)(float *x, const float *add, const float *gain, const float *bias,
                                   size_t count, float epsilon) {
    VEC total = SET(0.0f), square = SET(0.0f);
    for (size_t i = 0; i < count; i += LANES) {
        VEC value = LOAD(x + i);
        if (add) value = ADD(value, LOAD(add + i));
        STORE(x + i, value);
        total = ADD(total, value);
    }
    VEC mean = SET(SUM(total) / (float)count);
    for (size_t i = 0; i < count; i += LANES) {
        VEC apart = SUB(LOAD(x + i), mean);
        square = FMA(apart, apart, square);
    }
    VEC scale = SET(1 / sqrtf(SUM(square) / (float)count + epsilon));
    for (size_t i = 0; i < count; i += LANES)
        STORE(x + i, FMA(MUL(SUB(LOAD(x + i), mean), scale), LOAD(gain + i), LOAD(bias + i)));
}

/* e^x to 2e-7, for x <= 0; 0 below -87. */
static inline TARGET VEC NAME(power)(VEC x) {
    x = MAX(x, SET(-87.0f));
    VEC whole = ROUND(MUL(x, SET(1.44269504f)));
    x = FMA(whole, SET(-0.693359375f), x);
    x = FMA(whole, SET(2.12194440e-4f), x);
    VEC sum = SET(1.9875691500e-4f); /* Cephes */
    sum = FMA(sum, x, SET(1.3981999507e-3f));
    sum = FMA(sum, x, SET(8.3334519073e-3f));
    sum = FMA(sum, x, SET(4.1665795894e-2f));
    sum = FMA(sum, x, SET(1.6666665459e-1f));
    sum = FMA(sum, x, SET(5.0000001201e-1f));
    sum = ADD(FMA(MUL(sum, x), x, x), SET(1.0f));
    return SCALE2(sum, whole);
}

static TARGET void NAME(gelu)(float *x, size_t count) {
    for (size_t i = 0; i < count; i += LANES) {
        VEC value = LOAD(x + i), size = MUL(ABS(value), SET(0.70710678f));
        VEC t = DIV(SET(1.0f), FMA(SET(0.3275911f), size, SET(1.0f)));
        VEC sum = SET(1.061405429f);
        sum = FMA(sum, t, SET(-1.453152027f));
        sum = FMA(sum, t, SET(1.421413741f));
        sum = FMA(sum, t, SET(-0.284496736f));
        sum = FMA(sum, t, SET(0.254829592f));
        VEC tail = MUL(MUL(sum, t), NAME(power)(SUB(SET(0.0f), MUL(size, size)))); /* 1 - erf(size) */
        /* max(x, 0) - |x| / 2 * tail, for either sign. */
        STORE(x + i, FMA(MUL(ABS(value), SET(-0.5f)), tail, MAX(value, SET(0.0f))));
    }
}

static TARGET void NAME(softmax)(float *x, size_t count) {
    size_t padded = (count + 15) / 16 * 16;
    for (size_t i = count; i < padded; i++) x[i] = -INFINITY;
    VEC most = SET(-INFINITY), total = SET(0.0f);
    for (size_t i = 0; i < padded; i += LANES) most = MAX(most, LOAD(x + i));
    most = SET(LARGEST(most));
    for (size_t i = 0; i < padded; i += LANES) {
        VEC value = NAME(power)(SUB(LOAD(x + i), most));
        STORE(x + i, value);
        total = ADD(total, value);
    }
    float sum = SUM(total);
    VEC scale = SET(1 / sum);
    for (size_t i = 0; i < padded; i += LANES) STORE(x + i, MUL(LOAD(x + i), scale));
    for (size_t i = count; i < padded; i++) x[i] = 0;
}

#undef ROWS
