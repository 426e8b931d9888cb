/* When two space-time bounds could first meet. */
#include <float.h>
#include <math.h>

#include "runtime/broad_internal.h"

/* The gap closes at most as g - w t - M t^2 / 2 (literature: Hubbard's parabolic horns); its first zero. In
 * double, where no float squared overflows, and in the form without cancellation:
 * t* = (-w + sqrt(w^2 + 2 M g)) / M = 2 g / (w + sqrt(w^2 + 2 M g)). */
float sac_horn_meet(float g, float w, float M)
{
    if (!(g > 0.0f)) return 0.0f;
    if (isnan(w) || isnan(M)) return 0.0f;
    double gap = g, speed = w, pull = M > 0.0f ? M : 0.0f;
    if (pull == 0.0 && speed <= 0.0) return FLT_MAX;
    double root = sqrt(speed * speed + 2.0 * pull * gap);
    double t = speed >= 0.0 ? 2.0 * gap / (speed + root) : (root - speed) / pull;
    /* Rounding to nearest could say a moment too late; a few last places early is safe. */
    t *= 1.0 - 0x1p-22;
    return t < (double)FLT_MAX ? (float)t : FLT_MAX;
}
