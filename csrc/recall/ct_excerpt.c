#include "recall/ct_excerpt.h"

#include <string.h>

#include "base/ct_utf8.h"

/* So far from the place that the tokens point at words are looked for, to either side. */
#define REACH_BYTES 1024
#define FOUND_MAX 128

/* A word's forms begin alike ("crack", "cracked"); so many bytes at its end may differ. */
#define ENDING_BYTES 2
#define BEGINNING_LEAST 4

typedef struct found {
    size_t start;
    size_t end;
    size_t word;
} found;

static int is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static int is_letter(char c) {
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Words are folded; of the text capitals of ASCII are. */
static int begins_with(const char *text, size_t bytes, const char *word) {
    size_t length = strlen(word), least = length;
    if (length > BEGINNING_LEAST) least = length - ENDING_BYTES > BEGINNING_LEAST ? length - ENDING_BYTES : BEGINNING_LEAST;
    if (least > bytes) return 0;
    for (size_t i = 0; i < least; i++)
        if (lower(text[i]) != word[i]) return 0;
    return 1;
}

static size_t word_end(const char *text, size_t bytes, size_t at) {
    while (at < bytes && is_letter(text[at])) at++;
    return at;
}

static size_t find(const char *text, size_t bytes, const ct_words *words, size_t from, size_t to, found *list) {
    size_t count = 0;
    for (size_t at = from; at < to && count < FOUND_MAX; at++) {
        int ascii = !(text[at] & 0x80);
        if (!is_letter(text[at]) || (ascii && at > 0 && is_letter(text[at - 1]))) continue;
        for (size_t w = 0; w < words->count; w++)
            if (begins_with(text + at, bytes - at, words->list[w])) {
                list[count++] = (found){at, word_end(text, bytes, at), w};
                break;
            }
    }
    return count;
}

/* Different words from list[first] on that fit a window; *last is the last of them. */
static size_t count_within(const found *list, size_t count, size_t first, size_t size, size_t *last) {
    uint64_t seen = 0;
    size_t different = 0;
    for (size_t i = first; i < count && list[i].end - list[first].start <= size; i++) {
        uint64_t bit = 1ull << list[i].word % 64;
        different += !(seen & bit);
        seen |= bit;
        *last = i;
    }
    return different;
}

size_t ct_excerpt_centre(const char *text, size_t bytes, const ct_words *words, size_t near, size_t size) {
    found list[FOUND_MAX];
    size_t from = near > REACH_BYTES ? near - REACH_BYTES : 0;
    size_t to = bytes - near > REACH_BYTES ? near + REACH_BYTES : bytes;
    size_t count = find(text, bytes, words, from, to, list), most = 0, centre = near, away = 0;
    for (size_t i = 0, last = i; i < count; i++) {
        size_t here = count_within(list, count, i, size, &last);
        size_t middle = (list[i].start + list[last].end) / 2;
        size_t distance = middle > near ? middle - near : near - middle;
        if (here < most || here == 0 || (here == most && distance >= away)) continue;
        most = here;
        centre = middle;
        away = distance;
    }
    return centre;
}

void ct_excerpt_lay(const char *text, size_t bytes, size_t centre, size_t size, size_t *start, size_t *end) {
    size_t first = centre > size / 2 ? centre - size / 2 : 0;
    if (first + size > bytes) first = bytes > size ? bytes - size : 0;
    size_t last = first + size < bytes ? first + size : bytes;
    while (first < last && ((unsigned char)text[first] & 0xc0) == 0x80) first++;
    last = ct_utf8_floor(text, bytes, last);
    if (first > 0)
        for (size_t at = first; at < first + size / 4 && at < last; at++)
            if (is_space(text[at - 1])) {
                first = at;
                break;
            }
    if (last < bytes)
        for (size_t at = last; at > first && at + size / 4 > last; at--)
            if (is_space(text[at])) {
                last = at;
                break;
            }
    while (first < last && is_space(text[first])) first++;
    while (last > first && is_space(text[last - 1])) last--;
    *start = first;
    *end = last;
}
