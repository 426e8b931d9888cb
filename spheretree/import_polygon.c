/* Polygons into triangles by cutting ears in the plane of the polygon's own (Newell) normal. Done here and
 * not by Assimp, whose triangulation stops the process on some damaged files. */
#include "spheretree/import_internal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

typedef struct flat_point {
    double x, y;
} flat_point;

static double turn_of(flat_point a, flat_point b, flat_point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Drop the axis along which the normal is longest; keep counter-clockwise counter-clockwise. */
static void flatten(const double (*points)[3], uint32_t count, flat_point *out)
{
    double normal[3] = {0, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const double *p = points[i], *q = points[(i + 1) % count];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] +=
                (p[u] - points[0][u]) * (q[v] - points[0][v]) - (p[v] - points[0][v]) * (q[u] - points[0][u]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[axis])) axis = k;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (uint32_t i = 0; i < count; i++)
        out[i] = normal[axis] < 0 ? (flat_point){points[i][v], points[i][u]}
                                  : (flat_point){points[i][u], points[i][v]};
}

/* Corner `at` of the ring can be cut off: it is convex and no inward corner lies in it. */
static bool is_ear(const flat_point *flat, const uint32_t *ring, uint32_t count, uint32_t at, uint64_t *work)
{
    uint32_t a = ring[(at + count - 1) % count], b = ring[at], c = ring[(at + 1) % count];
    flat_point p = flat[a], q = flat[b], r = flat[c];
    if (!(turn_of(p, q, r) > 0)) return false;
    *work -= count < *work ? count : *work;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = ring[(i + count - 1) % count], here = ring[i], after = ring[(i + 1) % count];
        if (here == a || here == b || here == c) continue;
        flat_point s = flat[here];
        if (turn_of(p, q, s) < 0 || turn_of(q, r, s) < 0 || turn_of(r, p, s) < 0) continue;
        if (turn_of(flat[before], s, flat[after]) <= 0) return false;
    }
    return true;
}

/* Of a quad's two diagonals the one that leaves both halves facing the same way, else the shorter. */
static uint32_t quad_start(const double (*points)[3], const flat_point *flat)
{
    bool first = turn_of(flat[0], flat[1], flat[2]) > 0 && turn_of(flat[0], flat[2], flat[3]) > 0;
    bool second = turn_of(flat[1], flat[2], flat[3]) > 0 && turn_of(flat[1], flat[3], flat[0]) > 0;
    if (first != second) return second;
    double length[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        length[0] += (points[0][k] - points[2][k]) * (points[0][k] - points[2][k]);
        length[1] += (points[1][k] - points[3][k]) * (points[1][k] - points[3][k]);
    }
    return length[1] < length[0];
}

bool sac_polygon_triangulate(const double (*points)[3], uint32_t count, uint64_t *work,
                             uint32_t (*out_triangles)[3])
{
    if (count == 3) {
        memcpy(out_triangles[0], (uint32_t[]){0, 1, 2}, sizeof *out_triangles);
        return true;
    }
    flat_point *flat = sac_alloc(count, sizeof *flat);
    uint32_t *ring = sac_alloc(count, sizeof *ring), left = count, start = 0, made = 0;
    bool enough = flat && ring;
    if (enough) {
        flatten(points, count, flat);
        uint32_t first = count == 4 ? quad_start(points, flat) : 0;
        for (uint32_t i = 0; i < count; i++) ring[i] = (first + i) % count;
    }
    while (enough && left > 3 && count > 4 && *work) {
        uint32_t tried = 0;
        while (tried < left && !is_ear(flat, ring, left, (start + tried) % left, work)) tried++;
        /* A polygon that crosses itself may have no ear; then any corner goes. */
        uint32_t at = (start + (tried < left ? tried : 0)) % left;
        out_triangles[made][0] = ring[(at + left - 1) % left];
        out_triangles[made][1] = ring[at];
        out_triangles[made++][2] = ring[(at + 1) % left];
        memmove(ring + at, ring + at + 1, (left - at - 1) * sizeof *ring);
        left--;
        start = at % left; /* go on at the next corner: no fan of slivers around one */
    }
    for (uint32_t i = 1; enough && i + 1 < left; i++)
        memcpy(out_triangles[made++], (uint32_t[]){ring[0], ring[i], ring[i + 1]}, sizeof *out_triangles);
    sac_free(flat, count, sizeof *flat);
    sac_free(ring, count, sizeof *ring);
    return enough;
}
