/* Any bytes as a text: the UTF-8 check never reads past the end; what it passes is prepared for the
 * tokenizer and for the full-text index without a fault and stays UTF-8, within the bound of the
 * latter, and the spans of a query lie in it. */
#include <stdint.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "encoder/ct_wordpiece_text.h"
#include "text/ct_word_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const char *text, size_t size) {
    char *out = NULL;
    size_t bytes = 0;
    ct_span spans[4];
    if (ct_word_text(text, size, &out, &bytes)) abort();
    if (bytes > 4 * size) abort();
    if (ct_utf8_check(out, bytes) == CT_UTF8_MALFORMED) abort();
    ct_free(out);
    size_t count = ct_word_spans(text, size, spans, 4);
    for (size_t i = 0; i < count; i++)
        if (spans[i].start > size || spans[i].bytes > size - spans[i].start) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ct_utf8_verdict verdict = ct_utf8_check(text, size);
    size_t floor = ct_utf8_floor(text, size, size / 2);
    if (floor > size) abort();
    check_words(text, size);
    if (verdict >= CT_UTF8_NUL) return 0;
    char *out = NULL;
    size_t bytes = 0;
    if (ct_wordpiece_text(text, size, &out, &bytes)) abort();
    if (ct_utf8_check(out, bytes) >= CT_UTF8_NUL) abort();
    ct_free(out);
    return 0;
}
