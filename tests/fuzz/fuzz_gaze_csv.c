/* Gaze files and scripts: any bytes give samples the scheduler takes, or an error with a remedy. A text of
 * one short line is tried as a script, too. */
#include "fuzz.h"

#include "xr/xr.h"

static void check_ray(const sac_gaze_ray *ray)
{
    if (!ray->valid) return;
    float square = 0;
    for (int k = 0; k < 3; k++) square += ray->direction[k] * ray->direction[k];
    HOLDS(square > 0.999f && square < 1.001f);
    HOLDS(sac_vec3_is_finite(ray->origin));
    HOLDS(isnan(ray->confidence) || (ray->confidence >= 0 && ray->confidence <= 1));
    HOLDS(isnan(ray->pupil_mm) || ray->pupil_mm > 0);
}

static void check_source(sac_gaze_source *source)
{
    const uint64_t start = 7000000000, delay = 30000000;
    sac_viewer viewer = sac_default_viewer();
    sac_gaze_source_start(source, start);
    for (uint64_t i = 0; i < 48; i++) {
        uint64_t now = start + 7777777 * i * i * (i / 16 + 1);
        sac_gaze_reading reading;
        if (i == 16) sac_gaze_source_delay(source, delay);
        sac_gaze_source_read(source, now, &reading);
        HOLDS(reading.sample_ns <= (i < 16 ? now : now - delay));
        HOLDS(reading.sample_ns == 0 || reading.sample_ns >= start);
        check_ray(&reading.cyclopean);
        check_ray(&reading.left);
        check_ray(&reading.right);
        sac_gaze_to_viewer(&reading, viewer.eyes[0].position, viewer.eyes[0].rotation, &viewer.gaze);
        HOLDS(sac_viewer_check(&viewer, NULL) == SAC_OK);
        sac_gaze_source_read(source, now, &reading);
        HOLDS(!reading.fresh);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int loop = 0; loop < 3; loop++) {
        sac_error error = {0};
        sac_gaze_source *source;
        char script[128];
        sac_result result;
        if (loop < 2) {
            result = sac_gaze_source_csv_text((const char *)data, size, "eye.csv", loop, &source, &error);
        } else {
            if (size >= sizeof script) continue;
            memcpy(script, data, size);
            script[size] = 0;
            result = sac_gaze_source_script(script, 0, &source, &error);
        }
        if (result == SAC_OK) {
            check_source(source);
            sac_gaze_source_close(&source);
        } else {
            HOLDS(!source && error.message[0] && error.remedy[0]);
            HOLDS(loop == 2 || error.line > 0 || error.code == SAC_ERROR_EMPTY);
        }
    }
    return 0;
}
