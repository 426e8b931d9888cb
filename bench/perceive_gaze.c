/* Where an eye looks: fixation, pursuit, saccades. */
#include <math.h>

#include "base/rng.h"
#include "bench/perceive.h"

static const char *const names[SAC_TRACE_COUNT] = {"fixation", "pursuit", "saccades"};
const char *sac_trace_name(sac_trace trace) { return names[trace]; }

/* A fixed head start, so that a late sample of the first frame exists too. */
static const double before = 1.0;

/* The n-th place the eye rests at. */
static void place(uint64_t seed, uint32_t n, float *yaw, float *pitch, double *rest)
{
    sac_rng rng = sac_rng_seed(seed * 7919u + n);
    *yaw = sac_rng_range(&rng, -22, 22);
    *pitch = sac_rng_range(&rng, -14, 10);
    *rest = (double)sac_rng_range(&rng, 0.2f, 0.4f);
}

static sac_gaze_now saccades(uint64_t seed, double t)
{
    float yaw, pitch;
    double rest, begin = 0;
    place(seed, 0, &yaw, &pitch, &rest);
    for (uint32_t n = 1;; n++) {
        float next_yaw, next_pitch;
        double next_rest;
        place(seed, n, &next_yaw, &next_pitch, &next_rest);
        if (t < begin + rest) return (sac_gaze_now){yaw, pitch, 0};
        begin += rest;
        float across = next_yaw - yaw, up = next_pitch - pitch, size = sqrtf(across * across + up * up);
        double lasts = 0.021 + 0.0022 * (double)size, s = (t - begin) / lasts;
        if (s < 1) {
            /* The smoothest way there: minimum jerk, whose peak is 1.875 times its mean speed. */
            float way = (float)(s * s * s * (10 + s * (6 * s - 15)));
            float rate = (float)(30 * s * s * (1 - s) * (1 - s) / lasts);
            return (sac_gaze_now){yaw + way * across, pitch + way * up, rate * size};
        }
        begin += lasts;
        yaw = next_yaw, pitch = next_pitch, rest = next_rest;
    }
}

sac_gaze_now sac_trace_direction(sac_trace trace, uint64_t seed, double seconds)
{
    double t = seconds + before, rest;
    float yaw, pitch;
    place(seed, 0, &yaw, &pitch, &rest);
    if (trace == SAC_TRACE_FIXATION) return (sac_gaze_now){0.5f * yaw, 0.5f * pitch, 0};
    if (trace == SAC_TRACE_SACCADES) return saccades(seed, t);
    double turn = 6.283185307179586 * 0.25, phase = (double)yaw * 0.2;
    float reach = 19; /* 19 degrees * 2 pi * 0.25 Hz: 30 degrees a second in the middle */
    return (sac_gaze_now){reach * (float)sin(turn * t + phase), 0.3f * pitch,
                          reach * (float)(turn * fabs(cos(turn * t + phase)))};
}
