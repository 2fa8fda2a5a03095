#include "recall/ct_statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/ct_utf8.h"
#include "recall/ct_lexical.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- English words -------------------------------------------------------------------------- */

/* Short, for the table. */
enum {
    CUE = CT_IS_CUE,
    ENDING = CT_IS_ENDING,
    NEGATION = CT_IS_NEGATION,
    LASTING = CT_IS_LASTING,
    FILLER = CT_IS_FILLER,
    COPULA = CT_IS_COPULA,
    PAST = CT_IS_PAST,
    MONTH = CT_IS_MONTH,
    DAY = CT_IS_DAY,
    NUMBER = CT_IS_NUMBER,
    ADDS = CT_IS_ADDS,
};

typedef struct known {
    const char *word;
    uint16_t is;
    uint8_t number;
} known;

/* Sorted for bsearch.  Of languages other than English "now" and "new", of a few. */
static const known words[] = {
    {"a.m", FILLER, 0}, {"actually", CUE, 0}, {"additionally", ADDS | FILLER, 0}, {"again", FILLER, 0},
    {"agora", CUE, 0}, {"ahora", CUE, 0}, {"all", FILLER, 0}, {"also", FILLER | ADDS, 0}, {"am", FILLER, 0},
    {"another", ADDS | FILLER, 0}, {"anymore", CUE | LASTING, 0}, {"april", MONTH, 0}, {"are", COPULA, 0},
    {"ate", PAST, 0}, {"august", MONTH, 0}, {"became", CUE, 0}, {"become", CUE, 0}, {"becomes", CUE, 0},
    {"began", PAST, 0}, {"besides", ADDS | FILLER, 0}, {"bought", PAST, 0}, {"came", PAST, 0},
    {"canceled", ENDING, 0}, {"cancelled", ENDING, 0}, {"cannot", NEGATION, 0}, {"changed", CUE, 0},
    {"changes", CUE, 0}, {"closed", ENDING, 0}, {"corrected", CUE, 0}, {"correction", CUE, 0},
    {"costs", COPULA, 0}, {"december", MONTH, 0}, {"decreased", CUE, 0}, {"delayed", CUE, 0}, {"did", PAST, 0},
    {"different", CUE, 0}, {"discontinued", ENDING, 0}, {"dr", FILLER, 0}, {"dropped", ENDING, 0},
    {"drove", PAST, 0}, {"eight", NUMBER, 8}, {"eighteen", NUMBER, 18}, {"eleven", NUMBER, 11},
    {"extended", CUE, 0}, {"february", MONTH, 0}, {"fifteen", NUMBER, 15}, {"five", NUMBER, 5},
    {"flew", PAST, 0}, {"found", PAST, 0}, {"four", NUMBER, 4}, {"fourteen", NUMBER, 14}, {"friday", DAY, 0},
    {"friday's", DAY, 0}, {"fridays", DAY, 0}, {"gave", PAST, 0}, {"get", FILLER, 0}, {"goes", COPULA, 0},
    {"gone", ENDING, 0}, {"got", FILLER | PAST, 0}, {"had", COPULA | PAST, 0}, {"has", COPULA, 0},
    {"have", COPULA, 0}, {"increased", CUE, 0}, {"instead", CUE, 0}, {"is", COPULA, 0}, {"january", MONTH, 0},
    {"jetzt", CUE, 0}, {"july", MONTH, 0}, {"june", MONTH, 0}, {"just", FILLER, 0}, {"let", FILLER, 0},
    {"lets", FILLER, 0}, {"longer", CUE | NEGATION | LASTING, 0}, {"lost", PAST, 0}, {"lowered", CUE, 0},
    {"made", PAST, 0}, {"maintenant", CUE, 0}, {"march", MONTH, 0}, {"may", MONTH, 0}, {"met", PAST, 0},
    {"misread", CUE, 0}, {"mistake", CUE, 0}, {"mistaken", CUE, 0}, {"monday", DAY, 0}, {"monday's", DAY, 0},
    {"mondays", DAY, 0}, {"moved", CUE, 0}, {"mr", FILLER, 0}, {"mrs", FILLER, 0}, {"neue", CUE, 0},
    {"neuer", CUE, 0}, {"neues", CUE, 0}, {"never", NEGATION, 0}, {"new", CUE, 0}, {"nine", NUMBER, 9},
    {"nineteen", NUMBER, 19}, {"no", NEGATION, 0}, {"not", NEGATION, 0}, {"nouveau", CUE, 0},
    {"nouvelle", CUE, 0}, {"nova", CUE, 0}, {"november", MONTH, 0}, {"novo", CUE, 0}, {"now", CUE, 0},
    {"nueva", CUE, 0}, {"nuevo", CUE, 0}, {"nuova", CUE, 0}, {"nuovo", CUE, 0}, {"o'clock", FILLER, 0},
    {"october", MONTH, 0}, {"off", ENDING, 0}, {"one", FILLER, 0}, {"ora", CUE, 0}, {"p.m", FILLER, 0},
    {"paid", PAST, 0}, {"per", FILLER, 0}, {"please", FILLER, 0}, {"pm", FILLER, 0}, {"postponed", CUE, 0},
    {"prof", FILLER, 0}, {"pushed", CUE, 0}, {"quit", ENDING, 0}, {"raised", CUE, 0}, {"ran", PAST, 0},
    {"read", PAST, 0}, {"really", FILLER, 0}, {"removed", ENDING, 0}, {"renamed", CUE, 0}, {"replaced", CUE, 0},
    {"rescheduled", CUE, 0}, {"reset", CUE, 0}, {"resigned", ENDING, 0}, {"retired", ENDING, 0},
    {"saturday", DAY, 0}, {"saturday's", DAY, 0}, {"saturdays", DAY, 0}, {"saw", PAST, 0}, {"sent", PAST, 0},
    {"september", MONTH, 0}, {"seven", NUMBER, 7}, {"seventeen", NUMBER, 17}, {"since", CUE, 0},
    {"six", NUMBER, 6}, {"sixteen", NUMBER, 16}, {"slipped", CUE, 0}, {"sold", ENDING, 0}, {"sorry", CUE, 0},
    {"still", FILLER, 0}, {"stopped", ENDING, 0}, {"sunday", DAY, 0}, {"sunday's", DAY, 0}, {"sundays", DAY, 0},
    {"swapped", CUE, 0}, {"switched", CUE, 0}, {"ten", NUMBER, 10}, {"thirteen", NUMBER, 13},
    {"three", NUMBER, 3}, {"thursday", DAY, 0}, {"thursday's", DAY, 0}, {"thursdays", DAY, 0},
    {"today", FILLER, 0}, {"tonight", FILLER, 0}, {"too", ADDS | FILLER, 0}, {"took", PAST, 0},
    {"tuesday", DAY, 0}, {"tuesday's", DAY, 0}, {"tuesdays", DAY, 0}, {"turned", CUE, 0},
    {"twelve", NUMBER, 12}, {"twenty", NUMBER, 20}, {"two", NUMBER, 2}, {"updated", CUE, 0},
    {"us", FILLER, 0}, {"was", COPULA, 0}, {"wednesday", DAY, 0}, {"wednesday's", DAY, 0},
    {"wednesdays", DAY, 0}, {"well", FILLER, 0}, {"went", PAST, 0}, {"were", COPULA, 0}, {"will", COPULA, 0},
    {"without", NEGATION, 0}, {"won", PAST, 0}, {"wrong", CUE, 0}, {"wrote", PAST, 0}, {"новая", CUE, 0},
    {"новое", CUE, 0}, {"новый", CUE, 0}, {"теперь", CUE, 0},
};

static int by_word(const void *key, const void *entry) { return strcmp(key, ((const known *)entry)->word); }

static int ends_with(const ct_stated_word *word, const char *end) {
    size_t bytes = strlen(end);
    return word->bytes > bytes && memcmp(word->folded + word->bytes - bytes, end, bytes) == 0;
}

/* ---- characters ----------------------------------------------------------------------------- */

typedef struct range {
    uint32_t first;
    uint32_t last;
} range;

static int within(const range *list, size_t count, uint32_t point) {
    for (size_t i = 0; i < count; i++)
        if (point >= list[i].first && point <= list[i].last) return 1;
    return 0;
}

static int digit_of(uint32_t point) {
    static const uint32_t zeros[] = {'0', 0x660, 0x6F0, 0x966, 0xE50, 0xFF10};
    for (size_t i = 0; i < COUNT(zeros); i++)
        if (point >= zeros[i] && point < zeros[i] + 10) return (int)(point - zeros[i]);
    return -1;
}

static int in_word(uint32_t point) {
    static const range marks[] = {
        {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},     {0xD7, 0xD7},
        {0xF7, 0xF7},     {0x60C, 0x60C},   {0x61B, 0x61F},   {0x6D4, 0x6D4},   {0x964, 0x965},
        {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x3000, 0x3003}, {0x3008, 0x3020}, {0xFF01, 0xFF0F},
        {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65},
    };
    if (point < 0x80)
        return (point >= '0' && point <= '9') || ((point | 32) >= 'a' && (point | 32) <= 'z');
    return !within(marks, COUNT(marks), point);
}

/* Written without spaces: each character counts as a word. */
static int stands_alone(uint32_t point) {
    static const range scripts[] = {{0x2E80, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};
    return within(scripts, COUNT(scripts), point);
}

/* Lower case of the alphabets that have it in rows. */
static uint32_t fold(uint32_t point) {
    if ((point >= 'A' && point <= 'Z') || (point >= 0xC0 && point <= 0xDE && point != 0xD7) ||
        (point >= 0x391 && point <= 0x3A9) || (point >= 0x410 && point <= 0x42F))
        return point + 32;
    if (point >= 0x400 && point <= 0x40F) return point + 80;
    return point;
}

static size_t encode(uint32_t point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = bytes; i-- > 1; point >>= 6) out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)((0xF00u >> bytes & 0xFF) | point);
    return bytes;
}

static int ends_clause(uint32_t point) {
    return point == '.' || point == '!' || point == '?' || point == ':' || point == ';' || point == '\n' ||
           point == 0x3002 || point == 0xFF01 || point == 0xFF1F;
}

/* Holds two parts of a word together: "db-04", "14:30", "nginx.conf", "1,200", "don't". */
static int joins(uint32_t point, uint32_t before, uint32_t after) {
    if (point == ',') return digit_of(before) >= 0 && digit_of(after) >= 0;
    return point == '\'' || point == 0x2019 || point == '.' || point == ':' || point == '/' || point == '-' ||
           point == '_';
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reader {
    const unsigned char *text;
    size_t bytes;
    size_t at;
} reader;

static uint32_t look(const reader *from, size_t at, size_t *length) {
    uint32_t point = 0;
    *length = at < from->bytes ? ct_utf8_decode(from->text + at, from->bytes - at, &point) : 0;
    if (!*length) *length = 1;
    return at < from->bytes ? point : 0;
}

/* Copy the word that begins here, folded and NUL-terminated; its first character as it was. */
static uint32_t take_word(reader *from, char *out, size_t *bytes) {
    size_t length, next_length;
    uint32_t first = look(from, from->at, &length), point = first;
    size_t used = 0;
    for (;;) {
        int digit = digit_of(point);
        used += encode(digit >= 0 ? '0' + (uint32_t)digit : fold(point), out + used);
        from->at += length;
        if (stands_alone(point)) break;
        uint32_t next = look(from, from->at, &length);
        uint32_t behind = look(from, from->at + length, &next_length);
        if (joins(next, point, behind) && in_word(behind) && !stands_alone(behind)) {
            if (next != ',') out[used++] = next == 0x2019 ? '\'' : (char)next;
            from->at += length;
            next = behind;
            length = next_length;
        }
        /* A number ends where a script without spaces goes on. */
        if (!in_word(next) || stands_alone(next)) break;
        if ((digit >= 0 && digit_of(next) < 0 && next >= 0xE00) ||
            (digit < 0 && point >= 0xE00 && digit_of(next) >= 0))
            break;
        point = next;
    }
    out[used] = 0;
    *bytes = used;
    return first;
}

static int all_digits(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (text[i] < '0' || text[i] > '9') return 0;
    return bytes > 0;
}

/* As strtod, whatever the locale. */
static double decimal(const char *text) {
    double value = 0, unit = 1;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + (*text - '0');
    if (*text == '.')
        while (*++text >= '0' && *text <= '9') value += (*text - '0') * (unit /= 10);
    return value;
}

static void read_number(ct_stated_word *word) {
    const char *text = word->folded;
    size_t whole = strspn(text, "0123456789");
    const char *rest = text + whole;
    word->number = decimal(text);
    if (whole && whole <= 2 && (*rest == ':' || *rest == 'h') && all_digits(rest + 1, strlen(rest + 1)) &&
        strlen(rest + 1) == 2) {
        word->shape = CT_NUMBER_TIME;
        word->number = decimal(text) * 60 + decimal(rest + 1);
    } else if (!*rest) {
        word->shape = whole == 4 && (memcmp(text, "19", 2) == 0 || memcmp(text, "20", 2) == 0) ? CT_NUMBER_YEAR
                                                                                              : CT_NUMBER_PLAIN;
    } else if (whole && *rest == '.' && all_digits(rest + 1, strlen(rest + 1))) {
        word->shape = CT_NUMBER_PLAIN;
    } else if (whole && (!strcmp(rest, "st") || !strcmp(rest, "nd") || !strcmp(rest, "rd") ||
                         !strcmp(rest, "th"))) {
        word->shape = CT_NUMBER_ORDINAL;
        word->stem = (uint16_t)whole;
    } else {
        word->shape = CT_NUMBER_OTHER;
    }
}

static uint16_t stem_of(const ct_stated_word *word) {
    static const char *const ends[] = {"ing", "ed", "es", "s"};
    size_t bytes = word->bytes;
    if (ends_with(word, "'s")) bytes -= 2;
    for (size_t i = 0; i < COUNT(ends); i++) {
        size_t end = strlen(ends[i]);
        if (bytes >= end + 3 && memcmp(word->folded + bytes - end, ends[i], end) == 0)
            return (uint16_t)(bytes - end);
    }
    return (uint16_t)bytes;
}

/* Of a contraction such as "we're" the first part. */
static int is_function_word(const ct_stated_word *word) {
    char part[16];
    size_t bytes = strcspn(word->folded, "'");
    if (ct_lexical_is_function_word(word->folded)) return 1;
    if (bytes == word->bytes || bytes >= sizeof part) return 0;
    memcpy(part, word->folded, bytes);
    part[bytes] = 0;
    return ct_lexical_is_function_word(part);
}

static void classify(ct_stated_word *word, uint32_t first) {
    int capital = fold(first) != first;
    const known *known_word = bsearch(word->folded, words, COUNT(words), sizeof *words, by_word);
    word->is = known_word ? known_word->is : 0;
    word->stem = word->bytes;
    word->composed = strpbrk(word->folded, ".:/-_") != NULL;
    if (ends_with(word, "n't")) word->is |= NEGATION;
    if (word->bytes > 4 && ends_with(word, "ed")) word->is |= PAST;
    if (strpbrk(word->folded, "0123456789")) {
        word->kind = CT_WORD_NUMBER;
        read_number(word);
    } else if (word->is & NUMBER) {
        word->kind = CT_WORD_NUMBER;
        word->number = known_word->number;
    } else if (word->is & DAY) {
        word->kind = CT_WORD_DAY;
        word->stem = stem_of(word);
    } else if ((word->is & MONTH) && (capital || word->bytes > 5)) {
        word->kind = CT_WORD_MONTH;
    } else if (word->bytes == 1 && capital && !word->opens && first != 'I') {
        word->kind = CT_WORD_NAME; /* "room A" */
    } else if (word->is & (CUE | ENDING | NEGATION)) {
        word->kind = CT_WORD_CUE;
    } else if ((word->is & FILLER) || is_function_word(word)) {
        word->kind = CT_WORD_FUNCTION;
    } else {
        word->kind = capital && !word->opens ? CT_WORD_NAME : CT_WORD_CONTENT;
        word->stem = stem_of(word);
    }
}

/* Words that are the same have this bit in common. */
static uint64_t beginning_of(const ct_stated_word *word) {
    if (word->kind == CT_WORD_NUMBER) return 1;
    uint32_t sum = (unsigned char)word->folded[0] * 31u + (unsigned char)word->folded[1];
    return 1ull << (1 + sum % 63);
}

void ct_statement_read(const char *text, size_t bytes, ct_statement *out) {
    reader from = {(const unsigned char *)text, bytes, 0};
    size_t used = 0;
    uint8_t opens = 1;
    out->count = out->content_count = 0;
    out->beginnings = 0;
    if (bytes > CT_STATEMENT_BYTES) return;
    while (from.at < bytes) {
        size_t length, taken;
        uint32_t point = look(&from, from.at, &length);
        if (!in_word(point)) {
            if (ends_clause(point)) opens = 1;
            from.at += length;
            continue;
        }
        if (out->count == CT_STATEMENT_WORDS) {
            out->count = out->content_count = 0;
            return;
        }
        ct_stated_word *word = &out->words[out->count++];
        *word = (ct_stated_word){.folded = out->text + used, .opens = opens};
        uint32_t first = take_word(&from, out->text + used, &taken);
        word->bytes = (uint16_t)taken;
        used += taken + 1;
        classify(word, first);
        if (out->count > 1 && !strcmp(word->folded, "more") && !strcmp(word[-1].folded, "any"))
            word->is |= LASTING;
        word->beginning = beginning_of(word);
        if (ct_stated_word_is_content(word)) {
            out->beginnings |= word->beginning;
            out->content[out->content_count++] = (uint8_t)(out->count - 1);
        }
        opens = 0;
    }
}
