/* Space-time bounds: a placed box holds its body for some frames to come, so that most frames place nothing.
 */
#include "runtime/world_internal.h"

#include <string.h>

/* How far ahead a box looks, and how fat it is beyond that. Longer means fewer placings and more pairs. */
static const float HORIZON_FRAMES = 6, FAT = 0.02f;
/* What tumbles turns this much farther in a step than its spin says. */
static const float TUMBLE = 1.1f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Pairs follow with sac_broad_settle. */
static uint64_t place_soon(sac_world *world, uint32_t slot, float dt)
{
    const sac_form *form = sac_body_form(world, slot);
    sac_body_hot *hot = &world->hot[slot];
    bool moves = world->cold[slot].kind != SAC_BODY_STATIC;
    sac_box box;
    sac_form_bounds(form, sac_body_form_pose(world, slot), &box);
    if (moves) {
        float T = HORIZON_FRAMES * dt, spin = length3(hot->w) * hot->radius * T;
        float fat = world->def.margin + FAT + 0.5f * world->gravity_size * T * T;
        float reach = hot->radius + fat, most = 2 * hot->radius + fat;
        for (int i = 0; i < 3; i++) {
            float low = box.low[i] - fat - spin, high = box.high[i] + fat + spin, d = hot->v[i] * T;
            /* However it turns, it stays in its ball. */
            if (low < hot->centre[i] - reach) low = hot->centre[i] - reach;
            if (high > hot->centre[i] + reach) high = hot->centre[i] + reach;
            /* Far ahead only while it is cheap, but this frame's own way in any case. */
            float ahead = fmaxf(most, fabsf(hot->v[i]) * dt + fat);
            d = d > ahead ? ahead : d < -ahead ? -ahead : d;
            box.low[i] = d < 0 ? low + d : low;
            box.high[i] = d > 0 ? high + d : high;
        }
        hot->slack = fat - world->def.margin;
    }
    return sac_broad_place_soon(world->broad, slot, &box, moves);
}

uint64_t sac_body_place_bounds(sac_world *world, uint32_t slot, float dt)
{
    uint64_t credits = place_soon(world, slot, dt);
    sac_broad_settle(world->broad);
    return credits;
}

/* Does the placed box still hold the body through this frame? Renews the slack when it does. */
static bool still_holds(sac_world *world, uint32_t slot, float dt)
{
    const sac_form *form = sac_body_form(world, slot);
    sac_body_hot *hot = &world->hot[slot];
    const sac_box *placed = &world->broad->boxes[slot];
    sac_box box;
    sac_form_bounds(form, sac_body_form_pose(world, slot), &box);
    float turn = TUMBLE * length3(hot->w) * hot->radius * dt, grow = turn + world->def.margin,
          slack = FLT_MAX;
    for (int i = 0; i < 3; i++) {
        float d = hot->v[i] * dt;
        float low = box.low[i] - grow + (d < 0 ? d : 0) - placed->low[i];
        float high = placed->high[i] - (box.high[i] + grow + (d > 0 ? d : 0));
        slack = fminf(slack, fminf(low, high));
    }
    if (!(slack >= 0)) return false;
    /* What the frame's own motion needs is already taken off. */
    hot->slack = slack + length3(hot->v) * dt + turn;
    return true;
}

bool sac_body_bounds_hold(sac_world *world, uint32_t slot, float dt)
{
    sac_body_hot *hot = &world->hot[slot];
    float motion = length3(hot->v) * dt + TUMBLE * length3(hot->w) * hot->radius * dt;
    return hot->slack > motion || still_holds(world, slot, dt);
}

void sac_world_bound(sac_world *world)
{
    sac_stop stop;
    float dt = world->step_dt;
    uint32_t kept = 0, placed = 0;
    uint64_t start = sac_world_now(world), cost = sac_world_cost_now(world);
    /* At most a third of what is left: boxes that find no time wait, and their bodies with them. */
    uint64_t limit = UINT64_MAX;
    if (world->step_deadline_ns != UINT64_MAX)
        limit = world->step_deadline_ns > start ? start + (world->step_deadline_ns - start) / 3 : start;
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        sac_body_hot *hot = &world->hot[slot];
        hot->reach =
            (length3(hot->v) + TUMBLE * length3(hot->w) * hot->radius + world->gravity_size * dt) * dt;
        bool hold = sac_body_bounds_hold(world, slot, dt);
        if (!hold && (placed == 0 || world->flags[slot] & SAC_BODY_TOLD)) {
            /* The first, or nobody would ever get on; and one that was told where to be, time or not. */
            uint64_t credits = place_soon(world, slot, dt);
            hold = credits > 0 && sac_world_fit_pairs(world);
            sac_stop_charge(&stop, credits);
            placed++;
        } else if (!hold && !sac_stop_reached(&stop)) {
            uint64_t credits = place_soon(world, slot, dt);
            hold = credits > 0 && sac_world_fit_pairs(world);
            sac_stop_did(&stop, credits);
            placed++;
        }
        if (hold) {
            world->chosen[kept++] = slot;
        } else {
            world->flags[slot] &= ~(uint32_t)SAC_BODY_CHOSEN;
            world->report.rungs[SAC_RUNG_BOUNDS]++;
        }
    }
    sac_broad_settle(world->broad);
    sac_tape_close(&world->tape, &stop);
    sac_world_spend(world, 20u * world->chosen_count);
    if (placed && !world->tape.replay)
        sac_predictor_learn(&world->costs.place, placed, 0, (double)(sac_world_cost_now(world) - cost));
    if (world->chosen_count)
        world->costs.places_per_body +=
            0.1 * ((double)placed / world->chosen_count - world->costs.places_per_body);
    world->chosen_count = kept;
    sac_pairs_begun_and_ended(world);
}
