/* What a refit needs to know about eight spheres at rest. Private to deform/. */
#ifndef SAC_DEFORM_SOFT_TREE_INTERNAL_H
#define SAC_DEFORM_SOFT_TREE_INTERNAL_H

#include <math.h>

#include "deform/soft_internal.h"
#include "deform/soft_tree.h"

/* Centres are relative to their cluster's rest centre. With d = point - centre and terms (x2, y2, z2), (xy,
 * yz, zx): near_square, near_mixed: largest norm of the terms of d; far_square, far_mixed: largest norm of
 * the terms of the point minus those of the centre (qmax and mmax in the paper). NaN in empty lanes. */
typedef struct sac_soft_rest_block {
    _Alignas(SAC_CACHE_LINE) float x[SAC_LANES];
    float y[SAC_LANES], z[SAC_LANES], r[SAC_LANES];
    float near_square[SAC_LANES], near_mixed[SAC_LANES], far_square[SAC_LANES], far_mixed[SAC_LANES];
} sac_soft_rest_block;

/* Nodes of at most so many points take their radius from them; larger ones have a rim of so many. */
enum { SAC_SOFT_LOOKED_AT = 32, SAC_SOFT_RIM = 16 };

/* Some points of a node, relative to the centre of its sphere at rest. */
typedef struct sac_soft_rim {
    _Alignas(SAC_CACHE_LINE) float x[SAC_SOFT_RIM];
    float y[SAC_SOFT_RIM], z[SAC_SOFT_RIM];
} sac_soft_rim;

/* Each point near the rim is a mean of the node's rim and centre but for some rest f; see soft_rim.c. off: 0,
 * 1, 2: largest |f| - t KNOT u / 2 r with t = 0, 1, 2, where u is how far inside the mean is; 3, 4: largest
 * norms of the rest in the two kinds of terms. deep: largest norms of d and its terms among other points. */
#define SAC_SOFT_RIM_KNOT 0.4f
#define SAC_SOFT_NO_RIM UINT32_MAX
typedef struct sac_soft_rim_block {
    sac_soft_rim rim[SAC_LANES];
    float off[5][SAC_LANES], deep[3][SAC_LANES];
    uint32_t lanes; /* up to the last node */
} sac_soft_rim_block;

/* Fills a lane for points q (relative to the cluster's centre). */
void sac_soft_rest_fit(const double (*q)[3], uint32_t count, sac_soft_rest_block *block, uint32_t lane);

/* The same for the rim of a lane that has been fitted. */
void sac_soft_rim_fit(const double (*q)[3], uint32_t count, bool quadratic, const sac_soft_rest_block *rest,
                      uint32_t lane, sac_soft_rim_block *out);

typedef struct sac_refit_job {
    const sac_soft_map *map;
    float norm_a, norm_square, norm_mixed; /* of the map's matrices; a is not used by the local bound */
    bool quadratic, local;
} sac_refit_job;
/* `rim` may be NULL. */
typedef void sac_refit_kernel(const sac_refit_job *job, const sac_soft_rest_block *rest,
                              const sac_soft_rim_block *rim, sac_sphere_block *out);
sac_refit_kernel sac_refit_kernel_scalar, sac_refit_kernel_sse2, sac_refit_kernel_avx2, sac_refit_kernel_neon;
sac_refit_kernel *sac_refit_kernel_active(void);

/* Of a cluster's matrices, once a step and only if asked for. */
typedef struct sac_soft_norms {
    uint64_t step;
    float a, square, mixed;
} sac_soft_norms;

struct sac_soft_cover {
    sac_arena arena;
    const sac_soft_tree *tree;
    const sac_soft *soft;
    sac_sphere_block *spheres;
    uint64_t *step;        /* of each block */
    sac_soft_norms *norms; /* of each cluster */
    uint32_t *stack;       /* of links: a block and its siblings on every level */
    sac_refit_kernel *kernel;
    uint64_t refits;
    /* The same as a tree like any other: spheres as they were when last asked for. */
    sac_tree view;
    sac_live live;
};

/* Of the nodes of a block, if they are large. */
static inline const sac_soft_rim_block *sac_soft_rim_of(const sac_soft_tree *tree, uint32_t block)
{
    return tree->rim_at[block] == SAC_SOFT_NO_RIM ? NULL : &tree->rims[tree->rim_at[block]];
}
/* What a refit of spheres of this cluster needs, as the body is now. */
sac_refit_job sac_refit_job_of(sac_soft_cover *cover, uint32_t cluster);
/* A normal at rest, as the map has turned it: by the cofactors of its linear part. */
static inline void sac_soft_turn_normal(const float cofactor[3][3], const float n[3], float out[3])
{
    float length = 0;
    for (int i = 0; i < 3; i++) {
        out[i] = cofactor[i][0] * n[0] + cofactor[i][1] * n[1] + cofactor[i][2] * n[2];
        length += out[i] * out[i];
    }
    length = length > 1e-24f ? 1 / sqrtf(length) : 0;
    for (int i = 0; i < 3; i++) out[i] *= length;
}
/* soft_live.c: fills in view and live. */
void sac_soft_cover_live(sac_soft_cover *cover);

#endif
