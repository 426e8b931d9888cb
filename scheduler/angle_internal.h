/* Angles on + - * / and square root alone, so that a replay gives the same bits on every machine; libm's may
 * differ in the last one. Private to scheduler/. */
#ifndef SAC_SCHEDULER_ANGLE_INTERNAL_H
#define SAC_SCHEDULER_ANGLE_INTERNAL_H

#include <math.h>

#define SAC_DEGREES 57.2957795130823f
#define SAC_ARCMIN 3437.74677078494f
#define SAC_HALF_PI 1.57079632679490f

/* arccos x = sqrt(1 - x) P(x) on [0, 1], Abramowitz & Stegun 4.4.46: within 2e-8. */
#define SAC_ARCCOS_0 1.5707963050f
#define SAC_ARCCOS_1 -0.2145988016f
#define SAC_ARCCOS_2 0.0889789874f
#define SAC_ARCCOS_3 -0.0501743046f
#define SAC_ARCCOS_4 0.0308918810f
#define SAC_ARCCOS_5 -0.0170881256f
#define SAC_ARCCOS_6 0.0066700901f
#define SAC_ARCCOS_7 -0.0012624911f

static inline float sac_arccos(float x)
{
    float c = fminf(fabsf(x), 1.0f), p = SAC_ARCCOS_7;
    p = p * c + SAC_ARCCOS_6;
    p = p * c + SAC_ARCCOS_5;
    p = p * c + SAC_ARCCOS_4;
    p = p * c + SAC_ARCCOS_3;
    p = p * c + SAC_ARCCOS_2;
    p = p * c + SAC_ARCCOS_1;
    p = p * c + SAC_ARCCOS_0;
    float r = sqrtf(1.0f - c) * p;
    return x >= 0 ? r : 2.0f * SAC_HALF_PI - r;
}

/* Between unit vectors, in degrees; by the chord, which stays exact where the cosine does not. */
static inline float sac_angle_between(const float u[3], const float v[3])
{
    float x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    float half = fminf(0.5f * sqrtf((x * x + y * y) + z * z), 1.0f);
    if (half < 0.02f) return SAC_DEGREES * 2.0f * half * (1.0f + half * half * (1.0f / 6.0f));
    return SAC_DEGREES * 2.0f * (SAC_HALF_PI - sac_arccos(half));
}

/* Sine and cosine by their series, for |x| up to half a turn each way: each factor 1 / (k (k - 1)). */
static inline void sac_sine_cosine(double x, double *out_sine, double *out_cosine)
{
    static const double odd[] = {1.0 / 702, 1.0 / 600, 1.0 / 506, 1.0 / 420, 1.0 / 342, 1.0 / 272, 1.0 / 210,
                                 1.0 / 156, 1.0 / 110, 1.0 / 72,  1.0 / 42,  1.0 / 20,  1.0 / 6};
    static const double even[] = {1.0 / 650, 1.0 / 552, 1.0 / 462, 1.0 / 380, 1.0 / 306, 1.0 / 240, 1.0 / 182,
                                  1.0 / 132, 1.0 / 90,  1.0 / 56,  1.0 / 30,  1.0 / 12,  1.0 / 2};
    double y = x * x, s = 1, c = 1;
    for (int k = 0; k < 13; k++) {
        s = 1 - s * (y * odd[k]);
        c = 1 - c * (y * even[k]);
    }
    *out_sine = s * x;
    *out_cosine = c;
}

#endif
