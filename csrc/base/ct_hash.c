#include "base/ct_hash.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files of this engine are little-endian, and so must the machine be"
#endif

#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu
#define PRIME_3 0x165667b19e3779f9u
#define PRIME_4 0x85ebca77c2b2ae63u
#define PRIME_5 0x27d4eb2f165667c5u

static uint64_t rotate(uint64_t value, int by) { return value << by | value >> (64 - by); }

static uint64_t read_64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t read_32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t mix(uint64_t lane, uint64_t input) { return rotate(lane + input * PRIME_2, 31) * PRIME_1; }

static uint64_t merge(uint64_t hash, uint64_t lane) { return (hash ^ mix(0, lane)) * PRIME_1 + PRIME_4; }

static uint64_t finish(uint64_t hash, const unsigned char *at, size_t bytes) {
    for (; bytes >= 8; bytes -= 8, at += 8) hash = rotate(hash ^ mix(0, read_64(at)), 27) * PRIME_1 + PRIME_4;
    for (; bytes >= 4; bytes -= 4, at += 4) hash = rotate(hash ^ read_32(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
    for (; bytes; bytes--, at++) hash = rotate(hash ^ *at * PRIME_5, 11) * PRIME_1;
    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}

uint64_t ct_hash(const void *data, size_t bytes, uint64_t seed) {
    const unsigned char *at = data;
    if (bytes < 32) return finish(seed + PRIME_5 + bytes, at, bytes);
    uint64_t lanes[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
    size_t left = bytes;
    for (; left >= 32; left -= 32, at += 32)
        for (int i = 0; i < 4; i++) lanes[i] = mix(lanes[i], read_64(at + 8 * i));
    uint64_t hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (int i = 0; i < 4; i++) hash = merge(hash, lanes[i]);
    return finish(hash + bytes, at, left);
}
