/* Soft bodies as wholes. A contact of a few points can stop those points and no more, and by the time the
 * pull of the rest has stopped a body that falls on another it lies inside it. So contacts first act on
 * bodies as if they were rigid, by their mass and inertia as they stand, and all points take part in the
 * change; what is left to do for single lumps makes the dents. Both keep momentum and add no energy. */
#include <math.h>
#include <string.h>

#include "deform/patch_internal.h"
#include "deform/soft_whole_internal.h"

/* Of a symmetric matrix, made a little fatter where it is flat. */
static void invert(const double m[6], float out[6])
{
    double least = 1e-4 * (m[0] + m[1] + m[2]) + 1e-12;
    double a = m[0] + least, b = m[1] + least, c = m[2] + least, d = m[3], e = m[4], f = m[5];
    double aa = b * c - f * f, bb = a * c - e * e, cc = a * b - d * d, dd = e * f - c * d, ee = d * f - b * e,
           ff = d * e - a * f;
    double det = a * aa + d * dd + e * ee, inverse = det > 0 ? 1 / det : 0;
    const double all[6] = {aa, bb, cc, dd, ee, ff};
    for (int k = 0; k < 6; k++) out[k] = (float)(all[k] * inverse);
}

static void turn(const float i[6], const double v[3], float out[3])
{
    out[0] = (float)(i[0] * v[0] + i[3] * v[1] + i[4] * v[2]);
    out[1] = (float)(i[3] * v[0] + i[1] * v[1] + i[5] * v[2]);
    out[2] = (float)(i[4] * v[0] + i[5] * v[1] + i[2] * v[2]);
}

/* Points summed in float before a double takes over. */
enum { SPELL = 1024 };

void sac_soft_whole_gather(const sac_soft_party *party, sac_soft_whole *out)
{
    const sac_patch_kernels *kernels = sac_patch_kernels_active();
    const sac_soft *s = party->soft;
    const uint32_t count = s->model->count;
    const double all = s->model->mass_sum;
    double c[3], v[3], m[6], l[3], sum[15] = {0};
    float from[3]; /* about the middle, so that nothing is lost by taking it out again */
    *out = (sac_soft_whole){0};
    for (int k = 0; k < 3; k++) from[k] = 0.5f * (s->box.low[k] + s->box.high[k]);
    for (uint32_t first = 0; first < count; first += SPELL) {
        float part[15];
        kernels->moments(s, first, count - first < SPELL ? count - first : SPELL, from, part);
        for (int k = 0; k < 15; k++) sum[k] += part[k];
    }
    for (int k = 0; k < 3; k++) {
        c[k] = sum[k] / all, v[k] = sum[3 + k] / all;
        out->centre[k] = (float)(from[k] + c[k]);
    }
    if (party->still) return;
    const double *q = sum + 6;
    double square[3], mixed[3];
    for (int k = 0; k < 3; k++) square[k] = q[k] - all * c[k] * c[k];
    mixed[0] = q[3] - all * c[0] * c[1], mixed[1] = q[4] - all * c[0] * c[2];
    mixed[2] = q[5] - all * c[1] * c[2];
    for (int k = 0; k < 3; k++) {
        int n = (k + 1) % 3, p = (k + 2) % 3;
        m[k] = square[n] + square[p], m[3 + k] = -mixed[k];
        l[k] = sum[12 + k] - all * (c[n] * v[p] - c[p] * v[n]);
    }
    float inverse[6];
    invert(m, inverse);
    turn(inverse, l, out->w);
    for (int k = 0; k < 3; k++) out->v[k] = (float)v[k];
    memcpy(out->before, out->v, sizeof out->v);
    memcpy(out->before + 3, out->w, sizeof out->w);
    if (s->held) return; /* what holds it is not ours to move */
    double scale = party->mass_scale > 0 ? party->mass_scale : 1;
    out->inverse_mass = (float)(1 / (all * scale));
    for (int k = 0; k < 6; k++) out->inverse_inertia[k] = (float)(inverse[k] / scale);
}

void sac_soft_whole_spread(const sac_soft_party *party, const sac_soft_whole *whole)
{
    sac_soft *s = party->soft;
    float v[3], w[3];
    bool changed = false;
    for (int k = 0; k < 3; k++) {
        v[k] = whole->v[k] - whole->before[k], w[k] = whole->w[k] - whole->before[3 + k];
        changed = changed || v[k] != 0 || w[k] != 0;
    }
    if (!changed || party->still) return;
    for (uint32_t i = 0; i < s->model->lanes; i++) {
        float x = s->x[i] - whole->centre[0], y = s->y[i] - whole->centre[1], z = s->z[i] - whole->centre[2];
        s->vx[i] += v[0] + (w[1] * z - w[2] * y);
        s->vy[i] += v[1] + (w[2] * x - w[0] * z);
        s->vz[i] += v[2] + (w[0] * y - w[1] * x);
    }
}
