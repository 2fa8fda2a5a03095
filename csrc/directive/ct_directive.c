#include "directive/ct_directive.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "directive/ct_form.h"
#include "directive/ct_form_weights.h"

_Static_assert(sizeof form_weights / sizeof *form_weights == CT_MARK_COUNT, "make_probe.py was not run");

int ct_directive_trusts(const char *role) {
    static const char *const trusted[] = {"user", "human", "system", "developer"};
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++)
        if (strcasecmp(role, trusted[i]) == 0) return 1;
    return 0;
}

void ct_directive_mean(const uint64_t *codes, size_t count, size_t bits, int8_t *mean) {
    for (size_t b = 0; b < bits; b++) {
        int64_t ones = 0;
        for (size_t t = 0; t < count; t++) ones += (int64_t)(codes[t * (bits / 64) + b / 64] >> (b % 64) & 1);
        double value = count ? 127.0 * (2.0 * (double)ones / (double)count - 1) : 0;
        mean[b] = (int8_t)lrint(value);
    }
}

int ct_directive_holds(const ct_sentence *sentence, const float *probe, const int8_t *mean, size_t bits) {
    int with_meaning = probe && mean;
    double score = with_meaning ? meaning_bias : form_bias;
    if (!sentence->marks) return 0;
    for (int i = 0; i < CT_MARK_COUNT; i++)
        if (sentence->marks >> i & 1) score += with_meaning ? form_weights[i].with_meaning : form_weights[i].alone;
    if (with_meaning) {
        double meaning = probe[bits];
        for (size_t b = 0; b < bits; b++) meaning += (double)probe[b] * mean[b] / 127;
        score += meaning_weight * meaning;
    }
    return score > 0;
}

double ct_directive_cosine(const int8_t *a, const int8_t *b, size_t bits) {
    int32_t dot = 0, aa = 0, bb = 0; /* 1024 values of at most 127 * 127 fit */
    for (size_t i = 0; i < bits; i++) {
        dot += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa && bb ? dot / sqrt((double)aa * bb) : 0;
}
