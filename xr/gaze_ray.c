#include "xr/gaze_internal.h"

#include <math.h>
#include <string.h>

sac_gaze_ray sac_gaze_ray_none(void)
{
    return (sac_gaze_ray){.direction = {0, 0, -1}, .confidence = NAN, .pupil_mm = NAN};
}

void sac_gaze_direction(double yaw_degrees, double pitch_degrees, float out[3])
{
    const double radians = 0.017453292519943295;
    double yaw = yaw_degrees * radians, pitch = pitch_degrees * radians;
    out[0] = (float)(sin(yaw) * cos(pitch));
    out[1] = (float)sin(pitch);
    out[2] = (float)(-cos(yaw) * cos(pitch));
}

sac_gaze_numbers sac_gaze_numbers_begin(void)
{
    sac_gaze_numbers numbers = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (numbers.plain) numbers.before = uselocale(numbers.plain);
    return numbers;
}

void sac_gaze_numbers_end(sac_gaze_numbers *numbers)
{
    if (!numbers->plain) return;
    uselocale(numbers->before);
    freelocale(numbers->plain);
    numbers->plain = (locale_t)0;
}

void sac_gaze_from_pixel(const sac_eye *eye, uint32_t width, uint32_t height, float x, float y,
                         sac_gaze_ray *out_ray)
{
    *out_ray = sac_gaze_ray_none();
    if (!width || !height) return;
    double left = tan(eye->fov_left), right = tan(eye->fov_right), up = tan(eye->fov_up),
           down = tan(eye->fov_down);
    double sideways = left + (double)x / width * (right - left),
           upward = up + (double)y / height * (down - up);
    double length = sqrt(sideways * sideways + upward * upward + 1);
    if (!isfinite(length)) return;
    out_ray->valid = true;
    out_ray->direction[0] = (float)(sideways / length);
    out_ray->direction[1] = (float)(upward / length);
    out_ray->direction[2] = (float)(-1 / length);
    out_ray->confidence = 1;
}

void sac_gaze_to_viewer(const sac_gaze_reading *reading, const float head_position[3],
                        const float head_rotation[4], sac_gaze_sample *out_sample)
{
    const sac_gaze_ray *ray = &reading->cyclopean;
    *out_sample =
        (sac_gaze_sample){.valid = ray->valid, .time_ns = reading->sample_ns, .confidence = ray->confidence};
    memcpy(out_sample->origin, ray->origin, sizeof out_sample->origin);
    memcpy(out_sample->direction, ray->direction, sizeof out_sample->direction);
    if (reading->world) return;
    sac_transform head = {.scale = 1}, turn = {.scale = 1};
    memcpy(head.translation, head_position, sizeof(float[3]));
    memcpy(head.rotation, head_rotation, sizeof head.rotation);
    memcpy(turn.rotation, head_rotation, sizeof turn.rotation);
    sac_transform_point(&head, ray->origin, out_sample->origin);
    sac_transform_point(&turn, ray->direction, out_sample->direction);
}
