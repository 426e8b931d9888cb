/* What stands for the points of a large node when its sphere is refitted: a few of them, its rim. Any other
 * point near the rim has
 *
 *   d = sum w p + f,   w >= 0, sum w = 1, the p being the rim and the centre, which is 0,
 *
 * and as a map is linear in d and its second order terms, its distance y from the mapped centre is
 *
 *   y = sum w y(p) + J f + Q f' + M f'',
 *
 * f' and f'' being what is left of the terms. With R the farthest of the rim now, and s the least by which
 * the map stretches anything inside the ball,
 *
 *   |sum w y(p)|^2 = sum w |y(p)|^2 - sum over pairs w w' |y(p) - y(p')|^2 <= R^2 - s^2 u,
 *   u = sum w |p|^2 - |sum w p|^2, to which the centre's share gives the square of the rim's reach.
 *
 * So |y| <= R - s^2 u / 2R + ||J|| |f| + ||Q|| |f'| + ||M|| |f''|: a point that bulges out between two of the
 * rim costs nothing as long as the map turns and scales only. Points well inside are left to the norms. Any
 * rim and any w are valid; here they are chosen so that the rests are small. */
#include <math.h>
#include <string.h>

#include "deform/soft_tree_internal.h"

/* DEEP: share of the radius inside which points are left to the norms. BEND: how much second order terms
 * count in a choice, that is ||Q|| r0 / ||J|| of a body that is bent a lot. */
enum { TERMS = 9, SAMPLE = 512, MOST = 2 * SAC_SOFT_RIM + 1, TURNS = 64 };
static const double DEEP = 0.8, BEND = 0.3;

/* Corners that means are taken of: the centre, the points chosen so far, and for linear maps their mirror
 * images, which are as far from the centre. */
typedef struct hull {
    double at[MOST][TERMS], gram[MOST][MOST];
    double reach; /* largest square of a distance */
    int count, terms;
} hull;

/* In units of the radius: d, and (dx2, dy2, dz2), (dx dy, dy dz, dz dx) times BEND. */
static void lift(const double d[3], double unit, int terms, double out[TERMS])
{
    for (int k = 0; k < 3; k++) out[k] = d[k] * unit;
    for (int k = 0; k < 3 && terms > 3; k++) {
        out[3 + k] = out[k] * out[k] * BEND;
        out[6 + k] = out[k] * out[(k + 1) % 3] * BEND;
    }
}

static double dot(const double *a, const double *b, int terms)
{
    double sum = 0;
    for (int k = 0; k < terms; k++) sum += a[k] * b[k];
    return sum;
}

static void add(hull *h, const double *at, double sign)
{
    int n = h->count++;
    for (int k = 0; k < h->terms; k++) h->at[n][k] = sign * at[k];
    for (int k = 0; k <= n; k++) h->gram[n][k] = h->gram[k][n] = dot(h->at[n], h->at[k], h->terms);
}

/* A mean of the corners near `to`, by moving weight from the worst corner to the best (Frank and Wolfe,
 * pairwise): not always the nearest, but a mean in any case. */
static void nearest_mean(const hull *h, const double *to, double weight[MOST])
{
    double slope[MOST];
    int n = h->count, start = 0;
    for (int k = 0; k < n; k++) {
        slope[k] = dot(h->at[k], to, h->terms), weight[k] = 0;
        if (slope[k] - h->gram[k][k] / 2 > slope[start] - h->gram[start][start] / 2) start = k;
    }
    weight[start] = 1;
    for (int k = 0; k < n; k++) slope[k] = h->gram[start][k] - slope[k];
    for (int turn = 0; turn < TURNS; turn++) {
        int best = 0, worst = -1;
        for (int k = 0; k < n; k++) {
            if (slope[k] < slope[best]) best = k;
            if (weight[k] > 0 && (worst < 0 || slope[k] > slope[worst])) worst = k;
        }
        double gain = slope[worst] - slope[best];
        if (!(gain > 1e-5)) break;
        double square = h->gram[best][best] + h->gram[worst][worst] - 2 * h->gram[best][worst];
        double step = square * weight[worst] > gain ? gain / square : weight[worst];
        weight[best] += step, weight[worst] -= step;
        for (int k = 0; k < n; k++) slope[k] += step * (h->gram[best][k] - h->gram[worst][k]);
    }
}

/* What the mean leaves, term by term, and by how much the mean is inside: |mean|^2 = reach^2 - inside at
 * rest, in which only what follows from the spread of its corners is counted. */
static double rest_of(const hull *h, const double *to, double out[TERMS])
{
    double weight[MOST], sum = 0, inside = 0;
    nearest_mean(h, to, weight);
    for (int k = 0; k < h->count; k++) sum += weight[k];
    for (int k = 0; k < h->count; k++) {
        weight[k] /= sum;
        inside += weight[k] * (k ? dot(h->at[k], h->at[k], 3) : h->reach);
    }
    for (int t = 0; t < h->terms; t++) {
        double mean = 0;
        for (int k = 0; k < h->count; k++) mean += weight[k] * h->at[k][t];
        out[t] = to[t] - mean;
        if (t < 3) inside -= mean * mean;
    }
    return inside;
}

typedef struct fitting {
    const double (*q)[3];
    double c[3], unit;
    hull hull;
} fitting;

static double offset(const fitting *f, uint32_t i, double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = f->q[i][k] - f->c[k];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* The point is rounded as it is stored, and so are its terms. */
static void choose(fitting *f, uint32_t i, sac_soft_rim *rim, uint32_t at)
{
    double d[3], up[TERMS];
    offset(f, i, d);
    rim->x[at] = (float)d[0], rim->y[at] = (float)d[1], rim->z[at] = (float)d[2];
    lift((double[3]){rim->x[at], rim->y[at], rim->z[at]}, f->unit, f->hull.terms, up);
    add(&f->hull, up, 1);
    if (f->hull.terms == 3) add(&f->hull, up, -1);
    f->hull.reach = fmax(f->hull.reach, dot(up, up, 3));
}

void sac_soft_rim_fit(const double (*q)[3], uint32_t count, bool quadratic, const sac_soft_rest_block *rest,
                      uint32_t lane, sac_soft_rim_block *out)
{
    static const double nothing[TERMS];
    const float r0 = rest->r[lane];
    fitting f = {.q = q, .c = {rest->x[lane], rest->y[lane], rest->z[lane]}};
    sac_soft_rim *rim = &out->rim[lane];
    memset(rim, 0, sizeof *rim);
    for (int t = 0; t < 5; t++) out->off[t][lane] = 0;
    for (int t = 0; t < 3; t++) out->deep[t][lane] = 0;
    if (!(r0 > 1e-18f)) { /* all in one place */
        out->deep[0][lane] = r0;
        return;
    }
    f.unit = 1 / (double)r0, f.hull.terms = quadratic ? TERMS : 3;
    double most[3] = {0}, d[3], up[TERMS], left[TERMS], last[SAMPLE];
    uint32_t near_rim = 0, taken = 0, seen = 0, from[SAMPLE], known[SAMPLE], farthest = 0;
    double widest = 0;
    for (uint32_t i = 0; i < count; i++) {
        double length = offset(&f, i, d);
        if (length > DEEP * r0) {
            near_rim++;
            if (length > widest) widest = length, farthest = i;
            continue;
        }
        double sum[3] = {0};
        for (int k = 0; k < 3; k++) {
            double terms[3] = {d[k], d[k] * d[k], d[k] * d[(k + 1) % 3]};
            for (int t = 0; t < 3; t++) sum[t] += terms[t] * terms[t];
        }
        for (int t = 0; t < 3; t++) most[t] = sum[t] > most[t] ? sum[t] : most[t];
    }
    for (int t = 0; t < 3; t++) out->deep[t][lane] = (float)(sqrt(most[t]) * (1 + 2e-7));
    for (uint32_t i = 0; i < count && taken < SAMPLE; i++)
        if (offset(&f, i, d) > DEEP * r0 && (uint64_t)seen++ * SAMPLE >= (uint64_t)taken * near_rim) {
            from[taken] = i, last[taken] = INFINITY, known[taken++] = 0;
        }
    add(&f.hull, nothing, 1);
    choose(&f, farthest, rim, 0);
    /* The one that is most off comes next. Corners bring the others nearer as a rule, so a point whose last
     * figure is less than that of one just looked at can wait. */
    for (uint32_t at = 1; at < SAC_SOFT_RIM; at++)
        for (;;) {
            uint32_t next = 0;
            for (uint32_t i = 1; i < taken; i++)
                if (last[i] > last[next]) next = i;
            if (known[next] == at) {
                choose(&f, from[next], rim, at);
                break;
            }
            offset(&f, from[next], d);
            lift(d, f.unit, f.hull.terms, up);
            double inside = rest_of(&f.hull, up, left);
            last[next] = sqrt(dot(left, left, f.hull.terms)) - SAC_SOFT_RIM_KNOT / 2.0 * inside;
            known[next] = at;
        }
    double off[5] = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (!(offset(&f, i, d) > DEEP * r0)) continue;
        lift(d, f.unit, f.hull.terms, up);
        double inside = rest_of(&f.hull, up, left), length = sqrt(dot(left, left, 3));
        for (int t = 0; t < 3; t++) off[t] = fmax(off[t], length - t * SAC_SOFT_RIM_KNOT / 2.0 * inside);
        for (int t = 1; t * 3 < f.hull.terms; t++)
            off[2 + t] = fmax(off[2 + t], sqrt(dot(left + 3 * t, left + 3 * t, 3)));
    }
    double square = (double)r0 * r0 / BEND, units[5] = {r0, r0, r0, square, square};
    for (int t = 0; t < 5; t++) out->off[t][lane] = (float)((off[t] * (1 + 2e-7) + 1e-9) * units[t]);
}
