/* The first triangle along a ray, from either side. */
#include "spheretree/terrain_internal.h"

#include "spheretree/vector_internal.h"

typedef struct ray {
    const float *origin, *direction;
    double most; /* shrinks to the nearest hit */
    uint32_t feature;
    float normal[3];
    bool hit;
} ray;

/* Where the ray enters a box; false when it misses it or enters too late. */
static bool enters(const ray *r, const double low[3], const double high[3], double *out_enter)
{
    double enter = 0, leave = r->most;
    for (int i = 0; i < 3; i++) {
        double o = r->origin[i], d = r->direction[i];
        if (d == 0) {
            if (!(o >= low[i] && o <= high[i])) return false;
            continue;
        }
        double a = (low[i] - o) / d, b = (high[i] - o) / d;
        double near = a < b ? a : b, far = a < b ? b : a;
        if (near > enter) enter = near;
        if (far < leave) leave = far;
    }
    *out_enter = enter;
    return enter <= leave;
}

static void try_triangle(ray *r, uint32_t feature, const float (*c)[3], const float normal[3])
{
    double u[3], v[3], p[3], s[3], q[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)c[1][i] - c[0][i];
        v[i] = (double)c[2][i] - c[0][i];
        s[i] = (double)r->origin[i] - c[0][i];
    }
    const float *d = r->direction;
    p[0] = d[1] * v[2] - d[2] * v[1], p[1] = d[2] * v[0] - d[0] * v[2], p[2] = d[0] * v[1] - d[1] * v[0];
    double det = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
    if (det == 0) return;
    double a = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
    q[0] = s[1] * u[2] - s[2] * u[1], q[1] = s[2] * u[0] - s[0] * u[2], q[2] = s[0] * u[1] - s[1] * u[0];
    double b = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
    double t = (v[0] * q[0] + v[1] * q[1] + v[2] * q[2]) / det;
    /* A hair beyond the edges, so that a ray between two triangles meets one of them. */
    const double hair = 1e-9;
    if (!(a >= -hair && b >= -hair && a + b <= 1 + hair && t >= 0 && t <= r->most)) return;
    if (r->hit && t == r->most && feature > r->feature) return;
    r->hit = true;
    r->most = t;
    r->feature = feature;
    sac_v3_copy(normal, r->normal);
}

static void ray_triangles(const sac_terrain *t, ray *r)
{
    uint32_t stack[SAC_TERRAIN_STACK], count = 0;
    stack[count++] = 0;
    while (count) {
        uint32_t index = stack[--count];
        const sac_terrain_node *node = &t->nodes[index];
        double enter, low[3], high[3];
        for (int i = 0; i < 3; i++) low[i] = node->low[i], high[i] = node->high[i];
        if (!enters(r, low, high, &enter)) continue;
        for (uint32_t i = 0; i < node->count; i++) {
            const sac_terrain_triangle *f = &t->triangles[node->second + i];
            try_triangle(r, f->source, f->corner, f->normal);
        }
        if (node->count) continue;
        /* The child whose middle comes first along the ray on top. */
        uint32_t first = index + 1, second = node->second;
        double turn = 0;
        for (int i = 0; i < 3; i++)
            turn += ((double)t->nodes[second].low[i] + t->nodes[second].high[i] - t->nodes[first].low[i] -
                     t->nodes[first].high[i]) *
                    r->direction[i];
        stack[count++] = turn < 0 ? first : second;
        stack[count++] = turn < 0 ? second : first;
    }
}

static void ray_heights(const sac_terrain *t, ray *r)
{
    struct {
        uint32_t level, x, z;
    } stack[SAC_TERRAIN_STACK];
    uint32_t count = 0, last_x = t->columns - 1, last_z = t->rows - 1;
    stack[count].level = t->levels - 1, stack[count].x = stack[count].z = 0;
    count++;
    while (count) {
        count--;
        uint32_t level = stack[count].level, x = stack[count].x, z = stack[count].z, size = 2u << level;
        sac_terrain_range h = t->ranges[t->level_first[level] + (size_t)z * t->level_columns[level] + x];
        double enter, low[3] = {t->corner[0] + (double)t->spacing * (x * size), h.low,
                                t->corner[1] + (double)t->spacing * (z * size)};
        double high[3] = {low[0] + (double)t->spacing * size, h.high, low[2] + (double)t->spacing * size};
        if (!enters(r, low, high, &enter)) continue;
        for (uint32_t k = 0; k < 4; k++) {
            /* Nearest last, so that it is looked at first. */
            uint32_t right = (k & 1) ^ (r->direction[0] > 0), far = (k >> 1) ^ (r->direction[2] > 0);
            uint32_t cx = 2 * x + right, cz = 2 * z + far;
            if (level > 0) {
                if (cx >= t->level_columns[level - 1] || cz >= t->level_rows[level - 1]) continue;
                stack[count].level = level - 1, stack[count].x = cx, stack[count].z = cz;
                count++;
            } else if (cx < last_x && cz < last_z) {
                for (uint32_t half = 0; half < 2; half++) {
                    float corner[3][3], normal[3];
                    uint32_t feature = (cz * last_x + cx) * 2 + half;
                    sac_terrain_half_cell(t, feature, corner, normal);
                    try_triangle(r, feature, corner, normal);
                }
            }
        }
    }
}

bool sac_terrain_ray(const sac_terrain *t, const float origin[3], const float direction[3], float most,
                     float *out_t, float out_normal[3], uint32_t *out_feature)
{
    if (!t || !origin || !direction || !out_t || !out_normal || !out_feature) return false;
    ray r = {.origin = origin, .direction = direction, .most = most};
    if (t->posts)
        ray_heights(t, &r);
    else
        ray_triangles(t, &r);
    if (!r.hit) return false;
    *out_t = (float)r.most;
    sac_v3_copy(r.normal, out_normal);
    *out_feature = r.feature;
    return true;
}
