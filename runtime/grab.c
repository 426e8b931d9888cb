/* Grabs: a hand holds a body softly, with so much force and no more, and lets go when it is torn away. */
#include "runtime/operations_internal.h"

#include <string.h>

sac_grab_def sac_default_grab_def(void)
{
    return (sac_grab_def){.rotation = {0, 0, 0, 1},
                          .hertz = 12,
                          .damping = 1,
                          .most_force = 500,
                          .most_torque = 50,
                          .most_distance = 0.5f,
                          .cookie = SAC_COOKIE_GRAB};
}

static bool unit(const float q[4], float out[4])
{
    float n = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabsf(n - 1) <= 0.01f)) return false;
    for (int i = 0; i < 4; i++) out[i] = q[i] / n;
    return true;
}

/* a * b, and a^-1 * b. */
static void multiply(const float a[4], const float b[4], float out[4])
{
    float r[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
                  a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
                  a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
                  a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, r, sizeof r);
}

static void conjugate(const float q[4], float out[4])
{
    out[0] = -q[0], out[1] = -q[1], out[2] = -q[2], out[3] = q[3];
}

/* Rotation vector of a quaternion near 1, good to a few per cent up to a right angle. */
static void turn_of(const float q[4], float out[3])
{
    float side = q[3] < 0 ? -2 : 2;
    for (int i = 0; i < 3; i++) out[i] = side * q[i];
}

static uint32_t slot_of(const sac_world *world, sac_grab_id id)
{
    uint32_t slot = (uint32_t)id.value - 1u;
    if (slot >= world->grab_count || !world->grabs[slot].used ||
        world->grabs[slot].generation != (uint32_t)(id.value >> 32))
        return UINT32_MAX;
    return slot;
}

static sac_result stale(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "grab the body again",
                         "there is no such grab: it ended or its body is gone");
}

sac_result sac_grab_create(sac_world *world, const sac_grab_def *def, sac_grab_id *out_grab, sac_error *error)
{
    SAC_NEED(error, world, def);
    float q[4];
    if (out_grab) *out_grab = (sac_grab_id){0};
    if (def->cookie != SAC_COOKIE_GRAB)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_grab_def()",
                             "the grab's definition was not initialised");
    uint32_t body = sac_body_slot(world, def->body);
    if (body == UINT32_MAX || !sac_body_dynamic(world, body))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "move a kinematic one with sac_body_move_to",
                             "only a living dynamic body can be held");
    const char *bad = NULL;
    if (!sac_vec3_is_finite(def->anchor)) bad = "anchor";
    if (!sac_vec3_is_finite(def->target)) bad = "target";
    if (!unit(def->rotation, q)) bad = "rotation";
    if (!(def->hertz > 0 && def->hertz <= 120)) bad = "hertz";
    if (!(def->damping >= 0 && def->damping <= 100)) bad = "damping";
    if (!(def->most_force >= 0 && def->most_force <= FLT_MAX)) bad = "most_force";
    if (!(def->most_torque >= 0 && def->most_torque <= FLT_MAX)) bad = "most_torque";
    if (!(def->most_distance > 0 && def->most_distance <= FLT_MAX)) bad = "most_distance";
    if (bad)
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             "hertz above 0 to 120, damping 0 to 100, limits 0 or more, rotation of length 1",
                             "%s of the grab is out of range or not finite", bad);
    const uint32_t most = sizeof world->contact_grab / sizeof *world->contact_grab;
    if (world->grabs_used >= most)
        return sac_error_set(error, SAC_ERROR_LIMIT, "end another first", "%u grabs are held already", most);
    uint32_t slot = 0;
    while (slot < world->grab_count && world->grabs[slot].used) slot++;
    if (slot == world->grab_room) {
        uint32_t room = slot ? slot * 2 : 8;
        sac_grab_slot *fresh = sac_alloc_zero(room, sizeof *fresh);
        if (!fresh) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the grab");
        if (slot) memcpy(fresh, world->grabs, slot * sizeof *fresh);
        sac_free(world->grabs, world->grab_room, sizeof *fresh);
        world->grabs = fresh;
        world->grab_room = room;
    }
    if (slot == world->grab_count) world->grab_count++;
    sac_grab_slot *g = &world->grabs[slot];
    uint32_t generation = g->generation + 1;
    *g = (sac_grab_slot){.def = *def, .body = body, .generation = generation, .used = true};
    const sac_transform *pose = &world->pose[body];
    float back[4], rows[3][3], d[3];
    sac_transform_rows(pose, rows);
    for (int i = 0; i < 3; i++) d[i] = def->anchor[i] - world->hot[body].centre[i];
    for (int i = 0; i < 3; i++)
        g->local_anchor[i] = rows[0][i] * d[0] + rows[1][i] * d[1] + rows[2][i] * d[2];
    if (world->flags[body] & SAC_BODY_SOFT) sac_soft_slot_grabbed(world, g);
    conjugate(q, back);
    multiply(back, pose->rotation, g->relative);
    memcpy(g->def.rotation, q, sizeof q);
    memcpy(g->last_target, def->target, sizeof g->last_target);
    memcpy(g->last_rotation, q, sizeof q);
    for (int i = 0; i < 3; i++) d[i] = def->target[i] - def->anchor[i];
    g->distance = sqrtf(glm_vec3_norm2(d));
    world->grabs_used++;
    world->flags[body] |= SAC_BODY_HELD;
    sac_body_wake_slot(world, body);
    sac_grab_id made = {sac_id_make(slot, generation)};
    if (out_grab) *out_grab = made;
    SAC_RECORD(world, grab_create, .def = *def, .made = made.value);
    return SAC_OK;
}

sac_result sac_grab_move(sac_world *world, sac_grab_id grab, const float target[3], const float rotation[4],
                         sac_error *error)
{
    SAC_NEED(error, world, target, rotation);
    uint32_t slot = slot_of(world, grab);
    float q[4];
    if (slot == UINT32_MAX) return stale(error);
    if (!sac_vec3_is_finite(target) || !unit(rotation, q))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite point and a quaternion of length 1",
                             "target or rotation of the hand is out of range or not finite");
    memcpy(world->grabs[slot].def.target, target, sizeof(vec3));
    memcpy(world->grabs[slot].def.rotation, q, sizeof q);
    sac_body_wake_slot(world, world->grabs[slot].body);
    SAC_RECORD(world, grab_move, .grab = grab.value, .target = SAC_XYZ(target),
               .rotation = SAC_XYZW(rotation));
    return SAC_OK;
}

void sac_grab_break(sac_world *world, uint32_t slot)
{
    sac_grab_slot *g = &world->grabs[slot];
    g->used = false;
    world->grabs_used--;
    bool held = false;
    for (uint32_t i = 0; i < world->grab_count; i++)
        held |= world->grabs[i].used && world->grabs[i].body == g->body;
    if (!held) world->flags[g->body] &= ~(uint32_t)SAC_BODY_HELD;
}

void sac_grabs_of_body_end(sac_world *world, uint32_t body)
{
    for (uint32_t i = 0; i < world->grab_count; i++)
        if (world->grabs[i].used && world->grabs[i].body == body) sac_grab_break(world, i);
}

sac_result sac_grab_destroy(sac_world *world, sac_grab_id grab, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = slot_of(world, grab);
    if (slot == UINT32_MAX) return stale(error);
    sac_body_wake_slot(world, world->grabs[slot].body);
    sac_grab_break(world, slot);
    SAC_RECORD(world, grab_destroy, .grab = grab.value);
    return SAC_OK;
}

sac_result sac_grab_get(const sac_world *world, sac_grab_id grab, sac_grab_state *out, sac_error *error)
{
    if (!out) return sac_error_null(error, "out_state", 0);
    SAC_NEED(error, world);
    uint32_t slot = slot_of(world, grab);
    if (slot == UINT32_MAX) return stale(error);
    const sac_grab_slot *g = &world->grabs[slot];
    *out =
        (sac_grab_state){.body = sac_body_id_of(world, g->body), .distance = g->distance, .force = g->force};
    return SAC_OK;
}

/* Grabs of this frame's bodies into the solver's set; those torn too far end here. */
void sac_grabs_fill(sac_world *world, uint32_t stamp, uint32_t *count)
{
    for (uint32_t i = 0; i < world->grab_count; i++) {
        sac_grab_slot *g = &world->grabs[i];
        if (!g->used || world->solver_stamp[g->body] != stamp || !(world->flags[g->body] & SAC_BODY_CHOSEN))
            continue;
        sac_solver_grab *out = &world->solver->grabs[*count];
        const sac_transform *pose = &world->pose[g->body];
        float rows[3][3], goal[4], now[4], turn[4], d2 = 0;
        sac_transform_rows(pose, rows);
        *out = (sac_solver_grab){.body = world->solver_index[g->body],
                                 .hertz = g->def.hertz,
                                 .damping = g->def.damping,
                                 .most_force = g->def.most_force,
                                 .most_torque = g->def.most_torque};
        for (int k = 0; k < 3; k++) {
            out->arm[k] = rows[k][0] * g->local_anchor[0] + rows[k][1] * g->local_anchor[1] +
                          rows[k][2] * g->local_anchor[2];
            out->offset[k] = g->def.target[k] - (world->hot[g->body].centre[k] + out->arm[k]);
            d2 += out->offset[k] * out->offset[k];
            out->target_v[k] = (g->def.target[k] - g->last_target[k]) / world->step_dt;
        }
        g->distance = sqrtf(d2);
        if (g->distance > g->def.most_distance) {
            sac_grab_break(world, i);
            continue;
        }
        multiply(g->def.rotation, g->relative, goal);
        conjugate(pose->rotation, now);
        multiply(goal, now, turn);
        turn_of(turn, out->twist);
        float last[4], step[4];
        conjugate(g->last_rotation, last);
        multiply(g->def.rotation, last, step);
        turn_of(step, out->target_w);
        for (int k = 0; k < 3; k++) out->target_w[k] /= world->step_dt;
        memcpy(out->impulse, g->impulse, sizeof out->impulse);
        memcpy(out->angular_impulse, g->angular_impulse, sizeof out->angular_impulse);
        memcpy(g->last_target, g->def.target, sizeof g->last_target);
        memcpy(g->last_rotation, g->def.rotation, sizeof g->last_rotation);
        world->contact_grab[*count] = i;
        (*count)++;
    }
}

void sac_grabs_read(sac_world *world, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        sac_grab_slot *g = &world->grabs[world->contact_grab[k]];
        const sac_solver_grab *from = &world->solver->grabs[k];
        memcpy(g->impulse, from->impulse, sizeof g->impulse);
        memcpy(g->angular_impulse, from->angular_impulse, sizeof g->angular_impulse);
        g->force = sqrtf(glm_vec3_norm2(g->impulse)) / world->step_dt;
    }
}
