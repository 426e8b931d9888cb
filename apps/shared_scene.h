/* Scenes on which engines are compared: the same bodies, poses, box and material for everyone who runs them.
 *
 *   sac_shared_scene scene;
 *   sac_shared_scene_create(&scene, "pile", "t24", 500, SAC_SHARED_SEED, &error);
 *   for (uint32_t i = 0; i < scene.body_count; i++) add(scene.bodies[i].position, ...);
 *   sac_shared_scene_destroy(&scene);
 *
 * One torus (major radius 0.3 m, tube 0.1 m, axis y) as spheres, 1 kg, falls into an open-topped box (pile),
 * flies together from all sides (burst), or lies asleep in the box until one body is thrown (wake).
 *
 * Index: sac_shared_scene_create  sac_shared_scene_destroy  sac_shared_scene_name
 */
#ifndef SAC_APPS_SHARED_SCENE_H
#define SAC_APPS_SHARED_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAC_SHARED_SEED 12345u
#define SAC_SHARED_MOST_BODIES 100000u

typedef enum sac_shared_kind { SAC_SHARED_PILE, SAC_SHARED_BURST, SAC_SHARED_WAKE } sac_shared_kind;

typedef struct sac_shared_body {
    float position[3];
    float rotation[4]; /* x, y, z, w; unit */
    float velocity[3]; /* m/s */
} sac_shared_body;

/* A box that never moves, sides along the axes. */
typedef struct sac_shared_box {
    float centre[3], half[3];
} sac_shared_box;

typedef struct sac_shared_scene {
    sac_shared_kind kind;
    char name[16], shape[16]; /* "pile", "t24" */
    uint32_t body_count, sphere_count, box_count;
    sac_shared_body *bodies;
    float (*spheres)[4];     /* of every body, local: x, y, z, radius; the centre of mass is the origin */
    sac_shared_box boxes[5]; /* floor first, then walls; a burst has none */
    float reach;             /* farthest point of a body from its centre */
    float side, height;      /* of the box inside; the floor is y = 0, the middle x = z = 0. 0: no box */
    float mass;              /* 1 kg */
    float inertia[3];        /* of the solid torus, about x, y, z */
    float friction;          /* 0.5 between any two, not to be combined again */
    float restitution;       /* 0 */
    float gravity[3];
    uint32_t frames; /* how long it is run, at 90 a second */
    /* A wake throws `thrown` with this velocity before frame `throw_frame` of 90 a second; UINT32_MAX: never.
     */
    uint32_t thrown, throw_frame;
    float throw_velocity[3];
} sac_shared_scene;

/* `kind`: pile, burst or wake; `shape`: t24, t100 or t500; 1 to SAC_SHARED_MOST_BODIES bodies. The same
 * numbers on every machine. */
sac_result sac_shared_scene_create(sac_shared_scene *out_scene, const char *kind, const char *shape,
                                   uint32_t bodies, uint64_t seed, sac_error *error);
void sac_shared_scene_destroy(sac_shared_scene *scene);
/* "pile", "burst", "wake"; NULL past the last. */
const char *sac_shared_scene_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
