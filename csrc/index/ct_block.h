/* A block of the index: the codes of so many chunks in the order of their ids, what a filter asks about
 * them, and one bit a dimension for the scan.  A full block never changes, so that it can be kept in a
 * file; `data` is what the file holds. */
#ifndef CT_BLOCK_H
#define CT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CT_BLOCK_ENTRIES 4096
#define CT_NO_ENTRY UINT32_MAX

typedef struct ct_block {
    void *memory;
    /* Of each entry; all in one run that begins with chunk_id. */
    int64_t *chunk_id;
    int64_t *message_id;
    int64_t *time_ms;
    int64_t *session_id;
    int64_t *role_id;
    float *scale;
    uint32_t *token_end;  /* codes of the tokens of this and all earlier entries; set when they are in the file */
    uint32_t *token_hash; /* of this entry's */
    int8_t *codes; /* [CT_BLOCK_ENTRIES][padded] */
    /* Made from the above. */
    uint8_t *signs; /* [CT_BLOCK_ENTRIES / CT_SCAN_GROUP][padded / 8][CT_SCAN_GROUP] */
    uint32_t *earlier; /* entry with an earlier chunk of the same message */
    /* At the last chunk of a message: entries with the last chunk of its neighbours in the session. */
    uint32_t *before;
    uint32_t *after;
    uint8_t *is_part; /* its message has more chunks */
    int64_t tokens_at; /* where in the file the codes of all tokens begin; -1: they are in the store */
} ct_block;

/* padded: of a code, as ct_simd_padded gives.  will_be_full: all of it is written at once, so that it may take
 * large pages.  NULL when memory is short. */
ct_block *ct_block_new(size_t padded, int will_be_full);
void ct_block_free(ct_block *block);

/* What a file holds of a full block. */
void *ct_block_data(const ct_block *block);
size_t ct_block_data_bytes(size_t padded);

/* All that a block takes. */
size_t ct_block_bytes(size_t padded);

/* Set the bits of one entry by its code. */
void ct_block_set_signs(ct_block *block, size_t entry, size_t padded);

#endif
