#include "encoder/ct_encoder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/ct_alloc.h"
#include "base/ct_error.h"
#include "base/ct_utf8.h"
#include "encoder/ct_basis.h"
#include "encoder/ct_bert.h"
#include "encoder/ct_llama.h"
#include "encoder/ct_wordpiece_text.h"
#include "simd/ct_simd.h"

/* llama.cpp needs some 80 bytes for each byte it tokenizes at once, and dies when it cannot have
 * them. */
#define SLICE_BYTES (64u << 10)

/* Chunks of a long query that count: what is asked for is not found by more. */
#define QUERY_CHUNKS_MAX 8

/* Turns at the model.  A waiting query goes before any waiting backlog chunk. */
typedef struct turns {
    pthread_mutex_t mutex;
    pthread_cond_t given;
    int busy;
    int queries_waiting;
} turns;

struct ct_encoder {
    _Atomic int64_t references;
    pid_t owner;
    ct_llama *llama; /* tokenizes, and runs the network where `bert` does not */
    ct_bert *bert;   /* or NULL */
    const char *backend;
    size_t dimension;
    turns turns;
    ct_vector_cache cache;
    ct_basis basis;
    float *probe;
    char *fingerprint;
    char *query_prefix;
    char *passage_prefix;
    int32_t pooling;
    size_t window; /* ids in a full window, special tokens left out */
    size_t step;
    int wordpiece;
    int32_t *special; /* what the tokenizer puts around a text: head, then tail */
    size_t head;
    size_t tail;
    int32_t unknown; /* what stands for a word that the model does not know, or -1 */
    int32_t *prefix; /* ids of the query prefix, which are no part of a query's tokens */
    size_t prefix_count;
    /* Scratch of whoever has the turn. */
    int32_t *pass;
    float *projected; /* [window][bits] */
    uint64_t *codes;  /* [window][bits / 64] */
};

static void turns_take(turns *queue, ct_urgency urgency) {
    pthread_mutex_lock(&queue->mutex);
    int query = urgency == CT_URGENCY_QUERY;
    queue->queries_waiting += query;
    while (queue->busy || (!query && queue->queries_waiting))
        pthread_cond_wait(&queue->given, &queue->mutex);
    queue->queries_waiting -= query;
    queue->busy = 1;
    pthread_mutex_unlock(&queue->mutex);
}

static void turns_give(turns *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->busy = 0;
    pthread_cond_broadcast(&queue->given);
    pthread_mutex_unlock(&queue->mutex);
}

/* Where to cut a slice of a long text: behind the last space of it, else between characters. */
static size_t slice_end(const char *text, size_t bytes, size_t start) {
    if (bytes - start <= SLICE_BYTES) return bytes;
    size_t end = start + ct_utf8_floor(text + start, bytes - start, SLICE_BYTES);
    for (size_t at = end; at > start + SLICE_BYTES / 2; at--)
        if (text[at - 1] == ' ') return at;
    return end;
}

static int tokenize_slices(ct_encoder *encoder, const char *text, size_t bytes, int32_t **ids,
                           size_t *count, ct_error *error) {
    int32_t *all = NULL;
    size_t total = 0, start = 0;
    do {
        size_t end = slice_end(text, bytes, start), some;
        int32_t *part = NULL;
        int status = ct_llama_tokenize(encoder->llama, text + start, end - start, 0, &part, &some, error);
        int32_t *grown = status ? NULL : ct_realloc(all, (total + some) * sizeof *all);
        if (grown) {
            memcpy(grown + total, part, some * sizeof *all);
            all = grown;
            total += some;
        }
        ct_free(part);
        if (!grown) {
            ct_free(all);
            return status ? status : ct_fail_nomem(error);
        }
        start = end;
    } while (start < bytes);
    *ids = all;
    *count = total;
    return CT_OK;
}

static int tokenize(ct_encoder *encoder, const char *text, size_t bytes, int32_t **ids, size_t *count,
                    ct_error *error) {
    char *plain = NULL;
    if (encoder->wordpiece) {
        size_t plain_bytes;
        if (ct_wordpiece_text(text, bytes, &plain, &plain_bytes)) return ct_fail_nomem(error);
        text = plain;
        bytes = plain_bytes;
    }
    int status = tokenize_slices(encoder, text, bytes, ids, count, error);
    ct_free(plain);
    return status;
}

/* Find the special tokens: those an empty text gets, split where a text would stand. */
static int find_special_tokens(ct_encoder *encoder, ct_error *error) {
    int32_t *word = NULL;
    size_t empty_count, word_count;
    int status = ct_llama_tokenize(encoder->llama, "", 0, 1, &encoder->special, &empty_count, error);
    if (status) return status;
    status = ct_llama_tokenize(encoder->llama, "a", 1, 1, &word, &word_count, error);
    if (status) return status;
    while (encoder->head < empty_count && encoder->head < word_count &&
           encoder->special[encoder->head] == word[encoder->head])
        encoder->head++;
    encoder->tail = empty_count - encoder->head;
    ct_free(word);
    return CT_OK;
}

/* Find the token for what the model does not know: what an Egyptian hieroglyph becomes.  A tokenizer
 * that falls back to bytes gives several, and knows everything. */
static int find_unknown_token(ct_encoder *encoder, ct_error *error) {
    int32_t *ids = NULL;
    size_t count;
    int status = ct_llama_tokenize(encoder->llama, "\xF0\x93\x80\x80", 4, 0, &ids, &count, error);
    if (status) return status;
    encoder->unknown = count == 1 ? ids[0] : -1;
    ct_free(ids);
    return CT_OK;
}

static void destroy(ct_encoder *encoder) {
    if (encoder->llama) ct_llama_close(encoder->llama);
    ct_bert_close(encoder->bert);
    if (encoder->cache.close) encoder->cache.close(encoder->cache.state);
    ct_free(encoder->fingerprint);
    ct_free(encoder->query_prefix);
    ct_free(encoder->passage_prefix);
    ct_free(encoder->special);
    ct_free(encoder->prefix);
    ct_free(encoder->pass);
    ct_free(encoder->projected);
    ct_free(encoder->codes);
    ct_free(encoder->probe);
    ct_basis_free(&encoder->basis);
    pthread_cond_destroy(&encoder->turns.given);
    pthread_mutex_destroy(&encoder->turns.mutex);
    ct_free(encoder);
}

static int take_basis(ct_encoder *encoder, const ct_encoder_options *options, ct_error *error) {
    int status = ct_basis_copy(options->basis, (int32_t)encoder->dimension, &encoder->basis, error);
    if (status) return status;
    size_t bits = encoder->basis.bits;
    status = tokenize(encoder, encoder->query_prefix, strlen(encoder->query_prefix), &encoder->prefix,
                      &encoder->prefix_count, error);
    if (status) return status;
    encoder->projected = ct_alloc((size_t)options->context * bits * sizeof *encoder->projected);
    encoder->codes = ct_alloc((size_t)options->context * bits / 64 * sizeof *encoder->codes);
    return encoder->projected && encoder->codes ? CT_OK : ct_fail_nomem(error);
}

static int take_probe(ct_encoder *encoder, const float *probe, ct_error *error) {
    size_t bytes = (encoder->dimension + 1) * sizeof *probe;
    encoder->probe = ct_alloc(bytes);
    if (!encoder->probe) return ct_fail_nomem(error);
    memcpy(encoder->probe, probe, bytes);
    return CT_OK;
}

int ct_encoder_create(const ct_llama_api *api, const ct_encoder_options *options,
                      const ct_vector_cache *cache, ct_encoder **out, ct_error *error) {
    if (options->pooling < CT_POOL_MEAN || options->pooling > CT_POOL_LAST)
        return ct_fail(error, CT_INVALID, "unknown pooling %d", options->pooling);
    ct_encoder *encoder = ct_alloc_zero(sizeof *encoder);
    if (!encoder) return ct_fail_nomem(error);
    pthread_mutex_init(&encoder->turns.mutex, NULL);
    pthread_cond_init(&encoder->turns.given, NULL);
    encoder->references = 1;
    encoder->owner = getpid();
    encoder->pooling = options->pooling;
    encoder->wordpiece = options->wordpiece;
    encoder->fingerprint = ct_copy_string(options->fingerprint);
    encoder->query_prefix = ct_copy_string(options->query_prefix);
    encoder->passage_prefix = ct_copy_string(options->passage_prefix);
    encoder->pass = ct_alloc((size_t)options->context * sizeof *encoder->pass);
    int status = CT_OK;
    if (!encoder->fingerprint || !encoder->query_prefix || !encoder->passage_prefix || !encoder->pass)
        status = ct_fail_nomem(error);
    ct_llama *llama = NULL;
    if (options->bert && (!*options->bert || ct_bert_most_tokens(*options->bert) < options->context))
        status = ct_fail(error, CT_INVALID, "no network, or one for shorter passes than %d tokens", options->context);
    if (!status) status = ct_llama_open(api, options->context, &llama, error);
    if (status) {
        destroy(encoder);
        return status;
    }
    encoder->llama = llama;
    encoder->bert = options->bert ? *options->bert : NULL;
    encoder->dimension = (size_t)(encoder->bert ? ct_bert_dimension(encoder->bert) : ct_llama_dimension(llama));
    encoder->backend = encoder->bert ? ct_simd_name() : "llama.cpp";
    status = find_special_tokens(encoder, error);
    if (!status) status = find_unknown_token(encoder, error);
    size_t around = encoder->head + encoder->tail;
    if (!status && (size_t)options->context < around + 2 * (size_t)options->overlap + 2)
        status = ct_fail(error, CT_INVALID, "a context of %d tokens is too small", options->context);
    if (!status && options->basis) status = take_basis(encoder, options, error);
    if (!status && options->probe) status = take_probe(encoder, options->probe, error);
    if (status) {
        encoder->llama = NULL; /* model, context and network stay the caller's */
        encoder->bert = NULL;
        ct_llama_abandon(llama);
        destroy(encoder);
        return status;
    }
    encoder->window = (size_t)options->context - around;
    encoder->step = encoder->window - (size_t)options->overlap;
    if (cache) encoder->cache = *cache;
    if (options->bert) *options->bert = NULL;
    *out = encoder;
    return CT_OK;
}

int ct_encoder_check_owner(const ct_encoder *encoder, ct_error *error) {
    if (encoder->owner == getpid()) return CT_OK;
    return ct_fail(error, CT_FORKED, "the model was loaded before a fork; load it again in the child");
}

ct_encoder *ct_encoder_retain(ct_encoder *encoder) {
    atomic_fetch_add(&encoder->references, 1);
    return encoder;
}

void ct_encoder_release(ct_encoder *encoder) {
    if (!encoder || encoder->owner != getpid()) return;
    if (atomic_fetch_sub(&encoder->references, 1) == 1) destroy(encoder);
}

void ct_encoder_drop(ct_encoder **holder) { ct_encoder_release(*holder); }

int32_t ct_encoder_dimension(const ct_encoder *encoder) { return (int32_t)encoder->dimension; }

const char *ct_encoder_backend(const ct_encoder *encoder) { return encoder->backend; }

int32_t ct_encoder_code_bits(const ct_encoder *encoder) { return (int32_t)encoder->basis.bits; }

float ct_encoder_token_prior(const ct_encoder *encoder, int32_t id) {
    return id >= 0 && (size_t)id < encoder->basis.vocabulary ? encoder->basis.prior[id] : 0;
}

int ct_encoder_is_unknown(const ct_encoder *encoder, int32_t id) { return id == encoder->unknown; }

const float *ct_encoder_probe(const ct_encoder *encoder) { return encoder->probe; }

const char *ct_encoder_fingerprint(const ct_encoder *encoder) { return encoder->fingerprint; }

int ct_encoder_tokenize(ct_encoder *encoder, const char *text, size_t bytes, int32_t *ids,
                        size_t capacity, size_t *count, ct_error *error) {
    int32_t *body;
    size_t body_count;
    if (ct_encoder_check_owner(encoder, error)) return CT_FORKED;
    if (ct_utf8_check(text, bytes) >= CT_UTF8_NUL)
        return ct_fail(error, CT_INVALID, "the text is not UTF-8 or holds a NUL character");
    int status = tokenize(encoder, text, bytes, &body, &body_count, error);
    if (status) return status;
    *count = encoder->head + body_count + encoder->tail;
    for (size_t i = 0; i < *count && i < capacity; i++) {
        if (i < encoder->head) ids[i] = encoder->special[i];
        else if (i < encoder->head + body_count) ids[i] = body[i - encoder->head];
        else ids[i] = encoder->special[i - body_count];
    }
    ct_free(body);
    return CT_OK;
}

int ct_encoder_count(ct_encoder *encoder, const char *text, size_t bytes, size_t *count, ct_error *error) {
    int32_t *ids = NULL;
    int status = tokenize(encoder, text, bytes, &ids, count, error);
    ct_free(ids);
    return status;
}

size_t ct_encoder_step(const ct_encoder *encoder) { return encoder->step; }

int ct_encoder_chunk(ct_encoder *encoder, const char *role, const char *text, size_t bytes, int query,
                     ct_chunks *out, ct_error *error) {
    const char *prefix = query ? encoder->query_prefix : encoder->passage_prefix;
    size_t prefix_bytes = strlen(prefix), role_bytes = role ? strlen(role) + 2 : 0;
    char *joined = NULL;
    if (prefix_bytes + role_bytes) {
        joined = ct_alloc(prefix_bytes + role_bytes + bytes);
        if (!joined) return ct_fail_nomem(error);
        memcpy(joined, prefix, prefix_bytes);
        if (role) {
            memcpy(joined + prefix_bytes, role, role_bytes - 2);
            memcpy(joined + prefix_bytes + role_bytes - 2, ": ", 2);
        }
        memcpy(joined + prefix_bytes + role_bytes, text, bytes);
        text = joined;
        bytes += prefix_bytes + role_bytes;
    }
    ct_chunks chunks = {.step = encoder->step, .window = encoder->window};
    int status = tokenize(encoder, text, bytes, &chunks.ids, &chunks.id_count, error);
    ct_free(joined);
    if (status) return status;
    chunks.count = 1;
    if (chunks.id_count > chunks.window)
        chunks.count += (chunks.id_count - chunks.window + chunks.step - 1) / chunks.step;
    *out = chunks;
    return CT_OK;
}

void ct_chunks_free(ct_chunks *chunks) {
    ct_free(chunks->ids);
    chunks->ids = NULL;
}

static int scale_to_unit(float *vector, size_t dimension) {
    double square = 0;
    for (size_t i = 0; i < dimension; i++) square += (double)vector[i] * vector[i];
    if (!(square > 0) || !isfinite(square)) return -1;
    float scale = (float)(1 / sqrt(square));
    for (size_t i = 0; i < dimension; i++) vector[i] *= scale;
    return 0;
}

static int pool(const ct_encoder *encoder, const float *tokens, size_t count, float *vector,
                ct_error *error) {
    size_t dimension = encoder->dimension;
    if (encoder->pooling == CT_POOL_MEAN) {
        memset(vector, 0, dimension * sizeof *vector);
        for (size_t t = 0; t < count; t++)
            for (size_t i = 0; i < dimension; i++) vector[i] += tokens[t * dimension + i];
    } else {
        size_t t = encoder->pooling == CT_POOL_CLS ? 0 : count - 1;
        memcpy(vector, tokens + t * dimension, dimension * sizeof *vector);
    }
    if (scale_to_unit(vector, dimension))
        return ct_fail(error, CT_MODEL, "the model gave a vector that is zero or not finite");
    return CT_OK;
}

const int32_t *ct_chunks_ids(const ct_chunks *chunks, size_t index, size_t *count) {
    size_t start = index * chunks->step, left = chunks->id_count - start;
    *count = left < chunks->window ? left : chunks->window;
    return chunks->ids + start;
}

/* Lay out a chunk for its pass, with the turn held.  Gives the tokens of the pass. */
static size_t fill_pass(ct_encoder *encoder, const int32_t *ids, size_t count) {
    int32_t *pass = encoder->pass;
    memcpy(pass, encoder->special, encoder->head * sizeof *pass);
    memcpy(pass + encoder->head, ids, count * sizeof *pass);
    memcpy(pass + encoder->head + count, encoder->special + encoder->head, encoder->tail * sizeof *pass);
    return encoder->head + count + encoder->tail;
}

/* Run what fill_pass laid out.  *tokens are the vectors of the pass, special tokens' too, and hold
 * until the turn is given. */
static int run_pass(ct_encoder *encoder, size_t count, float *vector, const float **tokens,
                    ct_error *error) {
    int status = encoder->bert ? ct_bert_run(encoder->bert, encoder->pass, count, tokens, error)
                               : ct_llama_run(encoder->llama, encoder->pass, count, tokens, error);
    return status ? status : pool(encoder, *tokens, count, vector, error);
}

int ct_encoder_chunk_codes(ct_encoder *encoder, const ct_chunks *chunks, size_t index,
                           ct_urgency urgency, float *vector, uint64_t *codes, ct_error *error) {
    const ct_basis *basis = &encoder->basis;
    const ct_vector_cache *cache = &encoder->cache;
    size_t body, words = basis->bits / 64;
    const int32_t *ids = ct_chunks_ids(chunks, index, &body);

    turns_take(&encoder->turns, urgency);
    size_t count = fill_pass(encoder, ids, body);
    ct_pass_value value = {vector, encoder->codes, body * words};
    int status = CT_OK;
    if (!cache->get || !cache->get(cache->state, encoder->pass, count, &value)) {
        const float *tokens = NULL;
        status = run_pass(encoder, count, vector, &tokens, error);
        int wanted = !status && words && (codes || cache->put);
        if (wanted) ct_basis_project(basis, tokens + encoder->head * basis->dimension, body, encoder->projected);
        for (size_t t = 0; wanted && t < body; t++)
            ct_basis_code(basis, encoder->projected + t * basis->bits, encoder->codes + t * words);
        if (!status && cache->put) cache->put(cache->state, encoder->pass, count, &value);
    }
    if (!status && codes && words) memcpy(codes, encoder->codes, body * words * sizeof *codes);
    turns_give(&encoder->turns);
    return status;
}

/* ---- whole texts --------------------------------------------------------------------------- */

/* Ids at the start of a query that are the prefix's. */
static size_t prefix_of(const ct_encoder *encoder, const ct_chunks *chunks) {
    size_t count = encoder->prefix_count;
    if (!count || count > chunks->window || count > chunks->id_count) return 0;
    return memcmp(chunks->ids, encoder->prefix, count * sizeof *chunks->ids) ? 0 : count;
}

/* The vector of one chunk of a query; its tokens from the `skip`-th on are added to `to`, which has
 * the room. */
static int add_query_chunk(ct_encoder *encoder, const ct_chunks *chunks, size_t index, size_t skip,
                           float *vector, ct_query_tokens *to, ct_error *error) {
    const ct_basis *basis = &encoder->basis;
    const float *tokens = NULL;
    size_t body;
    const int32_t *ids = ct_chunks_ids(chunks, index, &body);

    turns_take(&encoder->turns, CT_URGENCY_QUERY);
    int status = run_pass(encoder, fill_pass(encoder, ids, body), vector, &tokens, error);
    if (!status && basis->bits && skip < body)
        ct_basis_project(basis, tokens + (encoder->head + skip) * basis->dimension, body - skip,
                         to->vectors + to->count * basis->bits);
    for (size_t t = skip; !status && basis->bits && t < body; t++, to->count++) {
        float *projected = to->vectors + to->count * basis->bits;
        to->ids[to->count] = ids[t];
        if (scale_to_unit(projected, basis->bits))
            status = ct_fail(error, CT_MODEL, "the model gave a token vector that is not finite");
    }
    turns_give(&encoder->turns);
    return status;
}

static int make_room(const ct_encoder *encoder, const ct_chunks *chunks, ct_query_tokens *tokens,
                     ct_error *error) {
    size_t last, most = (chunks->count - 1) * chunks->step;
    ct_chunks_ids(chunks, chunks->count - 1, &last);
    if (!encoder->basis.bits) return CT_OK;
    most += last;
    tokens->ids = ct_alloc(most * sizeof *tokens->ids);
    tokens->vectors = ct_alloc(most * encoder->basis.bits * sizeof *tokens->vectors);
    return tokens->ids && tokens->vectors ? CT_OK : ct_fail_nomem(error);
}

/* With `tokens`, by ct_encoder_query's way: not through the cache. */
static int embed_one(ct_encoder *encoder, const char *text, size_t bytes, int query, float *out,
                     ct_query_tokens *tokens, ct_error *error) {
    size_t dimension = (size_t)ct_encoder_dimension(encoder);
    if (ct_utf8_check(text, bytes) >= CT_UTF8_NUL)
        return ct_fail(error, CT_INVALID, "the text is not UTF-8 or holds a NUL character");
    ct_chunks chunks;
    int status = ct_encoder_chunk(encoder, NULL, text, bytes, query, &chunks, error);
    if (status) return status;
    if (query && chunks.count > QUERY_CHUNKS_MAX) chunks.count = QUERY_CHUNKS_MAX;
    float *vector = ct_alloc(dimension * sizeof *vector);
    if (!vector) status = ct_fail_nomem(error);
    if (!status && tokens) status = make_room(encoder, &chunks, tokens, error);
    memset(out, 0, dimension * sizeof *out);
    for (size_t c = 0; !status && c < chunks.count; c++) {
        size_t skip = c ? chunks.window - chunks.step : prefix_of(encoder, &chunks);
        if (tokens) status = add_query_chunk(encoder, &chunks, c, skip, vector, tokens, error);
        else
            status = ct_encoder_chunk_codes(encoder, &chunks, c, CT_URGENCY_QUERY, vector, NULL, error);
        for (size_t i = 0; !status && i < dimension; i++) out[i] += vector[i];
    }
    if (!status && scale_to_unit(out, dimension))
        status = ct_fail(error, CT_MODEL, "the chunks of a text cancel each other out");
    ct_free(vector);
    ct_chunks_free(&chunks);
    return status;
}

int ct_encoder_query(ct_encoder *encoder, const char *text, size_t bytes, float *vector,
                     ct_query_tokens *tokens, ct_error *error) {
    ct_query_tokens found = {0};
    if (ct_encoder_check_owner(encoder, error)) return CT_FORKED;
    int status = embed_one(encoder, text, bytes, 1, vector, &found, error);
    if (status) ct_query_tokens_free(&found);
    else *tokens = found;
    return status;
}

void ct_query_tokens_free(ct_query_tokens *tokens) {
    ct_free(tokens->ids);
    ct_free(tokens->vectors);
    *tokens = (ct_query_tokens){0};
}

int ct_encoder_embed(ct_encoder *encoder, const char *const *texts, const size_t *bytes, size_t count,
                     int query, float *out, ct_error *error) {
    if (ct_encoder_check_owner(encoder, error)) return CT_FORKED;
    size_t dimension = (size_t)ct_encoder_dimension(encoder);
    int status = CT_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = embed_one(encoder, texts[i], bytes[i], query, out + i * dimension, NULL, error);
    return status;
}
