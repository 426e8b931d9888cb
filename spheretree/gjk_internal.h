/* Distance of two convex hulls. Private to spheretree/. */
#ifndef SAC_SPHERETREE_GJK_INTERNAL_H
#define SAC_SPHERETREE_GJK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sac_hull {
    float points[8][3];
    uint32_t count;
} sac_hull;

/* Distance of the hulls, 0 when they touch; out_normal from a to b, unit, only when it is not 0. */
float sac_hulls_apart(const sac_hull *a, const sac_hull *b, float out_normal[3]);

#endif
