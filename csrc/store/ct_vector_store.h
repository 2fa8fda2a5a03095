/* A file of vectors and token codes by token ids: the embedding cache, shared by stores and runs.  The
 * ids themselves are the key, so two texts never share a vector by accident. */
#ifndef CT_VECTOR_STORE_H
#define CT_VECTOR_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_vector_store ct_vector_store;

/* Vectors of other models in the same file are never seen. */
int ct_vector_store_open(const char *path, const char *fingerprint, int32_t dimension,
                         ct_vector_store **out, ct_error *error);
void ct_vector_store_close(ct_vector_store *store);

/* The vector of a passage, and `code_words` words of token codes. One caller at a time.  A cache that
 * fails is a miss; get may then have written over both. */
int ct_vector_store_get(ct_vector_store *store, const int32_t *ids, size_t count, float *vector,
                        uint64_t *codes, size_t code_words);
void ct_vector_store_put(ct_vector_store *store, const int32_t *ids, size_t count, const float *vector,
                         const uint64_t *codes, size_t code_words);

#endif
