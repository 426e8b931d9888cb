/* The built-in scenes. Pile, burst and wake are those on which engines are compared (shared_scene.h); all are
 * the same numbers on every machine: no trigonometry, one stream of random numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/options.h"
#include "apps/shared_scene.h"
#include "apps/staging_plan_internal.h"
#include "apps/tree_open.h"

sac_result sac_plan_no_memory(const sac_plan *p)
{
    return sac_error_set(p->error, SAC_ERROR_MEMORY, "fewer bodies", "no memory for %u bodies", p->bodies);
}

bool sac_plan_is_torus(const char *shape)
{
    return strcmp(shape, "t24") == 0 || strcmp(shape, "t100") == 0 || strcmp(shape, "t500") == 0;
}

static bool is_tree(const char *shape)
{
    return sac_text_ends_in(shape, ".sactree") || sac_text_ends_in(shape, ".sph");
}

/* What saccade bake has written needs no baking. */
static sac_result cast_tree(sac_plan *p, sac_prop *prop, sac_box *box)
{
    const char *slash = strrchr(p->shape, '/'), *base = slash ? slash + 1 : p->shape;
    sac_tree *tree;
    sac_result result = sac_tree_open(p->shape, &tree, p->error);
    if (result != SAC_OK) return result;
    *box = tree->box;
    prop->kind = SAC_PROP_TREE;
    snprintf(prop->name, sizeof prop->name, "%.40s", base);
    sac_tree_destroy(&tree);
    return SAC_OK;
}

static sac_result cast_shape(sac_plan *p, sac_prop *prop, sac_box *box)
{
    sac_shape shape;
    sac_result result = sac_shape_open(p->shape, 0, false, &shape, p->error);
    if (result != SAC_OK) return result;
    for (uint32_t i = 0; shape.mesh && i < shape.mesh->vertex_count; i++)
        sac_box_add(box, shape.mesh->vertices[i]);
    for (uint32_t i = 0; i < shape.sphere_count; i++)
        for (int side = -1; side <= 1; side += 2) {
            const float *s = shape.spheres[i],
                        corner[3] = {s[0] + (float)side * s[3], s[1] + (float)side * s[3],
                                     s[2] + (float)side * s[3]};
            sac_box_add(box, corner);
        }
    prop->builtin = shape.builtin;
    snprintf(prop->name, sizeof prop->name, "%.40s", shape.name);
    sac_shape_close(&shape);
    return SAC_OK;
}

sac_result sac_plan_cast(sac_plan *p, float across, uint32_t *out_prop, sac_body_def *out_def,
                         float out_half[3])
{
    sac_box box = sac_box_empty();
    sac_prop prop = {.kind = SAC_PROP_BAKED, .source = (char *)p->shape};
    sac_result result = is_tree(p->shape) ? cast_tree(p, &prop, &box) : cast_shape(p, &prop, &box);
    if (result != SAC_OK) return result;
    *out_def = sac_default_body_def();
    out_def->mass = 1;
    float largest =
        fmaxf(box.high[0] - box.low[0], fmaxf(box.high[1] - box.low[1], box.high[2] - box.low[2]));
    if (!(largest > 0))
        return sac_error_set(p->error, SAC_ERROR_EMPTY, "use another shape", "'%.100s' has no size",
                             p->shape);
    out_def->scale = sac_plan_is_torus(p->shape) && across == SAC_TORUS_ACROSS ? 1 : across / largest;
    if (out_half)
        for (int k = 0; k < 3; k++) out_half[k] = 0.5f * (box.high[k] - box.low[k]) * out_def->scale;
    *out_prop = sac_staging_add_prop(p->staging, &prop);
    return *out_prop == UINT32_MAX ? sac_plan_no_memory(p) : SAC_OK;
}

void sac_plan_in_ball(sac_rng *rng, float out[3])
{
    do
        for (int k = 0; k < 3; k++) out[k] = sac_rng_range(rng, -1, 1);
    while (out[0] * out[0] + out[1] * out[1] + out[2] * out[2] > 1);
}

void sac_plan_turn(sac_rng *rng, float out[4])
{
    float square;
    do {
        square = 0;
        for (int k = 0; k < 4; k++) out[k] = sac_rng_range(rng, -1, 1), square += out[k] * out[k];
    } while (square > 1 || square < 0.01f);
    float inverse = 1 / sqrtf(square);
    for (int k = 0; k < 4; k++) out[k] *= inverse;
}

uint32_t sac_plan_floor(sac_plan *p)
{
    sac_prop prop = {.name = "floor", .kind = SAC_PROP_PLANE, .normal = {0, 1, 0}};
    sac_body_def def = sac_default_body_def();
    def.kind = SAC_BODY_STATIC;
    uint32_t index = sac_staging_add_prop(p->staging, &prop);
    return index == UINT32_MAX ? index : sac_staging_add_actor(p->staging, "floor", index, &def);
}

void sac_plan_bound(sac_plan *p, sac_box least)
{
    const float room = 4; /* for what is thrown and rolls */
    for (size_t i = 0; i < p->staging->actors.count; i++) {
        const sac_body_def *def = &p->staging->actors.data[i].def;
        if (def->kind != SAC_BODY_DYNAMIC) continue;
        for (int k = 0; k < 3; k++) {
            /* Nobody is below the floor. */
            if (k != 1) least.low[k] = fminf(least.low[k], def->position[k] - room);
            least.high[k] = fmaxf(least.high[k], def->position[k] + room);
        }
    }
    p->staging->bounded = true;
    p->staging->bounds = least;
}

/* ---- the shared scenes ---- */

static sac_result add_boxes(sac_plan *p, const sac_shared_scene *shared)
{
    for (uint32_t i = 0; i < shared->box_count; i++) {
        sac_prop prop = {.kind = SAC_PROP_BOX, .hidden = true};
        snprintf(prop.name, sizeof prop.name, i ? "wall %u" : "floor", i);
        memcpy(prop.half, shared->boxes[i].half, sizeof prop.half);
        sac_body_def def = sac_default_body_def();
        def.kind = SAC_BODY_STATIC;
        def.material.friction = shared->friction, def.material.restitution = shared->restitution;
        memcpy(def.position, shared->boxes[i].centre, sizeof def.position);
        uint32_t index = sac_staging_add_prop(p->staging, &prop);
        uint32_t actor =
            index == UINT32_MAX ? index : sac_staging_add_actor(p->staging, prop.name, index, &def);
        if (actor == UINT32_MAX) return sac_plan_no_memory(p);
    }
    return SAC_OK;
}

static void watch_box(sac_staging *staging, const sac_shared_scene *shared)
{
    float half = 0.5f * shared->side;
    staging->glazed = true;
    staging->glass = (sac_box){{-half, 0, -half}, {half, fminf(shared->height, 0.62f * shared->side), half}};
    staging->bounded = true;
    staging->bounds = (sac_box){{-half, 0, -half}, {half, 1000, half}}; /* of centres */
    staging->eye[0] = 0.15f * shared->side, staging->eye[1] = 1.7f, staging->eye[2] = half + 2.4f;
    staging->target[0] = 0, staging->target[1] = 0.12f * shared->side, staging->target[2] = 0;
}

sac_result sac_plan_shared(sac_plan *p, const char *kind)
{
    sac_shared_scene shared;
    sac_staging *staging = p->staging;
    uint32_t prop;
    sac_body_def def;
    sac_result result = sac_shared_scene_create(&shared, kind, sac_plan_is_torus(p->shape) ? p->shape : "t24",
                                                p->bodies, p->seed, p->error);
    if (result != SAC_OK) return result;
    result = sac_plan_cast(p, SAC_TORUS_ACROSS, &prop, &def, NULL);
    if (result == SAC_OK && sac_plan_is_torus(p->shape))
        for (int k = 0; k < 3; k++) def.inertia[k] = shared.inertia[k];
    def.mass = shared.mass;
    def.material.friction = shared.friction, def.material.restitution = shared.restitution;
    uint32_t first = 0;
    for (uint32_t i = 0; i < shared.body_count && result == SAC_OK; i++) {
        memcpy(def.position, shared.bodies[i].position, sizeof def.position);
        memcpy(def.rotation, shared.bodies[i].rotation, sizeof def.rotation);
        memcpy(def.velocity, shared.bodies[i].velocity, sizeof def.velocity);
        uint32_t actor = sac_staging_add_actor(staging, NULL, prop, &def);
        if (actor == UINT32_MAX) result = sac_plan_no_memory(p);
        if (i == 0) first = actor;
    }
    if (result == SAC_OK) result = add_boxes(p, &shared);
    memcpy(staging->gravity, shared.gravity, sizeof staging->gravity);
    staging->frames = shared.frames;
    if (shared.box_count) {
        watch_box(staging, &shared);
    } else {
        float reach = 0;
        for (uint32_t i = 0; i < shared.body_count; i++)
            for (int k = 0; k < 3; k++) reach = fmaxf(reach, fabsf(shared.bodies[i].position[k]));
        staging->eye[0] = 0.2f * reach, staging->eye[1] = 0.3f * reach,
        staging->eye[2] = 1.05f * reach + 1.5f;
        memset(staging->target, 0, sizeof staging->target);
    }
    if (result == SAC_OK && shared.throw_frame != UINT32_MAX) {
        sac_cue cue = {
            .kind = SAC_CUE_THROW, .time = shared.throw_frame / 90.0, .actor = first + shared.thrown};
        memcpy(cue.vector, shared.throw_velocity, sizeof cue.vector);
        if (!sac_staging_add_cue(staging, &cue)) result = sac_plan_no_memory(p);
    }
    sac_shared_scene_destroy(&shared);
    return result;
}

static sac_result set_pile(sac_plan *p) { return sac_plan_shared(p, "pile"); }
static sac_result set_burst(sac_plan *p) { return sac_plan_shared(p, "burst"); }
static sac_result set_wake(sac_plan *p) { return sac_plan_shared(p, "wake"); }

/* ---- rain ---- */

/* A place in the sky that none of the last comers is in; higher up when there is none lower. */
static void find_sky(sac_staging *staging, const sac_world *world, float half, float out[3])
{
    enum { TRIES = 48, LAST = 12 };
    const size_t count = staging->script_bodies.count;
    float base = out[1];
    for (int t = 0; t < TRIES; t++) {
        bool free = true;
        out[0] = sac_rng_range(&staging->rng, -half, half);
        out[1] = base + sac_rng_range(&staging->rng, 0, 1) + 0.1f * (float)t;
        out[2] = sac_rng_range(&staging->rng, -half, half);
        for (size_t k = 1; k <= LAST && k <= count && free; k++) {
            sac_body_state state;
            sac_body_id id = staging->script_bodies.data[(staging->script_first + count - k) % count];
            if (sac_body_get(world, id, &state, NULL) != SAC_OK) continue;
            float square = 0;
            for (int i = 0; i < 3; i++) square += (state.centre[i] - out[i]) * (state.centre[i] - out[i]);
            free = square > 0.81f; /* 0.9 m: no two of 0.8 m touch */
        }
        if (free) return;
    }
}

/* Bodies fall in one by one, a tenth of them a second; once all are there the oldest leaves for each that
 * comes. */
static sac_result rain(sac_staging *staging, sac_world *world, uint64_t frame, double hz, sac_error *error)
{
    sac_result result = SAC_OK;
    float half = fmaxf(0, 0.5f * (staging->bounds.high[0] - staging->bounds.low[0]) - 0.6f);
    (void)frame;
    staging->script_owed += staging->script_most / (10.0 * hz);
    while (staging->script_owed >= 1 && result == SAC_OK) {
        sac_body_def def = staging->script_body;
        sac_body_id id;
        staging->script_owed -= 1;
        def.shape = staging->props.data[staging->script_prop].id;
        find_sky(staging, world, half, def.position);
        sac_plan_turn(&staging->rng, def.rotation);
        bool full = staging->script_bodies.count >= staging->script_most;
        def.user = staging->actors.count + (full ? staging->script_first : staging->script_bodies.count) + 1;
        sac_body_id *slot = full ? &staging->script_bodies.data[staging->script_first] : NULL;
        if (full) result = sac_body_destroy(world, *slot, error);
        if (result == SAC_OK) result = sac_body_create(world, &def, &id, error);
        if (result != SAC_OK) break;
        if (full)
            *slot = id, staging->script_first = (staging->script_first + 1) % staging->script_most;
        else if (!sac_array_push(&staging->script_bodies, id))
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for another body");
    }
    return result;
}

static sac_result set_rain(sac_plan *p)
{
    sac_shared_scene shared;
    sac_staging *staging = p->staging;
    sac_result result = sac_shared_scene_create(
        &shared, "pile", sac_plan_is_torus(p->shape) ? p->shape : "t24", p->bodies, p->seed, p->error);
    if (result != SAC_OK) return result;
    result = sac_plan_cast(p, SAC_TORUS_ACROSS, &staging->script_prop, &staging->script_body, NULL);
    if (result == SAC_OK && sac_plan_is_torus(p->shape))
        for (int k = 0; k < 3; k++) staging->script_body.inertia[k] = shared.inertia[k];
    if (result == SAC_OK) result = add_boxes(p, &shared);
    if (result == SAC_OK && !sac_array_reserve(&staging->script_bodies, p->bodies))
        result = sac_plan_no_memory(p);
    watch_box(staging, &shared);
    staging->script_body.position[1] = fmaxf(3, 0.75f * shared.side);
    staging->script_body.velocity[1] = -2;
    staging->script_most = p->bodies;
    staging->script = rain;
    sac_shared_scene_destroy(&shared);
    return result;
}

/* ---- stack ---- */

/* A tower of ten, and a pyramid of the rest beside it. */
static sac_result set_stack(sac_plan *p)
{
    enum { TOWER = 10 };
    uint32_t prop, row = 0, rows = 1;
    sac_body_def def;
    float half[3];
    sac_result result = sac_plan_cast(p, 0.4f, &prop, &def, half);
    if (result != SAC_OK) return result;
    if (sac_plan_floor(p) == UINT32_MAX) return sac_plan_no_memory(p);
    uint32_t tower = p->bodies < TOWER ? p->bodies : TOWER, rest = p->bodies - tower, column = 0;
    while (rows * (rows + 1) / 2 < rest) rows++;
    float wide = 2.04f * half[0], high = 2.005f * half[1], base = (float)rows * wide;
    def.material.friction = 0.6f;
    for (uint32_t i = 0; i < p->bodies; i++) {
        if (i < tower) {
            def.position[0] = -0.5f * base - 4 * half[0];
            def.position[1] = half[1] + (float)i * high;
        } else {
            def.position[0] = ((float)column - 0.5f * (float)(rows - 1 - row)) * wide;
            def.position[1] = half[1] + (float)row * high;
            if (++column == rows - row) column = 0, row++;
        }
        if (sac_staging_add_actor(p->staging, NULL, prop, &def) == UINT32_MAX) return sac_plan_no_memory(p);
    }
    float across = base + 8 * half[0];
    p->staging->eye[0] = -0.1f * across, p->staging->eye[1] = 1.7f, p->staging->eye[2] = 0.6f * across + 1.5f;
    p->staging->target[0] = -2 * half[0], p->staging->target[1] = 0.3f * (float)rows * high,
    p->staging->target[2] = 0;
    return SAC_OK;
}

/* ---- avalanche ---- */

enum { POSTS = 49 };

/* A gully: steep at the back, level in front, with rough ground and banks on all sides. In units of its half
 * length. */
static void shape_gully(float *heights, float size, sac_rng *rng)
{
    for (int row = 0; row < POSTS; row++)
        for (int column = 0; column < POSTS; column++) {
            float x = 2 * (float)column / (POSTS - 1) - 1, z = 2 * (float)row / (POSTS - 1) - 1;
            float fall = fmaxf(0, -0.1f - z), bank = fmaxf(0, fabsf(x) - 0.55f),
                  rim = fmaxf(0, fmaxf(fabsf(x), z) - 0.9f);
            float height = 0.72f * fall + 0.9f * bank * bank * 2 + 3 * rim;
            heights[row * POSTS + column] = height * size + sac_rng_range(rng, -0.012f, 0.012f) * size;
        }
}

static sac_result set_avalanche(sac_plan *p)
{
    static const float spacing = 0.9f;
    float heights[POSTS * POSTS];
    sac_rng rng = sac_rng_seed(p->seed);
    sac_staging *staging = p->staging;
    uint32_t prop, ground;
    sac_body_def def, still = sac_default_body_def();
    /* Room for the bodies in three layers on the upper slope. */
    uint32_t columns = 4;
    while (columns * columns * 3 / 2 < p->bodies) columns++;
    float size = fmaxf(8, (float)columns * spacing);
    sac_result result = sac_plan_cast(p, SAC_TORUS_ACROSS, &prop, &def, NULL);
    if (result != SAC_OK) return result;
    shape_gully(heights, size, &rng);
    sac_prop hill = {.name = "gully",
                     .kind = SAC_PROP_HEIGHTS,
                     .heights = heights,
                     .columns = POSTS,
                     .rows = POSTS,
                     .spacing = 2 * size / (POSTS - 1)};
    still.kind = SAC_BODY_STATIC;
    still.material.friction = 0.4f;
    ground = sac_staging_add_prop(staging, &hill);
    if (ground == UINT32_MAX || sac_staging_add_actor(staging, "gully", ground, &still) == UINT32_MAX)
        return sac_plan_no_memory(p);
    uint32_t across = columns < 2 ? 1 : (uint32_t)((float)columns * 1.0f), along = across / 2;
    for (uint32_t i = 0; i < p->bodies; i++) {
        uint32_t layer = i / (across * along), row = i / across % along, column = i % across;
        float shift[3];
        sac_plan_in_ball(&rng, shift);
        def.position[0] = ((float)column - 0.5f * (float)(across - 1)) * spacing * 0.98f + 0.02f * shift[0];
        def.position[2] = -0.92f * size + (float)row * spacing + 0.02f * shift[2];
        float fall = fmaxf(0, -0.1f * size - def.position[2]),
              bank = fmaxf(0, fabsf(def.position[0]) - 0.55f * size);
        def.position[1] = 0.72f * fall + 1.8f * bank * bank / size + 0.7f + 0.02f * size +
                          0.9f * (float)layer + 0.02f * shift[1];
        sac_plan_turn(&rng, def.rotation);
        if (sac_staging_add_actor(staging, NULL, prop, &def) == UINT32_MAX) return sac_plan_no_memory(p);
    }
    staging->bounded = true;
    staging->bounds =
        (sac_box){{-1.2f * size, -0.1f * size - 1, -1.2f * size}, {1.2f * size, 1000, 1.2f * size}};
    staging->eye[0] = 0.25f * size, staging->eye[1] = 1.7f + 0.1f * size, staging->eye[2] = 0.8f * size;
    staging->target[0] = 0, staging->target[1] = 0.15f * size, staging->target[2] = -0.3f * size;
    return SAC_OK;
}

/* ---- orrery ---- */

static const float PULL = 4.0f; /* m^3/s^2, of the sun */

/* Everybody is drawn to the middle as planets are. */
static sac_result attract(sac_staging *staging, sac_world *world, uint64_t frame, double hz, sac_error *error)
{
    sac_result result = SAC_OK;
    (void)frame;
    for (size_t i = 0; i < staging->actors.count && result == SAC_OK; i++) {
        const sac_actor *actor = &staging->actors.data[i];
        sac_body_state state;
        if (actor->def.kind != SAC_BODY_DYNAMIC || sac_body_get(world, actor->id, &state, NULL) != SAC_OK)
            continue;
        float square = state.centre[0] * state.centre[0] + state.centre[1] * state.centre[1] +
                       state.centre[2] * state.centre[2];
        float pull = state.mass * PULL / (fmaxf(square, 0.25f) * sqrtf(fmaxf(square, 0.25f))) / (float)hz,
              impulse[3];
        for (int k = 0; k < 3; k++) impulse[k] = -pull * state.centre[k];
        result = sac_body_push(world, actor->id, impulse, NULL, error);
    }
    return result;
}

/* Is somebody among the last thousand nearer than `reach`? The disc is wide: a few tries find a place. */
static bool crowded(const sac_staging *staging, const float at[3], float reach)
{
    size_t count = staging->actors.count, first = count > 1000 ? count - 1000 : 0;
    for (size_t i = first; i < count; i++) {
        const float *b = staging->actors.data[i].def.position;
        float square = 0;
        for (int k = 0; k < 3; k++) square += (at[k] - b[k]) * (at[k] - b[k]);
        if (square < reach * reach) return true;
    }
    return false;
}

static sac_result set_orrery(sac_plan *p)
{
    sac_staging *staging = p->staging;
    sac_rng rng = sac_rng_seed(p->seed);
    sac_prop sun = {.name = "sun", .kind = SAC_PROP_SPHERE, .radius = 0.5f};
    sac_body_def def, still = sac_default_body_def();
    uint32_t prop, index = sac_staging_add_prop(staging, &sun);
    still.kind = SAC_BODY_STATIC;
    if (index == UINT32_MAX || sac_staging_add_actor(staging, "sun", index, &still) == UINT32_MAX)
        return sac_plan_no_memory(p);
    sac_result result = sac_plan_cast(p, 0.3f, &prop, &def, NULL);
    if (result != SAC_OK) return result;
    float outer = 2.5f + 0.4f * sqrtf((float)p->bodies);
    def.never_sleeps = true;
    def.angular_damping = 0;
    for (uint32_t i = 0; i < p->bodies; i++) {
        float at[3], up[3], tangent[3], distance, length;
        do {
            sac_plan_in_ball(&rng, at);
            at[1] *= 0.1f;
            for (int k = 0; k < 3; k++) at[k] *= outer;
            distance = sqrtf(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        } while (distance < 1.5f || crowded(staging, at, 0.45f));
        sac_plan_in_ball(&rng, up);
        for (int k = 0; k < 3; k++) up[k] *= 0.1f;
        up[1] += 1;
        for (int k = 0; k < 3; k++)
            tangent[k] = up[(k + 1) % 3] * at[(k + 2) % 3] - up[(k + 2) % 3] * at[(k + 1) % 3];
        length = sqrtf(tangent[0] * tangent[0] + tangent[1] * tangent[1] + tangent[2] * tangent[2]);
        float speed = sqrtf(PULL / distance) / fmaxf(length, 1e-6f);
        for (int k = 0; k < 3; k++) def.position[k] = at[k], def.velocity[k] = tangent[k] * speed;
        sac_plan_in_ball(&rng, def.spin);
        sac_plan_turn(&rng, def.rotation);
        if (sac_staging_add_actor(staging, NULL, prop, &def) == UINT32_MAX) return sac_plan_no_memory(p);
    }
    memset(staging->gravity, 0, sizeof staging->gravity);
    staging->script = attract;
    staging->eye[0] = 0, staging->eye[1] = 0.5f * outer, staging->eye[2] = 1.1f * outer + 1;
    memset(staging->target, 0, sizeof staging->target);
    return SAC_OK;
}

/* ---- by name ---- */

static const struct {
    const char *name, *about, *shape;
    uint32_t bodies;
    uint64_t seed;
    sac_result (*set)(sac_plan *p);
} scenes[] = {
    {"pile", "bodies fall into an open-topped box and come to rest", "t24", 500, SAC_SHARED_SEED, set_pile},
    {"burst", "bodies fly together from all sides and meet in the same few frames", "t24", 500,
     SAC_SHARED_SEED, set_burst},
    {"wake", "a pile sleeps until, after 8 s, one of its bodies is thrown", "t24", 500, SAC_SHARED_SEED,
     set_wake},
    {"rain", "bodies keep falling in, and the oldest leave", "t24", 500, 1, set_rain},
    {"stack", "a tower of ten and a pyramid", "cube56", 130, 1, set_stack},
    {"avalanche", "bodies slide down a rough slope", "t24", 300, 1, set_avalanche},
    {"orrery", "bodies circle a sun, rarely meeting", "knot", 400, 1, set_orrery},
    {"workshop", "a table full of things to grab, stack and throw", NULL, 40, 1, sac_plan_workshop},
    {"hailstorm", "knots, gears and springs rain into a courtyard", NULL, 2000, 1, sac_plan_hailstorm},
    {"billiards", "a few collisions that matter, seen closely", NULL, 18, 1, sac_plan_billiards},
    {"side-by-side", "the same pile at the same budget, round-robin and jnd", "t24", 300, SAC_SHARED_SEED,
     sac_plan_side_by_side},
    {"flowers", "three soft flowers in pots, to be pushed and pulled by hand", NULL, 3, 1, sac_plan_flowers},
    {"three-hundred", "300 soft toys of 131,000 points, dropped together", NULL, 300, 1,
     sac_plan_three_hundred},
    {"santas", "a ring of hanging figures whose fine surfaces follow a few nodes", NULL, 12, 1,
     sac_plan_santas},
    {"jelly", "soft toys, and rigid knots, gears and springs, in one pile", NULL, 80, 1, sac_plan_jelly},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

const char *sac_staging_name(uint32_t index, const char **out_about)
{
    if (index >= SCENES) return NULL;
    if (out_about) *out_about = scenes[index].about;
    return scenes[index].name;
}

sac_result sac_staging_builtin(sac_staging *out, const char *name, const sac_staging_def *def,
                               sac_error *error)
{
    const char *names[SCENES + 1] = {0};
    char remedy[240];
    for (int i = 0; i < SCENES; i++) {
        names[i] = scenes[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        sac_plan p = {out, def->bodies ? def->bodies : scenes[i].bodies,
                      def->shape ? def->shape : scenes[i].shape, def->seed_given ? def->seed : scenes[i].seed,
                      error};
        if (p.bodies > SAC_STAGING_MOST_BODIES)
            return sac_error_set(error, SAC_ERROR_LIMIT, "ask for fewer", "%u bodies are more than %u",
                                 p.bodies, SAC_STAGING_MOST_BODIES);
        sac_staging_init(out, name);
        sac_result result = scenes[i].set(&p);
        out->rng = out->first_rng = sac_rng_seed(p.seed);
        out->most_bodies = (uint32_t)out->actors.count + out->script_most;
        if (result != SAC_OK) sac_staging_fini(out);
        return result;
    }
    const char *meant = sac_options_suggest(name, names);
    if (meant)
        snprintf(remedy, sizeof remedy, "did you mean %s?", meant);
    else
        snprintf(remedy, sizeof remedy,
                 "give a scene file (.json) or one of pile burst wake rain stack avalanche orrery workshop "
                 "hailstorm billiards side-by-side flowers three-hundred santas jelly");
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "there is no scene '%.100s'", name);
}
