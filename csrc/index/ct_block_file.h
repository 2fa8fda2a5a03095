/* Full blocks of an index in a file beside the store, one behind another, so that opening need not read
 * them from the store.
 *
 * Derived data: it may be deleted at any time, and is written again.  Nothing of it is believed without
 * its hash, which the store keeps: a file that is damaged, older or another store's is as good as none. */
#ifndef CT_BLOCK_FILE_H
#define CT_BLOCK_FILE_H

#include "ct.h"
#include "index/ct_block.h"

/* How blocks are laid out; part of their hash. */
#define CT_BLOCK_FORMAT 1

/* Write the block at its place; private to its owner.  CT_IO, CT_FULL. */
int ct_block_file_write(const char *path, size_t place, const ct_block *block, size_t padded, ct_error *error);

/* Read the block at a place; CT_NOT_FOUND when what is there has another hash, or nothing is. */
int ct_block_file_read(const char *path, size_t place, size_t padded, uint64_t hash, ct_block **out,
                       ct_error *error);

uint64_t ct_block_hash(const ct_block *block, size_t padded);

#endif
