#include "directive/ct_form.h"

#include <string.h>

#include "directive/ct_directive.h"
#include "directive/ct_form_words.h"

/* Of a longer sentence the beginning is looked at. */
#define WORDS_MAX 64
#define BUFFER_BYTES 1024

/* A quoted stretch stands as one word that is in no list. */
#define QUOTED "\""

/* How far a quotation may reach. */
#define QUOTE_BYTES_MAX 600

typedef struct reading {
    char lower[BUFFER_BYTES]; /* words, each ended by NUL */
    const char *words[WORDS_MAX + 1];
    unsigned char opens[WORDS_MAX + 1]; /* a clause begins at this word */
    size_t count;
} reading;

/* ---- words --------------------------------------------------------------------------------- */

typedef struct quote {
    const char *open;
    const char *close;
} quote;

static const quote quotes[] = {
    {"\"", "\""}, {"`", "`"}, {"“", "”"}, {"„", "“"},
    {"«", "»"}, {"「", "」"}, {"『", "』"},
};

static int starts_with(const char *text, size_t bytes, const char *what) {
    size_t length = strlen(what);
    return length <= bytes && memcmp(text, what, length) == 0;
}

size_t ct_form_quote(const char *text, size_t bytes) {
    if (bytes > QUOTE_BYTES_MAX) bytes = QUOTE_BYTES_MAX;
    for (size_t q = 0; q < sizeof quotes / sizeof *quotes; q++) {
        if (!starts_with(text, bytes, quotes[q].open)) continue;
        for (size_t i = strlen(quotes[q].open); i < bytes && text[i] != '\n'; i++)
            if (starts_with(text + i, bytes - i, quotes[q].close)) return i + strlen(quotes[q].close);
    }
    return 0;
}

/* Length of what parts clauses at `text`, 0 when nothing does. */
static size_t clause_mark(const char *text, size_t bytes) {
    static const char *const marks[] = {",", ";", ": ", "(", ")", " - ", "–", "—", NULL};
    for (size_t i = 0; marks[i]; i++)
        if (starts_with(text, bytes, marks[i])) return strlen(marks[i]);
    return 0;
}

static int is_word_byte(unsigned char byte) {
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte == '\'' ||
           byte == '-' || byte == '_' || byte == '.' || byte == '/' || byte == '@';
}

static unsigned char lower_byte(unsigned char byte, unsigned char before) {
    if (byte >= 'A' && byte <= 'Z') return byte + 32;
    if (before == 0xC3 && byte >= 0x80 && byte <= 0x9E && byte != 0x97) return byte + 32;
    return byte;
}

static void read_words(const char *text, size_t bytes, reading *to) {
    size_t used = 0, in_word = 0;
    int opens = 1;
    unsigned char before = 0;
    to->count = 0;
    for (size_t i = 0; i < bytes && to->count < WORDS_MAX && used + 4 < BUFFER_BYTES; i++) {
        size_t skip = in_word && text[i] == '"' ? 0 : ct_form_quote(text + i, bytes - i);
        size_t clause = skip ? 0 : clause_mark(text + i, bytes - i);
        int curly = starts_with(text + i, bytes - i, "’"); /* an apostrophe */
        unsigned char byte = curly ? '\'' : lower_byte((unsigned char)text[i], before);
        int word = !skip && !clause && (curly || is_word_byte(byte)) && (in_word || (byte != '-' && byte != '.'));
        if (word && !in_word) {
            to->opens[to->count] = (unsigned char)opens;
            to->words[to->count] = to->lower + used;
            opens = 0;
        }
        if (word) {
            to->lower[used++] = (char)byte;
            in_word++;
        } else if (in_word) {
            while (in_word > 1 && to->lower[used - 1] == '.') used--, in_word--;
            to->lower[used++] = 0;
            to->count++;
            in_word = 0;
        }
        if (skip && to->count < WORDS_MAX) {
            to->opens[to->count] = (unsigned char)opens;
            to->words[to->count++] = QUOTED;
            opens = 0;
        }
        if (clause) opens = 1;
        before = (unsigned char)text[i];
        i += (skip ? skip : clause ? clause : curly ? 3 : 1) - 1;
    }
    if (in_word) {
        while (in_word > 1 && to->lower[used - 1] == '.') used--, in_word--;
        to->lower[used] = 0;
        to->count++;
    }
    to->opens[to->count] = 1;
}

/* ---- phrases ------------------------------------------------------------------------------- */

/* Words that a phrase takes up at `at`, 0 when it does not stand there. */
static size_t phrase_at(const reading *of, size_t at, const char *phrase) {
    size_t words = 0;
    for (const char *p = phrase; *p; words++) {
        size_t length = strcspn(p, " ");
        if (at + words >= of->count) return 0;
        const char *word = of->words[at + words];
        if (strncmp(word, p, length) != 0 || word[length]) return 0;
        p += length + (p[length] == ' ');
    }
    return words;
}

/* The same for the longest of a list. */
static size_t any_at(const reading *of, size_t at, const char *const *list) {
    size_t best = 0;
    for (size_t i = 0; list[i]; i++) {
        size_t words = phrase_at(of, at, list[i]);
        if (words > best) best = words;
    }
    return best;
}

static int holds(const reading *of, const char *const *list) {
    for (size_t at = 0; at < of->count; at++)
        if (any_at(of, at, list)) return 1;
    return 0;
}

/* The same, but for words that belong to "from now on" and its like. */
static int holds_outside_scope(const reading *of, const char *const *list) {
    for (size_t at = 0; at < of->count; at++) {
        size_t scope = any_at(of, at, scopes);
        if (scope) at += scope - 1;
        else if (any_at(of, at, list)) return 1;
    }
    return 0;
}

static int is_plural(const char *word) {
    size_t length = strlen(word);
    return length > 4 && word[length - 1] == 's' && !strchr("siu'", word[length - 2]);
}

static int holds_plural(const reading *of) {
    for (size_t at = 1; at < of->count; at++)
        if (is_plural(of->words[at])) return 1;
    return 0;
}

static int is_dont(const char *word) { return strcmp(word, "don't") == 0 || strcmp(word, "dont") == 0; }

static size_t dont_at(const reading *of, size_t at) {
    if (at < of->count && is_dont(of->words[at])) return 1;
    return phrase_at(of, at, "do not");
}

/* ---- moods --------------------------------------------------------------------------------- */

static int verb_at(const reading *of, size_t at) { return any_at(of, at, verbs) > 0; }

/* Whether a finite verb follows soon within the clause. */
static int finite_behind(const reading *of, size_t at) {
    for (size_t i = at + 1; i < of->count && i <= at + 3 && !of->opens[i]; i++)
        if (any_at(of, i, finites)) return 1;
    return 0;
}

/* "never" and anything but what has happened. */
static int is_forbidden(const reading *of, size_t at) {
    if (at >= of->count || of->opens[at]) return 0;
    const char *word = of->words[at];
    size_t length = strlen(word);
    if (verb_at(of, at)) return 1;
    if (any_at(of, at, participles) || any_at(of, at, subject_pronouns)) return 0;
    return length < 3 || (strcmp(word + length - 2, "ed") != 0 && strcmp(word + length - 3, "ing") != 0);
}

#define BIT(mark) ((uint64_t)1 << (mark))

/* "every ... must": what has to be, as a rule. */
static int needs_behind(const reading *of, size_t at) {
    size_t from = at;
    if (!any_at(of, at, everys) && strcmp(of->words[at], "your") != 0) return 0;
    for (size_t i = from + 1; i < of->count && i < from + 10; i++)
        if (any_at(of, i, needs)) return 1;
    return 0;
}

/* The mood of the clause that begins at `at`: a bit, or 0. */
static uint64_t mood_at(const reading *of, size_t at) {
    if (at >= of->count) return 0;
    size_t dont = dont_at(of, at), next = at + 1;
    if (any_at(of, at, names)) return BIT(CT_MARK_NAME);
    if (any_at(of, at, wants)) return BIT(CT_MARK_WANT);
    if (any_at(of, at, asks)) return BIT(CT_MARK_ASKS);
    if (any_at(of, at, musts)) return any_at(of, at, not_musts) ? 0 : BIT(CT_MARK_MUST);
    if (dont && at + dont < of->count) return BIT(phrase_at(of, at + dont, "ever") ? CT_MARK_NEVER : CT_MARK_DONT);
    if (strcmp(of->words[at], "always") == 0 && verb_at(of, next)) return BIT(CT_MARK_ALWAYS);
    if (strcmp(of->words[at], "never") == 0 && is_forbidden(of, next)) return BIT(CT_MARK_NEVER);
    if (strcmp(of->words[at], "only") == 0 && verb_at(of, next)) return BIT(CT_MARK_ALWAYS);
    if (any_at(of, at, ensures)) return BIT(CT_MARK_ENSURE);
    if (any_at(of, at, prefers)) return BIT(CT_MARK_PREFER);
    if (needs_behind(of, at)) return BIT(CT_MARK_NEEDS);
    if (finite_behind(of, at)) return 0;
    if (of->opens[next]) return 0; /* "Stop, that's wrong", "Open: the roof" */
    if (any_at(of, at, stops)) return BIT(CT_MARK_STOP);
    if (any_at(of, at, fragments)) return BIT(CT_MARK_FRAGMENT);
    if (strcmp(of->words[at], "do") == 0 && any_at(of, next, subject_pronouns)) return 0;
    return verb_at(of, at) ? BIT(CT_MARK_VERB) : 0;
}

/* Past what comes before a clause's head. */
static size_t skip_front(const reading *of, size_t at) {
    for (;;) {
        size_t scope = any_at(of, at, scopes), words = scope ? scope : any_at(of, at, fillers);
        if (!words || at + words >= of->count) return at;
        at += words;
    }
}

static size_t next_clause(const reading *of, size_t at) {
    for (at++; at < of->count; at++)
        if (of->opens[at]) break;
    return at;
}

/* "Whenever I ask for a summary keep it short": a command without a mark before it. */
static uint64_t mood_without_mark(const reading *of, size_t at) {
    static words_list strong = {"always", "never", "don't", "keep", "use", "please", "tell", "show", "give", "ask", "send", NULL};
    static words_list no_verb = {"to", "you", "i", "we", "they", "and", "or", "will", "can", "not", "would", "it", "he", "she", "the", "a",
                                 "always", "never", "should", "must", "may", "could", "just", QUOTED, NULL};
    for (size_t i = at + 3; i < of->count; i++) {
        if (!any_at(of, i, strong) || any_at(of, i - 1, no_verb)) continue;
        if (strcmp(of->words[i], "please") == 0) i++;
        return mood_at(of, i);
    }
    return 0;
}

/* What the verb of a clause and the words right behind it show. */
static uint64_t object_marks(const reading *of, size_t at, uint64_t mood) {
    uint64_t marks = 0;
    size_t verb = at;
    if (mood & (BIT(CT_MARK_ALWAYS) | BIT(CT_MARK_NEVER) | BIT(CT_MARK_DONT))) {
        size_t dont = dont_at(of, at);
        verb += dont ? dont : 1;
        if (phrase_at(of, verb, "ever")) verb++;
    }
    if (any_at(of, verb, manners)) marks |= BIT(CT_MARK_MANNER);
    size_t object = verb + 1;
    if (object >= of->count || of->opens[object]) return marks;
    if (any_at(of, object, object_persons)) {
        marks |= BIT(CT_MARK_OBJECT_ME);
        if (strcmp(of->words[object], "me") == 0) object++; /* "give me the ..." */
    }
    if (any_at(of, object, object_definites)) return marks | BIT(CT_MARK_OBJECT_THE);
    if (any_at(of, object, object_these)) return marks | BIT(CT_MARK_OBJECT_THIS);
    if (any_at(of, object, indefinites)) return marks | BIT(CT_MARK_OBJECT_A);
    for (size_t i = object; i < of->count && i < object + 3 && !(of->opens[i] && i > object); i++) {
        if (any_at(of, i, object_definites) || any_at(of, i, object_these)) break;
        if (is_plural(of->words[i])) return marks | BIT(CT_MARK_OBJECT_PLURAL);
    }
    return marks;
}

/* The mood of the sentence, of the first clause that has one. */
static uint64_t find_mood(const reading *of, uint64_t *marks) {
    size_t first = skip_front(of, 0), at = first;
    while (at < of->count) {
        int opened = any_at(of, at, openers) > 0 && !any_at(of, at, asks);
        uint64_t mood = 0;
        if (!opened || at != first) mood = mood_at(of, at);
        else if (next_clause(of, at) >= of->count) mood = mood_without_mark(of, at);
        if (!mood && opened && needs_behind(of, at)) mood = BIT(CT_MARK_NEEDS);
        if (mood) {
            if (at != first && mood & BIT(CT_MARK_FRAGMENT)) return 0;
            if (at != first) *marks |= BIT(CT_MARK_LATER);
            *marks |= object_marks(of, at, mood);
            return mood;
        }
        at = next_clause(of, at);
        at = at < of->count ? skip_front(of, at) : at;
    }
    return 0;
}

/* ---- other languages ----------------------------------------------------------------------- */

static int text_holds(const char *lower, const char *const *list) {
    for (size_t i = 0; list[i]; i++)
        if (strstr(lower, list[i])) return 1;
    return 0;
}

static int is_foreign_order(const char *text, size_t bytes) {
    char lower[BUFFER_BYTES];
    if (bytes + 2 > sizeof lower) return 0;
    size_t used = 1;
    lower[0] = ' '; /* so that a word can be looked for with the space before it */
    unsigned char before = 0;
    for (size_t i = 0; i < bytes;) {
        size_t skip = ct_form_quote(text + i, bytes - i);
        if (skip && i == 0) return 0;
        if (!skip) lower[used++] = (char)lower_byte((unsigned char)text[i], before);
        before = (unsigned char)text[i];
        i += skip ? skip : 1;
    }
    lower[used] = 0;
    if (text_holds(lower, foreign_against)) return 0;
    return text_holds(lower, foreign_names) || (text_holds(lower, foreign_scopes) && text_holds(lower, foreign_orders));
}

/* ---- the sentence -------------------------------------------------------------------------- */

static int asks_something(const char *text, size_t bytes) {
    static const char *const marks[] = {"?", "？", "؟", NULL};
    for (size_t back = 1; back <= 4 && back <= bytes; back++)
        for (size_t i = 0; marks[i]; i++)
            if (starts_with(text + bytes - back, back, marks[i])) return 1;
    return 0;
}

static int lifts(const reading *of) {
    return holds(of, withdrawals) || (holds(of, lifted) && holds(of, lifters));
}

/* "Could you always ...?", and not "Could you ...?" */
static int asks_for_good(const reading *of, size_t first) {
    static words_list lasting = {"always", "never", "stop", NULL};
    size_t words = any_at(of, first, asks);
    if (!words) return 0;
    if (holds(of, scopes) || phrase_at(of, first, "would you mind calling me")) return 1;
    for (size_t at = first + words; at < of->count && at < first + words + 3; at++)
        if (any_at(of, at, lasting)) return any_at(of, at, stops) == 0 || holds(of, yours) || holds(of, constants);
    return 0;
}

/* Whether the mood counts: what is said of somebody, asked, or told by others is no command. */
static int is_command(const reading *of, size_t first, uint64_t mood, int question) {
    if (any_at(of, first, idioms) || holds(of, reports)) return 0;
    if (question || mood & BIT(CT_MARK_ASKS)) return mood & BIT(CT_MARK_ASKS) && asks_for_good(of, first);
    if (mood & (BIT(CT_MARK_WANT) | BIT(CT_MARK_FOREIGN))) return 1;
    return !any_at(of, first, subjects) || holds(of, pleases);
}

void ct_form_read(const char *text, size_t bytes, ct_sentence *sentence) {
    static const struct {
        ct_mark mark;
        const char *const *list;
    } anywhere[] = {
        {CT_MARK_SCOPE, scopes},       {CT_MARK_OCCASION, occasions}, {CT_MARK_EVERY, everys},
        {CT_MARK_CONSTANT, constants}, {CT_MARK_PLEASE, pleases},     {CT_MARK_THE, definites},
        {CT_MARK_FIRST, firsts},       {CT_MARK_SECOND, seconds},     {CT_MARK_YOUR, yours},
        {CT_MARK_A, indefinites},      {CT_MARK_OUTPUT, outputs},
    };
    reading of;
    uint64_t marks = 0, mood;
    sentence->marks = 0;
    sentence->withdraws = 0;
    read_words(text, bytes, &of);
    if (!of.count) return;
    int question = asks_something(text, bytes);
    size_t first = skip_front(&of, 0);
    sentence->withdraws = !question && lifts(&of);
    mood = find_mood(&of, &marks);
    if (!mood && is_foreign_order(text, bytes)) mood = BIT(CT_MARK_FOREIGN);
    if (!mood || !is_command(&of, first, mood, question)) return;
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere; i++)
        if (holds(&of, anywhere[i].list)) marks |= BIT(anywhere[i].mark);
    if (any_at(&of, first, reminders)) marks |= BIT(CT_MARK_REMINDER);
    if (holds_outside_scope(&of, onces)) marks |= BIT(CT_MARK_ONCE);
    if (holds_outside_scope(&of, these)) marks |= BIT(CT_MARK_THIS);
    if (holds_plural(&of)) marks |= BIT(CT_MARK_PLURAL);
    if (of.count <= 3) marks |= BIT(CT_MARK_SHORT);
    if (of.count > 20) marks |= BIT(CT_MARK_LONG);
    sentence->marks = mood | marks;
}

int32_t ct_form_kind(const char *text, size_t bytes) {
    static words_list calls = {"call me", "address me as", "calling me", NULL};
    static words_list changes = {"from now on", "going forward", "in future", "in the future", "from here on", "instead",
                                 "starting today", "henceforth", "as of now", "as of today", "no longer", NULL};
    reading of;
    int32_t kind = 0;
    read_words(text, bytes, &of);
    if (holds(&of, changes)) kind |= CT_DIRECTIVE_CHANGES;
    for (size_t at = 0; at < of.count; at++) {
        /* Not "call me at five". */
        static words_list times = {"before", "after", "at", "when", "if", "on", "back", "later", "between", NULL};
        size_t words = any_at(&of, at, calls);
        if (words && at + words < of.count && !any_at(&of, at + words, times)) kind |= CT_DIRECTIVE_NAMES;
    }
    return kind;
}
