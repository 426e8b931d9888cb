/* How wrong a pair looks: the error left in it, in just-noticeable differences (JND).
 *
 *   angle = uncertainty / distance, as arcminutes, at the contact region; never more than the smaller body's
 *   MAR(e) = 0.7646 (1 + e / 2.3 degrees) arcminutes, e = max(0, eccentricity - guard)
 *   jnd = angle / MAR, for the eye it is seen best by
 *   priority = jnd * weight * (in view ? 1 : out_of_view) * (1 + w_v * image speed / v_ref)
 *              / (1 + w_d * similar)
 *
 *   sac_perceive(&def, &focus, &sights);      // arrays in, arrays out
 *
 * A pair is in view when its region is within `extent` of an eye's field of view. Image speed counts up to
 * ten times v_ref. Distances below 5 cm count as 5 cm. What is not a number counts as 0.
 *
 * Index: sac_default_perception_def  sac_perceive  sac_mar_arcmin
 */
#ifndef SAC_SCHEDULER_PERCEPTION_H
#define SAC_SCHEDULER_PERCEPTION_H

#include "viewer.h"

typedef struct sac_perception_def {
    float out_of_view;       /* weight of what no eye sees; default 0.02 */
    float speed_weight;      /* w_v; default 0.5 */
    float speed_ref;         /* v_ref, degrees a second; default 10; 0: speed does not matter */
    float distractor_weight; /* w_d; default 0.05 */
    float most_jnd;          /* default 1000 */
} sac_perception_def;

/* Arrays of one value a pair, any length. Fastest when they are aligned to 32 bytes and a multiple of eight
 * long; sac_alloc's are aligned. */
typedef struct sac_sights {
    uint32_t count;
    const float *x, *y, *z;    /* contact region, world */
    const float *uncertainty;  /* world units the gap or depth may be off by */
    const float *extent;       /* world size of the smaller body: no error looks larger */
    const float *vx, *vy, *vz; /* velocity of the region, world units a second */
    const float *weight;       /* the caller's, >= 0; 1 by default */
    const float *similar;      /* distractors like it nearby */
    float *jnd;                /* out: visible error */
    float *priority;           /* out */
    float *sharpness;          /* out, may be NULL: JNDs a world unit of error is worth */
    float *factor;             /* out, may be NULL: priority / jnd */
} sac_sights;

sac_perception_def sac_default_perception_def(void);
/* Eight pairs at a time; all SIMD paths give the same bits. With no eyes (or `focus` NULL) jnd is the
 * uncertainty in millimetres, and priority that times weight. */
void sac_perceive(const sac_perception_def *def, const sac_focus *focus, const sac_sights *sights);

/* Smallest visible angle at an eccentricity, arcminutes (Geisler & Perry 1998). */
#define SAC_MAR_FOVEA 0.7646f
#define SAC_MAR_E2 2.3f
static inline float sac_mar_arcmin(float eccentricity_degrees)
{
    return SAC_MAR_FOVEA * (1.0f + eccentricity_degrees * (1.0f / SAC_MAR_E2));
}

#endif
