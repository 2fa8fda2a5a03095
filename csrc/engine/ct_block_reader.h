/* Reads the blocks of the file beside a store one after another, ahead of their turn and several at the same
 * time. */
#ifndef CT_BLOCK_READER_H
#define CT_BLOCK_READER_H

#include <stdatomic.h>

#include "base/ct_team.h"
#include "index/ct_code_file.h"
#include "store/ct_store.h"

/* Blocks that are read together, by how many threads at most. */
#define CT_BLOCK_READER_AHEAD 16
#define CT_BLOCK_READER_THREADS 4

typedef struct ct_block_reader {
    ct_code_file *file;
    size_t padded; /* of a code */
    const ct_block_rows *rows;
    ct_team *team; /* NULL: the caller reads alone */
    size_t begin, end; /* rows that were read */
    _Atomic size_t next;
    ct_block *blocks[CT_BLOCK_READER_AHEAD];
    int status[CT_BLOCK_READER_AHEAD]; /* of ct_code_file_read */
} ct_block_reader;

/* The rows stay the caller's, until the end. */
void ct_block_reader_begin(ct_block_reader *reader, ct_code_file *file, size_t padded, const ct_block_rows *rows);

/* The block of a row, the caller's from now on, or why there is none: see ct_code_file_read.  Rows are asked for
 * in order, each once; some may be passed over. */
int ct_block_reader_take(ct_block_reader *reader, size_t row, ct_block **out);

void ct_block_reader_end(ct_block_reader *reader);

#endif
