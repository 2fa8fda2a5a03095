/* Text to unit vectors: prefix, tokens, chunks, one pass a chunk, pooling.  One model and context,
 * shared by any number of engines and threads; callers take turns, queries before backlog. */
#ifndef CT_ENCODER_H
#define CT_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef enum ct_urgency { CT_URGENCY_BACKLOG, CT_URGENCY_QUERY } ct_urgency;

/* What a pass over some tokens gives: `vector`, and one code for each that is not special. */
typedef struct ct_pass_value {
    float *vector;
    uint64_t *codes;
    size_t code_words; /* of all codes together */
} ct_pass_value;

/* Where these may be kept between runs.  get fills them and gives 1 when it has them. */
typedef struct ct_vector_cache {
    void *state;
    int (*get)(void *state, const int32_t *ids, size_t count, const ct_pass_value *value);
    void (*put)(void *state, const int32_t *ids, size_t count, const ct_pass_value *value);
    void (*close)(void *state);
} ct_vector_cache;

/* As ct_encoder_open.  Takes ownership of `cache` (may be NULL) on success. */
int ct_encoder_create(const ct_llama_api *api, const ct_encoder_options *options,
                      const ct_vector_cache *cache, ct_encoder **out, ct_error *error);

/* CT_FORKED when the encoder was made before a fork. */
int ct_encoder_check_owner(const ct_encoder *encoder, ct_error *error);

ct_encoder *ct_encoder_retain(ct_encoder *encoder);
const char *ct_encoder_fingerprint(const ct_encoder *encoder);

/* Whether a token stands for a word that the model does not know. */
int ct_encoder_is_unknown(const ct_encoder *encoder, int32_t id);

/* As ct_encoder_options has it, or NULL. */
const float *ct_encoder_probe(const ct_encoder *encoder);

/* The token ids of one text, cut into overlapping windows that fit one pass. */
typedef struct ct_chunks {
    int32_t *ids; /* without special tokens */
    size_t id_count;
    size_t count;  /* windows, at least 1 */
    size_t step;   /* ids from one window's start to the next */
    size_t window; /* ids in a full window */
} ct_chunks;

/* Free with ct_chunks_free.  `role` may be NULL; when given it stands before the text. */
int ct_encoder_chunk(ct_encoder *encoder, const char *role, const char *text, size_t bytes, int query,
                     ct_chunks *out, ct_error *error);
void ct_chunks_free(ct_chunks *chunks);

/* The token ids of chunk `index`. */
const int32_t *ct_chunks_ids(const ct_chunks *chunks, size_t index, size_t *count);

/* The unit vector of chunk `index` and the codes of its tokens, [as many as it has ids][bits / 64],
 * by one pass.  `codes` may be NULL; without a basis there are none. */
int ct_encoder_chunk_codes(ct_encoder *encoder, const ct_chunks *chunks, size_t index,
                           ct_urgency urgency, float *vector, uint64_t *codes, ct_error *error);

/* How many tokens a text has, without special tokens.  text: valid UTF-8. */
int ct_encoder_count(ct_encoder *encoder, const char *text, size_t bytes, size_t *count, ct_error *error);

/* Tokens from the start of one chunk to that of the next. */
size_t ct_encoder_step(const ct_encoder *encoder);

#endif
