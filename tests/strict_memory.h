/* An allocator that refuses, for tests of what is left when memory runs out.
 *
 *     strict_memory m = {.last = 7};
 *     strict_memory_begin(&m);
 *     ...
 *     sac_set_allocator(NULL);
 *     assert_int_equal(m.pieces, 0);
 */
#ifndef SAC_TESTS_STRICT_MEMORY_H
#define SAC_TESTS_STRICT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Knows what it gave and looks after its edges, and gives nothing from the call `last` on, or not that once.
 */
typedef struct strict_memory {
    uint64_t calls, last;
    bool once, wrong_size, overrun;
    int64_t pieces;
} strict_memory;
enum { STRICT_EDGE = 64 };

static inline void *strict_allocate(size_t size, size_t alignment, void *user)
{
    strict_memory *m = user;
    unsigned char *piece;
    m->calls++;
    if (m->last && (m->once ? m->calls == m->last : m->calls >= m->last)) return NULL;
    if (alignment > STRICT_EDGE || posix_memalign((void **)&piece, STRICT_EDGE, size + 2 * STRICT_EDGE))
        return NULL;
    m->pieces++;
    memcpy(piece, &size, sizeof size);
    memset(piece + STRICT_EDGE + size, 0xa5, STRICT_EDGE);
    return piece + STRICT_EDGE;
}

static inline void strict_release(void *given, size_t size, void *user)
{
    strict_memory *m = user;
    unsigned char *piece = (unsigned char *)given - STRICT_EDGE;
    size_t was;
    memcpy(&was, piece, sizeof was);
    m->wrong_size |= was != size;
    for (int i = 0; i < STRICT_EDGE; i++) m->overrun |= piece[STRICT_EDGE + was + i] != 0xa5;
    m->pieces--;
    free(piece);
}

/* Until sac_set_allocator(NULL). `m` must live as long. */
static inline void strict_memory_begin(strict_memory *m)
{
    sac_set_allocator(&(sac_allocator){strict_allocate, strict_release, m});
}

#endif
