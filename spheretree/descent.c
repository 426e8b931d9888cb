/* What every query starts with: poses checked and turned into one relative transform, the kernel chosen. */
#include "spheretree/descent_internal.h"

#include <math.h>

const sac_kernel *sac_kernel_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_SSE2:
        return &sac_kernel_sse2;
    case SAC_SIMD_AVX2:
        return &sac_kernel_avx2;
    case SAC_SIMD_AVX512:
        return &sac_kernel_avx512;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_kernel_neon;
#endif
    default:
        return &sac_kernel_scalar;
    }
}

sac_result sac_pose_check(const sac_transform *pose, const char *whose, sac_error *error)
{
    if (!sac_vec3_is_finite(pose->translation))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite position", "translation of %s", whose);
    if (!(pose->scale > 0 && isfinite(pose->scale)))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a scale above zero", "scale of %s is %g", whose,
                             (double)pose->scale);
    const float *q = pose->rotation;
    float length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(fabsf(length2 - 1.0f) <= 0.02f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a unit quaternion",
                             "rotation of %s is not of length 1", whose);
    return SAC_OK;
}

void sac_pose_normalise(sac_transform *pose)
{
    float *q = pose->rotation;
    double length =
        sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] = (float)(q[i] / length);
}

/* Every descent begins with the root and its children, blocks 0 and 1. Asked for now, they arrive while the
 * poses are worked out. */
static void prefetch_top(const sac_tree *tree)
{
    for (uint32_t block = 0; block < 2; block++) {
        __builtin_prefetch((const char *)tree->spheres + block * sizeof *tree->spheres);
        __builtin_prefetch((const char *)tree->spheres + block * sizeof *tree->spheres + SAC_CACHE_LINE);
        __builtin_prefetch((const char *)tree->links + block * sizeof *tree->links);
    }
}

sac_result sac_descent_init(sac_descent *d, const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                            const sac_transform *pose_b, sac_error *error)
{
    prefetch_top(a);
    prefetch_top(b);
    sac_result result = sac_pose_check(pose_a, "the first object", error);
    if (result == SAC_OK) result = sac_pose_check(pose_b, "the second object", error);
    if (result != SAC_OK) return result;

    d->scale = sac_transform_between(pose_a, pose_b, d->m);
    d->a = a;
    d->b = b;
    d->margin = 0;
    d->level_tells = sac_descent_level_tells(a, b);
    /* Squares must stay inside a float. */
    float most = fmaxf(fabsf(d->m[0][3]), fmaxf(fabsf(d->m[1][3]), fabsf(d->m[2][3])));
    if (!(most <= 1e18f && d->scale * (4.0f * SAC_MESH_MOST_COORDINATE) <= 1e18f && d->scale > 0))
        return sac_error_set(error, SAC_ERROR_LIMIT, "bring them closer or to similar scales",
                             "the objects are too far apart or too different in size");
    return SAC_OK;
}
