/* Terrain: static triangles under a tree of boxes, or a height field that needs none. Built once, read by any
 * number of threads.
 *
 * Index: sac_terrain_from_mesh  sac_terrain_from_heights  sac_terrain_destroy  sac_terrain_box
 *        sac_terrain_save_memory  sac_terrain_load_memory  sac_terrain_probe  sac_terrain_ray
 */
#ifndef SAC_SPHERETREE_TERRAIN_H
#define SAC_SPHERETREE_TERRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/geometry.h"
#include "mesh.h"

typedef struct sac_terrain sac_terrain;

/* Copies what it needs. Triangles may be open; a body is pushed to the side their normals point to. */
sac_result sac_terrain_from_mesh(const sac_mesh *mesh, sac_terrain **out_terrain, sac_error *error);

/* columns * rows heights, row by row; the grid lies in local x (columns) and z (rows), centred on the origin,
 * with `spacing` between posts. Solid below: in a world down to a twentieth of its diagonal under its lowest
 * post, where forms made of it end. */
sac_result sac_terrain_from_heights(const float *heights, uint32_t columns, uint32_t rows, float spacing,
                                    sac_terrain **out_terrain, sac_error *error);
void sac_terrain_destroy(sac_terrain **terrain);
sac_box sac_terrain_box(const sac_terrain *terrain);

/* What it was made from, as bytes to keep; release them with sac_free(bytes, 1, size). Loading makes the same
 * terrain again, feature for feature; ERROR_CORRUPT, ERROR_VERSION for bytes that are none. */
sac_result sac_terrain_save_memory(const sac_terrain *terrain, void **out_bytes, size_t *out_size,
                                   sac_error *error);
sac_result sac_terrain_load_memory(const void *bytes, size_t size, sac_terrain **out_terrain,
                                   sac_error *error);

typedef struct sac_terrain_touch {
    float closest[3]; /* on the terrain, local */
    float normal[3];  /* unit, from the terrain towards the ball's centre; the triangle's when the centre is
                         below the ground */
    float distance;   /* signed: negative when the centre is below the ground */
    uint32_t feature; /* triangle, or cell * 2 + half; stable while the terrain lives */
} sac_terrain_touch;

/* What a ball touches, within its radius: up to `capacity` touches with normals that differ by more than ten
 * degrees, deepest first. Returns how many; *out_tests counts boxes and triangles looked at. */
uint32_t sac_terrain_probe(const sac_terrain *terrain, const float centre[3], float radius,
                           sac_terrain_touch *out_touches, uint32_t capacity, uint64_t *out_tests);

/* First hit with local origin + t * direction, t in [0, most]; false when there is none. */
bool sac_terrain_ray(const sac_terrain *terrain, const float origin[3], const float direction[3], float most,
                     float *out_t, float out_normal[3], uint32_t *out_feature);

#endif
