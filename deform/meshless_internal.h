/* Meshless surfaces in memory. Private to deform/. */
#ifndef SAC_DEFORM_MESHLESS_INTERNAL_H
#define SAC_DEFORM_MESHLESS_INTERNAL_H

#include "base/memory.h"
#include "deform/meshless.h"
#include "deform/soft_internal.h"

/* Floats a node: three rows of four, padded to one cache line; in blocks without the padding. */
enum { SAC_MESHLESS_ROW = 16, SAC_MESHLESS_ENTRIES = 12, SAC_MESHLESS_GROUP = 64 };
/* Floats of scratch for a bound: b in k directions, one row more, and the highest of each group. */
#define SAC_MESHLESS_SCRATCH(lanes, k) \
    ((size_t)(lanes) * ((k) + 1) + (size_t)((lanes) + SAC_MESHLESS_GROUP - 1) / SAC_MESHLESS_GROUP * 8 * (k))

/* Primitives that are looked at rather than bounded: about where a bound costs as much as their vertices. */
enum { SAC_MESHLESS_FEW = 32 };

typedef struct sac_meshless_limits {
    uint32_t first, count, lanes; /* of the limits arrays; lanes: count rounded up to eight */
} sac_meshless_limits;

typedef struct sac_meshless_node {
    float centre[3], half[3]; /* of its vertices at rest */
    uint32_t child, parent;   /* child 0: a leaf */
    uint32_t first, count;    /* primitives */
    sac_meshless_limits limits;
} sac_meshless_node;

struct sac_meshless_model {
    sac_arena arena;
    sac_meshless_def def;
    uint32_t vertex_count, triangle_count, node_count, tree_count, most_lanes;
    float (*vertices)[3], (*nodes)[3];
    uint32_t (*triangles)[3];
    uint32_t *first, *influence; /* of each vertex */
    float *weight;
    sac_meshless_node *tree;
    uint32_t *primitives;
    /* Simulation nodes that a tree node's vertices follow, and the limits of their weights. Lanes beyond the
     * last repeat it with limits 0. */
    uint32_t *limit_node;
    float *low, *high;
    float *low_sum; /* of each tree node */
    /* Neighbours of the simulation nodes and their inverted moments, for gradients. */
    uint32_t *near_first, *near;
    double (*near_inverse)[3][3];
};

struct sac_meshless {
    sac_arena arena;
    const sac_meshless_model *model;
    float *rows;          /* SAC_MESHLESS_ROW a node */
    float *blocks;        /* the same, eight nodes to a block, entry by entry */
    float *dops;          /* k a tree node */
    float (*vertices)[3]; /* those that were looked at in the step of their stamp */
    uint64_t *vertex_stamp, *stamp, step, refits;
    /* Of each tree node, the step it was last asked for in; the last steps anything was asked for in. */
    uint64_t *asked, asking, asked_before;
    float *scratch; /* SAC_MESHLESS_SCRATCH */
};

typedef struct sac_bound_job {
    const float *rows, *blocks;
    const uint32_t *node; /* ascending */
    const float *low, *high;
    uint32_t count, lanes, k;
    float centre[3], half[3], low_sum;
    bool exact;
    float *scratch;
} sac_bound_job;
/* out as sac_meshless_dop. */
typedef void sac_bound_kernel(const sac_bound_job *job, float *out);
sac_bound_kernel sac_bound_kernel_scalar, sac_bound_kernel_sse2, sac_bound_kernel_avx2, sac_bound_kernel_neon;
/* What is left of the fill after the largest few: the greatest sum of take[i] b[i] with take[i] <= room[i]
 * and sum `left`. Both arrays are changed. */
double sac_bound_fill(float *b, float *room, uint32_t count, double left);

extern const signed char sac_meshless_directions[13][3];

#endif
