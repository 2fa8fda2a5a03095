#include "text/ct_word_text.h"

#include <stdint.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "ct.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Longer runs of letters and digits are data (base64, hashes), not names. */
#define IDENTIFIER_BYTES 64

/* Bytes of output for one of input, see ct_word_text. */
#define GROWTH 4

typedef struct writer {
    char *text;
    size_t bytes;
} writer;

static void put(writer *to, const char *bytes, size_t count) {
    memcpy(to->text + to->bytes, bytes, count);
    to->bytes += count;
}

static void put_space(writer *to) {
    if (to->bytes && to->text[to->bytes - 1] != ' ') to->text[to->bytes++] = ' ';
}

/* ---- scripts without spaces ---------------------------------------------------------------- */

/* Pairs never span two kinds. */
typedef enum kind {
    OTHER = 0,
    CJK, /* Han and kana, which mix inside a word */
    HANGUL,
    THAI,
    LAO,
    KHMER,
    MYANMAR,
    MARK,  /* belongs to the character before it */
    JOINS, /* so does the one after it: a stacked consonant */
} kind;

typedef struct range {
    uint32_t first;
    uint32_t last : 24;
    uint32_t kind : 8;
} range;

/* Sorted.  Scripts by Unicode's Script property, marks by Grapheme_Cluster_Break (Unicode 15); their
 * digits and punctuation are left to the tokenizer. */
static const range ranges[] = {
    {0x0e01, 0x0e30, THAI},      {0x0e31, 0x0e31, MARK},      {0x0e32, 0x0e32, THAI},
    {0x0e33, 0x0e3a, MARK},      {0x0e40, 0x0e46, THAI},      {0x0e47, 0x0e4e, MARK},
    {0x0e81, 0x0eb0, LAO},       {0x0eb1, 0x0eb1, MARK},      {0x0eb2, 0x0eb2, LAO},
    {0x0eb3, 0x0ebc, MARK},      {0x0ebd, 0x0ec6, LAO},       {0x0ec8, 0x0ece, MARK},
    {0x0edc, 0x0edf, LAO},       {0x1000, 0x102a, MYANMAR},   {0x102b, 0x1038, MARK},
    {0x1039, 0x1039, JOINS},     {0x103a, 0x103e, MARK},      {0x103f, 0x103f, MYANMAR},
    {0x1050, 0x1055, MYANMAR},   {0x1056, 0x1059, MARK},      {0x105a, 0x105d, MYANMAR},
    {0x105e, 0x1060, MARK},      {0x1061, 0x1061, MYANMAR},   {0x1062, 0x1064, MARK},
    {0x1065, 0x1066, MYANMAR},   {0x1067, 0x106d, MARK},      {0x106e, 0x1070, MYANMAR},
    {0x1071, 0x1074, MARK},      {0x1075, 0x1081, MYANMAR},   {0x1082, 0x108d, MARK},
    {0x108e, 0x108e, MYANMAR},   {0x108f, 0x108f, MARK},      {0x109a, 0x109d, MARK},
    {0x1100, 0x115f, HANGUL},    {0x1160, 0x11ff, MARK},      {0x1780, 0x17b3, KHMER},
    {0x17b4, 0x17d1, MARK},      {0x17d2, 0x17d2, JOINS},     {0x17d3, 0x17d3, MARK},
    {0x17d7, 0x17d7, KHMER},     {0x17dc, 0x17dc, KHMER},     {0x17dd, 0x17dd, MARK},
    {0x2e80, 0x2fd5, CJK},       {0x3005, 0x3007, CJK},       {0x3021, 0x3029, CJK},
    {0x3031, 0x3035, CJK},       {0x3038, 0x303b, CJK},       {0x3041, 0x3096, CJK},
    {0x3099, 0x309a, MARK},      {0x309d, 0x309f, CJK},       {0x30a1, 0x30fa, CJK},
    {0x30fc, 0x30ff, CJK},       {0x3105, 0x312f, CJK},       {0x3131, 0x318e, HANGUL},
    {0x31a0, 0x31bf, CJK},       {0x31f0, 0x31ff, CJK},       {0x3400, 0x4dbf, CJK},
    {0x4e00, 0x9fff, CJK},       {0xa960, 0xa97c, HANGUL},    {0xa9e0, 0xa9e4, MYANMAR},
    {0xa9e5, 0xa9e5, MARK},      {0xa9e6, 0xa9ef, MYANMAR},   {0xa9fa, 0xa9fe, MYANMAR},
    {0xaa60, 0xaa76, MYANMAR},   {0xaa7a, 0xaa7a, MYANMAR},   {0xaa7b, 0xaa7d, MARK},
    {0xaa7e, 0xaa7f, MYANMAR},   {0xac00, 0xd7a3, HANGUL},    {0xd7b0, 0xd7fb, MARK},
    {0xf900, 0xfad9, CJK},       {0xff66, 0xff9d, CJK},       {0xff9e, 0xff9f, MARK},
    {0x1aff0, 0x1b16f, CJK},     {0x20000, 0x323af, CJK},
};

static kind kind_of(uint32_t c) {
    if (c < ranges[0].first) return OTHER;
    size_t low = 0, high = COUNT(ranges);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > ranges[middle].last) low = middle + 1;
        else if (c < ranges[middle].first) high = middle;
        else return (kind)ranges[middle].kind;
    }
    return OTHER;
}

static int is_unspaced(kind k) { return k >= CJK && k <= MYANMAR; }

/* Bytes of the character at p as a reader sees it, with its marks; 0 when it is not of the kind. */
static size_t cluster(const unsigned char *p, size_t left, kind wanted) {
    size_t bytes = 0;
    int joined = 0;
    while (bytes < left) {
        uint32_t c;
        size_t length = ct_utf8_decode(p + bytes, left - bytes, &c);
        kind k = length ? kind_of(c) : OTHER;
        int belongs = bytes == 0 ? k == wanted : k == MARK || k == JOINS || (joined && k == wanted);
        if (!belongs) break;
        joined = k == JOINS;
        bytes += length;
    }
    return bytes;
}

/* Hiragana are mostly endings and particles, whose pairs say nothing. */
static int is_hiragana(const unsigned char *p) { return p[0] == 0xe3 && (p[1] == 0x81 || (p[1] == 0x82 && p[2] < 0xa0)); }

/* "ABC" as "A AB B BC C": pairs alone miss words of one character.  Returns the bytes of the run. */
static size_t put_pairs(writer *to, const unsigned char *p, size_t left, kind k) {
    size_t at = 0, first = cluster(p, left, k);
    while (first) {
        size_t second = cluster(p + at + first, left - at - first, k);
        put_space(to);
        put(to, (const char *)p + at, first);
        put_space(to);
        if (second && !is_hiragana(p + at) && !is_hiragana(p + at + first)) put(to, (const char *)p + at, first + second);
        at += first;
        first = second;
    }
    put_space(to);
    return at;
}

/* ---- identifiers --------------------------------------------------------------------------- */

static int is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
static int is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }
static int is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static int is_alnum(unsigned char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

/* Whether a part may begin at p[i].  An ordinal (3rd), an amount (10AM) and a plural (URLs) are one
 * word, and so is a hash: the caller looks for digits before small letters. */
static int is_border(const unsigned char *p, size_t n, size_t i) {
    unsigned char before = p[i - 1], c = p[i];
    if (is_digit(c)) return !is_digit(before);
    if (!is_upper(c)) return 0;
    if (is_lower(before) || is_digit(before)) return 1;
    return i + 2 < n && is_lower(p[i + 1]) && is_lower(p[i + 2]);
}

/* Where the parts of a run of letters and digits end; 0 when it is one word.  A part is a
 * number or has two characters, so that iPhone and PhD stay whole. */
static size_t find_parts(const unsigned char *p, size_t n, size_t ends[IDENTIFIER_BYTES]) {
    size_t count = 0, start = 0;
    if (n > IDENTIFIER_BYTES || is_digit(p[0])) return 0;
    for (size_t i = 1; i < n; i++)
        if (is_digit(p[i - 1]) && is_lower(p[i])) return 0;
    for (size_t i = 1; i < n; i++) {
        if (!is_border(p, n, i) || (i - start < 2 && !is_digit(p[start]))) continue;
        if (n - i < 2 && !is_digit(p[i])) continue;
        ends[count++] = i;
        start = i;
    }
    if (count) ends[count++] = n;
    return count;
}

static size_t put_identifier(writer *to, const unsigned char *p, size_t left, int after_letter) {
    size_t n = 0, ends[IDENTIFIER_BYTES], start = 0;
    uint32_t c = 0;
    while (n < left && is_alnum(p[n])) n++;
    put(to, (const char *)p, n);
    /* Inside a longer word of other letters there is nothing to tell apart. */
    int before_letter = n < left && p[n] >= 0x80 && ct_utf8_decode(p + n, left - n, &c) &&
                        !is_unspaced(kind_of(c)) && (c < 0x2000 || c > 0x206f);
    size_t count = after_letter || before_letter ? 0 : find_parts(p, n, ends);
    for (size_t i = 0; i < count; i++) {
        put_space(to);
        put(to, (const char *)p + start, ends[i] - start);
        start = ends[i];
    }
    return n;
}

/* ---- letters ------------------------------------------------------------------------------- */

/* What stands for a character, or NULL: as Unicode folds ß, as NFKC folds full-width forms, and as
 * Lucene's Arabic and Hebrew analysis does with letters that writers use alike and with vowel points. */
static const char *find_fold(uint32_t c, char ascii[2]) {
    if (c < 0xdf) return NULL;
    if (c == 0xdf || c == 0x1e9e) return "ss";
    if (c < 0x591) return NULL;
    if (c <= 0x5bd || c == 0x5bf || c == 0x5c1 || c == 0x5c2 || c == 0x5c4 || c == 0x5c5 || c == 0x5c7)
        return "";
    if (c >= 0x622 && c <= 0x6d3) {
        if (c == 0x622 || c == 0x623 || c == 0x625) return "\xd8\xa7"; /* alef */
        if (c == 0x649) return "\xd9\x8a";                             /* yeh */
        if (c == 0x629) return "\xd9\x87";                             /* heh */
        if (c == 0x640 || (c >= 0x64b && c <= 0x65f) || c == 0x670) return "";
        return NULL;
    }
    /* Signs that choose how the character before is drawn; to the tokenizer they would be marks. */
    if ((c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef)) return "";
    if (c >= 0xff01 && c <= 0xff5e) {
        ascii[0] = (char)(c - 0xff01 + '!');
        ascii[1] = 0;
        return ascii;
    }
    return NULL;
}

static int ends_in_letter(const writer *to) {
    unsigned char last = (unsigned char)to->text[to->bytes - 1];
    return last >= 0x80 || is_alnum(last);
}

int ct_word_text(const char *text, size_t bytes, char **out, size_t *out_bytes) {
    const unsigned char *p = (const unsigned char *)text;
    writer to = {.bytes = 0};
    if (bytes > SIZE_MAX / GROWTH - 1) return CT_NOMEM;
    to.text = ct_alloc(bytes * GROWTH + 1);
    if (!to.text) return CT_NOMEM;
    int after_letter = 0; /* of those beyond ASCII */
    for (size_t i = 0; i < bytes;) {
        if (is_alnum(p[i])) {
            i += put_identifier(&to, p + i, bytes - i, after_letter);
            after_letter = 0;
            continue;
        }
        uint32_t c = 0;
        size_t length = ct_utf8_decode(p + i, bytes - i, &c);
        kind k = length ? kind_of(c) : OTHER;
        if (is_unspaced(k)) {
            i += put_pairs(&to, p + i, bytes - i, k);
            after_letter = 0;
            continue;
        }
        char ascii[2];
        const char *folded = length ? find_fold(c, ascii) : " ";
        /* An accent with nothing below it would be a word without letters. */
        if (c >= 0x300 && c <= 0x36f && !(to.bytes && ends_in_letter(&to))) folded = "";
        if (folded) put(&to, folded, strlen(folded));
        else put(&to, text + i, length);
        after_letter = c >= 0x80 && (c < 0x2000 || c > 0x206f);
        i += length ? length : 1;
    }
    *out = to.text;
    *out_bytes = to.bytes;
    return CT_OK;
}

/* ---- what a query means as a whole ----------------------------------------------------------- */

typedef struct quotation {
    const char *open, *close;
} quotation;

static const quotation quotations[] = {
    {"\"", "\""},
    {"\xe2\x80\x9c", "\xe2\x80\x9d"}, /* “ ” */
    {"\xe2\x80\x9e", "\xe2\x80\x9c"}, /* „ “ */
    {"\xc2\xab", "\xc2\xbb"},         /* « » */
    {"\xe3\x80\x8c", "\xe3\x80\x8d"}, /* 「 」 */
};

static int begins(const char *text, size_t left, const char *with) {
    size_t n = strlen(with);
    return left >= n && memcmp(text, with, n) == 0;
}

/* A quotation that opens at text: where its content ends, or 0.  *next: for each mark, from where on it
 * was looked for without success, so that lone marks do not make this quadratic. */
static size_t find_quotation(const char *text, size_t bytes, size_t at, int *hopeless, size_t *start) {
    for (size_t q = 0; q < COUNT(quotations); q++) {
        if ((*hopeless >> q & 1) || !begins(text + at, bytes - at, quotations[q].open)) continue;
        *start = at + strlen(quotations[q].open);
        for (size_t end = *start; end < bytes; end++)
            if (begins(text + end, bytes - end, quotations[q].close)) return end;
        *hopeless |= 1 << q;
    }
    return 0;
}

static int is_joiner(unsigned char c) { return c != 0 && strchr("_-./:@\\#+~,", c) != NULL; }

/* The identifier at text: letters and digits of ASCII, with at most three joiners between two.  *joined:
 * whether there are any, unless it is two words with a hyphen as prose has them (well-known). */
static size_t find_identifier(const char *text, size_t left, int *joined) {
    const unsigned char *p = (const unsigned char *)text;
    size_t end = 0, joints = 0;
    int prose = 1;
    while (end < left) {
        size_t gap = 0;
        while (gap < 3 && end + gap < left && !is_alnum(p[end + gap]) && is_joiner(p[end + gap])) gap++;
        if (end + gap >= left || !is_alnum(p[end + gap])) break;
        joints += gap > 0;
        if (gap > 1 || (gap == 1 && p[end] != '-')) prose = 0;
        end += gap;
        for (; end < left && is_alnum(p[end]); end++) prose &= !is_digit(p[end]);
    }
    *joined = joints > 1 || (joints == 1 && !prose);
    return end;
}

size_t ct_word_spans(const char *text, size_t bytes, ct_span *spans, size_t capacity) {
    const unsigned char *p = (const unsigned char *)text;
    size_t count = 0, ends[IDENTIFIER_BYTES], start = 0;
    int hopeless = 0;
    for (size_t i = 0; i < bytes && count < capacity;) {
        size_t end = find_quotation(text, bytes, i, &hopeless, &start);
        if (end) {
            spans[count++] = (ct_span){start, end - start, 0};
            i = end + 1;
            continue;
        }
        int joined = 0;
        size_t n = is_alnum(p[i]) ? find_identifier(text + i, bytes - i, &joined) : 0;
        if (joined || (n && find_parts(p + i, n, ends)))
            spans[count++] = (ct_span){i, n, !joined};
        i += n ? n : 1;
    }
    return count;
}
