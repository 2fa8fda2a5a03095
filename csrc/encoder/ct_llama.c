#include "encoder/ct_llama.h"

#include "base/ct_alloc.h"
#include "base/ct_error.h"

typedef struct llama_batch {
    int32_t n_tokens;
    int32_t *token;
    float *embd;
    int32_t *pos;
    int32_t *n_seq_id;
    int32_t **seq_id;
    int8_t *logits;
} llama_batch;

typedef void (*log_sink)(int level, const char *text, void *user);

struct ct_llama {
    void *model;
    void *context;
    const void *vocab;
    void (*free_context)(void *);
    void (*model_free)(void *);
    int32_t (*tokenize)(const void *, const char *, int32_t, int32_t *, int32_t, _Bool, _Bool);
    int32_t (*encode)(void *, llama_batch);
    float *(*get_embeddings)(void *);
    int32_t dimension;
    int32_t most_tokens;
    int32_t sequence; /* id 0, which every seq_id entry points to */
    int32_t *positions;
    int32_t *sequence_counts;
    int32_t **sequences;
    int8_t *outputs;
};

/* llama.cpp's Python binding logs through a Python callback, for which a C thread would need the
 * interpreter lock. */
static void discard_log(int level, const char *text, void *user) {
    (void)level;
    (void)text;
    (void)user;
}

static int layout_matches(const ct_llama_api *api) {
    static const uint32_t offsets[7] = {
        offsetof(llama_batch, n_tokens), offsetof(llama_batch, token),    offsetof(llama_batch, embd),
        offsetof(llama_batch, pos),      offsetof(llama_batch, n_seq_id), offsetof(llama_batch, seq_id),
        offsetof(llama_batch, logits),
    };
    return api->batch_size == sizeof(llama_batch) &&
           memcmp(api->batch_offsets, offsets, sizeof offsets) == 0;
}

int ct_llama_open(const ct_llama_api *api, int32_t most_tokens, ct_llama **out, ct_error *error) {
    if (!layout_matches(api))
        return ct_fail(error, CT_MODEL,
                       "this llama-cpp-python lays out llama_batch in a way Cortext does not know; "
                       "install a version the package metadata allows");
    uint32_t (*n_ubatch)(const void *) = (uint32_t(*)(const void *))api->n_ubatch;
    if (api->context && (most_tokens < 4 || n_ubatch(api->context) < (uint32_t)most_tokens))
        return ct_fail(error, CT_MODEL, "the model's context holds %u tokens in one pass, %d are needed",
                       n_ubatch(api->context), most_tokens);
    int32_t (*n_embd)(const void *) = (int32_t(*)(const void *))api->model_n_embd;
    const void *(*get_vocab)(const void *) = (const void *(*)(const void *))api->model_get_vocab;
    void (*log_set)(log_sink, void *) = (void (*)(log_sink, void *))api->log_set;

    ct_llama *llama = ct_alloc_zero(sizeof *llama);
    if (!llama) return ct_fail_nomem(error);
    size_t n = (size_t)most_tokens;
    llama->positions = ct_alloc(n * sizeof *llama->positions);
    llama->sequence_counts = ct_alloc(n * sizeof *llama->sequence_counts);
    llama->sequences = ct_alloc(n * sizeof *llama->sequences);
    llama->outputs = ct_alloc(n);
    if (!llama->positions || !llama->sequence_counts || !llama->sequences || !llama->outputs) {
        ct_llama_abandon(llama);
        return ct_fail_nomem(error);
    }
    for (size_t i = 0; i < n; i++) {
        llama->positions[i] = (int32_t)i;
        llama->sequence_counts[i] = 1;
        llama->sequences[i] = &llama->sequence;
        llama->outputs[i] = 1;
    }
    llama->vocab = get_vocab(api->model);
    llama->free_context = (void (*)(void *))api->free_context;
    llama->model_free = (void (*)(void *))api->model_free;
    llama->tokenize = (int32_t(*)(const void *, const char *, int32_t, int32_t *, int32_t, _Bool,
                                  _Bool))api->tokenize;
    llama->encode = (int32_t(*)(void *, llama_batch))api->encode;
    llama->get_embeddings = (float *(*)(void *))api->get_embeddings;
    llama->dimension = api->context ? n_embd(api->model) : 0;
    llama->most_tokens = most_tokens;
    log_set(discard_log, NULL);
    llama->model = api->model;
    llama->context = api->context;
    *out = llama;
    return CT_OK;
}

void ct_llama_abandon(ct_llama *llama) {
    if (!llama) return;
    ct_free(llama->positions);
    ct_free(llama->sequence_counts);
    ct_free(llama->sequences);
    ct_free(llama->outputs);
    ct_free(llama);
}

void ct_llama_close(ct_llama *llama) {
    if (!llama) return;
    if (llama->context) llama->free_context(llama->context);
    llama->model_free(llama->model);
    ct_llama_abandon(llama);
}

int32_t ct_llama_dimension(const ct_llama *llama) { return llama->dimension; }

int ct_llama_tokenize(ct_llama *llama, const char *text, size_t bytes, int special, int32_t **ids,
                      size_t *count, ct_error *error) {
    if (bytes > INT32_MAX / 2) return ct_fail(error, CT_INVALID, "the text is too long to tokenize");
    int32_t capacity = (int32_t)bytes / 2 + 8;
    int32_t *buffer = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        int32_t *grown = ct_realloc(buffer, (size_t)capacity * sizeof *buffer);
        if (!grown) {
            ct_free(buffer);
            return ct_fail_nomem(error);
        }
        buffer = grown;
        int32_t written = llama->tokenize(llama->vocab, text, (int32_t)bytes, buffer, capacity,
                                          special != 0, 0);
        if (written >= 0) {
            *ids = buffer;
            *count = (size_t)written;
            return CT_OK;
        }
        if (written == INT32_MIN) break;
        capacity = -written; /* a short buffer: minus the count that is needed */
    }
    ct_free(buffer);
    return ct_fail(error, CT_MODEL, "the model's tokenizer failed");
}

int ct_llama_run(ct_llama *llama, const int32_t *ids, size_t count, const float **vectors,
                 ct_error *error) {
    if (count == 0 || count > (size_t)llama->most_tokens)
        return ct_fail(error, CT_INTERNAL, "%zu tokens in one pass, at most %d fit", count,
                       llama->most_tokens);
    llama_batch batch = {
        .n_tokens = (int32_t)count,
        .token = (int32_t *)(uintptr_t)ids, /* llama.cpp reads it only */
        .pos = llama->positions,
        .n_seq_id = llama->sequence_counts,
        .seq_id = llama->sequences,
        .logits = llama->outputs,
    };
    int32_t failed = llama->encode(llama->context, batch);
    const float *result = failed ? NULL : llama->get_embeddings(llama->context);
    if (!result) return ct_fail(error, CT_MODEL, "llama.cpp could not encode (code %d)", failed);
    *vectors = result;
    return CT_OK;
}
