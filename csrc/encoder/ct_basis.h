/* Token vectors to binary codes: ct_token_basis as the encoder keeps it. */
#ifndef CT_BASIS_H
#define CT_BASIS_H

#include <stddef.h>
#include <stdint.h>

#include "ct.h"

typedef struct ct_basis {
    size_t dimension;
    size_t bits; /* 0: there is none */
    size_t vocabulary;
    float *offset;  /* [bits]: minus the mean's own projection */
    float *columns; /* [dimension][bits]: the rotation transposed, so that sums run side by side */
    float *prior;   /* [vocabulary] */
} ct_basis;

/* CT_MODEL when it does not fit a model of this dimension.  Free with ct_basis_free. */
int ct_basis_copy(const ct_token_basis *from, int32_t dimension, ct_basis *out, ct_error *error);
void ct_basis_free(ct_basis *basis);

/* projected[count][bits] of token vectors[count][dimension]. */
void ct_basis_project(const ct_basis *basis, const float *vectors, size_t count, float *projected);

/* code[bits / 64]: bit i is set when projected[i] is above 0. */
void ct_basis_code(const ct_basis *basis, const float *projected, uint64_t *code);

#endif
