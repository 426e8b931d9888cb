/* A tight hierarchy over given spheres. The leaves are the spheres, bit for bit; every other node is the
 * smallest ball around the given spheres below it. Each given sphere so lies inside all its ancestors, and a
 * complete descent finds exactly the pairs that comparing all leaves with all leaves would. Balls around the
 * children's balls would be NESTED too, but a tenth to a quarter larger on rings and tubes.
 *
 * Depth is the least that has room. From the top: a node's spheres go into as many groups as the branching
 * factor allows, tight ones (grouping.c), sized so that all leaves end within one level of each other. One
 * level above the leaves the number of groups is free, and the one whose groups will be opened least is
 * taken. */
#include "spheretree/grouping_internal.h"

#include "base/parallel.h"

#include <math.h>

typedef struct plan {
    const double (*balls)[4];
    uint32_t branch, depth;
    /* Effort, less for large sets: tries a node, and the most spheres for which moving single ones pays. */
    uint32_t starts, most_improved;
} plan;

static uint64_t power(uint32_t base, uint32_t exponent)
{
    uint64_t p = 1;
    while (exponent-- > 0) p *= base;
    return p;
}

static bool split_spheres(const void *context, const sac_cluster *cluster, uint32_t *items, sac_arena *arena,
                          uint32_t *out_groups, uint32_t *out_sizes)
{
    const plan *p = context;
    uint32_t n = cluster->count, below = p->depth - cluster->level;
    if (n == 1) return true;
    if (n <= p->branch && below <= 2) {
        *out_groups = n;
        for (uint32_t k = 0; k < n; k++) out_sizes[k] = 1;
        return true;
    }
    uint64_t most = power(p->branch, below - 1);
    uint32_t fewest = (uint32_t)((n + most - 1) / most);
    if (fewest < 2) fewest = 2;
    if (n > p->most_improved) {
        *out_groups = p->branch;
        return sac_group_balanced(p->balls, items, n, p->branch, arena, out_sizes);
    }
    /* This many can fork at each level down to the last but one, so that no leaf ends above it. */
    uint32_t least = 1u << (below - 2);
    uint32_t groups = n / least < p->branch ? n / least : p->branch;

    uint32_t *tried = sac_arena_alloc(arena, n, sizeof *tried);
    if (!tried) return false;
    double best = INFINITY;
    for (uint32_t k = below == 2 ? fewest : groups; k <= groups; k++) {
        uint32_t sizes[SAC_TREE_MOST_BRANCH];
        double cost;
        memcpy(tried, items, n * sizeof *items);
        sac_grouping g = {.balls = p->balls,
                          .items = tried,
                          .count = n,
                          .groups = k,
                          .least = least < n / k ? least : n / k,
                          .most = most < n ? (uint32_t)most : n,
                          .starts = fewest < groups && below == 2 ? p->starts / 3 : p->starts,
                          .lone_free = below == 2};
        if (!sac_group_tight(&g, arena, sizes, &cost)) return false;
        if (cost < best * (1 - 1e-9)) {
            best = cost;
            *out_groups = k;
            memcpy(out_sizes, sizes, sizeof sizes);
            memcpy(items, tried, n * sizeof *items);
        }
        /* `items` keeps the best so far; the next try starts from it, which is as good an order as any. */
    }
    return true;
}

/* ---- what a node knows ---- */

typedef struct finish {
    const sac_hierarchy *hierarchy;
    const double (*sorted)[4]; /* the leaf balls in the hierarchy's order */
    double slack;              /* added to the radii of inner nodes */
    sac_draft_node *nodes;
} finish;

/* The most exposed point of a leaf's surface, as far as its siblings tell: out of 32 directions. */
static void leaf_feature(const finish *f, const sac_cluster *cluster, sac_draft_node *node)
{
    enum { DIRECTIONS = 32 };
    const double *ball = f->sorted[cluster->first];
    const sac_cluster *parent =
        cluster->parent == SAC_DRAFT_ROOT ? cluster : &f->hierarchy->clusters.data[cluster->parent];
    double best = -INFINITY;
    for (int i = 0; i < DIRECTIONS; i++) {
        double z = 1 - (2 * i + 1) / (double)DIRECTIONS, ring = sqrt(1 - z * z);
        double turn = i * 2.399963229728653;
        double n[3] = {ring * cos(turn), ring * sin(turn), z}, p[3], away = INFINITY;
        for (int k = 0; k < 3; k++) p[k] = ball[k] + n[k] * ball[3];
        for (uint32_t j = parent->first; j < parent->first + parent->count; j++) {
            const double *other = f->sorted[j];
            if (other == ball) continue;
            double x = p[0] - other[0], y = p[1] - other[1], w = p[2] - other[2];
            away = fmin(away, sqrt(x * x + y * y + w * w) - other[3]);
        }
        if (away > best || i == 0) {
            best = away;
            for (int k = 0; k < 3; k++) node->point[k] = (float)p[k], node->normal[k] = (float)n[k];
        }
    }
}

/* Queries move centres in floats. This much keeps them from losing two leaves that just touch because their
 * parents seem to be apart: a few units in the last place of the largest coordinate. */
static double query_slack(const double (*balls)[4], uint32_t count)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) most = fmax(most, fabs(balls[i][k]) + balls[i][3]);
    return most * 1e-6;
}

static void finish_one(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    finish *f = context;
    const sac_cluster *cluster = &f->hierarchy->clusters.data[item];
    sac_draft_node *node = &f->nodes[item];
    if (cluster->leaf) {
        leaf_feature(f, cluster, node);
        return;
    }
    const double(*below)[4] = f->sorted + cluster->first;
    double ball[4];
    sac_ball_of_balls(below, cluster->count, ball, &ball[3]);
    sac_ball_round(ball, below, cluster->count, f->slack, node->centre, &node->radius);
    for (int k = 0; k < 3; k++) ball[k] = node->centre[k];
    ball[3] = node->radius;
    double gap = sac_union_gap(ball, below, cluster->count, f->hierarchy->count);
    node->gap = nextafterf((float)gap, INFINITY);
}

/* An inner node shows the child's point that lies nearest its own centre. */
static void inner_features(const sac_hierarchy *h, sac_draft_node *nodes)
{
    uint32_t count = (uint32_t)h->clusters.count;
    for (uint32_t i = 0; i < count; i++)
        if (!h->clusters.data[i].leaf) nodes[i].cone = -1; /* no point yet */
    for (uint32_t i = count; i-- > 1;) {
        sac_draft_node *parent = &nodes[h->clusters.data[i].parent];
        double mine = 0, theirs = 0;
        for (int k = 0; k < 3; k++) {
            double a = (double)nodes[i].point[k] - parent->centre[k];
            double b = (double)parent->point[k] - parent->centre[k];
            mine += a * a, theirs += b * b;
        }
        if (parent->cone >= 0 && theirs <= mine) continue;
        memcpy(parent->point, nodes[i].point, sizeof parent->point);
        memcpy(parent->normal, nodes[i].normal, sizeof parent->normal);
        parent->cone = nodes[i].cone;
    }
}

static sac_result check_spheres(const float (*spheres)[4], uint32_t count, const plan *p, sac_error *error)
{
    if (count == 0)
        return sac_error_set(error, SAC_ERROR_EMPTY, "give at least one sphere", "there are no spheres");
    if (power(p->branch, p->depth) < count)
        return sac_error_set(error, SAC_ERROR_LIMIT, "use a larger branching factor",
                             "%u spheres do not fit into %u levels of branch %u", count, SAC_TREE_MOST_DEPTH,
                             p->branch);
    for (uint32_t i = 0; i < count; i++) {
        const float *s = spheres[i];
        for (int k = 0; k < 3; k++)
            if (!(fabsf(s[k]) <= SAC_MESH_MOST_COORDINATE))
                return sac_error_set(error, SAC_ERROR_ARGUMENT, "coordinates must be finite, 1e12 at most",
                                     "the centre of sphere %u is out of range", i);
        if (!(s[3] >= 0 && s[3] <= SAC_MESH_MOST_COORDINATE))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "a radius is 0 to 1e12",
                                 "the radius of sphere %u is out of range", i);
    }
    return SAC_OK;
}

static sac_result draft_tree(const sac_hierarchy *h, const float (*spheres)[4], const double (*balls)[4],
                             const sac_build_def *def, sac_tree **out_tree, sac_error *error)
{
    uint32_t nodes = (uint32_t)h->clusters.count, count = h->count;
    sac_draft draft = {0};
    double(*sorted)[4] = sac_alloc(count, sizeof *sorted);
    sac_result result = SAC_ERROR_MEMORY;
    if (sorted && sac_array_reserve(&draft.nodes, nodes)) {
        draft.nodes.count = nodes;
        for (uint32_t i = 0; i < count; i++) memcpy(sorted[i], balls[h->order[i]], sizeof sorted[i]);
        for (uint32_t i = 0; i < nodes; i++) {
            const sac_cluster *cluster = &h->clusters.data[i];
            draft.nodes.data[i] = (sac_draft_node){.parent = cluster->parent, .cone = SAC_CONE_UNKNOWN};
            if (!cluster->leaf) continue;
            const float *s = spheres[h->order[cluster->first]];
            memcpy(draft.nodes.data[i].centre, s, 3 * sizeof(float));
            draft.nodes.data[i].radius = s[3];
        }
        finish f = {h, (const double(*)[4])sorted, query_slack(balls, count), draft.nodes.data};
        sac_parallel_for(nodes, def->threads, finish_one, &f);
        inner_features(h, draft.nodes.data);

        sac_tree like = {.branch = def->branch, .method = SAC_METHOD_SPHERES, .name = "spheres"};
        like.box = sac_box_empty();
        for (uint32_t i = 0; i < count; i++)
            for (int side = -1; side <= 1; side += 2) {
                const float *s = spheres[i], r = (float)side * s[3];
                sac_box_add(&like.box, (float[3]){s[0] + r, s[1] + r, s[2] + r});
            }
        sac_mass_of_leaf_spheres(spheres, count, &like.mass);
        result = sac_draft_assemble(&draft, &like, out_tree, error);
    } else {
        sac_error_set(error, result, NULL, "no memory for %u spheres", count);
    }
    sac_free(sorted, count, sizeof *sorted);
    sac_array_fini(&draft.nodes);
    return result;
}

sac_result sac_tree_build_spheres(const float (*spheres)[4], uint32_t count, const sac_build_def *def,
                                  sac_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, out_tree);
    *out_tree = NULL;
    SAC_NEED(error, def);
    if (count) SAC_NEED(error, spheres);
    sac_result result = sac_build_def_check(def, error);
    if (result != SAC_OK) return result;
    plan p = {.branch = def->branch,
              .starts = count <= 4096    ? 12
                        : count <= 65536 ? 3
                                         : 0,
              .most_improved = count <= 4096    ? 2048
                               : count <= 65536 ? 512
                                                : 128};
    while (p.depth < SAC_TREE_MOST_DEPTH && power(p.branch, p.depth) < count) p.depth++;
    if ((result = check_spheres(spheres, count, &p, error)) != SAC_OK) return result;

    double(*balls)[4] = sac_alloc(count, sizeof *balls);
    if (!balls) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u spheres", count);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) balls[i][k] = spheres[i][k];
    p.balls = (const double(*)[4])balls;

    sac_hierarchy h;
    result = sac_hierarchy_grow(&h, count, def, split_spheres, &p, error);
    if (result == SAC_OK) {
        result = draft_tree(&h, spheres, p.balls, def, out_tree, error);
        sac_hierarchy_fini(&h);
    }
    sac_free(balls, count, sizeof *balls);
    if (result == SAC_OK && def->progress && !def->progress(1, def->user)) {
        sac_tree_destroy(out_tree);
        result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "cancelled");
    }
    return result;
}
