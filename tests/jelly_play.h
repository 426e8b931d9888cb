/* The smallest soft body, for tests of worlds and for fuzzers. */
#ifndef SAC_TESTS_JELLY_PLAY_H
#define SAC_TESTS_JELLY_PLAY_H

#include "deform/deform.h"

/* A cube of points that gives way; NULL when out of memory. */
static inline sac_soft_shape *play_jelly(void)
{
    static const uint32_t faces[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                          {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    float points[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) points[i][k] = i >> k & 1 ? 0.15f : -0.15f;
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.points = (const float(*)[3])points, def.point_count = 8;
    def.triangles = faces, def.triangle_count = 12;
    def.soft.mode = SAC_SOFT_LINEAR;
    sac_soft_shape *shape = NULL;
    sac_soft_shape_create(&def, &shape, NULL);
    return shape;
}

#endif
