/* llama.cpp's own preparation of text for BERT differs from the one models were trained with: it
 * replaces a character by the first of its decomposition, which leaves Hangul its initial consonants
 * only; it removes spacing vowel signs as if they were accents, which guts Indic scripts; it removes
 * and splits at characters newer than the trained tokenizer knows; and it takes U+2581 within a word
 * for the start of one.  So its preparation is switched off and done here.
 *
 * Rejected: looking up the word pieces here too.  With words prepared, llama.cpp finds the same. */
#include "encoder/ct_wordpiece_text.h"

#include <stdint.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "ct.h"
#include "encoder/ct_unicode_tables.h"

/* BERT gives up on longer words; this also bounds the time spent on one. */
#define WORD_CHARACTERS 100

/* Stands for what no vocabulary holds: an Egyptian hieroglyph. */
#define UNKNOWN_CHARACTER 0x13000u

/* At most: a character that splits in three, and a space on either side. */
#define STEP_BYTES 16

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct writer {
    char *text;
    size_t bytes;
    size_t capacity;
    size_t word_at;    /* where the current word begins */
    size_t word_count; /* characters in it */
} writer;

static int kind_of_ascii(uint32_t c) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return CT_SPACE;
    if (c < ' ' || c == 0x7f) return CT_DROP;
    int word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return word ? CT_PLAIN : CT_ALONE;
}

static int kind_of(uint32_t c) {
    if (c < 0x80) return kind_of_ascii(c);
    size_t low = 0, high = COUNT(ct_unicode_kinds);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const ct_unicode_kind *entry = &ct_unicode_kinds[middle];
        if (c > entry->last) low = middle + 1;
        else if (c < entry->first) high = middle;
        else return (int)entry->kind;
    }
    return CT_PLAIN;
}

static int find_shift(uint32_t c, uint32_t *folded) {
    size_t low = 0, high = COUNT(ct_unicode_shifts);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const ct_unicode_shift *entry = &ct_unicode_shifts[middle];
        if (c > entry->last) low = middle + 1;
        else if (c < entry->first) high = middle;
        else {
            if ((c - entry->first) % entry->step) return 0;
            *folded = (uint32_t)((int32_t)c + entry->delta);
            return 1;
        }
    }
    return 0;
}

static const ct_unicode_split *find_split(uint32_t c) {
    for (size_t i = 0; i < COUNT(ct_unicode_splits) && ct_unicode_splits[i].point <= c; i++)
        if (ct_unicode_splits[i].point == c) return &ct_unicode_splits[i];
    return NULL;
}

/* Decompose, strip accents and lower-case one character.  Returns how many there are then. */
static size_t fold(uint32_t c, uint32_t folded[3]) {
    folded[0] = c;
    if (c < 0x80) {
        if (c >= 'A' && c <= 'Z') folded[0] = c + ('a' - 'A');
        return 1;
    }
    if (c >= 0xac00 && c <= 0xd7a3) {
        uint32_t syllable = c - 0xac00, final = syllable % 28;
        folded[0] = 0x1100 + syllable / (21 * 28);
        folded[1] = 0x1161 + syllable / 28 % 21;
        folded[2] = 0x11a7 + final;
        return final ? 3 : 2;
    }
    if (find_shift(c, &folded[0])) return 1;
    const ct_unicode_split *split = find_split(c);
    if (!split) return 1;
    memcpy(folded, split->into, sizeof split->into);
    return folded[2] ? 3 : 2;
}

static void put(writer *to, uint32_t c) {
    char *p = to->text + to->bytes;
    if (c < 0x80) {
        *p++ = (char)c;
    } else if (c < 0x800) {
        *p++ = (char)(0xc0 | c >> 6);
        *p++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *p++ = (char)(0xe0 | c >> 12);
        *p++ = (char)(0x80 | (c >> 6 & 0x3f));
        *p++ = (char)(0x80 | (c & 0x3f));
    } else {
        *p++ = (char)(0xf0 | c >> 18);
        *p++ = (char)(0x80 | (c >> 12 & 0x3f));
        *p++ = (char)(0x80 | (c >> 6 & 0x3f));
        *p++ = (char)(0x80 | (c & 0x3f));
    }
    to->bytes = (size_t)(p - to->text);
    to->word_count++;
}

static void end_word(writer *to) {
    if (to->word_count == 0) return;
    if (to->word_count > WORD_CHARACTERS) {
        to->bytes = to->word_at;
        put(to, UNKNOWN_CHARACTER);
    }
    to->text[to->bytes++] = ' ';
    to->word_at = to->bytes;
    to->word_count = 0;
}

static void put_folded(writer *to, uint32_t c) {
    switch (kind_of(c)) {
    case CT_DROP: return;
    case CT_SPACE: end_word(to); return;
    case CT_ALONE:
        end_word(to);
        put(to, c);
        end_word(to);
        return;
    case CT_FOREIGN: put(to, UNKNOWN_CHARACTER); return;
    default: put(to, c);
    }
}

static int make_room(writer *to) {
    if (to->capacity - to->bytes >= STEP_BYTES) return 0;
    size_t capacity = to->capacity + to->capacity / 2 + STEP_BYTES;
    if (capacity < to->capacity) return CT_NOMEM;
    char *grown = ct_realloc(to->text, capacity);
    if (!grown) return CT_NOMEM;
    to->text = grown;
    to->capacity = capacity;
    return 0;
}

int ct_wordpiece_text(const char *utf8, size_t n, char **out, size_t *out_n) {
    const unsigned char *p = (const unsigned char *)utf8;
    writer to = {0};
    if (n > SIZE_MAX / 4) return CT_NOMEM;
    to.capacity = n + n / 4 + STEP_BYTES;
    to.text = ct_alloc(to.capacity);
    if (!to.text) return CT_NOMEM;
    for (size_t i = 0; i < n;) {
        uint32_t point, folded[3];
        size_t length = ct_utf8_decode(p + i, n - i, &point);
        if (!length) {
            i++;
            continue;
        }
        i += length;
        if (make_room(&to)) {
            ct_free(to.text);
            return CT_NOMEM;
        }
        size_t count = fold(point, folded);
        for (size_t k = 0; k < count; k++) put_folded(&to, folded[k]);
    }
    end_word(&to);
    if (to.bytes) to.bytes--; /* the space after the last word */
    *out = to.text;
    *out_n = to.bytes;
    return 0;
}
