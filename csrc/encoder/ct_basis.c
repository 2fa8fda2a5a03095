#include "encoder/ct_basis.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "simd/ct_simd.h"

int ct_basis_copy(const ct_token_basis *from, int32_t dimension, ct_basis *out, ct_error *error) {
    if (from->dimension != dimension)
        return ct_fail(error, CT_MODEL, "the token basis is for %d dimensions, the model has %d",
                       from->dimension, dimension);
    if (from->bits < 64 || from->bits > CT_CODE_BITS_MAX || from->bits % 64 || from->vocabulary < 1)
        return ct_fail(error, CT_MODEL, "a token basis of %d bits and %d tokens is not supported",
                       from->bits, from->vocabulary);
    ct_basis basis = {(size_t)dimension, (size_t)from->bits, (size_t)from->vocabulary, NULL, NULL, NULL};
    basis.offset = ct_alloc(basis.bits * sizeof *basis.offset);
    basis.columns = ct_alloc(basis.dimension * basis.bits * sizeof *basis.columns);
    basis.prior = ct_alloc(basis.vocabulary * sizeof *basis.prior);
    if (!basis.offset || !basis.columns || !basis.prior) {
        ct_basis_free(&basis);
        return ct_fail_nomem(error);
    }
    memcpy(basis.prior, from->prior, basis.vocabulary * sizeof *basis.prior);
    for (size_t b = 0; b < basis.bits; b++) {
        double sum = 0;
        for (size_t d = 0; d < basis.dimension; d++) {
            float value = from->rotation[b * basis.dimension + d];
            basis.columns[d * basis.bits + b] = value;
            sum += (double)value * from->mean[d];
        }
        basis.offset[b] = (float)-sum;
    }
    *out = basis;
    return CT_OK;
}

void ct_basis_free(ct_basis *basis) {
    ct_free(basis->offset);
    ct_free(basis->columns);
    ct_free(basis->prior);
    *basis = (ct_basis){0};
}

void ct_basis_project(const ct_basis *basis, const float *vectors, size_t count, float *projected) {
    for (size_t b = 0; b < basis->bits; b += CT_DENSE_PANEL)
        ct_simd()->dense->multiply(vectors, basis->dimension, basis->columns + b, basis->bits, basis->offset + b,
                                   projected + b, basis->bits, count, basis->dimension);
}

void ct_basis_code(const ct_basis *basis, const float *projected, uint64_t *code) {
    for (size_t w = 0; w < basis->bits / 64; w++) {
        uint64_t word = 0;
        for (size_t i = 0; i < 64; i++) word |= (uint64_t)(projected[w * 64 + i] > 0) << i;
        code[w] = word;
    }
}
