#include "bench/contact_lattice.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/rng.h"

typedef struct lattice {
    sac_solver *solver;
    sac_rng rng;
    uint32_t side, *name, count;
    float rolling, restitution;
} lattice;

static void fill_body(sac_solver_body *body, sac_rng *rng)
{
    *body = (sac_solver_body){.acceleration = {0, -9.81f, 0}, .most_speed = FLT_MAX, .most_spin = FLT_MAX};
    body->inverse_mass = sac_rng_range(rng, 0.5f, 2.0f);
    for (int k = 0; k < 3; k++) {
        body->v[k] = sac_rng_range(rng, -0.1f, 0.1f);
        body->w[k] = sac_rng_range(rng, -0.3f, 0.3f);
        body->inverse_inertia[k] = body->inverse_mass * sac_rng_range(rng, 60, 120);
        body->inverse_inertia[3 + k] = body->inverse_mass * sac_rng_range(rng, -10, 10);
    }
}

/* b lies at half a metre from a along `axis`. */
static void fill_contact(lattice *l, uint32_t a, uint32_t b, int axis)
{
    sac_solver_contact *contact = &l->solver->contacts[l->count++];
    *contact = (sac_solver_contact){.a = a, .b = b, .friction = 0.5f};
    contact->restitution = l->restitution;
    contact->rolling = l->rolling;
    contact->count = 1 + sac_rng_below(&l->rng, 4);
    for (uint32_t i = 0; i < contact->count; i++) {
        sac_solver_point *point = &contact->points[i];
        float length = 0;
        for (int k = 0; k < 3; k++) {
            float across = k == axis ? 0.25f : sac_rng_range(&l->rng, -0.2f, 0.2f);
            point->arm_a[k] = across;
            point->arm_b[k] = k == axis ? -0.25f : across;
            point->normal[k] = k == axis ? 1.0f : sac_rng_range(&l->rng, -0.3f, 0.3f);
            length += point->normal[k] * point->normal[k];
        }
        for (int k = 0; k < 3; k++) point->normal[k] /= sqrtf(length);
        point->separation = sac_rng_range(&l->rng, -0.002f, 0.001f);
        point->impulse = axis == 1 ? sac_rng_range(&l->rng, 0, 0.1f) : 0;
    }
}

static uint32_t at(const lattice *l, uint32_t x, uint32_t y, uint32_t z)
{
    return l->name[(y * l->side + z) * l->side + x];
}

uint32_t sac_contact_lattice(sac_solver *solver, uint32_t contacts, float rolling, float restitution,
                             uint64_t seed)
{
    lattice l = {.solver = solver, .rng = sac_rng_seed(seed), .rolling = rolling, .restitution = restitution};
    while (3 * l.side * l.side * l.side < contacts + 3 * l.side * l.side) l.side++;
    uint32_t bodies = l.side * l.side * l.side;
    l.name = sac_alloc(bodies, sizeof *l.name);
    if (!l.name || sac_solver_begin(solver, bodies + 1, contacts, 0, NULL) != SAC_OK) {
        sac_free(l.name, l.name ? bodies : 0, sizeof *l.name);
        return 0;
    }
    for (uint32_t i = 0; i < bodies; i++) {
        uint32_t k = sac_rng_below(&l.rng, i + 1);
        l.name[i] = l.name[k], l.name[k] = i + 1;
    }
    solver->bodies[0] = (sac_solver_body){0};
    for (uint32_t i = 1; i <= bodies; i++) fill_body(&solver->bodies[i], &l.rng);
    for (uint32_t y = 0; y < l.side; y++)
        for (uint32_t z = 0; z < l.side; z++)
            for (uint32_t x = 0; x < l.side; x++) {
                if (l.count < contacts) fill_contact(&l, y ? at(&l, x, y - 1, z) : 0, at(&l, x, y, z), 1);
                if (x && l.count < contacts) fill_contact(&l, at(&l, x - 1, y, z), at(&l, x, y, z), 0);
                if (z && l.count < contacts) fill_contact(&l, at(&l, x, y, z - 1), at(&l, x, y, z), 2);
            }
    sac_free(l.name, bodies, sizeof *l.name);
    solver->contact_count = l.count;
    return l.count;
}
