/* Which sentences say most of what an episode is about.
 *
 * A sentence counts for the mean rarity of its content tokens, as the model's basis knows it of text in general, and the
 * more of them the surer that is; for names and numbers that it states; against it, that it asks.  Tokens that were
 * chosen before count for less (as in SumBasic: Nenkova and Vanderwende, 2005), those of the speakers' names for
 * nothing.
 *
 * Of the messages that answer questions about five conversations of friends 11 % of all, chosen so, hold 32 %.  Likeness
 * to the whole of the episode and frequency in it, which summaries are often made by, find less than chance by
 * themselves: what friends say most is how glad they are. */
#include "consolidate/ct_choose_sentences.h"

#include <math.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "directive/ct_directive.h"
#include "recall/ct_role.h"

/* Of a longer text the beginning. */
#define TEXT_CHARACTERS 4096

/* Sentences that are looked at of an episode and of a message, and content tokens of one. */
#define SENTENCES_MAX 1024
#define SENTENCES_EACH 64
#define TOKENS_MAX 48

/* A longer sentence is cut behind a word. */
#define SENTENCE_BYTES 320

/* Messages for one sentence that is chosen. */
#define MESSAGES_EACH 12

/* Tokens of less rarity are function words and punctuation: those in more than a tenth of all chunks. */
#define RARE 2.3

/* Chunks of general text that a token's frequency is known from. */
#define PRIOR_CHUNKS 300.0

/* What a sentence's parts count for: rarity, tokens to add to its own, names and numbers each, a question, what a
 * program printed. */
#define INFORMS 0.3
#define MORE_TOKENS 4
#define STATES 0.1
#define STATES_MOST 3
#define ASKS (-0.5)
#define TOOL (-0.3)

typedef struct sentence {
    int64_t message_id;
    size_t start, bytes;
    double bonus; /* all but its tokens */
    uint32_t tokens[TOKENS_MAX]; /* ids, then their places among the tokens of the episode */
    size_t count;
    int chosen; /* or another one of its message */
} sentence;

typedef struct token {
    uint32_t id;
    double rarity;
    double left; /* how often it is there; a quarter each time that it is chosen */
} token;

typedef struct choice {
    const ct_recall_parts *parts;
    ct_told_list told;
    sentence *sentences;
    size_t count;
    token *tokens;
    size_t token_count;
} choice;

static void choice_free(choice *of) {
    ct_told_list_free(&of->told);
    ct_free(of->sentences);
    ct_free(of->tokens);
}

/* ---- reading -------------------------------------------------------------------------------- */

static double rarity_of(const choice *of, int32_t id) {
    double prior = (double)ct_encoder_token_prior(of->parts->encoder, id);
    return log(1 + (1 - prior) * PRIOR_CHUNKS / (prior * PRIOR_CHUNKS + 0.5));
}

/* Its content tokens, each once. */
static int read_tokens(choice *of, const char *text, sentence *to, ct_error *error) {
    ct_chunks chunks;
    int status = ct_encoder_chunk(of->parts->encoder, NULL, text, to->bytes, 0, &chunks, error);
    if (status) return status;
    for (size_t i = 0; i < chunks.id_count && to->count < TOKENS_MAX; i++) {
        size_t known = 0;
        while (known < to->count && to->tokens[known] != (uint32_t)chunks.ids[i]) known++;
        if (known == to->count && rarity_of(of, chunks.ids[i]) >= RARE)
            to->tokens[to->count++] = (uint32_t)chunks.ids[i];
    }
    ct_chunks_free(&chunks);
    return CT_OK;
}

/* Words with a digit at their beginning, or with a capital inside the sentence. */
static size_t count_stated(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (i && text[i - 1] != ' ') continue;
        count += (text[i] >= '0' && text[i] <= '9') || (i && text[i] >= 'A' && text[i] <= 'Z');
    }
    return count < STATES_MOST ? count : STATES_MOST;
}

static size_t cut(const char *text, size_t bytes) {
    if (bytes <= SENTENCE_BYTES) return bytes;
    size_t end = ct_utf8_floor(text, bytes, SENTENCE_BYTES);
    for (size_t at = end; at > SENTENCE_BYTES / 2; at--)
        if (text[at - 1] == ' ' || text[at - 1] == '\n') return at - 1;
    return end;
}

static int read_sentences(choice *of, const ct_told *told, ct_error *error) {
    ct_sentence_reader at = {0};
    size_t start, end;
    for (size_t i = 0; i < SENTENCES_EACH && of->count < SENTENCES_MAX; i++) {
        if (!ct_sentence_next(told->text, told->text_bytes, &at, &start, &end)) break;
        if (end <= start) continue;
        const char *text = told->text + start;
        sentence *to = &of->sentences[of->count];
        *to = (sentence){.message_id = told->id, .start = start, .bytes = cut(text, end - start)};
        to->bonus = STATES * (double)count_stated(text, to->bytes);
        if (told->text[end - 1] == '?') to->bonus += ASKS;
        if (ct_role_is_tool(told->role)) to->bonus += TOOL;
        int status = read_tokens(of, text, to, error);
        if (status) return status;
        of->count++;
    }
    return CT_OK;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
    uint32_t x = ((const token *)a)->id, y = ((const token *)b)->id;
    return (x > y) - (x < y);
}

static token *find_token(const choice *of, uint32_t id) {
    token key = {id, 0, 0};
    return bsearch(&key, of->tokens, of->token_count, sizeof *of->tokens, by_id);
}

/* Count the tokens of all sentences, and let those name their places. */
static int count_tokens(choice *of, ct_error *error) {
    size_t all = 0, used = 0;
    for (size_t i = 0; i < of->count; i++) all += of->sentences[i].count;
    of->tokens = ct_alloc((all + 1) * sizeof *of->tokens);
    if (!of->tokens) return ct_fail_nomem(error);
    for (size_t i = 0; i < of->count; i++)
        for (size_t t = 0; t < of->sentences[i].count; t++)
            of->tokens[used++] = (token){of->sentences[i].tokens[t], 0, 1};
    qsort(of->tokens, all, sizeof *of->tokens, by_id);
    for (size_t i = 0; i < all; i++) {
        token *last = of->token_count ? &of->tokens[of->token_count - 1] : NULL;
        if (last && last->id == of->tokens[i].id) last->left += 1;
        else of->tokens[of->token_count++] = of->tokens[i];
    }
    for (size_t i = 0; i < of->token_count; i++) of->tokens[i].rarity = rarity_of(of, (int32_t)of->tokens[i].id);
    for (size_t i = 0; i < of->count; i++)
        for (size_t t = 0; t < of->sentences[i].count; t++)
            of->sentences[i].tokens[t] = (uint32_t)(find_token(of, of->sentences[i].tokens[t]) - of->tokens);
    return CT_OK;
}

/* Who is spoken to says nothing of what is spoken of. */
static int pass_over_names(choice *of, ct_error *error) {
    int status = CT_OK;
    for (size_t i = 0; !status && i < of->told.count; i++) {
        const char *role = of->told.list[i].role;
        size_t same = 0;
        while (same < i && strcmp(of->told.list[same].role, role) != 0) same++;
        if (same < i) continue;
        sentence name = {.bytes = strlen(role)};
        status = read_tokens(of, role, &name, error);
        for (size_t t = 0; !status && t < name.count; t++) {
            token *known = find_token(of, name.tokens[t]);
            if (known) known->rarity = 0;
        }
    }
    return status;
}

static double score_of(const choice *of, const sentence *one) {
    double sum = 0;
    for (size_t t = 0; t < one->count; t++) {
        const token *its = &of->tokens[one->tokens[t]];
        sum += its->rarity * (its->left < 1 ? sqrt(its->left) : 1);
    }
    return one->bonus + INFORMS * sum / (double)(MORE_TOKENS + one->count);
}

static void choose(choice *of, size_t wanted, int64_t episode_id, ct_digest_row *rows, size_t *count) {
    for (*count = 0; *count < wanted; ++*count) {
        sentence *best = NULL;
        double score = 0;
        for (size_t i = 0; i < of->count; i++) {
            if (of->sentences[i].chosen) continue;
            double its = score_of(of, &of->sentences[i]);
            if (best && its <= score) continue;
            best = &of->sentences[i];
            score = its;
        }
        if (!best) return;
        for (size_t i = 0; i < of->count; i++) of->sentences[i].chosen |= of->sentences[i].message_id == best->message_id;
        for (size_t t = 0; t < best->count; t++) of->tokens[best->tokens[t]].left /= 4;
        rows[*count] = (ct_digest_row){episode_id, (int64_t)*count, best->message_id, best->start, best->bytes, score};
    }
}

int ct_choose_sentences(const ct_recall_parts *parts, const ct_episode_row *episode, ct_digest_row *out, size_t *count,
                        ct_error *error) {
    choice of = {.parts = parts};
    *count = 0;
    of.sentences = ct_alloc(SENTENCES_MAX * sizeof *of.sentences);
    int status = of.sentences ? CT_OK : ct_fail_nomem(error);
    if (!status) status = ct_store_episode_told(parts->store, episode, TEXT_CHARACTERS, &of.told, error);
    for (size_t i = 0; !status && i < of.told.count; i++) status = read_sentences(&of, &of.told.list[i], error);
    if (!status) status = count_tokens(&of, error);
    if (!status) status = pass_over_names(&of, error);
    if (!status) {
        size_t wanted = 1 + of.told.count / MESSAGES_EACH;
        choose(&of, wanted < CT_DIGEST_SENTENCES ? wanted : CT_DIGEST_SENTENCES, episode->id, out, count);
    }
    choice_free(&of);
    return status;
}
