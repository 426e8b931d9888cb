/* New contacts take the place of a manifold's points and inherit their impulses. */
#include <math.h>

#include "response/manifold.h"

/* The way into a pose's own space. Plain arithmetic, so that every machine finds the same heirs. */
typedef struct inward {
    float rows[3][3], translation[3], shrink;
} inward;

static inward inward_of(const sac_transform *pose)
{
    inward in = {.translation = {pose->translation[0], pose->translation[1], pose->translation[2]},
                 .shrink = 1.0f / pose->scale};
    sac_transform_rows(pose, in.rows);
    return in;
}

static void into(const inward *in, const float point[3], float out[3])
{
    float d[3];
    for (int i = 0; i < 3; i++) d[i] = point[i] - in->translation[i];
    for (int i = 0; i < 3; i++)
        out[i] = (in->rows[0][i] * d[0] + in->rows[1][i] * d[1] + in->rows[2][i] * d[2]) * in->shrink;
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

/* Everything of a point but who it is and what it inherits. */
static void tell(sac_manifold *manifold, sac_manifold_point *point, const sac_contact *contact,
                 const inward *a, const inward *b, float bias)
{
    into(a, contact->point, point->local_a);
    into(b, contact->point, point->local_b);
    for (int k = 0; k < 3; k++) point->normal[k] = contact->normal[k];
    point->depth = sac_manifold_correct(contact->depth, contact->uncertainty, bias);
    if (contact->uncertainty > manifold->uncertainty) manifold->uncertainty = contact->uncertainty;
    manifold->final = manifold->final && contact->final;
}

/* What pushed another way would be a kick now. */
static float part_of(const float before[3], const float now[3])
{
    float along = dot(before, now);
    return along > 0.0f ? (along < 1.0f ? along : 1.0f) : 0.0f;
}

/* Is each contact where its only parent is? Nearly always: nothing needs to be moved then. */
static bool same_nodes(const sac_manifold *old, const sac_contact *contacts, uint32_t count)
{
    if (count > old->count) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = contacts[i].node_a, b = contacts[i].node_b;
        if (old->points[i].node_a != a || old->points[i].node_b != b) return false;
        for (uint32_t k = 0; k < i; k++)
            if (contacts[k].node_a == a && contacts[k].node_b == b) return false;
    }
    return true;
}

static void keep_points(sac_manifold *manifold, const sac_contact *contacts, uint32_t count, const inward *a,
                        const inward *b, float bias)
{
    for (uint32_t i = 0; i < count; i++) {
        sac_manifold_point *point = &manifold->points[i];
        float part = part_of(point->normal, contacts[i].normal);
        tell(manifold, point, &contacts[i], a, b, bias);
        point->impulse *= part;
        for (int k = 0; k < 3; k++) point->friction_impulse[k] *= part;
    }
}

/* True when anybody inherits. */
static bool replace_points(sac_manifold *manifold, const sac_manifold *old, const sac_contact *contacts,
                           uint32_t count, const inward *a, const inward *b, float bias, float reach)
{
    int parents[SAC_MANIFOLD_POINTS];
    uint32_t heirs[SAC_MANIFOLD_POINTS] = {0};
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        sac_manifold_point *point = &manifold->points[i];
        *point = (sac_manifold_point){.node_a = contacts[i].node_a, .node_b = contacts[i].node_b};
        tell(manifold, point, &contacts[i], a, b, bias);
        parents[i] = parent_of(old, point, reach);
        if (parents[i] >= 0) heirs[parents[i]]++, any = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (parents[i] < 0) continue;
        const sac_manifold_point *parent = &old->points[parents[i]];
        sac_manifold_point *point = &manifold->points[i];
        float part = part_of(parent->normal, point->normal) / (float)heirs[parents[i]];
        point->impulse = parent->impulse * part;
        for (int k = 0; k < 3; k++) point->friction_impulse[k] = parent->friction_impulse[k] * part;
    }
    return any;
}

void sac_manifold_merge(sac_manifold *manifold, const sac_contact *contacts, uint32_t count,
                        const sac_transform *pose_a, const sac_transform *pose_b, float bias, float reach)
{
    if (!manifold || (count && (!contacts || !pose_a || !pose_b))) return;
    if (count > SAC_MANIFOLD_POINTS) count = SAC_MANIFOLD_POINTS;
    bool any = false;
    manifold->uncertainty = 0.0f;
    manifold->final = true;
    if (count) {
        const inward a = inward_of(pose_a), b = inward_of(pose_b);
        any = same_nodes(manifold, contacts, count);
        if (any) {
            keep_points(manifold, contacts, count, &a, &b, bias);
        } else {
            const sac_manifold old = *manifold;
            any = replace_points(manifold, &old, contacts, count, &a, &b, bias, reach);
        }
    }
    manifold->count = count;
    if (!any)
        for (int k = 0; k < 3; k++) manifold->rolling_impulse[k] = 0.0f;
}
