/* A world's life: its room, its shapes, and what can be said of it as a whole. */
#include "runtime/operations_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sac_world_def sac_default_world_def(void)
{
    return (sac_world_def){.gravity = {0, -9.81f, 0},
                           .bodies = 1024,
                           .clock = sac_clock_monotonic(),
                           .policy = "jnd",
                           .agenda = sac_default_agenda_def(),
                           .solver = sac_default_solver_def(),
                           .perception = sac_default_perception_def(),
                           .gaze = sac_default_gaze_def(),
                           .tasks = {.threads = 1},
                           .margin = 0.01f,
                           .gap_bias = 0.5f,
                           .seed = 1,
                           .sleep = true,
                           .sleep_speed = 0.05f,
                           .sleep_seconds = 0.5f,
                           .far = 1e5f,
                           .cookie = SAC_COOKIE_WORLD};
}

/* Numbers of the eye: none negative, none without end. */
static sac_result check_senses(const sac_world_def *def, sac_error *error)
{
    const sac_perception_def *p = &def->perception;
    const sac_gaze_def *g = &def->gaze;
    const struct {
        const char *name;
        float value;
    } fields[] = {{"perception.out_of_view", p->out_of_view},
                  {"perception.speed_weight", p->speed_weight},
                  {"perception.speed_ref", p->speed_ref},
                  {"perception.distractor_weight", p->distractor_weight},
                  {"perception.most_jnd", p->most_jnd},
                  {"gaze.saccade_degrees_s", g->saccade_degrees_s},
                  {"gaze.saccade_end_degrees_s", g->saccade_end_degrees_s},
                  {"gaze.tracker_error_degrees", g->tracker_error_degrees},
                  {"gaze.photon_latency_s", g->photon_latency_s},
                  {"gaze.lost_after_s", g->lost_after_s},
                  {"gaze.return_s", g->return_s},
                  {"gaze.flat_zone_degrees", g->flat_zone_degrees},
                  {"gaze.least_confidence", g->least_confidence}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!(fields[i].value >= 0 && fields[i].value <= 1e6f))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "0 to 1e6", "%s is %g", fields[i].name,
                                 (double)fields[i].value);
    return SAC_OK;
}

static sac_result check_def(const sac_world_def *def, sac_error *error)
{
    if (def->cookie != SAC_COOKIE_WORLD)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_world_def()",
                             "the world's definition was not initialised");
    if (!sac_vec3_is_finite(def->gravity))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give three finite numbers", "gravity is not finite");
    if (def->clock.kind > SAC_CLOCK_CALLER || (def->clock.kind == SAC_CLOCK_CALLER && !def->clock.now))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_clock_monotonic, _credits or _caller make one",
                             "the world's clock is of no kind there is, or has nothing to ask");
    if (def->bodies > 1u << 24)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "at most 16,777,216", "room for %u bodies",
                             def->bodies);
    if (def->pairs > 1u << 26)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "at most 67,108,864", "room for %u pairs",
                             def->pairs);
    if (!(def->margin >= 0 && def->margin <= 1))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "0 to 1 m", "margin is %g", (double)def->margin);
    if (!(def->gap_bias >= 0 && def->gap_bias <= 1))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "0 to 1", "gap_bias is %g", (double)def->gap_bias);
    if (!(def->far > 0 && def->far <= 1e6f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "more than 0, at most 1e6 m", "far is %g",
                             (double)def->far);
    if (!(def->sleep_speed >= 0 && def->sleep_speed <= 1e6f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "0 to 1e6 m/s", "sleep_speed is %g",
                             (double)def->sleep_speed);
    if (!(def->sleep_seconds >= 0 && def->sleep_seconds <= 1e6f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "0 to 1e6 s", "sleep_seconds is %g",
                             (double)def->sleep_seconds);
    if (def->tasks.threads > 64)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "at most 64", "%u threads", def->tasks.threads);
    if (def->clock.kind == SAC_CLOCK_CALLER && !def->clock.now)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "use sac_clock_caller()",
                             "the clock has no function");
    return check_senses(def, error);
}

/* Filters of two bodies agree, and one of them can move. */
bool sac_bodies_may_meet(uint32_t a, uint32_t b, void *user)
{
    const sac_world *world = user;
    const sac_body_cold *x = &world->cold[a], *y = &world->cold[b];
    if (x->kind != SAC_BODY_DYNAMIC && y->kind != SAC_BODY_DYNAMIC &&
        !((world->flags[a] | world->flags[b]) & SAC_BODY_SENSOR))
        return false;
    if (x->filter.group == y->filter.group && x->filter.group != 0) return x->filter.group > 0;
    return (x->filter.mask & y->filter.category) && (y->filter.mask & x->filter.category);
}

void sac_world_log(const sac_world *world, const char *format, ...)
{
    char text[640];
    va_list arguments;
    if (!world->def.log) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    world->def.log(text, world->def.user);
}

enum { MOST_GROWING = 64 };

/* Some arrays of the world from `old` to `room` entries, all of them or none: what is released must be as
 * long as it is said to be. */
typedef struct growing {
    void *array; /* its address */
    size_t size;
} growing;

static bool grow(sac_world *world, const growing *list, size_t count, uint32_t old, uint32_t room)
{
    void *fresh[MOST_GROWING];
    size_t made = 0;
    while (made < count && (fresh[made] = sac_alloc_zero(room, list[made].size))) made++;
    if (made < count) {
        while (made--) sac_free(fresh[made], room, list[made].size);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        void **array = list[i].array;
        if (old) memcpy(fresh[i], *array, old * list[i].size);
        sac_free(*array, old, list[i].size);
        *array = fresh[i];
        world->bytes += (room - old) * list[i].size;
        world->allocations++;
    }
    return true;
}

#define BODY_ARRAYS(X) \
    X(generation)      \
    X(next_free)       \
    X(flags)           \
    X(pose)            \
    X(hot)             \
    X(cold)            \
    X(rest_seconds)    \
    X(simulated)       \
    X(served)          \
    X(clear_until)     \
    X(box_until)       \
    X(lag)             \
    X(lags_until)      \
    X(turn)            \
    X(steady)          \
    X(gathered)        \
    X(touches)         \
    X(listed)          \
    X(active)          \
    X(island_next)     \
    X(root)            \
    X(island_rest)     \
    X(set_root)        \
    X(set_rank)        \
    X(solver_index)    \
    X(extra)           \
    X(sweep_round)     \
    X(sweep_stopped)   \
    X(may_lift)        \
    X(solver_stamp)    \
    X(seen_jnd)        \
    X(seen_group) X(seen_level) X(awake) X(awake_at) X(chosen) X(urgency) X(waiters) X(ground) X(ground_next)

#define X(name) {&world->name, sizeof *world->name},
bool sac_world_grow_bodies(sac_world *world, uint32_t room)
{
    const growing list[] = {BODY_ARRAYS(X)};
    _Static_assert(sizeof list / sizeof *list <= MOST_GROWING, "too many arrays to grow at once");
    if (!grow(world, list, sizeof list / sizeof *list, world->slot_room, room)) return false;
    if (world->slot_room)
        sac_world_log(world, "room was made for %u bodies; ask for it in the world's definition", room);
    world->slot_room = room;
    return true;
}

/* Asked by the broad phase before it has room for so many pairs: no pair has a number that is not here. */
static bool room_for_pairs(uint32_t room, void *user)
{
    sac_world *world = user;
    const growing list[] = {X(watch) X(memory) X(manifolds)};
    if (room > world->memory_room) {
        if (!grow(world, list, sizeof list / sizeof *list, world->memory_room, room)) return false;
        if (world->memory_room)
            sac_world_log(world, "room was made for %u pairs; ask for it in the world's definition", room);
        world->memory_room = room;
    }
    /* Every pair must find a place in the agenda. The first one is made with it. */
    return !world->agenda || sac_agenda_reserve(world->agenda, room, NULL) == SAC_OK;
}
#undef X

bool sac_world_fit_pairs(sac_world *world) { return world->broad->pair_room <= world->memory_room; }

static void costs_init(sac_costs *costs)
{
    /* First guesses; they are corrected within a few frames. */
    sac_predictor_init(&costs->agenda, 5000, 90, 200);
    sac_predictor_init(&costs->descend, 2000, 60, 3);
    sac_predictor_init(&costs->contacts, 1000, 250, 30);
    sac_predictor_init(&costs->solve, 5000, 100, 400);
    sac_predictor_init(&costs->finish, 2000, 15, 80);
    sac_predictor_init(&costs->place, 500, 600, 0);
    sac_predictor_init(&costs->deform, 1000, 5, 3);
    sac_predictor_init(&costs->touch, 500, 60, 200);
    sac_predictor_init(&costs->soften, 1000, 100, 40);
    costs->touches_per_point = costs->fronts_per_point = 0.1;
    costs->pairs_per_body = 6;
    costs->manifolds_per_pair = 0.5;
    costs->points_per_manifold = 3;
    costs->places_per_body = 0.3;
    costs->sweep_ns_per_body = 100;
    costs->read_ns = 10;
    costs->throttle = 0.4;
    costs->lift = 0.7;
}

sac_result sac_world_create(const sac_world_def *def, sac_world **out_world, sac_error *error)
{
    SAC_NEED(error, out_world);
    *out_world = NULL;
    SAC_NEED(error, def);
    sac_result result = check_def(def, error);
    if (result != SAC_OK) return result;
    const sac_policy *policy = sac_policy_find(def->policy ? def->policy : "jnd", error);
    if (!policy) return SAC_ERROR_ARGUMENT;
    sac_world *world = sac_alloc_zero(1, sizeof *world);
    if (!world) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the world");
    world->def = *def;
    world->clock = def->clock;
    world->first_free = UINT32_MAX;
    uint32_t bodies = def->bodies < 16 ? 16 : def->bodies;
    uint32_t pairs = def->pairs ? def->pairs : bodies * 28u;
    sac_gaze_init(&world->gaze, &def->gaze);
    sac_pace_init(&world->pace);
    costs_init(&world->costs);
    world->coldness = 1;
    world->longest_dt = SAC_LONGEST_USUAL_STEP;
    sac_agenda_def agenda = def->agenda;
    agenda.seed ^= def->seed;
    agenda.threads = def->tasks.threads ? def->tasks.threads : 1;
    if (agenda.pairs < pairs) agenda.pairs = pairs;
    if (agenda.entries < pairs * 8u) agenda.entries = pairs * 8u;
    sac_broad_def broad = {.bodies = bodies,
                           .pairs = pairs,
                           .filter = sac_bodies_may_meet,
                           .room = room_for_pairs,
                           .user = world};
    sac_solver_def solver = def->solver;
    if (solver.bodies < bodies + 1) solver.bodies = bodies + 1;
    if (solver.contacts < bodies * 6u) solver.contacts = bodies * 6u;
    result = sac_broad_create(&broad, &world->broad, error);
    if (result == SAC_OK) result = sac_agenda_create(&agenda, &world->agenda, error);
    if (result == SAC_OK) result = sac_solver_create(&solver, &world->solver, error);
    if (result == SAC_OK) result = sac_tasks_create(&def->tasks, &world->tasks, error);
    if (result == SAC_OK &&
        (!sac_world_grow_bodies(world, bodies) || !sac_world_fit_pairs(world) ||
         !sac_world_fit_contacts(world, bodies * 6u) || !sac_array_reserve(&world->moved, bodies) ||
         !sac_array_reserve(&world->contact_events, bodies * 4u) ||
         !sac_array_reserve(&world->pending_ends, 64)))
        result =
            sac_error_set(error, SAC_ERROR_MEMORY, "ask for less room", "no memory for %u bodies", bodies);
    if (result == SAC_OK) result = sac_world_set_policy(world, def->policy ? def->policy : "jnd", error);
    if (result == SAC_OK) result = sac_world_set_gravity(world, def->gravity, error);
    if (result != SAC_OK) {
        sac_world_destroy(&world);
        return result;
    }
    world->allocations = 0;
    *out_world = world;
    return SAC_OK;
}

void sac_world_destroy(sac_world **pointer)
{
    sac_world *world = pointer ? *pointer : NULL;
    if (!world) return;
    *pointer = NULL;
    if (world->recorder) sac_record_stop(world, NULL);
    sac_soft_slots_destroy(world);
    sac_tasks_destroy(&world->tasks);
    sac_solver_destroy(&world->solver);
    sac_agenda_destroy(&world->agenda);
    sac_broad_destroy(&world->broad);
#define X(name) sac_free(world->name, world->slot_room, sizeof *world->name);
    BODY_ARRAYS(X)
#undef X
    sac_free(world->watch, world->memory_room, sizeof *world->watch);
    sac_free(world->memory, world->memory_room, sizeof *world->memory);
    sac_free(world->manifolds, world->memory_room, sizeof *world->manifolds);
    sac_free(world->shapes, world->shape_room, sizeof *world->shapes);
    sac_free(world->grabs, world->grab_room, sizeof *world->grabs);
    sac_free(world->contact_pair, world->contact_room, sizeof *world->contact_pair);
    sac_free(world->contact_root, world->contact_room, sizeof *world->contact_root);
    sac_array_fini(&world->contact_events);
    sac_array_fini(&world->move_events);
    sac_array_fini(&world->moved);
    sac_array_fini(&world->pending_ends);
    sac_array_fini(&world->tape.weights);
    sac_gaze_fini(&world->gaze);
    sac_free(world, 1, sizeof *world);
}

sac_result sac_world_set_gravity(sac_world *world, const float gravity[3], sac_error *error)
{
    SAC_NEED(error, world, gravity);
    if (!sac_vec3_is_finite(gravity) || !(sqrtf(glm_vec3_norm2((float *)gravity)) <= 1e4f))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "at most 10,000 m/s^2",
                             "gravity is not finite or enormous");
    memcpy(world->def.gravity, gravity, sizeof world->def.gravity);
    world->gravity_size = sqrtf(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
    for (uint32_t i = 0; i < world->slot_count; i++)
        if (world->flags[i] & SAC_BODY_USED && sac_body_dynamic(world, i)) {
            sac_body_wake_slot(world, i);
            sac_body_startle(world, i);
        }
    SAC_RECORD(world, set_gravity, .gravity = SAC_XYZ(gravity));
    return SAC_OK;
}

sac_result sac_world_set_policy(sac_world *world, const char *name, sac_error *error)
{
    if (!name) return sac_error_null(error, "policy", 0);
    SAC_NEED(error, world);
    const sac_policy *policy = sac_policy_find(name, error);
    if (!policy) return SAC_ERROR_ARGUMENT;
    world->policy = policy;
    strncpy(world->policy_name, name, sizeof world->policy_name - 1);
    world->def.policy = world->policy_name;
    world->exhaustive = strcmp(name, "exhaustive") == 0;
    sac_record_policy(world);
    return SAC_OK;
}

sac_result sac_world_fit_eyes(sac_world *world, const sac_viewer *viewer, sac_error *error)
{
    uint32_t room = world->gaze.more_room;
    sac_result result = viewer ? sac_gaze_reserve(&world->gaze, viewer->eye_count, error) : SAC_OK;
    if (world->gaze.more_room == room) return result;
    world->bytes += (world->gaze.more_room - room) * sizeof *world->gaze.more;
    world->allocations++;
    return result;
}

/* ---- shapes ---- */

sac_result sac_world_add_shape(sac_world *world, const sac_form *form, sac_shape_id *out_shape,
                               sac_error *error)
{
    SAC_NEED(error, world, form);
    if ((unsigned)form->kind >= SAC_FORM_KINDS || !(form->ball[3] > 0) ||
        (form->kind == SAC_FORM_TREE && (!form->tree || form->live)) ||
        (form->kind == SAC_FORM_TERRAIN && !form->terrain) || (form->kind == SAC_FORM_SOFT && !form->soft))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make it with a sac_form_ function",
                             "the form was not initialised");
    uint32_t slot = 0;
    while (slot < world->shape_count && world->shapes[slot].used) slot++;
    if (slot == world->shape_room && !grow(world, &(growing){&world->shapes, sizeof *world->shapes}, 1,
                                           world->shape_room, slot < 16 ? 16 : slot * 2))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the shape");
    if (slot == world->shape_room) world->shape_room = slot < 16 ? 16 : slot * 2;
    if (slot == world->shape_count) world->shape_count++;
    sac_shape_slot *s = &world->shapes[slot];
    s->form = *form;
    s->used = true;
    s->users = 0;
    s->generation++;
    sac_shape_id made = {sac_id_make(slot, s->generation)};
    if (out_shape) *out_shape = made;
    sac_record_shape(world, form, made);
    return SAC_OK;
}

static uint32_t shape_slot(const sac_world *world, sac_shape_id id)
{
    uint32_t slot = (uint32_t)id.value - 1u;
    if (slot >= world->shape_count || !world->shapes[slot].used ||
        world->shapes[slot].generation != (uint32_t)(id.value >> 32))
        return UINT32_MAX;
    return slot;
}

uint32_t sac_world_shape_slot(const sac_world *world, sac_shape_id id) { return shape_slot(world, id); }

sac_result sac_world_remove_shape(sac_world *world, sac_shape_id shape, sac_error *error)
{
    SAC_NEED(error, world);
    uint32_t slot = shape_slot(world, shape);
    if (slot == UINT32_MAX)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "keep ids only while their shape lives",
                             "there is no such shape, or no longer");
    if (world->shapes[slot].users)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "destroy them first", "%u bodies have this shape",
                             world->shapes[slot].users);
    world->shapes[slot].used = false;
    SAC_RECORD(world, remove_shape, .shape = shape.value);
    return SAC_OK;
}

const sac_form *sac_world_shape_form(const sac_world *world, sac_shape_id shape)
{
    if (!world) return NULL;
    uint32_t slot = shape_slot(world, shape);
    return slot == UINT32_MAX ? NULL : &world->shapes[slot].form;
}

/* ---- as a whole ---- */

void sac_world_counters(const sac_world *world, sac_counters *out)
{
    if (!out) return;
    *out = (sac_counters){0};
    if (!world) return;
    *out = (sac_counters){.bodies = world->body_count,
                          .awake = world->awake_count,
                          .grabs = world->grabs_used,
                          .pairs = world->broad->pair_count,
                          .frame = world->frame,
                          .time = world->time,
                          .bytes = world->bytes};
    for (uint32_t i = 0; i < world->shape_count; i++) out->shapes += world->shapes[i].used;
    for (uint32_t i = 0; i < world->broad->pair_end; i++)
        out->manifolds += world->broad->pairs[i].a != SAC_NO_BODY && world->manifolds[i].count > 0;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    while (size >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
        bytes += 8;
        size -= 8;
    }
    while (size--) hash = (hash ^ *bytes++) * 0x100000001b3u;
    return hash;
}

uint64_t sac_world_hash(const sac_world *world)
{
    if (!world) return 0;
    uint64_t hash = 0x5acade;
    uint32_t head[2] = {world->frame, world->body_count};
    hash = mix(hash, head, sizeof head);
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!(world->flags[i] & SAC_BODY_USED)) continue;
        const sac_body_hot *h = &world->hot[i];
        float state[14] = {h->centre[0], h->centre[1], h->centre[2], h->v[0], h->v[1],
                           h->v[2],      h->w[0],      h->w[1],      h->w[2], world->rest_seconds[i]};
        memcpy(state + 10, world->pose[i].rotation, 4 * sizeof(float));
        uint32_t who[2] = {i, world->flags[i] & (SAC_BODY_USED | SAC_BODY_AWAKE)};
        hash = mix(mix(hash, who, sizeof who), state, sizeof state);
        const sac_soft_slot *soft = sac_soft_of(world, i);
        if (!soft) continue;
        sac_soft_points p = sac_soft_view(soft->soft);
        const float *all[6] = {p.x, p.y, p.z, p.vx, p.vy, p.vz};
        for (int k = 0; k < 6; k++) hash = mix(hash, all[k], p.count * sizeof(float));
    }
    for (uint32_t i = 0; i < world->broad->pair_end; i++) {
        const sac_broad_pair *pair = &world->broad->pairs[i];
        if (pair->a == SAC_NO_BODY) continue;
        const sac_manifold *m = &world->manifolds[i];
        uint32_t who[4] = {pair->a, pair->b, m->count, world->watch[i].touching};
        hash = mix(hash, who, sizeof who);
        for (uint32_t k = 0; k < m->count; k++) {
            float point[2] = {m->points[k].depth, m->points[k].impulse};
            hash = mix(hash, point, sizeof point);
        }
    }
    return hash;
}

double sac_world_energy(const sac_world *world)
{
    if (!world) return 0;
    double energy = 0;
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!(world->flags[i] & SAC_BODY_USED) || !sac_body_dynamic(world, i)) continue;
        const sac_body_hot *h = &world->hot[i];
        const sac_body_cold *c = &world->cold[i];
        const float *g = world->def.gravity, *w = h->w, *inverse = c->inverse_inertia;
        double m = c->mass;
        const sac_soft_slot *soft = sac_soft_of(world, i);
        if (soft) {
            double at[3], moving = sac_soft_energy(soft->soft, at);
            energy +=
                soft->mass_scale * (moving - c->gravity_scale * (g[0] * at[0] + g[1] * at[1] + g[2] * at[2]));
            continue;
        }
        energy +=
            0.5 * m * ((double)h->v[0] * h->v[0] + (double)h->v[1] * h->v[1] + (double)h->v[2] * h->v[2]);
        energy -= m * c->gravity_scale *
                  ((double)g[0] * h->centre[0] + (double)g[1] * h->centre[1] + (double)g[2] * h->centre[2]);
        /* w . I w in the body's axes; I is the inverse of the stored inverse. */
        mat3 I = {{inverse[0], inverse[3], inverse[4]},
                  {inverse[3], inverse[1], inverse[5]},
                  {inverse[4], inverse[5], inverse[2]}};
        float rows[3][3], local[3];
        sac_transform_rows(&world->pose[i], rows);
        for (int k = 0; k < 3; k++) local[k] = rows[0][k] * w[0] + rows[1][k] * w[1] + rows[2][k] * w[2];
        glm_mat3_inv(I, I);
        vec3 L;
        glm_mat3_mulv(I, local, L);
        double turning = (double)L[0] * local[0] + (double)L[1] * local[1] + (double)L[2] * local[2];
        if (isfinite(turning)) energy += 0.5 * turning;
    }
    return energy;
}

uint32_t sac_world_bodies(const sac_world *world, sac_body_id *out_bodies, uint32_t capacity)
{
    if (!world) return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!(world->flags[i] & SAC_BODY_USED)) continue;
        if (out_bodies && count < capacity) out_bodies[count] = sac_body_id_of(world, i);
        count++;
    }
    return count;
}
