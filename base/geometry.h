/* Small geometry on cglm types (vec3, mat3, versor): rigid transforms with uniform scale, boxes, directions.
 *
 * Index: sac_transform  sac_transform_identity  sac_transform_point  sac_transform_relative
 *        sac_transform_between  sac_rotation_join
 *        sac_box_empty  sac_box_add  sac_boxes_overlap  sac_box_diagonal  sac_vec3_is_finite
 */
#ifndef SAC_BASE_GEOMETRY_H
#define SAC_BASE_GEOMETRY_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <cglm/vec3.h>
#include <cglm/mat3.h>
#include <cglm/quat.h>

/* x -> rotation * (scale * x) + translation. `rotation` is a unit quaternion in cglm order (x, y, z, w). */
typedef struct sac_transform {
    vec3 translation;
    float scale;
    float rotation[4];
} sac_transform;

static inline sac_transform sac_transform_identity(void)
{
    return (sac_transform){.scale = 1.0f, .rotation = {0, 0, 0, 1}};
}

/* Turning by b, then by a: the product a b of two quaternions. `out` may be one of them, and none needs to be
 * aligned. In place of cglm's, which is wrong on NEON up to 0.8.8 and fuses sums there. */
static inline void sac_rotation_join(const float a[4], const float b[4], float out[4])
{
    float ax = a[0], ay = a[1], az = a[2], aw = a[3], bx = b[0], by = b[1], bz = b[2], bw = b[3];
    out[0] = aw * bx + ax * bw + ay * bz - az * by;
    out[1] = aw * by - ax * bz + ay * bw + az * bx;
    out[2] = aw * bz + ax * by - ay * bx + az * bw;
    out[3] = aw * bw - ax * bx - ay * by - az * bz;
}

/* Rotation as three rows; plain arithmetic so that every path computes the same bits. */
static inline void sac_transform_rows(const sac_transform *t, float rows[3][3])
{
    float x = t->rotation[0], y = t->rotation[1], z = t->rotation[2], w = t->rotation[3];
    rows[0][0] = 1.0f - 2.0f * (y * y + z * z);
    rows[0][1] = 2.0f * (x * y - w * z);
    rows[0][2] = 2.0f * (x * z + w * y);
    rows[1][0] = 2.0f * (x * y + w * z);
    rows[1][1] = 1.0f - 2.0f * (x * x + z * z);
    rows[1][2] = 2.0f * (y * z - w * x);
    rows[2][0] = 2.0f * (x * z - w * y);
    rows[2][1] = 2.0f * (y * z + w * x);
    rows[2][2] = 1.0f - 2.0f * (x * x + y * y);
}

static inline void sac_transform_point(const sac_transform *t, const float point[3], float out[3])
{
    float rows[3][3], p[3] = {point[0] * t->scale, point[1] * t->scale, point[2] * t->scale};
    sac_transform_rows(t, rows);
    for (int i = 0; i < 3; i++)
        out[i] = rows[i][0] * p[0] + rows[i][1] * p[1] + rows[i][2] * p[2] + t->translation[i];
}

/* The transform that takes b's local space into a's local space: a^-1 * b. */
static inline sac_transform sac_transform_relative(const sac_transform *a, const sac_transform *b)
{
    sac_transform out;
    float inverse_scale = 1.0f / a->scale;
    sac_transform inverse = {.scale = inverse_scale,
                             .rotation = {-a->rotation[0], -a->rotation[1], -a->rotation[2], a->rotation[3]}};
    sac_rotation_join(inverse.rotation, b->rotation, out.rotation);
    float delta[3] = {b->translation[0] - a->translation[0], b->translation[1] - a->translation[1],
                      b->translation[2] - a->translation[2]};
    sac_transform_point(&inverse, delta, out.translation);
    out.scale = b->scale * inverse_scale;
    return out;
}

/* From b's local space into a's, as rows (rotation and scale | translation); returns the scale alone. In
 * double, because the two may be far from the origin and close to each other, and for quaternions of any
 * length but zero. */
static inline float sac_transform_between(const sac_transform *a, const sac_transform *b, float out[3][4])
{
    double ax = -(double)a->rotation[0], ay = -(double)a->rotation[1], az = -(double)a->rotation[2];
    double aw = a->rotation[3], bx = b->rotation[0], by = b->rotation[1], bz = b->rotation[2];
    double bw = b->rotation[3], shrink = 1.0 / a->scale, delta[3], rows[2][3][3];
    double turns[2][4] = {{ax, ay, az, aw},
                          {aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
                           aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz}};
    for (int i = 0; i < 2; i++) {
        double x = turns[i][0], y = turns[i][1], z = turns[i][2], w = turns[i][3];
        double s = 2 / (x * x + y * y + z * z + w * w);
        rows[i][0][0] = 1 - s * (y * y + z * z);
        rows[i][0][1] = s * (x * y - w * z);
        rows[i][0][2] = s * (x * z + w * y);
        rows[i][1][0] = s * (x * y + w * z);
        rows[i][1][1] = 1 - s * (x * x + z * z);
        rows[i][1][2] = s * (y * z - w * x);
        rows[i][2][0] = s * (x * z - w * y);
        rows[i][2][1] = s * (y * z + w * x);
        rows[i][2][2] = 1 - s * (x * x + y * y);
    }
    for (int i = 0; i < 3; i++) delta[i] = ((double)b->translation[i] - (double)a->translation[i]) * shrink;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out[i][k] = (float)(rows[1][i][k] * b->scale * shrink);
        out[i][3] = (float)(rows[0][i][0] * delta[0] + rows[0][i][1] * delta[1] + rows[0][i][2] * delta[2]);
    }
    return (float)(b->scale * shrink);
}

static inline bool sac_vec3_is_finite(const float v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

typedef struct sac_box {
    vec3 low, high;
} sac_box;

static inline sac_box sac_box_empty(void)
{
    return (sac_box){{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
}

static inline void sac_box_add(sac_box *box, const float point[3])
{
    for (int i = 0; i < 3; i++) {
        box->low[i] = fminf(box->low[i], point[i]);
        box->high[i] = fmaxf(box->high[i], point[i]);
    }
}

static inline bool sac_boxes_overlap(const sac_box *a, const sac_box *b)
{
    return a->low[0] <= b->high[0] && a->high[0] >= b->low[0] && a->low[1] <= b->high[1] &&
           a->high[1] >= b->low[1] && a->low[2] <= b->high[2] && a->high[2] >= b->low[2];
}

static inline float sac_box_diagonal(const sac_box *box)
{
    double x = (double)box->high[0] - box->low[0], y = (double)box->high[1] - box->low[1],
           z = (double)box->high[2] - box->low[2];
    return (float)sqrt(x * x + y * y + z * z);
}

#endif
