/* Finds the directives of a message while its chunks are embedded. */
#ifndef CT_JUDGE_H
#define CT_JUDGE_H

#include "directive/ct_directive.h"
#include "encoder/ct_encoder.h"
#include "store/ct_store.h"

/* A message's sentences that may be directives, and where their tokens stand. */
typedef struct ct_judge {
    size_t count;
    ct_sentence sentences[CT_SENTENCES_MAX];
    size_t first[CT_SENTENCES_MAX]; /* token of the message */
    size_t end[CT_SENTENCES_MAX];
    size_t found_count; /* in the chunks looked at since ct_judge_clear */
    ct_new_directive found[CT_SENTENCES_MAX];
    int8_t *means; /* [CT_SENTENCES_MAX][bits], of those found */
    size_t bits;
} ct_judge;

/* Of a message whose role may not give directives there are none.  Free with ct_judge_free. */
int ct_judge_open(ct_encoder *encoder, const ct_pending *message, const ct_chunks *chunks, ct_judge *out,
                  ct_error *error);
void ct_judge_free(ct_judge *judge);

void ct_judge_clear(ct_judge *judge);

/* Look at the sentences that begin in chunk `index`, of that vector and those token codes. */
void ct_judge_chunk(ct_judge *judge, const ct_encoder *encoder, const ct_pending *message, const ct_chunks *chunks,
                    size_t index, const float *vector, const uint64_t *codes);

#endif
