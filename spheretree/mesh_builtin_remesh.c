/* Even triangles on an implicit surface: collapse short edges down to a wanted count, swap edges that make
 * slim triangles, slide vertices towards the middle of their neighbours. All three keep a closed manifold
 * closed and manifold. A round works on vertices that are not neighbours of one another, so its answer does
 * not depend on an order of updates within the round. */
#include "spheretree/mesh_internal.h"

/* Triangles around each vertex: list[start[v]] up to list[start[v + 1]]. */
typedef struct remesh {
    sac_soup *soup;
    sac_implicit *value;
    uint32_t *start, *list;
    uint32_t *stamp; /* per vertex, to intersect neighbourhoods */
    uint32_t clock;
    bool *touched; /* per vertex: itself or a neighbour changed in this round */
    uint64_t *keys;
    double (*normals)[3];               /* unit, per vertex */
    size_t most_points, most_triangles; /* what the arrays hold */
} remesh;

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void normal_of(const double a[3], const double b[3], const double c[3], double out[3])
{
    double u[3], v[3];
    subtract(b, a, u);
    subtract(c, a, v);
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

static double *point(const remesh *r, uint32_t v) { return r->soup->points.data[v].at; }
static uint32_t *corners(const remesh *r, uint32_t t) { return r->soup->triangles.data[t].corners; }
static uint32_t fan_size(const remesh *r, uint32_t v) { return r->start[v + 1] - r->start[v]; }

static void build_fans(remesh *r)
{
    size_t points = r->soup->points.count, triangles = r->soup->triangles.count;
    memset(r->start, 0, (points + 1) * sizeof *r->start);
    memset(r->touched, 0, points * sizeof *r->touched);
    for (size_t t = 0; t < triangles; t++)
        for (int i = 0; i < 3; i++) r->start[corners(r, (uint32_t)t)[i]]++;
    uint32_t sum = 0;
    for (size_t v = 0; v <= points; v++) {
        uint32_t size = r->start[v];
        r->start[v] = sum;
        sum += size;
    }
    for (size_t t = 0; t < triangles; t++)
        for (int i = 0; i < 3; i++) r->list[r->start[corners(r, (uint32_t)t)[i]]++] = (uint32_t)t;
    for (size_t v = points; v > 0; v--) r->start[v] = r->start[v - 1];
    r->start[0] = 0;
}

static void touch_ring(remesh *r, uint32_t v)
{
    for (uint32_t i = r->start[v]; i < r->start[v + 1]; i++)
        for (int k = 0; k < 3; k++) r->touched[corners(r, r->list[i])[k]] = true;
}

/* Neighbours that a and b have in common; two when the edge can go without pinching the surface. */
static uint32_t common_neighbours(remesh *r, uint32_t a, uint32_t b)
{
    uint32_t mark = r->clock += 2, count = 0;
    for (uint32_t i = r->start[a]; i < r->start[a + 1]; i++)
        for (int k = 0; k < 3; k++) r->stamp[corners(r, r->list[i])[k]] = mark;
    for (uint32_t i = r->start[b]; i < r->start[b + 1]; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t w = corners(r, r->list[i])[k];
            if (w == a || w == b || r->stamp[w] != mark) continue;
            r->stamp[w] = mark + 1;
            count++;
        }
    return count;
}

static void project(const remesh *r, double p[3])
{
    double g[3], value = r->value(p, g), length2 = dot(g, g);
    for (int i = 0; i < 3 && length2 > 0.01; i++) p[i] -= value * g[i] / length2;
}

/* ---- sliding ---- */

/* What the neighbours of a vertex say. */
typedef struct ring_sum {
    double middle[3], count;
    double normal[3], flatness; /* own unit normal; least cosine to a neighbour's */
} ring_sum;

static void slide(remesh *r, bool along)
{
    size_t count = r->soup->points.count;
    ring_sum *sums = sac_alloc_zero(count, sizeof *sums);
    if (!sums) {
        r->soup->failed = true;
        return;
    }
    for (size_t v = 0; v < count; v++) {
        double g[3], value = r->value(point(r, (uint32_t)v), g), length = fmax(sqrt(dot(g, g)), 0.1);
        for (int i = 0; i < 3; i++) {
            sums[v].normal[i] = g[i] / length;
            point(r, (uint32_t)v)[i] -= value / length * sums[v].normal[i];
        }
        sums[v].flatness = 1;
    }
    for (size_t h = 0; h < r->soup->triangles.count * 3 && along; h++) {
        const uint32_t *c = corners(r, (uint32_t)(h / 3));
        ring_sum *from = &sums[c[h % 3]], *to = &sums[c[(h + 1) % 3]];
        const double *p = point(r, c[h % 3]);
        for (int i = 0; i < 3; i++) to->middle[i] += p[i];
        to->count++;
        to->flatness = fmin(to->flatness, dot(from->normal, to->normal));
    }
    for (size_t v = 0; v < count && along; v++) {
        const ring_sum *s = &sums[v];
        double *p = point(r, (uint32_t)v), move[3];
        if (s->count == 0) continue;
        for (int i = 0; i < 3; i++) move[i] = 0.6 * fmax(0, s->flatness) * (s->middle[i] / s->count - p[i]);
        /* Along the surface only, and little where it bends, or the tips of ears would be planed off. */
        double lift = dot(move, s->normal);
        for (int i = 0; i < 3; i++) p[i] += move[i] - lift * s->normal[i];
    }
    sac_free(sums, count, sizeof *sums);
}

/* ---- collapsing ---- */

/* Would the triangles around v that do not hold `other` keep facing the same way with v at p? */
static bool fan_survives(const remesh *r, uint32_t v, uint32_t other, const double p[3])
{
    for (uint32_t i = r->start[v]; i < r->start[v + 1]; i++) {
        const uint32_t *c = corners(r, r->list[i]);
        if (c[0] == other || c[1] == other || c[2] == other) continue;
        const double *q[3], *before[3];
        for (int k = 0; k < 3; k++) {
            before[k] = point(r, c[k]);
            q[k] = c[k] == v ? p : before[k];
        }
        double was[3], is[3];
        normal_of(before[0], before[1], before[2], was);
        normal_of(q[0], q[1], q[2], is);
        if (dot(was, is) < 0.3 * sqrt(dot(was, was) * dot(is, is))) return false;
        /* Nor may it become a needle: area against the longest side. */
        double longest = 0;
        for (int k = 0; k < 3; k++) {
            double side[3];
            subtract(q[(k + 1) % 3], q[k], side);
            longest = fmax(longest, dot(side, side));
        }
        if (dot(is, is) < 0.04 * longest * longest) return false;
    }
    return true;
}

static bool collapse(remesh *r, uint32_t a, uint32_t b)
{
    if (r->touched[a] || r->touched[b] || common_neighbours(r, a, b) != 2) return false;
    double middle[3];
    for (int i = 0; i < 3; i++) middle[i] = 0.5 * (point(r, a)[i] + point(r, b)[i]);
    project(r, middle);
    if (!fan_survives(r, a, b, middle) || !fan_survives(r, b, a, middle)) return false;
    for (uint32_t i = r->start[b]; i < r->start[b + 1]; i++) {
        const uint32_t *c = corners(r, r->list[i]);
        bool both = c[0] == a || c[1] == a || c[2] == a;
        for (int k = 0; k < 3 && both; k++)
            if (c[k] != a && c[k] != b && fan_size(r, c[k]) <= 4) return false;
    }
    touch_ring(r, a);
    touch_ring(r, b);
    memcpy(point(r, a), middle, sizeof middle);
    for (uint32_t i = r->start[b]; i < r->start[b + 1]; i++) {
        uint32_t *c = corners(r, r->list[i]);
        bool both = c[0] == a || c[1] == a || c[2] == a;
        for (int k = 0; k < 3; k++)
            if (c[k] == b) c[k] = a;
        if (both) c[0] = UINT32_MAX;
    }
    return true;
}

/* Close up the triangles that went and the vertices nobody names. */
static void compact(remesh *r)
{
    sac_soup *soup = r->soup;
    size_t kept = 0, points = 0;
    for (size_t t = 0; t < soup->triangles.count; t++)
        if (corners(r, (uint32_t)t)[0] != UINT32_MAX) soup->triangles.data[kept++] = soup->triangles.data[t];
    soup->triangles.count = kept;
    memset(r->stamp, 0, soup->points.count * sizeof *r->stamp);
    r->clock = 0;
    for (size_t t = 0; t < kept; t++)
        for (int i = 0; i < 3; i++) r->stamp[corners(r, (uint32_t)t)[i]] = 1;
    for (size_t v = 0; v < soup->points.count; v++) {
        if (!r->stamp[v]) continue;
        soup->points.data[points] = soup->points.data[v];
        r->stamp[v] = (uint32_t)points++;
    }
    soup->points.count = points;
    for (size_t t = 0; t < kept; t++)
        for (int i = 0; i < 3; i++) corners(r, (uint32_t)t)[i] = r->stamp[corners(r, (uint32_t)t)[i]];
    memset(r->stamp, 0, points * sizeof *r->stamp);
}

/* Short edges first, and those across a bend later than those on the flat. */
static size_t collapse_round(remesh *r, size_t wanted)
{
    size_t count = 0, gone = 0, triangles = r->soup->triangles.count;
    build_fans(r);
    for (size_t v = 0; v < r->soup->points.count; v++) {
        double *n = r->normals[v];
        r->value(point(r, (uint32_t)v), n);
        double length = fmax(1e-9, sqrt(dot(n, n)));
        for (int i = 0; i < 3; i++) n[i] /= length;
    }
    for (size_t t = 0; t < triangles; t++)
        for (int i = 0; i < 3; i++) {
            uint32_t a = corners(r, (uint32_t)t)[i], b = corners(r, (uint32_t)t)[(i + 1) % 3];
            if (a > b) continue; /* the other triangle has it */
            double edge[3], bend = 1 - dot(r->normals[a], r->normals[b]);
            subtract(point(r, a), point(r, b), edge);
            float cost = (float)(dot(edge, edge) * (1 + 8 * bend));
            uint32_t bits;
            memcpy(&bits, &cost, sizeof bits);
            r->keys[count++] = (uint64_t)bits << 32 | (t * 3 + (size_t)i);
        }
    sac_keys_sort(r->keys, count);
    /* Only the shorter part: the rest would be collapsed because its betters were in each other's way. */
    for (size_t k = 0; k < count && (k < count / 3 || gone == 0) && triangles - 2 * gone > wanted; k++) {
        uint32_t h = (uint32_t)r->keys[k];
        const uint32_t *c = corners(r, h / 3);
        if (c[0] == UINT32_MAX) continue;
        gone += collapse(r, c[h % 3], c[(h % 3 + 1) % 3]);
    }
    compact(r);
    return gone;
}

/* ---- swapping ---- */

/* Cotangent of the angle at c between a and b; negative when it is blunt. */
static double cotangent(const remesh *r, uint32_t c, uint32_t a, uint32_t b)
{
    double u[3], v[3], n[3];
    subtract(point(r, a), point(r, c), u);
    subtract(point(r, b), point(r, c), v);
    normal_of(point(r, c), point(r, a), point(r, b), n);
    return dot(u, v) / fmax(1e-300, sqrt(dot(n, n)));
}

/* The triangle with the half-edge from a to b, and the corner before a. */
static uint32_t find_half_edge(const remesh *r, uint32_t a, uint32_t b, int *out_corner)
{
    for (uint32_t i = r->start[a]; i < r->start[a + 1]; i++) {
        const uint32_t *c = corners(r, r->list[i]);
        for (int k = 0; k < 3; k++)
            if (c[k] == a && c[(k + 1) % 3] == b) {
                *out_corner = (k + 2) % 3;
                return r->list[i];
            }
    }
    return UINT32_MAX;
}

static bool neighbours(const remesh *r, uint32_t a, uint32_t b)
{
    int unused;
    return find_half_edge(r, a, b, &unused) != UINT32_MAX || find_half_edge(r, b, a, &unused) != UINT32_MAX;
}

/* Delaunay's rule on the surface: the angles facing an edge add up to at most half a turn. */
static size_t swap_round(remesh *r)
{
    size_t swaps = 0;
    build_fans(r);
    for (uint32_t t = 0; t < r->soup->triangles.count; t++)
        for (int i = 0; i < 3; i++) {
            uint32_t a = corners(r, t)[i], b = corners(r, t)[(i + 1) % 3], c = corners(r, t)[(i + 2) % 3];
            if (a > b || r->touched[a] || r->touched[b] || r->touched[c]) continue;
            int k;
            uint32_t n = find_half_edge(r, b, a, &k);
            if (n == UINT32_MAX) continue;
            uint32_t d = corners(r, n)[k];
            if (r->touched[d] || fan_size(r, a) <= 4 || fan_size(r, b) <= 4) continue;
            if (cotangent(r, c, a, b) + cotangent(r, d, a, b) > -1e-3 || neighbours(r, c, d)) continue;
            double before[3], other[3], first[3], second[3];
            normal_of(point(r, a), point(r, b), point(r, c), before);
            normal_of(point(r, b), point(r, a), point(r, d), other);
            normal_of(point(r, a), point(r, d), point(r, c), first);
            normal_of(point(r, d), point(r, b), point(r, c), second);
            for (int j = 0; j < 3; j++) before[j] += other[j];
            if (dot(first, before) < 0.5 * sqrt(dot(first, first) * dot(before, before)) ||
                dot(second, before) < 0.5 * sqrt(dot(second, second) * dot(before, before)))
                continue;
            memcpy(corners(r, t), (uint32_t[]){a, d, c}, sizeof(uint32_t[3]));
            memcpy(corners(r, n), (uint32_t[]){d, b, c}, sizeof(uint32_t[3]));
            r->touched[a] = r->touched[b] = r->touched[c] = r->touched[d] = true;
            swaps++;
        }
    return swaps;
}

void sac_soup_remesh(sac_soup *soup, sac_implicit *value, uint32_t triangles)
{
    if (soup->failed) return;
    remesh r = {.soup = soup,
                .value = value,
                .most_points = soup->points.count,
                .most_triangles = soup->triangles.count};
    r.start = sac_alloc(r.most_points + 1, sizeof *r.start);
    r.list = sac_alloc(r.most_triangles, 3 * sizeof *r.list);
    r.stamp = sac_alloc_zero(r.most_points, sizeof *r.stamp);
    r.touched = sac_alloc(r.most_points, sizeof *r.touched);
    r.keys = sac_alloc(r.most_triangles, 3 * sizeof *r.keys);
    r.normals = sac_alloc(r.most_points, sizeof *r.normals);
    if (!r.normals || !r.start || !r.list || !r.stamp || !r.touched || !r.keys) soup->failed = true;
    for (int i = 0; i < 3 && !soup->failed; i++) slide(&r, true);
    for (bool going = true; going && soup->triangles.count > (size_t)triangles + 1 && !soup->failed;) {
        going = collapse_round(&r, triangles) > 0;
        slide(&r, true);
    }
    for (int i = 0; i < 4 && !soup->failed; i++) {
        for (int k = 0; k < 8 && swap_round(&r); k++) continue;
        slide(&r, true);
        if (!soup->failed) slide(&r, true);
    }
    for (int i = 0; i < 2 && !soup->failed; i++) slide(&r, false);
    sac_free(r.start, r.most_points + 1, sizeof *r.start);
    sac_free(r.list, r.most_triangles, 3 * sizeof *r.list);
    sac_free(r.stamp, r.most_points, sizeof *r.stamp);
    sac_free(r.touched, r.most_points, sizeof *r.touched);
    sac_free(r.normals, r.most_points, sizeof *r.normals);
    sac_free(r.keys, r.most_triangles, 3 * sizeof *r.keys);
}
