/* What a picture shows: clay meshes, solid balls, translucent bubbles and bright marks over a light ground,
 * seen by one camera. Rendered in software: exact spheres, 16 samples a pixel, and a studio of some two
 * hundred lights with a shadow map each, which gives soft shadows and ambient occlusion in one go.
 *
 *   sac_scene scene = {0};
 *   sac_scene_add_mesh(&scene, mesh, NULL, clay);
 *   sac_camera camera = sac_camera_frame(&(const sac_scene *){&scene}, 1, view, width, height);
 *   sac_scene_render(&scene, &camera, &picture, 0, 0, width, height, threads);
 *   sac_scene_fini(&scene);
 *
 * Index: sac_scene_add_mesh  sac_scene_add_ball  sac_scene_add_arrow  sac_scene_fini  sac_camera_frame
 *        sac_scene_render
 */
#ifndef SAC_APPS_SCENE_H
#define SAC_APPS_SCENE_H

#include "apps/picture.h"
#include "base/memory.h"
#include "spheretree/spheretree.h"

typedef struct sac_scene_triangle {
    float corner[3][3], normal[3][3];
    float albedo[3];
} sac_scene_triangle;

typedef struct sac_scene_ball {
    float centre[3], radius;
    float albedo[3];
} sac_scene_ball;

typedef enum sac_ball_look {
    SAC_BALL_SOLID,  /* glossy, casts shadows */
    SAC_BALL_BUBBLE, /* translucent, no shadow */
    SAC_BALL_MARK,   /* bright, shines through what is in front */
    SAC_BALL_LOOKS
} sac_ball_look;

typedef struct sac_scene {
    sac_array(sac_scene_triangle) triangles;
    sac_array(sac_scene_ball) balls[SAC_BALL_LOOKS];
    bool busy;   /* many small things: a third of the lights will do */
    bool framed; /* shadows reach the sides; else they fade there, because another panel follows */
} sac_scene;

/* Degrees: azimuth around the upright axis, elevation above the horizon. `z_up`: the z axis is upright. */
typedef struct sac_view {
    double azimuth, elevation;
    bool z_up;
} sac_view;

typedef struct sac_camera {
    float eye[3], right[3], up[3], forward[3];
    float upright[3];         /* the world's up */
    float focal;              /* pixels a unit at distance 1 */
    float middle_x, middle_y; /* of the optical axis, in pixels of the rendered area */
} sac_camera;

/* False when out of memory. Creases sharper than 40 degrees stay sharp. NULL transform: as it is. */
bool sac_scene_add_mesh(sac_scene *scene, const sac_mesh *mesh, const sac_transform *transform,
                        const float albedo[3]);
bool sac_scene_add_ball(sac_scene *scene, sac_ball_look look, const float centre[3], float radius,
                        const float albedo[3]);
/* A needle of marks from `from` along `direction`. */
bool sac_scene_add_arrow(sac_scene *scene, const float from[3], const float direction[3], float length,
                         float radius, const float albedo[3]);
void sac_scene_fini(sac_scene *scene);

/* A camera that has everything in all the scenes in view. */
sac_camera sac_camera_frame(const sac_scene *const *scenes, uint32_t count, sac_view view, uint32_t width,
                            uint32_t height);

/* Into the rectangle of the picture. The ground lies under the lowest point. False when out of memory. */
bool sac_scene_render(const sac_scene *scene, const sac_camera *camera, sac_picture *picture, uint32_t left,
                      uint32_t top, uint32_t width, uint32_t height, uint32_t threads);

#endif
