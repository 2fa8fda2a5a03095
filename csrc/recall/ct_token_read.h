/* Reads the codes of chunks' tokens, wherever they are: in the store, or in the file beside it. */
#ifndef CT_TOKEN_READ_H
#define CT_TOKEN_READ_H

#include "recall/ct_parts.h"

/* visit gets each chunk's place in `places`, in order, and its codes; none when they are lost, which the
 * file is told.  A non-zero return of it ends the reading and is returned.  CT_CORRUPT, CT_IO. */
int ct_token_read(const ct_recall_parts *parts, const ct_chunk_place *places, size_t count,
                  int (*visit)(void *state, size_t place, const uint64_t *codes, size_t code_count), void *state,
                  ct_error *error);

#endif
