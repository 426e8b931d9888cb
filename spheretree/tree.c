/* The tree itself: storage, node access, validation. */
#include "spheretree/tree_internal.h"

#include <math.h>
#include <sys/mman.h>

static const char *const method_names[SAC_METHOD_COUNT] = {"medial",  "hubbard", "octree", "grid",
                                                           "spheres", "wrapped", "foreign"};

const char *sac_method_name(sac_method method)
{
    return (unsigned)method < SAC_METHOD_COUNT ? method_names[method] : "unknown";
}

bool sac_method_from_name(const char *name, sac_method *out)
{
    if (!name || !out) return false;
    for (int i = 0; i < SAC_METHOD_COUNT; i++)
        if (strcmp(name, method_names[i]) == 0) {
            *out = (sac_method)i;
            return true;
        }
    return false;
}

static size_t parents_size(uint32_t block_count)
{
    size_t bytes = (size_t)block_count * sizeof(uint32_t);
    return (bytes + SAC_CACHE_LINE - 1) / SAC_CACHE_LINE * SAC_CACHE_LINE;
}

size_t sac_tree_storage_size(uint32_t block_count)
{
    return (size_t)block_count *
               (sizeof(sac_sphere_block) + sizeof(sac_link_block) + sizeof(sac_feature_block)) +
           parents_size(block_count);
}

void sac_tree_storage_bind(sac_tree *tree, void *storage)
{
    unsigned char *at = storage;
    tree->spheres = (const sac_sphere_block *)at;
    at += tree->block_count * sizeof(sac_sphere_block);
    tree->links = (const sac_link_block *)at;
    at += tree->block_count * sizeof(sac_link_block);
    tree->features = (const sac_feature_block *)at;
    at += tree->block_count * sizeof(sac_feature_block);
    tree->parents = (const uint32_t *)at;
}

sac_tree *sac_tree_allocate(const sac_tree *like)
{
    size_t size = sac_tree_storage_size(like->block_count);
    sac_tree *tree = sac_alloc(1, sizeof *tree);
    void *storage = sac_alloc_zero(1, size);
    if (!tree || !storage) {
        sac_free(tree, 1, sizeof *tree);
        sac_free(storage, 1, size);
        return NULL;
    }
    *tree = *like;
    tree->storage = storage;
    tree->storage_size = size;
    tree->storage_mapped = false;
    sac_tree_storage_bind(tree, storage);
    return tree;
}

void sac_tree_destroy(sac_tree **tree)
{
    if (!tree || !*tree) return;
    if ((*tree)->storage_mapped)
        munmap((*tree)->storage, (*tree)->storage_size);
    else
        sac_free((*tree)->storage, 1, (*tree)->storage_size);
    sac_free(*tree, 1, sizeof **tree);
    *tree = NULL;
}

float sac_sphere_reach(const float centre[3], const float child_centre[3], float child_radius)
{
    double x = (double)child_centre[0] - centre[0], y = (double)child_centre[1] - centre[1],
           z = (double)child_centre[2] - centre[2];
    double reach = sqrt(x * x + y * y + z * z) + child_radius;
    float rounded = (float)reach;
    return rounded < reach ? nextafterf(rounded, INFINITY) : rounded;
}

static uint32_t level_of_block(const sac_tree *tree, uint32_t block)
{
    uint32_t level = 0;
    while (block >= tree->level_block[level + 1]) level++;
    return level;
}

bool sac_tree_node(const sac_tree *tree, uint32_t id, sac_tree_node_info *out)
{
    if (!tree || !out) return false;
    uint32_t block = id / SAC_LANES, lane = id % SAC_LANES;
    if (block >= tree->block_count || !sac_tree_has(tree, id)) return false;
    const sac_sphere_block *s = &tree->spheres[block];
    uint32_t link = tree->links[block].link[lane];
    *out = (sac_tree_node_info){
        .centre = {s->x[lane], s->y[lane], s->z[lane]},
        .radius = s->r[lane],
        .gap = s->r[lane],
        .point = {s->x[lane], s->y[lane], s->z[lane]},
        .cone = 4, /* unknown */
        .level = level_of_block(tree, block),
        .leaf = (link & SAC_LINK_LEAF) != 0,
    };
    if (tree->features) {
        const sac_feature_block *f = &tree->features[block];
        out->gap = f->gap[lane], out->cone = f->cone[lane];
        memcpy(out->point, (float[3]){f->px[lane], f->py[lane], f->pz[lane]}, sizeof out->point);
        memcpy(out->normal, (float[3]){f->nx[lane], f->ny[lane], f->nz[lane]}, sizeof out->normal);
    }
    if (!out->leaf)
        for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++)
            out->child_count += sac_tree_has(tree, link * SAC_LANES + k);
    return true;
}

void sac_tree_find_fill(sac_tree *tree)
{
    for (uint32_t level = 0; level <= tree->depth; level++) {
        double sum = 0;
        uint32_t count = 0;
        for (uint32_t id = tree->level_block[level] * SAC_LANES;
             id < tree->level_block[level + 1] * SAC_LANES; id++) {
            uint32_t link = tree->links[id / SAC_LANES].link[id % SAC_LANES];
            float bound = tree->links[id / SAC_LANES].bound[id % SAC_LANES];
            if (!sac_tree_has(tree, id) || (link & SAC_LINK_LEAF) || !(bound > 0)) continue;
            for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++) {
                float r = tree->spheres[link + k / SAC_LANES].r[k % SAC_LANES];
                if (r == r) sum += (double)r / bound, count++;
            }
        }
        tree->level_fill[level] = count ? (float)(sum / count) : 0.0f;
    }
}

/* ---- validation ---- */

static sac_result bad(sac_error *error, uint32_t id, const char *what)
{
    return sac_error_set(error, SAC_ERROR_CORRUPT, "bake the tree again", "node %u: %s", id, what);
}

static sac_result check_shape(const sac_tree *tree, sac_error *error)
{
    const char *remedy = "bake the tree again";
    if (tree->branch < SAC_TREE_LEAST_BRANCH || tree->branch > SAC_TREE_MOST_BRANCH)
        return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "branching factor %u is not 2 to 16",
                             tree->branch);
    if (tree->depth > SAC_TREE_MOST_DEPTH)
        return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "depth %u is beyond %u", tree->depth,
                             SAC_TREE_MOST_DEPTH);
    if (tree->blocks_per_node != (tree->branch > SAC_LANES ? 2u : 1u) || tree->block_count < 1 ||
        tree->block_count > SAC_TREE_MOST_BLOCKS || (unsigned)tree->method >= SAC_METHOD_COUNT ||
        (tree->flags & ~(uint32_t)(SAC_TREE_CLOSED | SAC_TREE_SOLID | SAC_TREE_NESTED)) != 0)
        return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "impossible header");
    if (tree->level_block[0] != 0 || tree->level_block[1] != 1 ||
        tree->level_block[tree->depth + 1] != tree->block_count)
        return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "level table does not match the blocks");
    for (uint32_t level = 1; level <= tree->depth; level++)
        if (tree->level_block[level] >= tree->level_block[level + 1] ||
            (tree->level_block[level + 1] - tree->level_block[level]) % tree->blocks_per_node != 0)
            return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "level %u has no whole blocks", level);
    return SAC_OK;
}

static sac_result check_numbers(const sac_tree *tree, uint32_t id, sac_error *error)
{
    uint32_t b = id / SAC_LANES, k = id % SAC_LANES;
    const sac_sphere_block *s = &tree->spheres[b];
    const sac_feature_block *f = &tree->features[b];
    const float most = 4.0f * SAC_MESH_MOST_COORDINATE;
    if (!(fabsf(s->x[k]) <= most && fabsf(s->y[k]) <= most && fabsf(s->z[k]) <= most))
        return bad(error, id, "centre is not finite or too large");
    if (!(s->r[k] >= 0 && s->r[k] <= most))
        return bad(error, id, "radius is negative, not finite or too large");
    if (!(f->gap[k] >= 0 && f->gap[k] <= 2 * most)) return bad(error, id, "gap is negative or not finite");
    if (!(fabsf(f->px[k]) <= most && fabsf(f->py[k]) <= most && fabsf(f->pz[k]) <= most))
        return bad(error, id, "surface point is not finite");
    float n2 = f->nx[k] * f->nx[k] + f->ny[k] * f->ny[k] + f->nz[k] * f->nz[k];
    if (!(n2 == 0 || fabsf(n2 - 1) < 1e-3f)) return bad(error, id, "normal is neither unit nor zero");
    if (!(f->cone[k] >= 0 && f->cone[k] <= 3.1415930f)) return bad(error, id, "cone angle is not 0 to pi");
    return SAC_OK;
}

/* A node's children: blocks of the next level that name it as parent, and a bound that holds them. */
static sac_result check_children(const sac_tree *tree, uint32_t id, uint32_t level, uint32_t *expected,
                                 sac_error *error)
{
    uint32_t b = id / SAC_LANES, k = id % SAC_LANES, link = tree->links[b].link[k];
    float bound = tree->links[b].bound[k];
    const sac_sphere_block *s = &tree->spheres[b];
    if (link & SAC_LINK_LEAF) {
        if (link != (SAC_LINK_LEAF | id)) return bad(error, id, "leaf link names another node");
        return bound == s->r[k] ? SAC_OK : bad(error, id, "leaf bound is not its radius");
    }
    /* Breadth-first order leaves only one place where the next node's children can be. */
    if (level >= tree->depth || link != *expected ||
        link + tree->blocks_per_node > tree->level_block[level + 2])
        return bad(error, id, "children are not where they must be");
    *expected += tree->blocks_per_node;
    float centre[3] = {s->x[k], s->y[k], s->z[k]}, needed = 0;
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < tree->blocks_per_node * SAC_LANES; lane++) {
        uint32_t child = link * SAC_LANES + lane;
        if (!sac_tree_has(tree, child)) continue;
        const sac_sphere_block *c = &tree->spheres[child / SAC_LANES];
        uint32_t j = child % SAC_LANES;
        if (lane != count++) return bad(error, id, "children are not packed to the front");
        needed = fmaxf(needed, sac_sphere_reach(centre, (float[3]){c->x[j], c->y[j], c->z[j]}, c->r[j]));
    }
    if (count == 0 || count > tree->branch)
        return bad(error, id, "has no child or more than the branching factor");
    if (!(bound >= needed && bound <= needed * 1.001f + 1e-30f))
        return bad(error, id, "bound does not fit its children");
    if ((tree->flags & SAC_TREE_NESTED) && !(bound <= s->r[k] * SAC_NESTED_SLACK))
        return bad(error, id, "children leave the sphere of a tree that says they are nested");
    for (uint32_t i = 0; i < tree->blocks_per_node; i++)
        if (tree->parents[link + i] != id) return bad(error, id, "children name another parent");
    return SAC_OK;
}

/* All lanes of one level. `expected` is the block where the next node's children must be. */
static sac_result check_level(const sac_tree *tree, uint32_t level, uint32_t *expected, uint32_t *leaves,
                              uint32_t *out_node, sac_error *error)
{
    /* Without this a childless level would let the next one link back into itself. */
    if (*expected != tree->level_block[level + 1])
        return sac_error_set(error, SAC_ERROR_CORRUPT, "bake the tree again",
                             "level %u does not start where its parents say", level + 1);
    uint32_t in_level = 0, end = tree->level_block[level + 1] * SAC_LANES;
    for (uint32_t id = tree->level_block[level] * SAC_LANES; id < end; id++) {
        const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
        uint32_t lane = id % SAC_LANES;
        *out_node = id;
        if (!sac_tree_has(tree, id)) {
            /* All four must say so, or a comparison somewhere would take the lane for a node. */
            if (!isnan(s->x[lane]) || !isnan(s->y[lane]) || !isnan(s->z[lane]) ||
                tree->links[id / SAC_LANES].link[lane] != 0)
                return bad(error, id, "lane is neither a node nor empty");
            continue;
        }
        if (level == 0 && lane > 0) return bad(error, id, "a second root");
        in_level++;
        *leaves += (tree->links[id / SAC_LANES].link[lane] & SAC_LINK_LEAF) != 0;
        sac_result result = check_numbers(tree, id, error);
        if (result == SAC_OK) result = check_children(tree, id, level, expected, error);
        if (result != SAC_OK) return result;
    }
    *out_node = SAC_NO_NODE;
    if (in_level != tree->level_nodes[level] || in_level == 0)
        return sac_error_set(error, SAC_ERROR_CORRUPT, "bake the tree again", "level %u has %u nodes, not %u",
                             level, in_level, tree->level_nodes[level]);
    return SAC_OK;
}

static sac_result check_object(const sac_tree *tree, sac_error *error)
{
    const sac_mass *m = &tree->mass;
    const char *remedy = "bake the tree again";
    for (int i = 0; i < 6; i++)
        if (!isfinite(m->inertia[i]))
            return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "inertia is not finite");
    if (!isfinite(m->volume) || m->volume < 0 || !sac_vec3_is_finite(m->centre))
        return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "mass is not finite or negative");
    for (int i = 0; i < 3; i++)
        if (!(isfinite(tree->box.low[i]) && isfinite(tree->box.high[i]) &&
              tree->box.low[i] <= tree->box.high[i]))
            return sac_error_set(error, SAC_ERROR_CORRUPT, remedy, "box is not finite or inside out");
    return SAC_OK;
}

sac_result sac_tree_find_fault(const sac_tree *tree, uint32_t *out_node, sac_error *error)
{
    *out_node = SAC_NO_NODE;
    sac_result result = check_shape(tree, error);
    uint32_t nodes = 0, leaves = 0, expected = 1;
    for (uint32_t level = 0; result == SAC_OK && level <= tree->depth; level++) {
        result = check_level(tree, level, &expected, &leaves, out_node, error);
        nodes += tree->level_nodes[level];
    }
    if (result != SAC_OK) return result;
    if (expected != tree->block_count || nodes != tree->node_count || leaves != tree->leaf_count ||
        tree->parents[0] != 0)
        return sac_error_set(error, SAC_ERROR_CORRUPT, "bake the tree again", "node counts do not add up");
    return check_object(tree, error);
}

sac_result sac_tree_validate(const sac_tree *tree, sac_error *error)
{
    SAC_NEED(error, tree);
    uint32_t node;
    return sac_tree_find_fault(tree, &node, error);
}
