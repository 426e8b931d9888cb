#include "apps/show_camera.h"

#include <math.h>
#include <string.h>

static const float DEGREE = 0.01745329252f;

void sac_show_camera_look(sac_show_camera *camera, const float eye[3], const float target[3])
{
    float d[3];
    for (int k = 0; k < 3; k++) d[k] = eye[k] - target[k];
    float flat = sqrtf(d[0] * d[0] + d[2] * d[2]);
    memcpy(camera->target, target, sizeof camera->target);
    camera->distance = fmaxf(sqrtf(flat * flat + d[1] * d[1]), 0.01f);
    camera->yaw = flat > 0 ? atan2f(d[0], d[2]) : 0;
    camera->pitch = atan2f(d[1], flat);
}

sac_show_camera sac_show_camera_of(const sac_staging *staging)
{
    sac_show_camera camera = {.fov = 58 * DEGREE, .ipd = 0.063f};
    sac_show_camera_look(&camera, staging->eye, staging->target);
    return camera;
}

void sac_show_camera_head(const sac_show_camera *c, float out_position[3], float out_rotation[4])
{
    float flat = cosf(c->pitch) * c->distance, away[3];
    away[0] = flat * sinf(c->yaw), away[1] = sinf(c->pitch) * c->distance, away[2] = flat * cosf(c->yaw);
    for (int k = 0; k < 3; k++) {
        out_position[k] = c->target[k] + away[k];
        away[k] = -away[k];
    }
    float left[4] = {0, sinf(0.5f * c->turn), 0, cosf(0.5f * c->turn)};
    sac_look_rotation(away, out_rotation);
    sac_rotation_join(left, out_rotation, out_rotation);
}

uint32_t sac_show_camera_eyes(const sac_show_camera *c, uint32_t width, uint32_t height, bool stereo,
                              sac_eye out[2])
{
    sac_transform head = {.scale = 1};
    float position[3], up = tanf(0.5f * c->fov);
    uint32_t count = stereo ? 2 : 1;
    float across = up * (float)width / (float)count / (float)(height ? height : 1);
    sac_show_camera_head(c, position, head.rotation);
    memcpy(head.translation, position, sizeof position);
    for (uint32_t i = 0; i < count; i++) {
        float offset[3] = {stereo ? ((float)i - 0.5f) * c->ipd : 0, 0, 0};
        sac_eye *eye = &out[i];
        sac_transform_point(&head, offset, eye->position);
        memcpy(eye->rotation, head.rotation, sizeof eye->rotation);
        eye->fov_up = atanf(up), eye->fov_down = -eye->fov_up;
        eye->fov_right = atanf(across), eye->fov_left = -eye->fov_right;
    }
    return count;
}
