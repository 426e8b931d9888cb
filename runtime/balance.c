/* Balance: contacts take energy or pass it on, they make none. The solver moves bodies along the contacts
 * they had at the beginning of a step, starts from what these bore a step ago, and pushes apart what
 * overlaps; some of that comes out of nowhere, and is taken back here from those who got it. */
#include "runtime/world_internal.h"

/* Overlap deeper than this, of the thinner one's thickness, is undone whoever pays, in about so many
 * seconds. */
static const float DEEP = 0.02f, SECONDS = 2;

/* x . I y for the inverse of a symmetric matrix (xx yy zz xy xz yz); 0 for what does not turn. */
static double turning(const float m[6], const double x[3], const double y[3])
{
    double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
    double a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
    double d = xx * zz - xz * xz, e = xy * xz - xx * yz, f = xx * yy - xy * xy;
    double determinant = xx * a + xy * b + xz * c;
    if (!(determinant > 0)) return 0;
    return (x[0] * (a * y[0] + b * y[1] + c * y[2]) + x[1] * (b * y[0] + d * y[1] + e * y[2]) +
            x[2] * (c * y[0] + e * y[1] + f * y[2])) /
           determinant;
}

/* How much more it moves than with these velocities. */
static double quickened(const sac_solver_body *body, const float v[3], const float w[3])
{
    double straight = 0, more[3], both[3];
    for (int i = 0; i < 3; i++) {
        straight += ((double)body->v[i] - v[i]) * ((double)body->v[i] + v[i]);
        more[i] = (double)body->w[i] - w[i], both[i] = (double)body->w[i] + w[i];
    }
    return 0.5 * (straight / body->inverse_mass + turning(body->inverse_inertia, more, both));
}

/* What it took to lift it. */
static double lifted(const sac_solver_body *body)
{
    double fall = 0;
    for (int i = 0; i < 3; i++) fall += (double)body->acceleration[i] * body->moved[i];
    return -fall / body->inverse_mass;
}

static double square(const float v[3])
{
    return (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
}

/* Somebody outside pushes: a hand, or a body that moves as it is told. */
static bool is_driven(const sac_world *world, uint32_t slot)
{
    return world->flags[slot] & SAC_BODY_HELD ||
           (world->cold[slot].kind == SAC_BODY_KINEMATIC &&
            square(world->hot[slot].v) + square(world->hot[slot].w) > 0);
}

static bool pushes(const sac_solver_contact *c)
{
    float total = 0;
    for (uint32_t k = 0; k < c->count; k++) total += c->points[k].total;
    return total > 0;
}

/* How much each body may be lifted out of others in this step although nobody pays for it, J/kg. */
static void allow_lifts(sac_world *world, uint32_t contacts)
{
    const float pace = world->gravity_size * world->step_dt / SECONDS;
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        world->may_lift[pair->a] = world->may_lift[pair->b] = 0;
    }
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_solver_contact *c = &world->solver->contacts[k];
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        float *a = &world->may_lift[pair->a], *b = &world->may_lift[pair->b], deepest = 0;
        for (uint32_t i = 0; i < c->count; i++) deepest = fmaxf(deepest, -c->points[i].separation);
        float thin = fminf(world->hot[pair->a].thickness, world->hot[pair->b].thickness);
        float lift = pace * (deepest - DEEP * thin);
        /* No contact brought that about. */
        if (world->memory[world->contact_root[k]].inside) lift = FLT_MAX;
        /* Nobody but the one that is in it can get out of what does not yield. */
        if (!(world->solver->bodies[c->a].inverse_mass > 0 && world->solver->bodies[c->b].inverse_mass > 0) &&
            deepest > world->solver->def.slop)
            lift = FLT_MAX;
        *a = fmaxf(*a, lift), *b = fmaxf(*b, lift);
    }
}

typedef enum deed { SUM_UP, SLOW_DOWN, SUM_LIFTS, HOLD_BACK } deed;

typedef struct account {
    bool all;           /* cut short before its first sub-step a set has counted nothing, but has pushed */
    double net, gained; /* by all together; by those who did */
    double owed;        /* was to be taken back, and is more than they move with */
    double lifts;       /* more than they may */
} account;

/* One that gained, by so much. */
static void settle(sac_solver_body *body, double gain, double may_lift, deed what, double share, account *sum)
{
    static const float still[3];
    double lift = lifted(body), beyond = fmax(lift - may_lift / body->inverse_mass, 0);
    double take = share * gain;
    float keep = 1;
    switch (what) {
    case SUM_UP:
        sum->gained += gain;
        break;
    case SLOW_DOWN: {
        double energy = quickened(body, still, still);
        keep = energy > take ? (float)sqrt(1 - take / energy) : 0;
        for (int i = 0; i < 3; i++) body->v[i] *= keep, body->w[i] *= keep;
        sum->owed += fmax(take - energy, 0);
        break;
    }
    case SUM_LIFTS:
        sum->lifts += beyond;
        break;
    case HOLD_BACK:
        if (beyond > 0) keep = (float)(1 - share * beyond / lift);
        for (int i = 0; i < 3; i++) body->moved[i] *= keep, body->turned[i] *= keep;
    }
}

/* Each body that a contact pushed, once. False: somebody is driven, and nothing can be said. */
static bool over_bodies(sac_world *world, uint32_t contacts, uint32_t mark, deed what, double share,
                        account *sum)
{
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_solver_contact *c = &world->solver->contacts[k];
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        if (!sum->all && !pushes(c)) continue;
        if (is_driven(world, pair->a) || is_driven(world, pair->b)) return false;
        for (int side = 0; side < 2; side++) {
            uint32_t slot = side ? pair->b : pair->a;
            sac_solver_body *body = &world->solver->bodies[side ? c->b : c->a];
            if (!(body->inverse_mass > 0) || world->sweep_round[slot] == mark) continue;
            world->sweep_round[slot] = mark;
            double gain = quickened(body, world->hot[slot].v, world->hot[slot].w) + lifted(body);
            sum->net += what == SUM_UP ? gain : 0;
            if (gain > 0) settle(body, gain, world->may_lift[slot], what, share, sum);
        }
    }
    return true;
}

void sac_world_balance(sac_world *world, uint32_t contacts, uint32_t stamp, bool cut)
{
    account sum = {.all = cut};
    uint32_t mark = 4 * stamp;
    if (!over_bodies(world, contacts, mark, SUM_UP, 0, &sum) || !(sum.net > 0)) return;
    over_bodies(world, contacts, mark + 1, SLOW_DOWN, sum.net / sum.gained, &sum);
    if (!(sum.owed > 0)) return;
    /* What is left of it are lifts. */
    allow_lifts(world, contacts);
    over_bodies(world, contacts, mark + 2, SUM_LIFTS, 0, &sum);
    if (!(sum.lifts > 0)) return;
    over_bodies(world, contacts, mark + 3, HOLD_BACK, fmin(sum.owed / sum.lifts, 1), &sum);
}
