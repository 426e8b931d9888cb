/* Soft bodies in their slots: made, placed, pushed, pinned, and read back from their points. */
#include "runtime/operations_internal.h"

#include <string.h>

const sac_transform sac_world_identity = {.rotation = {0, 0, 0, 1}, .scale = 1};

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* The slot's pose moves along with the points: where the rest shape's centre would be. */
static void carry_pose(sac_world *world, uint32_t slot)
{
    const float *local = world->cold[slot].local_centre;
    sac_transform *pose = &world->pose[slot];
    float offset[3];
    sac_transform turned = {.scale = 1};
    memcpy(turned.rotation, pose->rotation, sizeof turned.rotation);
    sac_transform_point(&turned, local, offset);
    for (int i = 0; i < 3; i++) pose->translation[i] = world->hot[slot].centre[i] - offset[i];
}

void sac_soft_slot_renew(sac_world *world, uint32_t slot)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    sac_body_hot *hot = &world->hot[slot];
    sac_soft_motion m;
    float off[3];
    sac_soft_motion_of(s->soft, &m);
    if (s->skin) {
        sac_meshless_follow(s->surface, s->soft, NULL);
        sac_meshless_cover_renew(s->skin, &s->form);
        m.box = s->form.box;
        /* Of the surface, which may reach farther than the points it follows. */
        for (int i = 0; i < 3; i++) off[i] = s->form.ball[i] - m.centre[i];
        m.radius = fmaxf(m.radius, length3(off) + s->form.ball[3]);
    } else {
        sac_soft_cover_renew(s->cover, &s->form);
    }
    float axis = length3(hot->w), fast = m.radius > 0 ? m.spread / m.radius : 0;
    /* Turning keeps its direction as far as there is one; only its size counts. */
    for (int i = 0; i < 3; i++) hot->w[i] = axis > 1e-6f ? hot->w[i] / axis * fast : i == 1 ? fast : 0;
    for (int i = 0; i < 3; i++) {
        hot->centre[i] = m.centre[i];
        hot->v[i] = m.velocity[i];
        s->form.box.low[i] = m.box.low[i] - s->thickness;
        s->form.box.high[i] = m.box.high[i] + s->thickness;
    }
    hot->radius = m.radius + s->thickness;
    carry_pose(world, slot);
}

static sac_soft_slot *take_slot(sac_world *world, uint32_t *out_index)
{
    uint32_t at = 0;
    while (at < world->soft_count && world->softs[at]->body != UINT32_MAX) at++;
    if (at == world->soft_count) {
        if (at == world->soft_room) {
            uint32_t room = at ? at * 2 : 16;
            sac_soft_slot **more = sac_alloc_zero(room, sizeof *more);
            if (!more) return NULL;
            if (at) memcpy(more, world->softs, at * sizeof *more);
            sac_free(world->softs, world->soft_room, sizeof *more);
            world->softs = more;
            world->soft_room = room;
        }
        world->softs[at] = sac_alloc_zero(1, sizeof **world->softs);
        if (!world->softs[at]) return NULL;
        world->softs[at]->body = UINT32_MAX;
        world->soft_count++;
    }
    *out_index = at;
    return world->softs[at];
}

/* Points, spheres and surface of a body in a pose. */
static sac_result make(const sac_soft_shape_parts *parts, const sac_transform *pose, sac_soft_slot *out,
                       sac_error *error)
{
    sac_result result = sac_soft_create(parts->model, pose, &out->soft, error);
    if (result == SAC_OK) result = sac_soft_cover_create(parts->tree, out->soft, &out->cover, error);
    if (result == SAC_OK && parts->surface) {
        result = sac_meshless_create(parts->surface, &out->surface, error);
        if (result == SAC_OK) result = sac_meshless_follow(out->surface, out->soft, error);
        if (result == SAC_OK) result = sac_meshless_cover_create(out->surface, &out->skin, error);
    }
    if (result != SAC_OK) return result;
    if (out->skin)
        sac_meshless_cover_form(out->skin, &out->form);
    else
        sac_soft_cover_form(out->cover, &out->form);
    return SAC_OK;
}

static void unmake(sac_soft_slot *s)
{
    sac_meshless_cover_destroy(&s->skin);
    sac_meshless_destroy(&s->surface);
    sac_soft_cover_destroy(&s->cover);
    sac_soft_destroy(&s->soft);
}

sac_result sac_soft_slot_fill(sac_world *world, uint32_t slot, sac_error *error)
{
    const sac_form *form = &world->shapes[world->cold[slot].shape].form;
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(form->soft);
    uint32_t index = 0;
    sac_soft_slot *s = take_slot(world, &index);
    if (!s) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for one more soft body");
    sac_result result = make(&parts, &world->pose[slot], s, error);
    if (result != SAC_OK) {
        unmake(s);
        return result;
    }
    s->shape = form->soft;
    s->points = parts.point_count;
    s->thickness = parts.thickness;
    s->mass_scale = world->cold[slot].mass / parts.mass;
    s->skipped = 0;
    s->body = slot;
    world->cold[slot].soft = index;
    world->flags[slot] |= SAC_BODY_SOFT;
    s->form.thickness = form->thickness;
    float v[3], w[3];
    memcpy(v, world->hot[slot].v, sizeof v);
    memcpy(w, world->hot[slot].w, sizeof w);
    sac_soft_slot_velocity(world, slot, v, w);
    if (!sac_softening_reserve(world)) {
        sac_soft_slot_empty(world, slot);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the contacts of soft bodies");
    }
    return SAC_OK;
}

void sac_soft_slot_empty(sac_world *world, uint32_t slot)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    if (!s) return;
    unmake(s);
    s->body = UINT32_MAX;
    world->flags[slot] &= ~(uint32_t)SAC_BODY_SOFT;
}

void sac_soft_slots_destroy(sac_world *world)
{
    for (uint32_t i = 0; i < world->soft_count; i++) {
        unmake(world->softs[i]);
        sac_free(world->softs[i], 1, sizeof **world->softs);
    }
    sac_free(world->softs, world->soft_room, sizeof *world->softs);
    sac_softening_destroy(world);
}

uint64_t sac_soft_refits_of(const sac_world *world)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world->soft_count; i++) {
        const sac_soft_slot *s = world->softs[i];
        if (s->body == UINT32_MAX) continue;
        sum += sac_soft_cover_refits(s->cover) + (s->surface ? sac_meshless_refits(s->surface) : 0);
    }
    return sum;
}

void sac_soft_slot_velocity(sac_world *world, uint32_t slot, const float v[3], const float w[3])
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    sac_soft_motion m;
    sac_soft_motion_of(s->soft, &m);
    sac_soft_set_velocity(s->soft, m.centre, v, w);
    memcpy(world->hot[slot].w, w, sizeof world->hot[slot].w);
    sac_soft_slot_renew(world, slot);
}

sac_result sac_soft_slot_place(sac_world *world, uint32_t slot, sac_soft_slot *out_before, sac_error *error)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(s->shape);
    sac_soft_slot fresh = *s;
    fresh.soft = NULL, fresh.cover = NULL, fresh.surface = NULL, fresh.skin = NULL;
    sac_result result = make(&parts, &world->pose[slot], &fresh, error);
    if (result != SAC_OK) {
        unmake(&fresh);
        return result;
    }
    float v[3], none[3] = {0};
    memcpy(v, world->hot[slot].v, sizeof v);
    fresh.form.thickness = s->form.thickness;
    fresh.skipped = 0;
    *out_before = *s;
    *s = fresh;
    sac_soft_slot_velocity(world, slot, v, none);
    return SAC_OK;
}

void sac_soft_slot_give_back(sac_world *world, uint32_t slot, const sac_soft_slot *before)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    unmake(s);
    *s = *before;
}

void sac_soft_slot_drop(sac_soft_slot *before) { unmake(before); }

/* Points that share a push at a place: a sixteenth of the body. */
static uint32_t least_points(const sac_soft_slot *s) { return s->points > 128 ? s->points / 16 : 8; }

void sac_soft_slot_push(sac_world *world, uint32_t slot, const float impulse[3], const float *point)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    const sac_soft_tree *tree = sac_soft_shape_parts_of(s->shape).tree;
    float centre[3], velocity[3], change[3];
    uint32_t node = point ? sac_soft_node_at(tree, s->soft, point, least_points(s)) : 0;
    float mass = s->mass_scale * sac_soft_lump(tree, s->soft, node, centre, velocity);
    for (int i = 0; i < 3; i++) change[i] = impulse[i] / mass;
    sac_soft_push_lump(tree, s->soft, node, change);
    sac_soft_slot_renew(world, slot);
}

void sac_soft_slot_grabbed(sac_world *world, sac_grab_slot *g)
{
    const sac_soft_slot *s = sac_soft_of(world, g->body);
    const sac_soft_tree *tree = sac_soft_shape_parts_of(s->shape).tree;
    float centre[3], velocity[3];
    g->node = sac_soft_node_at(tree, s->soft, g->def.anchor, least_points(s));
    sac_soft_lump(tree, s->soft, g->node, centre, velocity);
    for (int i = 0; i < 3; i++) g->local_anchor[i] = g->def.anchor[i] - centre[i];
}

/* A spring and damper solved with the end of the step in view, as the solver does for rigid bodies. */
static void pull_grab(sac_world *world, sac_grab_slot *g)
{
    sac_soft_slot *s = sac_soft_of(world, g->body);
    const sac_soft_tree *tree = sac_soft_shape_parts_of(s->shape).tree;
    float h = world->step_dt, omega = 6.2831853f * g->def.hertz, a1 = 2 * g->def.damping + h * omega;
    float firm = h * omega * a1 / (1 + h * omega * a1), rate = omega / a1, size = 0, centre[3], v[3],
          change[3];
    float mass = s->mass_scale * sac_soft_lump(tree, s->soft, g->node, centre, v);
    for (int i = 0; i < 3; i++) {
        float offset = g->def.target[i] - (centre[i] + g->local_anchor[i]);
        float target_v = (g->def.target[i] - g->last_target[i]) / h;
        change[i] = firm * (target_v - v[i] + rate * offset);
    }
    size = mass * length3(change);
    float most = g->def.most_force * h, share = size > most ? most / size : 1;
    for (int i = 0; i < 3; i++) change[i] *= share;
    g->force = share * size / h;
    sac_soft_push_lump(tree, s->soft, g->node, change);
    memcpy(g->last_target, g->def.target, sizeof g->last_target);
}

void sac_soft_grabs_pull(sac_world *world)
{
    for (uint32_t i = 0; i < world->grab_count; i++) {
        sac_grab_slot *g = &world->grabs[i];
        if (!g->used || !(world->flags[g->body] & SAC_BODY_SOFT) ||
            !(world->flags[g->body] & SAC_BODY_CHOSEN))
            continue;
        sac_soft_slot *s = sac_soft_of(world, g->body);
        const sac_soft_tree *tree = sac_soft_shape_parts_of(s->shape).tree;
        float centre[3], v[3], d[3];
        sac_soft_lump(tree, s->soft, g->node, centre, v);
        for (int k = 0; k < 3; k++) d[k] = g->def.target[k] - (centre[k] + g->local_anchor[k]);
        g->distance = length3(d);
        if (g->distance > g->def.most_distance)
            sac_grab_break(world, i);
        else
            pull_grab(world, g);
    }
}

void sac_soft_slot_fall(sac_world *world, uint32_t slot)
{
    sac_soft_slot *s = sac_soft_of(world, slot);
    sac_soft_step_def def = {.dt = world->step_dt};
    for (int i = 0; i < 3; i++) def.gravity[i] = world->def.gravity[i] * world->cold[slot].gravity_scale;
    s->skipped++;
    sac_soft_fall(s->soft, &def);
    sac_soft_move(&s->soft, 1, &def, NULL, NULL);
    sac_soft_slot_renew(world, slot);
}

uint32_t sac_soft_points_aloft(const sac_world *world)
{
    uint32_t points = 0;
    for (uint32_t i = 0; i < world->soft_count; i++) {
        const sac_soft_slot *s = world->softs[i];
        if (!s || s->body == UINT32_MAX || s->skipped >= SAC_SOFT_MOST_SKIPPED) continue;
        uint32_t flags = world->flags[s->body];
        if (flags & SAC_BODY_AWAKE && !(flags & SAC_BODY_CHOSEN) && sac_body_flies(world, s->body))
            points += s->points;
    }
    return points;
}

float sac_world_soft_margin(const sac_world *world, uint32_t a, uint32_t b)
{
    const sac_soft_slot *x = sac_soft_of(world, a), *y = sac_soft_of(world, b);
    return (x ? x->thickness : 0) + (y ? y->thickness : 0);
}

/* ---- doors ---- */

static sac_soft_slot *find(const sac_world *world, sac_body_id body)
{
    uint32_t slot = world ? sac_body_slot(world, body) : UINT32_MAX;
    return slot == UINT32_MAX ? NULL : sac_soft_of(world, slot);
}

const sac_soft *sac_body_soft(const sac_world *world, sac_body_id body)
{
    const sac_soft_slot *s = find(world, body);
    return s ? s->soft : NULL;
}

const sac_soft_shape *sac_body_soft_shape(const sac_world *world, sac_body_id body)
{
    const sac_soft_slot *s = find(world, body);
    return s ? s->shape : NULL;
}

static sac_result no_soft(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "only points of soft bodies are pinned",
                         "there is no such soft body, or no longer");
}

sac_result sac_body_pin(sac_world *world, sac_body_id body, uint32_t point, const float target[3],
                        sac_error *error)
{
    SAC_NEED(error, world, target);
    sac_soft_slot *s = find(world, body);
    if (!s) return no_soft(error);
    sac_result result = sac_soft_hold(s->soft, point, target, error);
    if (result != SAC_OK) return result;
    sac_body_wake_slot(world, s->body);
    SAC_RECORD(world, body_pin, .body = body.value, .point = point, .target = SAC_XYZ(target));
    return SAC_OK;
}

sac_result sac_body_unpin(sac_world *world, sac_body_id body, uint32_t point, sac_error *error)
{
    SAC_NEED(error, world);
    sac_soft_slot *s = find(world, body);
    if (!s) return no_soft(error);
    sac_result result = sac_soft_release(s->soft, point, error);
    if (result != SAC_OK) return result;
    sac_body_wake_slot(world, s->body);
    SAC_RECORD(world, body_unpin, .body = body.value, .point = point);
    return SAC_OK;
}
