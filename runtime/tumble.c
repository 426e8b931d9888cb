/* Tumbling: what is longer one way than another does not keep turning about one axis. Its angular momentum
 * stays where it is while its inertia turns with it, so from one pose to the next the spin changes. Energy is
 * kept to the last digits: the momentum gives the direction of the new spin, the energy its size. */
#include "runtime/world_internal.h"

#include <string.h>

/* Slower than this a step, a body turns about one axis for all that can be seen. */
static const float LEAST_TURN = 1e-3f;
/* Of the turn that was looked at, and of the body's thickness: no more is added. */
static const float MOST_SHARE = 0.1f, MOST_WAY = 0.05f;

typedef struct symmetric {
    float xx, yy, zz, xy, xz, yz;
} symmetric;

static void times(const symmetric *m, const float x[3], float out[3])
{
    out[0] = m->xx * x[0] + m->xy * x[1] + m->xz * x[2];
    out[1] = m->xy * x[0] + m->yy * x[1] + m->yz * x[2];
    out[2] = m->xz * x[0] + m->yz * x[1] + m->zz * x[2];
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* m in the axes of the rotation q, applied to a vector of the world. */
static void turned_times(const symmetric *m, const float q[4], const float x[3], float out[3])
{
    sac_transform pose = {.scale = 1};
    float r[3][3], local[3], there[3];
    memcpy(pose.rotation, q, sizeof pose.rotation);
    sac_transform_rows(&pose, r);
    for (int i = 0; i < 3; i++) local[i] = r[0][i] * x[0] + r[1][i] * x[1] + r[2][i] * x[2];
    times(m, local, there);
    for (int i = 0; i < 3; i++) out[i] = r[i][0] * there[0] + r[i][1] * there[1] + r[i][2] * there[2];
}

/* The inverse of an inertia without its size, and that of its inverse up to a factor; false for what turns
 * alike about every axis, or about none. */
static bool inertia_of(const float inverse[6], symmetric *small, symmetric *large, float *determinant)
{
    float most = fmaxf(inverse[0], fmaxf(inverse[1], inverse[2]));
    float least = fminf(inverse[0], fminf(inverse[1], inverse[2]));
    float beside = fabsf(inverse[3]) + fabsf(inverse[4]) + fabsf(inverse[5]);
    if (!(least > 1e-4f * most) || !(most - least + beside > 1e-3f * most)) return false;
    const float f = 1 / most;
    symmetric m = {inverse[0] * f, inverse[1] * f, inverse[2] * f,
                   inverse[3] * f, inverse[4] * f, inverse[5] * f};
    *small = m;
    *large = (symmetric){.xx = m.yy * m.zz - m.yz * m.yz,
                         .yy = m.xx * m.zz - m.xz * m.xz,
                         .zz = m.xx * m.yy - m.xy * m.xy,
                         .xy = m.xz * m.yz - m.xy * m.zz,
                         .xz = m.xy * m.yz - m.xz * m.yy,
                         .yz = m.xy * m.xz - m.yz * m.xx};
    *determinant = m.xx * large->xx + m.xy * large->xy + m.xz * large->xz;
    return *determinant > 1e-6f;
}

void sac_body_tumble(sac_world *world, uint32_t slot, bool closely)
{
    sac_body_hot *hot = &world->hot[slot];
    const float *before = world->pose[slot].rotation, dt = world->step_dt, *w = hot->w;
    symmetric small, large;
    float determinant, momentum[3], spin[3] = {w[0], w[1], w[2]}, turned[3], square = dot(w, w);
    if (!(square * dt * dt > LEAST_TURN * LEAST_TURN) || !(square < 1e12f)) return;
    if (!inertia_of(world->cold[slot].inverse_inertia, &small, &large, &determinant)) return;
    turned_times(&large, before, w, momentum);
    float energy = dot(w, momentum) / determinant, part = dot(hot->turned, w) / (dt * square);
    part = part > 0 ? fminf(part, 1) : 0;
    memcpy(turned, hot->turned, sizeof turned);
    /* Once with the turn as it is; closely, once more with that of the middle of the way. */
    for (int pass = closely ? 0 : 1; pass < 2; pass++) {
        float q[4], size;
        memcpy(q, before, sizeof q);
        sac_turn(q, turned);
        turned_times(&small, q, momentum, spin);
        size = dot(spin, momentum);
        if (!(size > 0 && energy > 0)) return;
        size = sqrtf(energy / size);
        for (int i = 0; i < 3; i++) spin[i] *= size;
        if (pass) break;
        float more[3], most = fminf(MOST_SHARE * sqrtf(dot(turned, turned)),
                                    MOST_WAY * hot->thickness / fmaxf(hot->radius, 1e-9f));
        for (int i = 0; i < 3; i++) more[i] = 0.5f * part * dt * (spin[i] - w[i]);
        float length = sqrtf(dot(more, more)), f = length > most ? most / length : 1;
        for (int i = 0; i < 3; i++) turned[i] += f * more[i];
    }
    if (!sac_vec3_is_finite(spin) || !sac_vec3_is_finite(turned)) return;
    memcpy(hot->w, spin, sizeof spin);
    memcpy(hot->turned, turned, sizeof turned);
}
