/* BERT's forward pass (Devlin et al., NAACL 2019), for the encoders of that family in GGUF files:
 * absolute positions, layer norm behind each block, GELU.  Results agree with llama.cpp's to the
 * rounding of eight-bit products, or of floats where the CPU has no instructions for those. */
#ifndef CT_BERT_H
#define CT_BERT_H

#include "ct.h"

/* In a forked child nothing is freed: the threads are the parent's. */
void ct_bert_close(ct_bert *bert);

int32_t ct_bert_dimension(const ct_bert *bert);
int32_t ct_bert_most_tokens(const ct_bert *bert);

/* One pass over 1 to most_tokens ids.  *vectors, [count][dimension], holds until the next pass.
 * Callers take turns. */
int ct_bert_run(ct_bert *bert, const int32_t *ids, size_t count, const float **vectors, ct_error *error);

#endif
