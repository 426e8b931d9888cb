/* Eight boxes at a time. */
#include "runtime/broad_grid_internal.h"

uint32_t sac_grid_compare_avx2(const sac_grid_block *blocks, const uint32_t *list, uint32_t count,
                               const sac_box *now, const sac_box *before, uint32_t *out)
{
    return sac_grid_compare_blocks(blocks, list, count, now, before, out);
}
