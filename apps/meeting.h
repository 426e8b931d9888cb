/* Two trees in poses that touch, and what a descent knows when it is stopped after so many node tests.
 *
 *   sac_meeting_place(knot, gear, direction, 0.04f, &pose_b, &error);    // 4 % of a diagonal deep
 *   sac_meeting_stop stop;
 *   sac_meeting_run(knot, &pose_a, gear, &pose_b, 1000, &stop, &error);
 *   ... stop.contacts ...
 *   sac_meeting_stop_fini(&stop);
 *
 * Index: sac_meeting_run  sac_meeting_stop_fini  sac_meeting_place
 */
#ifndef SAC_APPS_MEETING_H
#define SAC_APPS_MEETING_H

#include "spheretree/spheretree.h"

#define SAC_MEETING_COMPLETE UINT64_MAX

typedef struct sac_meeting_stop {
    uint64_t allowed, tests; /* node tests */
    double microseconds;     /* median over repeats, from the poses to the front */
    bool complete;
    sac_array(sac_contact) contacts; /* in world coordinates */
    float deepest;                   /* of the contacts */
    float worst_uncertainty, mean_uncertainty;
} sac_meeting_stop;

sac_result sac_meeting_run(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                           const sac_transform *pose_b, uint64_t tests, sac_meeting_stop *out_stop,
                           sac_error *error);
void sac_meeting_stop_fini(sac_meeting_stop *stop);

/* Slides b along `direction` (unit, from a) until the leaves just touch, then back by `depth` diagonals of
 * a's box. pose_b's rotation and scale are kept, its translation is set. */
sac_result sac_meeting_place(const sac_tree *a, const sac_transform *pose_a, const sac_tree *b,
                             const float direction[3], float depth, sac_transform *pose_b, sac_error *error);

#endif
