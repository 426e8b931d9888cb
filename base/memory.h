/* Memory: the allocator everything goes through, an arena for things that die together, and growable arrays.
 *
 * Index: sac_allocator  sac_default_allocator  sac_set_allocator  sac_alloc  sac_free
 *        sac_arena_init  sac_arena_fini  sac_arena_alloc  sac_arena_reset
 *        sac_arena_mark_now  sac_arena_rewind  sac_array_push  sac_array_fini
 */
#ifndef SAC_BASE_MEMORY_H
#define SAC_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SAC_CACHE_LINE 64u

/* User hooks. `allocate` returns memory aligned to `alignment` (a power of two) or NULL. */
typedef struct sac_allocator {
    void *(*allocate)(size_t size, size_t alignment, void *user);
    void (*release)(void *memory, size_t size, void *user);
    void *user;
} sac_allocator;

/* Not thread safe: set it once, before anything is allocated. NULL restores the default. */
void sac_set_allocator(const sac_allocator *allocator);

/* Cache-line aligned and uninitialised; NULL when out of memory or when count * size overflows. */
void *sac_alloc(size_t count, size_t size);
/* As sac_alloc, zeroed. */
void *sac_alloc_zero(size_t count, size_t size);
/* `count` and `size` as given to sac_alloc. NULL is fine. */
void sac_free(void *memory, size_t count, size_t size);

/* Arena: blocks that grow by doubling, freed or rewound together. */
typedef struct sac_arena_block sac_arena_block;
typedef struct sac_arena {
    sac_arena_block *head;
    size_t used;       /* in head */
    size_t high_water; /* most bytes ever in use, over all blocks */
    size_t total;      /* bytes in use now, over all blocks */
} sac_arena;

void sac_arena_init(sac_arena *arena);
void sac_arena_fini(sac_arena *arena);
/* Keeps the largest block for reuse, so a steady load allocates nothing. */
void sac_arena_reset(sac_arena *arena);
/* Everything allocated after the mark goes when the arena is rewound to it; marks nest. */
typedef struct sac_arena_mark {
    sac_arena_block *head;
    size_t used, total;
} sac_arena_mark;
sac_arena_mark sac_arena_mark_now(const sac_arena *arena);
void sac_arena_rewind(sac_arena *arena, sac_arena_mark mark);
/* Cache-line aligned; NULL when out of memory. */
void *sac_arena_alloc(sac_arena *arena, size_t count, size_t size);

/* Growable array of T: declare with sac_array(T), zero-initialise, push, fini.
 *
 *   sac_array(int) list = {0};
 *   if (!sac_array_push(&list, 42)) return out of memory;
 *   sac_array_fini(&list);
 */
#define sac_array(T)            \
    struct {                    \
        T *data;                \
        size_t count, capacity; \
    }
/* Room for `n` items in all; false when out of memory (the array is then unchanged). */
#define sac_array_reserve(array, n) \
    sac_array_grow((void **)&(array)->data, &(array)->capacity, (n), sizeof *(array)->data)
#define sac_array_push(array, ...)                     \
    (sac_array_reserve((array), (array)->count + 1) && \
     ((array)->data[(array)->count++] = (__VA_ARGS__), true))
#define sac_array_fini(array)                                                                 \
    (sac_free((array)->data, (array)->capacity, sizeof *(array)->data), (array)->data = NULL, \
     (array)->count = (array)->capacity = 0)

bool sac_array_grow(void **data, size_t *capacity, size_t wanted, size_t item_size);

#endif
