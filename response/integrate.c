/* Bodies between the door and the passes, and their motion in a sub-step: velocity first, then place. */
#include <float.h>
#include <math.h>

#include "response/solver_internal.h"

/* Faster is not physics but a mistake in the input; what is left in is still far from overflowing. */
#define MOST_SPEED 1e6f

static bool usable(const float *x, int count)
{
    float size = 0.0f;
    for (int i = 0; i < count; i++) size += x[i] * x[i];
    return size < 1e30f;
}

static void limit(float x[3], float most)
{
    float square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (!(square > most * most)) return;
    float shrink = most / sqrtf(square);
    for (int i = 0; i < 3; i++) x[i] *= shrink;
}

/* A limit of any kind, NaN and negative included, as one to work with. */
static float limit_of(float most) { return most >= 0.0f && most < MOST_SPEED ? most : MOST_SPEED; }

static float kept(float damping, float h) { return damping > 0.0f ? 1.0f / (1.0f + h * damping) : 1.0f; }

void sac_bodies_take(sac_solver *solver, float h)
{
    struct sac_solver_private *own = solver->own;
    for (uint32_t i = 0; i < solver->body_count; i++) {
        const sac_solver_body *body = &solver->bodies[i];
        sac_hot_body *hot = &own->hot[i];
        sac_drive *drive = &own->drives[i];
        memset(hot, 0, sizeof *hot);
        memset(&own->inertias[i], 0, sizeof own->inertias[i]);
        *drive = (sac_drive){.keep = {1, 1, 1, 1, 1, 1, 1, 1}};
        hot->most_speed = hot->most_spin = MOST_SPEED;
        if (usable(body->v, 3)) memcpy(hot->v, body->v, sizeof hot->v);
        if (usable(body->w, 3)) memcpy(hot->w, body->w, sizeof hot->w);
        limit(hot->v, MOST_SPEED), limit(hot->w, MOST_SPEED);
        if (!(body->inverse_mass > 0.0f && body->inverse_mass < 1e15f)) continue;
        hot->inverse_mass = body->inverse_mass;
        if (usable(body->inverse_inertia, 6))
            memcpy(own->inertias[i].inverse, body->inverse_inertia, sizeof body->inverse_inertia);
        float keep = kept(body->linear_damping, h), keep_w = kept(body->angular_damping, h);
        for (int k = 0; k < 3; k++) {
            drive->push[k] = usable(body->acceleration, 3) ? body->acceleration[k] * h : 0.0f;
            drive->push[k + 3] = usable(body->turning, 3) ? body->turning[k] * h : 0.0f;
            drive->keep[k] = keep, drive->keep[k + 3] = keep_w;
        }
        hot->most_speed = limit_of(body->most_speed), hot->most_spin = limit_of(body->most_spin);
    }
    memset(&own->hot[solver->body_count], 0, sizeof *own->hot);
    memset(&own->inertias[solver->body_count], 0, sizeof *own->inertias);
}

void sac_bodies_drive(struct sac_solver_private *own, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        float *x = (float *)&own->hot[i];
        const sac_drive *drive = &own->drives[i];
        for (int k = 0; k < 8; k++) x[k] = (x[k] + drive->push[k]) * drive->keep[k];
        limit(x, own->hot[i].most_speed), limit(x + 3, own->hot[i].most_spin);
    }
}

void sac_bodies_move(struct sac_solver_private *own, uint32_t first, uint32_t last, float h)
{
    for (uint32_t i = first; i < last; i++) {
        float *x = (float *)&own->hot[i];
        for (int k = 0; k < 6; k++) x[k + 8] += h * x[k];
    }
}

/* What contacts gave it is within its limits too, and so is its way. */
static void keep_limits(sac_hot_body *hot, float dt)
{
    limit(hot->v, hot->most_speed), limit(hot->w, hot->most_spin);
    limit(hot->moved, hot->most_speed * dt), limit(hot->turned, hot->most_spin * dt);
}

void sac_bodies_give(sac_solver *solver, float dt)
{
    struct sac_solver_private *own = solver->own;
    for (uint32_t i = 0; i < solver->body_count; i++) {
        sac_solver_body *body = &solver->bodies[i];
        sac_hot_body *hot = &own->hot[i];
        keep_limits(hot, dt);
        /* Overflow in spite of all: the body stays where it was, with the velocity it had. */
        if (!usable(hot->v, 3) || !usable(hot->w, 3) || !usable(hot->moved, 3) || !usable(hot->turned, 3)) {
            if (!usable(body->v, 3)) memset(body->v, 0, sizeof body->v);
            if (!usable(body->w, 3)) memset(body->w, 0, sizeof body->w);
            memset(body->moved, 0, sizeof body->moved), memset(body->turned, 0, sizeof body->turned);
            continue;
        }
        memcpy(body->v, hot->v, sizeof body->v), memcpy(body->w, hot->w, sizeof body->w);
        memcpy(body->moved, hot->moved, sizeof body->moved);
        memcpy(body->turned, hot->turned, sizeof body->turned);
    }
}
