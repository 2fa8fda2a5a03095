#include "recall/ct_pool.h"

#include <math.h>
#include <stdlib.h>

#include "base/ct_alloc.h"

ct_candidate *ct_pool_find(const ct_pool *pool, int64_t message_id) {
    uint32_t place = ct_id_map_get(&pool->places, message_id, UINT32_MAX);
    return place == UINT32_MAX ? NULL : &pool->list[place];
}

ct_candidate *ct_pool_add(ct_pool *pool, int64_t message_id) {
    ct_candidate *known = ct_pool_find(pool, message_id);
    if (known) return known;
    if (pool->count == pool->capacity) {
        size_t capacity = pool->capacity ? 2 * pool->capacity : 256;
        ct_candidate *grown = ct_realloc(pool->list, capacity * sizeof *grown);
        if (!grown) return NULL;
        pool->list = grown;
        pool->capacity = capacity;
    }
    if (ct_id_map_put(&pool->places, message_id, (uint32_t)pool->count)) return NULL;
    ct_candidate *added = &pool->list[pool->count++];
    *added = (ct_candidate){.message_id = message_id, .dense = NAN, .lexical = NAN, .late = NAN, .own = NAN,
                            .passage = -1};
    return added;
}

typedef struct ranked {
    double score;
    int64_t message_id;
} ranked;

static int by_score(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->message_id < y->message_id) - (x->message_id > y->message_id);
}

int64_t ct_pool_leaders(const ct_pool *pool, size_t count, int64_t *ids) {
    ranked *order = ct_alloc(pool->count * sizeof *order);
    if (!order) return -1;
    for (size_t i = 0; i < pool->count; i++)
        order[i] = (ranked){pool->list[i].score, pool->list[i].message_id};
    if (pool->count) qsort(order, pool->count, sizeof *order, by_score);
    if (pool->count < count) count = pool->count;
    for (size_t i = 0; i < count; i++) ids[i] = order[i].message_id;
    ct_free(order);
    return (int64_t)count;
}

void ct_pool_free(ct_pool *pool) {
    ct_free(pool->list);
    ct_id_map_free(&pool->places);
    *pool = (ct_pool){.count = 0};
}
