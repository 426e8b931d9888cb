/* Building the hierarchy over the rest points: halved three times along the longest side, so that all
 * children of a node hold the same number of points, down to leaves of a few. */
#include "deform/soft_tree_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

sac_soft_tree_def sac_default_soft_tree_def(void)
{
    return (sac_soft_tree_def){.leaf_points = 4, .bound = SAC_SOFT_BOUND_LOCAL};
}

/* Close to the smallest ball: from the middle of the box towards the farthest point, by ever smaller shares
 * (Badoiu and Clarkson). Any centre is a valid one; the radius is taken for the centre as it is stored. */
static void ball_centre(const double (*q)[3], uint32_t count, double c[3])
{
    double low[3], high[3];
    for (int k = 0; k < 3; k++) low[k] = high[k] = q[0][k];
    for (uint32_t i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            if (q[i][k] < low[k]) low[k] = q[i][k];
            if (q[i][k] > high[k]) high[k] = q[i][k];
        }
    for (int k = 0; k < 3; k++) c[k] = (low[k] + high[k]) / 2;
    double best = INFINITY, found[3] = {c[0], c[1], c[2]};
    int turns = count < 2 ? 1 : count < 1000 ? 160 : 60;
    for (int turn = 0; turn < turns; turn++) {
        double most = -1;
        uint32_t far = 0;
        for (uint32_t i = 0; i < count; i++) {
            double x = q[i][0] - c[0], y = q[i][1] - c[1], z = q[i][2] - c[2], d = x * x + y * y + z * z;
            if (d > most) most = d, far = i;
        }
        if (most < best) {
            best = most;
            for (int k = 0; k < 3; k++) found[k] = c[k];
        }
        for (int k = 0; k < 3; k++) c[k] += (q[far][k] - c[k]) / (turn + 3);
    }
    for (int k = 0; k < 3; k++) c[k] = found[k];
}

static float above(double x) { return (float)(x * (1 + 2e-7)); }

void sac_soft_rest_fit(const double (*q)[3], uint32_t count, sac_soft_rest_block *block, uint32_t lane)
{
    double c[3], most[5] = {0};
    ball_centre(q, count, c);
    block->x[lane] = (float)c[0], block->y[lane] = (float)c[1], block->z[lane] = (float)c[2];
    c[0] = block->x[lane], c[1] = block->y[lane], c[2] = block->z[lane];
    for (uint32_t i = 0; i < count; i++) {
        double sum[5] = {0}, d[3];
        for (int k = 0; k < 3; k++) d[k] = q[i][k] - c[k];
        for (int k = 0; k < 3; k++) {
            int n = (k + 1) % 3;
            double terms[5] = {d[k], d[k] * d[k], d[k] * d[n], q[i][k] * q[i][k] - c[k] * c[k],
                               q[i][k] * q[i][n] - c[k] * c[n]};
            for (int t = 0; t < 5; t++) sum[t] += terms[t] * terms[t];
        }
        for (int t = 0; t < 5; t++) most[t] = sum[t] > most[t] ? sum[t] : most[t];
    }
    float *out[5] = {block->r, block->near_square, block->near_mixed, block->far_square, block->far_mixed};
    for (int t = 0; t < 5; t++) out[t][lane] = above(sqrt(most[t]));
}

typedef struct node {
    sac_soft_range range;
    uint32_t cluster, last; /* clusters [cluster, last) */
    uint32_t id, level;
} node;

typedef struct building {
    sac_soft_tree *tree;
    const sac_soft_model *model;
    uint32_t *cluster_first;
    sac_array(node) nodes;
    sac_array(sac_link_block) links;
    sac_array(uint32_t) parents;
    double (*q)[3];
    uint32_t *place; /* of each point in `order`; with triangles only */
} building;

/* The model has its points in this order. */
static void halve(sac_soft_range range, uint32_t parts, node *out, uint32_t *count)
{
    if (parts == 1 || range.count <= 1) {
        out[(*count)++].range = range;
        return;
    }
    uint32_t left = range.count / 2;
    halve((sac_soft_range){range.first, left}, parts / 2, out, count);
    halve((sac_soft_range){range.first + left, range.count - left}, parts / 2, out, count);
}

/* Children of a node: clusters, or groups of clusters, or an eighth of its points each. */
static uint32_t split(building *b, const node *of, node children[8])
{
    uint32_t spans = of->last - of->cluster, count = 0;
    if (spans == 1) {
        uint32_t fan = b->tree->def.fan[of->level], few = b->tree->def.leaf_points;
        if (!fan) /* no more children than make leaves full */
            for (fan = 8; fan > 2 && (of->range.count + fan / 2 - 1) / (fan / 2) <= few;) fan /= 2;
        halve(of->range, fan, children, &count);
        for (uint32_t i = 0; i < count; i++) children[i].cluster = of->cluster, children[i].last = of->last;
        return count;
    }
    count = spans < 8 ? spans : 8;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = of->cluster + (uint32_t)((uint64_t)spans * i / count);
        uint32_t last = of->cluster + (uint32_t)((uint64_t)spans * (i + 1) / count);
        children[i].cluster = first, children[i].last = last;
        children[i].range =
            (sac_soft_range){b->cluster_first[first], b->cluster_first[last] - b->cluster_first[first]};
    }
    return count;
}

static bool grow(building *b)
{
    sac_soft_tree *tree = b->tree;
    if (!sac_array_push(&b->nodes, (node){.range = {0, b->model->count}, .last = b->model->cluster_count}) ||
        !sac_array_push(&b->links, (sac_link_block){{0}, {0}}) || !sac_array_push(&b->parents, 0))
        return false;
    uint32_t most_depth = tree->def.most_depth ? tree->def.most_depth : SAC_TREE_MOST_DEPTH;
    tree->level_block[0] = 0, tree->level_block[1] = 1;
    for (uint32_t i = 0; i < b->nodes.count; i++) {
        node of = b->nodes.data[i], children[8];
        uint32_t *link = &b->links.data[of.id / 8].link[of.id % 8];
        bool leaf = of.last - of.cluster == 1 && of.range.count <= tree->def.leaf_points;
        if (leaf || of.level == most_depth) {
            *link = of.id | SAC_LINK_LEAF;
            tree->leaf_count++;
            continue;
        }
        uint32_t block = *link = (uint32_t)b->links.count, count = split(b, &of, children);
        if (!sac_array_push(&b->links, (sac_link_block){{0}, {0}}) || !sac_array_push(&b->parents, of.id))
            return false;
        for (uint32_t k = 0; k < count; k++) {
            children[k].id = block * 8 + k, children[k].level = of.level + 1;
            if (!sac_array_push(&b->nodes, children[k])) return false;
        }
        tree->depth = of.level + 1;
        tree->level_block[tree->depth + 1] = block + 1;
    }
    tree->node_count = (uint32_t)b->nodes.count;
    tree->block_count = (uint32_t)b->links.count;
    return true;
}

/* Mean normals of the nodes, for those whose points agree. */
static bool fill_normals(building *b, const uint32_t *order, const sac_soft_range *range,
                         const uint32_t *lane_cluster, const sac_soft_rest_block *rest)
{
    const float(*given)[3] = b->tree->def.normals;
    if (!given) return true;
    size_t lanes = (size_t)b->tree->block_count * 8;
    float(*out)[3] = sac_arena_alloc(&b->tree->arena, lanes, sizeof *out);
    float(*facing)[3] = sac_arena_alloc(&b->tree->arena, lanes, sizeof *facing);
    float *bulge = sac_arena_alloc(&b->tree->arena, lanes, sizeof *bulge);
    float *thick = sac_arena_alloc(&b->tree->arena, lanes, sizeof *thick);
    if (!out || !facing || !bulge || !thick) return false;
    const sac_soft_model *m = b->model;
    const float agree = 0.9394f; /* cos(SAC_CONTACT_CONE) */
    for (size_t id = 0; id < lanes; id++) {
        double sum[3] = {0}, length = 0;
        for (uint32_t i = range[id].first; i < range[id].first + range[id].count; i++)
            for (int k = 0; k < 3; k++) sum[k] += given[m->name[order[i]]][k];
        for (int k = 0; k < 3; k++) length += sum[k] * sum[k];
        length = sqrt(length);
        bool known = length > 0;
        for (int k = 0; k < 3; k++) {
            out[id][k] = known ? (float)(sum[k] / length) : 0;
            facing[id][k] = length > 0.3 * range[id].count ? out[id][k] : 0;
        }
        for (uint32_t i = range[id].first; known && i < range[id].first + range[id].count; i++) {
            const float *n = given[m->name[order[i]]];
            known = n[0] * out[id][0] + n[1] * out[id][1] + n[2] * out[id][2] >= agree;
        }
        if (!known) out[id][0] = out[id][1] = out[id][2] = 0;
        bulge[id] = FLT_MAX;
        thick[id] = rest[id / 8].r[id % 8];
        if (lane_cluster[id] == SAC_SOFT_SPANS) continue;
        const float *centre = m->clusters[lane_cluster[id]].rest_centre, *f = facing[id];
        float c[3] = {rest[id / 8].x[id % 8] + centre[0], rest[id / 8].y[id % 8] + centre[1],
                      rest[id / 8].z[id % 8] + centre[2]},
              most = -FLT_MAX, back = FLT_MAX, least = 1;
        for (uint32_t i = range[id].first; i < range[id].first + range[id].count; i++) {
            const float *n = given[m->name[order[i]]];
            uint32_t p = order[i];
            float along = n[0] * f[0] + n[1] * f[1] + n[2] * f[2];
            float d = (m->x[p] - c[0]) * f[0] + (m->y[p] - c[1]) * f[1] + (m->z[p] - c[2]) * f[2];
            least = along < least ? along : least, most = d > most ? d : most;
            back = d < back ? d : back;
        }
        if ((f[0] != 0 || f[1] != 0 || f[2] != 0) && most - back < thick[id]) thick[id] = most - back;
        if (least > 0.9f) bulge[id] = most;
    }
    b->tree->normal = (const float(*)[3])out, b->tree->facing = (const float(*)[3])facing;
    b->tree->bulge = bulge, b->tree->thick = thick;
    return true;
}

/* Whether a cluster's map bounds a point: those beyond its overlap it knows nothing about. */
static bool member(const sac_soft_model *m, uint32_t cluster, uint32_t point)
{
    const sac_soft_cluster *c = &m->clusters[cluster];
    uint32_t low = 0, high = c->count; /* ascending */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (m->point[c->first + middle] < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->count && m->point[c->first + low] == point;
}

/* Gives each triangle to its first corner whose cluster knows all three, and orders them as the points are.
 */
static bool fill_triangles(building *b, const uint32_t *order)
{
    sac_soft_tree *tree = b->tree;
    const sac_soft_model *m = b->model;
    uint32_t points = m->count, count = tree->def.triangle_count;
    if (!count) return true;
    uint32_t(*triangles)[3] = sac_arena_alloc(&tree->arena, count, sizeof *triangles);
    uint32_t *first = sac_arena_alloc(&tree->arena, (size_t)points + 2, sizeof *first);
    uint32_t *at = sac_arena_alloc(&tree->arena, count, sizeof *at);
    b->place = sac_arena_alloc(&tree->arena, points, sizeof *b->place);
    if (!triangles || !first || !at || !b->place) return false;
    for (uint32_t i = 0; i < count * 3; i++)
        triangles[i / 3][i % 3] = m->place[tree->def.triangles[i / 3][i % 3]];
    memset(first, 0, ((size_t)points + 2) * sizeof *first);
    for (uint32_t i = 0; i < points; i++) b->place[order[i]] = i;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t t = 0; t < count; t++) {
            int owner = 0;
            for (int k = 2; k >= 0; k--) {
                uint32_t home = m->home[triangles[t][k]];
                bool all = true;
                for (int l = 0; l < 3; l++) all = all && (l == k || member(m, home, triangles[t][l]));
                if (all) owner = k;
            }
            uint32_t place = b->place[triangles[t][owner]];
            if (pass)
                at[first[place + 1]++] = t;
            else
                first[place + 2]++;
        }
        for (uint32_t i = 0; i < points && !pass; i++) first[i + 2] += first[i + 1];
    }
    tree->triangles = (const uint32_t(*)[3])triangles, tree->triangle_count = count;
    tree->triangle_first = first, tree->triangle_at = at;
    return true;
}

/* Points a node's sphere must hold, relative to the centre of its cluster: in float, as the slots have it,
 * because goals are made from these. */
static uint32_t contents(building *b, const uint32_t *order, const node *n)
{
    const sac_soft_model *m = b->model;
    const sac_soft_tree *tree = b->tree;
    const float *centre = m->clusters[n->cluster].rest_centre;
    uint32_t end = n->range.first + n->range.count, count = n->range.count, corners = 0;
    if (tree->triangles) corners = (tree->triangle_first[end] - tree->triangle_first[n->range.first]) * 3;
    for (uint32_t k = 0; k < n->range.count + corners; k++) {
        uint32_t p, to = k;
        if (k < n->range.count) {
            p = order[n->range.first + k];
        } else {
            uint32_t i = k - n->range.count;
            p = tree->triangles[tree->triangle_at[tree->triangle_first[n->range.first] + i / 3]][i % 3];
            if (b->place[p] >= n->range.first && b->place[p] < end) continue;
            to = count++;
        }
        b->q[to][0] = m->x[p] - centre[0], b->q[to][1] = m->y[p] - centre[1],
        b->q[to][2] = m->z[p] - centre[2];
    }
    return count;
}

/* The points of small nodes and the corners of their triangles, each once. */
static bool fill_held(building *b, const uint32_t *order, const sac_soft_range *range)
{
    sac_soft_tree *tree = b->tree;
    size_t lanes = (size_t)tree->block_count * 8;
    sac_array(uint32_t) all = {0};
    uint32_t *first = sac_arena_alloc(&tree->arena, lanes + 1, sizeof *first), *held = NULL;
    bool ok = first != NULL;
    for (size_t id = 0; id < lanes && ok; id++) {
        sac_soft_range r = range[id];
        size_t start = all.count;
        first[id] = (uint32_t)start;
        if (r.count > SAC_SOFT_LOOKED_AT) continue;
        for (uint32_t i = r.first; i < r.first + r.count && ok; i++) ok = sac_array_push(&all, order[i]);
        uint32_t last = tree->triangles ? 3 * tree->triangle_first[r.first + r.count] : 0;
        for (uint32_t i = tree->triangles ? 3 * tree->triangle_first[r.first] : 0; i < last && ok; i++) {
            uint32_t p = tree->triangles[tree->triangle_at[i / 3]][i % 3];
            bool there = false;
            for (size_t k = start; k < all.count && !there; k++) there = all.data[k] == p;
            if (!there) ok = sac_array_push(&all, p);
        }
    }
    if (ok) {
        first[lanes] = (uint32_t)all.count;
        held = sac_arena_alloc(&tree->arena, all.count + 1, sizeof *held);
        ok = held != NULL;
    }
    if (ok && all.count) memcpy(held, all.data, all.count * sizeof *held);
    sac_array_fini(&all);
    tree->held_first = first, tree->held = held;
    return ok;
}

/* Rims of the blocks that have nodes too large to be looked at. */
static bool fill_rims(building *b, const uint32_t *order, const sac_soft_range *range,
                      const uint32_t *lane_cluster, const sac_soft_rest_block *rest)
{
    sac_soft_tree *tree = b->tree;
    const sac_soft_def *def = &b->model->def;
    bool stiff = def->mode == SAC_SOFT_RIGID && !(def->creep > 0); /* its spheres turn, nothing else */
    uint32_t blocks = tree->block_count, count = 0;
    uint32_t *at = sac_arena_alloc(&tree->arena, blocks, sizeof *at);
    if (!at) return false;
    for (uint32_t i = 0; i < blocks; i++) {
        at[i] = SAC_SOFT_NO_RIM;
        for (uint32_t id = i * 8; id < i * 8 + 8 && at[i] == SAC_SOFT_NO_RIM; id++)
            if (!stiff && range[id].count > SAC_SOFT_LOOKED_AT && lane_cluster[id] != SAC_SOFT_SPANS)
                at[i] = count++;
    }
    sac_soft_rim_block *rims = sac_arena_alloc(&tree->arena, count + 1, sizeof *rims);
    if (!rims) return false;
    memset(rims, 0, (count + 1) * sizeof *rims);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const node *n = &b->nodes.data[i];
        if (at[n->id / 8] == SAC_SOFT_NO_RIM || lane_cluster[n->id] == SAC_SOFT_SPANS) continue;
        sac_soft_rim_block *out = &rims[at[n->id / 8]];
        sac_soft_rim_fit((const double(*)[3])b->q, contents(b, order, n), def->mode == SAC_SOFT_QUADRATIC,
                         &rest[n->id / 8], n->id % 8, out);
        if (n->id % 8 >= out->lanes) out->lanes = n->id % 8 + 1;
    }
    tree->rims = rims, tree->rim_at = at;
    return true;
}

static bool fill(building *b)
{
    sac_soft_tree *tree = b->tree;
    const sac_soft_model *m = b->model;
    uint32_t blocks = tree->block_count;
    sac_link_block *links = sac_arena_alloc(&tree->arena, blocks, sizeof *links);
    uint32_t *parents = sac_arena_alloc(&tree->arena, blocks, sizeof *parents);
    uint32_t *cluster = sac_arena_alloc(&tree->arena, blocks, sizeof *cluster);
    uint32_t *lane_cluster = sac_arena_alloc(&tree->arena, (size_t)blocks * 8, sizeof *lane_cluster);
    sac_soft_range *range = sac_arena_alloc(&tree->arena, (size_t)blocks * 8, sizeof *range);
    uint32_t *order = sac_arena_alloc(&tree->arena, m->count, sizeof *order);
    uint32_t *leaf = sac_arena_alloc(&tree->arena, m->count, sizeof *leaf);
    sac_soft_rest_block *rest = sac_arena_alloc(&tree->arena, blocks, sizeof *rest);
    if (!links || !parents || !cluster || !lane_cluster || !range || !order || !leaf || !rest) return false;
    memcpy(links, b->links.data, blocks * sizeof *links);
    /* Where children will be is not known before they are refitted: nothing is culled by it. */
    for (uint32_t i = 0; i < blocks; i++)
        for (int k = 0; k < 8; k++) links[i].bound[k] = 1e18f;
    memcpy(parents, b->parents.data, blocks * sizeof *parents);
    memset(range, 0, (size_t)blocks * 8 * sizeof *range);
    for (uint32_t i = 0; i < m->count; i++) order[i] = i;
    if (!fill_triangles(b, order)) return false;
    float *lanes = (float *)rest;
    for (size_t i = 0; i < (size_t)blocks * sizeof *rest / sizeof(float); i++) lanes[i] = NAN;
    for (uint32_t i = 0; i < blocks * 8; i++) lane_cluster[i] = SAC_SOFT_SPANS;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        const node *n = &b->nodes.data[i];
        range[n->id] = n->range;
        for (uint32_t k = 0; k < n->range.count; k++) /* children come later */
            leaf[order[n->range.first + k]] = n->id;
        if (n->last - n->cluster > 1) continue;
        lane_cluster[n->id] = n->cluster;
        uint32_t count = contents(b, order, n);
        sac_soft_rest_fit((const double(*)[3])b->q, count, &rest[n->id / 8], n->id % 8);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        cluster[i] = lane_cluster[i * 8];
        for (uint32_t k = 1; k < 8 && range[i * 8 + k].count; k++)
            if (lane_cluster[i * 8 + k] != cluster[i]) cluster[i] = SAC_SOFT_SPANS;
    }
    tree->links = links, tree->parents = parents, tree->cluster = cluster, tree->lane_cluster = lane_cluster;
    tree->range = range, tree->order = order, tree->leaf = leaf, tree->rest = rest;
    return fill_held(b, order, range) && fill_rims(b, order, range, lane_cluster, rest) &&
           fill_normals(b, order, range, lane_cluster, rest);
}

static bool build(building *b)
{
    const sac_soft_model *m = b->model;
    uint32_t n = m->cluster_count;
    b->q = sac_alloc(m->count + 3 * (size_t)b->tree->def.triangle_count, sizeof *b->q);
    b->cluster_first = sac_alloc_zero(n + 1, sizeof *b->cluster_first);
    if (!b->q || !b->cluster_first) return false;
    for (uint32_t i = 0; i < m->count; i++) b->cluster_first[m->home[i] + 1]++;
    for (uint32_t c = 0; c < n; c++) b->cluster_first[c + 1] += b->cluster_first[c];
    return grow(b) && fill(b);
}

sac_result sac_soft_tree_create(const sac_soft_model *model, const sac_soft_tree_def *def,
                                sac_soft_tree **out_tree, sac_error *error)
{
    SAC_NEED(error, model, def, out_tree);
    if (def->leaf_points < 1 || def->leaf_points > 1000000 || (unsigned)def->bound > SAC_SOFT_BOUND_WHOLE)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_soft_tree_def()",
                             "leaves of %u points with bound %d", def->leaf_points, (int)def->bound);
    bool wrong = def->most_depth > SAC_TREE_MOST_DEPTH;
    for (uint32_t i = 0; i < SAC_TREE_MOST_DEPTH; i++)
        wrong = wrong || (def->fan[i] != 0 && def->fan[i] != 2 && def->fan[i] != 4 && def->fan[i] != 8);
    if (wrong)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "fans are 2, 4 or 8, depth at most 12",
                             "a hierarchy cannot have this shape");
    for (uint32_t i = 0; i < def->triangle_count * 3; i++)
        if (def->triangles[i / 3][i % 3] >= model->count)
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "triangle %u has point %u of %u", i / 3,
                                 def->triangles[i / 3][i % 3], model->count);
    sac_soft_tree *tree = sac_alloc_zero(1, sizeof *tree);
    if (!tree) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a hierarchy");
    tree->model = model;
    tree->def = *def;
    sac_arena_init(&tree->arena);
    building b = {.tree = tree, .model = model};
    bool ok = build(&b);
    tree->def.normals = NULL, tree->def.triangles = NULL; /* the caller's */
    sac_free(b.q, model->count + 3 * (size_t)def->triangle_count, sizeof *b.q);
    sac_free(b.cluster_first, model->cluster_count + 1, sizeof *b.cluster_first);
    sac_array_fini(&b.nodes), sac_array_fini(&b.links), sac_array_fini(&b.parents);
    if (!ok) sac_soft_tree_destroy(&tree);
    *out_tree = tree;
    return ok ? SAC_OK
              : sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for a hierarchy of %u points",
                              model->count);
}

void sac_soft_tree_destroy(sac_soft_tree **tree)
{
    if (!tree || !*tree) return;
    sac_arena_fini(&(*tree)->arena);
    sac_free(*tree, 1, sizeof **tree);
    *tree = NULL;
}
