/* How well a tree fits its mesh: gaps, coverage, outside volume, per level.
 *
 * Index: sac_default_measure_def  sac_tree_measure
 */
#ifndef SAC_SPHERETREE_MEASURE_H
#define SAC_SPHERETREE_MEASURE_H

#include "tree.h"

typedef struct sac_measure_def {
    uint32_t sphere_points;   /* Fibonacci points on each sphere, default 642 */
    uint32_t surface_samples; /* default 100000 */
    uint32_t volume_samples;  /* default 60000 */
    uint32_t threads;         /* default 1 */
    uint64_t seed;            /* default 1 */
    uint32_t cookie;
} sac_measure_def;

typedef struct sac_level_quality {
    uint32_t level, spheres;
    float worst_gap, mean_gap; /* over spheres, per cent of the mesh's box diagonal */
    float worst_union_gap;     /* over points of a sphere that are in no other sphere of the level */
    float coverage;            /* share of the surface samples inside some sphere of the level, 0..1 */
    float path_coverage;       /* inside a sphere of this level whose ancestors all hold the sample */
    float largest_hole;        /* farthest uncovered sample from the union, per cent of the diagonal */
    float outside_volume; /* volume of the union outside the mesh / volume of the mesh; NaN for an open one */
    float interior_coverage; /* share of interior samples inside some sphere; NaN for an open mesh */
} sac_level_quality;

sac_measure_def sac_default_measure_def(void);

/* Fills levels[0..tree->depth]. The mesh must be the one the tree was built from, in the same coordinates. */
sac_result sac_tree_measure(const sac_tree *tree, const sac_mesh *mesh, const sac_measure_def *def,
                            sac_level_quality *out_levels, sac_error *error);

#endif
