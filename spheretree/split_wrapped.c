/* The wrapped hierarchy over a mesh: groups of equally many pieces (up to one), and the smallest ball around
 * each. For points alone see build_wrapped.c. */
#include "spheretree/grouping_internal.h"

#include <math.h>

/* The largest node for which swapping single pieces is worth the time. */
#define MOST_IMPROVED 512u

static bool split_wrapped(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    const sac_cover *cover = build->cover;
    uint32_t n = region->piece_count, sizes[SAC_TREE_MOST_BRANCH];
    double(*balls)[4] = sac_arena_alloc(arena, n, sizeof *balls);
    uint32_t *items = sac_arena_alloc(arena, n, sizeof *items);
    if (!balls || !items) return false;
    for (uint32_t i = 0; i < n; i++) {
        sac_piece_ball(cover, region->pieces[i], balls[i]);
        items[i] = i;
    }
    out->group_count = n < build->def->branch ? n : build->def->branch;
    sac_grouping g = {.balls = (const double(*)[4])balls,
                      .items = items,
                      .count = n,
                      .groups = out->group_count,
                      .least = n / out->group_count,
                      .most = (n + out->group_count - 1) / out->group_count};
    double cost;
    bool done = n <= MOST_IMPROVED ? sac_group_tight(&g, arena, sizes, &cost)
                                   : sac_group_balanced(g.balls, items, n, g.groups, arena, sizes);
    if (!done) return false;
    for (uint32_t k = 0, i = 0; k < out->group_count; k++) {
        for (uint32_t end = i + sizes[k]; i < end; i++) out->group_of[items[i]] = (uint8_t)k;
        memcpy(out->cell_low[k], region->cell_low, sizeof region->cell_low);
        memcpy(out->cell_high[k], region->cell_high, sizeof region->cell_high);
    }
    return sac_split_centre(build, region, arena, out);
}

/* Middle of the piece and the distance of its farthest corner. */
void sac_piece_ball(const sac_cover *cover, uint32_t piece, double ball[4])
{
    memcpy(ball, cover->middles[piece], 3 * sizeof(double));
    double most = 0;
    for (uint32_t c = cover->first_corner[piece]; c < cover->first_corner[piece + 1]; c++) {
        const double *p = cover->points[cover->corners[c]];
        double x = p[0] - ball[0], y = p[1] - ball[1], z = p[2] - ball[2], d2 = x * x + y * y + z * z;
        if (d2 > most) most = d2;
    }
    ball[3] = sqrt(most);
}

const sac_splitter sac_splitter_wrapped = {.split = split_wrapped};
