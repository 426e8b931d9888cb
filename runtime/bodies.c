/* Bodies: made from a definition, gone with their id. */
#include "runtime/bodies_internal.h"

#include <string.h>

sac_body_def sac_default_body_def(void)
{
    return (sac_body_def){.kind = SAC_BODY_DYNAMIC,
                          .scale = 1,
                          .rotation = {0, 0, 0, 1},
                          .density = 1000,
                          .material = {.friction = 0.5f},
                          .filter = {.category = 1, .mask = UINT32_MAX},
                          .gravity_scale = 1,
                          .angular_damping = 0.05f,
                          .most_speed = 100,
                          .most_spin = 100,
                          .cookie = SAC_COOKIE_BODY};
}

bool sac_world_grow_bodies(sac_world *world, uint32_t room);

/* ---- geometry ---- */

static void rotate(const float q[4], const float v[3], float out[3])
{
    sac_transform t = {.scale = 1, .rotation = {q[0], q[1], q[2], q[3]}};
    sac_transform_point(&t, v, out);
}

void sac_body_centre_offset(const sac_world *world, uint32_t slot, const sac_transform *pose, float out[3])
{
    rotate(pose->rotation, world->cold[slot].local_centre, out);
}

void sac_body_place_shape(sac_world *world, uint32_t slot)
{
    sac_transform *pose = &world->pose[slot];
    float offset[3];
    sac_body_centre_offset(world, slot, pose, offset);
    for (int i = 0; i < 3; i++) pose->translation[i] = world->hot[slot].centre[i] - offset[i];
}

void sac_body_place_centre(sac_world *world, uint32_t slot)
{
    const sac_transform *pose = &world->pose[slot];
    float offset[3];
    sac_body_centre_offset(world, slot, pose, offset);
    for (int i = 0; i < 3; i++) world->hot[slot].centre[i] = pose->translation[i] + offset[i];
}

void sac_turn(float q[4], const float r[3])
{
    float x = 0.5f * r[0], y = 0.5f * r[1], z = 0.5f * r[2], n = x * x + y * y + z * z;
    int times = 1;
    if (n == 0) return;
    while (n > 1.0f && times < 64) x *= 0.5f, y *= 0.5f, z *= 0.5f, n *= 0.25f, times *= 2;
    /* cos and sin(a)/a of the half angle, a^2 = n <= 1, to 1e-7. */
    float c = 1 - n * (1.0f / 2) * (1 - n * (1.0f / 12) * (1 - n * (1.0f / 30) * (1 - n * (1.0f / 56))));
    float s = 1 - n * (1.0f / 6) * (1 - n * (1.0f / 20) * (1 - n * (1.0f / 42) * (1 - n * (1.0f / 72))));
    for (int i = 0; i < times; i++) {
        float a = q[0], b = q[1], d = q[2], w = q[3], u = s * x, v = s * y, t = s * z;
        q[0] = c * a + u * w + v * d - t * b;
        q[1] = c * b + v * w + t * a - u * d;
        q[2] = c * d + t * w + u * b - v * a;
        q[3] = c * w - u * a - v * b - t * d;
        float f = 1 / sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] *= f;
    }
}

void sac_body_world_inertia(const sac_world *world, uint32_t slot, float out[6])
{
    const float *I = world->cold[slot].inverse_inertia;
    float r[3][3], t[3][3];
    sac_transform_rows(&world->pose[slot], r);
    for (int i = 0; i < 3; i++) {
        t[i][0] = r[i][0] * I[0] + r[i][1] * I[3] + r[i][2] * I[4];
        t[i][1] = r[i][0] * I[3] + r[i][1] * I[1] + r[i][2] * I[5];
        t[i][2] = r[i][0] * I[4] + r[i][1] * I[5] + r[i][2] * I[2];
    }
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        const float *a = t[row[k]], *b = r[column[k]];
        out[k] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
}

/* ---- life ---- */

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void limit(float x[3], float most)
{
    float size = length3(x);
    if (!(size > most)) return;
    for (int i = 0; i < 3; i++) x[i] *= most / size;
}

void sac_body_obey_limits(sac_world *world, uint32_t slot)
{
    if (world->cold[slot].kind != SAC_BODY_DYNAMIC) return;
    limit(world->hot[slot].v, world->cold[slot].most_speed);
    limit(world->hot[slot].w, world->cold[slot].most_spin);
}

uint32_t sac_body_plain(const sac_body_cold *cold)
{
    /* One that comes to a limit of its own stays behind the others. */
    bool unlimited = cold->most_speed >= sac_default_body_def().most_speed;
    return cold->gravity_scale == 1 && cold->linear_damping == 0 && unlimited ? SAC_BODY_PLAIN : 0;
}

void sac_body_wake_with_touched(sac_world *world, uint32_t slot)
{
    sac_body_wake_slot(world, slot);
    for (uint32_t p = world->broad->first_pair[slot]; p != SAC_NO_PAIR;
         p = sac_broad_next(world->broad, p, slot)) {
        const sac_broad_pair *pair = &world->broad->pairs[p];
        uint32_t other = pair->a == slot ? pair->b : pair->a;
        /* Of two that slept from the start nobody has looked whether they touch. */
        bool unread = !world->memory[p].known && world->watch[p].skip_until == 0 &&
                      !(world->flags[other] & SAC_BODY_AWAKE);
        if ((world->watch[p].touching || unread) && sac_body_dynamic(world, other))
            sac_body_wake_slot(world, other);
    }
}

static void remove_body(sac_world *world, uint32_t slot)
{
    sac_grabs_of_body_end(world, slot);
    sac_body_wake_with_touched(world, slot);
    sac_broad_remove(world->broad, slot);
    sac_pairs_begun_and_ended(world);
    sac_body_remove_awake(world, slot);
    world->shapes[world->cold[slot].shape].users--;
    sac_soft_slot_empty(world, slot);
    world->flags[slot] = 0;
    world->generation[slot]++;
    world->next_free[slot] = world->first_free;
    world->first_free = slot;
    world->body_count--;
}

sac_result sac_body_create(sac_world *world, const sac_body_def *def, sac_body_id *out_body, sac_error *error)
{
    SAC_NEED(error, world, def);
    sac_body_cold cold;
    float rotation[4];
    if (out_body) *out_body = (sac_body_id){0};
    sac_result result = sac_body_check_def(world, def, &cold, rotation, error);
    if (result != SAC_OK) return result;
    uint32_t slot = world->first_free;
    if (slot == UINT32_MAX) {
        slot = world->slot_count;
        uint32_t room = world->slot_room;
        if (slot == room && (sac_broad_reserve(world->broad, room * 2, 0, error) != SAC_OK ||
                             !sac_world_grow_bodies(world, room * 2)))
            return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for more than %u bodies", room);
    }
    /* Whoever it is, a soft body may touch it. */
    if (world->softening && !sac_softening_reserve(world))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for what soft bodies touch");
    if (!sac_array_reserve(&world->moved, slot + 1u))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for more bodies");
    const sac_form *form = &world->shapes[cold.shape].form;
    if (slot == world->slot_count) {
        /* The sweep for islands may be under way, and began without it. */
        world->root[slot] = slot, world->island_rest[slot] = FLT_MAX;
        world->slot_count++;
    } else {
        world->first_free = world->next_free[slot];
    }
    world->generation[slot]++;
    world->flags[slot] = SAC_BODY_USED | (def->kind == SAC_BODY_DYNAMIC ? SAC_BODY_YIELDS : 0) |
                         (def->sensor ? SAC_BODY_SENSOR : 0) |
                         (def->never_sleeps ? SAC_BODY_NEVER_SLEEPS : 0) | sac_body_plain(&cold);
    world->cold[slot] = cold;
    world->pose[slot] = (sac_transform){.scale = def->scale};
    memcpy(world->pose[slot].translation, def->position, sizeof(vec3));
    memcpy(world->pose[slot].rotation, rotation, sizeof rotation);
    sac_body_hot *hot = &world->hot[slot];
    *hot = (sac_body_hot){.thickness = form->thickness * def->scale};
    sac_body_place_centre(world, slot);
    float off = 0;
    for (int i = 0; i < 3; i++) {
        float d = form->ball[i] * def->scale - cold.local_centre[i];
        off += d * d;
    }
    hot->radius = form->ball[3] < 1e18f ? form->ball[3] * def->scale + sqrtf(off) : FLT_MAX;
    if (def->kind != SAC_BODY_STATIC) {
        memcpy(hot->v, def->velocity, sizeof hot->v);
        memcpy(hot->w, def->spin, sizeof hot->w);
        sac_body_obey_limits(world, slot);
    }
    hot->inverse_mass = def->kind == SAC_BODY_DYNAMIC ? 1 / cold.mass : 0;
    hot->jolt = world->frame;
    world->rest_seconds[slot] = 0;
    world->simulated[slot] = world->served[slot] = world->frame;
    /* Until its pairs say otherwise. */
    world->clear_until[slot] = UINT32_MAX;
    world->touches[slot] = 0;
    world->steady[slot] = 0;
    world->urgency[slot] = 0;
    world->ground[slot] = SAC_NO_GROUND;
    world->listed[slot] = 6;
    world->active[slot] = 1;
    world->island_next[slot] = slot;
    world->seen_jnd[slot] = 0;
    world->seen_group[slot] = world->seen_level[slot] = SAC_BODY_ALONE;
    world->solver_stamp[slot] = 0;
    world->shapes[cold.shape].users++;
    world->body_count++;
    if (def->kind != SAC_BODY_STATIC && !(def->asleep && def->kind == SAC_BODY_DYNAMIC))
        sac_body_add_awake(world, slot);
    if (form->kind == SAC_FORM_SOFT) {
        result = sac_soft_slot_fill(world, slot, error);
        if (result != SAC_OK) {
            remove_body(world, slot);
            return result;
        }
    }
    if (!sac_body_place_bounds(world, slot, 1.0f / 90)) {
        remove_body(world, slot);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the pairs of one more body");
    }
    if (!sac_world_fit_pairs(world)) {
        remove_body(world, slot);
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the pairs of one more body");
    }
    sac_pairs_begun_and_ended(world);
    sac_body_id made = sac_body_id_of(world, slot);
    if (out_body) *out_body = made;
    SAC_RECORD(world, body_create, .def = *def, .made = made.value);
    return SAC_OK;
}

sac_result sac_body_destroy(sac_world *world, sac_body_id id, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    remove_body(world, slot);
    SAC_RECORD(world, body_destroy, .body = id.value);
    return SAC_OK;
}

bool sac_body_exists(const sac_world *world, sac_body_id body)
{
    if (!world) return false;
    return sac_body_slot(world, body) != UINT32_MAX;
}

sac_result sac_body_get(const sac_world *world, sac_body_id id, sac_body_state *out, sac_error *error)
{
    if (!out) return sac_error_null(error, "out_state", 0);
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return sac_body_stale(error);
    const sac_body_hot *hot = &world->hot[slot];
    const sac_body_cold *cold = &world->cold[slot];
    *out = (sac_body_state){
        .kind = cold->kind,
        .shape = {sac_id_make(cold->shape, world->shapes[cold->shape].generation)},
        .pose = world->pose[slot],
        .mass = cold->kind == SAC_BODY_DYNAMIC ? cold->mass : 0,
        .awake = (world->flags[slot] & SAC_BODY_AWAKE) != 0,
        .sensor = (world->flags[slot] & SAC_BODY_SENSOR) != 0,
        .held = (world->flags[slot] & SAC_BODY_HELD) != 0,
        .staleness = world->flags[slot] & SAC_BODY_AWAKE ? world->frame - world->simulated[slot] : 0,
        .jnd = world->seen_jnd[slot],
        .group = world->seen_group[slot],
        .level = world->seen_level[slot],
        .user = cold->user};
    memcpy(out->centre, hot->centre, sizeof out->centre);
    memcpy(out->velocity, hot->v, sizeof out->velocity);
    memcpy(out->spin, hot->w, sizeof out->spin);
    sac_body_shown(world, slot, &out->shown);
    return SAC_OK;
}
