/* Tensors of a GGUF file, one row at a time as floats. */
#ifndef CT_TENSOR_H
#define CT_TENSOR_H

#include <stddef.h>

#include "ct.h"

/* 1 when a tensor of this type and shape can be read here. */
int ct_tensor_is_readable(const ct_tensor *tensor);

/* Bytes of one row. */
size_t ct_tensor_row_bytes(const ct_tensor *tensor);

/* Row `row` into out[columns].  The tensor must be readable. */
void ct_tensor_row(const ct_tensor *tensor, size_t row, float *out);

#endif
