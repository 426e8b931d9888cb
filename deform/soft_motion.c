/* A soft body as a whole, in passes over its points. */
#include "deform/soft_motion.h"

#include <float.h>
#include <math.h>

#include "deform/soft_internal.h"

/* Eight sums side by side, in a fixed order whatever the compiler makes of them. */
typedef struct sums {
    float s[8];
} sums;

static double total(const sums *a)
{
    return (((double)a->s[0] + a->s[4]) + ((double)a->s[2] + a->s[6])) +
           (((double)a->s[1] + a->s[5]) + ((double)a->s[3] + a->s[7]));
}

static void ends(const float *x, uint32_t lanes, float *out_low, float *out_high)
{
    float low[8], high[8];
    for (int k = 0; k < 8; k++) low[k] = high[k] = x[k];
    for (uint32_t i = 8; i < lanes; i += 8)
        for (int k = 0; k < 8; k++) {
            low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
            high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
        }
    for (int k = 1; k < 8; k++) {
        low[0] = low[k] < low[0] ? low[k] : low[0];
        high[0] = high[k] > high[0] ? high[k] : high[0];
    }
    *out_low = low[0], *out_high = high[0];
}

/* Sum of m (x - from); the last point is repeated beyond the count and counts once. */
static double moment(const float *x, const float *m, float from, uint32_t count)
{
    sums s = {{0}};
    double sum = 0;
    uint32_t whole = count & ~7u;
    for (uint32_t i = 0; i < whole; i += 8) {
        for (int k = 0; k < 8; k++) s.s[k] += m[i + k] * (x[i + k] - from);
        if (i % 4096 == 4088) sum += total(&s), s = (sums){{0}};
    }
    sum += total(&s);
    for (uint32_t i = whole; i < count; i++) sum += (double)m[i] * (x[i] - from);
    return sum;
}

static float farthest(const float *x, const float *y, const float *z, uint32_t lanes, const float from[3])
{
    float most[8] = {0};
    for (uint32_t i = 0; i < lanes; i += 8)
        for (int k = 0; k < 8; k++) {
            float dx = x[i + k] - from[0], dy = y[i + k] - from[1], dz = z[i + k] - from[2];
            float d = dx * dx + dy * dy + dz * dz;
            most[k] = d > most[k] ? d : most[k];
        }
    for (int k = 1; k < 8; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
    return sqrtf(most[0]) * 1.000001f;
}

void sac_soft_motion_of(const sac_soft *s, sac_soft_motion *out)
{
    const sac_soft_model *m = s->model;
    const float *x[3] = {s->x, s->y, s->z}, *v[3] = {s->vx, s->vy, s->vz};
    for (int k = 0; k < 3; k++) {
        ends(x[k], m->lanes, &out->box.low[k], &out->box.high[k]);
        out->centre[k] = x[k][0] + (float)(moment(x[k], m->mass, x[k][0], m->count) / m->mass_sum);
        out->velocity[k] = (float)(moment(v[k], m->mass, 0, m->count) / m->mass_sum);
    }
    out->radius = farthest(s->x, s->y, s->z, m->lanes, out->centre);
    out->spread = farthest(s->vx, s->vy, s->vz, m->lanes, out->velocity);
}

void sac_soft_set_velocity(sac_soft *s, const float c[3], const float v[3], const float w[3])
{
    for (uint32_t i = 0; i < s->model->lanes; i++) {
        float r[3] = {s->x[i] - c[0], s->y[i] - c[1], s->z[i] - c[2]};
        s->vx[i] = v[0] + (w[1] * r[2] - w[2] * r[1]);
        s->vy[i] = v[1] + (w[2] * r[0] - w[0] * r[2]);
        s->vz[i] = v[2] + (w[0] * r[1] - w[1] * r[0]);
    }
}

uint32_t sac_soft_node_at(const sac_soft_tree *tree, const sac_soft *s, const float where[3], uint32_t least)
{
    double best = INFINITY;
    uint32_t point = 0, node = 0;
    for (uint32_t i = 0; i < s->model->count; i++) {
        double x = (double)s->x[i] - where[0], y = (double)s->y[i] - where[1], z = (double)s->z[i] - where[2];
        double d = x * x + y * y + z * z;
        if (d < best) best = d, point = i;
    }
    for (;;) {
        uint32_t link = tree->links[node / 8].link[node % 8], next = UINT32_MAX;
        if (link & SAC_LINK_LEAF) return node;
        for (uint32_t id = link * 8; id < link * 8 + 8 && next == UINT32_MAX; id++)
            for (uint32_t i = tree->range[id].first; i < tree->range[id].first + tree->range[id].count; i++)
                if (tree->order[i] == point) next = id;
        if (next == UINT32_MAX || tree->range[next].count < least) return node;
        node = next;
    }
}

float sac_soft_lump(const sac_soft_tree *tree, const sac_soft *s, uint32_t node, float out_centre[3],
                    float out_velocity[3])
{
    double mass = 0, c[3] = {0}, v[3] = {0};
    sac_soft_range range = tree->range[node];
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        uint32_t p = tree->order[i];
        double m = s->model->mass[p];
        mass += m;
        c[0] += m * s->x[p], c[1] += m * s->y[p], c[2] += m * s->z[p];
        v[0] += m * s->vx[p], v[1] += m * s->vy[p], v[2] += m * s->vz[p];
    }
    for (int k = 0; k < 3; k++) out_centre[k] = (float)(c[k] / mass), out_velocity[k] = (float)(v[k] / mass);
    return (float)mass;
}

void sac_soft_push_lump(const sac_soft_tree *tree, sac_soft *s, uint32_t node, const float change[3])
{
    sac_soft_range range = tree->range[node];
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        uint32_t p = tree->order[i];
        float loose = s->loose[p];
        s->vx[p] += loose * change[0], s->vy[p] += loose * change[1], s->vz[p] += loose * change[2];
    }
    uint32_t last = s->model->count - 1;
    for (uint32_t k = last + 1; k < s->model->lanes; k++)
        s->vx[k] = s->vx[last], s->vy[k] = s->vy[last], s->vz[k] = s->vz[last];
}

double sac_soft_energy(const sac_soft *s, double out_moment[3])
{
    const sac_soft_model *m = s->model;
    double energy = 0;
    out_moment[0] = out_moment[1] = out_moment[2] = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double v2 = (double)s->vx[i] * s->vx[i] + (double)s->vy[i] * s->vy[i] + (double)s->vz[i] * s->vz[i];
        energy += 0.5 * m->mass[i] * v2;
        out_moment[0] += (double)m->mass[i] * s->x[i], out_moment[1] += (double)m->mass[i] * s->y[i];
        out_moment[2] += (double)m->mass[i] * s->z[i];
    }
    return energy;
}
