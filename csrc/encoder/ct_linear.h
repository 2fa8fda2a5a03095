/* One linear layer, packed for the kernels of this CPU: eight bits where it has instructions for
 * that, floats elsewhere. */
#ifndef CT_LINEAR_H
#define CT_LINEAR_H

#include "ct.h"
#include "simd/ct_simd_dense.h"

typedef struct ct_linear {
    const ct_dense_kernels *kernels;
    size_t inputs;
    size_t outputs;  /* a multiple of CT_DENSE_PANEL */
    float *floats;   /* [outputs / 32][inputs][32], or NULL */
    uint8_t *values; /* as ct_dense_i8 has them, or NULL */
    float *scales;
    float *bias;     /* [outputs] */
} ct_linear;

/* Bytes of a packed layer, a multiple of 64. */
size_t ct_linear_bytes(const ct_dense_kernels *kernels, size_t inputs, size_t outputs);

/* Several matrices over the same inputs become one, their outputs behind one another.  Rows come in
 * multiples of CT_DENSE_PANEL, columns of CT_DENSE_GROUP.  biases[i] may be NULL.  file: of tensors without
 * data.  memory: ct_linear_bytes, in use as long as the layer. */
int ct_linear_pack(const ct_dense_kernels *kernels, const ct_tensor *const *weights,
                   const ct_tensor *const *biases, size_t parts, int file, void *memory, ct_linear *out,
                   ct_error *error);

/* Room for eight-bit rows.  0, or CT_NOMEM; free it in either case. */
int ct_dense_rows_make(size_t rows, size_t inputs, ct_dense_rows *out);
void ct_dense_rows_free(ct_dense_rows *rows);

/* out[rows][stride] = x W' + bias for x[rows][inputs].  scratch: room for as many eight-bit rows. */
void ct_linear_run(const ct_linear *linear, const float *x, size_t rows, const ct_dense_rows *scratch,
                   float *out, size_t stride);

#endif
