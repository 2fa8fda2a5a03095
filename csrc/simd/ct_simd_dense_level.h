/* The kernels of one level; included once for each, between definitions of
 *   NAME(x)  x with the level's name;  TARGET  the function attribute
 *   VEC, LANES, and on vectors LOAD, STORE, SET (all lanes one value), ADD, SUB, MUL, DIV, FMA (a * b + c),
 *   MAX, MIN, ABS, ROUND (to nearest), SCALE2 (a * 2^b for a whole b), SUM and LARGEST of the lanes,
 *   STORE_I8(p, a) for whole lanes of -127 to 127. */

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

/* 16 groups at a time, one step for all of them behind the other: what one waits for, the next does not. */
static TARGET void NAME(quantize)(const float *x, size_t rows, size_t inputs, const ct_dense_rows *out) {
    size_t groups = rows * (inputs / CT_DENSE_GROUP);
    for (size_t first = 0; first < groups; first += 16, x += 16 * CT_DENSE_GROUP) {
        size_t some = groups - first < 16 ? groups - first : 16;
        float peaks[16] = {0}, factors[16];
        for (size_t g = 0; g < some; g++) {
            VEC most = SET(0.0f);
            for (size_t i = 0; i < CT_DENSE_GROUP; i += LANES) most = MAX(most, ABS(LOAD(x + g * CT_DENSE_GROUP + i)));
            peaks[g] = LARGEST(most);
        }
        for (size_t g = 0; g < 16; g += LANES) {
            VEC peak = LOAD(peaks + g);
            STORE(factors + g, DIV(SET(127.0f), MAX(peak, SET(1e-35f)))); /* finite for a group of zeros too */
            STORE(peaks + g, DIV(peak, SET(127.0f)));
        }
        memcpy(out->scales + first, peaks, some * sizeof *peaks);
        for (size_t g = 0; g < some; g++) {
            int8_t *values = out->values + (first + g) * CT_DENSE_GROUP;
            VEC factor = SET(factors[g]), total = SET(0.0f);
            for (size_t i = 0; i < CT_DENSE_GROUP; i += LANES) {
                /* Broken weights lead to NaN, for which MAX gives a number, and which hides a peak; no cast may
                 * see either. */
                VEC near = ROUND(MUL(LOAD(x + g * CT_DENSE_GROUP + i), factor));
                near = MIN(MAX(near, SET(-127.0f)), SET(127.0f));
                total = ADD(total, near);
                STORE_I8(values + i, near);
            }
            out->sums[first + g] = -128 * (int32_t)SUM(total);
        }
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
        VEC value = LOAD(x + i);
        /* erf(size) as a quotient of polynomials, size times one in squares: coefficients of Eigen's, which
         * are the best ones up to 4.  Beyond, float32 knows no other erf than 1. */
        VEC size = MIN(MUL(ABS(value), SET(0.70710678f)), SET(4.0f));
        VEC square = MUL(size, size);
        VEC above = FMA(SET(-2.72614225801306e-10f), square, SET(2.77068142495902e-08f));
        VEC below = FMA(SET(-1.45660718464996e-05f), square, SET(-2.13374055278905e-04f));
        above = FMA(above, square, SET(-2.10102402082508e-06f));
        below = FMA(below, square, SET(-1.68282697438203e-03f));
        above = FMA(above, square, SET(-5.69250639462346e-05f));
        below = FMA(below, square, SET(-7.37332916720468e-03f));
        above = FMA(above, square, SET(-7.34990630326855e-04f));
        below = FMA(below, square, SET(-1.42647390514189e-02f));
        above = FMA(above, square, SET(-2.95459980854025e-03f));
        above = MUL(FMA(above, square, SET(-1.60960333262415e-02f)), size);
        VEC tail = SUB(SET(1.0f), DIV(above, below)); /* 1 - erf(size) */
        /* max(x, 0) - |x| / 2 * tail, for either sign. */
        STORE(x + i, FMA(MUL(ABS(value), SET(-0.5f)), tail, MAX(value, SET(0.0f))));
    }
}

static TARGET void NAME(softmax)(float *x, size_t count) {
    size_t last = (count + 15) / 16 * 16 - 16;
    /* Added to the last 16, for the maximum and the sum to pass over what is no value: storing there would
     * make the wider loads wait. */
    const float *mask = ct_dense_mask + 16 - (count - last);
    VEC most = SET(-INFINITY), total = SET(0.0f);
    for (size_t i = 0; i < last; i += LANES) most = MAX(most, LOAD(x + i));
    for (size_t i = 0; i < 16; i += LANES) most = MAX(most, ADD(LOAD(x + last + i), LOAD(mask + i)));
    most = SET(LARGEST(most));
    for (size_t i = 0; i < last; i += LANES) {
        VEC value = NAME(power)(SUB(LOAD(x + i), most));
        STORE(x + i, value);
        total = ADD(total, value);
    }
    for (size_t i = 0; i < 16; i += LANES) {
        VEC value = NAME(power)(SUB(ADD(LOAD(x + last + i), LOAD(mask + i)), most));
        STORE(x + last + i, value);
        total = ADD(total, value);
    }
    VEC scale = SET(1 / SUM(total));
    for (size_t i = 0; i < last + 16; i += LANES) STORE(x + i, MUL(LOAD(x + i), scale));
}

#undef ROWS
