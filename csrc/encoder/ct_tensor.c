#include "encoder/ct_tensor.h"

#include <string.h>

/* ggml's numbers.  A block of the eight-bit type is a half-precision scale and 32 values. */
enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_Q8_0 = 8, TYPE_BF16 = 30 };
#define BLOCK_VALUES 32
#define BLOCK_BYTES (2 + BLOCK_VALUES)

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t read_u16(const unsigned char *from) { return (uint16_t)(from[0] | from[1] << 8); }

/* IEEE half precision. */
static float half(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
    if (exponent == 0x1F) return from_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent) return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction / 16777216.0f; /* 2^-24 */
    return sign ? -small : small;
}

size_t ct_tensor_row_bytes(const ct_tensor *tensor) {
    size_t columns = (size_t)tensor->columns;
    switch (tensor->type) {
    case TYPE_F32: return columns * 4;
    case TYPE_F16:
    case TYPE_BF16: return columns * 2;
    default: return columns / BLOCK_VALUES * BLOCK_BYTES;
    }
}

int ct_tensor_is_readable(const ct_tensor *tensor) {
    if (tensor->type != TYPE_F32 && tensor->type != TYPE_F16 && tensor->type != TYPE_BF16 &&
        tensor->type != TYPE_Q8_0)
        return 0;
    if (tensor->rows < 1 || tensor->columns < 1 || tensor->columns > (1 << 24) || tensor->rows > (1 << 24)) return 0;
    if (tensor->type == TYPE_Q8_0 && tensor->columns % BLOCK_VALUES) return 0;
    return tensor->bytes == (size_t)tensor->rows * ct_tensor_row_bytes(tensor);
}

void ct_tensor_row(const ct_tensor *tensor, size_t row, float *out) {
    const unsigned char *from = (const unsigned char *)tensor->data + row * ct_tensor_row_bytes(tensor);
    size_t columns = (size_t)tensor->columns;
    switch (tensor->type) {
    case TYPE_F32: memcpy(out, from, columns * sizeof *out); break;
    case TYPE_F16:
        for (size_t i = 0; i < columns; i++) out[i] = half(read_u16(from + 2 * i));
        break;
    case TYPE_BF16:
        for (size_t i = 0; i < columns; i++) out[i] = from_bits((uint32_t)read_u16(from + 2 * i) << 16);
        break;
    default:
        for (size_t b = 0; b < columns / BLOCK_VALUES; b++, from += BLOCK_BYTES, out += BLOCK_VALUES) {
            float scale = half(read_u16(from));
            for (size_t i = 0; i < BLOCK_VALUES; i++) out[i] = scale * (float)(signed char)from[2 + i];
        }
    }
}
