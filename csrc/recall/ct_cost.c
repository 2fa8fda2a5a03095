#include "recall/ct_cost.h"

#include "base/ct_utf8.h"

/* A text is counted in parts, so that of a long one no more is than is asked for. */
#define PART_BYTES 8192

static int is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

size_t ct_cost_part(const char *text, size_t bytes, size_t start, size_t most) {
    if (bytes - start <= most) return bytes;
    size_t end = start + ct_utf8_floor(text + start, bytes - start, most);
    for (size_t at = end; at > start + most / 2; at--)
        if (is_space(text[at - 1])) return at;
    return end;
}

int ct_cost_tokens(ct_encoder *encoder, const char *text, size_t bytes, size_t most, size_t *tokens,
                   ct_error *error) {
    *tokens = 0;
    for (size_t start = 0, end; start < bytes && *tokens <= most; start = end) {
        size_t some = 0;
        end = ct_cost_part(text, bytes, start, PART_BYTES);
        int status = ct_encoder_count(encoder, text + start, end - start, &some, error);
        if (status) return status;
        size_t least = (end - start) / CT_COST_TOKEN_BYTES;
        *tokens += some > least ? some : least;
    }
    return CT_OK;
}
