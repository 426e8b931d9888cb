/* The interior of a closed mesh as cubes: an octree that is coarse where a cube is wholly inside and fine
 * along the surface. Every interior point is in some cube: a cube is left out only when its centre is outside
 * and the surface is farther away than its corners. */
#include "spheretree/build_internal.h"

#include <math.h>

#include "base/map.h"

typedef struct place {
    double at[3];
} place;

typedef struct cube {
    uint32_t corner[8];
} cube;

typedef struct filler {
    const sac_surface *surface;
    double low[3], fine; /* side of the finest cube */
    uint32_t coarse;     /* largest cube, in finest ones */
    sac_map lattice;     /* finest corners by their three coordinates of 21 bits */
    sac_array(place) corners;
    sac_array(cube) cells;
} filler;

static bool corner_at(filler *f, uint32_t x, uint32_t y, uint32_t z, uint32_t *out)
{
    bool fresh;
    uint32_t *value = sac_map_at(&f->lattice, 1ull << 63 | (uint64_t)x << 42 | (uint64_t)y << 21 | z, &fresh);
    if (!value) return false;
    if (fresh) {
        place corner = {{f->low[0] + x * f->fine, f->low[1] + y * f->fine, f->low[2] + z * f->fine}};
        if (!sac_array_push(&f->corners, corner)) return false;
        *value = (uint32_t)f->corners.count - 1;
    }
    *out = *value;
    return true;
}

static bool add_cell(filler *f, const uint32_t at[3], uint32_t side)
{
    if (!sac_array_reserve(&f->cells, f->cells.count + 1)) return false;
    for (uint32_t i = 0; i < 8; i++)
        if (!corner_at(f, at[0] + (i & 1) * side, at[1] + (i >> 1 & 1) * side, at[2] + (i >> 2) * side,
                       &f->cells.data[f->cells.count].corner[i]))
            return false;
    f->cells.count++;
    return true;
}

static bool fill(filler *f, const uint32_t at[3], uint32_t side, uint32_t hint)
{
    double centre[3], half = 0.5 * side * f->fine;
    for (int k = 0; k < 3; k++) centre[k] = f->low[k] + (at[k] + 0.5 * side) * f->fine;
    sac_surface_hit hit;
    sac_surface_closest(f->surface, centre, hint, &hit);
    bool clear = hit.distance > half * 1.7320509; /* no surface inside the cube */
    if (clear && !hit.inside) return true;
    if ((clear && side <= f->coarse) || side == 1) return add_cell(f, at, side);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t h = side / 2,
                 child[3] = {at[0] + (i & 1) * h, at[1] + (i >> 1 & 1) * h, at[2] + (i >> 2) * h};
        if (!fill(f, child, h, hit.triangle)) return false;
    }
    return true;
}

void sac_cells_fini(sac_cells *cells)
{
    sac_free(cells->corners, cells->corner_count, sizeof *cells->corners);
    sac_free(cells->cells, cells->count, sizeof *cells->cells);
    *cells = (sac_cells){0};
}

sac_result sac_cells_init(sac_cells *cells, const sac_surface *surface, const double low[3],
                          const double high[3], double cell_size, sac_error *error)
{
    *cells = (sac_cells){0};
    filler f = {.surface = surface, .fine = cell_size, .coarse = 8};
    double longest = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    uint32_t side = 1;
    while (side * cell_size < longest * 1.0001 && side < 1u << 20) side *= 2;
    for (int k = 0; k < 3; k++) f.low[k] = 0.5 * (low[k] + high[k]) - 0.5 * side * cell_size;
    bool done = fill(&f, (uint32_t[3]){0}, side, UINT32_MAX);
    if (done) {
        cells->corner_count = (uint32_t)f.corners.count;
        cells->count = (uint32_t)f.cells.count;
        cells->corners = sac_alloc(cells->corner_count, sizeof *cells->corners);
        cells->cells = sac_alloc(cells->count, sizeof *cells->cells);
        done = cells->corners && cells->cells;
        if (done) {
            memcpy(cells->corners, f.corners.data, cells->corner_count * sizeof *cells->corners);
            memcpy(cells->cells, f.cells.data, cells->count * sizeof *cells->cells);
        }
    }
    sac_array_fini(&f.corners);
    sac_array_fini(&f.cells);
    sac_map_fini(&f.lattice);
    if (done) return SAC_OK;
    sac_cells_fini(cells);
    return sac_error_set(error, SAC_ERROR_MEMORY, "use a smaller mesh", "no memory for the interior");
}
