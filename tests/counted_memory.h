/* An allocator that counts, for tests of "nothing is allocated from here on" and "everything is given back".
 * Threads may share it.
 *
 *     counted_memory count = {0};
 *     counted_memory_begin(&count);
 *     ...
 *     sac_set_allocator(NULL);
 *     assert_int_equal(count.calls, 0);
 */
#ifndef SAC_TESTS_COUNTED_MEMORY_H
#define SAC_TESTS_COUNTED_MEMORY_H

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct counted_memory {
    uint64_t calls; /* of allocate */
    int64_t bytes;  /* not released yet */
    int64_t pieces; /* the same, in allocations */
} counted_memory;

static inline void *counted_allocate(size_t size, size_t alignment, void *user)
{
    counted_memory *count = user;
    void *memory = NULL;
    __atomic_add_fetch(&count->calls, 1, __ATOMIC_RELAXED);
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size)) return NULL;
    __atomic_add_fetch(&count->bytes, (int64_t)size, __ATOMIC_RELAXED);
    __atomic_add_fetch(&count->pieces, 1, __ATOMIC_RELAXED);
    return memory;
}

static inline void counted_release(void *memory, size_t size, void *user)
{
    counted_memory *count = user;
    if (!memory) return;
    __atomic_sub_fetch(&count->bytes, (int64_t)size, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&count->pieces, 1, __ATOMIC_RELAXED);
    free(memory);
}

/* Until sac_set_allocator(NULL). `count` must live as long. */
static inline void counted_memory_begin(counted_memory *count)
{
    sac_set_allocator(&(sac_allocator){counted_allocate, counted_release, count});
}

#endif
