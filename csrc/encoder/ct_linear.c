#include "encoder/ct_linear.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "encoder/ct_tensor.h"
#include "simd/ct_simd.h"

void ct_linear_free(ct_linear *linear) {
    ct_free(linear->bias);
    ct_free(linear->floats);
    ct_free(linear->values);
    ct_free(linear->scales);
    *linear = (ct_linear){0};
}

static void put_floats(ct_linear *to, size_t output, const float *row) {
    float *panel = to->floats + output / CT_DENSE_PANEL * to->inputs * CT_DENSE_PANEL;
    for (size_t k = 0; k < to->inputs; k++) panel[k * CT_DENSE_PANEL + output % CT_DENSE_PANEL] = row[k];
}

static void put_i8(ct_linear *to, size_t output, const float *row) {
    size_t groups = to->inputs / CT_DENSE_GROUP, place = output % CT_DENSE_PANEL;
    uint8_t *values = to->values + output / CT_DENSE_PANEL * to->inputs * CT_DENSE_PANEL;
    float *scales = to->scales + output / CT_DENSE_PANEL * groups * CT_DENSE_PANEL;
    for (size_t g = 0; g < groups; g++) {
        const float *group = row + g * CT_DENSE_GROUP;
        float peak = 0;
        for (size_t i = 0; i < CT_DENSE_GROUP; i++) peak = fmaxf(peak, fabsf(group[i]));
        scales[g * CT_DENSE_PANEL + place] = peak / 127;
        float factor = peak > 0 ? 127 / peak : 0;
        for (size_t i = 0; i < CT_DENSE_GROUP; i++) {
            size_t k = g * CT_DENSE_GROUP + i;
            float value = fminf(fmaxf(rintf(group[i] * factor), -127), 127);
            values[k / 4 * CT_DENSE_PANEL * 4 + place * 4 + k % 4] = (uint8_t)((int)value + 128);
        }
    }
}

static int is_finite(const float *row, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += row[i] * 0;
    return sum == 0;
}

static int make_room(ct_linear *of) {
    size_t count = of->inputs * of->outputs;
    of->bias = ct_alloc_zero(of->outputs * sizeof *of->bias);
    if (of->kernels->multiply_i8) {
        of->values = ct_alloc(count);
        of->scales = ct_alloc(count / CT_DENSE_GROUP * sizeof *of->scales);
    } else {
        of->floats = ct_alloc(count * sizeof *of->floats);
    }
    return of->bias && (of->floats || (of->values && of->scales)) ? CT_OK : CT_NOMEM;
}

int ct_linear_pack(const ct_dense_kernels *kernels, const ct_tensor *const *weights,
                   const ct_tensor *const *biases, size_t parts, ct_linear *out, ct_error *error) {
    ct_linear made = {.kernels = kernels, .inputs = (size_t)weights[0]->columns};
    for (size_t p = 0; p < parts; p++) made.outputs += (size_t)weights[p]->rows;
    float *row = ct_alloc(made.inputs * sizeof *row);
    int status = !row || make_room(&made) ? ct_fail_nomem(error) : CT_OK;
    for (size_t p = 0, output = 0; !status && p < parts; p++) {
        if (biases[p]) ct_tensor_row(biases[p], 0, made.bias + output);
        for (size_t r = 0; r < (size_t)weights[p]->rows; r++, output++) {
            ct_tensor_row(weights[p], r, row);
            if (!is_finite(row, made.inputs)) {
                status = ct_fail(error, CT_MODEL, "the model's %s has values that are not finite", weights[p]->name);
                break;
            }
            if (made.floats) put_floats(&made, output, row);
            else put_i8(&made, output, row);
        }
    }
    ct_free(row);
    if (status) ct_linear_free(&made);
    else *out = made;
    return status;
}

void ct_linear_run(const ct_linear *linear, const float *x, size_t rows, const ct_dense_rows *scratch,
                   float *out, size_t stride) {
    const ct_dense_kernels *kernels = linear->kernels;
    size_t panels = linear->outputs / CT_DENSE_PANEL;
    if (linear->floats) {
        for (size_t p = 0; p < panels; p++)
            kernels->multiply(x, linear->inputs, linear->floats + p * linear->inputs * CT_DENSE_PANEL,
                              CT_DENSE_PANEL, linear->bias + p * CT_DENSE_PANEL, out + p * CT_DENSE_PANEL, stride,
                              rows, linear->inputs);
        return;
    }
    ct_dense_i8 weights = {linear->values, linear->scales, linear->inputs};
    kernels->quantize(x, rows, linear->inputs, scratch);
    for (size_t p = 0; p < panels; p++)
        kernels->multiply_i8(&weights, p, scratch, linear->bias + p * CT_DENSE_PANEL, out + p * CT_DENSE_PANEL,
                             stride, rows);
}

int ct_linear_apply(const float *weights, const float *bias, size_t inputs, size_t outputs, const float *x,
                    size_t rows, int twin, float *out, ct_error *error) {
    ct_error_clear(error);
    if (inputs % CT_DENSE_GROUP || outputs % CT_DENSE_PANEL || !inputs || !outputs)
        return ct_fail(error, CT_INVALID, "a layer of %zu inputs and %zu outputs", inputs, outputs);
    ct_tensor tensor = {"weights", 0, (int64_t)outputs, (int64_t)inputs, weights, outputs * inputs * sizeof *weights};
    ct_tensor added = {"bias", 0, 1, (int64_t)outputs, bias, outputs * sizeof *bias};
    const ct_tensor *of[1] = {&tensor}, *with[1] = {&added};
    ct_dense_kernels kernels = *ct_simd()->dense;
    if (twin) kernels.multiply_i8 = ct_dense_multiply_i8_scalar;
    ct_linear linear = {0};
    ct_dense_rows room = {ct_alloc(rows * inputs), ct_alloc(rows * inputs / CT_DENSE_GROUP * sizeof(float)),
                          ct_alloc(rows * inputs / CT_DENSE_GROUP * sizeof(int32_t))};
    int status = room.values && room.scales && room.sums ? CT_OK : ct_fail_nomem(error);
    if (!status) status = ct_linear_pack(&kernels, of, with, 1, &linear, error);
    if (!status) ct_linear_run(&linear, x, rows, &room, out, outputs);
    ct_linear_free(&linear);
    ct_free(room.values);
    ct_free(room.scales);
    ct_free(room.sums);
    return status;
}
