/* Tensors of a GGUF file, some rows at a time. */
#ifndef CT_TENSOR_H
#define CT_TENSOR_H

#include <stddef.h>

#include "ct.h"

/* A block of ggml's eight-bit type: a half-precision scale, and as many values. */
#define CT_Q8_0 8
#define CT_Q8_0_VALUES 32
#define CT_Q8_0_BYTES (2 + CT_Q8_0_VALUES)

/* 1 when a tensor of this type and shape can be read here. */
int ct_tensor_is_readable(const ct_tensor *tensor);

/* For a readable tensor: */

/* Bytes of one row. */
size_t ct_tensor_row_bytes(const ct_tensor *tensor);

/* `count` rows from `first` on as they lie, in `room`, which they fit, or in the tensor's own memory.
 * file: an open descriptor, for a tensor without data.  NULL with error set when they cannot be read. */
const void *ct_tensor_rows(const ct_tensor *tensor, int file, size_t first, size_t count, void *room,
                           ct_error *error);

/* Such rows as floats, out[count][columns]. */
void ct_tensor_decode(const ct_tensor *tensor, const void *rows, size_t count, float *out);

/* Both: rows as floats. */
int ct_tensor_floats(const ct_tensor *tensor, int file, size_t first, size_t count, float *out, ct_error *error);

/* IEEE half precision to a float. */
float ct_tensor_half(const void *two_bytes);

#endif
