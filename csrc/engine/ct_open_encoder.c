/* The encoder together with its optional cache, which lives in the store's layer. */
#include "base/ct_error.h"
#include "encoder/ct_bert.h"
#include "encoder/ct_encoder.h"
#include "store/ct_vector_store.h"

static int cache_get(void *state, const int32_t *ids, size_t count, const ct_pass_value *value) {
    return ct_vector_store_get(state, ids, count, value->vector, value->codes, value->code_words);
}

static void cache_put(void *state, const int32_t *ids, size_t count, const ct_pass_value *value) {
    ct_vector_store_put(state, ids, count, value->vector, value->codes, value->code_words);
}

static void cache_close(void *state) { ct_vector_store_close(state); }

int ct_encoder_open(const ct_llama_api *api, const ct_encoder_options *options, ct_encoder **out,
                    ct_error *error) {
    ct_error_clear(error);
    if (!options->cache_path) return ct_encoder_create(api, options, NULL, out, error);
    int32_t (*n_embd)(const void *) = (int32_t(*)(const void *))api->model_n_embd;
    ct_vector_cache cache = {NULL, cache_get, cache_put, cache_close};
    ct_vector_store *store;
    int32_t dimension = options->bert && *options->bert ? ct_bert_dimension(*options->bert) : n_embd(api->model);
    int status = ct_vector_store_open(options->cache_path, options->fingerprint, dimension, &store, error);
    if (status) return status;
    cache.state = store;
    status = ct_encoder_create(api, options, &cache, out, error);
    if (status) ct_vector_store_close(store);
    return status;
}
