#include "index/ct_block.h"

#include <string.h>

#include "base/ct_alloc.h"
#include "simd/ct_simd.h"
#include "simd/ct_simd_scan.h"

#define ALIGNMENT 64

/* With 384 dimensions a block takes nearly one. */
#define LARGE_PAGE ((size_t)2 << 20)

void *ct_block_data(const ct_block *block) { return block->chunk_id; }

size_t ct_block_data_bytes(size_t padded) {
    return CT_BLOCK_ENTRIES * (5 * sizeof(int64_t) + sizeof(float) + 2 * sizeof(uint32_t) + padded);
}

size_t ct_block_bytes(size_t padded) {
    return sizeof(ct_block) + ALIGNMENT + ct_block_data_bytes(padded) +
           CT_BLOCK_ENTRIES * (padded / 8 + 3 * sizeof(uint32_t) + 1);
}

/* The next `bytes` of a run. */
static void *take(unsigned char **at, size_t bytes) {
    void *taken = *at;
    *at += bytes;
    return taken;
}

ct_block *ct_block_new(size_t padded, int will_be_full) {
    ct_block *block = ct_alloc_zero(sizeof *block);
    if (!block) return NULL;
    /* Not zeroed: that costs as much as reading it from a file. */
    size_t bytes = ct_block_bytes(padded) - sizeof *block;
    if (will_be_full) bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    block->memory = will_be_full ? ct_alloc_large(bytes) : ct_alloc(bytes);
    if (!block->memory) {
        ct_free(block);
        return NULL;
    }
    unsigned char *at = block->memory;
    at += (ALIGNMENT - (uintptr_t)at % ALIGNMENT) % ALIGNMENT;
    int64_t **ids[] = {&block->chunk_id, &block->message_id, &block->time_ms, &block->session_id,
                       &block->role_id};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) *ids[i] = take(&at, CT_BLOCK_ENTRIES * sizeof(int64_t));
    block->scale = take(&at, CT_BLOCK_ENTRIES * sizeof(float));
    block->token_end = take(&at, CT_BLOCK_ENTRIES * sizeof(uint32_t));
    block->token_hash = take(&at, CT_BLOCK_ENTRIES * sizeof(uint32_t));
    block->codes = take(&at, CT_BLOCK_ENTRIES * padded);
    block->signs = take(&at, CT_BLOCK_ENTRIES * padded / 8);
    block->earlier = take(&at, CT_BLOCK_ENTRIES * sizeof(uint32_t));
    block->before = take(&at, CT_BLOCK_ENTRIES * sizeof(uint32_t));
    block->after = take(&at, CT_BLOCK_ENTRIES * sizeof(uint32_t));
    block->is_part = take(&at, CT_BLOCK_ENTRIES);
    block->tokens_at = -1;
    memset(block->signs, 0, CT_BLOCK_ENTRIES * padded / 8); /* a scan reads whole groups */
    return block;
}

void ct_block_free(ct_block *block) {
    if (!block) return;
    ct_free(block->memory);
    ct_free(block);
}

void ct_block_set_signs(ct_block *block, size_t entry, size_t padded) {
    const int8_t *code = block->codes + entry * padded;
    uint8_t *to = block->signs + entry / CT_SCAN_GROUP * CT_SCAN_GROUP * (padded / 8) + entry % CT_SCAN_GROUP;
    for (size_t i = 0; i < padded; i += 8, to += CT_SCAN_GROUP) {
        uint64_t eight; /* the top bit of each byte, gathered in the top byte of a product */
        memcpy(&eight, code + i, sizeof eight);
        *to = (uint8_t)((eight >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56);
    }
}
