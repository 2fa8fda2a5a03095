/* Any bytes as a text: the UTF-8 check never reads past the end, and what it passes is prepared for
 * the tokenizer without a fault and stays UTF-8. */
#include <stdint.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "encoder/ct_wordpiece_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    ct_utf8_verdict verdict = ct_utf8_check(text, size);
    size_t floor = ct_utf8_floor(text, size, size / 2);
    if (floor > size) abort();
    if (verdict >= CT_UTF8_NUL) return 0;
    char *out = NULL;
    size_t bytes = 0;
    if (ct_wordpiece_text(text, size, &out, &bytes)) abort();
    if (ct_utf8_check(out, bytes) >= CT_UTF8_NUL) abort();
    ct_free(out);
    return 0;
}
