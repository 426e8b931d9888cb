/* A soft body as a whole, in passes over its points. */
#include "deform/soft_motion.h"

#include <float.h>
#include <math.h>

#include "deform/soft_internal.h"

void sac_soft_motion_of(const sac_soft *s, sac_soft_motion *out)
{
    if (!s || !out) return;
    sac_match_kernels_active()->motion(s, out);
}

void sac_soft_set_velocity(sac_soft *s, const float c[3], const float v[3], const float w[3])
{
    if (!s || !c || !v || !w) return;
    for (uint32_t i = 0; i < s->model->lanes; i++) {
        float r[3] = {s->x[i] - c[0], s->y[i] - c[1], s->z[i] - c[2]};
        s->vx[i] = v[0] + (w[1] * r[2] - w[2] * r[1]);
        s->vy[i] = v[1] + (w[2] * r[0] - w[0] * r[2]);
        s->vz[i] = v[2] + (w[0] * r[1] - w[1] * r[0]);
    }
}

uint32_t sac_soft_node_at(const sac_soft_tree *tree, const sac_soft *s, const float where[3], uint32_t least)
{
    if (!tree || !s || !where) return 0;
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
    if (!s || !out_moment) return 0;
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
