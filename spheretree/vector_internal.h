/* Arithmetic on float[3] with const arguments, in a fixed order of operations. Private to spheretree/. */
#ifndef SAC_SPHERETREE_VECTOR_INTERNAL_H
#define SAC_SPHERETREE_VECTOR_INTERNAL_H

#include "base/geometry.h"

static inline float sac_v3_dot(const float a[3], const float b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline void sac_v3_sub(const float a[3], const float b[3], float out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

/* a + t * b */
static inline void sac_v3_along(const float a[3], float t, const float b[3], float out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i] + t * b[i];
}

static inline void sac_v3_cross(const float a[3], const float b[3], float out[3])
{
    float x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static inline float sac_v3_length(const float a[3]) { return sqrtf(sac_v3_dot(a, a)); }

static inline void sac_v3_copy(const float a[3], float out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i];
}

/* To length 1; returns the length before. A vector without length (or with too much of it) becomes up. */
static inline float sac_v3_unit(float v[3])
{
    float length = sac_v3_length(v);
    if (!(length > 1e-18f && length <= FLT_MAX)) {
        v[0] = 0, v[1] = 1, v[2] = 0;
        return 0;
    }
    for (int i = 0; i < 3; i++) v[i] /= length;
    return length;
}

/* rows * v, and its inverse for rows that are a rotation. */
static inline void sac_v3_turn(const float rows[3][3], const float v[3], float out[3])
{
    float x = rows[0][0] * v[0] + rows[0][1] * v[1] + rows[0][2] * v[2];
    float y = rows[1][0] * v[0] + rows[1][1] * v[1] + rows[1][2] * v[2];
    float z = rows[2][0] * v[0] + rows[2][1] * v[1] + rows[2][2] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

static inline void sac_v3_turn_back(const float rows[3][3], const float v[3], float out[3])
{
    float x = rows[0][0] * v[0] + rows[1][0] * v[1] + rows[2][0] * v[2];
    float y = rows[0][1] * v[0] + rows[1][1] * v[1] + rows[2][1] * v[2];
    float z = rows[0][2] * v[0] + rows[1][2] * v[1] + rows[2][2] * v[2];
    out[0] = x, out[1] = y, out[2] = z;
}

/* World point into a pose's local space. The difference is taken in double, so that a form far from the
 * origin loses nothing more than its position already has. */
static inline void sac_v3_into(const sac_transform *pose, const float rows[3][3], const float point[3],
                               float out[3])
{
    float d[3], shrink = 1.0f / pose->scale;
    for (int i = 0; i < 3; i++) d[i] = (float)((double)point[i] - (double)pose->translation[i]);
    sac_v3_turn_back(rows, d, out);
    for (int i = 0; i < 3; i++) out[i] *= shrink;
}

/* m (p, 1), in the order the kernels use. */
static inline void sac_v3_move(const float m[3][4], const float p[3], float out[3])
{
    float x = (p[0] * m[0][0] + p[1] * m[0][1]) + (p[2] * m[0][2] + m[0][3]);
    float y = (p[0] * m[1][0] + p[1] * m[1][1]) + (p[2] * m[1][2] + m[1][3]);
    float z = (p[0] * m[2][0] + p[1] * m[2][1]) + (p[2] * m[2][2] + m[2][3]);
    out[0] = x, out[1] = y, out[2] = z;
}

/* fminf and fmaxf are calls, because of NaN; where none can be these are one instruction. */
static inline float sac_least(float a, float b) { return a < b ? a : b; }
static inline float sac_most(float a, float b) { return a > b ? a : b; }

static inline float sac_clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

#endif
