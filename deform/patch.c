/* Which passes over patches this processor gets. */
#include "base/cpu.h"
#include "deform/patch_internal.h"

const sac_patch_kernels *sac_patch_kernels_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_AVX512: /* patches are a few eights: more registers would be for nothing */
    case SAC_SIMD_AVX2:
        return &sac_patch_kernels_avx2;
    case SAC_SIMD_SSE2:
        return &sac_patch_kernels_sse2;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_patch_kernels_neon;
#endif
    default:
        return &sac_patch_kernels_scalar;
    }
}
