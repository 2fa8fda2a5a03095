#include "index/ct_late.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "simd/ct_simd.h"

#define LEVELS (1 << CT_LATE_PLANES)

struct ct_late_query {
    size_t count;
    size_t words;
    float *factors;   /* [count]: from the integer sum to the cosine */
    uint64_t *planes; /* [count][CT_LATE_PLANES][words] */
    uint32_t *least;  /* [count], scratch */
};

/* Set the planes of one token and give its factor: the scale with which the coarse vector is nearest
 * to the token, over the length of a code. */
static float quantize(const float *vector, size_t bits, uint64_t *planes) {
    float largest = 0;
    double product = 0, square = 0;
    for (size_t i = 0; i < bits; i++) largest = fmaxf(largest, fabsf(vector[i]));
    if (!(largest > 0)) return 0;
    for (size_t i = 0; i < bits; i++) {
        int level = (int)floorf(vector[i] / largest * (LEVELS / 2)) + LEVELS / 2;
        if (level > LEVELS - 1) level = LEVELS - 1;
        for (size_t p = 0; p < CT_LATE_PLANES; p++)
            planes[p * (bits / 64) + i / 64] |= (uint64_t)(level >> p & 1) << i % 64;
        int value = 2 * level - (LEVELS - 1);
        product += (double)vector[i] * value;
        square += (double)value * value;
    }
    return (float)(product / square / sqrt((double)bits));
}

int ct_late_query_make(const float *vectors, size_t count, int32_t bits, ct_late_query **out,
                       ct_error *error) {
    ct_late_query *query = ct_alloc_zero(sizeof *query);
    if (!query) return ct_fail_nomem(error);
    query->count = count;
    query->words = (size_t)bits / 64;
    size_t token_words = CT_LATE_PLANES * query->words;
    query->factors = ct_alloc(count * sizeof *query->factors);
    query->planes = ct_alloc_zero(count * token_words * sizeof *query->planes);
    query->least = ct_alloc(count * sizeof *query->least);
    if (!query->factors || !query->planes || !query->least) {
        ct_late_query_free(query);
        return ct_fail_nomem(error);
    }
    for (size_t t = 0; t < count; t++) {
        const float *vector = vectors + t * (size_t)bits;
        query->factors[t] = quantize(vector, (size_t)bits, query->planes + t * token_words);
    }
    *out = query;
    return CT_OK;
}

void ct_late_query_free(ct_late_query *query) {
    if (!query) return;
    ct_free(query->factors);
    ct_free(query->planes);
    ct_free(query->least);
    ct_free(query);
}

void ct_late_best(const ct_late_query *query, const uint64_t *codes, size_t code_count, float *best) {
    if (code_count == 0) return;
    ct_simd()->late(query->planes, query->count, query->words, codes, code_count, query->least);
    int32_t most = (LEVELS - 1) * (int32_t)query->words * 64;
    for (size_t t = 0; t < query->count; t++) {
        float score = (float)(most - 2 * (int32_t)query->least[t]) * query->factors[t];
        if (score > best[t]) best[t] = score;
    }
}

int ct_late_scores(const float *vectors, size_t tokens, int32_t bits, const uint64_t *codes,
                   const size_t *counts, size_t messages, float *best, ct_error *error) {
    if (bits < 64 || bits > CT_CODE_BITS_MAX || bits % 64)
        return ct_fail(error, CT_INVALID, "codes of %d bits are not supported", bits);
    ct_late_query *query;
    int status = ct_late_query_make(vectors, tokens, bits, &query, error);
    if (status) return status;
    for (size_t m = 0; m < messages; m++) {
        for (size_t t = 0; t < tokens; t++) best[m * tokens + t] = -1;
        ct_late_best(query, codes, counts[m], best + m * tokens);
        codes += counts[m] * ((size_t)bits / 64);
    }
    ct_late_query_free(query);
    return CT_OK;
}
