#include "text/ct_word_text.h"

#include <stdint.h>

#include "base/ct_alloc.h"
#include "base/ct_utf8.h"
#include "ct.h"
#include "text/ct_script.h"

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

static int is_unspaced(ct_script k) { return k >= CT_SCRIPT_CJK && k <= CT_SCRIPT_MYANMAR; }

/* Bytes of the character at p as a reader sees it, with its marks; 0 when it is not of the kind. */
static size_t cluster(const unsigned char *p, size_t left, ct_script wanted) {
    size_t bytes = 0;
    int joined = 0;
    while (bytes < left) {
        uint32_t c;
        size_t length = ct_utf8_decode(p + bytes, left - bytes, &c);
        ct_script k = length ? ct_script_of(c) : CT_SCRIPT_OTHER;
        int belongs = bytes == 0 ? k == wanted : k == CT_SCRIPT_MARK || k == CT_SCRIPT_JOINS || (joined && k == wanted);
        if (!belongs) break;
        joined = k == CT_SCRIPT_JOINS;
        bytes += length;
    }
    return bytes;
}

/* Hiragana are mostly endings and particles, whose pairs say nothing. */
static int is_hiragana(const unsigned char *p) { return p[0] == 0xe3 && (p[1] == 0x81 || (p[1] == 0x82 && p[2] < 0xa0)); }

/* "ABC" as "A AB B BC C": pairs alone miss words of one character.  Returns the bytes of the run. */
static size_t put_pairs(writer *to, const unsigned char *p, size_t left, ct_script k) {
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
                        !is_unspaced(ct_script_of(c)) && (c < 0x2000 || c > 0x206f);
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
        ct_script k = length ? ct_script_of(c) : CT_SCRIPT_OTHER;
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
