/* Balance: contacts take energy or pass it on, they make none. The solver moves bodies along the contacts
 * they had at the beginning of a step, starts from what these bore a step ago, and pushes apart what
 * overlaps; some of that comes out of nowhere, and is taken back here from those who got it. */
#include "runtime/world_internal.h"

#include <string.h>

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

/* ---- two that meet nobody else ---- */

/* What the two pass on to each other stays between them: as much of both their changes is taken back as makes
 * the energy come out even, and what they have of momentum together is what they had. */
typedef struct meeting {
    sac_solver_body *body[2];
    const sac_body_hot *before[2];
    float free[2][6], met[2][6]; /* velocities without the other and with it */
} meeting;

/* With so much of what they did to each other: what they gain by it. */
static double meet(meeting *m, double share)
{
    double gain = 0;
    for (int k = 0; k < 2; k++) {
        float part[6];
        for (int i = 0; i < 6; i++)
            part[i] = (float)(m->free[k][i] + share * (m->met[k][i] - (double)m->free[k][i]));
        memcpy(m->body[k]->v, part, sizeof m->body[k]->v);
        memcpy(m->body[k]->w, part + 3, sizeof m->body[k]->w);
        gain += quickened(m->body[k], m->before[k]->v, m->before[k]->w) + lifted(m->body[k]);
    }
    return gain;
}

static void settle_meeting(meeting *m, float dt)
{
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            m->free[k][i] = m->before[k]->v[i] + m->body[k]->acceleration[i] * dt;
            m->free[k][3 + i] = m->before[k]->w[i];
            m->met[k][i] = m->body[k]->v[i];
            m->met[k][3 + i] = m->body[k]->w[i];
        }
    double whole = meet(m, 1);
    if (!(whole > 0)) return;
    /* A parabola, below zero from where they only fell up to the share that is looked for. */
    double none = meet(m, 0), half = meet(m, 0.5);
    double a = 2 * (none + whole - 2 * half), b = whole - none - a, square = b * b - 4 * a * none;
    double share = a > 0 && square >= 0 ? (sqrt(square) - b) / (2 * a) : 1;
    meet(m, share > 0 && share < 1 ? share : 1);
}

typedef enum deed { SUM_UP, SLOW_DOWN, SUM_LIFTS, HOLD_BACK } deed;

typedef struct account {
    bool all;           /* cut short before its first sub-step a set has counted nothing, but has pushed */
    uint32_t settled;   /* mark of those that are even */
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
        if (world->sweep_round[pair->a] == sum->settled) continue;
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

/* Those of which each meets only the other. */
static void settle_meetings(sac_world *world, uint32_t contacts, uint32_t mark, const account *sum)
{
    const uint32_t once = mark, often = mark + 1;
    uint32_t *met = world->sweep_round;
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        if (!sum->all && !pushes(&world->solver->contacts[k])) continue;
        met[pair->a] = met[pair->a] == once || met[pair->a] == often ? often : once;
        met[pair->b] = met[pair->b] == once || met[pair->b] == often ? often : once;
    }
    for (uint32_t k = 0; k < contacts; k++) {
        const sac_solver_contact *c = &world->solver->contacts[k];
        const sac_broad_pair *pair = &world->broad->pairs[world->contact_root[k]];
        meeting m = {.body = {&world->solver->bodies[c->a], &world->solver->bodies[c->b]},
                     .before = {&world->hot[pair->a], &world->hot[pair->b]}};
        if (!sum->all && !pushes(c)) continue;
        if (met[pair->a] != once || met[pair->b] != once) continue;
        if (!(m.body[0]->inverse_mass > 0 && m.body[1]->inverse_mass > 0)) continue;
        if (is_driven(world, pair->a) || is_driven(world, pair->b)) continue;
        settle_meeting(&m, world->step_dt);
        met[pair->a] = met[pair->b] = sum->settled;
    }
}

void sac_world_balance(sac_world *world, uint32_t contacts, uint32_t stamp, bool cut)
{
    uint32_t mark = 8 * stamp;
    account sum = {.all = cut, .settled = mark + 2};
    settle_meetings(world, contacts, mark, &sum);
    if (!over_bodies(world, contacts, mark + 3, SUM_UP, 0, &sum) || !(sum.net > 0)) return;
    over_bodies(world, contacts, mark + 4, SLOW_DOWN, sum.net / sum.gained, &sum);
    if (!(sum.owed > 0)) return;
    /* What is left of it are lifts. */
    allow_lifts(world, contacts);
    over_bodies(world, contacts, mark + 5, SUM_LIFTS, 0, &sum);
    if (!(sum.lifts > 0)) return;
    over_bodies(world, contacts, mark + 6, HOLD_BACK, fmin(sum.owed / sum.lifts, 1), &sum);
}
