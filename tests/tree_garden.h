/* Trees grown from points on a surface, for tests and benchmarks that need a tree of exact shape
 * (branching, depth, uneven leaves, nested or not) rather than a good one. */
#ifndef SAC_TESTS_TREE_GARDEN_H
#define SAC_TESTS_TREE_GARDEN_H

#include "base/rng.h"
#include "spheretree/spheretree.h"

typedef enum garden_shape { GARDEN_KNOT, GARDEN_BUMPY, GARDEN_CLOUD, GARDEN_SHAPE_COUNT } garden_shape;

typedef struct garden_def {
    garden_shape shape;
    uint32_t branch, depth;
    uint32_t points_per_leaf; /* 0: 8 */
    bool nested;              /* parents grow until they hold their children's spheres */
    float uneven;             /* chance that a node stays a leaf before its time or has fewer children */
    uint64_t seed;
} garden_def;

/* NULL when out of memory or beyond the limits of a tree. */
sac_tree *garden_grow(const garden_def *def);
/* Another tree with the same nodes in other memory. */
sac_tree *garden_copy(const sac_tree *tree);
/* Unit quaternion, uniform. */
void garden_rotation(sac_rng *rng, float out[4]);
/* Any orientation, `reach` from the origin, half to twice the size. */
sac_transform garden_pose(sac_rng *rng, float reach);

#endif
