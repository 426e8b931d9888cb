/* Passes over the points of a patch, which lie side by side. Private to deform/. */
#ifndef SAC_DEFORM_PATCH_INTERNAL_H
#define SAC_DEFORM_PATCH_INTERNAL_H

#include "deform/soft_tree_internal.h"

/* Points first up to first + count, at least one. Which point goes to which lane of a sum depends on its
 * place alone, so all paths give the same bits. */
typedef struct sac_patch_kernels {
    /* Largest x . n. */
    float (*reach)(const sac_soft *soft, uint32_t first, uint32_t count, const float n[3]);
    /* Sums of mass times velocity, and of mass. */
    void (*momentum)(const sac_soft *soft, uint32_t first, uint32_t count, float out[4]);
    /* All velocities change by this. */
    void (*push)(sac_soft *soft, uint32_t first, uint32_t count, const float change[3]);
    /* Square of the largest distance from a place. */
    float (*farthest)(const sac_soft *soft, uint32_t first, uint32_t count, const float from[3]);
    /* The same of eight patches from the centres of spheres; 0 for one of no points. */
    void (*radii)(const sac_soft *soft, const sac_soft_range range[8], const sac_sphere_block *from,
                  float out[8]);
    /* With q = x - from, sums of m q; m v; m (qx2, qy2, qz2, qx qy, qx qz, qy qz); m q x v. */
    void (*moments)(const sac_soft *soft, uint32_t first, uint32_t count, const float from[3], float out[15]);
} sac_patch_kernels;
extern const sac_patch_kernels sac_patch_kernels_scalar, sac_patch_kernels_sse2, sac_patch_kernels_avx2,
    sac_patch_kernels_neon;
const sac_patch_kernels *sac_patch_kernels_active(void);

#endif
