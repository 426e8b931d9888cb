/* What perception's kernels share. Private to scheduler/. */
#ifndef SAC_SCHEDULER_PERCEIVE_INTERNAL_H
#define SAC_SCHEDULER_PERCEIVE_INTERNAL_H

#include "scheduler/perception.h"

#define SAC_SIGHT_LANES 8u
#define SAC_SIGHT_PLANES 5u

void sac_focus_eye_ready(const sac_eye *eye, const float axis[3], sac_focus_eye *out);

/* A focus made ready for the kernels. */
typedef struct sac_perceive_frame {
    uint32_t eye_count;
    sac_focus_eye eyes[SAC_VIEWER_OWN_EYES];
    const sac_focus_eye *more; /* beyond those */
    float guard;               /* degrees */
    float nearest;             /* 1 / the least distance reckoned with */
    float out_of_view, speed_weight, speed_most, distractor_weight, most_jnd;
} sac_perceive_frame;

/* Pairs first..last-1; first is a multiple of eight, arrays are aligned to 32 bytes. */
typedef void sac_perceive_kernel(const sac_perceive_frame *frame, const sac_sights *sights, uint32_t first,
                                 uint32_t last);
sac_perceive_kernel sac_perceive_scalar, sac_perceive_sse2, sac_perceive_avx2, sac_perceive_avx512,
    sac_perceive_neon;
sac_perceive_kernel *sac_perceive_kernel_active(void);

/* `focus` may be NULL. */
void sac_perceive_frame_init(sac_perceive_frame *frame, const sac_perception_def *def,
                             const sac_focus *focus);

#endif
