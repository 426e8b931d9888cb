/* Contacts from pairs of nodes: what two spheres and the surface they stand for say, and a whole front of
 * them, at any moment of its descent. */
#include "spheretree/contact_internal.h"
#include "spheretree/front_internal.h"

#include <math.h>

/* Both trees in world space, ready to turn pairs into contacts. */
typedef struct view {
    const sac_tree *a, *b;
    float rows_a[3][3], rows_b[3][3];
    sac_transform pose_a, pose_b; /* rotations of length 1 */
} view;

static void to_world(const float rows[3][3], const sac_transform *pose, const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] =
            (rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2]) * pose->scale + pose->translation[i];
}

sac_contact_node sac_contact_node_of(const sac_tree *tree, uint32_t id)
{
    uint32_t block = id / SAC_LANES, k = id % SAC_LANES;
    const sac_sphere_block *s = &tree->spheres[block];
    const sac_feature_block *f = &tree->features[block];
    return (sac_contact_node){
        .centre = {s->x[k], s->y[k], s->z[k]},
        .radius = s->r[k],
        .gap = f->gap[k],
        .normal = {f->nx[k], f->ny[k], f->nz[k]},
        .tight = f->cone[k] <= SAC_CONTACT_CONE && (f->nx[k] != 0 || f->ny[k] != 0 || f->nz[k] != 0),
    };
}

sac_contact_node sac_contact_node_now(const sac_form *form, uint32_t id)
{
    if (!form->live) return sac_contact_node_of(form->tree, id);
    sac_tree_node_info n;
    form->live->node(form->live->owner, id, &n);
    return (sac_contact_node){
        .centre = {n.centre[0], n.centre[1], n.centre[2]},
        .radius = n.radius,
        .gap = n.gap,
        .normal = {n.normal[0], n.normal[1], n.normal[2]},
        .tight = n.cone <= SAC_CONTACT_CONE && (n.normal[0] != 0 || n.normal[1] != 0 || n.normal[2] != 0),
    };
}

static sac_contact_node node_in_world(const sac_tree *tree, const float rows[3][3], const sac_transform *pose,
                                      uint32_t id)
{
    sac_contact_node own = sac_contact_node_of(tree, id), out = own;
    to_world(rows, pose, own.centre, out.centre);
    out.radius = own.radius * pose->scale;
    out.gap = own.gap * pose->scale;
    const float *n = own.normal;
    for (int i = 0; i < 3; i++) out.normal[i] = rows[i][0] * n[0] + rows[i][1] * n[1] + rows[i][2] * n[2];
    return out;
}

bool sac_make_unit(float v[3], float least)
{
    float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > least && length <= FLT_MAX)) return false;
    for (int i = 0; i < 3; i++) v[i] /= length;
    return true;
}

/* For a pair that knows no direction: between the objects' roots, or up. */
static void direction_of_objects(const view *v, float out[3])
{
    sac_contact_node a = node_in_world(v->a, v->rows_a, &v->pose_a, 0);
    sac_contact_node b = node_in_world(v->b, v->rows_b, &v->pose_b, 0);
    for (int i = 0; i < 3; i++) out[i] = b.centre[i] - a.centre[i];
    if (!sac_make_unit(out, 1e-6f * (a.radius + b.radius))) out[0] = 0, out[1] = 1, out[2] = 0;
}

bool sac_contact_between(const sac_contact_node *a, const sac_contact_node *b, sac_contact *out)
{
    float line[3] = {b->centre[0] - a->centre[0], b->centre[1] - a->centre[1], b->centre[2] - a->centre[2]};
    float distance = sqrtf(line[0] * line[0] + line[1] * line[1] + line[2] * line[2]);
    float sum = a->radius + b->radius, share = sum > 0 ? a->radius / sum : 0.5f;
    for (int i = 0; i < 3; i++) out->point[i] = a->centre[i] + line[i] * share;
    out->depth = sum - distance;
    out->uncertainty = a->gap + b->gap;

    /* Outward of a, inward of b. Two that oppose each other (deep inside, or a thin part) say nothing. */
    float *n = out->normal;
    for (int i = 0; i < 3; i++) n[i] = (a->tight ? a->normal[i] : 0) - (b->tight ? b->normal[i] : 0);
    if (sac_make_unit(n, 0.5f)) return true;
    memcpy(n, line, sizeof line);
    /* Centres that coincide up to rounding have no direction. */
    return sac_make_unit(n, 1e-6f * sum);
}

static void contact_of(const view *v, const sac_front_pair *pair, sac_contact *out)
{
    sac_contact_node a = node_in_world(v->a, v->rows_a, &v->pose_a, pair->node_a);
    sac_contact_node b = node_in_world(v->b, v->rows_b, &v->pose_b, pair->node_b);
    out->node_a = pair->node_a;
    out->node_b = pair->node_b;
    out->final = pair->final;
    if (!sac_contact_between(&a, &b, out)) direction_of_objects(v, out->normal);
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
    if (!front || !out) return 0;
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
