/* Space-time bounds: a placed box holds its body for some frames to come, so that most frames place nothing.
 */
#include "runtime/world_internal.h"

#include <string.h>

/* How far ahead a box looks, and how fat it is beyond that. Longer means fewer placings and more pairs; twice
 * as long costs a crowd a fifth of its turns. */
static const float HORIZON_FRAMES = 3, FAT = 0.005f;
/* One that has nobody about it but what stands has room for more. */
static const float ALONE_FRAMES = 8;
/* So many frames before its box ends one that flies on unseen may get another. */
enum { SPREAD_FRAMES = 1 };
/* What it takes to find out. */
enum { CREDITS_A_LOOK = 160, CREDITS_A_STOP = 400 };
/* So many that stop are told of whatever the time. */
enum { FEW_STOPS = 64 };
/* Of its thickness. */
static const float BEYOND = 0.01f;
/* What tumbles turns this much farther in a step than its spin says. */
static const float TUMBLE = 1.1f;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static bool alone(const sac_world *world, uint32_t slot)
{
    const sac_broad *broad = world->broad;
    /* Not where others come near soon. */
    if (broad->pair_count > 2 * world->awake_count) return false;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot)) {
        const sac_broad_pair *pair = &broad->pairs[p];
        if (world->flags[pair->a == slot ? pair->b : pair->a] & SAC_BODY_AWAKE) return false;
    }
    return true;
}

/* Pairs follow with sac_broad_settle. */
static uint64_t place_soon(sac_world *world, uint32_t slot, float dt)
{
    const sac_form *form = sac_body_form(world, slot);
    sac_body_hot *hot = &world->hot[slot];
    bool moves = world->cold[slot].kind != SAC_BODY_STATIC;
    sac_box box;
    sac_form_bounds(form, sac_body_form_pose(world, slot), &box);
    uint32_t frames = moves ? sac_body_flight_box(world, slot, &box) : 0;
    world->box_until[slot] = frames ? world->frame + frames : 0;
    if (frames) {
        hot->slack = FAT;
    } else if (moves) {
        float T = (alone(world, slot) ? ALONE_FRAMES : HORIZON_FRAMES) * dt,
              spin = length3(hot->w) * hot->radius * T;
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

/* The same for this frame: its way is in the box, so that nobody needs to look at that again before it has
 * been gone. */
static uint64_t place_for_now(sac_world *world, uint32_t slot, float dt)
{
    uint64_t credits = place_soon(world, slot, dt);
    world->hot[slot].slack += sac_body_motion(&world->hot[slot], dt);
    return credits;
}

uint64_t sac_body_widen_bounds(sac_world *world, uint32_t slot)
{
    const sac_body_hot *hot = &world->hot[slot];
    sac_box box, placed = world->broad->boxes[slot];
    sac_form_bounds(sac_body_form(world, slot), sac_body_form_pose(world, slot), &box);
    float turn = TUMBLE * length3(hot->turned) * hot->radius + world->def.margin;
    for (int i = 0; i < 3; i++) {
        placed.low[i] = fminf(placed.low[i], box.low[i] + fminf(hot->moved[i], 0) - turn);
        placed.high[i] = fmaxf(placed.high[i], box.high[i] + fmaxf(hot->moved[i], 0) + turn);
    }
    return sac_broad_place_soon(world->broad, slot, &placed, true);
}

float sac_body_room_after(const sac_world *world, uint32_t slot, float time)
{
    const sac_form *form = sac_body_form(world, slot);
    const sac_body_hot *hot = &world->hot[slot];
    const sac_box *placed = &world->broad->boxes[slot];
    sac_box box;
    sac_form_bounds(form, sac_body_form_pose(world, slot), &box);
    float grow = TUMBLE * length3(hot->w) * hot->radius * time + world->def.margin, room = FLT_MAX;
    for (int i = 0; i < 3; i++) {
        float d = hot->v[i] * time;
        float low = box.low[i] - grow + (d < 0 ? d : 0) - placed->low[i];
        float high = placed->high[i] - (box.high[i] + grow + (d > 0 ? d : 0));
        room = fminf(room, fminf(low, high));
    }
    return room;
}

float sac_body_motion(const sac_body_hot *hot, float time)
{
    return (length3(hot->v) + TUMBLE * length3(hot->w) * hot->radius) * time;
}

/* Does the placed box still hold the body through this frame? Renews the slack when it does. */
static bool still_holds(sac_world *world, uint32_t slot, float dt)
{
    float room = sac_body_room_after(world, slot, dt);
    if (!(room >= 0)) return false;
    /* What the frame's own motion needs is already taken off. */
    world->hot[slot].slack = room + sac_body_motion(&world->hot[slot], dt);
    return true;
}

bool sac_body_bounds_hold(sac_world *world, uint32_t slot, float dt)
{
    const sac_body_hot *hot = &world->hot[slot];
    return sac_body_box_lasts(world, slot, 1) || hot->slack > sac_body_motion(hot, dt) ||
           still_holds(world, slot, dt);
}

bool sac_body_little_beyond(const sac_world *world, uint32_t slot, float dt)
{
    return sac_body_room_after(world, slot, dt) > -BEYOND * world->hot[slot].thickness;
}

/* Those that fly on unseen, from a different one each frame, into `extra`. */
static uint32_t list_unseen(sac_world *world)
{
    uint32_t awake = world->awake_count, count = 0;
    uint32_t start = (uint32_t)((uint64_t)world->frame * 7919u % awake);
    for (uint32_t k = 0; k < awake; k++) {
        uint32_t slot = world->awake[start + k < awake ? start + k : start + k - awake];
        world->extra[count] = slot;
        count += !(world->flags[slot] & (SAC_BODY_CHOSEN | SAC_BODY_SOFT)) && sac_body_dynamic(world, slot) &&
                 sac_body_flies(world, slot);
    }
    return count;
}

/* Boxes of the first `count` of `extra`, where one does not last `frames` more. */
static uint32_t place_unseen(sac_world *world, uint32_t count, float dt, uint32_t frames, sac_stop *stop)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = world->extra[i];
        float time = (float)(frames + 1) * dt;
        if (sac_body_box_lasts(world, slot, frames + 1) ||
            world->hot[slot].slack > sac_body_motion(&world->hot[slot], time))
            continue;
        if (sac_stop_reached(stop)) break;
        sac_stop_did(stop, CREDITS_A_LOOK);
        if (frames ? sac_body_room_after(world, slot, time) >= 0 : still_holds(world, slot, dt)) continue;
        uint64_t credits = place_for_now(world, slot, dt);
        if (!sac_world_fit_pairs(world)) break;
        sac_stop_did(stop, credits);
        placed++;
    }
    return placed;
}

/* `where`: of those that are near anybody. */
static void stop_untold(sac_world *world, uint32_t slot, sac_box *where)
{
    const sac_box *box = &world->broad->boxes[slot];
    world->flags[slot] |= SAC_BODY_STOPPED;
    world->hot[slot].halt = world->frame;
    world->clear_until[slot] = 0;
    if (world->broad->first_pair[slot] == SAC_NO_PAIR) return;
    sac_box_add(where, box->low);
    sac_box_add(where, box->high);
}

/* There is no time to tell those about each of them: all that fly where they are stop too, and all about
 * these fly on for this frame and no longer. */
static void stop_all_about(sac_world *world, const uint32_t *list, uint32_t stopped, uint32_t count)
{
    sac_box where = sac_box_empty(), about;
    for (uint32_t i = 0; i < stopped; i++) stop_untold(world, list[i], &where);
    about = where;
    for (uint32_t i = 0; i < count; i++)
        if (sac_boxes_overlap(&world->broad->boxes[world->extra[i]], &where))
            stop_untold(world, world->extra[i], &about);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = world->extra[i];
        if (world->clear_until[slot] > world->frame + 1 &&
            sac_boxes_overlap(&world->broad->boxes[slot], &about))
            world->clear_until[slot] = world->frame + 1;
    }
    sac_world_spend(world, 30u * count);
}

/* Whose turn it is not, and who went on until now: the same, while there is time. Later they stop all the
 * same, and tell it when others have moved. */
static void stop_waiting(sac_world *world, uint32_t *list, sac_stop *stop)
{
    const uint32_t any = SAC_BODY_YIELDS | SAC_BODY_SOFT | SAC_BODY_CHOSEN | SAC_BODY_STOPPED;
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < world->awake_count; i++) {
        uint32_t slot = world->awake[i];
        bool waits =
            (world->flags[slot] & any) == SAC_BODY_YIELDS && world->clear_until[slot] <= world->frame;
        if (!waits || sac_body_lies(world, slot)) continue;
        list[stopped++] = slot;
    }
    uint32_t told = 0;
    while (told < stopped && !sac_stop_reached(stop)) {
        stopped = sac_body_stop(world, list[told++], true, list, stopped);
        sac_stop_did(stop, CREDITS_A_STOP);
    }
    while (told < stopped) world->flags[list[told++]] &= ~(uint32_t)SAC_BODY_STOPPED;
}

/* Those whose box does not hold them stop before anybody has moved, and with them whoever would run into
 * them. */
static void stop_unseen(sac_world *world, uint32_t count, float dt, uint32_t *list, sac_stop *stop)
{
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = world->extra[i];
        if (sac_body_box_lasts(world, slot, 1) ||
            world->hot[slot].slack > sac_body_motion(&world->hot[slot], dt))
            continue;
        world->flags[slot] |= SAC_BODY_STOPPED;
        list[stopped++] = slot;
    }
    for (uint32_t i = 0; i < stopped; i++) {
        bool late = sac_stop_reached(stop);
        if (late && stopped - i > FEW_STOPS) {
            stop_all_about(world, list + i, stopped - i, count);
            return;
        }
        stopped = sac_body_stop(world, list[i], !late, list, stopped);
        if (late)
            sac_world_spend(world, CREDITS_A_STOP / 4);
        else
            sac_stop_did(stop, CREDITS_A_STOP);
    }
    stop_waiting(world, list, stop);
}

/* Half of what is left, or more of what nobody's turn needs: boxes that find no time wait, and their
 * bodies with them. Less when those that fly on with theirs lately took the frame beyond its end. */
static uint64_t limit_at(const sac_world *world, uint64_t now)
{
    if (world->step_deadline_ns == UINT64_MAX) return UINT64_MAX;
    double left = sac_world_left_ns(world, now);
    return now + (uint64_t)(world->costs.lift * fmax(left / 2, 0.6 * (left - world->dues_ns)));
}

void sac_world_bound(sac_world *world)
{
    sac_stop stop;
    float dt = world->step_dt;
    uint32_t kept = 0, placed = 0;
    uint64_t start = sac_world_now(world), cost = sac_world_cost_now(world);
    uint64_t limit = limit_at(world, start);
    sac_tape_stop(&world->tape, &stop, &world->clock, limit, &world->pace);
    for (uint32_t i = 0; i < world->chosen_count; i++) {
        uint32_t slot = world->chosen[i];
        sac_body_hot *hot = &world->hot[slot];
        hot->reach =
            (length3(hot->v) + TUMBLE * length3(hot->w) * hot->radius + world->gravity_size * dt) * dt;
        bool hold = sac_body_bounds_hold(world, slot, dt);
        if (!hold && (placed == 0 || world->flags[slot] & (SAC_BODY_TOLD | SAC_BODY_STRUCK) ||
                      sac_body_strikes(world, slot))) {
            /* The first, or nobody would ever get on; and time or not what moves as it is told, and what is
             * in its way. */
            uint64_t credits = place_for_now(world, slot, dt);
            hold = credits > 0 && sac_world_fit_pairs(world);
            sac_stop_charge(&stop, credits);
            placed++;
        } else if (!hold && !sac_stop_reached(&stop)) {
            uint64_t credits = place_for_now(world, slot, dt);
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
    uint32_t others = 0;
    if (world->chosen_count < world->awake_count) {
        /* First where one does not last this frame, then, in half the time, where it does not last a few
         * more, so that not all of a crowd that was placed together is due together. */
        uint64_t before = sac_world_cost_now(world), half = start + (limit - start) / 2;
        uint32_t unseen = list_unseen(world);
        sac_stop soon, last;
        others = place_unseen(world, unseen, dt, 0, &stop);
        sac_tape_close(&world->tape, &stop);
        sac_tape_stop(&world->tape, &soon, &world->clock, limit == UINT64_MAX ? limit : half, &world->pace);
        others += place_unseen(world, unseen, dt, SPREAD_FRAMES, &soon);
        sac_tape_close(&world->tape, &soon);
        sac_tape_stop(&world->tape, &last, &world->clock,
                      limit == UINT64_MAX ? limit : limit + (limit - start) / 4, &world->pace);
        /* There is room for all that are awake, and those that stop are not chosen. */
        stop_unseen(world, unseen, dt, world->chosen + kept, &last);
        sac_tape_close(&world->tape, &last);
        double took = (double)(sac_world_cost_now(world) - before);
        if (!world->tape.replay)
            world->costs.unseen_ns = sac_cost_learned(world->costs.unseen_ns, took, 0.25);
    } else {
        sac_tape_close(&world->tape, &stop);
        world->costs.unseen_ns *= 0.75;
    }
    sac_broad_settle(world->broad);
    sac_world_spend(world, 20u * world->chosen_count);
    if (placed + others && !world->tape.replay)
        sac_predictor_learn(&world->costs.place, placed + others, 0,
                            (double)(sac_world_cost_now(world) - cost));
    if (world->chosen_count)
        world->costs.places_per_body +=
            0.1 * ((double)placed / world->chosen_count - world->costs.places_per_body);
    world->chosen_count = kept;
    sac_pairs_begun_and_ended(world);
}
