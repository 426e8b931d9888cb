/* What a refit needs to know about eight spheres at rest. Private to deform/. */
#ifndef SAC_DEFORM_SOFT_TREE_INTERNAL_H
#define SAC_DEFORM_SOFT_TREE_INTERNAL_H

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

/* Fills a lane for points q (relative to the cluster's centre). */
void sac_soft_rest_fit(const double (*q)[3], uint32_t count, sac_soft_rest_block *block, uint32_t lane);

typedef struct sac_refit_job {
    const sac_soft_map *map;
    float norm_a, norm_square, norm_mixed; /* of the map's matrices; a is not used by the local bound */
    bool quadratic, local;
} sac_refit_job;
typedef void sac_refit_kernel(const sac_refit_job *job, const sac_soft_rest_block *rest,
                              sac_sphere_block *out);
sac_refit_kernel sac_refit_kernel_scalar, sac_refit_kernel_sse2, sac_refit_kernel_avx2, sac_refit_kernel_neon;
sac_refit_kernel *sac_refit_kernel_active(void);

#endif
