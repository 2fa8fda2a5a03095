/* Any two texts: folding stays within its room and within the text, a text says the same as itself
 * in capitals, and equal texts are equal both ways. */
#include <stdint.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "recall/ct_fold.h"
#include "recall/ct_question.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fold(ct_folds *folds, const char *text, size_t bytes, ct_folded *out) {
    if (ct_fold(folds, text, bytes, out)) abort();
    if (out->tail + out->tail_bytes != text + bytes || out->at + out->bytes != folds->used) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ct_folds folds = {0};
    ct_folded whole, half, again;
    size_t middle = ct_utf8_floor(text, size, size / 2);
    if (!size || ct_utf8_check(text, size) != CT_UTF8_GOOD || !middle) return 0;
    ct_question_ends(text, size);
    char *shout = ct_copy(text, size);
    if (!shout) abort();
    for (size_t i = 0; i < size; i++)
        if (shout[i] >= 'a' && shout[i] <= 'z') shout[i] = (char)(shout[i] - 'a' + 'A');
    fold(&folds, text, size, &whole);
    fold(&folds, text, middle, &half);
    fold(&folds, shout, size, &again);
    int capitals_in_tail = whole.tail_bytes && memcmp(whole.tail, again.tail, whole.tail_bytes) != 0;
    if (!capitals_in_tail && !ct_fold_equal(&folds, &whole, &again)) abort();
    if (ct_fold_equal(&folds, &whole, &half) != ct_fold_equal(&folds, &half, &whole)) abort();
    ct_free(shout);
    ct_folds_free(&folds);
    return 0;
}
