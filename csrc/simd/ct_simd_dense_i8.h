/* multiply_i8 by an instruction that sums four products of bytes; included once for each width and
 * encoding of it, between definitions of
 *   NAME(x)  x with the level's name;  TARGET  the function attribute
 *   ROWS  of a tile, at most 6: with two vectors each, sums twice over must fit the registers
 *   VEC, WHOLE  vectors of LANES floats and whole numbers;  SET, LOAD, STORE, MUL, FMA on the former
 *   SET_WHOLE, LOAD_WHOLE, TO_FLOAT, DOT(sum, weights, values) on the latter
 *   START(x)  where a sum begins: SET_WHOLE(x) where DOT takes the weights as the unsigned factor, so that
 *     what the added 128 are worth depends on the row only; else 0, and LOAD_WHOLE takes the 128 away. */

/* Weights `ahead` bytes on are fetched meanwhile, if it is not 0: between two passes they fall out of the
 * caches. */
static inline __attribute__((always_inline)) TARGET void NAME(tile_i8)(
    const int rows, size_t ahead, const uint8_t *values, const float *scales, const ct_dense_rows *a,
    size_t first, size_t inputs, const float *bias, float *c, size_t c_stride) {
    size_t groups = inputs / CT_DENSE_GROUP;
    const int8_t *row = a->values + first * inputs;
    const float *row_scales = a->scales + first * groups;
    const int32_t *row_sums = a->sums + first * groups;
    (void)row_sums;
    VEC sums[ROWS][2];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) sums[r][v] = bias ? LOAD(bias + v * LANES) : SET(0.0f);
    for (size_t g = 0; g < groups; g++) {
        WHOLE whole[ROWS][2];
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) whole[r][0] = whole[r][1] = START(row_sums[(size_t)r * groups + g]);
#pragma GCC unroll 8
        for (size_t k = 0; k < CT_DENSE_GROUP; k += 4) {
            WHOLE left = LOAD_WHOLE(values), right = LOAD_WHOLE(values + 4 * LANES);
            for (size_t line = 0; ahead && line < 8 * LANES; line += 64)
                __builtin_prefetch((const void *)((uintptr_t)values + ahead + line), 0, 2);
            values += 4 * CT_DENSE_PANEL;
#pragma GCC unroll 6
            for (int r = 0; r < rows; r++) {
                int32_t four;
                __builtin_memcpy(&four, row + (size_t)r * inputs + g * CT_DENSE_GROUP + k, sizeof four);
                WHOLE value = SET_WHOLE(four);
                whole[r][0] = DOT(whole[r][0], left, value);
                whole[r][1] = DOT(whole[r][1], right, value);
            }
        }
        VEC left = LOAD(scales), right = LOAD(scales + LANES);
        scales += CT_DENSE_PANEL;
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            VEC scale = SET(row_scales[(size_t)r * groups + g]);
            sums[r][0] = FMA(TO_FLOAT(whole[r][0]), MUL(left, scale), sums[r][0]);
            sums[r][1] = FMA(TO_FLOAT(whole[r][1]), MUL(right, scale), sums[r][1]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < 2; v++) STORE(c + (size_t)r * c_stride + v * LANES, sums[r][v]);
}

static TARGET void NAME(multiply_i8)(const ct_dense_i8 *weights, size_t panel, const ct_dense_rows *a,
                                     const float *bias, float *c, size_t c_stride, size_t rows) {
    size_t inputs = weights->inputs;
    const uint8_t *values = weights->values + panel * inputs * CT_DENSE_PANEL;
    const float *scales = weights->scales + panel * (inputs / CT_DENSE_GROUP) * CT_DENSE_PANEL;
    for (size_t n = 0; n < CT_DENSE_PANEL; n += 2 * LANES, values += 8 * LANES, scales += 2 * LANES) {
        const float *of = bias ? bias + n : NULL;
        float *to = c + n;
        size_t at = 0, ahead = inputs * CT_DENSE_PANEL; /* the next panel, while the first rows are worked out */
        for (; at + ROWS <= rows; at += ROWS, to += ROWS * c_stride, ahead = 0) {
            if (ahead) NAME(tile_i8)(ROWS, ahead, values, scales, a, at, inputs, of, to, c_stride);
            else NAME(tile_i8)(ROWS, 0, values, scales, a, at, inputs, of, to, c_stride);
        }
        switch (rows - at) {
#if ROWS > 3
        case 5: NAME(tile_i8)(5, ahead, values, scales, a, at, inputs, of, to, c_stride); break;
        case 4: NAME(tile_i8)(4, ahead, values, scales, a, at, inputs, of, to, c_stride); break;
        case 3: NAME(tile_i8)(3, ahead, values, scales, a, at, inputs, of, to, c_stride); break;
#endif
        case 2: NAME(tile_i8)(2, ahead, values, scales, a, at, inputs, of, to, c_stride); break;
        case 1: NAME(tile_i8)(1, ahead, values, scales, a, at, inputs, of, to, c_stride); break;
        default: break;
        }
    }
}

#undef ROWS
#undef WHOLE
#undef SET_WHOLE
#undef START
#undef LOAD_WHOLE
#undef TO_FLOAT
#undef DOT
