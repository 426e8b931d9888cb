#include "base/map.h"

#include "base/memory.h"

enum { FIRST_SIZE = 4096 };

static size_t slot_of(const sac_map *map, uint64_t key)
{
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & (map->size - 1);
    while (map->keys[slot] && map->keys[slot] != key) slot = (slot + 1) & (map->size - 1);
    return slot;
}

static bool grow(sac_map *map)
{
    sac_map bigger = {.size = map->size ? map->size * 2 : FIRST_SIZE, .used = map->used};
    bigger.keys = sac_alloc_zero(bigger.size, sizeof *bigger.keys);
    bigger.values = sac_alloc(bigger.size, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        sac_map_fini(&bigger);
        return false;
    }
    for (size_t i = 0; i < map->size; i++) {
        if (!map->keys[i]) continue;
        size_t slot = slot_of(&bigger, map->keys[i]);
        bigger.keys[slot] = map->keys[i];
        bigger.values[slot] = map->values[i];
    }
    sac_map_fini(map);
    *map = bigger;
    return true;
}

uint32_t *sac_map_at(sac_map *map, uint64_t key, bool *out_fresh)
{
    if ((map->used + 1) * 3 > map->size * 2 && !grow(map)) return NULL;
    size_t slot = slot_of(map, key);
    *out_fresh = !map->keys[slot];
    if (*out_fresh) map->keys[slot] = key, map->used++;
    return &map->values[slot];
}

void sac_map_fini(sac_map *map)
{
    sac_free(map->keys, map->size, sizeof *map->keys);
    sac_free(map->values, map->size, sizeof *map->values);
    *map = (sac_map){0};
}
