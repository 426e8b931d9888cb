/* Searching the grid: what a box can meet. */
#include "runtime/broad_grid_internal.h"

static bool gather_brick(const sac_grid *grid, uint32_t brick, void *user)
{
    uint32_t **out = user;
    *(*out)++ = sac_grid_chain_first(grid->chains[brick]);
    return true;
}

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
    sac_grid_corners corners = sac_grid_corners_of(region, sac_grid_scale(home->level));
    uint32_t three[3];
    for (int i = 0; i < 3; i++) {
        int32_t base = home->at[i] - 1;
        uint32_t low = (uint32_t)(((corners.low[i] - SAC_GRID_REACH) >> 2) - base),
                 high = (uint32_t)((corners.high[i] >> 2) - base);
        if (low > 2 || high > 2) return NULL;
        three[i] = (2u << high) - (1u << low);
    }
    const uint32_t *start = out;
    /* Itself is always among them, and need not be looked up; nor looked at, when only who asks is there. */
    sac_grid_chain own = grid->chains[home - grid->bricks];
    *out = sac_grid_chain_first(own);
    out += sac_grid_chain_used(own) > 1 || grid->next_blocks[*out];
    for (uint32_t left = neighbours(three) & home->around & ~(1u << 13); left; left &= left - 1)
        *out++ = sac_grid_chain_first(grid->chains[home->neighbours[__builtin_ctz(left)]]);
    *looked += (uint64_t)(out - start);
    return out;
}

uint32_t sac_grid_gather(const sac_grid *grid, const sac_box *region, uint32_t home, uint32_t *out,
                         uint64_t *looked)
{
    uint32_t *end = out, levels = grid->levels;
    if (grid->huge) *end++ = sac_grid_chain_first(grid->huge);
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
    /* The rest of the chains, behind the first blocks as they come: how long they are nobody can foresee, so
     * a next block is always written and counts if there is one. */
    for (uint32_t *at = out; at < end; at++) {
        sac_grid_chain next = grid->next_blocks[*at];
        *end = sac_grid_chain_first(next);
        end += next != 0;
    }
    return (uint32_t)(end - out);
}

uint32_t sac_grid_compare_plain(const sac_grid_block *blocks, const uint32_t *list, uint32_t count,
                                const sac_box *now, const sac_box *before, uint32_t *out)
{
    return sac_grid_compare_blocks(blocks, list, count, now, before, out);
}
