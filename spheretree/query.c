/* One tree against a sphere or a ray. */
#include "spheretree/descent_internal.h"

#include <math.h>

/* Depth first, a node's children together: at most this many wait. */
#define STACK (SAC_TREE_MOST_DEPTH * SAC_TREE_MOST_BRANCH + 1)

/* World to the tree's own frame: x -> (rows^T (x - translation)) / scale. */
typedef struct into_local {
    double rows[3][3], translation[3], scale;
} into_local;

static into_local into_local_of(const sac_transform *pose)
{
    into_local l = {.scale = pose->scale};
    const float *f = pose->rotation;
    double x = f[0], y = f[1], z = f[2], w = f[3], s = 2 / (x * x + y * y + z * z + w * w);
    double rows[3][3] = {{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                         {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                         {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
    memcpy(l.rows, rows, sizeof rows);
    for (int i = 0; i < 3; i++) l.translation[i] = pose->translation[i];
    return l;
}

static void local_vector(const into_local *l, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = (l->rows[0][i] * v[0] + l->rows[1][i] * v[1] + l->rows[2][i] * v[2]) / l->scale;
}

static void local_point(const into_local *l, const float p[3], double out[3])
{
    double v[3] = {p[0] - l->translation[0], p[1] - l->translation[1], p[2] - l->translation[2]};
    local_vector(l, v, out);
}

static sac_result too_far(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_LIMIT, "bring it closer or change the scale",
                         "the query is too far from the object or too large for it");
}

/* ---- sphere ---- */

static bool ball_touches(const sac_tree *tree, uint32_t id, sac_ball query)
{
    return sac_balls_touch(sac_ball_of(tree, id), query);
}

sac_result sac_sphere_query(const sac_tree *tree, const sac_transform *pose, const float centre[3],
                            float radius, uint32_t *out_nodes, size_t capacity, size_t *out_count,
                            sac_error *error)
{
    SAC_NEED(error, tree, pose, centre, out_count);
    if (capacity) SAC_NEED(error, out_nodes);
    *out_count = 0;
    sac_result result = sac_pose_check(pose, "the object", error);
    if (result != SAC_OK) return result;
    if (!sac_vec3_is_finite(centre) || !(radius >= 0 && isfinite(radius)))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite centre and a radius of at least zero",
                             "query sphere");
    into_local l = into_local_of(pose);
    double c[3], r = radius / l.scale;
    local_point(&l, centre, c);
    if (!(fabs(c[0]) <= 1e18 && fabs(c[1]) <= 1e18 && fabs(c[2]) <= 1e18 && r <= 1e18)) return too_far(error);
    sac_ball query = {(float)c[0], (float)c[1], (float)c[2], (float)r};

    uint32_t stack[STACK], count = 0;
    size_t found = 0;
    if (ball_touches(tree, 0, query)) stack[count++] = 0;
    while (count) {
        uint32_t id = stack[--count], link = sac_node_link(tree, id);
        if (link & SAC_LINK_LEAF) {
            if (found < capacity) out_nodes[found] = id;
            found++;
            continue;
        }
        /* Backwards, so that the first child is visited first. */
        for (uint32_t k = tree->blocks_per_node * SAC_LANES; k-- > 0;)
            if (ball_touches(tree, link * SAC_LANES + k, query)) stack[count++] = link * SAC_LANES + k;
    }
    *out_count = found;
    return SAC_OK;
}

/* ---- ray ---- */

typedef struct ray {
    double origin[3], direction[3], square;
} ray;

/* A node on the ray: the stretch inside its sphere and all its ancestors'. */
typedef struct stretch {
    double enter, leave;
    uint32_t id;
} stretch;

/* Narrows [enter, leave] to the part inside the node's sphere; false when nothing is left. */
static bool narrow(const sac_tree *tree, uint32_t id, const ray *r, stretch parent, stretch *out)
{
    sac_ball s = sac_ball_of(tree, id);
    double to[3] = {s.x - r->origin[0], s.y - r->origin[1], s.z - r->origin[2]};
    double nearest =
        (to[0] * r->direction[0] + to[1] * r->direction[1] + to[2] * r->direction[2]) / r->square;
    double miss2 = 0;
    for (int i = 0; i < 3; i++) {
        double d = to[i] - nearest * r->direction[i];
        miss2 += d * d;
    }
    double left = (double)s.r * s.r - miss2;
    if (!(left >= 0)) return false; /* also an empty lane */
    double half = sqrt(left / r->square);
    *out = (stretch){fmax(parent.enter, nearest - half), fmin(parent.leave, nearest + half), id};
    return out->enter <= out->leave;
}

static bool first_leaf(const sac_tree *tree, const ray *r, double most, stretch *out_best)
{
    stretch stack[STACK], all = {0, most, 0};
    uint32_t count = 0;
    bool found = false;
    if (narrow(tree, 0, r, all, &stack[0])) count = 1;
    while (count) {
        stretch top = stack[--count];
        if (found && top.enter >= out_best->enter) continue;
        uint32_t link = sac_node_link(tree, top.id), first = count;
        if (link & SAC_LINK_LEAF) {
            *out_best = top;
            found = true;
            continue;
        }
        for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++) {
            stretch child;
            if (!narrow(tree, link * SAC_LANES + k, r, top, &child)) continue;
            /* Nearest last, so that it is visited first; among equals the lower id. */
            uint32_t at = count++;
            for (; at > first && stack[at - 1].enter <= child.enter; at--) stack[at] = stack[at - 1];
            stack[at] = child;
        }
    }
    return found;
}

static void describe_hit(const sac_tree *tree, const sac_transform *pose, const into_local *l, const ray *r,
                         const float origin[3], const float direction[3], stretch best, sac_ray_hit *out)
{
    sac_tree_node_info node;
    sac_tree_node(tree, best.id, &node);
    out->hit = true;
    out->t = (float)best.enter;
    out->node = best.id;
    out->uncertainty = node.gap * pose->scale;
    for (int i = 0; i < 3; i++) out->point[i] = (float)(origin[i] + best.enter * direction[i]);
    double n[3] = {node.normal[0], node.normal[1], node.normal[2]};
    bool known = node.cone <= SAC_CONTACT_CONE && (n[0] != 0 || n[1] != 0 || n[2] != 0);
    double length = 0;
    if (!known) {
        for (int i = 0; i < 3; i++) n[i] = r->origin[i] + best.enter * r->direction[i] - node.centre[i];
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        known = length > 1e-6 * node.radius;
    } else {
        length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    if (!known) {
        length = -sqrt(r->square);
        memcpy(n, r->direction, sizeof n);
    }
    for (int i = 0; i < 3; i++)
        out->normal[i] =
            (float)((l->rows[i][0] * n[0] + l->rows[i][1] * n[1] + l->rows[i][2] * n[2]) / length);
}

sac_result sac_ray_query(const sac_tree *tree, const sac_transform *pose, const float origin[3],
                         const float direction[3], float most, sac_ray_hit *out_hit, sac_error *error)
{
    SAC_NEED(error, tree, pose, origin, direction, out_hit);
    *out_hit = (sac_ray_hit){0};
    sac_result result = sac_pose_check(pose, "the object", error);
    if (result != SAC_OK) return result;
    if (!sac_vec3_is_finite(origin) || !sac_vec3_is_finite(direction) || !(most >= 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite ray and a length of at least zero",
                             "ray");
    into_local l = into_local_of(pose);
    ray r;
    local_point(&l, origin, r.origin);
    local_vector(&l, (double[3]){direction[0], direction[1], direction[2]}, r.direction);
    r.square =
        r.direction[0] * r.direction[0] + r.direction[1] * r.direction[1] + r.direction[2] * r.direction[2];
    if (!(r.square > 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give it a direction", "the ray has no length");
    if (!isfinite(r.square) ||
        !(fabs(r.origin[0]) <= 1e18 && fabs(r.origin[1]) <= 1e18 && fabs(r.origin[2]) <= 1e18))
        return too_far(error);
    stretch best;
    if (first_leaf(tree, &r, most, &best)) describe_hit(tree, pose, &l, &r, origin, direction, best, out_hit);
    return SAC_OK;
}
