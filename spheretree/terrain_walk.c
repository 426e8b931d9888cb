/* Which triangles are near: down the tree of boxes, or down the pyramid of height ranges. */
#include "spheretree/terrain_internal.h"

#include "spheretree/vector_internal.h"

/* What is looked for: all within *reach of `point`, or, without one, all that overlap `box`. */
typedef struct search {
    const sac_box *box;
    const float *point;
    const float *reach;
    uint64_t looked;
} search;

static float box_distance2(const float low[3], const float high[3], const float p[3])
{
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        float d = p[i] < low[i] ? low[i] - p[i] : p[i] > high[i] ? p[i] - high[i] : 0;
        sum += d * d;
    }
    return sum;
}

static bool wanted(search *s, const float low[3], const float high[3])
{
    s->looked++;
    if (s->point) return box_distance2(low, high, s->point) <= *s->reach * *s->reach;
    for (int i = 0; i < 3; i++)
        if (!(low[i] <= s->box->high[i] && s->box->low[i] <= high[i])) return false;
    return true;
}

/* Farther than this from what is looked for: a point's square of distance, or 0 and FLT_MAX for a box. */
static float aside(search *s, const sac_terrain_node *node)
{
    if (s->point) {
        s->looked++;
        return box_distance2(node->low, node->high, s->point);
    }
    return wanted(s, node->low, node->high) ? 0 : FLT_MAX;
}

static void walk_triangles(const sac_terrain *t, search *s, sac_triangle_visit *visit, void *user)
{
    struct {
        float aside;
        uint32_t index;
    } stack[SAC_TERRAIN_STACK];
    uint32_t count = 0;
    stack[count].index = 0;
    stack[count++].aside = aside(s, &t->nodes[0]);
    while (count) {
        count--;
        float limit = s->point ? *s->reach * *s->reach : 0;
        if (!(stack[count].aside <= limit)) continue;
        uint32_t index = stack[count].index;
        const sac_terrain_node *node = &t->nodes[index];
        for (uint32_t i = 0; i < node->count; i++) {
            const sac_terrain_triangle *f = &t->triangles[node->second + i];
            s->looked++;
            visit(f->source, f->corner, f->normal, user);
        }
        if (node->count) continue;
        uint32_t first = index + 1, second = node->second;
        float near = aside(s, &t->nodes[first]), far = aside(s, &t->nodes[second]);
        /* The nearer one on top: what it finds may spare the other. */
        if (far < near) {
            uint32_t swap = first;
            float swap_aside = near;
            first = second, second = swap;
            near = far, far = swap_aside;
        }
        if (far <= limit) stack[count].index = second, stack[count++].aside = far;
        if (near <= limit) stack[count].index = first, stack[count++].aside = near;
    }
}

static void visit_cell(const sac_terrain *t, uint32_t x, uint32_t z, search *s, sac_triangle_visit *visit,
                       void *user)
{
    const float *h = t->posts + (size_t)z * t->columns + x;
    float a = h[0], b = h[1], c = h[t->columns], d = h[t->columns + 1];
    float left = t->corner[0] + t->spacing * (float)x, front = t->corner[1] + t->spacing * (float)z;
    float low[3] = {left, sac_least(sac_least(a, b), sac_least(c, d)), front};
    float high[3] = {left + t->spacing, sac_most(sac_most(a, b), sac_most(c, d)), front + t->spacing};
    if (!wanted(s, low, high)) return;
    uint32_t feature = (z * (t->columns - 1) + x) * 2;
    for (uint32_t half = 0; half < 2; half++) {
        float corner[3][3], normal[3];
        s->looked++;
        sac_terrain_half_cell(t, feature + half, corner, normal);
        visit(feature + half, corner, normal, user);
    }
}

/* The cells from `low` to `high`, clamped; returns false when all lie outside. */
static bool cell_range(float low, float high, float corner, float spacing, uint32_t cells, uint32_t *first,
                       uint32_t *last)
{
    float a = (low - corner) / spacing, b = (high - corner) / spacing;
    if (!(b >= 0 && a <= (float)cells)) return false;
    *first = a > 0 ? (uint32_t)a : 0;
    *last = b < (float)cells ? (uint32_t)b : cells - 1;
    if (*first >= cells) *first = cells - 1;
    if (*last >= cells) *last = cells - 1;
    return true;
}

static void walk_heights(const sac_terrain *t, search *s, sac_triangle_visit *visit, void *user)
{
    /* Few cells: straight to them. */
    uint32_t x0, x1, z0, z1;
    float low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = s->point ? s->point[2 * i] - *s->reach : s->box->low[2 * i];
        high[i] = s->point ? s->point[2 * i] + *s->reach : s->box->high[2 * i];
    }
    if (!cell_range(low[0], high[0], t->corner[0], t->spacing, t->columns - 1, &x0, &x1) ||
        !cell_range(low[1], high[1], t->corner[1], t->spacing, t->rows - 1, &z0, &z1))
        return;
    if ((uint64_t)(x1 - x0 + 1) * (z1 - z0 + 1) <= 16) {
        for (uint32_t z = z0; z <= z1; z++)
            for (uint32_t x = x0; x <= x1; x++) visit_cell(t, x, z, s, visit, user);
        return;
    }
    struct {
        uint32_t level, x, z;
    } stack[SAC_TERRAIN_STACK];
    uint32_t count = 0;
    stack[count].level = t->levels - 1, stack[count].x = stack[count].z = 0;
    count++;
    while (count) {
        count--;
        uint32_t level = stack[count].level, x = stack[count].x, z = stack[count].z;
        sac_terrain_range r = t->ranges[t->level_first[level] + (size_t)z * t->level_columns[level] + x];
        uint32_t size = 2u << level;
        float box_low[3] = {t->corner[0] + t->spacing * (float)(x * size), r.low,
                            t->corner[1] + t->spacing * (float)(z * size)};
        float box_high[3] = {box_low[0] + t->spacing * (float)size, r.high,
                             box_low[2] + t->spacing * (float)size};
        if (!wanted(s, box_low, box_high)) continue;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t cx = 2 * x + (k & 1), cz = 2 * z + (k >> 1);
            if (level == 0) {
                if (cx < t->columns - 1 && cz < t->rows - 1) visit_cell(t, cx, cz, s, visit, user);
            } else if (cx < t->level_columns[level - 1] && cz < t->level_rows[level - 1]) {
                stack[count].level = level - 1, stack[count].x = cx, stack[count].z = cz;
                count++;
            }
        }
    }
}

uint64_t sac_terrain_walk(const sac_terrain *t, const sac_box *box, const float *point, float *reach,
                          sac_triangle_visit *visit, void *user)
{
    search s = {box, point, reach, 0};
    if (t->posts)
        walk_heights(t, &s, visit, user);
    else
        walk_triangles(t, &s, visit, user);
    return s.looked;
}
