#include "scheduler/viewer.h"

#include <math.h>

sac_viewer sac_default_viewer(void)
{
    const float across = 0.872664626f, along = 0.785398163f; /* 50 and 45 degrees */
    sac_viewer viewer = {.eye_count = 1, .gaze = {.direction = {0, 0, -1}, .confidence = 1}};
    viewer.eyes[0] = (sac_eye){.rotation = {0, 0, 0, 1},
                               .fov_left = -across,
                               .fov_right = across,
                               .fov_up = along,
                               .fov_down = -along};
    return viewer;
}

static sac_result check_eye(const sac_eye *eye, uint32_t i, sac_error *error)
{
    const float *q = eye->rotation;
    if (!sac_vec3_is_finite(eye->position))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite position", "position of eye %u", i);
    float length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(fabsf(length2 - 1.0f) <= 0.02f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a unit quaternion",
                             "rotation of eye %u is not of length 1", i);
    const float most = 1.5707964f;
    if (!(eye->fov_left >= -most && eye->fov_left < eye->fov_right && eye->fov_right <= most))
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             "give radians, left below right, both within a quarter turn",
                             "field of view of eye %u goes from %g (left) to %g (right)", i,
                             (double)eye->fov_left, (double)eye->fov_right);
    if (!(eye->fov_down >= -most && eye->fov_down < eye->fov_up && eye->fov_up <= most))
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             "give radians, down below up, both within a quarter turn",
                             "field of view of eye %u goes from %g (down) to %g (up)", i,
                             (double)eye->fov_down, (double)eye->fov_up);
    return SAC_OK;
}

static sac_result check_gaze(const sac_gaze_sample *gaze, sac_error *error)
{
    if (!sac_vec3_is_finite(gaze->origin) || !sac_vec3_is_finite(gaze->direction))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "clear `valid` when the tracker has nothing",
                             "gaze is not finite");
    const float *d = gaze->direction;
    if (!(fabsf(d[0]) + fabsf(d[1]) + fabsf(d[2]) > 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "clear `valid` when the tracker has nothing",
                             "gaze has no direction");
    if (gaze->confidence < 0 || gaze->confidence > 1)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give 0 to 1, or NaN when it is unknown",
                             "gaze confidence is %g", (double)gaze->confidence);
    if (!(gaze->error_degrees >= 0 && gaze->error_degrees <= 180))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give 0 to 180 degrees", "gaze error is %g",
                             (double)gaze->error_degrees);
    return SAC_OK;
}

sac_result sac_viewer_check(const sac_viewer *viewer, sac_error *error)
{
    SAC_NEED(error, viewer);
    if (viewer->eye_count > SAC_VIEWER_OWN_EYES && !viewer->more_eyes)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give those beyond 4 as more_eyes",
                             "eye_count is %u and more_eyes is NULL", viewer->eye_count);
    for (uint32_t i = 0; i < viewer->eye_count; i++) {
        sac_result result = check_eye(sac_viewer_eye(viewer, i), i, error);
        if (result != SAC_OK) return result;
    }
    if (viewer->gaze.valid) {
        sac_result result = check_gaze(&viewer->gaze, error);
        if (result != SAC_OK) return result;
    }
    for (uint32_t i = 0; i < SAC_VIEWER_MOST_HANDS; i++) {
        const sac_hand *hand = &viewer->hands[i];
        if (!hand->valid) continue;
        if (!sac_vec3_is_finite(hand->position) || !(hand->radius >= 0 && isfinite(hand->radius)))
            return sac_error_set(error, SAC_ERROR_ARGUMENT,
                                 "give a finite position and a radius of 0 or more", "hand %u", i);
    }
    return SAC_OK;
}
