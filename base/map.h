/* A hash map from 64-bit keys (never 0) to 32-bit values: open addressing, grows by doubling, nothing is
 * removed.
 *
 *   sac_map map = {0};
 *   bool fresh;
 *   uint32_t *value = sac_map_at(&map, key, &fresh);   // NULL: out of memory
 *   if (fresh) *value = 42;
 *   sac_map_fini(&map);
 */
#ifndef SAC_BASE_MAP_H
#define SAC_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sac_map {
    uint64_t *keys; /* 0: free */
    uint32_t *values;
    size_t size, used; /* size is a power of two */
} sac_map;

/* The value of `key`, made if there was none; valid until the next call. NULL when out of memory. */
uint32_t *sac_map_at(sac_map *map, uint64_t key, bool *out_fresh);
void sac_map_fini(sac_map *map);

#endif
