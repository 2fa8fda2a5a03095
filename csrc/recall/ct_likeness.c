#include "recall/ct_likeness.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "simd/ct_simd.h"

int ct_likeness_prefix(ct_encoder *encoder, const char *role, size_t *count, ct_error *error) {
    ct_chunks chunks;
    int status = ct_encoder_chunk(encoder, role, "", 0, 0, &chunks, error);
    if (status) return status;
    *count = chunks.id_count;
    ct_chunks_free(&chunks);
    return CT_OK;
}

int ct_likeness_make(const uint64_t *codes, size_t count, size_t prefix, size_t words, ct_likeness *out) {
    *out = (ct_likeness){0};
    if (count <= prefix || count - prefix > CT_LIKENESS_TOKENS) return CT_OK;
    size_t tokens = count - prefix, code_bytes = words * sizeof *codes;
    out->codes = ct_alloc(tokens * code_bytes);
    out->planes = ct_alloc(tokens * CT_LATE_PLANES * code_bytes);
    if (!out->codes || !out->planes) {
        ct_likeness_free(out);
        return CT_NOMEM;
    }
    out->count = tokens;
    memcpy(out->codes, codes + prefix * words, tokens * code_bytes);
    /* Planes that are all alike make a token of one bit a dimension. */
    for (size_t t = 0; t < tokens; t++)
        for (size_t p = 0; p < CT_LATE_PLANES; p++)
            memcpy(out->planes + (t * CT_LATE_PLANES + p) * words, out->codes + t * words, code_bytes);
    return CT_OK;
}

void ct_likeness_free(ct_likeness *likeness) {
    ct_free(likeness->codes);
    ct_free(likeness->planes);
    *likeness = (ct_likeness){0};
}

static double nearness(const ct_likeness *a, const ct_likeness *b, size_t words) {
    uint32_t least[CT_LIKENESS_TOKENS];
    uint64_t sum = 0;
    ct_simd()->late(a->planes, a->count, words, b->codes, b->count, least);
    for (size_t t = 0; t < a->count; t++) sum += least[t];
    double bits = 64.0 * (double)words * ((1 << CT_LATE_PLANES) - 1);
    return 1 - 2 * (double)sum / (bits * (double)a->count);
}

double ct_likeness_of(const ct_likeness *a, const ct_likeness *b, size_t words) {
    if (!a->count || !b->count) return -1;
    return fmax(nearness(a, b, words), nearness(b, a, words));
}
