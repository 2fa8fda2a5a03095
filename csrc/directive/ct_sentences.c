/* A message's sentences, without what it quotes. */
#include <string.h>

#include "directive/ct_directive.h"
#include "directive/ct_form.h"

/* Of a longer text the beginning: what somebody pastes is no order. */
#define TEXT_BYTES_MAX (16u << 10)

/* A line at least so long may go on in the next. */
#define WRAP_BYTES 60

static int starts_with(const char *text, size_t bytes, const char *what) {
    size_t length = strlen(what);
    return length <= bytes && memcmp(text, what, length) == 0;
}

static size_t line_end(const char *text, size_t bytes, size_t at) {
    while (at < bytes && text[at] != '\n') at++;
    return at;
}

static size_t skip_blanks(const char *text, size_t bytes, size_t at) {
    while (at < bytes && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) at++;
    return at;
}

/* Past the mark of a list's entry, if there is one at `at`. */
static size_t skip_bullet(const char *text, size_t bytes, size_t at) {
    size_t digits = at;
    while (digits < bytes && text[digits] >= '0' && text[digits] <= '9') digits++;
    if (digits > at && digits + 1 < bytes && (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ')
        return digits + 2;
    if (at + 1 < bytes && strchr("-*+", text[at]) && text[at] && text[at + 1] == ' ') return at + 2;
    return starts_with(text + at, bytes - at, "•") ? at + 3 : at;
}

/* Past lines that are code or quoted, from the start of a line on. */
static size_t skip_quoted_lines(const char *text, size_t bytes, size_t at) {
    while (at < bytes) {
        size_t start = skip_blanks(text, bytes, at);
        const char *fence = starts_with(text + start, bytes - start, "```")   ? "```"
                            : starts_with(text + start, bytes - start, "~~~") ? "~~~"
                                                                              : NULL;
        if (fence) {
            do at = line_end(text, bytes, at) + 1;
            while (at < bytes && !starts_with(text + skip_blanks(text, bytes, at), bytes - skip_blanks(text, bytes, at), fence));
            at = at < bytes ? line_end(text, bytes, at) + 1 : bytes;
        } else if (start < bytes && text[start] == '>') {
            at = line_end(text, bytes, at) + 1;
        } else {
            break;
        }
    }
    return at < bytes ? at : bytes;
}

/* Whether the full stop at `at` ends no sentence: "Dr.", "J.", "e.g.". */
static int is_abbreviation(const char *text, size_t start, size_t at) {
    static const char *const known[] = {"Dr", "Mr", "Mrs", "Ms", "Prof", "St", "e.g", "i.e", "vs", "No", NULL};
    size_t word = at;
    while (word > start && text[word - 1] != ' ' && text[word - 1] != '\n') word--;
    if (at - word == 1 && text[word] >= 'A' && text[word] <= 'Z' && text[word] != 'I') return 1;
    for (size_t i = 0; known[i]; i++)
        if (strlen(known[i]) == at - word && memcmp(text + word, known[i], at - word) == 0) return 1;
    return 0;
}

/* The length of the mark at `at` if it ends the sentence that began at `start`. */
static size_t stop_mark(const char *text, size_t bytes, size_t start, size_t at) {
    static const char *const wide[] = {"。", "！", "？", "।", NULL};
    for (size_t i = 0; wide[i]; i++)
        if (starts_with(text + at, bytes - at, wide[i])) return strlen(wide[i]);
    if (text[at] != '.' && text[at] != '!' && text[at] != '?') return 0;
    if (text[at] == '.' && is_abbreviation(text, start, at)) return 0;
    size_t end = at;
    while (end < bytes && text[end] && strchr(".!?", text[end])) end++;
    return end == bytes || strchr(" \t\r\n\")", text[end]) ? end - at : 0;
}

/* Whether the line break at `at` ends the sentence. */
static int is_hard_break(const char *text, size_t bytes, size_t line, size_t at) {
    size_t next = skip_blanks(text, bytes, at + 1);
    if (at - line < WRAP_BYTES || next >= bytes || text[next] == '\n' || text[next] == '>') return 1;
    return skip_bullet(text, bytes, next) != next || starts_with(text + next, bytes - next, "```");
}

/* The end of the sentence that begins at `start`. */
static size_t sentence_end(const char *text, size_t bytes, size_t start) {
    size_t line = start, at = start;
    while (at < bytes) {
        size_t quote = at > start && text[at] == '"' && text[at - 1] != ' ' && text[at - 1] != '('
                           ? 0
                           : ct_form_quote(text + at, bytes - at);
        if (quote) {
            at += quote;
            continue;
        }
        size_t stop = stop_mark(text, bytes, start, at);
        if (stop) return at + stop;
        if (text[at] == '\n') {
            if (is_hard_break(text, bytes, line, at)) return at;
            line = at + 1;
        }
        at++;
    }
    return bytes;
}

int ct_sentence_next(const char *text, size_t bytes, ct_sentence_reader *at, size_t *start, size_t *end) {
    size_t from = at->next;
    if (!at->is_inside) from = skip_quoted_lines(text, bytes, from);
    from = skip_blanks(text, bytes, from);
    if (!at->is_inside && from < bytes) from = skip_blanks(text, bytes, skip_bullet(text, bytes, from));
    if (from >= bytes) return 0;
    *start = from;
    *end = sentence_end(text, bytes, from);
    at->is_inside = *end >= bytes || text[*end] != '\n';
    at->next = *end + (!at->is_inside || *end == from);
    return 1;
}

size_t ct_directive_sentences(const char *text, size_t bytes, ct_sentence *out, size_t capacity) {
    size_t count = 0, start, end;
    ct_sentence_reader at = {0};
    if (bytes > TEXT_BYTES_MAX) {
        /* Whole sentences only: what is cut may go on otherwise. */
        bytes = TEXT_BYTES_MAX;
        while (bytes && text[bytes - 1] != '\n' && text[bytes - 1] != ' ') bytes--;
    }
    while (count < capacity && ct_sentence_next(text, bytes, &at, &start, &end)) {
        ct_sentence sentence = {.start = start, .bytes = end - start};
        if (end > start) ct_form_read(text + start, end - start, &sentence);
        if (sentence.marks || sentence.withdraws) out[count++] = sentence;
    }
    return count;
}
