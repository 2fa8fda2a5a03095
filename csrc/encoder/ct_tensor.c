#include "encoder/ct_tensor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* ggml's numbers. */
enum { TYPE_F32 = 0, TYPE_F16 = 1, TYPE_BF16 = 30 };

static inline float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint16_t read_u16(const unsigned char *from) { return (uint16_t)(from[0] | from[1] << 8); }

/* Without branches, so that loops over it run in vectors. */
static inline float half(uint16_t bits) {
    uint32_t rest = (uint32_t)(bits & 0x7FFF) << 13, sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t least = 0u - (rest < 0x00800000), most = 0u - (rest >= 0x0F800000); /* exponents, as masks */
    uint32_t normal = rest + (112u << 23) + (most & 112u << 23);
    uint32_t small = bits_of(from_bits(0x3F000000 | (bits & 0x3FF)) - 0.5f); /* in steps of 2^-24, as 0.5 has */
    return from_bits(sign | (least & small) | (~least & normal));
}

float ct_tensor_half(const void *two_bytes) { return half(read_u16(two_bytes)); }

size_t ct_tensor_row_bytes(const ct_tensor *tensor) {
    size_t columns = (size_t)tensor->columns;
    switch (tensor->type) {
    case TYPE_F32: return columns * 4;
    case TYPE_F16:
    case TYPE_BF16: return columns * 2;
    default: return columns / CT_Q8_0_VALUES * CT_Q8_0_BYTES;
    }
}

int ct_tensor_is_readable(const ct_tensor *tensor) {
    if (tensor->type != TYPE_F32 && tensor->type != TYPE_F16 && tensor->type != TYPE_BF16 &&
        tensor->type != CT_Q8_0)
        return 0;
    if (tensor->rows < 1 || tensor->columns < 1 || tensor->columns > (1 << 24) || tensor->rows > (1 << 24)) return 0;
    if (tensor->type == CT_Q8_0 && tensor->columns % CT_Q8_0_VALUES) return 0;
    return tensor->bytes == (size_t)tensor->rows * ct_tensor_row_bytes(tensor);
}

/* Read, not mapped: a mapped file that shrinks ends the process. */
static int read_all(int file, int64_t offset, void *out, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t some = pread(file, (char *)out + done, bytes - done, (off_t)(offset + (int64_t)done));
        if (some < 0 && errno == EINTR) continue;
        if (some < 0) return errno;
        if (some == 0) return ENODATA;
        done += (size_t)some;
    }
    return 0;
}

const void *ct_tensor_rows(const ct_tensor *tensor, int file, size_t first, size_t count, void *room,
                           ct_error *error) {
    size_t bytes = ct_tensor_row_bytes(tensor);
    if (tensor->data) return (const char *)tensor->data + first * bytes;
    int failed = read_all(file, tensor->offset + (int64_t)(first * bytes), room, count * bytes);
    if (!failed) return room;
    if (failed == ENODATA) ct_fail(error, CT_MODEL, "the model file has become shorter than its %s", tensor->name);
    else ct_fail(error, CT_MODEL, "cannot read the model's %s: %s", tensor->name, strerror(failed));
    return NULL;
}

static void decode_q8_0(const unsigned char *from, size_t blocks, float *out) {
    for (size_t b = 0; b < blocks; b++, from += CT_Q8_0_BYTES, out += CT_Q8_0_VALUES) {
        float scale = half(read_u16(from));
        for (size_t i = 0; i < CT_Q8_0_VALUES; i++) out[i] = scale * (float)(signed char)from[2 + i];
    }
}

void ct_tensor_decode(const ct_tensor *tensor, const void *rows, size_t count, float *out) {
    const unsigned char *from = rows;
    size_t values = count * (size_t)tensor->columns;
    switch (tensor->type) {
    case TYPE_F32: memcpy(out, from, values * sizeof *out); break;
    case TYPE_F16:
        for (size_t i = 0; i < values; i++) out[i] = half(read_u16(from + 2 * i));
        break;
    case TYPE_BF16:
        for (size_t i = 0; i < values; i++) out[i] = from_bits((uint32_t)read_u16(from + 2 * i) << 16);
        break;
    default: decode_q8_0(from, values / CT_Q8_0_VALUES, out);
    }
}

int ct_tensor_floats(const ct_tensor *tensor, int file, size_t first, size_t count, float *out, ct_error *error) {
    void *room = tensor->data ? NULL : ct_alloc(count * ct_tensor_row_bytes(tensor));
    if (!tensor->data && !room) return ct_fail_nomem(error);
    const void *rows = ct_tensor_rows(tensor, file, first, count, room, error);
    if (rows) ct_tensor_decode(tensor, rows, count, out);
    ct_free(room);
    return rows ? CT_OK : CT_MODEL;
}
