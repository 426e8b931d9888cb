/* The hierarchy of loose grids under the broad phase. Private to runtime/.
 *
 * Level L has cells of side 2^L. A box goes to the level with side at most its longest extent and more than
 * half of it, into the cell of its low corner, so it reaches at most SAC_GRID_REACH cells further. Cells come
 * in bricks of 4 x 4 x 4, and that is all that is kept of them: a brick has its boxes in blocks of eight,
 * each coordinate side by side, so that eight are tested as fast as one. A search needs about eight bricks,
 * which know their neighbours. Bricks and blocks come from pools as large as the number of bodies, which is
 * enough: a brick is never empty, and only the first block of a brick is not full.
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
    SAC_GRID_LANES = 8,
    SAC_GRID_SLACK = 1,
    SAC_GRID_FAR = 1 << 29 /* cells beyond are one cell */
};

/* Eight boxes: low corners, negated high corners, whose they are. Unused ones have a low x that is not a
 * number and overlap nothing. A search reads three cache lines. */
typedef struct sac_grid_block {
    float sides[6][SAC_GRID_LANES];
    uint32_t body[SAC_GRID_LANES];
    uint32_t unused[8];
} sac_grid_block;

/* A chain of blocks: the number of its first and how many boxes are in that, 1 to 8; 0: empty. The others
 * are full. */
typedef uint32_t sac_grid_chain;
static inline uint32_t sac_grid_chain_first(sac_grid_chain chain) { return chain >> 4; }
static inline uint32_t sac_grid_chain_used(sac_grid_chain chain) { return chain & 15u; }

typedef struct sac_grid_brick {
    int32_t at[3]; /* in bricks */
    uint32_t level;
    uint32_t next, prev; /* of the level */
    uint32_t hash;
    uint32_t around;         /* bit: that neighbour exists; itself is bit 13 */
    uint32_t neighbours[27]; /* x + 3 y + 9 z, each 0 to 2; where `around` says so */
    uint32_t unused[13];
} sac_grid_brick;

typedef struct sac_grid_slot {
    uint32_t brick, hash;
} sac_grid_slot;

typedef struct sac_grid_level {
    uint32_t first, bricks;
    int32_t low[3], high[3]; /* of its bricks since it was last empty */
} sac_grid_level;

/* Where a body sits: `box` is its block times eight and its place there. */
typedef struct sac_grid_place {
    uint32_t brick, box;
    uint8_t level;
    bool moves;
} sac_grid_place;

/* Of the listed blocks' boxes those that overlap `now` or `before` but not both, in order, those that overlap
 * `now` with the highest bit set; returns how many. Comparisons only, so every path finds the same. */
#define SAC_GRID_IS_NOW 0x80000000u
typedef uint32_t sac_grid_compare(const sac_grid_block *blocks, const uint32_t *list, uint32_t count,
                                  const sac_box *now, const sac_box *before, uint32_t *out);
sac_grid_compare sac_grid_compare_plain, sac_grid_compare_avx2, sac_grid_compare_avx512;

typedef struct sac_grid {
    sac_grid_compare *compare; /* the best this machine has */
    uint32_t room;             /* bodies */
    sac_grid_place *places;
    sac_grid_brick *bricks;
    sac_grid_chain *chains; /* of each brick: a search reads many of them, and little else of a brick */
    sac_grid_block *blocks;
    sac_grid_chain *next_blocks; /* of each block: the rest of its chain, or the next free block + 1 */
    sac_grid_slot *slots;        /* open addressing, at most a quarter full; a power of two */
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

/* The bricks of a level that may hold what a box meets. */
typedef struct sac_grid_range {
    int32_t from[3], to[3];
    uint64_t bricks; /* how many, existing or not */
} sac_grid_range;

static inline void sac_grid_range_of(const sac_grid *grid, uint32_t number, const sac_box *region,
                                     sac_grid_range *out)
{
    const sac_grid_level *level = &grid->level[number];
    sac_grid_corners corners = sac_grid_corners_of(region, sac_grid_scale(number));
    out->bricks = 1;
    for (int i = 0; i < 3; i++) {
        out->from[i] = (corners.low[i] - SAC_GRID_REACH) >> 2, out->to[i] = corners.high[i] >> 2;
        if (out->from[i] < level->low[i]) out->from[i] = level->low[i];
        if (out->to[i] > level->high[i]) out->to[i] = level->high[i];
        if (out->from[i] > out->to[i]) out->bricks = 0;
        /* Three numbers of 30 bits do not fit; a product this large only has to stay large. */
        if (out->bricks < UINT32_MAX) out->bricks *= (uint64_t)(uint32_t)(out->to[i] - out->from[i]) + 1;
    }
}

/* Return false to stop. */
typedef bool sac_grid_visit(const sac_grid *grid, uint32_t brick, void *user);

__attribute__((always_inline)) static inline bool sac_grid_each_in_range(const sac_grid *grid,
                                                                         uint32_t number,
                                                                         const sac_grid_range *r,
                                                                         sac_grid_visit *visit, void *user)
{
    if (!r->bricks) return true;
    if (r->bricks > grid->level[number].bricks) {
        for (uint32_t k = grid->level[number].first; k != SAC_GRID_NONE; k = grid->bricks[k].next) {
            bool within = true;
            for (int i = 0; i < 3; i++)
                within &= grid->bricks[k].at[i] >= r->from[i] && grid->bricks[k].at[i] <= r->to[i];
            if (within && !visit(grid, k, user)) return false;
        }
        return true;
    }
    int32_t at[3];
    for (at[2] = r->from[2]; at[2] <= r->to[2]; at[2]++)
        for (at[1] = r->from[1]; at[1] <= r->to[1]; at[1]++)
            for (at[0] = r->from[0]; at[0] <= r->to[0]; at[0]++) {
                const sac_grid_brick *brick = sac_grid_find(grid, at, number);
                if (brick && !visit(grid, (uint32_t)(brick - grid->bricks), user)) return false;
            }
    return true;
}

/* The blocks whose boxes may overlap `region`, each once, to `out` (room for SAC_GRID_SLACK more than there
 * are bodies); returns how many, and adds the bricks looked at to *looked. `home`: the brick of who asks,
 * whose neighbours are at hand, or SAC_GRID_NONE. */
uint32_t sac_grid_gather(const sac_grid *grid, const sac_box *region, uint32_t home, uint32_t *out,
                         uint64_t *looked);

/* What the sides of a box of the grid must not exceed to overlap this one. */
typedef struct sac_grid_key {
    float sides[6];
} sac_grid_key;

static inline sac_grid_key sac_grid_key_of(const sac_box *box)
{
    return (sac_grid_key){
        {box->high[0], box->high[1], box->high[2], -box->low[0], -box->low[1], -box->low[2]}};
}

/* Bit k: box k of the block overlaps. */
SAC_ALWAYS_INLINE uint32_t sac_grid_meets(const sac_grid_block *block, const sac_grid_key *key)
{
#if defined(SAC_SIMD_IS_AVX512)
    /* Two sides at a time. */
    __mmask16 meets = 0xffff;
    for (int i = 0; i < 6; i += 2) {
        __m512 most = _mm512_insertf32x8(_mm512_set1_ps(key->sides[i]), _mm256_set1_ps(key->sides[i + 1]), 1);
        meets = _mm512_mask_cmp_ps_mask(meets, _mm512_load_ps(block->sides[i]), most, _CMP_LE_OQ);
    }
    return meets & (uint32_t)meets >> 8;
#elif defined(SAC_SIMD_IS_AVX)
    __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (int i = 0; i < 6; i++) {
        __m256 side = _mm256_load_ps(block->sides[i]);
        all = _mm256_and_ps(all, _mm256_cmp_ps(side, _mm256_set1_ps(key->sides[i]), _CMP_LE_OQ));
    }
    return (uint32_t)_mm256_movemask_ps(all);
#elif defined(SAC_SIMD_IS_SSE2)
    uint32_t meets = 0;
    for (int half = 0; half < SAC_GRID_LANES; half += 4) {
        __m128 all = _mm_castsi128_ps(_mm_set1_epi32(-1));
        for (int i = 0; i < 6; i++) {
            __m128 side = _mm_load_ps(block->sides[i] + half);
            all = _mm_and_ps(all, _mm_cmple_ps(side, _mm_set1_ps(key->sides[i])));
        }
        meets |= (uint32_t)_mm_movemask_ps(all) << half;
    }
    return meets;
#else
    uint32_t meets = 0xff;
    for (int i = 0; i < 6; i++) meets &= sac_f8_le(sac_f8_load(block->sides[i]), sac_f8_set(key->sides[i]));
    return meets;
#endif
}

static inline uint32_t sac_grid_compare_blocks(const sac_grid_block *blocks, const uint32_t *list,
                                               uint32_t count, const sac_box *now, const sac_box *before,
                                               uint32_t *out)
{
    const sac_grid_key is = sac_grid_key_of(now), was = sac_grid_key_of(before);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t meets = sac_grid_meets(&blocks[list[i]], &is);
        for (uint32_t left = meets ^ sac_grid_meets(&blocks[list[i]], &was); left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            out[found++] = (list[i] * SAC_GRID_LANES + lane) | (meets >> lane & 1) << 31;
        }
    }
    return found;
}

#endif
