#include "encoder/ct_linear.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "encoder/ct_tensor.h"
#include "simd/ct_simd.h"

/* What packing one layer works with, for the rows of one panel. */
typedef struct bench {
    void *raw;     /* as the file has them */
    float *floats;
    ct_dense_rows rounded;
} bench;

static int bench_make(size_t inputs, bench *out) {
    out->raw = ct_alloc(CT_DENSE_PANEL * inputs * sizeof(float)); /* the widest type */
    out->floats = ct_alloc(CT_DENSE_PANEL * inputs * sizeof(float));
    if (ct_dense_rows_make(CT_DENSE_PANEL, inputs, &out->rounded)) return CT_NOMEM;
    return out->raw && out->floats ? CT_OK : CT_NOMEM;
}

static void bench_free(bench *of) {
    ct_free(of->raw);
    ct_free(of->floats);
    ct_dense_rows_free(&of->rounded);
}

/* 32 rows as the outputs of one panel, values of different outputs side by side. */
static void put_floats(const ct_linear *to, size_t panel, const float *rows) {
    float *values = to->floats + panel * to->inputs * CT_DENSE_PANEL;
    for (size_t n = 0; n < CT_DENSE_PANEL; n++)
        for (size_t k = 0; k < to->inputs; k++) values[k * CT_DENSE_PANEL + n] = rows[n * to->inputs + k];
}

/* Eight-bit values of one group of 32 rows, which lie `stride` bytes apart. */
static void put_group(uint8_t *values, const void *rows, size_t stride) {
    for (size_t k = 0; k < CT_DENSE_GROUP; k += 4)
        for (size_t n = 0; n < CT_DENSE_PANEL; n++, values += 4) {
            uint32_t four;
            memcpy(&four, (const char *)rows + n * stride + k, sizeof four);
            four ^= 0x80808080; /* plus 128 each */
            /* A byte of 0 was -128, which has no opposite: -127, of what no good file holds. */
            four += ~(((four & 0x7f7f7f7f) + 0x7f7f7f7f) | four | 0x7f7f7f7f) >> 7;
            memcpy(values, &four, sizeof four);
        }
}

static void put_rounded(const ct_linear *to, size_t panel, const ct_dense_rows *rows) {
    size_t groups = to->inputs / CT_DENSE_GROUP;
    uint8_t *values = to->values + panel * to->inputs * CT_DENSE_PANEL;
    float *scales = to->scales + panel * groups * CT_DENSE_PANEL;
    for (size_t g = 0; g < groups; g++) {
        put_group(values + g * CT_DENSE_GROUP * CT_DENSE_PANEL, rows->values + g * CT_DENSE_GROUP, to->inputs);
        for (size_t n = 0; n < CT_DENSE_PANEL; n++) scales[g * CT_DENSE_PANEL + n] = rows->scales[n * groups + g];
    }
}

/* Blocks of the file's eight-bit type are our groups: they are taken as they are. */
_Static_assert(CT_DENSE_GROUP == CT_Q8_0_VALUES, "a group is a block");
static void put_blocks(const ct_linear *to, size_t panel, const void *rows) {
    size_t groups = to->inputs / CT_DENSE_GROUP, stride = groups * CT_Q8_0_BYTES;
    uint8_t *values = to->values + panel * to->inputs * CT_DENSE_PANEL;
    float *scales = to->scales + panel * groups * CT_DENSE_PANEL;
    for (size_t g = 0; g < groups; g++) {
        const char *from = (const char *)rows + g * CT_Q8_0_BYTES;
        put_group(values + g * CT_DENSE_GROUP * CT_DENSE_PANEL, from + 2, stride);
        for (size_t n = 0; n < CT_DENSE_PANEL; n++)
            scales[g * CT_DENSE_PANEL + n] = ct_tensor_half(from + n * stride);
    }
}

static int is_finite(const float *values, size_t count) {
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bits &= 0x7F800000;
        most = bits > most ? bits : most;
    }
    return most < 0x7F800000;
}

/* The parts of a packed layer in its memory; returns their bytes. */
static size_t lay_out(ct_linear *of, char *memory) {
    size_t count = of->inputs * of->outputs, scales = count / CT_DENSE_GROUP * sizeof *of->scales;
    size_t at = of->kernels->multiply_i8 ? count + scales : count * sizeof *of->floats;
    if (memory && of->kernels->multiply_i8) {
        of->values = (uint8_t *)memory;
        of->scales = (float *)(void *)(memory + count);
    } else if (memory) {
        of->floats = (float *)(void *)memory;
    }
    if (memory) of->bias = (float *)(void *)(memory + at);
    return (at + of->outputs * sizeof *of->bias + 63) / 64 * 64;
}

size_t ct_linear_bytes(const ct_dense_kernels *kernels, size_t inputs, size_t outputs) {
    ct_linear of = {.kernels = kernels, .inputs = inputs, .outputs = outputs};
    return lay_out(&of, NULL);
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

/* One panel of weights; 0 when some are not finite. */
static int put_panel(const ct_linear *to, size_t panel, const ct_tensor *from, const void *rows, const bench *at) {
    size_t groups = to->inputs / CT_DENSE_GROUP;
    if (to->values && from->type == CT_Q8_0) {
        put_blocks(to, panel, rows);
        return is_finite(to->scales + panel * groups * CT_DENSE_PANEL, groups * CT_DENSE_PANEL);
    }
    ct_tensor_decode(from, rows, CT_DENSE_PANEL, at->floats);
    if (!is_finite(at->floats, CT_DENSE_PANEL * to->inputs)) return 0;
    if (to->floats) {
        put_floats(to, panel, at->floats);
    } else {
        to->kernels->quantize(at->floats, CT_DENSE_PANEL, to->inputs, &at->rounded);
        put_rounded(to, panel, &at->rounded);
    }
    return 1;
}

/* The rows of one tensor, from output `first` on. */
static int put_tensor(const ct_linear *to, size_t first, const ct_tensor *from, int file, const bench *at,
                      ct_error *error) {
    for (size_t r = 0; r < (size_t)from->rows; r += CT_DENSE_PANEL) {
        const void *rows = ct_tensor_rows(from, file, r, CT_DENSE_PANEL, at->raw, error);
        if (!rows) return CT_MODEL;
        if (!put_panel(to, (first + r) / CT_DENSE_PANEL, from, rows, at))
            return ct_fail(error, CT_MODEL, "the model's %s has values that are not finite", from->name);
    }
    return CT_OK;
}

int ct_linear_pack(const ct_dense_kernels *kernels, const ct_tensor *const *weights,
                   const ct_tensor *const *biases, size_t parts, int file, void *memory, ct_linear *out,
                   ct_error *error) {
    ct_linear made = {.kernels = kernels, .inputs = (size_t)weights[0]->columns};
    for (size_t p = 0; p < parts; p++) made.outputs += (size_t)weights[p]->rows;
    lay_out(&made, memory);
    bench at = {0};
    int status = bench_make(made.inputs, &at) ? ct_fail_nomem(error) : CT_OK;
    for (size_t p = 0, first = 0; !status && p < parts; first += (size_t)weights[p++]->rows) {
        float *bias = made.bias + first;
        if (biases[p]) status = ct_tensor_floats(biases[p], file, 0, 1, bias, error);
        else memset(bias, 0, (size_t)weights[p]->rows * sizeof *bias);
        if (!status) status = put_tensor(&made, first, weights[p], file, &at, error);
    }
    bench_free(&at);
    if (!status) *out = made;
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
    size_t bytes = outputs * sizeof *bias;
    ct_tensor tensor = {"weights", 0, (int64_t)outputs, (int64_t)inputs, inputs * bytes, weights, 0};
    ct_tensor added = {"bias", 0, 1, (int64_t)outputs, bytes, bias, 0};
    const ct_tensor *of[1] = {&tensor}, *with[1] = {&added};
    ct_dense_kernels kernels = *ct_simd()->dense;
    if (twin) kernels.multiply_i8 = ct_dense_multiply_i8_scalar;
    ct_linear linear = {0};
    ct_dense_rows room = {0};
    void *memory = ct_alloc_large(ct_linear_bytes(&kernels, inputs, outputs));
    int status = !memory || ct_dense_rows_make(rows, inputs, &room) ? ct_fail_nomem(error) : CT_OK;
    if (!status) status = ct_linear_pack(&kernels, of, with, 1, -1, memory, &linear, error);
    if (!status) ct_linear_run(&linear, x, rows, &room, out, outputs);
    ct_free(memory);
    ct_dense_rows_free(&room);
    return status;
}
