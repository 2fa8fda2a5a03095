/* Keeps the index up with the store, and the file of codes up with the index. */
#ifndef CT_KEEPER_H
#define CT_KEEPER_H

#include "ct.h"
#include "index/ct_index.h"
#include "store/ct_store.h"

typedef struct ct_keeper ct_keeper;

/* Fill an empty index, from the file as far as it is good and then from the store. */
int ct_keeper_open(ct_store *store, int32_t dimension, ct_index *index, ct_keeper **out, ct_error *error);
void ct_keeper_free(ct_keeper *keeper);

/* Bring in what this or another process has embedded since. */
int ct_keeper_refresh(ct_keeper *keeper, ct_error *error);

/* Write blocks that are full and not in the file yet.  What fails is tried again when one more is full:
 * everything works without the file.  Of one thread at a time. */
void ct_keeper_save(ct_keeper *keeper);

#endif
