/* Distance, direction and rays of the primitives. All of them are convex or half-spaces, so along a line the
 * distance is a convex function; advance.c relies on it. */
#include "spheretree/field_internal.h"

#include "spheretree/vector_internal.h"

/* A ball about the nearest point of a core (a point, a segment). */
static float round_distance(const float from_core[3], float radius, float out_normal[3])
{
    sac_v3_copy(from_core, out_normal);
    return sac_v3_unit(out_normal) - radius;
}

static float box_distance(const float half[3], const float p[3], float n[3])
{
    float q[3], out2 = 0;
    int face = 0;
    for (int i = 0; i < 3; i++) {
        q[i] = fabsf(p[i]) - half[i];
        if (q[i] > q[face]) face = i;
        float o = q[i] > 0 ? q[i] : 0;
        out2 += o * o;
        n[i] = p[i] < 0 ? -o : o;
    }
    if (q[face] > 0 && out2 > 1e-30f) {
        float distance = sqrtf(out2);
        for (int i = 0; i < 3; i++) n[i] /= distance;
        return distance;
    }
    for (int i = 0; i < 3; i++) n[i] = 0;
    n[face] = p[face] < 0 ? -1.0f : 1.0f;
    return q[face];
}

float sac_solid_distance(const sac_solid *s, const float p[3], float n[3])
{
    switch (s->kind) {
    case SAC_FORM_SPHERE:
        return round_distance(p, s->radius, n);
    case SAC_FORM_CAPSULE:
        return round_distance((float[3]){p[0], p[1] - sac_clamp(p[1], -s->half[1], s->half[1]), p[2]},
                              s->radius, n);
    case SAC_FORM_BOX:
        return box_distance(s->half, p, n);
    default:
        sac_v3_copy(s->normal, n);
        return sac_v3_dot(s->normal, p) - s->offset;
    }
}

/* ---- rays ---- */

/* A ray's hits come in double: a grazing ray far away leaves few digits. */
static bool ball_ray(const float centre[3], float radius, const float o[3], const float d[3], double most,
                     double *out_t)
{
    double dd = 0, od = 0, oo = 0;
    for (int i = 0; i < 3; i++) {
        double x = (double)o[i] - centre[i];
        dd += (double)d[i] * d[i], od += x * d[i], oo += x * x;
    }
    double nearest = -od / dd, left = (double)radius * radius - (oo - od * od / dd);
    if (left < 0) return false;
    double t = nearest - sqrt(left / dd);
    if (t < 0 || t > most) return false;
    *out_t = t;
    return true;
}

static bool capsule_ray(const sac_solid *s, const float o[3], const float d[3], double most, double *out_t)
{
    bool hit = false;
    double t;
    for (int end = -1; end <= 1; end += 2) {
        if (!ball_ray((float[3]){0, (float)end * s->half[1], 0}, s->radius, o, d, most, &t)) continue;
        most = *out_t = t;
        hit = true;
    }
    /* The tube between them. */
    double a = (double)d[0] * d[0] + (double)d[2] * d[2], b = (double)o[0] * d[0] + (double)o[2] * d[2];
    double c = (double)o[0] * o[0] + (double)o[2] * o[2] - (double)s->radius * s->radius,
           left = b * b - a * c;
    if (!(a > 0) || left < 0) return hit;
    t = (-b - sqrt(left)) / a;
    if (t < 0 || t > most || fabs(o[1] + t * d[1]) > s->half[1]) return hit;
    *out_t = t;
    return true;
}

static bool box_ray(const float half[3], const float o[3], const float d[3], double most, double *out_t,
                    int *out_face)
{
    double enter = 0, leave = most;
    int face = -1;
    for (int i = 0; i < 3; i++) {
        if (d[i] == 0) {
            if (fabsf(o[i]) > half[i]) return false;
            continue;
        }
        double near = (-(double)half[i] - o[i]) / d[i], far = ((double)half[i] - o[i]) / d[i];
        if (near > far) {
            double swap = near;
            near = far, far = swap;
        }
        if (near > enter) enter = near, face = i;
        if (far < leave) leave = far;
    }
    if (enter > leave) return false;
    *out_t = enter;
    *out_face = face;
    return true;
}

bool sac_solid_ray(const sac_solid *s, const float o[3], const float d[3], float most, float *out_t,
                   float n[3])
{
    double t = 0;
    int face = -1;
    if (sac_solid_distance(s, o, n) <= 0) { /* it starts inside */
        *out_t = 0;
        return true;
    }
    switch (s->kind) {
    case SAC_FORM_SPHERE:
        if (!ball_ray((float[3]){0, 0, 0}, s->radius, o, d, most, &t)) return false;
        break;
    case SAC_FORM_CAPSULE:
        if (!capsule_ray(s, o, d, most, &t)) return false;
        break;
    case SAC_FORM_BOX:
        if (!box_ray(s->half, o, d, most, &t, &face)) return false;
        break;
    default: {
        double closing = -((double)d[0] * n[0] + (double)d[1] * n[1] + (double)d[2] * n[2]);
        double above = (double)o[0] * n[0] + (double)o[1] * n[1] + (double)o[2] * n[2] - s->offset;
        if (!(closing > 0)) return false;
        t = above / closing;
        if (t < 0) t = 0;
        if (t > most) return false;
    }
    }
    *out_t = (float)t;
    if (face >= 0) {
        n[0] = n[1] = n[2] = 0;
        n[face] = d[face] > 0 ? -1.0f : 1.0f;
    } else if (s->kind != SAC_FORM_PLANE) {
        float p[3];
        for (int i = 0; i < 3; i++) p[i] = (float)(o[i] + t * d[i]);
        sac_solid_distance(s, p, n);
    }
    return true;
}
