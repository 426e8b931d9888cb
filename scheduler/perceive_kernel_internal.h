/* The inner loop of perception, eight pairs at a time. Compiled once for each SIMD path by perceive_*.c. No
 * lane decides a branch: choices are minima and maxima, written so that NaN ends up as 0. */
#ifndef SAC_SCHEDULER_PERCEIVE_KERNEL_INTERNAL_H
#define SAC_SCHEDULER_PERCEIVE_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "scheduler/angle_internal.h"
#include "scheduler/perceive_internal.h"

#define INLINE static inline __attribute__((always_inline))

INLINE sac_f8 dot(sac_f8 x, sac_f8 y, sac_f8 z, const float v[3])
{
    return sac_f8_add(sac_f8_add(sac_f8_mul(x, sac_f8_set(v[0])), sac_f8_mul(y, sac_f8_set(v[1]))),
                      sac_f8_mul(z, sac_f8_set(v[2])));
}

INLINE sac_f8 clamp(sac_f8 x, float low, float high)
{
    return sac_f8_min(sac_f8_max(x, sac_f8_set(low)), sac_f8_set(high));
}

/* Degrees from a cosine. Beyond a right angle it is pi less the angle of the opposite: a half turn is
 * reflected with the sign, as a number, because there are no branches here. */
INLINE sac_f8 degrees_of(sac_f8 cosine)
{
    sac_f8 c = sac_f8_max(cosine, sac_f8_sub(sac_f8_set(0.0f), cosine));
    sac_f8 p = sac_f8_set(SAC_ARCCOS_7);
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_6));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_5));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_4));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_3));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_2));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_1));
    p = sac_f8_add(sac_f8_mul(p, c), sac_f8_set(SAC_ARCCOS_0));
    sac_f8 angle = sac_f8_mul(sac_f8_sqrt(sac_f8_sub(sac_f8_set(1.0f), c)), p);
    sac_f8 sign = clamp(sac_f8_mul(cosine, sac_f8_set(1e30f)), -1.0f, 1.0f), half = sac_f8_set(SAC_HALF_PI);
    angle = sac_f8_add(half, sac_f8_mul(sign, sac_f8_sub(angle, half)));
    return sac_f8_mul(angle, sac_f8_set(SAC_DEGREES));
}

INLINE void perceive(const sac_perceive_frame *f, const sac_sights *s, uint32_t first, uint32_t last,
                     const uint32_t eyes)
{
    const sac_f8 zero = sac_f8_set(0.0f), one = sac_f8_set(1.0f), most = sac_f8_set(f->most_jnd);
    for (uint32_t i = first; i < last; i += SAC_SIGHT_LANES) {
        sac_f8 px = sac_f8_load(s->x + i), py = sac_f8_load(s->y + i), pz = sac_f8_load(s->z + i);
        sac_f8 vx = sac_f8_load(s->vx + i), vy = sac_f8_load(s->vy + i), vz = sac_f8_load(s->vz + i);
        sac_f8 extent = sac_f8_max(sac_f8_load(s->extent + i), zero);
        sac_f8 v2 = sac_f8_add(sac_f8_add(sac_f8_mul(vx, vx), sac_f8_mul(vy, vy)), sac_f8_mul(vz, vz));
        sac_f8 sharp = zero, swift = zero, seen = sac_f8_set(-FLT_MAX);
        for (uint32_t k = 0; k < eyes; k++) {
            const sac_focus_eye *eye =
                k < SAC_VIEWER_OWN_EYES ? &f->eyes[k] : &f->more[k - SAC_VIEWER_OWN_EYES];
            sac_f8 x = sac_f8_sub(px, sac_f8_set(eye->position[0]));
            sac_f8 y = sac_f8_sub(py, sac_f8_set(eye->position[1]));
            sac_f8 z = sac_f8_sub(pz, sac_f8_set(eye->position[2]));
            sac_f8 d2 = sac_f8_add(sac_f8_add(sac_f8_mul(x, x), sac_f8_mul(y, y)), sac_f8_mul(z, z));
            sac_f8 inverse = sac_f8_div(one, sac_f8_max(sac_f8_sqrt(d2), sac_f8_set(1e-6f)));
            sac_f8 near = sac_f8_min(inverse, sac_f8_set(f->nearest));
            sac_f8 e = degrees_of(clamp(sac_f8_mul(dot(x, y, z, eye->axis), inverse), -1.0f, 1.0f));
            e = sac_f8_max(sac_f8_sub(e, sac_f8_set(f->guard)), zero);
            sac_f8 mar = sac_f8_mul(sac_f8_set(SAC_MAR_FOVEA),
                                    sac_f8_add(one, sac_f8_mul(e, sac_f8_set(1.0f / SAC_MAR_E2))));
            sharp = sac_f8_max(sac_f8_div(sac_f8_mul(near, sac_f8_set(SAC_ARCMIN)), mar), sharp);
            /* Across the line of sight: v^2 less its part along it. */
            sac_f8 along = sac_f8_mul(
                sac_f8_add(sac_f8_add(sac_f8_mul(vx, x), sac_f8_mul(vy, y)), sac_f8_mul(vz, z)), inverse);
            sac_f8 across2 = sac_f8_sub(v2, sac_f8_mul(along, along));
            swift = sac_f8_max(sac_f8_mul(across2, sac_f8_mul(near, near)), swift);
            /* In view while no plane is farther inside than the body is large. */
            sac_f8 inside = sac_f8_sub(extent, dot(x, y, z, eye->plane[0]));
            for (uint32_t n = 1; n < SAC_SIGHT_PLANES; n++)
                inside = sac_f8_min(sac_f8_sub(extent, dot(x, y, z, eye->plane[n])), inside);
            seen = sac_f8_max(inside, seen);
        }
        sac_f8 factor = sac_f8_max(sac_f8_load(s->weight + i), zero);
        if (eyes) {
            sac_f8 view = clamp(sac_f8_add(sac_f8_mul(seen, sac_f8_set(1e30f)), one), f->out_of_view, 1.0f);
            sac_f8 speed = sac_f8_min(sac_f8_mul(sac_f8_sqrt(swift), sac_f8_set(SAC_DEGREES)),
                                      sac_f8_set(f->speed_most));
            sac_f8 similar = sac_f8_max(sac_f8_load(s->similar + i), zero);
            factor = sac_f8_mul(factor, view);
            factor = sac_f8_mul(factor, sac_f8_add(one, sac_f8_mul(speed, sac_f8_set(f->speed_weight))));
            factor =
                sac_f8_div(factor, sac_f8_add(one, sac_f8_mul(similar, sac_f8_set(f->distractor_weight))));
        } else {
            sharp = sac_f8_set(1000.0f);
        }
        sac_f8 off = sac_f8_min(sac_f8_load(s->uncertainty + i), extent);
        sac_f8 jnd = sac_f8_min(sac_f8_max(sac_f8_mul(off, sharp), zero), most);
        factor = sac_f8_min(sac_f8_max(factor, zero), sac_f8_set(1e30f));
        sac_f8_store(s->jnd + i, jnd);
        sac_f8_store(s->priority + i, sac_f8_mul(jnd, factor));
        if (s->sharpness) sac_f8_store(s->sharpness + i, sharp);
        if (s->factor) sac_f8_store(s->factor + i, factor);
    }
}

#define KERNEL_NAME_OF(path) sac_perceive_##path
#define KERNEL_NAME(path) KERNEL_NAME_OF(path)
void KERNEL_NAME(SAC_SIMD_PATH)(const sac_perceive_frame *frame, const sac_sights *sights, uint32_t first,
                                uint32_t last)
{
    /* One and two eyes have loops of their own, with nothing left to count. */
    if (frame->eye_count == 1)
        perceive(frame, sights, first, last, 1);
    else if (frame->eye_count == 2)
        perceive(frame, sights, first, last, 2);
    else
        perceive(frame, sights, first, last, frame->eye_count);
}

#endif
