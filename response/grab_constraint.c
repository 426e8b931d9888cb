/* A hand's hold: three linear rows at the anchor and three angular ones, each three solved as a block by an
 * implicit spring, so that a stiff hold is stable at any sub-step. */
#include <math.h>

#include "response/solver_internal.h"

sac_softness sac_softness_of(float hertz, float damping, float h)
{
    float omega = 6.2831853f * hertz, a1 = 2.0f * damping + h * omega, a2 = h * omega * a1;
    if (!(omega > 0.0f) || !(a1 > 0.0f)) return (sac_softness){0.0f, 0.0f, 1.0f};
    float a3 = 1.0f / (1.0f + a2);
    return (sac_softness){omega / a1, a2 * a3, a3};
}

static bool usable(const float *x, int count)
{
    float size = 0.0f;
    for (int i = 0; i < count; i++) size += x[i] * x[i];
    return size < 1e24f;
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void times(const float m[6], const float x[3], float out[3])
{
    out[0] = m[0] * x[0] + m[3] * x[1] + m[4] * x[2];
    out[1] = m[3] * x[0] + m[1] * x[1] + m[5] * x[2];
    out[2] = m[4] * x[0] + m[5] * x[1] + m[2] * x[2];
}

/* Inverse of a symmetric 3 x 3; false when rounding leaves nothing of its determinant. */
static bool invert(const float m[6], float out[6])
{
    double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
    double c[6] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                   xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - xx * yz};
    double determinant = xx * c[0] + xy * c[3] + xz * c[4], trace = xx + yy + zz;
    if (!(determinant > 1e-12 * trace * trace * trace)) return false;
    for (int i = 0; i < 6; i++) out[i] = (float)(c[i] / determinant);
    return true;
}

/* K = 1/m - [r] I^-1 [r]: what an impulse at the arm does to the speed there. */
static void response_at(const sac_hot_body *body, const float inertia[6], const float r[3], float k[6])
{
    float column[3][3];
    for (int i = 0; i < 3; i++) {
        float axis[3] = {i == 0, i == 1, i == 2}, lever[3], spin[3];
        cross(r, axis, lever), times(inertia, lever, spin), cross(spin, r, column[i]);
        column[i][i] += body->inverse_mass;
    }
    k[0] = column[0][0], k[1] = column[1][1], k[2] = column[2][2];
    k[3] = column[0][1], k[4] = column[0][2], k[5] = column[1][2];
}

static void shorten(float x[3], float most)
{
    float square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (!(square > most * most)) return;
    float shrink = most / sqrtf(square);
    for (int i = 0; i < 3; i++) x[i] *= shrink;
}

static float limit_of(float most, float h) { return most >= 0.0f && most < 1e12f ? most * h : 1e12f * h; }

void sac_holds_take(sac_solver *solver, float h, float substeps)
{
    struct sac_solver_private *own = solver->own;
    own->hold_count = solver->grab_count;
    for (uint32_t i = 0; i < solver->grab_count; i++) {
        const sac_solver_grab *grab = &solver->grabs[i];
        sac_hold *hold = &own->holds[i];
        memset(hold, 0, sizeof *hold);
        hold->body = solver->body_count;
        if (grab->body >= solver->body_count || !(own->hot[grab->body].inverse_mass > 0.0f)) continue;
        if (!usable(grab->arm, 3) || !usable(grab->offset, 3) || !usable(grab->twist, 3)) continue;
        if (!usable(grab->target_v, 3) || !usable(grab->target_w, 3)) continue;
        float k[6];
        const float *inertia = own->inertias[grab->body].inverse;
        response_at(&own->hot[grab->body], inertia, grab->arm, k);
        if (!invert(k, hold->inverse)) continue;
        /* A body that cannot be turned is only drawn. */
        bool turns = invert(inertia, hold->inverse_w);
        hold->body = grab->body;
        memcpy(hold->arm, grab->arm, sizeof hold->arm);
        float hertz = grab->hertz > 0.0f && grab->hertz < 1e4f ? grab->hertz : 12.0f;
        float damping = grab->damping > 0.0f && grab->damping < 1e4f ? grab->damping : 1.0f;
        hold->soft = sac_softness_of(hertz, damping, h);
        hold->most = limit_of(grab->most_force, h);
        hold->most_w = turns ? limit_of(grab->most_torque, h) : 0.0f;
        for (int j = 0; j < 3; j++) {
            if (usable(grab->impulse, 3)) hold->impulse[j] = grab->impulse[j] / substeps;
            if (usable(grab->angular_impulse, 3) && turns)
                hold->impulse_w[j] = grab->angular_impulse[j] / substeps;
        }
        shorten(hold->impulse, hold->most), shorten(hold->impulse_w, hold->most_w);
    }
}

static void push(struct sac_solver_private *own, const sac_hold *hold, const float p[3], const float q[3])
{
    sac_hot_body *body = &own->hot[hold->body];
    float lever[3], spin[3];
    cross(hold->arm, p, lever);
    for (int j = 0; j < 3; j++) lever[j] += q[j];
    times(own->inertias[hold->body].inverse, lever, spin);
    for (int j = 0; j < 3; j++) {
        body->v[j] += body->inverse_mass * p[j];
        body->w[j] += spin[j];
    }
}

void sac_holds_warm(struct sac_solver_private *own)
{
    for (uint32_t i = 0; i < own->hold_count; i++)
        push(own, &own->holds[i], own->holds[i].impulse, own->holds[i].impulse_w);
}

/* The speeds a hold wants are fixed for a sub-step: solving it twice is then still one implicit step. */
void sac_holds_aim(sac_solver *solver, float time)
{
    struct sac_solver_private *own = solver->own;
    for (uint32_t i = 0; i < own->hold_count; i++) {
        sac_hold *hold = &own->holds[i];
        const sac_solver_grab *grab = &solver->grabs[i];
        const sac_hot_body *body = &own->hot[hold->body];
        float swing[3];
        if (hold->body == solver->body_count) continue;
        cross(body->turned, hold->arm, swing);
        for (int j = 0; j < 3; j++) {
            float off = grab->offset[j] + grab->target_v[j] * time - body->moved[j] - swing[j];
            float twist = grab->twist[j] + grab->target_w[j] * time - body->turned[j];
            hold->bias[j] = -grab->target_v[j] - hold->soft.rate * off;
            hold->bias_w[j] = -grab->target_w[j] - hold->soft.rate * twist;
        }
    }
}

static void step_rows(const float inverse[6], const float speed[3], const sac_softness *soft, float most,
                      float impulse[3], float change[3])
{
    float wanted[3], old[3];
    times(inverse, speed, wanted);
    for (int j = 0; j < 3; j++) {
        old[j] = impulse[j];
        impulse[j] -= soft->mass_scale * wanted[j] + soft->impulse_scale * old[j];
    }
    shorten(impulse, most);
    for (int j = 0; j < 3; j++) change[j] = impulse[j] - old[j];
}

void sac_holds_solve(struct sac_solver_private *own)
{
    const float none[3] = {0};
    for (uint32_t i = 0; i < own->hold_count; i++) {
        sac_hold *hold = &own->holds[i];
        const sac_hot_body *body = &own->hot[hold->body];
        float speed[3], change[3];
        if (!(body->inverse_mass > 0.0f)) continue;
        for (int j = 0; j < 3; j++) speed[j] = body->w[j] + hold->bias_w[j];
        step_rows(hold->inverse_w, speed, &hold->soft, hold->most_w, hold->impulse_w, change);
        push(own, hold, none, change);
        cross(body->w, hold->arm, speed);
        for (int j = 0; j < 3; j++) speed[j] += body->v[j] + hold->bias[j];
        step_rows(hold->inverse, speed, &hold->soft, hold->most, hold->impulse, change);
        push(own, hold, change, none);
    }
}

void sac_holds_give(sac_solver *solver, float substeps)
{
    for (uint32_t i = 0; i < solver->grab_count; i++)
        for (int j = 0; j < 3; j++) {
            solver->grabs[i].impulse[j] = solver->own->holds[i].impulse[j] * substeps;
            solver->grabs[i].angular_impulse[j] = solver->own->holds[i].impulse_w[j] * substeps;
        }
}
