/* The tutorial's response, kept as the reference: one impulse a pair, at its deepest point, along its normal,
 * with the inverse inertia tensors that its formula needs. No friction, no warm start, overlap is not undone.
 */
#include <math.h>

#include "response/solver_internal.h"

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void spin(const float m[6], const float x[3], float out[3])
{
    out[0] = m[0] * x[0] + m[3] * x[1] + m[4] * x[2];
    out[1] = m[3] * x[0] + m[1] * x[1] + m[5] * x[2];
    out[2] = m[4] * x[0] + m[5] * x[1] + m[2] * x[2];
}

static bool moves(const sac_solver_body *body) { return body->inverse_mass > 0.0f; }

/* 1/m + n.((I^-1 (r x n)) x r) */
static float yielding(const sac_solver_body *body, const float arm[3], const float n[3])
{
    float lever[3], turn[3], swing[3];
    if (!moves(body)) return 0.0f;
    cross(arm, n, lever), spin(body->inverse_inertia, lever, turn), cross(turn, arm, swing);
    return body->inverse_mass + dot(n, swing);
}

static float speed_along(const sac_solver_body *body, const float arm[3], const float n[3])
{
    float swing[3];
    cross(body->w, arm, swing);
    return dot(body->v, n) + dot(swing, n);
}

float sac_impulse_reference(const sac_solver_body *a, const sac_solver_body *b, const float arm_a[3],
                            const float arm_b[3], const float normal[3], float restitution)
{
    float closing = speed_along(a, arm_a, normal) - speed_along(b, arm_b, normal);
    float yield = yielding(a, arm_a, normal) + yielding(b, arm_b, normal);
    float j = (1.0f + restitution) * closing / yield;
    return closing > 0.0f && yield > 0.0f && j < 1e30f ? j : 0.0f;
}

void sac_impulse_apply(sac_solver_body *body, const float arm[3], const float p[3])
{
    float lever[3], turn[3];
    if (!moves(body)) return;
    cross(arm, p, lever), spin(body->inverse_inertia, lever, turn);
    for (int k = 0; k < 3; k++) {
        body->v[k] += body->inverse_mass * p[k];
        body->w[k] += turn[k];
    }
}

static bool sound(const sac_solver_point *point)
{
    const float *x = (const float *)point;
    float size = 0.0f, length = dot(point->normal, point->normal);
    for (int i = 0; i < 10; i++) size += x[i] * x[i];
    return size < 1e12f && length > 0.25f && length < 4.0f;
}

static void respond(sac_solver *solver, sac_solver_contact *contact)
{
    sac_solver_point *deepest = NULL;
    uint32_t count = contact->count < SAC_SOLVER_POINTS ? contact->count : SAC_SOLVER_POINTS;
    for (uint32_t i = 0; i < count; i++) {
        sac_solver_point *point = &contact->points[i];
        point->impulse = point->approach = point->total = 0.0f;
        memset(point->friction_impulse, 0, sizeof point->friction_impulse);
        if (sound(point) && (!deepest || point->separation < deepest->separation)) deepest = point;
    }
    memset(contact->rolling_impulse, 0, sizeof contact->rolling_impulse);
    if (!deepest || deepest->separation > 0.0f) return;
    if (contact->a >= solver->body_count || contact->b >= solver->body_count) return;
    if (contact->a == contact->b) return;
    sac_solver_body *a = &solver->bodies[contact->a], *b = &solver->bodies[contact->b];
    const float *n = deepest->normal;
    deepest->approach = speed_along(a, deepest->arm_a, n) - speed_along(b, deepest->arm_b, n);
    float e =
        contact->restitution > 0.0f ? (contact->restitution < 1.0f ? contact->restitution : 1.0f) : 0.0f;
    if (!(deepest->approach > solver->def.restitution_speed)) e = 0.0f;
    float j = sac_impulse_reference(a, b, deepest->arm_a, deepest->arm_b, n, e);
    deepest->impulse = deepest->total = j;
    float on_b[3] = {j * n[0], j * n[1], j * n[2]}, on_a[3] = {-on_b[0], -on_b[1], -on_b[2]};
    sac_impulse_apply(a, deepest->arm_a, on_a);
    sac_impulse_apply(b, deepest->arm_b, on_b);
}

/* The whole step at once. Bodies go through the hot ones and back, to be checked and driven as always. */
void sac_solver_single(sac_solver *solver, float dt)
{
    struct sac_solver_private *own = solver->own;
    sac_bodies_take(solver, dt);
    sac_bodies_drive(own, 0, solver->body_count);
    sac_bodies_give(solver, dt);
    for (uint32_t i = 0; i < solver->contact_count; i++) respond(solver, &solver->contacts[i]);
    sac_bodies_take(solver, dt);
    sac_bodies_move(own, 0, solver->body_count, dt);
    sac_bodies_give(solver, dt);
}
