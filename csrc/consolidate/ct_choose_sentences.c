/* Messages near to what the whole episode is about, and unlike those chosen before: maximal marginal relevance (Carbonell
 * and Goldstein, SIGIR 1998) to the centroid of the episode (Radev et al., Information Processing and Management 40,
 * 2004), by the vectors that are stored.  Of each the sentence with the most words that say something. */
#include "consolidate/ct_choose_sentences.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "directive/ct_directive.h"
#include "gate/ct_known.h"
#include "recall/ct_question.h"
#include "recall/ct_role.h"

/* So much of a text is looked at. */
#define CHARACTERS 4000

/* One sentence, and one more for so many messages. */
#define MESSAGES_EACH 12

/* Words of a sentence that are enough, and longer ones are passed over unless there is nothing else. */
#define WORDS_FULL 12
#define WORDS_MOST 60

/* Weight of being unlike what is chosen. */
#define UNLIKE 0.5

/* What is left of the worth of a sentence that asks, and of one that a tool printed. */
#define ASKS 0.4
#define PRINTED 0.5

/* What is left of what stands in brackets, such as what a picture shows. */
#define ASIDE 0.5

/* What a name or a number adds, of so many. */
#define FACT 0.2
#define FACTS 3

typedef struct choice {
    size_t start;
    size_t bytes;
    double worth; /* 0: none */
    float *vector;
    int is_chosen;
} choice;

static int is_capital(char c) { return c >= 'A' && c <= 'Z'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Names and numbers, as far as ASCII shows them: capitals behind another word, and words that begin with a digit. */
static size_t count_facts(const char *text, size_t bytes) {
    size_t facts = 0;
    for (size_t i = 2; i < bytes; i++) {
        if (text[i - 1] != ' ' || text[i - 2] == ' ') continue;
        int is_first = text[i - 2] == '.' || text[i - 2] == '!' || text[i - 2] == '?';
        int is_i = text[i] == 'I' && (i + 1 == bytes || text[i + 1] == ' ' || text[i + 1] == '\'');
        facts += is_digit(text[i]) || (is_capital(text[i]) && !is_first && !is_i);
    }
    return facts + (bytes && is_digit(text[0]));
}

static double worth_of(const char *text, size_t bytes) {
    size_t words = ct_known_count(text, bytes), facts = count_facts(text, bytes);
    if (words > WORDS_MOST) return 0.1;
    double worth = fmin((double)words / WORDS_FULL, 1) * (1 + FACT * (double)(facts < FACTS ? facts : FACTS));
    if (bytes && text[0] == '(') worth *= ASIDE;
    return ct_question_share(text, bytes) > 0.5 ? ASKS * worth : worth;
}

static void choose_sentence(const ct_told *told, choice *out) {
    ct_sentence_reader at = {0};
    size_t start, end;
    while (ct_sentence_next(told->text, told->text_bytes, &at, &start, &end)) {
        while (end > start && (told->text[end - 1] == ' ' || told->text[end - 1] == '\r')) end--;
        double worth = worth_of(told->text + start, end - start);
        if (worth <= out->worth) continue;
        out->start = start;
        out->bytes = end - start;
        out->worth = worth;
    }
    if (ct_role_is_tool(told->role)) out->worth *= PRINTED;
}

static double cosine(const float *a, const float *b, size_t dimension) {
    double product = 0, x = 0, y = 0;
    for (size_t d = 0; d < dimension; d++) {
        product += (double)a[d] * b[d];
        x += (double)a[d] * a[d];
        y += (double)b[d] * b[d];
    }
    return x > 0 && y > 0 ? product / sqrt(x * y) : 0;
}

/* The place of the next one, `count` when nothing is left; *best is its score. */
static size_t next_choice(const choice *list, size_t count, const float *centroid, size_t dimension, double *best) {
    size_t at = count;
    for (size_t i = 0; i < count; i++) {
        if (list[i].is_chosen || list[i].worth <= 0) continue;
        double like = 0;
        for (size_t k = 0; k < count; k++)
            if (list[k].is_chosen) like = fmax(like, cosine(list[i].vector, list[k].vector, dimension));
        double score = list[i].worth * cosine(list[i].vector, centroid, dimension) - UNLIKE * like;
        if (at < count && score <= *best) continue;
        at = i;
        *best = score;
    }
    return at;
}

static void choose(const ct_told_list *told, choice *list, const float *centroid, size_t dimension, int64_t episode_id,
                   ct_digest_row *out, size_t *count) {
    size_t most = 1 + told->count / MESSAGES_EACH;
    if (most > CT_DIGEST_SENTENCES) most = CT_DIGEST_SENTENCES;
    for (*count = 0; *count < most; (*count)++) {
        double score = 0;
        size_t at = next_choice(list, told->count, centroid, dimension, &score);
        if (at == told->count) return;
        list[at].is_chosen = 1;
        out[*count] = (ct_digest_row){episode_id, (int64_t)*count, told->list[at].id, list[at].start, list[at].bytes,
                                      score};
    }
}

int ct_choose_sentences(const ct_recall_parts *parts, const ct_episode_row *episode, ct_digest_row *out, size_t *count,
                        ct_error *error) {
    size_t dimension = (size_t)ct_encoder_dimension(parts->encoder);
    ct_told_list told = {0};
    *count = 0;
    int status = ct_store_episode_told(parts->store, episode, CHARACTERS, &told, error);
    float *vectors = status ? NULL : ct_alloc_zero((told.count + 1) * dimension * sizeof *vectors);
    choice *list = status ? NULL : ct_alloc_zero((told.count + 1) * sizeof *list);
    if (!status && (!vectors || !list)) status = ct_fail_nomem(error);
    float *centroid = vectors ? vectors + told.count * dimension : NULL;
    for (size_t i = 0; !status && i < told.count; i++) {
        list[i].vector = vectors + i * dimension;
        if (ct_index_vector(parts->index, told.list[i].id, list[i].vector))
            for (size_t d = 0; d < dimension; d++) centroid[d] += list[i].vector[d];
        choose_sentence(&told.list[i], &list[i]);
    }
    if (!status) choose(&told, list, centroid, dimension, episode->id, out, count);
    ct_free(vectors);
    ct_free(list);
    ct_told_list_free(&told);
    return status;
}
