/* What the built-in scenes are made with; apps/staging_builtin.c, _vr.c and _soft.c only. */
#ifndef SAC_APPS_STAGING_PLAN_INTERNAL_H
#define SAC_APPS_STAGING_PLAN_INTERNAL_H

#include "apps/staging.h"

typedef struct sac_plan {
    sac_staging *staging;
    uint32_t bodies;
    const char *shape; /* NULL: the scene has several of its own */
    uint64_t seed;
    sac_error *error;
} sac_plan;

#define SAC_TORUS_ACROSS 0.8f /* other shapes are scaled to this, the largest side of their box */

sac_result sac_plan_no_memory(const sac_plan *p);
bool sac_plan_is_torus(const char *shape);
/* The shape all bodies of a scene have, as a prop, and a body of it `across` metres large and of 1 kg: a
 * torus as it is, others scaled. *out_half (may be NULL) is half the sides of its box. */
sac_result sac_plan_cast(sac_plan *p, float across, uint32_t *out_prop, sac_body_def *out_def,
                         float out_half[3]);
/* Uniform in the ball of radius 1. */
void sac_plan_in_ball(sac_rng *rng, float out[3]);
void sac_plan_turn(sac_rng *rng, float out[4]);
uint32_t sac_plan_floor(sac_plan *p);
/* Who is farther away is lost: `least`, and wider where a crowd is set up near its edge or beyond it. */
void sac_plan_bound(sac_plan *p, sac_box least);
/* A scene of shared_scene.h: pile, burst, wake. */
sac_result sac_plan_shared(sac_plan *p, const char *kind);

sac_result sac_plan_workshop(sac_plan *p);
sac_result sac_plan_hailstorm(sac_plan *p);
sac_result sac_plan_billiards(sac_plan *p);
sac_result sac_plan_side_by_side(sac_plan *p);

sac_result sac_plan_flowers(sac_plan *p);
sac_result sac_plan_three_hundred(sac_plan *p);
sac_result sac_plan_santas(sac_plan *p);
sac_result sac_plan_jelly(sac_plan *p);

static inline void sac_staging_set_view(sac_staging *staging, const float eye[3], const float target[3])
{
    memcpy(staging->eye, eye, sizeof staging->eye);
    memcpy(staging->target, target, sizeof staging->target);
}

static inline void sac_staging_set_light(sac_staging *staging, const float sun[3], float shade)
{
    memcpy(staging->sun, sun, sizeof staging->sun);
    staging->shade = shade;
}

#endif
