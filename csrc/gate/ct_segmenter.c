#include "gate/ct_segmenter.h"

#include <string.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "text/ct_script.h"

#define REPLACEMENT 0xFFFD
#define WORD_BYTES 24 /* longer ones are no abbreviation */

/* Beyond so many backticks they are no code span. */
#define TICKS_MAX 64

/* What may end here, at the character that came last. */
typedef enum ending {
    NO_END = 0,
    STOPPED, /* by a full stop, which has other uses: see what follows */
    MARKED,  /* by a mark that needs white space behind it */
    CLOSED,  /* by one that needs nothing */
} ending;

/* A place in the text that is held. */
typedef struct place {
    size_t bytes;
    int64_t characters;
} place;

struct ct_segmenter {
    unsigned char half[4]; /* a character that has not come in whole */
    size_t half_bytes;

    /* Of the segment that goes on.  Its first character is no white space. */
    char text[CT_SEGMENT_BYTES + 8];
    place held;
    int64_t before; /* characters of the stream before it */

    place solid; /* up to the last character that is no white space */
    place gap;   /* where the last white space in a row began, or a cut between characters could be */
    place cut;   /* the last of these before which a segment may end; 0: none */
    place end;   /* of what may be a sentence */
    ending ending;
    int spaced; /* there is white space behind that end */

    size_t word;         /* bytes before the word that goes on */
    int word_opens_line; /* it is the first of its line */
    int is_url;          /* the word is one */
    uint32_t last;       /* character; 0: none */
    uint32_t last_solid; /* that is no white space */

    size_t ticks;      /* backticks in a row, up to the last character */
    int ticks_open_line; /* they began a line */
    size_t span;       /* backticks that opened the code span; 0: outside */
    int is_fence;      /* which goes over lines */

    ct_segment_visit *visit;
    void *state;
};

int ct_segmenter_create(ct_segmenter **out, ct_error *error) {
    ct_segmenter *segmenter = ct_alloc_zero(sizeof *segmenter);
    if (!segmenter) return ct_fail_nomem(error);
    segmenter->word_opens_line = 1;
    *out = segmenter;
    return CT_OK;
}

void ct_segmenter_free(ct_segmenter *segmenter) { ct_free(segmenter); }

void ct_segmenter_reset(ct_segmenter *segmenter) {
    memset(segmenter, 0, sizeof *segmenter);
    segmenter->word_opens_line = 1;
}

/* ---- characters ----------------------------------------------------------------------------- */

static int is_among(uint32_t point, const uint32_t *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == point) return 1;
    return 0;
}

#define IS_AMONG(point, list) is_among(point, list, sizeof(list) / sizeof *(list))

/* That a line may be broken at; no-break spaces are not. */
static int is_space(uint32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f) || c == 0x85 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a && c != 0x2007) ||
           c == 0x2028 || c == 0x2029 || c == 0x205f || c == 0x3000;
}

static int is_line_end(uint32_t c) { return c == '\n' || c == 0x2028 || c == 0x2029 || c == 0x85; }

static int is_digit(uint32_t c) {
    static const uint32_t zeros[] = {'0',   0x660, 0x6f0, 0x7c0, 0x966,  0x9e6,  0xa66,  0xae6, 0xb66,
                                     0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,  0xed0,  0xf20,  0x1040, 0x17e0, 0xff10};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (c >= zeros[i] && c < zeros[i] + 10) return 1;
    return 0;
}

/* Lower case where a sentence can begin with the upper case of it. */
static int is_lower(uint32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7) || (c >= 0x3ac && c <= 0x3ce) ||
           (c >= 0x430 && c <= 0x45f) || (c >= 0x561 && c <= 0x587);
}

/* Ideographs that are digits: "三百二十". */
static int is_han_number(uint32_t c) {
    static const uint32_t numbers[] = {0x3007, 0x4e00, 0x4e8c, 0x4e09, 0x56db, 0x4e94, 0x516d, 0x4e03, 0x516b,
                                       0x4e5d, 0x5341, 0x767e, 0x5343, 0x4e07, 0x842c, 0x4ebf, 0x5104, 0x5146};
    return IS_AMONG(c, numbers);
}

static ending ending_of(uint32_t c) {
    static const uint32_t marks[] = {'!', '?', 0x37e, 0x589, 0x61f, 0x6d4, 0x203c, 0x2047, 0x2048, 0x2049};
    static const uint32_t closing[] = {0x964, 0x965, 0xf0d, 0x104b, 0x1362, 0x1367, 0x17d4, 0x17d5, 0x3002, 0xff01, 0xff1f, 0xff61};
    if (c == '.' || c == 0x2026 || c == 0xff0e) return STOPPED;
    if (IS_AMONG(c, marks)) return MARKED;
    return IS_AMONG(c, closing) ? CLOSED : NO_END;
}

/* Belongs to the sentence that has just ended: quotation marks, brackets, emphasis. */
static int is_closer(uint32_t c) {
    static const uint32_t closers[] = {')',    ']',    '}',    '"',    '\'',   '*',    '_',    0xbb,   0x2019,
                                       0x201d, 0x203a, 0x300b, 0x3009, 0x300d, 0x300f, 0x3011, 0xff09, 0xff63};
    return IS_AMONG(c, closers);
}

/* Whether a segment may end between two characters of a script without spaces. */
static int may_part(uint32_t left, uint32_t right) {
    ct_script script = ct_script_of(right);
    if (script < CT_SCRIPT_CJK || script > CT_SCRIPT_MYANMAR || script == CT_SCRIPT_HANGUL) return 0;
    if (is_han_number(left) && is_han_number(right)) return 0;
    ct_script before = ct_script_of(left);
    if (before == CT_SCRIPT_OTHER || before == CT_SCRIPT_HANGUL || before == CT_SCRIPT_JOINS) return 0;
    if (right == 0x30fc || right == 0x3005) return 0; /* go on with the one before */
    return !((left >= 0xe40 && left <= 0xe44) || (left >= 0xec0 && left <= 0xec4)); /* vowels that are written first */
}

/* ---- words ---------------------------------------------------------------------------------- */

static const char *const abbreviations[] = {
    "abs",  "al",   "apr",  "approx", "art", "aug", "ave", "bzw", "ca",   "cf",   "ch",   "co",   "dec",  "dept",
    "dr",   "ed",   "eds",  "etc",    "ex",  "feb", "fig", "figs", "fr",  "ggf",  "gen",  "hon",  "hr",   "inc",
    "inkl", "jan",  "jr",   "lt",     "ltd", "max", "min", "mio", "misc", "mlle", "mme",  "mr",   "mrs",  "ms",
    "mt",   "no",   "nos",  "nov",    "nr",  "oct", "op",  "p",   "pp",   "prof", "resp", "rev",  "sec",  "sep",
    "sept", "sgt",  "sr",   "sra",    "st",  "str", "tel", "usw", "vgl",  "vol",  "vols", "vs",
};

static int is_letter_byte(unsigned char c) { return c >= 0x80 || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* Single letters with full stops between them, the last one still to come: "e.g", "U.S", "J". */
static int is_initials(const char *word, size_t bytes) {
    size_t at = 0;
    uint32_t point;
    for (;;) {
        size_t length = at < bytes ? ct_utf8_decode((const unsigned char *)word + at, bytes - at, &point) : 0;
        if (!length || !is_letter_byte((unsigned char)word[at])) return 0;
        at += length;
        if (at == bytes) return !(bytes == 1 && *word == 'I');
        if (word[at++] != '.') return 0;
    }
}

/* Whether the full stop behind `bytes` bytes ends no sentence, whatever follows. */
static int is_abbreviated(const ct_segmenter *of, size_t bytes) {
    const char *word = of->text + of->word;
    size_t length = bytes - of->word, digits = 0;
    while (length && !is_letter_byte((unsigned char)*word) && !(*word >= '0' && *word <= '9')) {
        word++;
        length--;
    }
    while (digits < length && word[digits] >= '0' && word[digits] <= '9') digits++;
    if (length && digits == length) return of->word_opens_line; /* "1. Wash the cup" */
    if (is_initials(word, length)) return 1;
    if (!length || length > WORD_BYTES) return 0;
    char folded[WORD_BYTES + 1] = {0};
    for (size_t i = 0; i < length; i++) folded[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] | 32) : word[i];
    for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++)
        if (strcmp(folded, abbreviations[i]) == 0) return 1;
    return 0;
}

/* ---- cutting -------------------------------------------------------------------------------- */

static void shift(place *what, place by) {
    what->bytes = what->bytes > by.bytes ? what->bytes - by.bytes : 0;
    what->characters = what->characters > by.characters ? what->characters - by.characters : 0;
}

/* End the segment at a place, and begin the next with what is behind it. */
static int cut_at(ct_segmenter *segmenter, place end, int ends_paragraph) {
    place next = end;
    size_t length;
    uint32_t point;
    /* White space in front of the next belongs to neither. */
    while (next.bytes < segmenter->held.bytes) {
        length = ct_utf8_decode((unsigned char *)segmenter->text + next.bytes, segmenter->held.bytes - next.bytes, &point);
        if (!is_space(point)) break;
        next.bytes += length;
        next.characters++;
    }
    ct_segment segment = {segmenter->text, end.bytes, segmenter->before, segmenter->before + end.characters,
                          ends_paragraph};
    int is_blank = !end.bytes || ct_utf8_check(segmenter->text, end.bytes) == CT_UTF8_BLANK;
    int status = is_blank ? 0 : segmenter->visit(segmenter->state, &segment);
    memmove(segmenter->text, segmenter->text + next.bytes, segmenter->held.bytes - next.bytes);
    segmenter->before += next.characters;
    shift(&segmenter->held, next);
    shift(&segmenter->solid, next);
    shift(&segmenter->gap, next);
    shift(&segmenter->cut, next);
    shift(&segmenter->end, next);
    if (!segmenter->end.bytes) segmenter->ending = NO_END;
    segmenter->word = segmenter->word > next.bytes ? segmenter->word - next.bytes : 0;
    return status;
}

/* The end that was held open is one. */
static int confirm(ct_segmenter *segmenter, int ends_paragraph) {
    place end = segmenter->end;
    segmenter->ending = NO_END;
    if (end.characters < CT_SEGMENT_LEAST) return 0;
    return cut_at(segmenter, end, ends_paragraph);
}

/* What comes after the end that is held open decides about it. */
static int decide(ct_segmenter *segmenter, uint32_t next) {
    if (segmenter->ending == NO_END || is_space(next)) return 0;
    ending by = segmenter->ending;
    if (!segmenter->spaced) {
        if (is_closer(next) || ending_of(next)) return 0; /* goes on */
        if (by == CLOSED) return confirm(segmenter, 0);
        segmenter->ending = NO_END;
        return 0;
    }
    if (by == STOPPED && is_lower(next)) {
        segmenter->ending = NO_END;
        return 0;
    }
    return confirm(segmenter, 0);
}

/* ---- what a character does ------------------------------------------------------------------- */

/* Backticks come in rows; how many is known at what follows them. */
static void end_ticks(ct_segmenter *segmenter) {
    size_t ticks = segmenter->ticks;
    segmenter->ticks = 0;
    if (!ticks || ticks > TICKS_MAX) return;
    if (!segmenter->span) {
        segmenter->span = ticks;
        segmenter->is_fence = ticks >= 3 && segmenter->ticks_open_line;
    } else if (segmenter->is_fence ? ticks >= segmenter->span && segmenter->ticks_open_line : ticks == segmenter->span) {
        segmenter->span = 0;
    }
}

static int is_full(const ct_segmenter *segmenter) { return segmenter->solid.characters > CT_SEGMENT_CHARACTERS; }

static int on_space(ct_segmenter *segmenter, uint32_t c) {
    int status = 0, ends_line = is_line_end(c);
    if (ends_line && !segmenter->is_fence) segmenter->span = 0;
    if (!is_space(segmenter->last)) segmenter->gap = segmenter->solid;
    if (segmenter->ending) segmenter->spaced = 1;
    if (ends_line) {
        segmenter->word_opens_line = 1;
        if (segmenter->is_fence && segmenter->span) {
            if (segmenter->solid.characters >= CT_SEGMENT_CHARACTERS) status = cut_at(segmenter, segmenter->solid, 1);
        } else if (segmenter->solid.characters >= CT_SEGMENT_LEAST) {
            segmenter->ending = NO_END;
            status = cut_at(segmenter, segmenter->solid, 1);
        }
    } else if (segmenter->ending == MARKED || segmenter->ending == CLOSED) {
        status = confirm(segmenter, 0);
    }
    return status;
}

/* A word begins behind white space: the segment may end before it. */
static void begin_word(ct_segmenter *segmenter, uint32_t c) {
    uint32_t before = segmenter->last_solid;
    int follows_line = segmenter->word_opens_line && is_line_end(segmenter->last);
    int parts_number = is_digit(before) && is_digit(c);
    int parts_initials = before == '.' && is_initials(segmenter->text + segmenter->word,
                                                      segmenter->solid.bytes ? segmenter->solid.bytes - 1 - segmenter->word : 0);
    if (segmenter->solid.bytes && !segmenter->span && !parts_number && !parts_initials) segmenter->cut = segmenter->gap;
    segmenter->word_opens_line = follows_line || segmenter->held.bytes == 0;
    segmenter->word = segmenter->held.bytes;
    segmenter->is_url = 0;
}

static int on_solid(ct_segmenter *segmenter, uint32_t c) {
    int status = 0, is_tick = c == '`', begins = !segmenter->last || is_space(segmenter->last);
    if (!is_tick) end_ticks(segmenter);
    if (!segmenter->span) status = decide(segmenter, c);
    if (status) return status;
    if (begins) begin_word(segmenter, c);
    else if (!segmenter->span && !segmenter->is_url && may_part(segmenter->last, c)) segmenter->cut = segmenter->solid;
    if (is_tick && segmenter->ticks++ == 0) segmenter->ticks_open_line = begins && segmenter->word_opens_line;
    return 0;
}

/* Behind the character, which is held now. */
static void note_end(ct_segmenter *segmenter, uint32_t c) {
    static const char *const schemes[] = {"://", "www."};
    for (size_t i = 0; i < 2; i++) {
        size_t bytes = strlen(schemes[i]);
        if (segmenter->held.bytes >= segmenter->word + bytes &&
            memcmp(segmenter->text + segmenter->held.bytes - bytes, schemes[i], bytes) == 0)
            segmenter->is_url = 1;
    }
    ending ends = segmenter->span || segmenter->ticks ? NO_END : ending_of(c);
    if (segmenter->is_url && ends == CLOSED) segmenter->is_url = 0; /* no URL holds it */
    if (segmenter->ending && !segmenter->spaced && (is_closer(c) || ends)) {
        segmenter->end = segmenter->held;
        if (ends > segmenter->ending) segmenter->ending = ends;
    } else if (ends && !(c == '.' && is_abbreviated(segmenter, segmenter->held.bytes - 1))) {
        segmenter->ending = ends;
        segmenter->end = segmenter->held;
        segmenter->spaced = 0;
    }
}

static void append(ct_segmenter *segmenter, const unsigned char *bytes, size_t count) {
    memcpy(segmenter->text + segmenter->held.bytes, bytes, count);
    segmenter->held.bytes += count;
    segmenter->held.characters++;
}

/* Too long without a place to end: the best there is, then anywhere. */
static int relieve(ct_segmenter *segmenter) {
    if (is_full(segmenter) && segmenter->cut.characters >= CT_SEGMENT_LEAST) {
        place cut = segmenter->cut;
        segmenter->cut = (place){0, 0};
        return cut_at(segmenter, cut, 0);
    }
    if (segmenter->held.bytes < CT_SEGMENT_BYTES) return 0;
    place cut = segmenter->gap.bytes ? segmenter->gap : segmenter->held;
    segmenter->ending = NO_END;
    segmenter->cut = (place){0, 0};
    return cut_at(segmenter, cut, 0);
}

static int take(ct_segmenter *segmenter, uint32_t c, const unsigned char *bytes, size_t count) {
    int status;
    if (is_space(c)) {
        end_ticks(segmenter);
        status = on_space(segmenter, c);
        if (segmenter->held.bytes) append(segmenter, bytes, count);
        else segmenter->before++; /* in front of a segment */
    } else {
        status = on_solid(segmenter, c);
        append(segmenter, bytes, count);
        segmenter->solid = segmenter->held;
        segmenter->last_solid = c;
        note_end(segmenter, c);
    }
    segmenter->last = c;
    return status ? status : relieve(segmenter);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* How many bytes the character that begins so has; 0 when none does. */
static size_t length_by(unsigned char first) {
    return first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Whether more bytes could make a character of these. */
static int is_begun(const unsigned char *bytes, size_t count) {
    size_t length = length_by(bytes[0]);
    if (count >= length) return 0;
    if (count >= 2) {
        unsigned char second = bytes[1];
        if ((second & 0xc0) != 0x80) return 0;
        if ((bytes[0] == 0xe0 && second < 0xa0) || (bytes[0] == 0xed && second >= 0xa0) ||
            (bytes[0] == 0xf0 && second < 0x90) || (bytes[0] == 0xf4 && second >= 0x90))
            return 0;
    }
    return count < 3 || (bytes[2] & 0xc0) == 0x80;
}

static int take_replaced(ct_segmenter *segmenter) {
    static const unsigned char bytes[] = {0xef, 0xbf, 0xbd};
    return take(segmenter, REPLACEMENT, bytes, sizeof bytes);
}

int ct_segmenter_feed(ct_segmenter *segmenter, const char *bytes, size_t count, ct_segment_visit *visit, void *state) {
    int status = 0;
    segmenter->visit = visit;
    segmenter->state = state;
    for (size_t i = 0; !status && i < count; i++) {
        unsigned char *half = segmenter->half;
        half[segmenter->half_bytes++] = (unsigned char)bytes[i];
        uint32_t point;
        size_t length = ct_utf8_decode(half, segmenter->half_bytes, &point);
        if (length == segmenter->half_bytes && point) {
            segmenter->half_bytes = 0;
            status = take(segmenter, point, half, length);
        } else if (segmenter->half_bytes == 1 && half[0] && length_by(half[0]) > 1) {
            continue;
        } else if (!half[0] || !is_begun(half, segmenter->half_bytes)) {
            /* The byte that does not fit may begin a character of its own. */
            int again = segmenter->half_bytes > 1;
            segmenter->half_bytes = 0;
            status = take_replaced(segmenter);
            if (again) i--;
        }
    }
    return status;
}

int ct_segmenter_flush(ct_segmenter *segmenter, ct_segment_visit *visit, void *state) {
    int status = 0;
    segmenter->visit = visit;
    segmenter->state = state;
    if (segmenter->half_bytes) status = take_replaced(segmenter);
    if (!status && segmenter->solid.bytes) status = cut_at(segmenter, segmenter->solid, 1);
    ct_segmenter_reset(segmenter);
    return status;
}
