/* A balanced hierarchy wrapped around points: siblings stand for equally many of them (up to one), and each
 * sphere is the smallest ball of the points below it, whatever the spheres in between. The shape of the tree
 * depends on the points' rest positions only, so a deformable keeps it and refits the balls.
 *
 * With fewer points than leaves the tree ends in leaves of one point and radius 0, within one level of each
 * other. */
#include "spheretree/grouping_internal.h"

#include "base/parallel.h"

#include <math.h>

typedef struct plan {
    const double (*balls)[4]; /* the points, radius 0 */
    uint32_t branch, depth;
    uint32_t most_improved; /* the largest set for which swapping single points is worth the time */
} plan;

static bool split_points(const void *context, const sac_cluster *cluster, uint32_t *items, sac_arena *arena,
                         uint32_t *out_groups, uint32_t *out_sizes)
{
    const plan *p = context;
    uint32_t n = cluster->count;
    if (n == 1 || cluster->level == p->depth) return true;
    uint32_t groups = n < p->branch ? n : p->branch;
    *out_groups = groups;
    if (n > p->most_improved || n <= p->branch)
        return sac_group_balanced(p->balls, items, n, groups, arena, out_sizes);
    sac_grouping g = {.balls = p->balls,
                      .items = items,
                      .count = n,
                      .groups = groups,
                      .least = n / groups,
                      .most = (n + groups - 1) / groups};
    double cost;
    return sac_group_tight(&g, arena, out_sizes, &cost);
}

typedef struct finish {
    const sac_hierarchy *hierarchy;
    const double (*sorted)[4]; /* the points in the hierarchy's order */
    sac_draft_node *nodes;
} finish;

static void finish_one(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    finish *f = context;
    const sac_cluster *cluster = &f->hierarchy->clusters.data[item];
    const double(*below)[4] = f->sorted + cluster->first;
    sac_draft_node *node = &f->nodes[item];
    double ball[4], nearest = INFINITY;
    uint32_t show = 0;
    sac_ball_of_balls(below, cluster->count, ball, &ball[3]);
    sac_ball_round(ball, below, cluster->count, 0, node->centre, &node->radius);
    for (int k = 0; k < 3; k++) ball[k] = node->centre[k];
    ball[3] = node->radius;
    for (uint32_t i = 0; i < cluster->count; i++) {
        double x = below[i][0] - ball[0], y = below[i][1] - ball[1], z = below[i][2] - ball[2];
        double away = x * x + y * y + z * z;
        if (away < nearest) nearest = away, show = i;
    }
    for (int k = 0; k < 3; k++) node->point[k] = (float)below[show][k];
    double gap = sac_union_gap(ball, below, cluster->count, f->hierarchy->count);
    node->gap = gap > 0 ? nextafterf((float)gap, INFINITY) : 0;
    node->cone = SAC_CONE_UNKNOWN; /* points have no normals */
    node->parent = cluster->parent;
}

/* Without faces the leaf spheres are the best guess at a mass. */
static bool mass_of_leaves(const sac_hierarchy *h, const sac_draft_node *nodes, sac_mass *out)
{
    size_t count = h->clusters.count, leaves = 0;
    float(*spheres)[4] = sac_alloc(count, sizeof *spheres);
    if (!spheres) return false;
    for (size_t i = 0; i < count; i++) {
        if (!h->clusters.data[i].leaf) continue;
        memcpy(spheres[leaves], nodes[i].centre, sizeof nodes[i].centre);
        spheres[leaves++][3] = nodes[i].radius;
    }
    sac_mass_of_leaf_spheres((const float(*)[4])spheres, (uint32_t)leaves, out);
    sac_free(spheres, count, sizeof *spheres);
    return true;
}

static sac_result draft_tree(const sac_hierarchy *h, const plan *p, const sac_build_def *def,
                             sac_tree **out_tree, sac_error *error)
{
    uint32_t nodes = (uint32_t)h->clusters.count, count = h->count;
    sac_draft draft = {0};
    sac_tree like = {.branch = def->branch, .method = SAC_METHOD_WRAPPED, .name = "points"};
    double(*sorted)[4] = sac_alloc(count, sizeof *sorted);
    sac_result result = SAC_ERROR_MEMORY;
    if (sorted && sac_array_reserve(&draft.nodes, nodes)) {
        memset(draft.nodes.data, 0, nodes * sizeof *draft.nodes.data);
        draft.nodes.count = nodes;
        like.box = sac_box_empty();
        for (uint32_t i = 0; i < count; i++) {
            const double *b = p->balls[h->order[i]];
            memcpy(sorted[i], b, sizeof sorted[i]);
            sac_box_add(&like.box, (float[3]){(float)b[0], (float)b[1], (float)b[2]});
        }
        finish f = {h, (const double(*)[4])sorted, draft.nodes.data};
        sac_parallel_for(nodes, def->threads, finish_one, &f);
        if (mass_of_leaves(h, draft.nodes.data, &like.mass)) result = SAC_OK;
    }
    if (result == SAC_OK)
        result = sac_draft_assemble(&draft, &like, out_tree, error);
    else
        sac_error_set(error, result, NULL, "no memory for %u points", count);
    sac_free(sorted, count, sizeof *sorted);
    sac_array_fini(&draft.nodes);
    return result;
}

sac_result sac_tree_build_points(const float (*points)[3], uint32_t count, const sac_build_def *def,
                                 sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    SAC_NEED(error, def);
    if (count) SAC_NEED(error, points);
    sac_result result = sac_build_def_check(def, error);
    if (result != SAC_OK) return result;
    if (count == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "give at least one point", "there are no points");
    double(*balls)[4] = sac_alloc(count, sizeof *balls);
    if (!balls) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u points", count);
    for (uint32_t i = 0; i < count && result == SAC_OK; i++) {
        for (int k = 0; k < 3; k++) {
            balls[i][k] = points[i][k];
            if (!(fabsf(points[i][k]) <= SAC_MESH_MOST_COORDINATE))
                result = sac_error_set(error, SAC_ERROR_ARGUMENT, "coordinates must be finite, 1e12 at most",
                                       "point %u is out of range", i);
        }
        balls[i][3] = 0;
    }
    plan p = {(const double(*)[4])balls, def->branch, def->depth, count <= 16384 ? 1024 : 96};
    if (result == SAC_OK) {
        sac_hierarchy h;
        result = sac_hierarchy_grow(&h, count, def, split_points, &p, error);
        if (result == SAC_OK) {
            result = draft_tree(&h, &p, def, out_tree, error);
            sac_hierarchy_fini(&h);
        }
    }
    sac_free(balls, count, sizeof *balls);
    if (result == SAC_OK && def->progress && !def->progress(1, def->user)) {
        sac_tree_destroy(out_tree);
        result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "cancelled");
    }
    return result;
}
