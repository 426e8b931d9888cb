/* Props that have no mesh of their own, as triangles to draw.
 *
 * Index: sac_prop_mesh  sac_prop_mesh_torus  sac_prop_mesh_heights  sac_prop_mesh_box  sac_prop_mesh_capsule
 */
#ifndef SAC_APPS_PROP_MESH_H
#define SAC_APPS_PROP_MESH_H

#include "apps/staging.h"

/* All NULL when out of memory; release with sac_mesh_destroy. */

/* A ring of `steps` times `around` quads: what the sets of spheres t24, t100 and t500 stand for. At most 48
 * times 24. */
sac_mesh *sac_prop_mesh_torus(uint32_t steps, uint32_t around);
sac_mesh *sac_prop_mesh_heights(const sac_prop *prop);
/* `bevel`: width of the cut edges, metres; 0: sharp. */
sac_mesh *sac_prop_mesh_box(const float half[3], float bevel);
/* Along y; half_length 0: a ball. */
sac_mesh *sac_prop_mesh_capsule(float radius, float half_length);

#endif
