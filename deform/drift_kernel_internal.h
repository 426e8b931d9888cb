/* How far the vertices of a surface can have moved since its nodes were last looked at. Compiled once for
 * each SIMD path by bound_*.c.
 *
 * A vertex is a convex combination of what its nodes make of it, and so is its way: along a direction none
 * went farther than the node that takes the box of its own vertices farthest. */
#ifndef SAC_DEFORM_DRIFT_KERNEL_INTERNAL_H
#define SAC_DEFORM_DRIFT_KERNEL_INTERNAL_H

#include "deform/bound_kernel_internal.h"

SAC_ALWAYS_INLINE void drift(const sac_drift_job *job, const uint32_t half_k, float *out)
{
    const uint32_t k = 2 * half_k;
    sac_f8 most[SAC_MESHLESS_MOST_K], b[SAC_MESHLESS_MOST_K], size[3], none = SET(-FLT_MAX), zero = SET(0);
    for (uint32_t d = 0; d < k; d++) most[d] = none;
    for (int r = 0; r < 3; r++) size[r] = zero;
    for (uint32_t i = 0; i < job->blocks; i++) {
        const float *now = job->now + (size_t)i * 8 * SAC_MESHLESS_ROW;
        float *then = job->then + (size_t)i * 8 * SAC_MESHLESS_ROW;
        sac_f8 m[16], way[16], centre[3], half[3];
        for (int a = 0; a < 3; a++) {
            centre[a] = sac_f8_load(job->reach[i].centre[a]);
            half[a] = sac_f8_load(job->reach[i].half[a]);
        }
        for (uint32_t e = 0; e < SAC_MESHLESS_ROW; e++) {
            if (e % 4 == 3) continue;
            m[e] = sac_f8_load(now + (size_t)e * 8);
            way[e] = SUB(m[e], sac_f8_load(then + (size_t)e * 8));
            sac_f8_store(then + (size_t)e * 8, m[e]);
        }
        spread(way, centre, half, NULL, half_k, b);
        for (uint32_t d = 0; d < k; d++) /* lanes that move no vertex have a half below 0 */
            most[d] = sac_f8_max(sac_f8_pick_less(half[0], zero, none, b[d]), most[d]);
        for (int r = 0; r < 3; r++) {
            sac_f8 one = size_of(m[12 + r]);
            for (int a = 0; a < 3; a++)
                one = ADD(one, MUL(size_of(m[a * 4 + r]), ADD(size_of(centre[a]), size_of(half[a]))));
            size[r] = sac_f8_max(one, size[r]);
        }
    }
    float sizes[3];
    for (int r = 0; r < 3; r++) sizes[r] = most_across(size[r]);
    for (uint32_t d = 0; d < k; d++) {
        const signed char *g = direction(half_k, d < half_k ? d : d - half_k);
        float along = 0;
        for (int r = 0; r < 3; r++) along += g[r] ? sizes[r] : 0;
        out[d] = most_across(most[d]);
        /* Vertices before and after were sums of up to 32 rounded products. */
        out[d] += 1e-5f * (along + (out[d] > 0 ? out[d] : -out[d]));
    }
    for (uint32_t d = k; d < SAC_MESHLESS_WIDE(k); d++) out[d] = half_k == 3 ? out[d - 6] : 0;
}

static void drift_any(const sac_drift_job *job, float *out)
{
    if (job->k == 6)
        drift(job, 3, out);
    else
        drift(job, job->k / 2, out);
}

#endif
