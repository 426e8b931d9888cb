/* What is done to a body between steps. Nothing is changed that cannot be finished, and whoever counted on it
 * going on as it did is told. */
#include "runtime/bodies_internal.h"

#include <string.h>

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Its pairs must be looked at afresh: what was remembered of them is about another motion. */
static void jolt(sac_world *world, uint32_t slot)
{
    sac_body_startle(world, slot);
    world->hot[slot].jolt = world->frame + 1u;
}

/* Room for what a change needs, before anything is changed that could not be put back: the pairs the body
 * has when it is as its slot says now, and word of those that end. */
static bool make_room(sac_world *world, uint32_t slot, bool (*rehearse)(sac_world *world, uint32_t slot))
{
    const sac_broad *broad = world->broad;
    size_t ends = world->pending_ends.count;
    for (uint32_t p = broad->first_pair[slot]; p != SAC_NO_PAIR; p = sac_broad_next(broad, p, slot))
        ends += world->watch[p].touching;
    if (!sac_array_reserve(&world->pending_ends, ends)) return false;
    world->broad->rehearsal = true;
    bool room = rehearse(world, slot);
    world->broad->rehearsal = false;
    return room && sac_world_fit_pairs(world);
}

static bool place(sac_world *world, uint32_t slot)
{
    return sac_body_place_bounds(world, slot, 1.0f / 90) > 0;
}

static bool refilter(sac_world *world, uint32_t slot) { return sac_broad_refilter(world->broad, slot); }

static sac_result no_room(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the body's pairs");
}

/* Pose, centre and points, or nothing when there is no memory for what they would meet. */
static sac_result take_pose(sac_world *world, uint32_t slot, const float position[3], const float rotation[4],
                            sac_error *error)
{
    sac_transform pose = world->pose[slot];
    sac_body_hot hot = world->hot[slot];
    sac_soft_slot soft;
    bool is_soft = world->flags[slot] & SAC_BODY_SOFT;
    memcpy(world->pose[slot].translation, position, sizeof(vec3));
    memcpy(world->pose[slot].rotation, rotation, sizeof pose.rotation);
    sac_body_place_centre(world, slot);
    sac_result result = is_soft ? sac_soft_slot_place(world, slot, &soft, error) : SAC_OK;
    if (result == SAC_OK) {
        if (!make_room(world, slot, place)) result = no_room(error);
        if (is_soft && result != SAC_OK) sac_soft_slot_give_back(world, slot, &soft);
        if (is_soft && result == SAC_OK) sac_soft_slot_drop(&soft);
    }
    if (result != SAC_OK) world->pose[slot] = pose, world->hot[slot] = hot;
    return result;
}

sac_result sac_body_set_pose(sac_world *world, sac_body_id id, const float position[3],
                             const float rotation[4], sac_error *error)
{
    SAC_NEED(error, world, position, rotation);
    uint32_t slot = sac_body_slot(world, id);
    float q[4];
    if (slot == UINT32_MAX) return sac_body_stale(error);
    if (!sac_body_near_origin(world, position))
        return sac_body_wrong(error, "position", "keep it within the world's `far`");
    if (!sac_body_unit(rotation, q))
        return sac_body_wrong(error, "rotation", "give a quaternion of length 1");
    float before[3], p[4], d[3], turn = 0, back = 0;
    memcpy(p, world->pose[slot].rotation, sizeof p);
    memcpy(before, world->hot[slot].centre, sizeof before);
    sac_result result = take_pose(world, slot, position, q, error);
    if (result != SAC_OK) return result;
    sac_body_wake_with_touched(world, slot);
    sac_body_lag_no_more(world, slot);
    /* How far apart the two rotations take a point at distance 1: the chord, whichever sign they are given
     * with. */
    for (int i = 0; i < 4; i++) turn += (q[i] - p[i]) * (q[i] - p[i]), back += (q[i] + p[i]) * (q[i] + p[i]);
    float chord = 2 * sqrtf(turn < back ? turn : back);
    for (int i = 0; i < 3; i++) d[i] = world->hot[slot].centre[i] - before[i];
    float radius = world->hot[slot].radius;
    world->hot[slot].travel += (double)length3(d) + (radius < 1e18f ? (double)(chord * radius) : 0);
    jolt(world, slot);
    if (!place(world, slot)) return no_room(error); /* there is: it was made */
    sac_pairs_begun_and_ended(world);
    SAC_RECORD(world, body_set_pose, .body = id.value, .position = SAC_XYZ(position),
               .rotation = SAC_XYZW(rotation));
    return SAC_OK;
}

static void give_velocity(sac_world *world, uint32_t slot, const float velocity[3], const float spin[3])
{
    float v[3], w[3];
    sac_body_wake_slot(world, slot);
    memcpy(world->hot[slot].v, velocity, sizeof v);
    memcpy(world->hot[slot].w, spin, sizeof w);
    sac_body_obey_limits(world, slot);
    memcpy(v, world->hot[slot].v, sizeof v), memcpy(w, world->hot[slot].w, sizeof w);
    if (world->flags[slot] & SAC_BODY_SOFT) sac_soft_slot_velocity(world, slot, v, w);
    sac_body_look_again(world, slot);
}

sac_result sac_body_set_velocity(sac_world *world, sac_body_id id, const float velocity[3],
                                 const float spin[3], sac_error *error)
{
    SAC_NEED(error, world, velocity, spin);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    if (!sac_vec3_is_finite(velocity) || !(length3(velocity) <= 1e4f))
        return sac_body_wrong(error, "velocity", "at most 10,000 m/s");
    if (!sac_vec3_is_finite(spin) || !(length3(spin) <= 1e4f))
        return sac_body_wrong(error, "spin", "at most 10,000 rad/s");
    if (world->cold[slot].kind == SAC_BODY_STATIC)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make it kinematic", "a static body cannot move");
    give_velocity(world, slot, velocity, spin);
    SAC_RECORD(world, body_set_velocity, .body = id.value, .velocity = SAC_XYZ(velocity),
               .spin = SAC_XYZ(spin));
    return SAC_OK;
}

sac_result sac_body_move_to(sac_world *world, sac_body_id id, const float position[3],
                            const float rotation[4], sac_error *error)
{
    SAC_NEED(error, world, position, rotation);
    uint32_t slot = sac_body_slot(world, id);
    float q[4];
    if (slot == UINT32_MAX) return sac_body_stale(error);
    if (world->cold[slot].kind != SAC_BODY_KINEMATIC)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "use sac_body_set_pose or a grab",
                             "only a kinematic body moves as told");
    if (!sac_body_near_origin(world, position))
        return sac_body_wrong(error, "position", "keep it within the world's `far`");
    if (!sac_body_unit(rotation, q))
        return sac_body_wrong(error, "rotation", "give a quaternion of length 1");
    memcpy(world->cold[slot].target_position, position, sizeof(vec3));
    memcpy(world->cold[slot].target_rotation, q, sizeof q);
    world->flags[slot] |= SAC_BODY_TOLD;
    SAC_RECORD(world, body_move_to, .body = id.value, .position = SAC_XYZ(position),
               .rotation = SAC_XYZW(rotation));
    return SAC_OK;
}

sac_result sac_body_push(sac_world *world, sac_body_id id, const float impulse[3], const float *point,
                         sac_error *error)
{
    SAC_NEED(error, world, impulse);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    if (!sac_vec3_is_finite(impulse) || (point && !sac_body_near_origin(world, point)))
        return sac_body_wrong(error, point ? "impulse or point" : "impulse",
                              "keep it finite and the point near");
    if (!sac_body_dynamic(world, slot))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make it dynamic, or move it",
                             "only a dynamic body can be pushed");
    sac_body_hot *hot = &world->hot[slot];
    float v[3], w[3] = {hot->w[0], hot->w[1], hot->w[2]};
    for (int i = 0; i < 3; i++) v[i] = hot->v[i] + impulse[i] * hot->inverse_mass;
    if (point) {
        float I[6], r[3] = {point[0] - hot->centre[0], point[1] - hot->centre[1], point[2] - hot->centre[2]};
        float t[3] = {r[1] * impulse[2] - r[2] * impulse[1], r[2] * impulse[0] - r[0] * impulse[2],
                      r[0] * impulse[1] - r[1] * impulse[0]};
        sac_body_world_inertia(world, slot, I);
        w[0] += I[0] * t[0] + I[3] * t[1] + I[4] * t[2];
        w[1] += I[3] * t[0] + I[1] * t[1] + I[5] * t[2];
        w[2] += I[4] * t[0] + I[5] * t[1] + I[2] * t[2];
    }
    if (!(length3(v) <= 1e4f) || !(length3(w) <= 1e4f))
        return sac_body_wrong(error, "the impulse", "push less hard");
    if (world->flags[slot] & SAC_BODY_SOFT) {
        sac_body_wake_slot(world, slot);
        sac_soft_slot_push(world, slot, impulse, point);
        jolt(world, slot);
    } else {
        give_velocity(world, slot, v, w);
    }
    const float *at = point ? point : hot->centre;
    SAC_RECORD(world, body_push, .body = id.value, .impulse = SAC_XYZ(impulse), .aimed = point != NULL,
               .point = SAC_XYZ(at));
    return SAC_OK;
}

/* What a body of this kind weighs and how it moves; whether it is awake comes later. */
static void take_kind(sac_world *world, uint32_t slot, const sac_body_cold *next)
{
    sac_body_hot *hot = &world->hot[slot];
    world->cold[slot] = *next;
    sac_body_obey_limits(world, slot);
    hot->inverse_mass = next->kind == SAC_BODY_DYNAMIC ? 1 / next->mass : 0;
    if (next->kind != SAC_BODY_STATIC) return;
    memset(hot->v, 0, sizeof hot->v);
    memset(hot->w, 0, sizeof hot->w);
}

sac_result sac_body_set_kind(sac_world *world, sac_body_id id, sac_body_kind kind, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    if ((unsigned)kind > SAC_BODY_DYNAMIC)
        return sac_body_wrong(error, "kind", "static, kinematic or dynamic");
    sac_body_cold cold = world->cold[slot], next = cold;
    sac_form_kind form = world->shapes[cold.shape].form.kind;
    if (form == SAC_FORM_SOFT && kind != SAC_BODY_DYNAMIC)
        return sac_body_wrong(error, "kind", "soft bodies are dynamic; pin their points instead");
    if (kind != SAC_BODY_STATIC && (form == SAC_FORM_PLANE || form == SAC_FORM_TERRAIN))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "leave it static", "planes and terrain cannot move");
    next.kind = kind;
    if (kind == SAC_BODY_DYNAMIC && cold.mass == 0) {
        sac_body_def def = sac_default_body_def();
        def.scale = world->pose[slot].scale;
        sac_result result = sac_body_weigh(&def, &world->shapes[cold.shape].form, &next, error);
        if (result != SAC_OK) return result;
    }
    /* Room for what it will be; then it is what it was, and those about it wake as they would have. */
    sac_body_hot hot = world->hot[slot];
    take_kind(world, slot, &next);
    bool room = make_room(world, slot, place);
    world->cold[slot] = cold, world->hot[slot] = hot;
    if (!room) return no_room(error);
    sac_body_wake_with_touched(world, slot);
    take_kind(world, slot, &next);
    world->flags[slot] &= ~(uint32_t)(SAC_BODY_YIELDS | SAC_BODY_TOLD);
    if (kind == SAC_BODY_DYNAMIC)
        world->flags[slot] |= SAC_BODY_YIELDS;
    else
        sac_grabs_of_body_end(world, slot);
    if (kind == SAC_BODY_STATIC)
        sac_body_remove_awake(world, slot);
    else
        sac_body_add_awake(world, slot);
    sac_broad_remove(world->broad, slot);
    sac_pairs_begun_and_ended(world);
    if (!place(world, slot)) return no_room(error); /* there is: it was made */
    sac_pairs_begun_and_ended(world);
    SAC_RECORD(world, body_set_kind, .body = id.value, .kind = kind);
    return SAC_OK;
}

sac_result sac_body_set_filter(sac_world *world, sac_body_id id, const sac_filter *filter, sac_error *error)
{
    SAC_NEED(error, world, filter);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    sac_filter before = world->cold[slot].filter;
    world->cold[slot].filter = *filter;
    if (!make_room(world, slot, refilter)) {
        world->cold[slot].filter = before;
        return no_room(error);
    }
    sac_body_wake_with_touched(world, slot);
    if (!refilter(world, slot)) return no_room(error); /* there is: it was made */
    sac_pairs_begun_and_ended(world);
    SAC_RECORD(world, body_set_filter, .body = id.value, .filter = *filter);
    return SAC_OK;
}

sac_result sac_body_set_material(sac_world *world, sac_body_id id, const sac_material *material,
                                 sac_error *error)
{
    SAC_NEED(error, world, material);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    sac_result result = sac_body_check_material(material, error);
    if (result != SAC_OK) return result;
    world->cold[slot].material = *material;
    sac_body_wake_with_touched(world, slot);
    SAC_RECORD(world, body_set_material, .body = id.value, .material = *material);
    return SAC_OK;
}

sac_result sac_body_set_motion(sac_world *world, sac_body_id id, float gravity_scale, float linear_damping,
                               float angular_damping, float most_speed, float most_spin, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    sac_result result =
        sac_body_check_motion(gravity_scale, linear_damping, angular_damping, most_speed, most_spin, error);
    if (result != SAC_OK) return result;
    sac_body_cold *cold = &world->cold[slot];
    cold->gravity_scale = gravity_scale;
    cold->linear_damping = linear_damping;
    cold->angular_damping = angular_damping;
    cold->most_speed = most_speed;
    cold->most_spin = most_spin;
    if (!(world->flags[slot] & SAC_BODY_SOFT)) sac_body_obey_limits(world, slot);
    world->flags[slot] = (world->flags[slot] & ~(uint32_t)SAC_BODY_PLAIN) | sac_body_plain(cold);
    jolt(world, slot);
    sac_body_wake_with_touched(world, slot);
    SAC_RECORD(world, body_set_motion, .body = id.value, .gravity_scale = gravity_scale,
               .linear_damping = linear_damping, .angular_damping = angular_damping, .most_speed = most_speed,
               .most_spin = most_spin);
    return SAC_OK;
}

sac_result sac_body_wake(sac_world *world, sac_body_id id, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    sac_body_wake_with_touched(world, slot);
    SAC_RECORD(world, body_wake, .body = id.value);
    return SAC_OK;
}
