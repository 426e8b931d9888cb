/* Searching the grid: what a box can meet. */
#include "runtime/broad_grid_internal.h"

/* Always four, of which those in use count: no branch to guess wrong. */
static inline uint32_t *gather_block(sac_grid_chain chain, uint32_t *out)
{
    uint32_t first = sac_grid_chain_first(chain);
    for (uint32_t k = 0; k < SAC_GRID_SLACK; k++) out[k] = first + k;
    return out + sac_grid_chain_used(chain);
}

static uint32_t *gather_chain(const sac_grid *grid, sac_grid_chain chain, uint32_t *out)
{
    for (; chain; chain = grid->boxes[sac_grid_chain_first(chain)].next) out = gather_block(chain, out);
    return out;
}

static inline uint32_t *gather_cells(const sac_grid *grid, const sac_grid_brick *brick, uint64_t mask,
                                     uint32_t *out)
{
    for (uint64_t left = mask; left; left &= left - 1)
        out = gather_block(brick->cells[__builtin_ctzll(left)], out);
    /* Few cells have more than one block, so most boxes are not touched before they are tested. */
    for (uint64_t left = mask & brick->more; left; left &= left - 1) {
        sac_grid_chain chain = brick->cells[__builtin_ctzll(left)];
        out = gather_chain(grid, grid->boxes[sac_grid_chain_first(chain)].next, out);
    }
    return out;
}

static inline bool gather_brick(const sac_grid *grid, const sac_grid_brick *brick, uint64_t mask, void *user)
{
    uint32_t **out = user;
    *out = gather_cells(grid, brick, mask, *out);
    return true;
}

/* Four bits along y or z, spread over the cells of a brick. */
#define FOUR(b)                                                                                              \
    {                                                                                                        \
        0, b(0), b(1), b(0) | b(1), b(2), b(2) | b(0), b(2) | b(1), b(2) | b(1) | b(0), b(3), b(3) | b(0),   \
            b(3) | b(1), b(3) | b(1) | b(0), b(3) | b(2), b(3) | b(2) | b(0), b(3) | b(2) | b(1), UINT64_MAX \
    }
#define ALONG_Y(k) UINT64_C(0x000f000f000f000f) << 4 * (k)
#define ALONG_Z(k) UINT64_C(0x000000000000ffff) << 16 * (k)
static const uint64_t cells_y[16] = FOUR(ALONG_Y), cells_z[16] = FOUR(ALONG_Z);

/* Bits of the neighbours whose coordinates are in the three bits of each axis. */
static uint32_t neighbours(const uint32_t three[3])
{
    uint32_t x = three[0] * 0x1249249u;
    uint32_t y = ((three[1] & 1) * 7u | (three[1] & 2) * 28u | (three[1] & 4) * 112u) * 0x40201u;
    uint32_t z = (three[2] & 1) * 0x1ffu | (three[2] & 2) * 0x1ff00u | (three[2] & 4) * 0x1ff0000u;
    return x & y & z;
}

/* Around the brick of who asks no hashing is needed: it knows its neighbours. NULL when the region reaches
 * beyond them. */
static uint32_t *gather_around(const sac_grid *grid, const sac_grid_brick *home, const sac_box *region,
                               uint32_t *out, uint64_t *looked)
{
    static const uint8_t y_of[27] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 1, 1,
                                     1, 2, 2, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2};
    static const uint8_t x_of[27] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1,
                                     2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    static const uint8_t z_of[27] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1,
                                     1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    sac_grid_corners corners = sac_grid_corners_of(region, sac_grid_scale(home->level));
    uint32_t four[3][3], three[3];
    for (int i = 0; i < 3; i++) {
        /* Three bricks are twelve cells; which of them. */
        int32_t base = home->at[i] * 4 - 4;
        uint32_t low = (uint32_t)(corners.low[i] - SAC_GRID_REACH - base),
                 high = (uint32_t)(corners.high[i] - base);
        if (low > 11 || high > 11) return NULL;
        uint32_t twelve = (2u << high) - (1u << low);
        for (int k = 0; k < 3; k++) four[i][k] = twelve >> 4 * k & 15;
        three[i] = (four[i][0] > 0) | (four[i][1] > 0) << 1 | (four[i][2] > 0) << 2;
    }
    for (uint32_t left = neighbours(three) & home->around; left; left &= left - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(left);
        const sac_grid_brick *brick = &grid->bricks[home->neighbours[k]];
        uint64_t x = four[0][x_of[k]] * UINT64_C(0x1111111111111111);
        out = gather_cells(grid, brick,
                           brick->mask & x & cells_y[four[1][y_of[k]]] & cells_z[four[2][z_of[k]]], out);
        ++*looked;
    }
    return out;
}

uint32_t sac_grid_gather(const sac_grid *grid, const sac_box *region, uint32_t home, uint32_t *out,
                         uint64_t *looked)
{
    uint32_t *end = gather_chain(grid, grid->huge, out), levels = grid->levels;
    if (home != SAC_GRID_NONE) {
        uint32_t *past = gather_around(grid, &grid->bricks[home], region, end, looked);
        if (past) end = past, levels &= ~(1u << grid->bricks[home].level);
    }
    for (; levels; levels &= levels - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(levels);
        sac_grid_range r;
        sac_grid_range_of(grid, number, region, &r);
        *looked += r.bricks < grid->level[number].bricks ? r.bricks : grid->level[number].bricks;
        sac_grid_each_in_range(grid, number, &r, gather_brick, &end);
    }
    return (uint32_t)(end - out);
}

uint32_t sac_grid_compare_plain(const sac_grid_box *boxes, const uint32_t *list, uint32_t count,
                                const sac_box *now, const sac_box *before, uint32_t *out)
{
    sac_grid_key is = sac_grid_key_of(now), was = sac_grid_key_of(before);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool meets = sac_grid_meets(&boxes[list[i]], &is), met = sac_grid_meets(&boxes[list[i]], &was);
        out[found] = list[i] | (uint32_t)meets << 31;
        found += meets != met;
    }
    return found;
}
