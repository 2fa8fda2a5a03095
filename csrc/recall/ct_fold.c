#include "recall/ct_fold.h"

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"

/* Each character may be a word: "a?b?". */
#define WORDS_MAX CT_FOLD_BYTES

/* Folding makes no character longer; a question mark gets a space before it. */
#define ROOM_BYTES (2 * CT_FOLD_BYTES)

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct word {
    uint16_t at; /* in the folded bytes */
    uint16_t bytes;
    uint16_t from; /* in the part of the text */
    uint16_t stop; /* punctuation follows */
} word;

typedef struct folder {
    char folded[ROOM_BYTES];
    size_t used;
    word words[WORDS_MAX];
    size_t count;
    size_t end; /* in the text: what was folded */
    int open;   /* the last word may go on */
} folder;

/* ---- characters ---------------------------------------------------------------------------- */

typedef enum kind { WORD, SPACE, STOP, NOTHING, ASKS } kind;

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_alnum(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static kind kind_of_ascii(const char *text, size_t bytes, size_t at) {
    char c = text[at], before = at ? text[at - 1] : ' ', behind = at + 1 < bytes ? text[at + 1] : ' ';
    switch (c) {
    case '?': return ASKS;
    case '\'': return NOTHING; /* don't is dont */
    case '.': case ',': case ':': /* 8.5, 12:30 */
        return is_digit(before) && is_digit(behind) ? WORD : STOP;
    case '-': /* -5, 2026-05-01, --force, but not well-known */
        if (is_digit(before)) return is_digit(behind) ? WORD : STOP;
        return is_alnum(behind) && (before == ' ' || before == '\n' || before == '-') ? WORD : STOP;
    case '>': case '#': /* a quotation, a heading */
        return at == 0 || before == '\n' || before == c ? SPACE : WORD;
    case '!': case ';': case '(': case ')': case '[': case ']': case '{': case '}': case '\n': return STOP;
    case '"': case '*': case '_': case '`': case '~': case '|': return SPACE;
    default: return (unsigned char)c <= ' ' || c == 0x7f ? SPACE : WORD;
    }
}

static int within(uint32_t c, uint32_t first, uint32_t last) { return c >= first && c <= last; }

static kind kind_of(uint32_t c) {
    if (c == 0x37e || c == 0x61f || c == 0xff1f) return ASKS;
    if (c == 0x2019 || c == 0xad || within(c, 0x200b, 0x200f) || c == 0x2060 || c == 0xfeff) return NOTHING;
    if (within(c, 0x2010, 0x2027) || c == 0xa1 || c == 0xab || c == 0xbb || c == 0xbf || c == 0x60c ||
        c == 0x61b || c == 0x6d4 || c == 0x964 || within(c, 0x3001, 0x3002) || within(c, 0x3008, 0x3011) ||
        c == 0xff01 || within(c, 0xff08, 0xff09) || c == 0xff0c || within(c, 0xff1a, 0xff1b))
        return STOP;
    if (c == 0x85 || c == 0xa0 || c == 0x1680 || within(c, 0x2000, 0x200a) || within(c, 0x2028, 0x202f) ||
        c == 0x205f || c == 0x3000)
        return SPACE;
    return WORD;
}

/* Upper case of Latin, Greek and Cyrillic, as far as the lower case is as long in UTF-8. */
static uint32_t lower(uint32_t c) {
    if (within(c, 0xc0, 0xde) && c != 0xd7) return c + 0x20;
    if (within(c, 0x100, 0x12f) || within(c, 0x132, 0x137) || within(c, 0x14a, 0x177)) return c | 1;
    if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17e)) return c + (c & 1);
    if (within(c, 0x391, 0x3a9) || within(c, 0x410, 0x42f)) return c + 0x20;
    if (within(c, 0x400, 0x40f)) return c + 0x50;
    return c;
}

static void put(folder *to, const char *bytes, size_t count, size_t from) {
    if (!to->open) {
        if (to->used) to->folded[to->used++] = ' ';
        to->words[to->count++] = (word){.at = (uint16_t)to->used, .from = (uint16_t)from};
        to->open = 1;
    }
    memcpy(to->folded + to->used, bytes, count);
    to->used += count;
    to->words[to->count - 1].bytes = (uint16_t)(to->used - to->words[to->count - 1].at);
}

static void end_word(folder *to, int stop) {
    to->open = 0;
    if (to->count && stop) to->words[to->count - 1].stop = 1;
}

static void put_asking(folder *to, size_t from) {
    end_word(to, 1);
    int again = to->count && to->words[to->count - 1].bytes == 1 && to->folded[to->used - 1] == '?';
    if (!again) put(to, "?", 1, from);
    end_word(to, 1);
}

/* Fold the text from a place on, up to the end of the last whole word that fits. */
static void fold_from(folder *to, const char *text, size_t bytes, size_t from) {
    size_t most = bytes - from > CT_FOLD_BYTES ? CT_FOLD_BYTES : bytes - from;
    size_t end = from + ct_utf8_floor(text + from, bytes - from, most);
    to->used = to->count = 0;
    to->open = 0;
    if (end < bytes) {
        size_t cut = end;
        while (cut > from && text[cut - 1] != ' ' && text[cut - 1] != '\n') cut--;
        if (cut > from) end = cut;
    }
    to->end = end;
    for (size_t i = from; i < end;) {
        uint32_t point = (unsigned char)text[i];
        size_t length = 1;
        kind is = kind_of_ascii(text, bytes, i);
        char small[2] = {text[i], 0};
        if (point >= 0x80) {
            length = ct_utf8_decode((const unsigned char *)text + i, bytes - i, &point);
            if (!length) length = 1;
            is = kind_of(point);
        }
        switch (is) {
        case WORD:
            if (point < 0x80) {
                if (point >= 'A' && point <= 'Z') small[0] = (char)(point + ('a' - 'A'));
                put(to, small, 1, i - from);
            } else if (length == 2) {
                uint32_t folded = lower(point);
                small[0] = (char)(0xc0 | folded >> 6);
                small[1] = (char)(0x80 | (folded & 0x3f));
                put(to, small, 2, i - from);
            } else {
                put(to, text + i, length, i - from);
            }
            break;
        case ASKS: put_asking(to, i - from); break;
        case NOTHING: break;
        default: end_word(to, is == STOP);
        }
        i += length;
    }
}

/* ---- what does not count ------------------------------------------------------------------- */

typedef struct phrase {
    const char *words;
    int stop; /* only with punctuation behind it: "so" is more often part of a sentence */
} phrase;

/* Of several the longer goes first. */
static const phrase openings[] = {
    {"good afternoon", 0}, {"good evening", 0}, {"good morning", 0}, {"hello everyone", 0},
    {"hello there", 0}, {"hey everyone", 0}, {"hey there", 0}, {"hi everyone", 0}, {"hi there", 0},
    {"hello all", 0}, {"hi all", 0}, {"hello", 0}, {"hey", 0}, {"hi", 0},
    {"just a reminder that", 0}, {"just a reminder", 0}, {"a reminder", 1}, {"reminder", 1},
    {"once again", 1}, {"again", 1}, {"to repeat", 1}, {"by the way", 0}, {"btw", 0}, {"fyi", 0},
    {"for the record", 0}, {"just so you know", 0}, {"please note that", 0}, {"please note", 0},
    {"note that", 0}, {"note", 1}, {"okay", 1}, {"ok", 1}, {"so", 1}, {"well", 1}, {"oh", 1},
    {"also", 1}, {"anyway", 1}, {"please", 0}, {"thank you", 1}, {"thanks", 1},
};
static const phrase closings[] = {
    {"thanks again", 0}, {"thank you", 0}, {"thanks", 0}, {"please", 0}, {"by the way", 0}, {"btw", 0},
    {"fyi", 0},
};
#define CLOSING_WORDS 3
static const phrase asides[] = {
    {"as i already said", 0}, {"as i said", 0}, {"like i said", 0}, {"as i told you", 0},
    {"as i mentioned", 0}, {"like i mentioned", 0}, {"as mentioned", 0},
};
static const phrase aside_ends[] = {{"before", 0}, {"earlier", 0}, {"already", 0}, {"above", 0},
                                    {"previously", 0}};

/* Words that the phrase takes from the first-th on; 0: it is not there. */
static size_t match(const folder *of, size_t first, const phrase *wanted) {
    const char *rest = wanted->words;
    for (size_t i = first; i < of->count; i++) {
        size_t bytes = of->words[i].bytes;
        if (strncmp(rest, of->folded + of->words[i].at, bytes) != 0) return 0;
        rest += bytes;
        if (!*rest) return wanted->stop && !of->words[i].stop ? 0 : i + 1 - first;
        if (*rest++ != ' ') return 0;
    }
    return 0;
}

static size_t match_any(const folder *of, size_t first, const phrase *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (first == of->count || of->folded[of->words[first].at] != *list[i].words) continue;
        size_t words = match(of, first, &list[i]);
        if (words) return words;
    }
    return 0;
}

static size_t match_aside(const folder *of, size_t first) {
    size_t words = match_any(of, first, asides, COUNT(asides));
    if (words) words += match_any(of, first + words, aside_ends, COUNT(aside_ends));
    return words;
}

static size_t opening_words(const folder *of) {
    size_t words = 0, more;
    do {
        more = match_any(of, words, openings, COUNT(openings));
        if (!more) more = match_aside(of, words);
        words += more;
    } while (more);
    return words;
}

/* Where the words that count end, when those from the first-th on do. */
static size_t closing_start(const folder *of, size_t first) {
    size_t end = of->count;
    size_t start = end > first + CLOSING_WORDS ? end - CLOSING_WORDS : first;
    for (size_t i = start; i < end; i++)
        if (i + match_any(of, i, closings, COUNT(closings)) == end) return i;
    return end;
}

/* ---- what a text says of itself ------------------------------------------------------------ */

static const phrase referring[] = {
    {"yes", 0}, {"yeah", 0}, {"yep", 0}, {"no", 0}, {"nope", 0}, {"it", 0}, {"its", 0}, {"that", 0},
    {"thats", 0}, {"this", 0}, {"these", 0}, {"those", 0}, {"he", 0}, {"hes", 0}, {"she", 0},
    {"shes", 0}, {"they", 0}, {"theyre", 0},
};
static const phrase days[] = {{"today", 0}, {"tonight", 0}, {"tomorrow", 0}, {"yesterday", 0}, {"ago", 0}};
static const phrase pointing[] = {{"this", 0}, {"next", 0}, {"last", 0}, {"coming", 0}};
static const phrase periods[] = {
    {"morning", 0}, {"afternoon", 0}, {"evening", 0}, {"night", 0}, {"week", 0}, {"weekend", 0},
    {"month", 0}, {"year", 0}, {"spring", 0}, {"summer", 0}, {"autumn", 0}, {"winter", 0},
    {"monday", 0}, {"tuesday", 0}, {"wednesday", 0}, {"thursday", 0}, {"friday", 0}, {"saturday", 0},
    {"sunday", 0},
};

/* Some scripts have no spaces, and in most others a word takes fewer bytes. */
#define WORD_BYTES 8

static size_t words_in(const folder *of) {
    size_t long_words = of->used / WORD_BYTES;
    return of->count > long_words ? of->count : long_words;
}

static int holds_digit(const folder *of) {
    for (size_t i = 0; i < of->used; i++)
        if (is_digit(of->folded[i])) return 1;
    return 0;
}

static int is_dated(const folder *of) {
    for (size_t i = 0; i < of->count; i++) {
        if (match_any(of, i, days, COUNT(days))) return 1;
        if (match_any(of, i, pointing, COUNT(pointing)) && match_any(of, i + 1, periods, COUNT(periods)))
            return 1;
    }
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static uint64_t hash_of(const char *bytes, size_t count, uint64_t seed) {
    uint64_t hash = 0xcbf29ce484222325u ^ seed; /* FNV-1a */
    for (size_t i = 0; i < count; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

static char *reserve(ct_folds *folds, size_t bytes) {
    if (folds->capacity - folds->used < bytes) {
        size_t capacity = 2 * folds->capacity + bytes;
        char *grown = ct_realloc(folds->bytes, capacity);
        if (!grown) return NULL;
        folds->bytes = grown;
        folds->capacity = capacity;
    }
    return folds->bytes + folds->used;
}

int ct_fold(ct_folds *folds, const char *text, size_t bytes, ct_folded *out) {
    folder of;
    fold_from(&of, text, bytes, 0);
    ct_folded said = {.at = folds->used, .words = words_in(&of),
                      .refers = match_any(&of, 0, referring, COUNT(referring)) > 0,
                      .numbers = holds_digit(&of), .dated = is_dated(&of)};
    size_t first = opening_words(&of), end = closing_start(&of, first);
    if (first >= end) { /* a greeting is all there is */
        first = 0;
        end = of.count;
    } else if (first && of.end < bytes) {
        /* So that the part that is folded ends at the same word with and without a greeting. */
        fold_from(&of, text, bytes, of.words[first].from);
        first = 0;
        end = of.count;
    }
    char *to = reserve(folds, of.used + 1);
    if (!to) return -1;
    while (first < end) {
        size_t skipped = match_aside(&of, first);
        if (skipped && first + skipped <= end && skipped < of.count) {
            first += skipped;
            continue;
        }
        memcpy(to + said.bytes, of.folded + of.words[first].at, of.words[first].bytes);
        said.bytes += of.words[first].bytes;
        to[said.bytes++] = ' ';
        first++;
    }
    folds->used += said.bytes;
    said.tail = text + of.end;
    said.tail_bytes = bytes - of.end;
    said.hash = hash_of(to, said.bytes, said.tail_bytes);
    *out = said;
    return 0;
}

int ct_fold_equal(const ct_folds *folds, const ct_folded *a, const ct_folded *b) {
    return a->hash == b->hash && a->bytes == b->bytes && a->tail_bytes == b->tail_bytes &&
           memcmp(folds->bytes + a->at, folds->bytes + b->at, a->bytes) == 0 &&
           memcmp(a->tail, b->tail, a->tail_bytes) == 0;
}

void ct_folds_free(ct_folds *folds) {
    ct_free(folds->bytes);
    *folds = (ct_folds){0};
}
