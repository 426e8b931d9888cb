/* The sphere hierarchy of a soft body, refitted only where a query looks (Spillmann, Becker, Teschner 2007).
 *
 *   sac_soft_tree_create(model, &def, &tree, &error);       // rest shape: shared by all bodies of the model
 *   sac_soft_cover_create(tree, soft, &cover, &error);      // the spheres of one body
 *   const sac_sphere_block *eight = sac_soft_cover_block(cover, 0);   // the root, as the body is now
 *
 * Topology is that of spheretree/tree.h: eight lanes to a block, links, breadth first. Each sphere holds all
 * points of its range in tree->order; a parent need not hold its children's spheres (wrapped). Below the
 * nodes that span several clusters each branch belongs to one cluster, and refitting a block takes constant
 * time: centres move with the cluster's map, radii grow by its norms and by how far its points are from their
 * goals.
 *
 * A cover is written by queries: one thread at a time.
 *
 * Index: sac_default_soft_tree_def  sac_soft_tree_create  sac_soft_tree_destroy  sac_soft_cover_create
 *        sac_soft_cover_destroy  sac_soft_cover_block  sac_soft_cover_refits  sac_soft_cover_form
 *        sac_soft_cover_renew  sac_soft_cover_touch
 */
#ifndef SAC_DEFORM_SOFT_TREE_H
#define SAC_DEFORM_SOFT_TREE_H

#include "../spheretree/spheretree.h"
#include "shape_matching.h"

typedef enum sac_soft_bound {
    /* r = ||J|| r0 + ||Q|| max|dd| + ||M|| max|dd'| + d, expanded about the sphere's own centre: J is the
     * map's derivative there; or less, by what a few points of a large node say. Default. */
    SAC_SOFT_BOUND_LOCAL,
    /* r = ||A|| r0 + ||Q|| qmax + ||M|| mmax + d: equation 16 of the paper, for comparison. */
    SAC_SOFT_BOUND_WHOLE,
} sac_soft_bound;

typedef struct sac_soft_tree_def {
    uint32_t leaf_points; /* a node with at most this many is a leaf; default 4 */
    sac_soft_bound bound;
    /* For experiments with other hierarchies. fan: children of the nodes of each level below the clusters, 2,
     * 4 or 8; 0 (default): 8. most_depth: nodes of this level are leaves; 0 (default): leaf_points alone
     * decides. */
    uint8_t fan[SAC_TREE_MOST_DEPTH];
    uint32_t most_depth;
    /* Of the points at rest, outwards, unit; read while building. NULL (default): nodes know none. */
    const float (*normals)[3];
    /* Over the points; read while building. Spheres then hold whole triangles. */
    const uint32_t (*triangles)[3];
    uint32_t triangle_count;
} sac_soft_tree_def;

sac_soft_tree_def sac_default_soft_tree_def(void);

/* Points order[first .. first + count), as a body has them (sac_soft_points: place[] of the caller's). */
typedef struct sac_soft_range {
    uint32_t first, count;
} sac_soft_range;

#define SAC_SOFT_SPANS UINT32_MAX
typedef struct sac_soft_tree {
    const sac_soft_model *model;
    sac_soft_tree_def def;
    uint32_t block_count, node_count, leaf_count, depth;
    uint32_t level_block[SAC_TREE_MOST_DEPTH + 2];
    const sac_link_block *links;  /* `bound` is not used: it would change with the spheres */
    const uint32_t *parents;      /* of each block, the node it holds the children of */
    const uint32_t *cluster;      /* of each block; SAC_SOFT_SPANS where lanes span or belong to several */
    const uint32_t *lane_cluster; /* of each node; SAC_SOFT_SPANS when it spans several */
    const sac_soft_range *range;  /* of each node */
    const uint32_t *order;        /* points */
    const uint32_t *leaf;         /* of each point: the node */
    /* Triangles, if any were given. Each belongs to one of its corners, and the sphere of a node holds the
     * triangles of its points whole: those of the points order[i] up to order[k] are
     * triangle_at[triangle_first[i]] up to triangle_at[triangle_first[k]]. */
    const uint32_t (*triangles)[3];
    const uint32_t *triangle_first, *triangle_at;
    uint32_t triangle_count;
    /* Of each node: mean normal at rest, unit, zero when unknown or when its points do not agree within
     * SAC_CONTACT_CONE. NULL: none was given. */
    const float (*normal)[3];
    /* The same for patches that are not so flat: where their points look on the whole; zero where they look
     * everywhere. */
    const float (*facing)[3];
    /* How far the points of a node reach beyond the centre of its sphere along `facing`, at rest; FLT_MAX for
     * a patch whose points look more than 25 degrees away from it. */
    const float *bulge;
    /* How thick the patch of a node is along `facing`, at rest: what a contact on it may be off by. The
     * radius of its sphere where its points look everywhere. */
    const float *thick;
    /* Private. Points that the sphere of a small node holds, corners of its triangles included. */
    const uint32_t *held_first, *held;
    const struct sac_soft_rest_block *rest;
    const struct sac_soft_rim_block *rims;
    const uint32_t *rim_at; /* of each block */
    sac_arena arena;
} sac_soft_tree;

/* The model must outlive the tree, the tree its covers. */
sac_result sac_soft_tree_create(const sac_soft_model *model, const sac_soft_tree_def *def,
                                sac_soft_tree **out_tree, sac_error *error);
void sac_soft_tree_destroy(sac_soft_tree **tree);

typedef struct sac_soft_cover sac_soft_cover;
/* `soft` must be a body of the tree's model. */
sac_result sac_soft_cover_create(const sac_soft_tree *tree, const sac_soft *soft, sac_soft_cover **out_cover,
                                 sac_error *error);
void sac_soft_cover_destroy(sac_soft_cover **cover);

/* The spheres of a block as the body is now; refitted if they are not. Constant time below the nodes that
 * span several clusters. Lanes without a node hold NaN. */
const sac_sphere_block *sac_soft_cover_block(sac_soft_cover *cover, uint32_t block);
/* Spheres refitted since the cover was made. */
uint64_t sac_soft_cover_refits(const sac_soft_cover *cover);

/* As a form for meetings: a tree in world space (its pose is the identity), whose spheres are refitted when a
 * meeting opens their parent. Fills in all but mass, and again after each step what changes: ball and box.
 * The form points into the cover, and what it meets is read between steps: after sac_soft_move, before the
 * next sac_soft_pull. */
void sac_soft_cover_form(sac_soft_cover *cover, sac_form *out_form);
void sac_soft_cover_renew(sac_soft_cover *cover, sac_form *form);

/* Points inside a world ball, descending from the root and refitting on the way. Writes at most `room` point
 * numbers and returns how many there are. */
uint32_t sac_soft_cover_touch(sac_soft_cover *cover, const float centre[3], float radius,
                              uint32_t *out_points, uint32_t room);

#endif
