/* Keeps the index up with the store, and the file of codes up with both. */
#ifndef CT_KEEPER_H
#define CT_KEEPER_H

#include "ct.h"
#include "encoder/ct_encoder.h"
#include "index/ct_index.h"
#include "store/ct_store.h"

typedef struct ct_keeper ct_keeper;

/* Fill an empty index, from the file as far as it is good and else from the store. */
int ct_keeper_open(ct_store *store, const ct_encoder *encoder, ct_index *index, ct_keeper **out,
                   ct_error *error);
void ct_keeper_free(ct_keeper *keeper);

/* Bring in what this or another process has embedded since. */
int ct_keeper_refresh(ct_keeper *keeper, ct_error *error);

/* Move what is full from the store into the file, and have made again what the file has lost.  What fails
 * is tried again later, and said in error: everything works without the file.  1 when messages wait to be embedded
 * again.  Of one thread at a time. */
int ct_keeper_save(ct_keeper *keeper, ct_error *error);

/* Chunks of blocks that are not in the file as they should be, and that nobody has been told of yet. */
int64_t ct_keeper_lost(ct_keeper *keeper);

/* Lives as long as the keeper. */
ct_code_file *ct_keeper_file(const ct_keeper *keeper);

#endif
