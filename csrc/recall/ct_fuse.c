#include "recall/ct_fuse.h"

#include <math.h>
#include <stdlib.h>

/* Share of the words in the fused score; the rest is meaning's. */
#define LEXICAL_WEIGHT 0.6

static int by_message(const void *a, const void *b) {
    const ct_fused_hit *x = a, *y = b;
    return (x->message_id > y->message_id) - (x->message_id < y->message_id);
}

static int by_score(const void *a, const void *b) {
    const ct_fused_hit *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->message_id < y->message_id) - (x->message_id > y->message_id);
}

/* Where value lies between the list's floor and its best, 0 to 1. */
static double share(double value, double floor, double best) {
    if (isnan(value) || value <= floor) return 0;
    return best > floor ? (value - floor) / (best - floor) : 1;
}

size_t ct_fuse(const ct_dense_hit *dense, size_t dense_count, const ct_lexical_hit *lexical,
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
    double best_dense = dense_count ? dense[0].score : 0;
    double best_lexical = lexical_count ? lexical[0].score : 0;
    double lexical_weight = !lexical_count ? 0 : !dense_count ? 1 : LEXICAL_WEIGHT;
    for (size_t i = 0; i < count; i++)
        out[i].score = lexical_weight * share(out[i].lexical, 0, best_lexical) +
                       (1 - lexical_weight) * share(out[i].dense, 0, best_dense);
    qsort(out, count, sizeof *out, by_score);
    return count;
}
