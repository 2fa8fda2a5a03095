#include "recall/ct_statement_pair.h"

#include <string.h>

#define NOWHERE SIZE_MAX

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

/* Of names, numbers and composed words ("feature/a") the whole must agree, of other words a long
 * beginning will do ("retry", "retries"). */
static int same(const ct_stated_word *a, const ct_stated_word *b) {
    if (!(a->beginning & b->beginning)) return 0;
    if (a->kind == CT_WORD_NUMBER || b->kind == CT_WORD_NUMBER) return a->kind == b->kind && same_number(a, b);
    size_t least = a->stem < b->stem ? a->stem : b->stem, most = a->stem < b->stem ? b->stem : a->stem;
    size_t common = 0;
    while (common < least && a->folded[common] == b->folded[common]) common++;
    if (common == most) return 1;
    if (a->kind == CT_WORD_NAME || b->kind == CT_WORD_NAME || a->composed || b->composed) return 0;
    size_t enough = (unsigned char)a->folded[0] < 0x80 ? 4 : 8;
    return common >= enough && 10 * common >= 6 * most;
}

static int holds(const ct_statement *statement, const ct_stated_word *word) {
    if (!(statement->beginnings & word->beginning)) return 0;
    for (size_t i = 0; i < statement->content_count; i++)
        if (same(&statement->words[statement->content[i]], word)) return 1;
    return 0;
}

static const ct_stated_word *next_word(const ct_statement *statement, size_t place) {
    return place + 1 < statement->count && !statement->words[place + 1].opens ? &statement->words[place + 1] : NULL;
}

/* ---- comparing statements ------------------------------------------------------------------- */

/* One of two messages beside the other. */
typedef struct side {
    const ct_statement *said;
    const uint8_t *content;             /* places of the content words */
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
    of->content = said->content;
    of->count = said->content_count;
    for (size_t i = 0; i < of->count; i++) of->alone[i] = !holds(other, &said->words[said->content[i]]);
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
        if ((word->is & CT_IS_CUE) && !has_word(older, word)) to->cued = 1;
        if (word->is & CT_IS_LASTING) to->lasting = 1;
        if (word->is & CT_IS_ADDS) to->adds = 1;
    }
    for (size_t i = 0; i < older->count; i++)
        if (older->words[i].is & CT_IS_LASTING) to->lasting = 0;
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
           !((a->is | b->is) & CT_IS_NUMBER);
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
        if (ct_stated_word_is_content(&said->words[place])) return &said->words[place];
    }
}

/* "won't quit" */
static int is_negated(const ct_statement *said, size_t place) {
    for (; place > 0 && !said->words[place].opens; place--)
        if (said->words[place - 1].is & CT_IS_NEGATION) return 1;
    return 0;
}

/* A word of the older at which the newer says no, or that it is over. */
static const ct_stated_word *find_ended(const alignment *of) {
    const ct_statement *older = of->older.said, *newer = of->newer.said;
    for (size_t i = 0; i < older->count && !of->lasting; i++)
        if (older->words[i].is & (CT_IS_NEGATION | CT_IS_ENDING)) return NULL;
    for (size_t i = 0; i < newer->count; i++) {
        const ct_stated_word *word = &newer->words[i], *before = NULL, *behind = NULL;
        int particle = strcmp(word->folded, "off") == 0;
        int ends = (word->is & CT_IS_ENDING) && !is_negated(newer, i);
        if (ends) before = beside(newer, i, -1);
        if ((word->is & CT_IS_NEGATION) || (ends && !particle)) behind = beside(newer, i, 1);
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
        if (!of->older.alone[i] && (word->is & CT_IS_PAST)) return 1;
    }
    return 0;
}

/* "1182 is closed", "note 7 about doors": the number is of what they are about. */
static int is_identifier(const alignment *of, size_t old) {
    const ct_statement *older = of->older.said;
    size_t place = of->older.content[old];
    const ct_stated_word *word = &older->words[place], *behind = next_word(older, place);
    if (word->kind != CT_WORD_NUMBER || !behind) return 0;
    if (behind->is & CT_IS_COPULA) return 1;
    return !of->cued && !word->opens && place > 0 && ct_stated_word_is_content(word - 1) && word[-1].kind != CT_WORD_NUMBER &&
           behind->kind == CT_WORD_FUNCTION && !(behind->is & CT_IS_FILLER);
}

/* "9th of May", "June 20" */
static int is_in_date(const side *of, size_t i) {
    if (word_of(of, i)->kind != CT_WORD_MONTH) return 0;
    for (size_t j = i ? i - 1 : 0; j < of->count && j <= i + 1; j++) {
        if (word_of(of, j)->kind != CT_WORD_NUMBER) continue;
        if (of->content[j] <= of->content[i] + 2 && of->content[i] <= of->content[j] + 2) return 1;
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
        if (last != NOWHERE && of->content[i] != of->content[last] + 1) return 0;
        if (last != NOWHERE && word_of(of, i)->kind != word_of(of, last)->kind) return 0;
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
