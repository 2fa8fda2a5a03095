#include "encoder/ct_linear.h"

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

/* 32 rows as the outputs of one panel, values of different outputs side by side. */
static void put_floats(ct_linear *to, size_t panel, const float *rows) {
    float *values = to->floats + panel * to->inputs * CT_DENSE_PANEL;
    for (size_t n = 0; n < CT_DENSE_PANEL; n++)
        for (size_t k = 0; k < to->inputs; k++) values[k * CT_DENSE_PANEL + n] = rows[n * to->inputs + k];
}

static void put_i8(ct_linear *to, size_t panel, const float *rows, const ct_dense_rows *room) {
    size_t groups = to->inputs / CT_DENSE_GROUP;
    uint8_t *values = to->values + panel * to->inputs * CT_DENSE_PANEL;
    float *scales = to->scales + panel * groups * CT_DENSE_PANEL;
    to->kernels->quantize(rows, CT_DENSE_PANEL, to->inputs, room);
    for (size_t n = 0; n < CT_DENSE_PANEL; n++) {
        for (size_t k = 0; k < to->inputs; k += 4) {
            uint32_t four;
            memcpy(&four, room->values + n * to->inputs + k, sizeof four);
            four ^= 0x80808080; /* plus 128 each */
            memcpy(values + k * CT_DENSE_PANEL + n * 4, &four, sizeof four);
        }
        for (size_t g = 0; g < groups; g++) scales[g * CT_DENSE_PANEL + n] = room->scales[n * groups + g];
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

int ct_dense_rows_make(size_t rows, size_t inputs, ct_dense_rows *out) {
    size_t groups = inputs / CT_DENSE_GROUP;
    out->values = ct_alloc(rows * inputs);
    out->scales = ct_alloc(rows * groups * sizeof *out->scales);
    out->sums = ct_alloc(rows * groups * sizeof *out->sums);
    return out->values && out->scales && out->sums ? CT_OK : CT_NOMEM;
}

void ct_dense_rows_free(ct_dense_rows *rows) {
    ct_free(rows->values);
    ct_free(rows->scales);
    ct_free(rows->sums);
}

/* The rows of one tensor, from output `first` on. */
static int put_tensor(ct_linear *to, size_t first, const ct_tensor *from, float *rows, const ct_dense_rows *room,
                      ct_error *error) {
    for (size_t r = 0; r < (size_t)from->rows; r += CT_DENSE_PANEL) {
        for (size_t n = 0; n < CT_DENSE_PANEL; n++) ct_tensor_row(from, r + n, rows + n * to->inputs);
        if (!is_finite(rows, CT_DENSE_PANEL * to->inputs))
            return ct_fail(error, CT_MODEL, "the model's %s has values that are not finite", from->name);
        if (to->floats) put_floats(to, (first + r) / CT_DENSE_PANEL, rows);
        else put_i8(to, (first + r) / CT_DENSE_PANEL, rows, room);
    }
    return CT_OK;
}

int ct_linear_pack(const ct_dense_kernels *kernels, const ct_tensor *const *weights,
                   const ct_tensor *const *biases, size_t parts, ct_linear *out, ct_error *error) {
    ct_linear made = {.kernels = kernels, .inputs = (size_t)weights[0]->columns};
    ct_dense_rows room = {0};
    for (size_t p = 0; p < parts; p++) made.outputs += (size_t)weights[p]->rows;
    float *rows = ct_alloc(CT_DENSE_PANEL * made.inputs * sizeof *rows);
    int status = CT_OK;
    if (!rows || ct_dense_rows_make(CT_DENSE_PANEL, made.inputs, &room) || make_room(&made))
        status = ct_fail_nomem(error);
    for (size_t p = 0, first = 0; !status && p < parts; first += (size_t)weights[p++]->rows) {
        if (biases[p]) ct_tensor_row(biases[p], 0, made.bias + first);
        status = put_tensor(&made, first, weights[p], rows, &room, error);
    }
    ct_dense_rows_free(&room);
    ct_free(rows);
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
    ct_dense_rows room = {0};
    int status = ct_dense_rows_make(rows, inputs, &room) ? ct_fail_nomem(error) : CT_OK;
    if (!status) status = ct_linear_pack(&kernels, of, with, 1, &linear, error);
    if (!status) ct_linear_run(&linear, x, rows, &room, out, outputs);
    ct_linear_free(&linear);
    ct_dense_rows_free(&room);
    return status;
}
