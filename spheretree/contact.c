/* Contacts from a front, at any moment of its descent. */
#include "spheretree/front_internal.h"

#include <math.h>

/* Both trees in world space, ready to turn pairs into contacts. */
typedef struct view {
    const sac_tree *a, *b;
    float rows_a[3][3], rows_b[3][3];
    sac_transform pose_a, pose_b; /* rotations of length 1 */
} view;

typedef struct world_node {
    float centre[3], radius, gap, normal[3];
    bool tight; /* the normal is good */
} world_node;

static void to_world(const float rows[3][3], const sac_transform *pose, const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] =
            (rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2]) * pose->scale + pose->translation[i];
}

static world_node node_in_world(const sac_tree *tree, const float rows[3][3], const sac_transform *pose,
                                uint32_t id)
{
    uint32_t block = id / SAC_LANES, k = id % SAC_LANES;
    const sac_sphere_block *s = &tree->spheres[block];
    const sac_feature_block *f = &tree->features[block];
    world_node out;
    to_world(rows, pose, (float[3]){s->x[k], s->y[k], s->z[k]}, out.centre);
    out.radius = s->r[k] * pose->scale;
    out.gap = f->gap[k] * pose->scale;
    float n[3] = {f->nx[k], f->ny[k], f->nz[k]};
    for (int i = 0; i < 3; i++) out.normal[i] = rows[i][0] * n[0] + rows[i][1] * n[1] + rows[i][2] * n[2];
    out.tight = f->cone[k] <= SAC_CONTACT_CONE && (n[0] != 0 || n[1] != 0 || n[2] != 0);
    return out;
}

/* Scales `v` to length 1; false, and v unchanged, when it has none to speak of. */
static bool make_unit(float v[3], float least)
{
    float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > least && length <= FLT_MAX)) return false;
    for (int i = 0; i < 3; i++) v[i] /= length;
    return true;
}

/* For a pair that knows no direction: between the objects' roots, or up. */
static void direction_of_objects(const view *v, float out[3])
{
    world_node a = node_in_world(v->a, v->rows_a, &v->pose_a, 0);
    world_node b = node_in_world(v->b, v->rows_b, &v->pose_b, 0);
    for (int i = 0; i < 3; i++) out[i] = b.centre[i] - a.centre[i];
    if (!make_unit(out, 1e-6f * (a.radius + b.radius))) out[0] = 0, out[1] = 1, out[2] = 0;
}

static void contact_of(const view *v, const sac_front_pair *pair, sac_contact *out)
{
    world_node a = node_in_world(v->a, v->rows_a, &v->pose_a, pair->node_a);
    world_node b = node_in_world(v->b, v->rows_b, &v->pose_b, pair->node_b);
    float line[3] = {b.centre[0] - a.centre[0], b.centre[1] - a.centre[1], b.centre[2] - a.centre[2]};
    float distance = sqrtf(line[0] * line[0] + line[1] * line[1] + line[2] * line[2]);
    float sum = a.radius + b.radius, share = sum > 0 ? a.radius / sum : 0.5f;
    out->node_a = pair->node_a;
    out->node_b = pair->node_b;
    out->final = pair->final;
    for (int i = 0; i < 3; i++) out->point[i] = a.centre[i] + line[i] * share;
    out->depth = sum - distance;
    out->uncertainty = a.gap + b.gap;

    /* Outward of a, inward of b. Two that oppose each other (deep inside, or a thin part) say nothing. */
    float n[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) n[i] = (a.tight ? a.normal[i] : 0) - (b.tight ? b.normal[i] : 0);
    if (!make_unit(n, 0.5f)) {
        memcpy(n, line, sizeof n);
        /* Centres that coincide up to rounding have no direction. */
        if (!make_unit(n, 1e-6f * sum)) direction_of_objects(v, n);
    }
    memcpy(out->normal, n, sizeof n);
}

static void view_init(view *v, const sac_front *front)
{
    v->a = front->descent.a;
    v->b = front->descent.b;
    v->pose_a = front->pose_a;
    v->pose_b = front->pose_b;
    sac_pose_normalise(&v->pose_a);
    sac_pose_normalise(&v->pose_b);
    sac_transform_rows(&v->pose_a, v->rows_a);
    sac_transform_rows(&v->pose_b, v->rows_b);
}

size_t sac_front_contacts(const sac_front *front, sac_contact *out, size_t capacity)
{
    sac_front_pair pairs[64];
    view v;
    sac_front_cursor cursor = sac_front_cursor_begin(front);
    view_init(&v, front);
    size_t count = 0;
    while (count < capacity) {
        size_t want = capacity - count < 64 ? capacity - count : 64;
        size_t got = sac_front_cursor_read(front, &cursor, pairs, want);
        if (got == 0) break;
        for (size_t i = 0; i < got; i++) contact_of(&v, &pairs[i], &out[count++]);
    }
    return count;
}
