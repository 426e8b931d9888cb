/* Terrain of heights: triangles straight from the posts, and a pyramid of height ranges so that a large ball
 * or a long ray need not look at every cell. Of a cell half 0 is the corner at (0, 0), half 1 the one at
 * (1, 1); the diagonal runs between the other two. */
#include "spheretree/terrain_internal.h"

#include "base/memory.h"
#include "spheretree/vector_internal.h"

#define MOST_HEIGHT 1e6f

static void find_ranges(sac_terrain *t)
{
    for (uint32_t level = 0; level < t->levels; level++) {
        sac_terrain_range *to = t->ranges + t->level_first[level];
        uint32_t columns = t->level_columns[level], rows = t->level_rows[level];
        for (uint32_t z = 0; z < rows; z++)
            for (uint32_t x = 0; x < columns; x++) {
                sac_terrain_range r = {FLT_MAX, -FLT_MAX};
                if (level == 0) {
                    for (uint32_t j = 2 * z; j <= 2 * z + 2 && j < t->rows; j++)
                        for (uint32_t i = 2 * x; i <= 2 * x + 2 && i < t->columns; i++) {
                            float h = t->posts[(size_t)j * t->columns + i];
                            r.low = fminf(r.low, h), r.high = fmaxf(r.high, h);
                        }
                } else {
                    uint32_t wide = t->level_columns[level - 1], deep = t->level_rows[level - 1];
                    const sac_terrain_range *from = t->ranges + t->level_first[level - 1];
                    for (uint32_t j = 2 * z; j < 2 * z + 2 && j < deep; j++)
                        for (uint32_t i = 2 * x; i < 2 * x + 2 && i < wide; i++) {
                            r.low = fminf(r.low, from[(size_t)j * wide + i].low);
                            r.high = fmaxf(r.high, from[(size_t)j * wide + i].high);
                        }
                }
                to[(size_t)z * columns + x] = r;
            }
    }
}

sac_result sac_terrain_from_heights(const float *heights, uint32_t columns, uint32_t rows, float spacing,
                                    sac_terrain **out_terrain, sac_error *error)
{
    SAC_NEED(error, out_terrain);
    *out_terrain = NULL;
    SAC_NEED(error, heights);
    if (columns < 2 || rows < 2)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give at least 2 columns and 2 rows",
                             "a height field of %u columns and %u rows", columns, rows);
    if ((uint64_t)columns * rows > SAC_TERRAIN_MOST)
        return sac_error_set(error, SAC_ERROR_LIMIT, "use fewer posts, farther apart",
                             "a height field of %u columns and %u rows has more than 2^24 posts", columns,
                             rows);
    if (!(spacing >= 1e-4f && spacing <= 1e4f) || !(spacing * (float)columns <= 1e7f) ||
        !(spacing * (float)rows <= 1e7f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a spacing from 1e-4 to 1e4, 1e7 across in all",
                             "spacing of the height field is %g", (double)spacing);
    size_t count = (size_t)columns * rows;
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(heights[i]) <= MOST_HEIGHT))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "give finite heights within 1e6 of 0",
                                 "height in column %u of row %u is %g", (unsigned)(i % columns),
                                 (unsigned)(i / columns), (double)heights[i]);
    sac_terrain *t = sac_alloc_zero(1, sizeof *t);
    if (!t) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the terrain");
    t->columns = columns, t->rows = rows, t->spacing = spacing;
    t->corner[0] = -0.5f * spacing * (float)(columns - 1);
    t->corner[1] = -0.5f * spacing * (float)(rows - 1);
    t->thickness = FLT_MAX;
    uint32_t wide = columns / 2, deep = rows / 2; /* cells, two a block, rounded up */
    for (;;) {
        t->level_first[t->levels] = t->range_count;
        t->level_columns[t->levels] = wide, t->level_rows[t->levels] = deep;
        t->range_count += (size_t)wide * deep;
        t->levels++;
        if (wide == 1 && deep == 1) break;
        wide = (wide + 1) / 2, deep = (deep + 1) / 2;
    }
    t->posts = sac_alloc(count, sizeof *t->posts);
    t->ranges = sac_alloc(t->range_count, sizeof *t->ranges);
    if (!t->posts || !t->ranges) {
        sac_terrain_destroy(&t);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the terrain");
    }
    memcpy(t->posts, heights, count * sizeof *heights);
    find_ranges(t);
    sac_terrain_range all = t->ranges[t->level_first[t->levels - 1]];
    t->box = (sac_box){{t->corner[0], all.low, t->corner[1]}, {-t->corner[0], all.high, -t->corner[1]}};
    *out_terrain = t;
    return SAC_OK;
}

static void post(const sac_terrain *t, uint32_t x, uint32_t z, float out[3])
{
    out[0] = t->corner[0] + t->spacing * (float)x;
    out[1] = t->posts[(size_t)z * t->columns + x];
    out[2] = t->corner[1] + t->spacing * (float)z;
}

void sac_terrain_half_cell(const sac_terrain *t, uint32_t feature, float corner[3][3], float normal[3])
{
    uint32_t cell = feature / 2, x = cell % (t->columns - 1), z = cell / (t->columns - 1);
    float s = t->spacing;
    if (feature & 1) {
        post(t, x + 1, z + 1, corner[0]);
        post(t, x + 1, z, corner[1]);
        post(t, x, z + 1, corner[2]);
        normal[0] = corner[2][1] - corner[0][1];
        normal[2] = corner[1][1] - corner[0][1];
    } else {
        post(t, x, z, corner[0]);
        post(t, x, z + 1, corner[1]);
        post(t, x + 1, z, corner[2]);
        normal[0] = corner[0][1] - corner[2][1];
        normal[2] = corner[0][1] - corner[1][1];
    }
    normal[1] = s;
    sac_v3_unit(normal);
}

/* The half cell beyond edge k of another; SAC_NO_TRIANGLE at the rim. */
static uint32_t beyond(const sac_terrain *t, uint32_t feature, int k)
{
    uint32_t wide = t->columns - 1, deep = t->rows - 1, cell = feature / 2, x = cell % wide, z = cell / wide;
    if (k == 1) return feature ^ 1u;
    if (feature & 1) {
        if (k == 0) return x + 1 < wide ? (cell + 1) * 2 : SAC_NO_TRIANGLE;
        return z + 1 < deep ? (cell + wide) * 2 : SAC_NO_TRIANGLE;
    }
    if (k == 0) return x > 0 ? (cell - 1) * 2 + 1 : SAC_NO_TRIANGLE;
    return z > 0 ? (cell - wide) * 2 + 1 : SAC_NO_TRIANGLE;
}

bool sac_terrain_facet(const sac_terrain *t, uint32_t feature, sac_facet *out)
{
    if (t->posts) {
        if (feature >= (uint64_t)(t->columns - 1) * (t->rows - 1) * 2) return false;
        sac_terrain_half_cell(t, feature, out->corner, out->normal);
        for (int k = 0; k < 3; k++) {
            float corner[3][3];
            uint32_t other = beyond(t, feature, k);
            out->rim[k] = other == SAC_NO_TRIANGLE;
            sac_v3_copy(out->normal, out->across[k]);
            if (!out->rim[k]) sac_terrain_half_cell(t, other, corner, out->across[k]);
        }
        return true;
    }
    if (feature >= t->source_count || t->where[feature] == SAC_NO_TRIANGLE) return false;
    const sac_terrain_triangle *from = &t->triangles[t->where[feature]];
    memcpy(out->corner, from->corner, sizeof out->corner);
    sac_v3_copy(from->normal, out->normal);
    for (int k = 0; k < 3; k++) {
        out->rim[k] = from->beyond[k] == SAC_NO_TRIANGLE;
        sac_v3_copy(out->rim[k] ? from->normal : t->triangles[from->beyond[k]].normal, out->across[k]);
    }
    return true;
}
