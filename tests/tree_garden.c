#include "tests/tree_garden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "spheretree/build_internal.h"
#include "spheretree/tree_internal.h"

typedef struct gardener {
    const garden_def *def;
    sac_rng rng;
    float (*points)[3];
    float (*normals)[3];
    sac_draft draft;
    bool failed;
} gardener;

static void knot_point(float u, float v, float p[3], float n[3])
{
    /* A tube of radius 0.12 round the (2,3) knot. */
    float c = cosf(3 * u), r = 0.6f + 0.25f * c;
    float centre[3] = {r * cosf(2 * u), r * sinf(2 * u), 0.25f * sinf(3 * u)};
    float d[3] = {-0.75f * sinf(3 * u) * cosf(2 * u) - 2 * r * sinf(2 * u),
                  -0.75f * sinf(3 * u) * sinf(2 * u) + 2 * r * cosf(2 * u), 0.75f * c};
    float side[3] = {-d[1], d[0], 0}, up[3];
    glm_vec3_normalize(d);
    glm_vec3_normalize(side);
    glm_vec3_cross(d, side, up);
    for (int i = 0; i < 3; i++) {
        n[i] = cosf(v) * side[i] + sinf(v) * up[i];
        p[i] = centre[i] + 0.12f * n[i];
    }
}

static void surface_point(garden_shape shape, sac_rng *rng, float p[3], float n[3])
{
    if (shape == GARDEN_KNOT) {
        float u = sac_rng_range(rng, 0, 6.2831853f), v = sac_rng_range(rng, 0, 6.2831853f);
        knot_point(u, v, p, n);
        return;
    }
    sac_rng_unit_vector(rng, n);
    float r = 0.8f + 0.06f * sinf(7 * n[0]) * sinf(9 * n[1]) + 0.05f * cosf(8 * n[2]);
    if (shape == GARDEN_CLOUD) r = sac_rng_range(rng, 0.0f, 1.0f);
    for (int i = 0; i < 3; i++) p[i] = r * n[i];
}

static int order_axis;
static int by_axis(const void *a, const void *b)
{
    float x = ((const float *)a)[order_axis], y = ((const float *)b)[order_axis];
    return (x > y) - (x < y);
}

/* Cut [first, first + count) into `parts` runs of about equal size, along the longest axis each time. */
static void cut(gardener *g, uint32_t first, uint32_t count, uint32_t parts, uint32_t *sizes)
{
    if (parts == 1) {
        sizes[0] = count;
        return;
    }
    sac_box box = sac_box_empty();
    for (uint32_t i = first; i < first + count; i++) sac_box_add(&box, g->points[i]);
    order_axis = 0;
    for (int i = 1; i < 3; i++)
        if (box.high[i] - box.low[i] > box.high[order_axis] - box.low[order_axis]) order_axis = i;
    qsort(g->points + first, count, sizeof *g->points, by_axis);
    uint32_t left_parts = parts / 2, left = (uint32_t)((uint64_t)count * left_parts / parts);
    cut(g, first, left, left_parts, sizes);
    cut(g, first + left, count - left, parts - left_parts, sizes + left_parts);
}

static void grow(gardener *g, uint32_t first, uint32_t count, uint32_t level, uint32_t parent)
{
    const garden_def *def = g->def;
    sac_draft_node node = {.parent = parent, .cone = 0.3f};
    for (uint32_t i = first; i < first + count; i++)
        for (int k = 0; k < 3; k++) node.centre[k] += g->points[i][k] / (float)count;
    uint32_t nearest = first;
    float least = INFINITY;
    for (uint32_t i = first; i < first + count; i++) {
        float d = glm_vec3_distance(node.centre, g->points[i]);
        node.radius = fmaxf(node.radius, d);
        if (d < least) least = d, nearest = i;
    }
    node.radius = node.radius * 1.0001f + 1e-4f;
    node.gap = 2 * node.radius;
    memcpy(node.point, g->points[nearest], sizeof node.point);
    sac_rng_unit_vector(&g->rng, node.normal);
    if (sac_rng_below(&g->rng, 4) == 0) node.cone = 3.14159f, memset(node.normal, 0, sizeof node.normal);
    uint32_t index = (uint32_t)g->draft.nodes.count;
    if (!sac_array_push(&g->draft.nodes, node)) {
        g->failed = true;
        return;
    }
    if (level == def->depth || count < 2) return;
    uint32_t parts = def->branch;
    if (def->uneven > 0) {
        if (level > 0 && sac_rng_float(&g->rng) < def->uneven) return;
        parts = 1 + sac_rng_below(&g->rng, def->branch);
    }
    if (parts > count) parts = count;
    uint32_t sizes[SAC_TREE_MOST_BRANCH];
    cut(g, first, count, parts, sizes);
    for (uint32_t i = 0, at = first; i < parts; at += sizes[i++]) grow(g, at, sizes[i], level + 1, index);
}

sac_tree *garden_grow(const garden_def *def)
{
    double leaves = pow(def->branch, def->depth);
    uint32_t count = (uint32_t)fmin(leaves * (def->points_per_leaf ? def->points_per_leaf : 8), 4e6);
    gardener g = {.def = def, .rng = sac_rng_seed(def->seed)};
    sac_tree *tree = NULL;
    g.points = malloc(count * sizeof *g.points);
    if (g.points) {
        float normal[3];
        for (uint32_t i = 0; i < count; i++) surface_point(def->shape, &g.rng, g.points[i], normal);
        grow(&g, 0, count, 0, SAC_DRAFT_ROOT);
        sac_draft_node *nodes = g.draft.nodes.data;
        if (def->nested)
            for (size_t i = g.draft.nodes.count; i-- > 1;) {
                sac_draft_node *p = &nodes[nodes[i].parent];
                p->radius = fmaxf(p->radius, sac_sphere_reach(p->centre, nodes[i].centre, nodes[i].radius));
                p->gap = 2 * p->radius;
            }
        sac_tree like = {.branch = def->branch, .method = SAC_METHOD_FOREIGN};
        snprintf(like.name, sizeof like.name, "garden");
        if (!g.failed) sac_draft_assemble(&g.draft, &like, &tree, NULL);
    }
    sac_array_fini(&g.draft.nodes);
    free(g.points);
    return tree;
}

sac_tree *garden_copy(const sac_tree *tree)
{
    sac_tree *copy = sac_tree_allocate(tree);
    if (copy) memcpy(copy->storage, tree->storage, tree->storage_size);
    return copy;
}

void garden_rotation(sac_rng *rng, float out[4])
{
    float length = 0;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            out[i] = sac_rng_range(rng, -1, 1);
            length += out[i] * out[i];
        }
    } while (length > 1 || length < 0.01f);
    for (int i = 0; i < 4; i++) out[i] /= sqrtf(length);
}

sac_transform garden_pose(sac_rng *rng, float reach)
{
    sac_transform pose = sac_transform_identity();
    sac_rng_unit_vector(rng, pose.translation);
    for (int i = 0; i < 3; i++) pose.translation[i] *= reach;
    pose.scale = sac_rng_range(rng, 0.5f, 2.0f);
    garden_rotation(rng, pose.rotation);
    return pose;
}
