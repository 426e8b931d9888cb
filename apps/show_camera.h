/* A camera that circles what it looks at, and the eyes behind it.
 *
 *   sac_show_camera camera = sac_show_camera_of(staging);
 *   camera.yaw += 0.01f;
 *   uint32_t count = sac_show_camera_eyes(&camera, width, height, stereo, eyes);
 *
 * Index: sac_show_camera_of  sac_show_camera_look  sac_show_camera_head  sac_show_camera_eyes
 */
#ifndef SAC_APPS_SHOW_CAMERA_H
#define SAC_APPS_SHOW_CAMERA_H

#include "apps/staging.h"

typedef struct sac_show_camera {
    float target[3];
    float yaw, pitch; /* radians: where the camera stands, seen from the target; 0, 0: along +z, level */
    float distance;
    float turn; /* radians to the left the head is turned, about where it stands */
    float fov;  /* radians up and down */
    float ipd;  /* between the eyes, metres */
} sac_show_camera;

/* As the scene's viewer stands. */
sac_show_camera sac_show_camera_of(const sac_staging *staging);
/* From here to there. */
void sac_show_camera_look(sac_show_camera *camera, const float eye[3], const float target[3]);
void sac_show_camera_head(const sac_show_camera *camera, float out_position[3], float out_rotation[4]);
/* One eye, or two that share the picture side by side; returns how many. */
uint32_t sac_show_camera_eyes(const sac_show_camera *camera, uint32_t width, uint32_t height, bool stereo,
                              sac_eye out_eyes[2]);

#endif
