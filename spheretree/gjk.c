/* How far two sets of points' hulls are apart, by Gilbert, Johnson and Keerthi: walks towards the point of
 * the difference of both that is nearest to the origin. */
#include "spheretree/gjk_internal.h"

#include <math.h>
#include <string.h>

typedef struct simplex {
    double p[4][3];
    int count;
} simplex;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void sub(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void keep(simplex *s, const int *which, int count)
{
    simplex out = {.count = count};
    for (int i = 0; i < count; i++) memcpy(out.p[i], s->p[which[i]], sizeof out.p[i]);
    *s = out;
}

/* Nearest point to the origin of segment (i, k); mask of the ends it needs. */
static int near_segment(const simplex *s, int i, int k, double out[3])
{
    double d[3];
    sub(s->p[k], s->p[i], d);
    double dd = dot(d, d), t = dd > 0 ? -dot(s->p[i], d) / dd : 0;
    if (t <= 0) {
        memcpy(out, s->p[i], sizeof s->p[i]);
        return 1 << i;
    }
    if (t >= 1) {
        memcpy(out, s->p[k], sizeof s->p[k]);
        return 1 << k;
    }
    for (int a = 0; a < 3; a++) out[a] = s->p[i][a] + t * d[a];
    return 1 << i | 1 << k;
}

static int near_triangle(const simplex *s, const int v[3], double out[3])
{
    double u[3], w[3], n[3];
    sub(s->p[v[1]], s->p[v[0]], u);
    sub(s->p[v[2]], s->p[v[0]], w);
    cross(u, w, n);
    double nn = dot(n, n);
    bool inside = nn > 1e-24 * dot(u, u) * dot(w, w);
    for (int i = 0; i < 3 && inside; i++) {
        double e[3], side[3];
        sub(s->p[v[(i + 1) % 3]], s->p[v[i]], e);
        cross(n, e, side); /* into the triangle */
        inside = -dot(s->p[v[i]], side) >= 0;
    }
    if (inside) {
        double t = dot(s->p[v[0]], n) / nn;
        for (int i = 0; i < 3; i++) out[i] = n[i] * t;
        return 1 << v[0] | 1 << v[1] | 1 << v[2];
    }
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        double p[3];
        int mask = near_segment(s, v[i], v[(i + 1) % 3], p);
        if (dot(p, p) < least) least = dot(p, p), best = mask, memcpy(out, p, sizeof p);
    }
    return best;
}

/* Nearest point of the simplex, which is cut down to the corners it needs; false: the origin is inside. */
static bool nearest(simplex *s, double out[3])
{
    int mask = 0;
    if (s->count == 1) {
        memcpy(out, s->p[0], sizeof s->p[0]);
        return true;
    }
    if (s->count == 2) mask = near_segment(s, 0, 1, out);
    if (s->count == 3) mask = near_triangle(s, (int[3]){0, 1, 2}, out);
    if (s->count == 4) {
        static const int faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
        double least = INFINITY;
        for (int f = 0; f < 4; f++) {
            double u[3], w[3], n[3], up[3], p[3];
            sub(s->p[faces[f][1]], s->p[faces[f][0]], u);
            sub(s->p[faces[f][2]], s->p[faces[f][0]], w);
            sub(s->p[faces[f][3]], s->p[faces[f][0]], up);
            cross(u, w, n);
            double fourth = dot(n, up), origin = -dot(n, s->p[faces[f][0]]);
            /* The origin on the same side as the fourth corner: this face is not nearest. */
            if (fourth != 0 && (fourth > 0) == (origin > 0)) continue;
            int found = near_triangle(s, faces[f], p);
            if (dot(p, p) < least) least = dot(p, p), mask = found, memcpy(out, p, sizeof p);
        }
        if (least == INFINITY) return false;
    }
    int which[4], count = 0;
    for (int i = 0; i < 4; i++)
        if (mask >> i & 1) which[count++] = i;
    keep(s, which, count);
    return true;
}

static void support(const sac_hull *hull, const double way[3], double out[3])
{
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t i = 0; i < hull->count; i++) {
        double along =
            hull->points[i][0] * way[0] + hull->points[i][1] * way[1] + hull->points[i][2] * way[2];
        if (along > most) most = along, best = i;
    }
    for (int i = 0; i < 3; i++) out[i] = hull->points[best][i];
}

float sac_hulls_apart(const sac_hull *a, const sac_hull *b, float out_normal[3])
{
    simplex s = {.count = 0};
    double v[3], way[3];
    for (int i = 0; i < 3; i++) v[i] = (double)b->points[0][i] - a->points[0][i];
    for (int round = 0; round < 32; round++) {
        double pa[3], pb[3], w[3], vv = dot(v, v);
        if (vv < 1e-20) return 0;
        support(a, v, pa); /* of b - a, against v: b nearest, a farthest along v */
        for (int i = 0; i < 3; i++) way[i] = -v[i];
        support(b, way, pb);
        sub(pb, pa, w);
        if (round > 0 && vv - dot(v, w) <= 1e-9 * vv) break;
        bool known = false;
        for (int i = 0; i < s.count; i++) known |= memcmp(s.p[i], w, sizeof w) == 0;
        if (known) break;
        memcpy(s.p[s.count++], w, sizeof w);
        if (!nearest(&s, v)) return 0;
    }
    double length = sqrt(dot(v, v));
    if (!(length > 1e-10)) return 0;
    for (int i = 0; i < 3; i++) out_normal[i] = (float)(v[i] / length);
    return (float)length;
}
