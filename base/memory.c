#include "base/memory.h"

#include <stdlib.h>

static void *default_allocate(size_t size, size_t alignment, void *user)
{
    (void)user;
    return aligned_alloc(alignment, size);
}

static void default_release(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

static const sac_allocator default_allocator = {default_allocate, default_release, NULL};
static sac_allocator current = {default_allocate, default_release, NULL};

void sac_set_allocator(const sac_allocator *allocator)
{
    current = allocator ? *allocator : default_allocator;
}

/* Sizes are rounded to whole cache lines: aligned_alloc wants a multiple, and SIMD may load a full last line.
 */
static bool rounded_size(size_t count, size_t size, size_t *out)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return false;
    *out = (bytes + SAC_CACHE_LINE - 1) / SAC_CACHE_LINE * SAC_CACHE_LINE;
    if (*out == 0) *out = SAC_CACHE_LINE;
    return true;
}

void *sac_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (!rounded_size(count, size, &bytes)) return NULL;
    return current.allocate(bytes, SAC_CACHE_LINE, current.user);
}

void *sac_alloc_zero(size_t count, size_t size)
{
    void *memory = sac_alloc(count, size);
    if (memory && count && size) memset(memory, 0, count * size);
    return memory;
}

void sac_free(void *memory, size_t count, size_t size)
{
    size_t bytes;
    if (memory && rounded_size(count, size, &bytes)) current.release(memory, bytes, current.user);
}

struct sac_arena_block {
    sac_arena_block *next;
    size_t size;
    _Alignas(SAC_CACHE_LINE) unsigned char bytes[];
};

enum { FIRST_BLOCK = 64 * 1024 };

void sac_arena_init(sac_arena *arena) { *arena = (sac_arena){0}; }

static void release_chain(sac_arena_block *block)
{
    while (block) {
        sac_arena_block *next = block->next;
        sac_free(block, 1, sizeof *block + block->size);
        block = next;
    }
}

void sac_arena_fini(sac_arena *arena)
{
    release_chain(arena->head);
    *arena = (sac_arena){0};
}

void sac_arena_reset(sac_arena *arena)
{
    /* Blocks double, so the head is the largest. */
    if (arena->head) {
        release_chain(arena->head->next);
        arena->head->next = NULL;
    }
    arena->used = arena->total = 0;
}

sac_arena_mark sac_arena_mark_now(const sac_arena *arena)
{
    return (sac_arena_mark){arena->head, arena->used, arena->total};
}

void sac_arena_rewind(sac_arena *arena, sac_arena_mark mark)
{
    while (arena->head != mark.head) {
        sac_arena_block *newest = arena->head;
        arena->head = newest->next;
        newest->next = NULL;
        release_chain(newest);
    }
    arena->used = mark.used;
    arena->total = mark.total;
}

void *sac_arena_alloc(sac_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!rounded_size(count, size, &bytes)) return NULL;
    if (!arena->head || arena->head->size - arena->used < bytes) {
        size_t wanted = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
        while (wanted < bytes) wanted *= 2;
        sac_arena_block *block = sac_alloc(1, sizeof *block + wanted);
        if (!block) return NULL;
        block->next = arena->head;
        block->size = wanted;
        arena->head = block;
        arena->used = 0;
    }
    void *memory = arena->head->bytes + arena->used;
    arena->used += bytes;
    arena->total += bytes;
    if (arena->total > arena->high_water) arena->high_water = arena->total;
    return memory;
}

bool sac_array_grow(void **data, size_t *capacity, size_t wanted, size_t item_size)
{
    if (wanted <= *capacity) return true;
    size_t grown = *capacity < 8 ? 16 : *capacity * 2;
    if (grown < wanted) grown = wanted;
    void *memory = sac_alloc(grown, item_size);
    if (!memory) return false;
    if (*capacity) memcpy(memory, *data, *capacity * item_size);
    sac_free(*data, *capacity, item_size);
    *data = memory;
    *capacity = grown;
    return true;
}
