/* Unit vector to int8 code. */
#include <math.h>

#include "base/ct_alloc.h"
#include "index/ct_index.h"
#include "simd/ct_simd.h"

size_t ct_code_bytes(int32_t dimension) { return sizeof(float) + (size_t)dimension; }

void ct_code_make(const float *vector, int32_t dimension, unsigned char *code) {
    float largest = 0;
    for (int32_t i = 0; i < dimension; i++) largest = fmaxf(largest, fabsf(vector[i]));
    float scale = largest / CT_CODE_MAX;
    memcpy(code, &scale, sizeof scale);
    int8_t *values = (int8_t *)(code + sizeof scale);
    for (int32_t i = 0; i < dimension; i++)
        values[i] = scale > 0 ? (int8_t)lrintf(vector[i] / scale) : 0;
}
