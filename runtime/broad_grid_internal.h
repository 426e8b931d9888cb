/* The hierarchy of loose grids under the broad phase. Private to runtime/.
 *
 * Level L has cells of side 2^L. A box goes to the level with side at most its longest extent and more than
 * half of it, into the cell of its low corner, so it reaches at most SAC_GRID_REACH cells further. Cells come
 * in bricks of 4 x 4 x 4 with a 64-bit mask of those in use: a search finds a brick by hashing, masks the
 * cells it wants, and empty cells cost nothing. The boxes of a cell lie side by side in blocks of four; a box
 * is one vector of low corner and negated high corner, so that one comparison tests it. Bricks and blocks
 * come from pools as large as the number of bodies, which is enough: a brick is never empty, and only the
 * first block of a cell is not full.
 *
 * Index: sac_grid_init  sac_grid_fini  sac_grid_reserve  sac_grid_insert  sac_grid_remove  sac_grid_move
 *        sac_grid_range_of  sac_grid_each_in_range  sac_grid_gather  sac_grid_key_of  sac_grid_meets
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
    SAC_GRID_SLACK = 4,
    SAC_GRID_FAR = 1 << 29 /* cells beyond are one cell */
};

typedef struct sac_grid_box {
    float low[3];
    uint32_t body;
    float minus_high[3];
    uint32_t next; /* in the first box of a block: the next chain of the cell, full blocks only */
} sac_grid_box;

/* A chain of boxes: the number of its first block and how many boxes are in that, 1 to 4; 0: empty. */
typedef uint32_t sac_grid_chain;
static inline uint32_t sac_grid_chain_first(sac_grid_chain chain) { return chain >> 3 << 2; }
static inline uint32_t sac_grid_chain_used(sac_grid_chain chain) { return chain & 7u; }

typedef struct sac_grid_brick {
    uint64_t mask; /* cells in use */
    uint64_t more; /* cells of more than one block */
    int32_t at[3]; /* in bricks */
    uint32_t level;
    uint32_t next, prev; /* of the level */
    uint32_t hash;
    uint32_t around; /* bit: that neighbour exists; itself is bit 13 */
    uint32_t unused[4];
    sac_grid_chain cells[64]; /* where the mask says so: x + 4 y + 16 z */
    uint32_t neighbours[27];  /* x + 3 y + 9 z, each 0 to 2; where `around` says so */
    uint32_t unused_end[5];
} sac_grid_brick;

typedef struct sac_grid_slot {
    uint32_t brick, hash;
} sac_grid_slot;

typedef struct sac_grid_level {
    uint32_t first, bricks;
    int32_t low[3], high[3]; /* of its bricks since it was last empty */
} sac_grid_level;

/* Where a body sits. */
typedef struct sac_grid_place {
    uint32_t brick, box;
    uint8_t level, cell;
    bool moves;
} sac_grid_place;

/* Of the listed boxes those that overlap `now` or `before` but not both, in order, those that overlap `now`
 * with the highest bit set; returns how many. `out` has room for one more than `count`. Comparisons only, so
 * every path finds the same. */
#define SAC_GRID_IS_NOW 0x80000000u
typedef uint32_t sac_grid_compare(const sac_grid_box *boxes, const uint32_t *list, uint32_t count,
                                  const sac_box *now, const sac_box *before, uint32_t *out);
sac_grid_compare sac_grid_compare_plain, sac_grid_compare_avx2;

typedef struct sac_grid {
    sac_grid_compare *compare; /* the best this machine has */
    uint32_t room;             /* bodies */
    sac_grid_place *places;
    sac_grid_brick *bricks;
    sac_grid_box *boxes;  /* blocks of four */
    sac_grid_slot *slots; /* open addressing, at most a quarter full; a power of two */
    uint32_t slot_mask;
    uint32_t free_brick, free_block, brick_end, block_end;
    uint32_t levels; /* bit: in use */
    sac_grid_chain huge;
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

/* The cells of a box's corners, x y z. Monotonous, so that what overlaps in space overlaps in cells, whatever
 * the rounding. */
typedef struct sac_grid_corners {
    int32_t low[3], high[3];
} sac_grid_corners;

#if defined(SAC_SIMD_IS_SSE2) || defined(SAC_SIMD_IS_AVX)
static inline __m128i sac_grid_floor(__m128 x)
{
    __m128 far = _mm_set1_ps((float)SAC_GRID_FAR);
    x = _mm_min_ps(_mm_max_ps(x, _mm_sub_ps(_mm_setzero_ps(), far)), far);
    __m128i whole = _mm_cvttps_epi32(x);
    return _mm_add_epi32(whole, _mm_castps_si128(_mm_cmpgt_ps(_mm_cvtepi32_ps(whole), x)));
}

static inline sac_grid_corners sac_grid_corners_of(const sac_box *box, float scale)
{
    sac_grid_corners out;
    float six[8];
    int32_t cells[8];
    memcpy(six, box, sizeof *box);
    six[6] = six[7] = 0;
    __m128 by = _mm_set1_ps(scale);
    _mm_storeu_si128((__m128i *)cells, sac_grid_floor(_mm_mul_ps(_mm_loadu_ps(six), by)));
    _mm_storeu_si128((__m128i *)(cells + 4), sac_grid_floor(_mm_mul_ps(_mm_loadu_ps(six + 4), by)));
    memcpy(&out, cells, sizeof out);
    return out;
}
#else
static inline int32_t sac_grid_floor(float x)
{
    float far = (float)SAC_GRID_FAR;
    x = x > -far ? x : -far;
    x = x < far ? x : far;
    int32_t whole = (int32_t)x;
    return whole - ((float)whole > x);
}

static inline sac_grid_corners sac_grid_corners_of(const sac_box *box, float scale)
{
    sac_grid_corners out;
    for (int i = 0; i < 3; i++) {
        out.low[i] = sac_grid_floor(box->low[i] * scale);
        out.high[i] = sac_grid_floor(box->high[i] * scale);
    }
    return out;
}
#endif

static inline uint32_t sac_grid_hash(const int32_t at[3], uint32_t level)
{
    uint64_t h = (uint64_t)(uint32_t)at[0] * 0x9e3779b97f4a7c15u +
                 (uint64_t)(uint32_t)at[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(uint32_t)at[2] * 0x165667b19e3779f9u + (uint64_t)level * 0xd6e8feb86659fd93u;
    return (uint32_t)((h ^ h >> 29) >> 16);
}

/* Bits of the cells from `low` to `high` (0 to 3, both included) along one axis. */
static inline uint64_t sac_grid_mask(int axis, int32_t low, int32_t high)
{
    if (axis == 0) return (0xfu << low & 0xfu >> (3 - high)) * UINT64_C(0x1111111111111111);
    if (axis == 1) return (0xffffu << 4 * low & 0xffffu >> 4 * (3 - high)) * UINT64_C(0x0001000100010001);
    return UINT64_MAX << 16 * low & UINT64_MAX >> 16 * (3 - high);
}

/* The same for cells of the whole level, in brick `at`; 0 when they are elsewhere. */
static inline uint64_t sac_grid_part(int axis, int32_t at, int32_t low, int32_t high)
{
    int32_t from = low - at * 4, to = high - at * 4;
    if (from > 3 || to < 0) return 0;
    return sac_grid_mask(axis, from > 0 ? from : 0, to < 3 ? to : 3);
}

/* NULL: there is none. */
static inline const sac_grid_brick *sac_grid_find(const sac_grid *grid, const int32_t at[3], uint32_t level)
{
    uint32_t hash = sac_grid_hash(at, level);
    for (uint32_t slot = hash & grid->slot_mask;; slot = (slot + 1) & grid->slot_mask) {
        if (grid->slots[slot].brick == SAC_GRID_NONE) return NULL;
        if (grid->slots[slot].hash != hash) continue;
        const sac_grid_brick *brick = &grid->bricks[grid->slots[slot].brick];
        if (brick->at[0] == at[0] && brick->at[1] == at[1] && brick->at[2] == at[2] && brick->level == level)
            return brick;
    }
}

/* The cells of a level a box can meet, and the bricks they lie in. */
typedef struct sac_grid_range {
    int32_t low[3], high[3]; /* cells */
    int32_t from[3], to[3];  /* bricks */
    uint64_t bricks;         /* how many, existing or not */
} sac_grid_range;

static inline void sac_grid_range_of(const sac_grid *grid, uint32_t number, const sac_box *region,
                                     sac_grid_range *out)
{
    const sac_grid_level *level = &grid->level[number];
    sac_grid_corners corners = sac_grid_corners_of(region, sac_grid_scale(number));
    out->bricks = 1;
    for (int i = 0; i < 3; i++) {
        out->low[i] = corners.low[i] - SAC_GRID_REACH;
        out->high[i] = corners.high[i];
        out->from[i] = out->low[i] >> 2, out->to[i] = out->high[i] >> 2;
        if (out->from[i] < level->low[i]) out->from[i] = level->low[i];
        if (out->to[i] > level->high[i]) out->to[i] = level->high[i];
        if (out->from[i] > out->to[i]) out->bricks = 0;
        /* Three numbers of 30 bits do not fit; a product this large only has to stay large. */
        if (out->bricks < UINT32_MAX) out->bricks *= (uint64_t)(uint32_t)(out->to[i] - out->from[i]) + 1;
    }
}

/* The cells in `mask` are in use and may hold what is looked for. Return false to stop. */
typedef bool sac_grid_visit(const sac_grid *grid, const sac_grid_brick *brick, uint64_t mask, void *user);

__attribute__((always_inline)) static inline bool sac_grid_each_in_range(const sac_grid *grid,
                                                                         uint32_t number,
                                                                         const sac_grid_range *r,
                                                                         sac_grid_visit *visit, void *user)
{
    if (!r->bricks) return true;
    if (r->bricks > grid->level[number].bricks) {
        for (uint32_t next = grid->level[number].first; next != SAC_GRID_NONE;) {
            const sac_grid_brick *brick = &grid->bricks[next];
            next = brick->next;
            uint64_t mask = brick->mask;
            for (int i = 0; i < 3; i++) mask &= sac_grid_part(i, brick->at[i], r->low[i], r->high[i]);
            if (mask && !visit(grid, brick, mask, user)) return false;
        }
        return true;
    }
    int32_t at[3];
    for (at[2] = r->from[2]; at[2] <= r->to[2]; at[2]++) {
        uint64_t z = sac_grid_part(2, at[2], r->low[2], r->high[2]);
        for (at[1] = r->from[1]; at[1] <= r->to[1]; at[1]++) {
            uint64_t yz = z & sac_grid_part(1, at[1], r->low[1], r->high[1]);
            for (at[0] = r->from[0]; at[0] <= r->to[0]; at[0]++) {
                const sac_grid_brick *brick = sac_grid_find(grid, at, number);
                if (!brick) continue;
                uint64_t mask = brick->mask & yz & sac_grid_part(0, at[0], r->low[0], r->high[0]);
                if (mask && !visit(grid, brick, mask, user)) return false;
            }
        }
    }
    return true;
}

/* The boxes that may overlap `region`, each once, to `out` (room for SAC_GRID_SLACK more than there are
 * bodies); returns how many, and adds the bricks looked at to *looked. `home`: the brick of who asks, whose
 * neighbours are at hand, or SAC_GRID_NONE. */
uint32_t sac_grid_gather(const sac_grid *grid, const sac_box *region, uint32_t home, uint32_t *out,
                         uint64_t *looked);

/* What a box of the grid must not exceed to overlap this one. */
typedef struct sac_grid_key {
    _Alignas(16) float high[4], minus_low[4];
} sac_grid_key;

static inline sac_grid_key sac_grid_key_of(const sac_box *box)
{
    /* Read as floats, body and next are small numbers: there are far fewer than 2^28. */
    sac_grid_key key = {{box->high[0], box->high[1], box->high[2], INFINITY},
                        {-box->low[0], -box->low[1], -box->low[2], INFINITY}};
    return key;
}

static inline bool sac_grid_meets(const sac_grid_box *box, const sac_grid_key *key)
{
#if defined(SAC_SIMD_IS_SSE2) || defined(SAC_SIMD_IS_AVX)
    __m128 low = _mm_cmple_ps(_mm_load_ps((const float *)(const void *)box), _mm_load_ps(key->high));
    __m128 high = _mm_cmple_ps(_mm_load_ps(box->minus_high), _mm_load_ps(key->minus_low));
    return _mm_movemask_ps(_mm_and_ps(low, high)) == 15;
#else
    bool meets = true;
    for (int i = 0; i < 3; i++)
        meets &= box->low[i] <= key->high[i] && box->minus_high[i] <= key->minus_low[i];
    return meets;
#endif
}

#endif
