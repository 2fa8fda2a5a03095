/* Full blocks of an index, each with the codes of its chunks' tokens behind it, in a file beside the store.
 *
 * All of it is derived: blocks are in the store too, and the codes of tokens can be made again from the
 * messages.  Nothing is believed without its hash, which the store keeps for a block and the block for
 * each chunk's tokens: a file that is damaged, older or another store's is as good as none. */
#ifndef CT_CODE_FILE_H
#define CT_CODE_FILE_H

#include "ct.h"
#include "index/ct_block.h"

typedef struct ct_code_file ct_code_file;

/* The file need not be there.  It is held open from the first use on. */
int ct_code_file_open(const char *path, ct_code_file **out, ct_error *error);
void ct_code_file_close(ct_code_file *file);

/* The right to write: of one process at a time.  CT_BUSY: another has it.  CT_IO: the file with the name is no
 * longer the one that is open. */
int ct_code_file_lock(ct_code_file *file, ct_error *error);
void ct_code_file_unlock(ct_code_file *file);

/* Codes of the tokens of a block's chunks, one chunk's behind another's. */
typedef struct ct_token_codes {
    const uint64_t *codes;
    size_t words; /* of one code */
} ct_token_codes;

/* Set what a block says of its tokens.  counts: of each chunk. */
void ct_block_set_tokens(ct_block *block, const ct_token_codes *tokens, const uint32_t *counts);

/* Write a block at a place in the file, and see to it that it is on disk; *hash is what to know it by.  The
 * file is made when it is not there, private to its owner.  CT_IO, CT_FULL. */
int ct_code_file_write(ct_code_file *file, int64_t start, const ct_block *block, size_t padded,
                       const ct_token_codes *tokens, uint64_t *hash, ct_error *error);

/* How many bytes that takes. */
int64_t ct_code_file_bytes(const ct_block *block, size_t padded, size_t words);

/* Read a block, with its signs and tokens_at set.  CT_NOT_FOUND: something else is there, or nothing.  CT_IO: it cannot
 * be told. */
int ct_code_file_read(ct_code_file *file, int64_t start, size_t padded, uint64_t hash, ct_block **out,
                      ct_error *error);

/* Where a chunk's codes of tokens are. */
typedef struct ct_chunk_place {
    int64_t chunk_id;
    int64_t block; /* place of its block; -1: they are in the store */
    int64_t at;    /* of its block's, in the file */
    uint32_t begin; /* codes before its own */
    uint32_t end;
    uint32_t hash;
} ct_chunk_place;

/* Read those of two chunks of a block and of all between them, unverified; CT_NOT_FOUND and CT_IO as above. */
int ct_code_file_tokens(ct_code_file *file, const ct_chunk_place *first, const ct_chunk_place *last, size_t words,
                        uint64_t *codes, ct_error *error);

/* Whether these are the codes that were written for a chunk. */
int ct_code_file_knows(ct_code_file *file, const ct_chunk_place *place, size_t words, const uint64_t *codes);

/* What readers met, for whoever keeps the file up: a block that is damaged (its place, or -1), and whether
 * codes were neither in the store nor known to be here.  Both are forgotten by asking. */
int ct_code_file_is_damaged(ct_code_file *file); /* without forgetting */
int64_t ct_code_file_take_damaged(ct_code_file *file);
int ct_code_file_take_missed(ct_code_file *file);
void ct_code_file_note_missed(ct_code_file *file);

#endif
