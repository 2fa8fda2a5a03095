#include "recall/ct_fluency.h"

#include <math.h>
#include <string.h>

#include "base/ct_utf8.h"
#include "store/ct_store.h"
#include "text/ct_word_text.h"

/* Letters to a token, of words that the model does not and does know. */
#define LETTERS_UNKNOWN 1.2
#define LETTERS_KNOWN 2.5

/* Of a longer query the beginning stands for the rest. */
#define BYTES_MAX 2048

static int is_border(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\''; }

static int is_mark(char c) { return c && strchr(".,;:!?\"()[]{}<>*`", c); }

static size_t count_letters(const char *word, size_t bytes) {
    size_t letters = 0;
    for (size_t i = 0; i < bytes; i++) letters += ((unsigned char)word[i] & 0xC0) != 0x80;
    return letters;
}

/* Add a word's tokens, and how many of them are known: none of one that is meant to the letter. */
static int add_word(ct_encoder *encoder, const char *word, size_t bytes, int literal, double *tokens,
                    double *known, ct_error *error) {
    while (bytes && is_mark(word[0])) word++, bytes--;
    while (bytes && is_mark(word[bytes - 1])) bytes--;
    if (!bytes) return CT_OK;
    ct_chunks chunks;
    int status = ct_encoder_chunk(encoder, NULL, word, bytes, 0, &chunks, error);
    if (status) return status;
    double count = (double)chunks.id_count, unknown = 0;
    for (size_t i = 0; i < chunks.id_count; i++) unknown += ct_encoder_is_unknown(encoder, chunks.ids[i]);
    ct_chunks_free(&chunks);
    if (!(count > 0)) return CT_OK;
    double letters = (double)count_letters(word, bytes) / count;
    double part = (letters - LETTERS_UNKNOWN) / (LETTERS_KNOWN - LETTERS_UNKNOWN);
    double known_part = literal ? 0 : count > 1 ? fmin(fmax(part, 0), 1) : 1;
    *tokens += count;
    *known += (count - unknown) * known_part;
    return CT_OK;
}

static int is_literal(const ct_span *spans, size_t count, size_t start, size_t end) {
    for (size_t i = 0; i < count; i++)
        if (start < spans[i].start + spans[i].bytes && spans[i].start < end) return 1;
    return 0;
}

int ct_fluency_of(ct_encoder *encoder, const char *text, size_t bytes, double *out, ct_error *error) {
    double tokens = 0, known = 0;
    int status = CT_OK;
    ct_span spans[CT_PHRASES_MAX];
    bytes = ct_utf8_floor(text, bytes, BYTES_MAX);
    size_t span_count = ct_word_spans(text, bytes, spans, CT_PHRASES_MAX);
    for (size_t start = 0; !status && start < bytes;) {
        size_t end = start;
        while (end < bytes && !is_border(text[end])) end++;
        status = add_word(encoder, text + start, end - start, is_literal(spans, span_count, start, end),
                          &tokens, &known, error);
        start = end + 1;
    }
    if (!status) *out = tokens > 0 ? known / tokens : 1;
    return status;
}
