/* Motion of two forms through a step, shared by the two ways of advancing them. Private to spheretree/. */
#ifndef SAC_SPHERETREE_ADVANCE_INTERNAL_H
#define SAC_SPHERETREE_ADVANCE_INTERNAL_H

#include "spheretree/meeting_internal.h"
#include "spheretree/vector_internal.h"

/* A form that turns about a point while the point moves on a straight line. Positions are relative to where
 * a's point is at the start, so that worlds far from the origin keep their digits. */
typedef struct sac_mover {
    const sac_form *form;
    float start[3], turn[4], scale, centre[3]; /* at the start; centre: local */
    float v[3], w[3], spin;                    /* a step; spin is the length of w */
    float at[3], rows[3][3];                   /* now */
} sac_mover;

/* To this share of the step. */
void sac_mover_go(sac_mover *mover, float share);

/* A local point of the form, relative to the turning point, now. */
static inline void sac_mover_arm(const sac_mover *m, const float local[3], float out[3])
{
    float d[3];
    for (int i = 0; i < 3; i++) d[i] = (local[i] - m->centre[i]) * m->scale;
    sac_v3_turn(m->rows, d, out);
}

/* v + w x arm */
static inline void sac_mover_velocity(const sac_mover *m, const float arm[3], float out[3])
{
    sac_v3_cross(m->w, arm, out);
    for (int i = 0; i < 3; i++) out[i] += m->v[i];
}

/* Boxes and capsules against each other and against terrain; see advance_convex.c. */
float sac_advance_convex(sac_mover *a, sac_mover *b, float allowed, uint64_t credits, uint64_t *tests);

/* Turns of this many radians are looked at at once: beyond, an arc is too far from its tangent. */
#define SAC_ADVANCE_TURN 0.5f
#define SAC_ADVANCE_ROUNDS 24

#endif
