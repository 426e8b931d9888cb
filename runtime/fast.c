/* Fast bodies: one that moves farther than it is thick advances only as far as nothing is in its way. */
#include "runtime/world_internal.h"

#include <string.h>

enum { CREDITS_A_PAIR = 20000 };

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static sac_sweep sweep_of(const sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    sac_sweep sweep = {0};
    float scale = world->pose[slot].scale;
    for (int i = 0; i < 3; i++) sweep.centre[i] = world->cold[slot].local_centre[i] / scale;
    if (world->flags[slot] & SAC_BODY_CHOSEN && sac_body_dynamic(world, slot)) {
        memcpy(sweep.v, hot->moved, sizeof sweep.v);
        memcpy(sweep.w, hot->turned, sizeof sweep.w);
    } else if (world->cold[slot].kind == SAC_BODY_KINEMATIC) {
        for (int i = 0; i < 3; i++)
            sweep.v[i] = hot->v[i] * world->step_dt, sweep.w[i] = hot->w[i] * world->step_dt;
    }
    return sweep;
}

static bool is_fast(const sac_body_hot *hot)
{
    return length3(hot->moved) + length3(hot->turned) * hot->radius > hot->thickness;
}

/* Could these two pass through each other? Not when they move together, nor when they stay apart as balls. */
static bool may_pass(const sac_body_hot *a, const sac_sweep *own, const sac_body_hot *b,
                     const sac_sweep *theirs, float thin)
{
    float apart[3], moved[3], turn = 0;
    for (int i = 0; i < 3; i++) {
        apart[i] = b->centre[i] - a->centre[i];
        moved[i] = theirs->v[i] - own->v[i];
    }
    if (a->radius < 1e18f) turn += length3(own->w) * a->radius;
    if (b->radius < 1e18f) turn += length3(theirs->w) * b->radius;
    float motion = length3(moved) + turn;
    if (motion <= 0.5f * thin) return false; /* contacts are looked for this far ahead */
    return b->radius >= 1e18f || length3(apart) - a->radius - b->radius <= motion;
}

static float free_share(sac_world *world, uint32_t slot, uint64_t *credits)
{
    const sac_broad *broad = world->broad;
    sac_sweep own = sweep_of(world, slot);
    const sac_form *form = &world->shapes[world->cold[slot].shape].form;
    float share = 1;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR && share > 0;
         p = sac_broad_next(broad, p, slot)) {
        if (world->memory[p].sensor) continue;
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        float thin = world->hot[slot].thickness < world->hot[other].thickness ? world->hot[slot].thickness
                                                                              : world->hot[other].thickness;
        sac_sweep theirs = sweep_of(world, other);
        if (!may_pass(&world->hot[slot], &own, &world->hot[other], &theirs, thin)) continue;
        const sac_form *form_b = &world->shapes[world->cold[other].shape].form;
        uint64_t tests = 0;
        float s = sac_meeting_advance(form, &world->pose[slot], &own, form_b, &world->pose[other], &theirs,
                                      0.25f * thin, CREDITS_A_PAIR, &tests);
        *credits += tests;
        if (s < share) share = s;
    }
    return share;
}

void sac_world_limit_fast(sac_world *world)
{
    sac_stop stop;
    uint64_t now = sac_world_now(world), limit = world->step_deadline_ns;
    if (limit != UINT64_MAX) limit = limit > now ? now + (limit - now) / 2 : now;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        sac_body_hot *hot = &world->hot[slot];
        if (!sac_body_dynamic(world, slot) || !is_fast(hot)) continue;
        world->report.fast++;
        float share;
        if (sac_stop_reached(&stop)) {
            /* No time to look: as far as it is safe. */
            share = 0.5f * hot->thickness / (length3(hot->moved) + length3(hot->turned) * hot->radius);
            world->report.rungs[SAC_RUNG_HELD]++;
        } else {
            uint64_t credits = 20;
            share = free_share(world, slot, &credits);
            sac_stop_did(&stop, credits);
        }
        for (int k = 0; k < 3; k++) hot->moved[k] *= share, hot->turned[k] *= share;
        if (share < 1) hot->jolt = world->frame;
    }
    sac_tape_close(&world->tape, &stop);
    sac_world_spend(world, 4u * world->chosen_count);
}
