/* Balance: a blow takes energy or passes it on, it makes none. The solver moves a body along the contacts it
 * had at the beginning of a step; where that turns far within it, some energy comes out of nowhere, and is
 * taken back here from those who got it. */
#include "runtime/world_internal.h"

/* Slower bodies gain nothing that could be measured. */
static const float LIVELY = 0.5f;

/* w . I w for the inverse of a symmetric matrix (xx yy zz xy xz yz); 0 for what does not turn. */
static double turning(const float m[6], const float w[3])
{
    double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
    double a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
    double d = xx * zz - xz * xz, e = xy * xz - xx * yz, f = xx * yy - xy * xy;
    double determinant = xx * a + xy * b + xz * c;
    if (!(determinant > 0)) return 0;
    double x = w[0], y = w[1], z = w[2];
    return (x * (a * x + 2 * (b * y + c * z)) + y * (d * y + 2 * e * z) + f * z * z) / determinant;
}

static double square(const float v[3])
{
    return (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
}

static double moving(const sac_solver_body *body, const float v[3], const float w[3])
{
    return 0.5 * (square(v) / body->inverse_mass + turning(body->inverse_inertia, w));
}

static bool is_lively(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    double r = hot->radius < 1e18f ? hot->radius : 0;
    return square(hot->v) + square(hot->w) * r * r > LIVELY * LIVELY;
}

/* Two that met, and at least one of them was not just lying there. */
static bool is_blow(const sac_world *world, const sac_solver_contact *c, const sac_broad_pair *pair)
{
    float total = 0;
    for (uint32_t k = 0; k < c->count; k++) total += c->points[k].total;
    return total > 0 && (is_lively(world, pair->a) || is_lively(world, pair->b));
}

/* What a body of the set has more than before, its fall counted. */
static double gain_of(const sac_world *world, uint32_t slot)
{
    const sac_solver_body *body = &world->solver->bodies[world->solver_index[slot]];
    const sac_body_hot *hot = &world->hot[slot];
    double fall = 0;
    for (int i = 0; i < 3; i++) fall += (double)body->acceleration[i] * body->moved[i];
    return moving(body, body->v, body->w) - moving(body, hot->v, hot->w) - fall / body->inverse_mass;
}

/* Somebody outside pushes: a hand, or a body that moves as it is told. */
static bool is_driven(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_HELD ||
           (world->cold[slot].kind == SAC_BODY_KINEMATIC &&
            square(world->hot[slot].v) + square(world->hot[slot].w) > 0);
}

typedef struct blows {
    double net, gained;
} blows;

/* Each body of a blow once: what it gained is summed up or, when `take` is more than 0, that share of it
 * taken back. False: somebody is driven, and nothing can be said. */
static bool over_blows(sac_world *world, uint32_t contacts, uint32_t mark, double take, blows *sum)
{
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_solver_contact *c = &world->solver->contacts[k];
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        if (!is_blow(world, c, pair)) continue;
        if (is_driven(world, pair->a) || is_driven(world, pair->b)) return false;
        for (int side = 0; side < 2; side++) {
            uint32_t slot = side ? pair->b : pair->a, index = side ? c->b : c->a;
            sac_solver_body *body = &world->solver->bodies[index];
            if (!(body->inverse_mass > 0) || world->sweep_round[slot] == mark) continue;
            world->sweep_round[slot] = mark;
            double gain = gain_of(world, slot);
            if (take > 0 && gain > 0) {
                double energy = moving(body, body->v, body->w);
                float keep = energy > take * gain ? (float)sqrt(1 - take * gain / energy) : 0;
                for (int i = 0; i < 3; i++) body->v[i] *= keep, body->w[i] *= keep;
            }
            sum->net += gain;
            sum->gained += gain > 0 ? gain : 0;
        }
    }
    return true;
}

void sac_world_balance(sac_world *world, uint32_t contacts, uint32_t stamp)
{
    blows sum = {0};
    if (!over_blows(world, contacts, 2 * stamp, 0, &sum) || !(sum.net > 0)) return;
    over_blows(world, contacts, 2 * stamp + 1, sum.net / sum.gained, &(blows){0});
}
