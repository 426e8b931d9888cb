/* Building trees.
 *
 *   sac_build_def def = sac_default_build_def();
 *   sac_tree *tree;
 *   sac_mesh_repair(mesh, NULL, NULL);
 *   sac_tree_build(mesh, &def, &tree, &error);
 *
 * The same input gives the same bytes whatever the thread count.
 *
 * Index: sac_default_build_def  sac_tree_build  sac_tree_build_spheres  sac_tree_build_points
 */
#ifndef SAC_SPHERETREE_BUILD_H
#define SAC_SPHERETREE_BUILD_H

#include "tree.h"

/* The reducers of the medial builder; `combined` is all of them, the best taken at each node. */
enum sac_reducers {
    SAC_REDUCER_MERGE = 1,
    SAC_REDUCER_BURST = 2,
    SAC_REDUCER_EXPAND = 4,
    SAC_REDUCER_SPAWN = 8,
    SAC_REDUCER_COMBINED = 15,
};

#define SAC_BUILD_MOST_THREADS 64u

typedef struct sac_build_def {
    sac_method method; /* default medial */
    uint32_t branch;   /* 2 to 16, default 8 */
    uint32_t depth;    /* levels below the root, 1 to 12, default 3 */
    uint32_t threads;  /* default 1; the tree does not depend on it */
    uint32_t reducers; /* medial only; default combined */
    bool optimise;     /* medial only; local optimiser after the reducer; default true */
    bool solid;        /* cover the interior too; needs a closed mesh; default false */
    uint64_t seed;     /* for what is sampled; default 1 */
    /* Called now and then from the calling thread with 0..1, and with level / depth when a level is made;
     * return false to cancel. May be NULL. */
    bool (*progress)(float done, void *user);
    void *user;
    uint32_t cookie; /* set by sac_default_build_def; catches a forgotten default */
} sac_build_def;

sac_build_def sac_default_build_def(void);

/* `mesh` should have been repaired: what has no area is skipped, and an open or inside-out mesh is treated as
 * open. Methods medial, hubbard, octree, grid, wrapped (over the vertices). */
sac_result sac_tree_build(const sac_mesh *mesh, const sac_build_def *def, sac_tree **out_tree,
                          sac_error *error);

/* Over given spheres {x, y, z, r}, r >= 0: the leaves are the spheres bit for bit, and each lies inside all
 * its ancestors, so a complete descent finds what comparing all leaves would. Depth is the least with a leaf
 * for each sphere; def->depth is ignored. ERROR_LIMIT when twelve levels are too few. */
sac_result sac_tree_build_spheres(const float (*spheres)[4], uint32_t count, const sac_build_def *def,
                                  sac_tree **out_tree, sac_error *error);

/* Over given points: balanced, each sphere the smallest ball of the points below it. With fewer points than
 * leaves the tree ends earlier, in leaves of one point and radius 0. */
sac_result sac_tree_build_points(const float (*points)[3], uint32_t count, const sac_build_def *def,
                                 sac_tree **out_tree, sac_error *error);

#endif
