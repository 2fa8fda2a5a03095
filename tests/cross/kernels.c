/* Every level of kernels that this CPU, or what emulates it, can run: against its scalar twin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ct_error.h"
#include "ct.h"
#include "simd/ct_simd.h"

#define MOST (20 * 32 * 6)

static uint64_t state = 7;

static uint64_t chance(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void fill(float *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)(int32_t)(uint32_t)chance() * 0x1p-31f * (chance() % 100 ? 2.0f : 80.0f);
        if (chance() % 50 == 0) memset(out + i, 0, (i + 40 < count ? 40 : count - i) * sizeof *out);
    }
}

static int failures;

static void expect(int right, const char *level, const char *what, size_t round) {
    if (right) return;
    failures++;
    fprintf(stderr, "%s: %s differs (round %zu)\n", level, what, round);
}

static void linear(const char *level, size_t round) {
    static float weights[6 * 32 * 4 * 32], bias[4 * 32], x[MOST], made[20 * 4 * 32], twin[20 * 4 * 32];
    size_t inputs = (1 + chance() % 6) * 32, outputs = (1 + chance() % 4) * 32, rows = 1 + chance() % 20;
    ct_error error;
    fill(weights, inputs * outputs);
    fill(bias, outputs);
    fill(x, rows * inputs);
    int failed = ct_linear_apply(weights, bias, inputs, outputs, x, rows, 0, made, &error);
    if (ct_simd()->dense->multiply_i8) {
        failed |= ct_linear_apply(weights, bias, inputs, outputs, x, rows, 1, twin, &error);
        expect(!failed && !memcmp(made, twin, rows * outputs * sizeof *made), level, "multiply_i8", round);
        return;
    }
    int right = !failed;
    for (size_t r = 0; right && r < rows; r++)
        for (size_t n = 0; n < outputs; n++) {
            double sum = bias[n], size = fabs(bias[n]);
            for (size_t k = 0; k < inputs; k++) {
                sum += (double)x[r * inputs + k] * weights[n * inputs + k];
                size += fabs((double)x[r * inputs + k] * weights[n * inputs + k]);
            }
            right &= fabs(made[r * outputs + n] - sum) <= 1e-5 * size + 1e-6;
        }
    expect(right, level, "multiply", round);
}

static void quantize(const char *level, size_t round) {
    static float x[MOST], scales[2][MOST / 32];
    static int8_t values[2][MOST];
    static int32_t sums[2][MOST / 32];
    size_t groups = 1 + chance() % 6, rows = 1 + chance() % 20;
    ct_dense_rows of = {values[0], scales[0], sums[0]}, twin = {values[1], scales[1], sums[1]};
    fill(x, rows * groups * 32);
    ct_simd()->dense->quantize(x, rows, groups * 32, &of);
    ct_dense_scalar.quantize(x, rows, groups * 32, &twin);
    expect(!memcmp(values[0], values[1], rows * groups * 32) &&
               !memcmp(scales[0], scales[1], rows * groups * sizeof(float)) &&
               !memcmp(sums[0], sums[1], rows * groups * sizeof(int32_t)),
           level, "quantize", round);
    x[chance() % (rows * groups * 32)] = round % 2 ? NAN : INFINITY; /* traps nowhere */
    ct_simd()->dense->quantize(x, rows, groups * 32, &of);
}

static int near(const float *a, const float *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(b[i])))) return 0;
    return 1;
}

static void elementwise(const char *level, size_t round) {
    static float x[2][384], add[384], gain[384], bias[384];
    size_t count = 1 + chance() % 384;
    fill(x[0], 384);
    memcpy(x[1], x[0], sizeof x[0]);
    ct_simd()->dense->gelu(x[0], 384);
    ct_dense_scalar.gelu(x[1], 384);
    expect(near(x[0], x[1], 384), level, "gelu", round);
    fill(x[0], 384);
    memcpy(x[1], x[0], sizeof x[0]);
    ct_simd()->dense->softmax(x[0], count);
    ct_dense_scalar.softmax(x[1], count);
    expect(near(x[0], x[1], count), level, "softmax", round);
    fill(x[0], 384);
    fill(add, 384);
    fill(gain, 384);
    fill(bias, 384);
    memcpy(x[1], x[0], sizeof x[0]);
    ct_simd()->dense->normalize(x[0], add, gain, bias, 384, 1e-12f);
    ct_dense_scalar.normalize(x[1], add, gain, bias, 384, 1e-12f);
    expect(near(x[0], x[1], 384), level, "normalize", round);
}

static void whole_numbers(const char *level, const ct_kernels *scalar, size_t round) {
    int16_t query[256];
    int8_t code[256];
    uint64_t planes[3 * CT_LATE_PLANES * 4], codes[7 * 4];
    uint32_t least[3], twin[3];
    for (size_t i = 0; i < 256; i++) {
        query[i] = (int16_t)((int)(chance() % (2 * CT_QUERY_MAX + 1)) - CT_QUERY_MAX);
        code[i] = (int8_t)((int)(chance() % (2 * CT_CODE_MAX + 1)) - CT_CODE_MAX);
    }
    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) planes[i] = chance();
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) codes[i] = chance();
    size_t dimension = (1 + chance() % 4) * 64, words = 1 + chance() % 4, count = 1 + chance() % 7;
    expect(ct_simd()->dot(query, code, dimension) == scalar->dot(query, code, dimension), level, "dot", round);
    ct_simd()->late(planes, 3, words, codes, count, least);
    scalar->late(planes, 3, words, codes, count, twin);
    expect(!memcmp(least, twin, sizeof least), level, "late", round);
}

int main(void) {
    const char *names[16];
    size_t count = ct_simd_levels(names, 16);
    ct_simd_force("scalar");
    const ct_kernels *scalar = ct_simd();
    for (size_t i = 0; i < count; i++) {
        if (ct_simd_force(names[i])) return 2;
        for (size_t round = 0; round < 200; round++) {
            linear(names[i], round);
            quantize(names[i], round);
            elementwise(names[i], round);
            whole_numbers(names[i], scalar, round);
        }
        printf("%s: %s\n", names[i], failures ? "differs" : "as its scalar twin");
    }
    return failures != 0;
}
