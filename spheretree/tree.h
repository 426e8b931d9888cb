/* A sphere-tree: every level is a set of spheres that covers the whole surface, finer from level to level.
 *
 * Layout. Nodes live in blocks of eight lanes, one block to a SIMD load; the children of a node are one block
 * (two neighbouring ones when the branching factor is above eight), so opening a node touches three
 * cache lines and no list. Blocks are in breadth-first order: level L is blocks level_block[L] up to
 * level_block[L + 1]. A node's id is block * 8 + lane; the root is node 0. A lane without a node holds NaN
 * in all four numbers of its sphere, which no comparison accepts.
 *
 * Guarantee. Each piece of surface (each point, each given sphere) is inside a chain of spheres from the root
 * to a leaf, so a descent that drops pairs whose spheres are apart drops no contact between surfaces. A child
 * sphere need not lie inside its parent; `bound` says how far the children reach.
 *
 * Index: sac_tree_destroy  sac_tree_node  sac_tree_validate  sac_tree_has  sac_method_name
 */
#ifndef SAC_SPHERETREE_TREE_H
#define SAC_SPHERETREE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "mesh.h"

#define SAC_LANES 8u
#define SAC_TREE_LEAST_BRANCH 2u
#define SAC_TREE_MOST_BRANCH 16u
#define SAC_TREE_MOST_DEPTH 12u         /* levels below the root */
#define SAC_TREE_MOST_BLOCKS (1u << 26) /* keeps ids inside 30 bits */

/* A link is the first block of a node's children, or for a leaf the node's own id with this bit set. */
#define SAC_LINK_LEAF 0x80000000u

typedef struct sac_sphere_block {
    _Alignas(SAC_CACHE_LINE) float x[SAC_LANES];
    float y[SAC_LANES], z[SAC_LANES], r[SAC_LANES];
} sac_sphere_block;

typedef struct sac_link_block {
    _Alignas(SAC_CACHE_LINE) uint32_t link[SAC_LANES]; /* 0 in a lane without a node */
    float
        bound[SAC_LANES]; /* radius about the node's own centre that holds its children's spheres; leaf: r */
} sac_link_block;

/* What a node knows about the surface it stands for. */
typedef struct sac_feature_block {
    _Alignas(SAC_CACHE_LINE) float gap[SAC_LANES];     /* no point of the sphere is farther than this from the
                                                          object */
    float px[SAC_LANES], py[SAC_LANES], pz[SAC_LANES]; /* a point of the surface inside the sphere; of a
                                                          mesh: nearest to its centre, where it can be */
    float nx[SAC_LANES], ny[SAC_LANES], nz[SAC_LANES]; /* mean outward normal, unit; zero when unknown */
    float cone[SAC_LANES]; /* all normals of the node's surface are within this angle of n, radians; pi:
                              unknown */
} sac_feature_block;

typedef enum sac_method {
    SAC_METHOD_MEDIAL,  /* adaptive medial axis (default) */
    SAC_METHOD_HUBBARD, /* medial spheres merged pairwise */
    SAC_METHOD_OCTREE,
    SAC_METHOD_GRID,
    SAC_METHOD_SPHERES, /* over given spheres */
    SAC_METHOD_WRAPPED, /* over given points, balanced */
    SAC_METHOD_FOREIGN, /* imported from another tool */
    SAC_METHOD_COUNT
} sac_method;

enum sac_tree_flags {
    SAC_TREE_CLOSED = 1, /* built from a closed mesh */
    SAC_TREE_SOLID = 2,  /* every level covers the interior too */
    SAC_TREE_NESTED = 4, /* every child sphere lies inside its parent */
};

typedef struct sac_tree {
    uint32_t branch;          /* most children a node has */
    uint32_t depth;           /* levels below the root */
    uint32_t blocks_per_node; /* 1, or 2 when branch > 8 */
    uint32_t block_count;     /* blocks in all, the root's included */
    uint32_t node_count, leaf_count;
    uint32_t flags;
    sac_method method;
    uint32_t level_block[SAC_TREE_MOST_DEPTH + 2]; /* first block of each level; [depth + 1] = block_count */
    uint32_t level_nodes[SAC_TREE_MOST_DEPTH + 1];
    /* How much of their parents the children of a level's nodes fill: mean of radius / parent's bound, 0 for
     * leaves. Found from the rest when the tree is made or loaded; tells whether a test against the parent
     * saves any. */
    float level_fill[SAC_TREE_MOST_DEPTH + 1];
    const sac_sphere_block *spheres;
    const sac_link_block *links;
    const sac_feature_block *features; /* NULL for a tree that changes (form.h): its owner tells */
    const uint32_t *parents; /* of each block: the id of the node it holds the children of; root's block: 0 */
    sac_box box;             /* of the object, not of the spheres */
    sac_mass mass;
    char name[64];
    /* Private: what to release. All arrays live in one piece, on the heap or in a mapped file. */
    void *storage;
    size_t storage_size;
    bool storage_mapped;
} sac_tree;

/* One node, gathered from its lanes. */
typedef struct sac_tree_node_info {
    float centre[3], radius;
    float gap, point[3], normal[3], cone;
    uint32_t level, child_count;
    bool leaf;
} sac_tree_node_info;

void sac_tree_destroy(sac_tree **tree);

/* False when `id` is not a node of this tree. */
bool sac_tree_node(const sac_tree *tree, uint32_t id, sac_tree_node_info *out_node);

/* Everything a query relies on: shape of the links (each block has one parent, in an earlier level), finite
 * numbers, bounds that hold. A tree from a file passes this before anybody sees it. */
sac_result sac_tree_validate(const sac_tree *tree, sac_error *error);

const char *sac_method_name(sac_method method);
/* False for an unknown name. */
bool sac_method_from_name(const char *name, sac_method *out);

/* Is there a node in this lane? */
static inline bool sac_tree_has(const sac_tree *tree, uint32_t id)
{
    float r = tree->spheres[id / SAC_LANES].r[id % SAC_LANES];
    return r == r;
}

#endif
