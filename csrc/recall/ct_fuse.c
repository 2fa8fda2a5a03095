#include "recall/ct_fuse.h"

#include <math.h>
#include <stdlib.h>

/* A hit's score is its cosine and its BM25 relative to the best match, in these shares.  The cosine
 * stays absolute, so that a query without an answer scores low. */
#define DENSE_SHARE 0.7
#define LEXICAL_SHARE 0.3

static int by_message(const void *a, const void *b) {
    const ct_fused_hit *x = a, *y = b;
    return (x->message_id > y->message_id) - (x->message_id < y->message_id);
}

static int by_score(const void *a, const void *b) {
    const ct_fused_hit *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->message_id < y->message_id) - (x->message_id > y->message_id);
}

size_t ct_fuse_merge(const ct_dense_hit *dense, size_t dense_count, const ct_lexical_hit *lexical,
                     size_t lexical_count, ct_fused_hit *out) {
    size_t count = 0;
    for (size_t i = 0; i < dense_count; i++)
        out[count++] = (ct_fused_hit){dense[i].message_id, 0, dense[i].score, NAN};
    qsort(out, dense_count, sizeof *out, by_message);
    for (size_t i = 0; i < lexical_count; i++) {
        ct_fused_hit hit = {lexical[i].message_id, 0, NAN, lexical[i].score};
        ct_fused_hit *same =
            dense_count ? bsearch(&hit, out, dense_count, sizeof *out, by_message) : NULL;
        if (same) same->lexical = hit.lexical;
        else out[count++] = hit;
    }
    return count;
}

void ct_fuse_rank(ct_fused_hit *hits, size_t count) {
    double best_lexical = 0, best_dense = 0;
    int any_dense = 0;
    for (size_t i = 0; i < count; i++) {
        if (hits[i].lexical > best_lexical) best_lexical = hits[i].lexical;
        if (isnan(hits[i].dense)) continue;
        any_dense = 1;
        if (hits[i].dense > best_dense) best_dense = hits[i].dense;
    }
    for (size_t i = 0; i < count; i++) {
        double lexical = hits[i].lexical > 0 ? hits[i].lexical / best_lexical : 0;
        /* What is not embedded yet is taken to mean as much as its words say. */
        double dense = isnan(hits[i].dense) ? lexical * best_dense : hits[i].dense;
        hits[i].score = any_dense ? DENSE_SHARE * dense + LEXICAL_SHARE * lexical : lexical;
    }
    qsort(hits, count, sizeof *hits, by_score);
    /* A cosine below 0 orders hits, but says no more than "nothing in common". */
    for (size_t i = 0; i < count; i++)
        if (hits[i].score < 0) hits[i].score = 0;
}
