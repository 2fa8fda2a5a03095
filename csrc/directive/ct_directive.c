#include "directive/ct_directive.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "directive/ct_form.h"
#include "directive/ct_form_weights.h"

_Static_assert(sizeof form_weights / sizeof *form_weights == CT_MARK_COUNT, "weights of other marks");

/* As models/make_probe.py has it. */
#define LEAST_SHARE 0.2

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

int ct_directive_holds(const ct_sentence *sentence, const float *probe, const float *vector, size_t dimension,
                       double share) {
    double score = probe ? meaning_bias : form_bias;
    if (!sentence->marks || sentence->withdraws) return 0;
    for (int i = 0; i < CT_MARK_COUNT; i++)
        if (sentence->marks >> i & 1) score += probe ? form_weights[i].with_meaning : form_weights[i].alone;
    if (probe && share >= LEAST_SHARE) {
        double meaning = probe[dimension];
        for (size_t i = 0; i < dimension; i++) meaning += (double)probe[i] * vector[i];
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

/* FNV-1a over the letters, in lower case. */
static int64_t hash_words(const char *text, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 'A' && byte <= 'Z') byte += 32;
        if (byte < 0x80 && !(byte >= 'a' && byte <= 'z') && !(byte >= '0' && byte <= '9')) continue;
        hash = (hash ^ byte) * 0x100000001b3u;
    }
    return (int64_t)hash;
}

void ct_directive_describe(const char *text, const ct_sentence *sentence, ct_directive_view *view) {
    view->kind = ct_form_kind(text + sentence->start, sentence->bytes);
    if (sentence->withdraws) view->kind |= CT_DIRECTIVE_LIFTS;
    view->hash = hash_words(text + sentence->start, sentence->bytes);
}

/* How alike two must be.  What lifts something has words of its own around it; what only says another
 * thing must say it of just the same, unless it says that something changes. */
#define ALIKE_LIFTED 0.52
#define ALIKE_CHANGED 0.65
#define ALIKE 0.80

int ct_directive_replaces(const ct_directive_view *newer, const ct_directive_view *older) {
    if (newer->hash == older->hash) return 1;
    if (newer->kind & older->kind & CT_DIRECTIVE_NAMES) return 1;
    if (!newer->mean || !older->mean || newer->bits != older->bits) return 0;
    double least = newer->kind & CT_DIRECTIVE_LIFTS     ? ALIKE_LIFTED
                   : newer->kind & CT_DIRECTIVE_CHANGES ? ALIKE_CHANGED
                                                        : ALIKE;
    return ct_directive_cosine(newer->mean, older->mean, newer->bits) >= least;
}
