#include "gate/ct_known.h"

#include <string.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "text/ct_script.h"

/* Words of a run. */
#define RUN 3

#define CAPACITY_FIRST 256

/* Of one generation: two take 32 MB. */
#define GENERATION (1u << 20)

/* Hashes; 0 is a free place.  Two that are the same by chance make a text a little better known, in one case of 10^13. */
typedef struct set {
    uint64_t *list;
    size_t count;
    size_t capacity; /* a power of two */
} set;

/* What was added last, and what came before; what came before that is forgotten. */
typedef struct generations {
    set now;
    set before;
} generations;

struct ct_known {
    generations runs;
    generations messages;
};

int ct_known_create(ct_known **out, ct_error *error) {
    *out = ct_alloc_zero(sizeof **out);
    return *out ? CT_OK : ct_fail_nomem(error);
}

void ct_known_free(ct_known *known) {
    if (!known) return;
    ct_free(known->runs.now.list);
    ct_free(known->runs.before.list);
    ct_free(known->messages.now.list);
    ct_free(known->messages.before.list);
    ct_free(known);
}

/* ---- sets ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t value) { /* the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) */
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static size_t slot_of(const set *of, uint64_t hash) {
    size_t slot = (size_t)mix(hash) & (of->capacity - 1);
    while (of->list[slot] && of->list[slot] != hash) slot = (slot + 1) & (of->capacity - 1);
    return slot;
}

static int holds(const set *of, uint64_t hash) { return of->capacity && of->list[slot_of(of, hash)] == hash; }

static int has(const generations *of, uint64_t hash) {
    return hash && (holds(&of->now, hash) || holds(&of->before, hash));
}

static int grow(set *of) {
    set larger = {.capacity = of->capacity ? 2 * of->capacity : CAPACITY_FIRST, .count = of->count};
    larger.list = ct_alloc_zero(larger.capacity * sizeof *larger.list);
    if (!larger.list) return -1;
    for (size_t i = 0; i < of->capacity; i++)
        if (of->list[i]) larger.list[slot_of(&larger, of->list[i])] = of->list[i];
    ct_free(of->list);
    *of = larger;
    return 0;
}

static int add(generations *to, uint64_t hash) {
    set *now = &to->now;
    if (now->count == GENERATION) {
        ct_free(to->before.list);
        to->before = *now;
        *now = (set){0};
    }
    if ((now->count + 1) * 3 > now->capacity * 2 && grow(now)) return -1;
    size_t slot = slot_of(now, hash);
    now->count += !now->list[slot];
    now->list[slot] = hash;
    return 0;
}

/* ---- words ---------------------------------------------------------------------------------- */

typedef struct reader {
    const unsigned char *text;
    size_t bytes;
    size_t at;
} reader;

static int is_apart(uint32_t c) { /* a word by itself */
    ct_script script = ct_script_of(c);
    return script >= CT_SCRIPT_CJK && script <= CT_SCRIPT_MYANMAR && script != CT_SCRIPT_HANGUL;
}

/* Punctuation and symbols of Unicode's general blocks count as gaps. */
static int is_letter(uint32_t c) {
    if (c < 0x80) return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    return c >= 0xaa && c != 0xab && c != 0xbb && c != 0xbf && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c <= 0x206f) &&
           !(c >= 0x3000 && c <= 0x3004) && !(c >= 0x3008 && c <= 0x3020) && !(c >= 0xff00 && c <= 0xff0f) &&
           !(c >= 0xff1a && c <= 0xff20) && c != 0xfffd;
}

static uint32_t lower(uint32_t c) {
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

/* The hash of the next word, never 0; 0 at the end.  *has_digit: of ASCII's. */
static uint64_t next_word(reader *from, int *has_digit) {
    uint64_t hash = 0;
    *has_digit = 0;
    while (from->at < from->bytes) {
        uint32_t c = 0;
        size_t length = ct_utf8_decode(from->text + from->at, from->bytes - from->at, &c);
        int apart = length && is_apart(c);
        if (hash && (apart || !length || !is_letter(c))) break;
        from->at += length ? length : 1;
        if (!length || !is_letter(c)) continue;
        *has_digit |= c >= '0' && c <= '9';
        hash = mix(hash + lower(c) + 0x9e3779b97f4a7c15u) | 1;
        if (apart) break;
    }
    return hash;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static uint64_t join(const uint64_t *words, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) hash = mix(hash * 31 + words[i]);
    return hash | 1;
}

/* Known texts have their runs of one and two words too, which a short text may be. */
int ct_known_add_text(ct_known *known, const char *text, size_t bytes, ct_error *error) {
    reader from = {(const unsigned char *)text, bytes, 0};
    uint64_t words[RUN], word;
    size_t count = 0;
    int has_digit;
    while ((word = next_word(&from, &has_digit))) {
        if (count == RUN) memmove(words, words + 1, --count * sizeof *words);
        words[count++] = word;
        for (size_t n = 1; n <= count; n++)
            if (add(&known->runs, join(words + count - n, n))) return ct_fail_nomem(error);
    }
    return CT_OK;
}

double ct_known_overlap(const ct_known *known, const char *text, size_t bytes) {
    reader from = {(const unsigned char *)text, bytes, 0};
    uint64_t words[RUN], word;
    size_t count = 0, runs = 0, found = 0;
    int has_digit;
    while ((word = next_word(&from, &has_digit))) {
        if (count == RUN) memmove(words, words + 1, --count * sizeof *words);
        words[count++] = word;
        if (count < RUN) continue;
        runs++;
        found += (size_t)has(&known->runs, join(words, RUN));
    }
    if (!count) return 1;
    if (!runs) return has(&known->runs, join(words, count));
    return (double)found / (double)runs;
}

int ct_known_add_message(ct_known *known, int64_t message_id, ct_error *error) {
    return add(&known->messages, (uint64_t)message_id) ? ct_fail_nomem(error) : CT_OK;
}

int ct_known_has_message(const ct_known *known, int64_t message_id) {
    return has(&known->messages, (uint64_t)message_id);
}

int ct_known_has_numbers(const ct_known *known, const char *text, size_t bytes) {
    reader from = {(const unsigned char *)text, bytes, 0};
    uint64_t word;
    int has_digit;
    while ((word = next_word(&from, &has_digit)))
        if (has_digit && !has(&known->runs, join(&word, 1))) return 0;
    return 1;
}

size_t ct_known_count_numbers(const char *text, size_t bytes) {
    reader from = {(const unsigned char *)text, bytes, 0};
    size_t count = 0;
    int has_digit;
    while (next_word(&from, &has_digit)) count += (size_t)has_digit;
    return count;
}

size_t ct_known_count(const char *text, size_t bytes) {
    reader from = {(const unsigned char *)text, bytes, 0};
    size_t count = 0;
    int has_digit;
    while (next_word(&from, &has_digit)) count++;
    return count;
}
