/* How wrong pairs look: eyes turned into planes and axes once a frame, then eight pairs at a time. */
#include "scheduler/perceive_internal.h"

#include <string.h>

#include "base/cpu.h"
#include "scheduler/angle_internal.h"
#include "scheduler/rank_internal.h"

/* Nothing is reckoned nearer to an eye than this, metres: below, eyes cannot focus. */
#define NEAREST 0.05f
/* Image speeds count up to this many times the reference: faster things are a blur. */
#define MOST_SPEED 10.0f

sac_perception_def sac_default_perception_def(void)
{
    return (sac_perception_def){.out_of_view = 0.02f,
                                .speed_weight = 0.5f,
                                .speed_ref = 10.0f,
                                .distractor_weight = 0.05f,
                                .most_jnd = 1000.0f};
}

sac_perceive_kernel *sac_perceive_kernel_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_SSE2:
        return sac_perceive_sse2;
    case SAC_SIMD_AVX2:
        return sac_perceive_avx2;
    case SAC_SIMD_AVX512:
        return sac_perceive_avx512;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return sac_perceive_neon;
#endif
    default:
        return sac_perceive_scalar;
    }
}

const sac_rank_kernels *sac_rank_kernels_active(void)
{
    switch (sac_simd_active()) {
#if defined(__x86_64__)
    case SAC_SIMD_SSE2:
        return &sac_rank_sse2;
    case SAC_SIMD_AVX2:
        return &sac_rank_avx2;
    case SAC_SIMD_AVX512:
        return &sac_rank_avx512;
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return &sac_rank_neon;
#endif
    default:
        return &sac_rank_scalar;
    }
}

/* Planes through the eye along the edges of its field of view, normals outwards, in the world. */
void sac_focus_eye_ready(const sac_eye *eye, const float axis[3], sac_focus_eye *out)
{
    sac_transform turn = {
        .scale = 1, .rotation = {eye->rotation[0], eye->rotation[1], eye->rotation[2], eye->rotation[3]}};
    float rows[3][3], local[SAC_SIGHT_PLANES][3] = {{0}};
    double s, c;
    sac_transform_rows(&turn, rows);
    /* The edge at angle a from -z towards x is (sin a, 0, -cos a). */
    sac_sine_cosine(eye->fov_left, &s, &c);
    local[0][0] = (float)-c, local[0][2] = (float)-s;
    sac_sine_cosine(eye->fov_right, &s, &c);
    local[1][0] = (float)c, local[1][2] = (float)s;
    sac_sine_cosine(eye->fov_down, &s, &c);
    local[2][1] = (float)-c, local[2][2] = (float)-s;
    sac_sine_cosine(eye->fov_up, &s, &c);
    local[3][1] = (float)c, local[3][2] = (float)s;
    local[4][2] = 1.0f;
    for (uint32_t n = 0; n < SAC_SIGHT_PLANES; n++)
        for (int k = 0; k < 3; k++)
            out->plane[n][k] =
                (rows[k][0] * local[n][0] + rows[k][1] * local[n][1]) + rows[k][2] * local[n][2];
    for (int k = 0; k < 3; k++) out->position[k] = eye->position[k], out->axis[k] = axis[k];
}

void sac_perceive_frame_init(sac_perceive_frame *frame, const sac_perception_def *def, const sac_focus *focus)
{
    *frame = (sac_perceive_frame){.nearest = 1.0f / NEAREST,
                                  .out_of_view = def->out_of_view,
                                  .distractor_weight = def->distractor_weight,
                                  .most_jnd = def->most_jnd};
    if (def->speed_ref > 0) {
        frame->speed_weight = def->speed_weight / def->speed_ref;
        frame->speed_most = MOST_SPEED * def->speed_ref;
    }
    if (!focus) return;
    uint32_t own = focus->eye_count < SAC_VIEWER_OWN_EYES ? focus->eye_count : SAC_VIEWER_OWN_EYES;
    frame->eye_count = focus->more ? focus->eye_count : own;
    frame->more = focus->more;
    frame->guard = focus->guard_degrees;
    for (uint32_t i = 0; i < own; i++) sac_focus_eye_ready(&focus->eyes[i], focus->axis[i], &frame->eyes[i]);
}

static bool aligned(const sac_sights *s)
{
    uintptr_t all = (uintptr_t)s->x | (uintptr_t)s->y | (uintptr_t)s->z | (uintptr_t)s->uncertainty |
                    (uintptr_t)s->extent | (uintptr_t)s->vx | (uintptr_t)s->vy | (uintptr_t)s->vz |
                    (uintptr_t)s->weight | (uintptr_t)s->similar;
    return all % 32 == 0;
}

/* A block at a time through aligned copies, for arrays that lie anywhere and end where they end. */
static void perceive_copies(const sac_perceive_frame *frame, const sac_sights *s)
{
    enum { IN = 10, OUT = 4, LANES = SAC_SIGHT_LANES };
    const float *in[IN] = {s->x,  s->y,  s->z,  s->uncertainty, s->extent,
                           s->vx, s->vy, s->vz, s->weight,      s->similar};
    float *out[OUT] = {s->jnd, s->priority, s->sharpness, s->factor};
    _Alignas(32) float block[IN + OUT][LANES] = {{0}};
    sac_sights own = {.count = LANES,
                      .x = block[0],
                      .y = block[1],
                      .z = block[2],
                      .uncertainty = block[3],
                      .extent = block[4],
                      .vx = block[5],
                      .vy = block[6],
                      .vz = block[7],
                      .weight = block[8],
                      .similar = block[9],
                      .jnd = block[10],
                      .priority = block[11],
                      .sharpness = block[12],
                      .factor = block[13]};
    sac_perceive_kernel *kernel = sac_perceive_kernel_active();
    for (uint32_t i = 0; i < s->count; i += LANES) {
        size_t bytes = sizeof(float) * (s->count - i < LANES ? s->count - i : LANES);
        for (int k = 0; k < IN; k++) memcpy(block[k], in[k] + i, bytes);
        kernel(frame, &own, 0, LANES);
        for (int k = 0; k < OUT; k++)
            if (out[k]) memcpy(out[k] + i, block[IN + k], bytes);
    }
}

void sac_perceive(const sac_perception_def *def, const sac_focus *focus, const sac_sights *sights)
{
    if (!def || !sights) return;
    sac_perceive_frame frame;
    sac_perceive_frame_init(&frame, def, focus);
    if (aligned(sights) && sights->count % SAC_SIGHT_LANES == 0)
        sac_perceive_kernel_active()(&frame, sights, 0, sights->count);
    else
        perceive_copies(&frame, sights);
}
