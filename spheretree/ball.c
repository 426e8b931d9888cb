/* Smallest enclosing balls, of points and of balls.
 *
 * Both are the same search. Keep a support of at most four items and the smallest ball around it; find the
 * item that sticks out most; the smallest ball around those five has the newcomer on its boundary, so try
 * each subset of the old support together with it; repeat until nothing sticks out. The radius grows at each
 * turn, hence it ends, after about ten passes over the data whatever its size. A candidate counts with the
 * radius it really needs for the five, so a badly conditioned subset loses instead of misleading. */
#include "spheretree/build_internal.h"

#include <math.h>

/* Items are balls {x, y, z, r}, or points when `stride` is 3. */
typedef struct items {
    const double *data;
    uint32_t count, stride;
} items;

static double item_radius(const items *all, uint32_t i)
{
    return all->stride == 4 ? all->data[(size_t)i * 4 + 3] : 0;
}

static double reach(const items *all, uint32_t i, const double centre[3])
{
    const double *p = all->data + (size_t)i * all->stride;
    double x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2];
    return sqrt(x * x + y * y + z * z) + item_radius(all, i);
}

static double farthest(const items *all, const double centre[3], uint32_t *out_item)
{
    double most = -1;
    uint32_t at = 0;
    if (all->stride == 3) {
        const double *p = all->data;
        for (uint32_t i = 0; i < all->count; i++, p += 3) {
            double x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2];
            double d = x * x + y * y + z * z;
            if (d > most) most = d, at = i;
        }
        most = sqrt(most);
    } else {
        for (uint32_t i = 0; i < all->count; i++) {
            double d = reach(all, i, centre);
            if (d > most) most = d, at = i;
        }
    }
    *out_item = at;
    return most;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The vector x in the span of q[0..n) with q[i] . x = right[i]; false when the q depend on each other. */
static bool solve_in_span(const double (*q)[3], uint32_t n, const double *right, double x[3])
{
    double dual[3][3], scale;
    if (n == 1) {
        scale = dot(q[0], q[0]);
        memcpy(dual[0], q[0], sizeof dual[0]);
    } else if (n == 2) {
        double normal[3];
        cross(q[0], q[1], normal);
        cross(q[1], normal, dual[0]);
        cross(normal, q[0], dual[1]);
        scale = dot(normal, normal);
    } else {
        cross(q[1], q[2], dual[0]);
        cross(q[2], q[0], dual[1]);
        cross(q[0], q[1], dual[2]);
        scale = dot(q[0], dual[0]);
    }
    if (scale == 0) return false;
    for (int k = 0; k < 3; k++) {
        x[k] = 0;
        for (uint32_t i = 0; i < n; i++) x[k] += right[i] * dual[i][k];
        x[k] /= scale;
        if (!isfinite(x[k])) return false;
    }
    return true;
}

/* Centres of the balls that touch all `n` members from outside: with the first as origin and s = R - r0,
 * q_i . c = (|q_i|^2 - d_i^2) / 2 - s d_i, d_i = r0 - r_i, so c = u - s v and |c| = s. Up to two. */
static int touching_centres(const items *all, const uint32_t *members, uint32_t n, double (*centres)[3])
{
    const double *origin = all->data + (size_t)members[0] * all->stride;
    if (n == 1) {
        memcpy(centres[0], origin, sizeof centres[0]);
        return 1;
    }
    double q[3][3], a[3], d[3], u[3], v[3] = {0, 0, 0};
    for (uint32_t i = 0; i + 1 < n; i++) {
        const double *p = all->data + (size_t)members[i + 1] * all->stride;
        for (int k = 0; k < 3; k++) q[i][k] = p[k] - origin[k];
        d[i] = item_radius(all, members[0]) - item_radius(all, members[i + 1]);
        a[i] = (dot(q[i], q[i]) - d[i] * d[i]) / 2;
    }
    if (!solve_in_span((const double(*)[3])q, n - 1, a, u)) return 0;
    if (all->stride == 3) {
        for (int k = 0; k < 3; k++) centres[0][k] = origin[k] + u[k];
        return 1;
    }
    if (!solve_in_span((const double(*)[3])q, n - 1, d, v)) return 0;
    double square = dot(v, v) - 1, half = dot(u, v), rest = dot(u, u), roots[2];
    int count = 0;
    double inside = half * half - square * rest;
    if (!(inside >= 0)) inside = 0;
    double sum = half + (half < 0 ? -sqrt(inside) : sqrt(inside));
    if (square != 0) roots[count++] = sum / square;
    if (sum != 0) roots[count++] = rest / sum;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(roots[i])) continue;
        for (int k = 0; k < 3; k++) centres[kept][k] = origin[k] + u[k] - roots[i] * v[k];
        kept++;
    }
    return kept;
}

typedef struct support {
    uint32_t members[4], count;
    double centre[3], radius;
} support;

/* Smallest ball of the support and a newcomer that sticks out of it. */
static void admit(const items *all, support *s, uint32_t newcomer)
{
    uint32_t five[5], n = s->count;
    memcpy(five, s->members, n * sizeof *five);
    five[n] = newcomer;
    support best = {.radius = INFINITY};
    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        uint32_t members[5] = {newcomer}, size = 1;
        for (uint32_t i = 0; i < n; i++)
            if (mask >> i & 1) members[size++] = five[i];
        if (size > 4) continue;
        double centres[2][3];
        int found = touching_centres(all, members, size, centres);
        for (int c = 0; c < found; c++) {
            double needed = 0;
            for (uint32_t i = 0; i <= n && needed < best.radius; i++)
                needed = fmax(needed, reach(all, five[i], centres[c]));
            /* Of equals the one with fewer members. */
            if (needed < best.radius || (needed == best.radius && size < best.count)) {
                memcpy(best.members, members, sizeof best.members);
                memcpy(best.centre, centres[c], sizeof best.centre);
                best.count = size;
                best.radius = needed;
            }
        }
    }
    *s = best;
}

static void smallest_ball(const items *all, double out_centre[3], double *out_radius)
{
    /* Far more than any input needs; the best ball so far is kept, so stopping here is safe too. */
    enum { MOST_TURNS = 200 };
    support s = {.count = 0, .radius = -1};
    memcpy(s.centre, all->data, sizeof s.centre);
    double best = INFINITY;
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        uint32_t item;
        double needed = farthest(all, s.centre, &item);
        if (needed < best) {
            best = needed;
            memcpy(out_centre, s.centre, sizeof s.centre);
        }
        if (s.count > 0 && needed <= s.radius * (1 + 1e-14)) break;
        bool known = false;
        for (uint32_t i = 0; i < s.count; i++) known = known || s.members[i] == item;
        if (known) break;
        admit(all, &s, item);
    }
    *out_radius = best;
}

void sac_ball_of_points(const double (*points)[3], uint32_t count, double out_centre[3], double *out_radius)
{
    smallest_ball(&(items){&points[0][0], count, 3}, out_centre, out_radius);
}

void sac_ball_of_balls(const double (*balls)[4], uint32_t count, double out_centre[3], double *out_radius)
{
    smallest_ball(&(items){&balls[0][0], count, 4}, out_centre, out_radius);
}

void sac_ball_round(const double ball[4], const double (*balls)[4], uint32_t count, double slack,
                    float out_centre[3], float *out_radius)
{
    double centre[3], radius;
    uint32_t item;
    for (int k = 0; k < 3; k++) centre[k] = out_centre[k] = (float)ball[k];
    radius = farthest(&(items){&balls[0][0], count, 4}, centre, &item) + slack;
    /* Two steps up: one for the conversion, one for what the sums above may have lost. */
    *out_radius = radius > 0 ? nextafterf(nextafterf((float)radius, INFINITY), INFINITY) : 0;
}
