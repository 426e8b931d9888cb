/* Motion into poses: what was simulated, and what was not and is carried on. */
#include "base/simd.h"
#include "runtime/world_internal.h"

#include <string.h>

/* What telling one of those about it mostly takes, and so many are told whatever the time; a close look at a
 * box takes as long as telling some. */
static const double ALARM_NS = 40;
enum { LEAST_ALARMS = 320, ALARMS_A_LOOK = 10 };
/* Frames of one turn that count as rest. */
enum { MOST_RESTED = 16 };

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void mark_moved(sac_world *world, uint32_t slot)
{
    if (world->flags[slot] & SAC_BODY_MOVED) return;
    world->flags[slot] |= SAC_BODY_MOVED;
    sac_array_push(&world->moved, slot);
}

/* Moves and turns a body about its centre; false when it would end nowhere. */
static bool move_body(sac_world *world, uint32_t slot, const float moved[3], const float turned[3])
{
    sac_body_hot *hot = &world->hot[slot];
    sac_transform *pose = &world->pose[slot];
    float centre[3], q[4], far = world->def.far;
    for (int i = 0; i < 3; i++) centre[i] = hot->centre[i] + moved[i];
    memcpy(q, pose->rotation, sizeof q);
    sac_turn(q, turned);
    if (!sac_vec3_is_finite(centre) || !isfinite(q[0] + q[1] + q[2] + q[3])) return false;
    for (int i = 0; i < 3; i++) {
        /* Nobody is lost: at the end of the world a body stops. */
        if (centre[i] > far || centre[i] < -far) {
            centre[i] = centre[i] > 0 ? far : -far;
            hot->v[i] = 0;
        }
    }
    memcpy(hot->centre, centre, sizeof centre);
    memcpy(pose->rotation, q, sizeof q);
    sac_body_place_shape(world, slot);
    float way = length3(moved) + length3(turned) * hot->radius;
    hot->travel += way;
    hot->slack -= way;
    return true;
}

static void finish_kinematic(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    float dt = world->step_dt, moved[3], turned[3];
    for (int i = 0; i < 3; i++) moved[i] = hot->v[i] * dt, turned[i] = hot->w[i] * dt;
    bool told = world->flags[slot] & SAC_BODY_TOLD;
    if (length3(moved) == 0 && length3(turned) == 0 && !told) return;
    move_body(world, slot, moved, turned);
    if (told) {
        /* Exactly where it was told to be, whatever rounding says. */
        float before[3];
        memcpy(before, hot->centre, sizeof before);
        memcpy(world->pose[slot].rotation, world->cold[slot].target_rotation, 4 * sizeof(float));
        memcpy(world->pose[slot].translation, world->cold[slot].target_position, sizeof(vec3));
        float offset[3], rows[3][3];
        sac_transform_rows(&world->pose[slot], rows);
        const float *c = world->cold[slot].local_centre;
        for (int i = 0; i < 3; i++) {
            offset[i] = rows[i][0] * c[0] + rows[i][1] * c[1] + rows[i][2] * c[2];
            hot->centre[i] = world->pose[slot].translation[i] + offset[i];
        }
        world->flags[slot] &= ~(uint32_t)SAC_BODY_TOLD;
        memset(hot->v, 0, sizeof hot->v);
        memset(hot->w, 0, sizeof hot->w);
    }
    mark_moved(world, slot);
}

/* Its points have moved already. */
static void move_soft(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    float before[3], radius = hot->radius, d[3];
    memcpy(before, hot->centre, sizeof before);
    sac_soft_slot_renew(world, slot);
    for (int i = 0; i < 3; i++) d[i] = hot->centre[i] - before[i];
    /* No point went farther than the centre and what its speed about the centre allows. */
    float way =
        length3(d) + fmaxf(length3(hot->w) * hot->radius * world->step_dt, fabsf(hot->radius - radius));
    hot->travel += way;
    hot->slack -= way;
}

static void finish_simulated(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    uint32_t frames = sac_body_waited(world, slot);
    bool soft = world->flags[slot] & SAC_BODY_SOFT;
    if (soft)
        move_soft(world, slot);
    else
        sac_body_tumble(world, slot, true);
    if (!soft && !move_body(world, slot, hot->moved, hot->turned)) {
        world->report.not_finite++;
        for (int i = 0; i < 3; i++) hot->v[i] = hot->w[i] = 0;
    } else if (!soft && frames > 1) {
        sac_body_lag_behind(world, slot, frames);
    }
    /* While it waited it lay still too, if it did not wait for long; how long else, nobody knows. */
    float waited = world->step_dt * (float)(frames < MOST_RESTED ? frames : MOST_RESTED);
    world->ground[slot] = world->ground_next[slot];
    if (sac_body_rested(world, slot) && world->chosen_count < world->awake_count &&
        sac_body_lies(world, slot))
        /* Alone among others that wait it was only stirred. */
        for (int i = 0; i < 3; i++) hot->v[i] = hot->w[i] = 0;
    float speed = length3(hot->v), spin = length3(hot->w) * hot->radius;
    if (speed + spin < world->def.sleep_speed)
        world->rest_seconds[slot] += waited;
    else
        world->rest_seconds[slot] = 0;
    if (world->rest_seconds[slot] >= world->def.sleep_seconds) world->rest.any = true;
    world->simulated[slot] = world->served[slot] = world->frame;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_STOPPED;
    mark_moved(world, slot);
}

/* It stays where it is until its turn comes: time stands still for it, and so does its fall. */
static void hold(sac_world *world, uint32_t slot)
{
    world->report.rungs[SAC_RUNG_HELD]++;
    if (world->flags[slot] & SAC_BODY_STOPPED) return;
    world->flags[slot] |= SAC_BODY_STOPPED;
    sac_body_halt(world, slot);
}

/* A little beyond its box it may be when there was no time to place another. When the boxes of a whole crowd
 * end in one frame not all of them can be looked at: those that cannot are held.
 */
static bool stays_in_box(sac_world *world, uint32_t slot, float dt)
{
    sac_body_hot *hot = &world->hot[slot];
    if (sac_body_box_lasts(world, slot, 1) || hot->slack > sac_body_motion(hot, dt)) return true;
    world->looks += ALARMS_A_LOOK;
    if (world->looks > world->alarms) return false;
    return sac_body_bounds_hold(world, slot, dt) || sac_body_little_beyond(world, slot, dt);
}

/* What is borne upwards has the less speed for it. */
static void climb(sac_world *world, uint32_t slot, const float moved[3])
{
    sac_body_hot *hot = &world->hot[slot];
    float up = 0, square = 0;
    for (int i = 0; i < 3; i++) {
        up -= moved[i] * world->def.gravity[i] * world->cold[slot].gravity_scale;
        square += hot->v[i] * hot->v[i];
    }
    if (!(up > 0)) return;
    float share = square > 2 * up ? sqrtf(1 - 2 * up / square) : 0;
    for (int i = 0; i < 3; i++) hot->v[i] *= share;
}

/* What holds back a body in its turn does so between turns. */
static void hold_back(const sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    const sac_body_cold *cold = &world->cold[slot];
    float damping = cold->linear_damping, spin_damping = cold->angular_damping, most = cold->most_speed;
    float square = hot->v[0] * hot->v[0] + hot->v[1] * hot->v[1] + hot->v[2] * hot->v[2];
    if (damping == 0 && spin_damping == 0 && square <= most * most) return;
    float keep = 1 / (1 + damping * world->step_dt), keep_spin = 1 / (1 + spin_damping * world->step_dt);
    if (square * keep * keep > most * most) keep = most / sqrtf(square);
    for (int i = 0; i < 3; i++) hot->v[i] *= keep, hot->w[i] *= keep_spin;
}

/* Nobody looked at its pairs this frame. When none of them can matter yet it flies on inside its placed box.
 * What lies still stays where it is; any other is held. */
static void extrapolate(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    float dt = world->step_dt;
    const sac_soft_slot *soft = sac_soft_of(world, slot);
    if (world->lags_until[slot] > world->frame) mark_moved(world, slot);
    bool clear = world->clear_until[slot] > world->frame;
    if (soft) {
        if (!clear || soft->skipped >= SAC_SOFT_MOST_SKIPPED || !sac_body_bounds_hold(world, slot, dt)) {
            hold(world, slot);
            return;
        }
        float way = length3(hot->v) * dt + length3(hot->w) * hot->radius * dt;
        sac_soft_slot_fall(world, slot);
        sac_world_spend(world, 10u * soft->points);
        hot->travel += way;
        hot->slack -= way;
        world->report.rungs[SAC_RUNG_SHAPES]++;
        mark_moved(world, slot);
        return;
    }
    if (sac_body_lies(world, slot)) return;
    /* Most of a crowd that waits: nothing more is asked of those. */
    if (!clear || world->flags[slot] & SAC_BODY_STOPPED || !stays_in_box(world, slot, dt)) {
        hold(world, slot);
        return;
    }
    bool borne = world->touches[slot] && world->flags[slot] & SAC_BODY_BORNE;
    float fall = borne ? 0 : world->cold[slot].gravity_scale * dt;
    /* As far as in so many sub-steps. */
    float part = 0.5f + 0.5f / (float)world->step_substeps;
    for (int i = 0; i < 3; i++) {
        hot->moved[i] = (hot->v[i] + world->def.gravity[i] * fall * part) * dt;
        hot->turned[i] = hot->w[i] * dt;
    }
    if (borne)
        climb(world, slot, hot->moved);
    else
        sac_body_tumble(world, slot, false);
    if (world->touches[slot]) sac_body_keep_pace(world, slot);
    if (!move_body(world, slot, hot->moved, hot->turned)) {
        hold(world, slot);
        return;
    }
    for (int i = 0; i < 3; i++) hot->v[i] += world->def.gravity[i] * fall;
    hold_back(world, slot);
    world->served[slot]++;
    mark_moved(world, slot);
}

void sac_world_allow_alarms(sac_world *world)
{
    uint64_t now = sac_world_now(world), deadline = world->step_deadline_ns;
    double many = SAC_MOST_ALARMS, left = sac_world_left_ns(world, now);
    left -= sac_world_finish_ns(world);
    if (deadline != UINT64_MAX) many = fmin(fmax(0.5 * left / ALARM_NS, LEAST_ALARMS), SAC_MOST_ALARMS);
    world->alarms = sac_tape_choose(&world->tape, (uint32_t)many, LEAST_ALARMS, SAC_MOST_ALARMS);
    world->alarmed = sac_box_empty();
}

/* Where some had to stop who could not tell those about them, nobody flies on unseen. */
static void tell_all(sac_world *world)
{
    for (uint32_t i = 0; i < world->awake_count; i++) {
        uint32_t *clear = &world->clear_until[world->awake[i]];
        if (*clear > world->frame + 1 &&
            sac_boxes_overlap(&world->broad->boxes[world->awake[i]], &world->alarmed))
            *clear = world->frame + 1;
    }
}

/* What moving a body reads. */
static void fetch(const sac_world *world, uint32_t slot)
{
    const sac_body_cold *cold = &world->cold[slot];
    const void *lines[] = {&world->hot[slot], &world->hot[slot].moved, &world->pose[slot], cold->local_centre,
                           &cold->gravity_scale};
    if (!sac_body_flies(world, slot)) return;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) sac_prefetch((uintptr_t)lines[i]);
}

void sac_world_finish(sac_world *world)
{
    enum { AHEAD = 6 };
    for (uint32_t i = 0; i < world->awake_count; i++) {
        uint32_t slot = world->awake[i];
        if (i + AHEAD < world->awake_count) fetch(world, world->awake[i + AHEAD]);
        if (!(world->flags[slot] & SAC_BODY_CHOSEN))
            extrapolate(world, slot);
        else if (sac_body_dynamic(world, slot))
            finish_simulated(world, slot);
        else
            finish_kinematic(world, slot);
    }
    if (world->halts > world->alarms) tell_all(world);
    sac_world_spend(world, 8u * world->awake_count + 80u * world->chosen_count);
}
