#include "base/ct_utf8.h"

size_t ct_utf8_decode(const unsigned char *p, size_t left, uint32_t *point) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80 ? 1 : (p[0] >> 5) == 6 ? 2 : (p[0] >> 4) == 14 ? 3
                  : (p[0] >> 3) == 30 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    uint32_t value = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3fu);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *point = value;
    return length;
}

static int is_blank(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200b) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000 || c == 0xfeff;
}

ct_utf8_verdict ct_utf8_check(const char *text, size_t bytes) {
    const unsigned char *p = (const unsigned char *)text;
    int blank = 1;
    for (size_t i = 0; i < bytes;) {
        uint32_t point;
        size_t length = ct_utf8_decode(p + i, bytes - i, &point);
        if (!length) return CT_UTF8_MALFORMED;
        if (point == 0) return CT_UTF8_NUL;
        if (blank && !is_blank(point)) blank = 0;
        i += length;
    }
    return blank ? CT_UTF8_BLANK : CT_UTF8_GOOD;
}

size_t ct_utf8_floor(const char *text, size_t bytes, size_t limit) {
    if (limit >= bytes) return bytes;
    while (limit > 0 && ((unsigned char)text[limit] & 0xc0) == 0x80) limit--;
    return limit;
}
