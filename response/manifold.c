/* New contacts take the place of a manifold's points and inherit their impulses. */
#include <math.h>

#include "response/manifold.h"

/* World point into a pose's own space. Plain arithmetic, so that every machine finds the same heirs. */
static void into(const sac_transform *pose, const float point[3], float out[3])
{
    float rows[3][3], d[3], shrink = 1.0f / pose->scale;
    sac_transform_rows(pose, rows);
    for (int i = 0; i < 3; i++) d[i] = point[i] - pose->translation[i];
    for (int i = 0; i < 3; i++) out[i] = (rows[0][i] * d[0] + rows[1][i] * d[1] + rows[2][i] * d[2]) * shrink;
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Whom a new point inherits from: the same nodes, else the nearest within reach; -1: nobody. */
static int parent_of(const sac_manifold *old, const sac_manifold_point *heir, float reach)
{
    int best = -1;
    float nearest = reach * reach;
    for (uint32_t i = 0; i < old->count; i++)
        if (old->points[i].node_a == heir->node_a && old->points[i].node_b == heir->node_b) return (int)i;
    for (uint32_t i = 0; i < old->count; i++) {
        float d[3];
        for (int k = 0; k < 3; k++) d[k] = old->points[i].local_a[k] - heir->local_a[k];
        float square = dot(d, d);
        if (square < nearest || (best < 0 && square == nearest)) nearest = square, best = (int)i;
    }
    return best;
}

void sac_manifold_merge(sac_manifold *manifold, const sac_contact *contacts, uint32_t count,
                        const sac_transform *pose_a, const sac_transform *pose_b, float bias, float reach)
{
    const sac_manifold old = *manifold;
    int parents[SAC_MANIFOLD_POINTS];
    uint32_t heirs[SAC_MANIFOLD_POINTS] = {0};
    bool any = false;
    if (count > SAC_MANIFOLD_POINTS) count = SAC_MANIFOLD_POINTS;
    manifold->count = count;
    manifold->uncertainty = 0.0f;
    manifold->final = true;
    for (uint32_t i = 0; i < count; i++) {
        const sac_contact *contact = &contacts[i];
        sac_manifold_point *point = &manifold->points[i];
        *point = (sac_manifold_point){.node_a = contact->node_a, .node_b = contact->node_b};
        into(pose_a, contact->point, point->local_a);
        into(pose_b, contact->point, point->local_b);
        for (int k = 0; k < 3; k++) point->normal[k] = contact->normal[k];
        point->depth = sac_manifold_correct(contact->depth, contact->uncertainty, bias);
        if (contact->uncertainty > manifold->uncertainty) manifold->uncertainty = contact->uncertainty;
        manifold->final = manifold->final && contact->final;
        parents[i] = parent_of(&old, point, reach);
        if (parents[i] >= 0) heirs[parents[i]]++, any = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (parents[i] < 0) continue;
        const sac_manifold_point *parent = &old.points[parents[i]];
        sac_manifold_point *point = &manifold->points[i];
        /* What pushed another way would be a kick now. */
        float along = dot(parent->normal, point->normal);
        float part = (along > 0.0f ? (along < 1.0f ? along : 1.0f) : 0.0f) / (float)heirs[parents[i]];
        point->impulse = parent->impulse * part;
        for (int k = 0; k < 3; k++) point->friction_impulse[k] = parent->friction_impulse[k] * part;
    }
    if (!any)
        for (int k = 0; k < 3; k++) manifold->rolling_impulse[k] = 0.0f;
}
