/* What an index that is kept elsewhere needs of the engine. */
#include <unistd.h>

#include "base/ct_error.h"
#include "engine/ct_engine_parts.h"

void ct_engine_set_nearby(ct_engine *engine, ct_find_nearby find, void *state) {
    if (engine->owner != getpid()) return;
    pthread_mutex_lock(&engine->mutex);
    engine->nearby = (ct_recall_nearby){find, state};
    pthread_mutex_unlock(&engine->mutex);
}

int ct_engine_vectors(ct_engine *engine, int64_t after, size_t capacity, int64_t *chunk_ids, float *vectors,
                      size_t *count, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    status = ct_keeper_refresh(engine->keeper, error);
    if (!status) ct_index_vectors(engine->index, after, capacity, chunk_ids, vectors, count);
    ct_engine_leave(engine);
    return status;
}

int ct_engine_mark(ct_engine *engine, int64_t through, size_t *count, uint64_t *hash, ct_error *error) {
    ct_error_clear(error);
    int status = ct_engine_enter(engine, error);
    if (status) return status;
    status = ct_keeper_refresh(engine->keeper, error);
    if (!status) ct_index_mark(engine->index, through, count, hash);
    ct_engine_leave(engine);
    return status;
}
