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

/* For a pair that knows no direction: between the objects' roots, or up. */
static void direction_of_objects(const view *v, float out[3])
{
    sac_contact_node a = node_in_world(v->a, v->rows_a, &v->pose_a, 0);
    sac_contact_node b = node_in_world(v->b, v->rows_b, &v->pose_b, 0);
    for (int i = 0; i < 3; i++) out[i] = b.centre[i] - a.centre[i];
    if (!sac_make_unit(out, 1e-6f * (a.radius + b.radius))) out[0] = 0, out[1] = 1, out[2] = 0;
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
