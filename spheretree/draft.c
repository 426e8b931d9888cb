/* From a draft (a list of nodes with parents) to the blocks queries run on. */
#include "spheretree/build_internal.h"
#include "spheretree/tree_internal.h"

#include <math.h>

/* By draft index: level, and the node's children as list[first .. first + count). */
typedef struct family {
    uint32_t *level, *first, *count, *list, *id;
} family;

static sac_result family_fill(family *f, const sac_draft *draft, uint32_t branch, uint32_t *out_depth,
                              sac_error *error)
{
    const sac_draft_node *nodes = draft->nodes.data;
    size_t n = draft->nodes.count;
    *out_depth = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = nodes[i].parent;
        if ((i == 0) != (parent == SAC_DRAFT_ROOT) || (i > 0 && parent >= i))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "node %zu has no parent before it", i);
        if (i == 0) continue;
        f->level[i] = f->level[parent] + 1;
        if (f->level[i] > SAC_TREE_MOST_DEPTH)
            return sac_error_set(error, SAC_ERROR_LIMIT, "use a larger branching factor or fewer levels",
                                 "the tree is deeper than %u levels", SAC_TREE_MOST_DEPTH);
        if (++f->count[parent] > branch)
            return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "node %u has more than %u children", parent,
                                 branch);
        if (f->level[i] > *out_depth) *out_depth = f->level[i];
    }
    for (size_t i = 0, next = 0; i < n; i++) {
        f->first[i] = (uint32_t)next;
        next += f->count[i];
        f->count[i] = 0;
    }
    for (size_t i = 1; i < n; i++) {
        uint32_t parent = nodes[i].parent;
        f->list[f->first[parent] + f->count[parent]++] = (uint32_t)i;
    }
    return SAC_OK;
}

/* Give every node its id, breadth first; returns the number of blocks. */
static uint32_t number_nodes(const family *f, uint32_t *queue, size_t n, sac_tree *tree)
{
    uint32_t block = 1, tail = 1, level = 0;
    queue[0] = 0;
    f->id[0] = 0;
    tree->level_block[0] = 0;
    tree->level_block[1] = 1;
    tree->level_nodes[0] = 1;
    for (uint32_t head = 0; head < n; head++) {
        uint32_t node = queue[head];
        /* The first node of a level opens the next level's blocks. */
        if (f->level[node] > level) tree->level_block[++level + 1] = block;
        if (f->count[node] == 0) {
            tree->leaf_count++;
            continue;
        }
        for (uint32_t k = 0; k < f->count[node]; k++) {
            uint32_t child = f->list[f->first[node] + k];
            f->id[child] = block * SAC_LANES + k;
            queue[tail++] = child;
        }
        tree->level_nodes[f->level[node] + 1] += f->count[node];
        block += tree->blocks_per_node;
    }
    return block;
}

static void write_node(sac_sphere_block *spheres, sac_feature_block *features, uint32_t id,
                       const sac_draft_node *d)
{
    sac_sphere_block *s = &spheres[id / SAC_LANES];
    sac_feature_block *f = &features[id / SAC_LANES];
    uint32_t lane = id % SAC_LANES;
    s->x[lane] = d->centre[0], s->y[lane] = d->centre[1], s->z[lane] = d->centre[2], s->r[lane] = d->radius;
    f->gap[lane] = d->gap, f->cone[lane] = d->cone;
    f->px[lane] = d->point[0], f->py[lane] = d->point[1], f->pz[lane] = d->point[2];
    f->nx[lane] = d->normal[0], f->ny[lane] = d->normal[1], f->nz[lane] = d->normal[2];
}

static void write_blocks(const sac_draft *draft, const family *f, sac_tree *tree)
{
    /* The storage is ours and writable until the tree is handed out. */
    sac_sphere_block *spheres = (sac_sphere_block *)(uintptr_t)tree->spheres;
    sac_link_block *links = (sac_link_block *)(uintptr_t)tree->links;
    sac_feature_block *features = (sac_feature_block *)(uintptr_t)tree->features;
    uint32_t *parents = (uint32_t *)(uintptr_t)tree->parents;
    for (uint32_t b = 0; b < tree->block_count; b++)
        for (uint32_t lane = 0; lane < SAC_LANES; lane++)
            spheres[b].x[lane] = spheres[b].y[lane] = spheres[b].z[lane] = spheres[b].r[lane] = NAN;

    bool nested = true;
    for (size_t i = 0; i < draft->nodes.count; i++) {
        const sac_draft_node *node = &draft->nodes.data[i];
        uint32_t id = f->id[i], lane = id % SAC_LANES;
        sac_link_block *link = &links[id / SAC_LANES];
        write_node(spheres, features, id, node);
        if (f->count[i] == 0) {
            link->link[lane] = SAC_LINK_LEAF | id;
            link->bound[lane] = node->radius;
            continue;
        }
        uint32_t first = f->id[f->list[f->first[i]]] / SAC_LANES;
        link->link[lane] = first;
        for (uint32_t b = 0; b < tree->blocks_per_node; b++) parents[first + b] = id;
        float bound = 0;
        for (uint32_t k = 0; k < f->count[i]; k++) {
            const sac_draft_node *child = &draft->nodes.data[f->list[f->first[i] + k]];
            bound = fmaxf(bound, sac_sphere_reach(node->centre, child->centre, child->radius));
        }
        link->bound[lane] = bound;
        nested = nested && bound <= node->radius * SAC_NESTED_SLACK;
    }
    if (nested)
        tree->flags |= SAC_TREE_NESTED;
    else
        tree->flags &= ~(uint32_t)SAC_TREE_NESTED;
}

sac_result sac_draft_assemble(const sac_draft *draft, const sac_tree *like, sac_tree **out_tree,
                              sac_error *error)
{
    *out_tree = NULL;
    size_t n = draft->nodes.count;
    if (n == 0) return sac_error_set(error, SAC_ERROR_EMPTY, NULL, "a tree without nodes");
    if (n > (size_t)SAC_TREE_MOST_BLOCKS / 2)
        return sac_error_set(error, SAC_ERROR_LIMIT, "use fewer levels", "%zu nodes are too many", n);
    if (like->branch < SAC_TREE_LEAST_BRANCH || like->branch > SAC_TREE_MOST_BRANCH)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose 2 to 16", "branching factor %u",
                             like->branch);

    sac_arena arena;
    sac_arena_init(&arena);
    uint32_t *arrays = sac_arena_alloc(&arena, n * 6, sizeof *arrays);
    sac_result result = SAC_ERROR_MEMORY;
    if (arrays) {
        memset(arrays, 0, n * 6 * sizeof *arrays);
        family f = {arrays, arrays + n, arrays + 2 * n, arrays + 3 * n, arrays + 4 * n};
        sac_tree shape = *like;
        shape.blocks_per_node = like->branch > SAC_LANES ? 2 : 1;
        shape.node_count = (uint32_t)n;
        shape.leaf_count = 0;
        memset(shape.level_block, 0, sizeof shape.level_block);
        memset(shape.level_nodes, 0, sizeof shape.level_nodes);
        result = family_fill(&f, draft, like->branch, &shape.depth, error);
        if (result == SAC_OK) {
            shape.block_count = number_nodes(&f, arrays + 5 * n, n, &shape);
            shape.level_block[shape.depth + 1] = shape.block_count;
            sac_tree *tree = sac_tree_allocate(&shape);
            if (tree) {
                write_blocks(draft, &f, tree);
                result = sac_tree_validate(tree, error);
                if (result == SAC_OK)
                    sac_tree_find_fill(tree), *out_tree = tree;
                else
                    sac_tree_destroy(&tree);
            } else {
                result = SAC_ERROR_MEMORY;
            }
        }
    }
    sac_arena_fini(&arena);
    if (result == SAC_ERROR_MEMORY) sac_error_set(error, result, NULL, "no memory for %zu nodes", n);
    return result;
}
