/* Any three texts as an older and a newer message and a question: they are read and compared without
 * a fault, words lie inside the text that holds them, and nothing supersedes what says the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ct_utf8.h"
#include "recall/ct_statement_pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const ct_statement *said) {
    if (said->count > CT_STATEMENT_WORDS) abort();
    for (size_t i = 0; i < said->count; i++) {
        const ct_stated_word *word = &said->words[i];
        const char *end = word->folded + word->bytes;
        if (word->folded < said->text || end >= said->text + sizeof said->text) abort();
        if (strlen(word->folded) != word->bytes || word->stem > word->bytes || !word->bytes) abort();
        if (ct_utf8_check(word->folded, word->bytes) != CT_UTF8_GOOD) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ct_statement said[3];
    const char *text = (const char *)data;
    for (size_t i = 0; i < 3; i++) {
        const char *end = size ? memchr(text, '|', size) : NULL;
        size_t bytes = end ? (size_t)(end - text) : size;
        if (bytes && ct_utf8_check(text, bytes) != CT_UTF8_GOOD) bytes = 0;
        ct_statement_read(text, bytes, &said[i]);
        check(&said[i]);
        if (end) {
            size -= (size_t)(end - text) + 1;
            text = end + 1;
        }
    }
    ct_statement_pair pair = ct_statement_compare(&said[0], &said[1], &said[2]);
    if (pair.changes && !pair.shared) abort();
    if (ct_statement_compare(&said[0], &said[0], &said[2]).changes) abort();
    return 0;
}
