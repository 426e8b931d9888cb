/* Mass properties where no closed mesh is at hand: the leaf spheres as solid balls. */
#include "spheretree/build_internal.h"

#include <float.h>
#include <math.h>

/* Huge objects have moments beyond a float; the largest float is then as good as any. */
static float saturate(double value) { return (float)fmax(-FLT_MAX, fmin(FLT_MAX, value)); }

void sac_mass_of_leaf_spheres(const float (*spheres)[4], uint32_t count, sac_mass *out)
{
    const double ball = 4.18879020478639098; /* 4 pi / 3 */
    *out = (sac_mass){0};
    if (count == 0) return;
    double volume = 0, sum[3] = {0}, plain[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        double r = spheres[i][3], v = ball * r * r * r;
        volume += v;
        for (int k = 0; k < 3; k++) sum[k] += v * spheres[i][k], plain[k] += spheres[i][k];
    }
    double centre[3];
    for (int k = 0; k < 3; k++) centre[k] = volume > 0 ? sum[k] / volume : plain[k] / count;

    double inertia[6] = {0};
    for (uint32_t i = 0; i < count; i++) {
        double r = spheres[i][3], v = ball * r * r * r, own = 0.4 * r * r;
        double x = spheres[i][0] - centre[0], y = spheres[i][1] - centre[1], z = spheres[i][2] - centre[2];
        inertia[0] += v * (own + y * y + z * z);
        inertia[1] += v * (own + z * z + x * x);
        inertia[2] += v * (own + x * x + y * y);
        inertia[3] -= v * x * y;
        inertia[4] -= v * y * z;
        inertia[5] -= v * z * x;
    }
    out->volume = saturate(volume);
    for (int k = 0; k < 3; k++) out->centre[k] = saturate(centre[k]);
    for (int k = 0; k < 6; k++) out->inertia[k] = saturate(inertia[k]);
}
