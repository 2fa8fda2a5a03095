/* A growing hash map from message id (>= 1) to an entry's place.  Open addressing, linear probes. */
#ifndef CT_ID_MAP_H
#define CT_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct ct_id_map {
    int64_t *ids; /* 0: free */
    uint32_t *places;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} ct_id_map;

/* The place of an id, or `missing`. */
uint32_t ct_id_map_get(const ct_id_map *map, int64_t id, uint32_t missing);

/* Have where an id would be brought near, for a get that follows. */
void ct_id_map_expect(const ct_id_map *map, int64_t id);

/* Set the place of an id.  0, or -1 when memory is short; the map is unchanged then. */
int ct_id_map_put(ct_id_map *map, int64_t id, uint32_t place);

/* The same, giving the place it had, or `missing`. */
int ct_id_map_exchange(ct_id_map *map, int64_t id, uint32_t place, uint32_t missing, uint32_t *before);

/* Make room for so many ids in all.  0, or -1 when memory is short. */
int ct_id_map_reserve(ct_id_map *map, size_t count);

size_t ct_id_map_bytes(const ct_id_map *map);

void ct_id_map_free(ct_id_map *map);

#endif
