#include "index/ct_id_map.h"

#include "base/ct_alloc.h"

#define CAPACITY_FIRST 1024

/* Fibonacci hashing, of eight ids in a row together: ids come in rows, and so do those asked for. */
static size_t home_of(const ct_id_map *map, int64_t id) {
    uint64_t hash = ((uint64_t)id >> 3) * 0x9e3779b97f4a7c15u;
    return ((size_t)(hash >> 32) << 3 | ((uint64_t)id & 7)) & (map->capacity - 1);
}

static size_t slot_of(const ct_id_map *map, int64_t id) {
    size_t slot = home_of(map, id);
    while (map->ids[slot] && map->ids[slot] != id) slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

uint32_t ct_id_map_get(const ct_id_map *map, int64_t id, uint32_t missing) {
    if (!map->capacity) return missing;
    size_t slot = slot_of(map, id);
    return map->ids[slot] ? map->places[slot] : missing;
}

void ct_id_map_expect(const ct_id_map *map, int64_t id) {
    if (!map->capacity) return;
    size_t slot = home_of(map, id);
    __builtin_prefetch(&map->ids[slot]);
    __builtin_prefetch(&map->places[slot]);
}

static int resize(ct_id_map *map, size_t capacity) {
    ct_id_map larger = {.capacity = capacity, .count = map->count};
    larger.ids = ct_alloc_zero(larger.capacity * sizeof *larger.ids);
    larger.places = ct_alloc(larger.capacity * sizeof *larger.places);
    if (!larger.ids || !larger.places) {
        ct_id_map_free(&larger);
        return -1;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->ids[i]) continue;
        size_t slot = slot_of(&larger, map->ids[i]);
        larger.ids[slot] = map->ids[i];
        larger.places[slot] = map->places[i];
    }
    ct_id_map_free(map);
    *map = larger;
    return 0;
}

static int grow(ct_id_map *map) {
    if ((map->count + 1) * 3 <= map->capacity * 2) return 0;
    return resize(map, map->capacity ? map->capacity * 2 : CAPACITY_FIRST);
}

int ct_id_map_reserve(ct_id_map *map, size_t count) {
    size_t capacity = map->capacity ? map->capacity : CAPACITY_FIRST;
    while (count * 3 > capacity * 2) capacity *= 2;
    return capacity > map->capacity ? resize(map, capacity) : 0;
}

int ct_id_map_exchange(ct_id_map *map, int64_t id, uint32_t place, uint32_t missing, uint32_t *before) {
    if (grow(map)) return -1;
    size_t slot = slot_of(map, id);
    *before = map->ids[slot] ? map->places[slot] : missing;
    map->count += !map->ids[slot];
    map->ids[slot] = id;
    map->places[slot] = place;
    return 0;
}

int ct_id_map_put(ct_id_map *map, int64_t id, uint32_t place) {
    uint32_t before;
    return ct_id_map_exchange(map, id, place, 0, &before);
}

size_t ct_id_map_bytes(const ct_id_map *map) {
    return map->capacity * (sizeof *map->ids + sizeof *map->places);
}

void ct_id_map_free(ct_id_map *map) {
    ct_free(map->ids);
    ct_free(map->places);
    *map = (ct_id_map){0};
}
