#include "recall/ct_statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/ct_utf8.h"
#include "recall/ct_lexical.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOWHERE SIZE_MAX

/* ---- English words -------------------------------------------------------------------------- */

enum {
    CUE = 1,        /* often said when something changes; never enough by itself */
    ENDING = 2,     /* what it stands beside is over */
    NEGATION = 4,   /* what follows is not so */
    LASTING = 8,    /* it was so, and is not */
    FILLER = 16,    /* says nothing, beside the function words of the lexical stage */
    COPULA = 32,    /* after a number it makes that the name of what is spoken of ("1182 is closed") */
    PAST = 64,      /* two such events may both have happened */
    MONTH = 128,
    DAY = 256,
    NUMBER = 512,
    ADDS = 1024,    /* something holds beside what held */
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
    } else if (whole && (!strcmp(rest, "st") || !strcmp(rest, "nd") || !strcmp(rest, "rd") || !strcmp(rest, "th"))) {
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
        if (bytes >= end + 3 && memcmp(word->folded + bytes - end, ends[i], end) == 0) return (uint16_t)(bytes - end);
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

static int is_content(const ct_stated_word *word) {
    return word->kind != CT_WORD_FUNCTION && word->kind != CT_WORD_CUE;
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
    out->count = 0;
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
            out->count = 0;
            return;
        }
        ct_stated_word *word = &out->words[out->count++];
        *word = (ct_stated_word){.folded = out->text + used, .opens = opens};
        uint32_t first = take_word(&from, out->text + used, &taken);
        word->bytes = (uint16_t)taken;
        used += taken + 1;
        classify(word, first);
        if (out->count > 1 && !strcmp(word->folded, "more") && !strcmp(word[-1].folded, "any")) word->is |= LASTING;
        if (is_content(word)) out->beginnings |= beginning_of(word);
        opens = 0;
    }
}

/* ---- comparing words ------------------------------------------------------------------------ */

/* A time on the clock of 12 hours is that of 24. */
static int same_number(const ct_stated_word *a, const ct_stated_word *b) {
    if (a->shape == CT_NUMBER_OTHER || b->shape == CT_NUMBER_OTHER)
        return a->shape == b->shape && a->bytes == b->bytes && memcmp(a->folded, b->folded, a->bytes) == 0;
    int is_time = a->shape == CT_NUMBER_TIME || b->shape == CT_NUMBER_TIME;
    double x = a->number * (is_time && a->shape != CT_NUMBER_TIME ? 60 : 1);
    double y = b->number * (is_time && b->shape != CT_NUMBER_TIME ? 60 : 1);
    double apart = x > y ? x - y : y - x;
    return apart < 1e-9 || (is_time && apart > 720 - 1e-9 && apart < 720 + 1e-9);
}

/* Of names, numbers and composed words ("feature/a") the whole must agree, of other words a long beginning will do ("retry",
 * "retries"). */
static int same(const ct_stated_word *a, const ct_stated_word *b) {
    if (a->folded[0] != b->folded[0]) return a->kind == CT_WORD_NUMBER && b->kind == CT_WORD_NUMBER && same_number(a, b);
    if (a->kind == CT_WORD_NUMBER || b->kind == CT_WORD_NUMBER) return a->kind == b->kind && same_number(a, b);
    size_t least = a->stem < b->stem ? a->stem : b->stem, most = a->stem < b->stem ? b->stem : a->stem, common = 0;
    while (common < least && a->folded[common] == b->folded[common]) common++;
    if (common == most) return 1;
    if (a->kind == CT_WORD_NAME || b->kind == CT_WORD_NAME || a->composed || b->composed) return 0;
    size_t enough = (unsigned char)a->folded[0] < 0x80 ? 4 : 8;
    return common >= enough && 10 * common >= 6 * most;
}

static int holds(const ct_statement *statement, const ct_stated_word *word) {
    for (size_t i = 0; i < statement->count; i++)
        if (is_content(&statement->words[i]) && same(&statement->words[i], word)) return 1;
    return 0;
}

static const ct_stated_word *next_word(const ct_statement *statement, size_t place) {
    return place + 1 < statement->count && !statement->words[place + 1].opens ? &statement->words[place + 1] : NULL;
}

/* ---- comparing statements ------------------------------------------------------------------- */

/* One of two messages beside the other. */
typedef struct side {
    const ct_statement *said;
    size_t content[CT_STATEMENT_WORDS]; /* places of the content words */
    size_t gap[CT_STATEMENT_WORDS];     /* of each: anchors before it */
    uint8_t alone[CT_STATEMENT_WORDS];  /* of each: the other message has it nowhere */
    size_t count;
} side;

typedef struct alignment {
    side older;
    side newer;
    size_t anchors[CT_STATEMENT_WORDS]; /* places in the older of the words both have in one order */
    size_t anchor_count;
    size_t shared; /* content words of the older that the newer has, wherever */
    int cued;      /* the newer has a cue that the older has not */
    int adds;      /* the newer has a word such as "too" */
    int lasting;   /* "no longer", "not any more", and not so in the older */
} alignment;

static const ct_stated_word *word_of(const side *of, size_t i) { return &of->said->words[of->content[i]]; }

static void open_side(side *of, const ct_statement *said, const ct_statement *other) {
    of->said = said;
    of->count = 0;
    for (size_t i = 0; i < said->count; i++) {
        if (!is_content(&said->words[i])) continue;
        of->alone[of->count] = !holds(other, &said->words[i]);
        of->content[of->count++] = i;
    }
}

/* The longest common subsequence of content words. */
static void align(alignment *to) {
    side *a = &to->older, *b = &to->newer;
    uint8_t length[CT_STATEMENT_WORDS + 1][CT_STATEMENT_WORDS + 1];
    for (size_t i = a->count + 1; i-- > 0;)
        for (size_t j = b->count + 1; j-- > 0;) {
            if (i == a->count || j == b->count) length[i][j] = 0;
            else if (same(word_of(a, i), word_of(b, j))) length[i][j] = (uint8_t)(length[i + 1][j + 1] + 1);
            else length[i][j] = length[i + 1][j] > length[i][j + 1] ? length[i + 1][j] : length[i][j + 1];
        }
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        if (i < a->count && j < b->count && same(word_of(a, i), word_of(b, j))) {
            a->gap[i++] = b->gap[j++] = to->anchor_count;
            to->anchors[to->anchor_count++] = a->content[i - 1];
        } else if (j == b->count || (i < a->count && length[i + 1][j] >= length[i][j + 1])) {
            a->gap[i++] = to->anchor_count;
        } else {
            b->gap[j++] = to->anchor_count;
        }
    }
}

static int has_word(const ct_statement *statement, const ct_stated_word *word) {
    for (size_t i = 0; i < statement->count; i++)
        if (strcmp(statement->words[i].folded, word->folded) == 0) return 1;
    return 0;
}

/* Both sides and what they share, not yet aligned. */
static void lay_out(const ct_statement *older, const ct_statement *newer, alignment *to) {
    to->anchor_count = to->shared = 0;
    to->cued = to->adds = to->lasting = 0;
    open_side(&to->older, older, newer);
    open_side(&to->newer, newer, older);
    for (size_t i = 0; i < to->older.count; i++) to->shared += !to->older.alone[i];
}

static void find_cues(alignment *to) {
    const ct_statement *older = to->older.said, *newer = to->newer.said;
    for (size_t i = 0; i < newer->count; i++) {
        const ct_stated_word *word = &newer->words[i];
        if ((word->is & CUE) && !has_word(older, word)) to->cued = 1;
        if (word->is & LASTING) to->lasting = 1;
        if (word->is & ADDS) to->adds = 1;
    }
    for (size_t i = 0; i < older->count; i++)
        if (older->words[i].is & LASTING) to->lasting = 0;
}

/* The first of a side's own words in a gap, NOWHERE when there is none. */
static size_t first_alone(const side *of, size_t gap) {
    for (size_t i = 0; i < of->count; i++)
        if (of->gap[i] == gap && of->alone[i]) return i;
    return NOWHERE;
}

static size_t count_alone(const side *of) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) count += of->alone[i];
    return count;
}

/* Its own words other than numbers and dates. */
static size_t count_more(const side *of) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++)
        count += of->alone[i] && (word_of(of, i)->kind == CT_WORD_CONTENT || word_of(of, i)->kind == CT_WORD_NAME);
    return count;
}

static int is_substituted(const alignment *of, size_t gap) {
    return first_alone(&of->older, gap) != NOWHERE && first_alone(&of->newer, gap) != NOWHERE;
}

/* Four digits may be a year, or any number. */
static int is_one_shape(const ct_stated_word *a, const ct_stated_word *b) {
    if (a->shape == b->shape) return 1;
    return a->bytes == b->bytes && a->shape <= CT_NUMBER_YEAR && b->shape <= CT_NUMBER_YEAR &&
           !((a->is | b->is) & NUMBER);
}

/* Values of one kind that differ, and of numbers not such as count different things ("28 mm", "18
 * metres"). */
static int is_exchange(const alignment *of, size_t i, size_t j) {
    const ct_stated_word *a = word_of(&of->older, i), *b = word_of(&of->newer, j);
    if (a->kind != b->kind || a->kind == CT_WORD_CONTENT) return 0;
    if (a->kind != CT_WORD_NUMBER) return 1;
    if (!is_one_shape(a, b) || same_number(a, b)) return 0;
    const ct_stated_word *unit = next_word(of->older.said, of->older.content[i]);
    const ct_stated_word *other = next_word(of->newer.said, of->newer.content[j]);
    return !unit || !other || unit->kind != CT_WORD_CONTENT || other->kind != CT_WORD_CONTENT || same(unit, other);
}

/* The first exchange in a gap. */
static int find_exchange(const alignment *of, size_t gap, size_t *old, size_t *new) {
    for (size_t i = 0; i < of->older.count; i++) {
        if (of->older.gap[i] != gap || !of->older.alone[i]) continue;
        for (size_t j = 0; j < of->newer.count; j++)
            if (of->newer.gap[j] == gap && of->newer.alone[j] && is_exchange(of, i, j)) {
                *old = i;
                *new = j;
                return 1;
            }
    }
    return 0;
}

/* How many of the query's words only this one has. */
static size_t asks_for(const side *of, const ct_statement *query) {
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) count += of->alone[i] && holds(query, word_of(of, i));
    return count;
}

/* A name, number or date that the query asks about and that only one of the two has. */
static int query_tells_apart(const side *of, const ct_statement *query) {
    for (size_t i = 0; i < of->count; i++)
        if (of->alone[i] && word_of(of, i)->kind != CT_WORD_CONTENT && holds(query, word_of(of, i))) return 1;
    return 0;
}

/* ---- endings -------------------------------------------------------------------------------- */

/* The nearest content word in the same clause, in steps of +1 or -1. */
static const ct_stated_word *beside(const ct_statement *said, size_t place, int step) {
    for (;;) {
        if (step < 0 && (place == 0 || said->words[place].opens)) return NULL;
        place += (size_t)step;
        if (place >= said->count || (step > 0 && said->words[place].opens)) return NULL;
        if (is_content(&said->words[place])) return &said->words[place];
    }
}

/* "won't quit" */
static int is_negated(const ct_statement *said, size_t place) {
    for (; place > 0 && !said->words[place].opens; place--)
        if (said->words[place - 1].is & NEGATION) return 1;
    return 0;
}

/* A word of the older at which the newer says no, or that it is over. */
static const ct_stated_word *find_ended(const alignment *of) {
    const ct_statement *older = of->older.said, *newer = of->newer.said;
    for (size_t i = 0; i < older->count && !of->lasting; i++)
        if (older->words[i].is & (NEGATION | ENDING)) return NULL;
    for (size_t i = 0; i < newer->count; i++) {
        const ct_stated_word *word = &newer->words[i], *before = NULL, *behind = NULL;
        int particle = strcmp(word->folded, "off") == 0;
        int ends = (word->is & ENDING) && !is_negated(newer, i);
        if (ends) before = beside(newer, i, -1);
        if ((word->is & NEGATION) || (ends && !particle)) behind = beside(newer, i, 1);
        if (before && holds(older, before)) return before;
        if (behind && holds(older, behind)) return behind;
    }
    return NULL;
}

/* What ends must not be something else's: no substitution up to there. */
static int ends_older(const alignment *of, const ct_statement *query) {
    const ct_stated_word *ended = find_ended(of);
    if (!ended) return 0;
    size_t last = of->anchor_count;
    for (size_t k = of->anchor_count; k-- > 0;)
        if (same(&of->older.said->words[of->anchors[k]], ended)) last = k;
    for (size_t gap = 0; gap <= last; gap++)
        if (is_substituted(of, gap)) return 0;
    size_t missing = count_alone(&of->older);
    if (missing == 0 || (missing == 1 && of->shared >= 2) || (of->lasting && missing <= 2)) return 1;
    return ended->kind == CT_WORD_NAME && !holds(query, ended);
}

/* ---- values --------------------------------------------------------------------------------- */

static int is_event(const alignment *of) {
    for (size_t i = 0; i < of->older.count; i++) {
        const ct_stated_word *word = word_of(&of->older, i);
        if (!of->older.alone[i] && (word->is & PAST)) return 1;
    }
    return 0;
}

/* "1182 is closed", "note 7 about doors": the number is of what they are about. */
static int is_identifier(const alignment *of, size_t old) {
    const ct_statement *older = of->older.said;
    size_t place = of->older.content[old];
    const ct_stated_word *word = &older->words[place], *behind = next_word(older, place);
    if (word->kind != CT_WORD_NUMBER || !behind) return 0;
    if (behind->is & COPULA) return 1;
    return !of->cued && !word->opens && place > 0 && is_content(word - 1) && word[-1].kind != CT_WORD_NUMBER &&
           behind->kind == CT_WORD_FUNCTION && !(behind->is & FILLER);
}

/* "9th of May", "June 20" */
static int is_in_date(const side *of, size_t i) {
    if (word_of(of, i)->kind != CT_WORD_MONTH) return 0;
    for (size_t j = i ? i - 1 : 0; j < of->count && j <= i + 1; j++) {
        size_t apart = of->content[j] > of->content[i] ? of->content[j] - of->content[i] : of->content[i] - of->content[j];
        if (word_of(of, j)->kind == CT_WORD_NUMBER && apart <= 2) return 1;
    }
    return 0;
}

/* Numbers, days, months or names, but not all of one kind. */
static int exchanges_kinds(const alignment *of, size_t gap) {
    int kind = -1;
    for (size_t i = 0; i < of->older.count; i++) {
        if (of->older.gap[i] != gap || !of->older.alone[i] || is_in_date(&of->older, i)) continue;
        for (size_t j = 0; j < of->newer.count; j++) {
            if (of->newer.gap[j] != gap || !of->newer.alone[j] || !is_exchange(of, i, j)) continue;
            if (kind >= 0 && kind != word_of(&of->older, i)->kind) return 1;
            kind = word_of(&of->older, i)->kind;
        }
    }
    return 0;
}

/* In the clause of the value. */
static int has_alone_before(const side *of, size_t gap, size_t value) {
    for (size_t i = value; i-- > 0 && of->gap[i] == gap;) {
        for (size_t k = of->content[i] + 1; k <= of->content[i + 1]; k++)
            if (of->said->words[k].opens) return 0;
        if (of->alone[i]) return 1;
    }
    return 0;
}

static int has_alone_behind(const side *of, size_t gap, size_t value) {
    for (size_t i = value + 1; i < of->count && of->gap[i] == gap; i++)
        if (of->alone[i] && word_of(of, i)->kind != CT_WORD_MONTH) return 1;
    return 0;
}

/* The newer may say it of a part, or under another condition: its own words stand inside what both say
 * ("the wedding party is in July"), or either has its own behind the value ("10 on Sundays"). */
static int is_qualified(const alignment *of, size_t gap, size_t old, size_t new) {
    for (size_t k = 1; k < of->anchor_count; k++)
        if (k != gap && first_alone(&of->newer, k) != NOWHERE) return 1;
    return (gap > 0 && has_alone_before(&of->newer, gap, new)) ||
           (has_alone_behind(&of->older, gap, old) && has_alone_behind(&of->newer, gap, new));
}

static int exchanges_value(const alignment *of, size_t gap, size_t old, size_t new) {
    /* What stands before the value on both sides may be what they are about. */
    if (has_alone_before(&of->older, gap, old) && has_alone_before(&of->newer, gap, new)) return 0;
    if (is_identifier(of, old)) return 0;
    if (!of->cued && (is_event(of) || exchanges_kinds(of, gap) || is_qualified(of, gap, old, new))) return 0;
    /* One word in common is little: then the older must say nothing else. */
    return of->cued || of->shared >= 2 ||
           (word_of(&of->older, old)->kind != CT_WORD_NAME && !count_more(&of->older));
}

/* A side's own words are one run of one kind: nothing but a value. */
static int is_one_value(const side *of, size_t *value) {
    size_t last = NOWHERE;
    *value = NOWHERE;
    for (size_t i = 0; i < of->count; i++) {
        if (!of->alone[i]) continue;
        if (last != NOWHERE && (of->content[i] != of->content[last] + 1 || word_of(of, i)->kind != word_of(of, last)->kind))
            return 0;
        if (last == NOWHERE) *value = i;
        last = i;
    }
    return last != NOWHERE && word_of(of, last)->kind != CT_WORD_CONTENT && word_of(of, last)->kind != CT_WORD_MONTH;
}

/* All of the older but its value is there, in whatever order, and one value of that kind is new. */
static int restates_with_value(const alignment *of) {
    size_t value, last = NOWHERE;
    if (of->shared < 2 || !is_one_value(&of->older, &value)) return 0;
    if (word_of(&of->older, value)->kind == CT_WORD_NAME && !of->cued) return 0;
    for (size_t j = 0; j < of->newer.count; j++) {
        if (!of->newer.alone[j] || !is_exchange(of, value, j)) continue;
        if (last != NOWHERE && of->newer.content[j] != of->newer.content[last] + 1) return 0;
        last = j;
    }
    return last != NOWHERE;
}

/* A choice that is no name and no number ends the older, and the newer has a cue. */
static int exchanges_choice(const alignment *of, size_t gap) {
    size_t own = 0;
    if (!of->cued || of->shared < 2 || gap != of->anchor_count) return 0;
    for (size_t i = 0; i < of->older.count; i++) own += of->older.gap[i] == gap && of->older.alone[i];
    return own <= 2;
}

static int replaces_value(const alignment *of) {
    size_t substitutions = 0, exchanges = 0, gap = 0, old = 0, new = 0;
    for (size_t k = 0; k <= of->anchor_count; k++) {
        if (!is_substituted(of, k)) continue;
        substitutions++;
        if (find_exchange(of, k, &old, &new)) exchanges++;
        gap = k;
    }
    if (substitutions == 1 && exchanges == 1) return exchanges_value(of, gap, old, new);
    if (exchanges > 0) return 0;
    return restates_with_value(of) || (substitutions == 1 && exchanges_choice(of, gap));
}

ct_statement_pair ct_statement_compare(const ct_statement *older, const ct_statement *newer,
                                       const ct_statement *query) {
    alignment both;
    ct_statement_pair pair = {0};
    pair.missing = older->count;
    if (!(older->beginnings & newer->beginnings)) return pair;
    lay_out(older, newer, &both);
    pair.shared = both.shared;
    pair.missing = count_alone(&both.older);
    pair.asked = asks_for(&both.older, query) > asks_for(&both.newer, query);
    /* What shares less than it lacks is about something else. */
    if (!both.shared || count_more(&both.older) > both.shared + 1) return pair;
    if (query_tells_apart(&both.older, query) || query_tells_apart(&both.newer, query)) return pair;
    align(&both);
    find_cues(&both);
    pair.changes = !both.adds && (ends_older(&both, query) || (pair.missing > 0 && replaces_value(&both)));
    return pair;
}
