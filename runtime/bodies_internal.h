/* Shared by what makes bodies, checks them and changes them. */
#ifndef SAC_RUNTIME_BODIES_INTERNAL_H
#define SAC_RUNTIME_BODIES_INTERNAL_H

#include "runtime/operations_internal.h"

/* body_checks.c: ERROR_ARGUMENT that names a field, and for an id of nobody. */
sac_result sac_body_wrong(sac_error *error, const char *field, const char *remedy);
sac_result sac_body_stale(sac_error *error);
bool sac_body_near_origin(const sac_world *world, const float p[3]);
/* Within a hundredth of length 1, and then exactly. */
bool sac_body_unit(const float q[4], float out[4]);
sac_result sac_body_check_material(const sac_material *m, sac_error *error);
sac_result sac_body_check_motion(float gravity_scale, float linear, float angular, float speed, float spin,
                                 sac_error *error);
/* The whole definition; `cold` and the rotation are what it comes to. */
sac_result sac_body_check_def(const sac_world *world, const sac_body_def *def, sac_body_cold *cold,
                              float rotation[4], sac_error *error);
/* Mass and inverse inertia of a dynamic body into cold. */
sac_result sac_body_weigh(const sac_body_def *def, const sac_form *form, sac_body_cold *cold,
                          sac_error *error);

/* bodies.c: the centre of mass from the pose. */
void sac_body_place_centre(sac_world *world, uint32_t slot);
/* At once, not with its next turn: until then it may fly on as fast as it was told. */
void sac_body_obey_limits(sac_world *world, uint32_t slot);
/* SAC_BODY_PLAIN: it falls as all others do. */
uint32_t sac_body_plain(const sac_body_cold *cold);
/* And what touches it: what lay on it must not hang in the air. A support that does not yield is in no
 * island, so its own waking does not do that. */
void sac_body_wake_with_touched(sac_world *world, uint32_t slot);

#endif
