/* A soft body as a whole: where it is, how it moves, how far it reaches.
 *
 * Index: sac_soft_motion_of  sac_soft_set_velocity  sac_soft_node_at  sac_soft_lump  sac_soft_push_lump
 *        sac_soft_energy
 */
#ifndef SAC_DEFORM_SOFT_MOTION_H
#define SAC_DEFORM_SOFT_MOTION_H

#include "soft_tree.h"

typedef struct sac_soft_motion {
    float centre[3], velocity[3]; /* of mass */
    float radius;                 /* of the farthest point, about the centre */
    float spread;                 /* of the fastest point, m/s against `velocity` */
    sac_box box;                  /* of the points */
} sac_soft_motion;
void sac_soft_motion_of(const sac_soft *soft, sac_soft_motion *out_motion);

/* Every point moves as on a rigid body that turns about `centre`. */
void sac_soft_set_velocity(sac_soft *soft, const float centre[3], const float velocity[3],
                           const float spin[3]);

/* The deepest node of the tree that has the point nearest to `where` and at least `least` points. */
uint32_t sac_soft_node_at(const sac_soft_tree *tree, const sac_soft *soft, const float where[3],
                          uint32_t least);
/* Mean position and velocity of a node's points; returns their mass in the model's kg. */
float sac_soft_lump(const sac_soft_tree *tree, const sac_soft *soft, uint32_t node, float out_centre[3],
                    float out_velocity[3]);
/* Changes the velocity of a node's points; held ones keep theirs. */
void sac_soft_push_lump(const sac_soft_tree *tree, sac_soft *soft, uint32_t node, const float change[3]);
/* Sum of m v2 / 2 and of m x, in the model's kg. */
double sac_soft_energy(const sac_soft *soft, double out_moment[3]);

#endif
