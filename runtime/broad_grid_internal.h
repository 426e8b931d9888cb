/* The hierarchy of loose grids under the broad phase. Private to runtime/.
 *
 * Level L has cells of side 2^L. A box goes to the level with side at most its longest extent and more than
 * half of it, into the cell of its low corner, so it reaches at most SAC_GRID_REACH cells further. Cells come
 * in bricks of 4 x 4 x 4 with a 64-bit mask of those in use: a search finds a brick by hashing, masks the
 * cells it wants, and empty cells cost nothing. The boxes of a cell lie in blocks of four, axis by axis, so
 * that one comparison tests four. Bricks and blocks come from pools as large as the number of bodies, which
 * is enough: a brick is never empty, and only the first block of a cell is not full.
 *
 * Index: sac_grid_init  sac_grid_fini  sac_grid_reserve  sac_grid_insert  sac_grid_remove  sac_grid_move
 *        sac_grid_each_block  sac_grid_splat  sac_grid_hits
 */
#ifndef SAC_RUNTIME_BROAD_GRID_INTERNAL_H
#define SAC_RUNTIME_BROAD_GRID_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/geometry.h"
#include "base/simd.h"

#define SAC_GRID_NONE UINT32_MAX
enum {
    SAC_GRID_LOWEST = -10, /* cells of 1 mm; smaller boxes share them */
    SAC_GRID_LEVELS = 26,  /* up to 32 km; larger boxes are huge */
    SAC_GRID_HUGE = SAC_GRID_LEVELS,
    SAC_GRID_NOWHERE = 255,
    SAC_GRID_REACH = 2,
    SAC_GRID_FAR = 1 << 29 /* cells beyond are one cell */
};

typedef struct sac_grid_block {
    float low[3][4], high[3][4]; /* an unused lane overlaps nothing */
    uint32_t body[4];            /* lanes in use come first */
    uint32_t next;               /* in the cell: all but the first are full */
    uint32_t used;
    uint32_t unused[2];
} sac_grid_block;

typedef struct sac_grid_brick {
    uint64_t mask;
    int32_t at[3]; /* in bricks */
    uint32_t level;
    uint32_t next, prev; /* of the level */
    uint32_t hash;
    uint32_t unused[7];
    uint32_t cells[64]; /* first block, where the mask says so: x + 4 y + 16 z */
} sac_grid_brick;

typedef struct sac_grid_level {
    uint32_t first, bricks;
    int32_t low[3], high[3]; /* of its bricks since it was last empty */
} sac_grid_level;

/* Where a body sits. */
typedef struct sac_grid_place {
    uint32_t brick, block;
    uint8_t level, cell, lane;
    bool moves;
} sac_grid_place;

typedef struct sac_grid {
    uint32_t room; /* bodies */
    sac_grid_place *places;
    sac_grid_brick *bricks;
    sac_grid_block *blocks;
    uint32_t *slots; /* open addressing, brick numbers; a power of two */
    uint32_t slot_mask;
    uint32_t free_brick, free_block, brick_end, block_end;
    uint32_t levels; /* bit: in use */
    uint32_t huge;   /* first block */
    sac_grid_level level[SAC_GRID_LEVELS];
} sac_grid;

void sac_grid_init(sac_grid *grid);
void sac_grid_fini(sac_grid *grid);
/* Room for this many bodies; false when out of memory, and nothing is changed. */
bool sac_grid_reserve(sac_grid *grid, uint32_t bodies);
void sac_grid_insert(sac_grid *grid, uint32_t body, const sac_box *box);
void sac_grid_remove(sac_grid *grid, uint32_t body);
/* As remove and insert, quicker when the cell stays the same. */
void sac_grid_move(sac_grid *grid, uint32_t body, const sac_box *box);

static inline float sac_grid_scale(uint32_t level)
{
    union {
        uint32_t bits;
        float value;
    } scale = {(uint32_t)(127 - SAC_GRID_LOWEST - (int32_t)level) << 23};
    return scale.value;
}

/* Monotonous, so that what overlaps in space overlaps in cells, whatever the rounding. */
static inline int32_t sac_grid_cell(float x, float scale)
{
    float cell = x * scale, far = (float)SAC_GRID_FAR;
    cell = cell > -far ? cell : -far;
    cell = cell < far ? cell : far;
    int32_t whole = (int32_t)cell;
    return whole - ((float)whole > cell);
}

static inline uint32_t sac_grid_hash(const int32_t at[3], uint32_t level)
{
    uint64_t h = (uint64_t)(uint32_t)at[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(uint32_t)at[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(uint32_t)at[2] * 0x165667b19e3779f9u + (uint64_t)level * 0xd6e8feb86659fd93u;
    return (uint32_t)((h ^ h >> 29) >> 16);
}

/* Bits of the cells from `low` to `high` (inclusive, 0 to 3) along each axis. */
static inline uint64_t sac_grid_mask(const int32_t low[3], const int32_t high[3])
{
    uint64_t x = (0xfu << low[0] & 0xfu >> (3 - high[0])) * 0x1111111111111111u;
    uint64_t y = (0xffffu << 4 * low[1] & 0xffffu >> 4 * (3 - high[1])) * 0x0001000100010001u;
    uint64_t z = UINT64_MAX << 16 * low[2] & UINT64_MAX >> 16 * (3 - high[2]);
    return x & y & z;
}

/* NULL: there is none. */
static inline const sac_grid_brick *sac_grid_find(const sac_grid *grid, const int32_t at[3], uint32_t level)
{
    uint32_t hash = sac_grid_hash(at, level);
    for (uint32_t slot = hash & grid->slot_mask;; slot = (slot + 1) & grid->slot_mask) {
        uint32_t number = grid->slots[slot];
        if (number == SAC_GRID_NONE) return NULL;
        const sac_grid_brick *brick = &grid->bricks[number];
        if (brick->at[0] == at[0] && brick->at[1] == at[1] && brick->at[2] == at[2] && brick->level == level)
            return brick;
    }
}

/* Return false to stop. */
typedef bool sac_grid_visit(const sac_grid *grid, uint32_t block, void *user);

__attribute__((always_inline)) static inline bool
sac_grid_each_in_brick(const sac_grid *grid, const sac_grid_brick *brick, const int32_t low[3],
                       const int32_t high[3], sac_grid_visit *visit, void *user)
{
    int32_t from[3], to[3];
    for (int i = 0; i < 3; i++) {
        int32_t base = brick->at[i] * 4, a = low[i] - base, b = high[i] - base;
        if (a > 3 || b < 0) return true;
        from[i] = a > 0 ? a : 0, to[i] = b < 3 ? b : 3;
    }
    for (uint64_t left = brick->mask & sac_grid_mask(from, to); left; left &= left - 1)
        for (uint32_t block = brick->cells[__builtin_ctzll(left)]; block != SAC_GRID_NONE;
             block = grid->blocks[block].next)
            if (!visit(grid, block, user)) return false;
    return true;
}

/* Every block that may hold a box overlapping `region`, each once; adds what was looked at to *looked. */
__attribute__((always_inline)) static inline void sac_grid_each_block(const sac_grid *grid,
                                                                      const sac_box *region,
                                                                      sac_grid_visit *visit, void *user,
                                                                      uint64_t *looked)
{
    for (uint32_t block = grid->huge; block != SAC_GRID_NONE; block = grid->blocks[block].next)
        if (!visit(grid, block, user)) return;
    for (uint32_t levels = grid->levels; levels; levels &= levels - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(levels);
        const sac_grid_level *level = &grid->level[number];
        float scale = sac_grid_scale(number);
        int32_t low[3], high[3], from[3], to[3];
        uint64_t bricks = 1;
        for (int i = 0; i < 3; i++) {
            low[i] = sac_grid_cell(region->low[i], scale) - SAC_GRID_REACH;
            high[i] = sac_grid_cell(region->high[i], scale);
            from[i] = low[i] >> 2, to[i] = high[i] >> 2;
            if (from[i] < level->low[i]) from[i] = level->low[i];
            if (to[i] > level->high[i]) to[i] = level->high[i];
            if (from[i] > to[i]) bricks = 0;
            /* Three numbers of 30 bits do not fit; a product this large only has to stay large. */
            if (bricks < UINT32_MAX) bricks *= (uint64_t)(uint32_t)(to[i] - from[i]) + 1;
        }
        if (!bricks) continue;
        if (bricks > level->bricks) {
            *looked += level->bricks;
            for (uint32_t brick = level->first; brick != SAC_GRID_NONE; brick = grid->bricks[brick].next)
                if (!sac_grid_each_in_brick(grid, &grid->bricks[brick], low, high, visit, user)) return;
            continue;
        }
        *looked += bricks;
        int32_t at[3];
        for (at[2] = from[2]; at[2] <= to[2]; at[2]++)
            for (at[1] = from[1]; at[1] <= to[1]; at[1]++)
                for (at[0] = from[0]; at[0] <= to[0]; at[0]++) {
                    const sac_grid_brick *brick = sac_grid_find(grid, at, number);
                    if (brick && !sac_grid_each_in_brick(grid, brick, low, high, visit, user)) return;
                }
    }
}

/* A box against the four of a block; bit k: lane k overlaps. Comparisons only, so every path agrees. */
#if defined(SAC_SIMD_IS_SSE2) || defined(SAC_SIMD_IS_AVX)
typedef struct sac_grid_splat {
    __m128 low[3], high[3];
} sac_grid_splat;

static inline sac_grid_splat sac_grid_splat_box(const sac_box *box)
{
    sac_grid_splat s;
    for (int i = 0; i < 3; i++) s.low[i] = _mm_set1_ps(box->low[i]), s.high[i] = _mm_set1_ps(box->high[i]);
    return s;
}

static inline uint32_t sac_grid_hits(const sac_grid_block *block, const sac_grid_splat *s)
{
    __m128 x = _mm_and_ps(_mm_cmple_ps(_mm_load_ps(block->low[0]), s->high[0]),
                          _mm_cmpge_ps(_mm_load_ps(block->high[0]), s->low[0]));
    __m128 y = _mm_and_ps(_mm_cmple_ps(_mm_load_ps(block->low[1]), s->high[1]),
                          _mm_cmpge_ps(_mm_load_ps(block->high[1]), s->low[1]));
    __m128 z = _mm_and_ps(_mm_cmple_ps(_mm_load_ps(block->low[2]), s->high[2]),
                          _mm_cmpge_ps(_mm_load_ps(block->high[2]), s->low[2]));
    return (uint32_t)_mm_movemask_ps(_mm_and_ps(_mm_and_ps(x, y), z));
}
#else
typedef struct sac_grid_splat {
    sac_box box;
} sac_grid_splat;

static inline sac_grid_splat sac_grid_splat_box(const sac_box *box) { return (sac_grid_splat){*box}; }

static inline uint32_t sac_grid_hits(const sac_grid_block *block, const sac_grid_splat *s)
{
    uint32_t hits = 0xf;
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 4; k++)
            if (!(block->low[i][k] <= s->box.high[i] && block->high[i][k] >= s->box.low[i]))
                hits &= ~(1u << k);
    return hits;
}
#endif

#endif
