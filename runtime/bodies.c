/* Bodies: made from a definition, changed only through checked calls, gone with their id. */
#include "runtime/operations_internal.h"

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

/* ---- checks ---- */

static sac_result wrong(sac_error *error, const char *field, const char *remedy)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "%s is out of range or not finite", field);
}

static sac_result stale(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "keep ids only while their body lives",
                         "there is no such body, or no longer");
}

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static bool near_origin(const sac_world *world, const float p[3])
{
    return sac_vec3_is_finite(p) && fabsf(p[0]) <= world->def.far && fabsf(p[1]) <= world->def.far &&
           fabsf(p[2]) <= world->def.far;
}

static bool unit(const float q[4], float out[4])
{
    float n = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabsf(n - 1) <= 0.01f)) return false;
    for (int i = 0; i < 4; i++) out[i] = q[i] / n;
    return true;
}

static bool within(float x, float least, float most) { return x >= least && x <= most; }

static sac_result check_material(const sac_material *m, sac_error *error)
{
    if (!within(m->friction, 0, 10)) return wrong(error, "friction", "0 to 10");
    if (!within(m->restitution, 0, 1)) return wrong(error, "restitution", "0 to 1");
    if (!within(m->rolling, 0, 10)) return wrong(error, "rolling", "0 to 10 m");
    return SAC_OK;
}

static sac_result check_motion(float gravity_scale, float linear, float angular, float speed, float spin,
                               sac_error *error)
{
    if (!within(gravity_scale, -100, 100)) return wrong(error, "gravity_scale", "-100 to 100");
    if (!within(linear, 0, 1e4f)) return wrong(error, "linear_damping", "0 to 10,000");
    if (!within(angular, 0, 1e4f)) return wrong(error, "angular_damping", "0 to 10,000");
    if (!within(speed, 1e-3f, 1e4f)) return wrong(error, "most_speed", "0.001 to 10,000 m/s");
    if (!within(spin, 1e-3f, 1e4f)) return wrong(error, "most_spin", "0.001 to 10,000 rad/s");
    return SAC_OK;
}

/* Inverse of a symmetric matrix given as xx, yy, zz, xy, xz, yz; false when it is no inertia: not positive,
 * or one moment larger than the other two together. */
static bool invert_inertia(const float in[6], float out[6])
{
    double a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5];
    double A = b * c - f * f, B = a * c - e * e, C = a * b - d * d;
    double det = a * A - d * (d * c - e * f) + e * (d * f - e * b);
    if (!(a > 0 && b > 0 && c > 0 && A > 0 && B > 0 && C > 0 && det > 0)) return false;
    if (a > 1.001 * (b + c) || b > 1.001 * (a + c) || c > 1.001 * (a + b)) return false;
    double inverse[6] = {
        A / det, B / det, C / det, (e * f - d * c) / det, (d * f - e * b) / det, (d * e - a * f) / det};
    for (int i = 0; i < 6; i++) {
        out[i] = (float)inverse[i];
        if (!isfinite(out[i])) return false;
    }
    return out[0] > 0 && out[1] > 0 && out[2] > 0;
}

uint32_t sac_world_shape_slot(const sac_world *world, sac_shape_id id);
bool sac_world_grow_bodies(sac_world *world, uint32_t room);

/* Mass, centre and inverse inertia of a dynamic body into cold. */
static sac_result weigh(const sac_body_def *def, const sac_form *form, sac_body_cold *cold, sac_error *error)
{
    double s = def->scale, own = (double)form->mass.volume * s * s * s;
    double mass = def->mass;
    if (mass == 0) mass = own * def->density;
    if (!(mass > 1e-9 && mass <= 1e9))
        return sac_error_set(
            error, SAC_ERROR_ARGUMENT,
            def->mass != 0 ? "more than 1e-9 kg, at most 1e9; 0: from the density"
                           : "change density or scale, or give a mass: more than 1e-9 kg, at "
                             "most 1e9",
            def->mass != 0 ? "the mass is %g kg" : "at its density the shape has %g kg", mass);
    cold->mass = (float)mass;
    bool given = false;
    for (int i = 0; i < 6; i++) given |= def->inertia[i] != 0;
    float inertia[6];
    static const int in_mesh[6] = {0, 1, 2, 3, 5, 4}; /* a mesh tells xy, yz, zx */
    for (int i = 0; i < 6; i++) {
        /* The shape's own is for density 1 and scale 1: it grows with mass times scale squared. */
        double per_mass =
            form->mass.volume > 0 ? (double)form->mass.inertia[in_mesh[i]] / form->mass.volume : 0;
        inertia[i] = given ? def->inertia[i] : (float)(per_mass * mass * s * s);
    }
    if (!invert_inertia(inertia, cold->inverse_inertia))
        return sac_error_set(error, SAC_ERROR_ARGUMENT,
                             given ? "it must be positive, and no moment larger than the other two together"
                                   : "give an inertia",
                             "the inertia is none a body can have");
    return SAC_OK;
}

static sac_result check_def(const sac_world *world, const sac_body_def *def, sac_body_cold *cold,
                            float rotation[4], sac_error *error)
{
    if (def->cookie != SAC_COOKIE_BODY)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_body_def()",
                             "the body's definition was not initialised");
    uint32_t shape = sac_world_shape_slot(world, def->shape);
    if (shape == UINT32_MAX)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "add one with sac_world_add_shape",
                             "the body's shape is none of this world");
    const sac_form *form = &world->shapes[shape].form;
    if ((unsigned)def->kind > SAC_BODY_DYNAMIC) return wrong(error, "kind", "static, kinematic or dynamic");
    if (def->kind != SAC_BODY_STATIC && (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make the body static",
                             "planes and terrain cannot move");
    if (!within(def->scale, 1e-4f, 1e4f)) return wrong(error, "scale", "0.0001 to 10,000");
    if (form->kind == SAC_FORM_SOFT && def->kind != SAC_BODY_DYNAMIC)
        return wrong(error, "kind", "soft bodies are dynamic; pin their points instead");
    if (form->kind == SAC_FORM_SOFT && def->scale != 1)
        return wrong(error, "scale", "1 for a soft body; scale the points of its shape");
    if (!near_origin(world, def->position))
        return wrong(error, "position", "keep it within the world's `far`");
    if (!unit(def->rotation, rotation)) return wrong(error, "rotation", "give a quaternion of length 1");
    if (!sac_vec3_is_finite(def->velocity) || !(length3(def->velocity) <= 1e4f))
        return wrong(error, "velocity", "at most 10,000 m/s");
    if (!sac_vec3_is_finite(def->spin) || !(length3(def->spin) <= 1e4f))
        return wrong(error, "spin", "at most 10,000 rad/s");
    if (def->centre_given &&
        (!sac_vec3_is_finite(def->centre) || !(length3(def->centre) <= 4 * form->ball[3])))
        return wrong(error, "centre", "keep it near the shape");
    /* Also of what does not move yet: it may be told to. */
    if (!(def->mass >= 0 && def->mass <= 1e9f)) return wrong(error, "mass", "0 (from the shape) to 1e9 kg");
    if (!(def->density > 0 && def->density <= 1e6f))
        return wrong(error, "density", "more than 0, at most 1e6 kg/m^3");
    for (int i = 0; i < 6; i++)
        if (!isfinite(def->inertia[i])) return wrong(error, "inertia", "finite numbers, or all 0");
    sac_result result = check_material(&def->material, error);
    if (result == SAC_OK)
        result = check_motion(def->gravity_scale, def->linear_damping, def->angular_damping, def->most_speed,
                              def->most_spin, error);
    if (result != SAC_OK) return result;
    *cold = (sac_body_cold){.shape = shape,
                            .kind = def->kind,
                            .material = def->material,
                            .filter = def->filter,
                            .gravity_scale = def->gravity_scale,
                            .linear_damping = def->linear_damping,
                            .angular_damping = def->angular_damping,
                            .most_speed = def->most_speed,
                            .most_spin = def->most_spin,
                            .user = def->user};
    for (int i = 0; i < 3; i++) {
        float c = def->centre_given ? def->centre[i] : form->mass.centre[i];
        cold->local_centre[i] =
            (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN) ? 0 : c * def->scale;
    }
    if (def->kind == SAC_BODY_DYNAMIC) return weigh(def, form, cold, error);
    /* It may be set free one day, with the mass it was given; what cannot be weighed has none till then. */
    if (form->kind == SAC_FORM_PLANE || form->kind == SAC_FORM_TERRAIN ||
        weigh(def, form, cold, NULL) != SAC_OK)
        cold->mass = 0;
    return SAC_OK;
}

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

static void place_centre(sac_world *world, uint32_t slot)
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

static void limit(float x[3], float most)
{
    float size = length3(x);
    if (!(size > most)) return;
    for (int i = 0; i < 3; i++) x[i] *= most / size;
}

/* At once, not with its next turn: until then it may fly on as fast as it was told. */
static void obey_limits(sac_world *world, uint32_t slot)
{
    if (world->cold[slot].kind != SAC_BODY_DYNAMIC) return;
    limit(world->hot[slot].v, world->cold[slot].most_speed);
    limit(world->hot[slot].w, world->cold[slot].most_spin);
}

static uint32_t plain(const sac_body_cold *cold)
{
    /* One that comes to a limit of its own stays behind the others. */
    bool unlimited = cold->most_speed >= sac_default_body_def().most_speed;
    return cold->gravity_scale == 1 && cold->linear_damping == 0 && unlimited ? SAC_BODY_PLAIN : 0;
}

/* And what touches it: what lay on it must not hang in the air. A support that does not yield is in no
 * island, so its own waking does not do that. */
static void wake_with_touched(sac_world *world, uint32_t slot)
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
    wake_with_touched(world, slot);
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
    sac_result result = check_def(world, def, &cold, rotation, error);
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
                         (def->never_sleeps ? SAC_BODY_NEVER_SLEEPS : 0) | plain(&cold);
    world->cold[slot] = cold;
    world->pose[slot] = (sac_transform){.scale = def->scale};
    memcpy(world->pose[slot].translation, def->position, sizeof(vec3));
    memcpy(world->pose[slot].rotation, rotation, sizeof rotation);
    sac_body_hot *hot = &world->hot[slot];
    *hot = (sac_body_hot){.thickness = form->thickness * def->scale};
    place_centre(world, slot);
    float off = 0;
    for (int i = 0; i < 3; i++) {
        float d = form->ball[i] * def->scale - cold.local_centre[i];
        off += d * d;
    }
    hot->radius = form->ball[3] < 1e18f ? form->ball[3] * def->scale + sqrtf(off) : FLT_MAX;
    if (def->kind != SAC_BODY_STATIC) {
        memcpy(hot->v, def->velocity, sizeof hot->v);
        memcpy(hot->w, def->spin, sizeof hot->w);
        obey_limits(world, slot);
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
    if (slot == UINT32_MAX) return stale(error);
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
    if (slot == UINT32_MAX) return stale(error);
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

/* ---- changes ---- */

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
    place_centre(world, slot);
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
    if (slot == UINT32_MAX) return stale(error);
    if (!near_origin(world, position)) return wrong(error, "position", "keep it within the world's `far`");
    if (!unit(rotation, q)) return wrong(error, "rotation", "give a quaternion of length 1");
    float before[3], p[4], d[3], turn = 0, back = 0;
    memcpy(p, world->pose[slot].rotation, sizeof p);
    memcpy(before, world->hot[slot].centre, sizeof before);
    sac_result result = take_pose(world, slot, position, q, error);
    if (result != SAC_OK) return result;
    wake_with_touched(world, slot);
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
    obey_limits(world, slot);
    memcpy(v, world->hot[slot].v, sizeof v), memcpy(w, world->hot[slot].w, sizeof w);
    if (world->flags[slot] & SAC_BODY_SOFT) sac_soft_slot_velocity(world, slot, v, w);
    sac_body_look_again(world, slot);
}

sac_result sac_body_set_velocity(sac_world *world, sac_body_id id, const float velocity[3],
                                 const float spin[3], sac_error *error)
{
    SAC_NEED(error, world, velocity, spin);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return stale(error);
    if (!sac_vec3_is_finite(velocity) || !(length3(velocity) <= 1e4f))
        return wrong(error, "velocity", "at most 10,000 m/s");
    if (!sac_vec3_is_finite(spin) || !(length3(spin) <= 1e4f))
        return wrong(error, "spin", "at most 10,000 rad/s");
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
    if (slot == UINT32_MAX) return stale(error);
    if (world->cold[slot].kind != SAC_BODY_KINEMATIC)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "use sac_body_set_pose or a grab",
                             "only a kinematic body moves as told");
    if (!near_origin(world, position)) return wrong(error, "position", "keep it within the world's `far`");
    if (!unit(rotation, q)) return wrong(error, "rotation", "give a quaternion of length 1");
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
    if (slot == UINT32_MAX) return stale(error);
    if (!sac_vec3_is_finite(impulse) || (point && !near_origin(world, point)))
        return wrong(error, point ? "impulse or point" : "impulse", "keep it finite and the point near");
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
    if (!(length3(v) <= 1e4f) || !(length3(w) <= 1e4f)) return wrong(error, "the impulse", "push less hard");
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
    obey_limits(world, slot);
    hot->inverse_mass = next->kind == SAC_BODY_DYNAMIC ? 1 / next->mass : 0;
    if (next->kind != SAC_BODY_STATIC) return;
    memset(hot->v, 0, sizeof hot->v);
    memset(hot->w, 0, sizeof hot->w);
}

sac_result sac_body_set_kind(sac_world *world, sac_body_id id, sac_body_kind kind, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return stale(error);
    if ((unsigned)kind > SAC_BODY_DYNAMIC) return wrong(error, "kind", "static, kinematic or dynamic");
    sac_body_cold cold = world->cold[slot], next = cold;
    sac_form_kind form = world->shapes[cold.shape].form.kind;
    if (form == SAC_FORM_SOFT && kind != SAC_BODY_DYNAMIC)
        return wrong(error, "kind", "soft bodies are dynamic; pin their points instead");
    if (kind != SAC_BODY_STATIC && (form == SAC_FORM_PLANE || form == SAC_FORM_TERRAIN))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "leave it static", "planes and terrain cannot move");
    next.kind = kind;
    if (kind == SAC_BODY_DYNAMIC && cold.mass == 0) {
        sac_body_def def = sac_default_body_def();
        def.scale = world->pose[slot].scale;
        sac_result result = weigh(&def, &world->shapes[cold.shape].form, &next, error);
        if (result != SAC_OK) return result;
    }
    /* Room for what it will be; then it is what it was, and those about it wake as they would have. */
    sac_body_hot hot = world->hot[slot];
    take_kind(world, slot, &next);
    bool room = make_room(world, slot, place);
    world->cold[slot] = cold, world->hot[slot] = hot;
    if (!room) return no_room(error);
    wake_with_touched(world, slot);
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
    if (slot == UINT32_MAX) return stale(error);
    sac_filter before = world->cold[slot].filter;
    world->cold[slot].filter = *filter;
    if (!make_room(world, slot, refilter)) {
        world->cold[slot].filter = before;
        return no_room(error);
    }
    wake_with_touched(world, slot);
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
    if (slot == UINT32_MAX) return stale(error);
    sac_result result = check_material(material, error);
    if (result != SAC_OK) return result;
    world->cold[slot].material = *material;
    wake_with_touched(world, slot);
    SAC_RECORD(world, body_set_material, .body = id.value, .material = *material);
    return SAC_OK;
}

sac_result sac_body_set_motion(sac_world *world, sac_body_id id, float gravity_scale, float linear_damping,
                               float angular_damping, float most_speed, float most_spin, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return stale(error);
    sac_result result =
        check_motion(gravity_scale, linear_damping, angular_damping, most_speed, most_spin, error);
    if (result != SAC_OK) return result;
    sac_body_cold *cold = &world->cold[slot];
    cold->gravity_scale = gravity_scale;
    cold->linear_damping = linear_damping;
    cold->angular_damping = angular_damping;
    cold->most_speed = most_speed;
    cold->most_spin = most_spin;
    if (!(world->flags[slot] & SAC_BODY_SOFT)) obey_limits(world, slot);
    world->flags[slot] = (world->flags[slot] & ~(uint32_t)SAC_BODY_PLAIN) | plain(cold);
    jolt(world, slot);
    wake_with_touched(world, slot);
    SAC_RECORD(world, body_set_motion, .body = id.value, .gravity_scale = gravity_scale,
               .linear_damping = linear_damping, .angular_damping = angular_damping, .most_speed = most_speed,
               .most_spin = most_spin);
    return SAC_OK;
}

sac_result sac_body_wake(sac_world *world, sac_body_id id, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = sac_body_slot(world, id);
    if (slot == UINT32_MAX) return stale(error);
    wake_with_touched(world, slot);
    SAC_RECORD(world, body_wake, .body = id.value);
    return SAC_OK;
}
