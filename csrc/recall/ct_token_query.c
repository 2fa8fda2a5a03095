#include "recall/ct_token_query.h"

#include <math.h>
#include <stdlib.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"

/* How many chunks of general text the model's token frequencies are worth beside the store's own: a
 * small store cannot tell a rare word from a common one. */
#define PRIOR_CHUNKS 300.0
#define WEIGHT_LEAST 0.05
#define WEIGHT_NAME 0.001f /* a query may be nothing but a name */

typedef struct weighted {
    float weight;
    uint8_t dated;
    size_t token;
} weighted;

static int by_weight(const void *a, const void *b) {
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->token > y->token) - (x->token < y->token);
}

/* Rarity as BM25 has it (Robertson and Sparck Jones). */
static float rarity(double chunks, double total) {
    double weight = log(1 + (total - chunks + 0.5) / (chunks + 0.5));
    return (float)(weight > WEIGHT_LEAST ? weight : WEIGHT_LEAST);
}

static void weigh(const ct_recall_parts *parts, const ct_query_tokens *tokens, const ct_speakers *speakers,
                  const int64_t *counts, int64_t total, weighted *out) {
    for (size_t i = 0; i < tokens->count; i++) {
        double prior = (double)ct_encoder_token_prior(parts->encoder, tokens->ids[i]);
        out[i].token = i;
        out[i].dated = 0;
        out[i].weight = rarity((double)counts[i] + PRIOR_CHUNKS * prior, (double)total + PRIOR_CHUNKS);
        if (ct_speaker_is_name_token(speakers, tokens->ids[i])) out[i].weight = WEIGHT_NAME;
    }
}

/* Find the tokens of the words that name times.  Words are whole, so tokens before them are as many as
 * those of the text up to there. */
static int mark_dated(const ct_recall_parts *parts, const ct_query *query, size_t count, weighted *tokens,
                      ct_error *error) {
    for (size_t d = 0; d < query->date_count; d++) {
        const ct_period *date = &query->dates[d];
        size_t first = 0, end = 0;
        if (!date->text_bytes) continue;
        int status = ct_encoder_count(parts->encoder, query->text, date->text_start, &first, error);
        if (!status)
            status = ct_encoder_count(parts->encoder, query->text, date->text_start + date->text_bytes, &end, error);
        if (status) return status;
        for (size_t i = first; i < end && i < count; i++) tokens[i].dated = 1;
    }
    return CT_OK;
}

/* Take over the first `count` of the tokens in order. */
static int choose(const ct_query_tokens *tokens, const weighted *order, size_t count, size_t bits,
                  ct_token_query *out, ct_error *error) {
    float sum = 0, *vectors = ct_alloc(count * bits * sizeof *vectors);
    if (!vectors) return ct_fail_nomem(error);
    for (size_t i = 0; i < count; i++) sum += order[i].weight;
    for (size_t i = 0; i < count; i++) {
        memcpy(vectors + i * bits, tokens->vectors + order[i].token * bits, bits * sizeof *vectors);
        out->weights[i] = order[i].weight / sum;
        out->dated[i] = order[i].dated;
    }
    out->count = count;
    int status = ct_late_query_make(vectors, count, (int32_t)bits, &out->codes, error);
    ct_free(vectors);
    return status;
}

int ct_token_query_make(const ct_recall_parts *parts, const ct_query *query, const ct_query_tokens *tokens,
                        const ct_speakers *speakers, ct_token_query *out, ct_error *error) {
    size_t bits = (size_t)ct_encoder_code_bits(parts->encoder), count = tokens->count;
    int64_t total = 0;
    int64_t *counts = ct_alloc(count * sizeof *counts);
    weighted *order = ct_alloc(count * sizeof *order);
    int status = counts && order ? CT_OK : ct_fail_nomem(error);
    if (!status) status = ct_store_term_counts(parts->store, tokens->ids, count, counts, &total, error);
    if (!status) {
        weigh(parts, tokens, speakers, counts, total, order);
        status = mark_dated(parts, query, count, order, error);
    }
    if (!status) {
        if (count > CT_TOKEN_QUERY_MAX) {
            qsort(order, count, sizeof *order, by_weight);
            count = CT_TOKEN_QUERY_MAX;
        }
        status = choose(tokens, order, count, bits, out, error);
    }
    ct_free(counts);
    ct_free(order);
    return status;
}

void ct_token_query_free(ct_token_query *query) {
    ct_late_query_free(query->codes);
    query->codes = NULL;
}
