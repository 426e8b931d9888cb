/* Regular subdivision: the octree and the grid.
 *
 * Both cut a box into nx * ny * nz equal cells, as many as the branching factor allows and as compact as
 * possible; a piece belongs to the cell its middle is in, and a cell's sphere is the smallest ball of its
 * pieces. The octree cuts the cell the node came from, starting with the cube around the mesh, so with branch
 * 8 its cells are those of an octree; other branching factors cut the long sides more often (16: 4 x 2 x 2,
 * 2: the longest side once). The grid cuts the box of the node's own pieces, and so follows the shape. */
#include "spheretree/grouping_internal.h"

#include <math.h>

/* Of all nx * ny * nz <= branch the one whose cells have the shortest diagonal; equals: fewer cells, then
 * more along earlier axes. Sides without length are not cut. */
static void choose_cuts(const double side[3], uint32_t branch, uint32_t cuts[3])
{
    double least = INFINITY, longest = fmax(side[0], fmax(side[1], side[2]));
    cuts[0] = cuts[1] = cuts[2] = 1;
    for (uint32_t x = branch; x >= 1; x--)
        for (uint32_t y = branch / x; y >= 1; y--)
            for (uint32_t z = branch / (x * y); z >= 1; z--) {
                double a = side[0] / x, b = side[1] / y, c = side[2] / z, d2 = a * a + b * b + c * c;
                uint32_t cells = x * y * z, best = cuts[0] * cuts[1] * cuts[2];
                bool equal = fabs(d2 - least) <= 1e-9 * longest * longest;
                if (equal ? cells < best : d2 < least) {
                    if (d2 < least) least = d2;
                    cuts[0] = x, cuts[1] = y, cuts[2] = z;
                }
            }
}

static uint32_t slot(double at, double low, double side, uint32_t cuts)
{
    if (!(side > 0)) return 0;
    double s = floor((at - low) / side * cuts);
    return s < 0 ? 0 : s >= cuts ? cuts - 1 : (uint32_t)s;
}

static bool cut_box(const sac_build *build, const sac_region *region, const double low[3],
                    const double high[3], sac_arena *arena, sac_split *out)
{
    const sac_cover *cover = build->cover;
    double side[3];
    uint32_t cuts[3];
    for (int k = 0; k < 3; k++) side[k] = high[k] - low[k];
    choose_cuts(side, build->def->branch, cuts);
    out->group_count = cuts[0] * cuts[1] * cuts[2];
    for (uint32_t i = 0; i < region->piece_count; i++) {
        const double *m = cover->middles[region->pieces[i]];
        uint32_t x = slot(m[0], low[0], side[0], cuts[0]), y = slot(m[1], low[1], side[1], cuts[1]),
                 z = slot(m[2], low[2], side[2], cuts[2]);
        out->group_of[i] = (uint8_t)(x + cuts[0] * (y + cuts[1] * z));
    }
    for (uint32_t g = 0; g < out->group_count; g++) {
        uint32_t at[3] = {g % cuts[0], g / cuts[0] % cuts[1], g / (cuts[0] * cuts[1])};
        for (int k = 0; k < 3; k++) {
            out->cell_low[g][k] = low[k] + side[k] * at[k] / cuts[k];
            out->cell_high[g][k] = at[k] + 1 == cuts[k] ? high[k] : low[k] + side[k] * (at[k] + 1) / cuts[k];
        }
    }
    return sac_split_centre(build, region, arena, out);
}

static bool split_octree(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    return cut_box(build, region, region->cell_low, region->cell_high, arena, out);
}

static bool split_grid(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < region->piece_count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], build->cover->middles[region->pieces[i]][k]);
            high[k] = fmax(high[k], build->cover->middles[region->pieces[i]][k]);
        }
    return cut_box(build, region, low, high, arena, out);
}

/* Gather the corners group by group; each group's centre is that of their smallest ball. */
bool sac_split_centre(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out)
{
    const sac_cover *cover = build->cover;
    uint32_t start[SAC_TREE_MOST_BRANCH + 1] = {0}, next[SAC_TREE_MOST_BRANCH];
    for (uint32_t i = 0; i < region->piece_count; i++) {
        uint32_t p = region->pieces[i];
        start[out->group_of[i] + 1] += cover->first_corner[p + 1] - cover->first_corner[p];
    }
    for (uint32_t g = 0; g < out->group_count; g++) {
        next[g] = start[g];
        start[g + 1] += start[g];
    }
    double(*points)[3] = sac_arena_alloc(arena, start[out->group_count], sizeof *points);
    if (!points) return false;
    for (uint32_t i = 0; i < region->piece_count; i++) {
        uint32_t p = region->pieces[i];
        for (uint32_t c = cover->first_corner[p]; c < cover->first_corner[p + 1]; c++)
            memcpy(points[next[out->group_of[i]]++], cover->points[cover->corners[c]], sizeof *points);
    }
    for (uint32_t g = 0; g < out->group_count; g++) {
        double radius;
        if (start[g + 1] > start[g])
            sac_ball_of_points((const double(*)[3])(points + start[g]), start[g + 1] - start[g],
                               out->centre[g], &radius);
    }
    return true;
}

const sac_splitter sac_splitter_octree = {.split = split_octree};
const sac_splitter sac_splitter_grid = {.split = split_grid};
