/* The scenes made to be stood in: the viewer is at the origin, floor at y = 0, looking along -z. Like the
 * others the same numbers on every machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/staging_plan_internal.h"

static const float FLAT[4] = {-0.70710678f, 0, 0, 0.70710678f}; /* the built-in meshes have z up */

static const uint32_t OAK = 0xb48f63, WALNUT = 0x7d5f45, PLASTER = 0xe2dcd1, STONE = 0xc8c1b4,
                      CLOTH = 0x4d7a74;

/* A mesh to be baked; 1 across, so that a body's scale is its size. */
static uint32_t add_mesh(sac_plan *p, const char *name, uint32_t depth, uint32_t colour, float gloss)
{
    sac_prop prop = {.kind = SAC_PROP_BAKED,
                     .source = (char *)name,
                     .builtin = true,
                     .quick = true,
                     .triangles = 1500,
                     .depth = depth,
                     .colour = colour,
                     .gloss = gloss};
    snprintf(prop.name, sizeof prop.name, "%.40s", name);
    return sac_staging_add_prop(p->staging, &prop);
}

/* A block that stays where it is. */
static bool add_block(sac_plan *p, const char *name, uint32_t colour, float gloss, const float centre[3],
                      const float half[3], const sac_material *material)
{
    sac_prop prop = {.kind = SAC_PROP_BOX, .colour = colour, .gloss = gloss};
    sac_body_def def = sac_default_body_def();
    snprintf(prop.name, sizeof prop.name, "%.40s", name);
    memcpy(prop.half, half, sizeof prop.half);
    memcpy(def.position, centre, sizeof def.position);
    def.kind = SAC_BODY_STATIC;
    if (material) def.material = *material;
    uint32_t index = sac_staging_add_prop(p->staging, &prop);
    return index != UINT32_MAX && sac_staging_add_actor(p->staging, name, index, &def) != UINT32_MAX;
}

/* ---- workshop ---- */

#define BENCH_TOP 0.78f
#define BENCH_Z -0.72f
#define SHELF_Z -1.33f

static bool build_workshop(sac_plan *p)
{
    bool ok = sac_plan_floor(p) != UINT32_MAX;
    ok = ok && add_block(p, "table", OAK, 0.3f, (float[3]){0, BENCH_TOP - 0.025f, BENCH_Z},
                         (float[3]){0.95f, 0.025f, 0.42f}, NULL);
    for (int i = 0; i < 4 && ok; i++)
        ok = add_block(p, "leg", WALNUT, 0.25f,
                       (float[3]){i & 1 ? 0.86f : -0.86f, 0.5f * (BENCH_TOP - 0.05f),
                                  BENCH_Z + (i & 2 ? 0.34f : -0.34f)},
                       (float[3]){0.04f, 0.5f * (BENCH_TOP - 0.05f), 0.04f}, NULL);
    for (int i = 0; i < 2 && ok; i++)
        ok = add_block(p, "shelf", OAK, 0.3f, (float[3]){0, 1.22f + 0.38f * (float)i, SHELF_Z},
                       (float[3]){0.95f, 0.015f, 0.14f}, NULL);
    for (int i = 0; i < 2 && ok; i++)
        ok = add_block(p, "bracket", WALNUT, 0.25f, (float[3]){i ? 0.96f : -0.96f, 1.5f, SHELF_Z},
                       (float[3]){0.015f, 0.4f, 0.14f}, NULL);
    ok = ok && add_block(p, "back wall", PLASTER, 0.02f, (float[3]){0, 1.3f, -1.57f},
                         (float[3]){2.2f, 1.3f, 0.1f}, NULL);
    for (int i = 0; i < 2 && ok; i++)
        ok = add_block(p, "side wall", PLASTER, 0.02f, (float[3]){i ? 2.1f : -2.1f, 1.3f, -0.37f},
                       (float[3]){0.1f, 1.3f, 1.1f}, NULL);
    return ok;
}

sac_result sac_plan_workshop(sac_plan *p)
{
    static const struct {
        const char *name;
        uint32_t colour;
        float gloss, size;
        bool flat;
    } things[] = {{"knot", 0xd08a5b, 0.6f, 0.17f, true},   {"gear", 0x6f8fa8, 0.7f, 0.16f, true},
                  {"spring", 0xe9e1d2, 0.7f, 0.17f, true}, {"star", 0xe3c878, 0.5f, 0.16f, true},
                  {"l", 0x4f7f78, 0.35f, 0.15f, true},     {"torus", 0xa8788f, 0.55f, 0.15f, true},
                  {"chair", 0xb9c7a9, 0.3f, 0.2f, true}};
    enum { THINGS = sizeof things / sizeof *things, COLUMNS = 8, ROWS = 3, ON_TABLE = COLUMNS * ROWS };
    enum { ON_SHELF = 8, LAYER = ON_TABLE + 2 * ON_SHELF };
    uint32_t props[THINGS], count = p->shape ? 1 : THINGS;
    sac_rng rng = sac_rng_seed(p->seed);
    sac_staging *staging = p->staging;
    if (!build_workshop(p)) return sac_plan_no_memory(p);
    for (uint32_t i = 0; i < count && !p->shape; i++)
        if ((props[i] = add_mesh(p, things[i].name, 3, things[i].colour, things[i].gloss)) == UINT32_MAX)
            return sac_plan_no_memory(p);
    sac_body_def def = sac_default_body_def(), cast = def;
    if (p->shape) {
        sac_result result = sac_plan_cast(p, 0.16f, &props[0], &cast, NULL);
        if (result != SAC_OK) return result;
    }
    for (uint32_t i = 0; i < p->bodies; i++) {
        uint32_t place = i % LAYER, kind = (i + i / COLUMNS) % count;
        float lift = 0.24f * (float)(i / LAYER), turn = sac_rng_range(&rng, -1, 1), size = things[kind].size;
        if (p->shape) def = cast, size = 0.16f;
        /* About y by a half angle of arcsin(turn), then laid down. */
        float side = sqrtf(fmaxf(0, 1 - turn * turn));
        sac_rotation_join((float[4]){0, turn, 0, side}, FLAT, def.rotation);
        if (place < ON_TABLE) {
            def.position[0] = ((float)(place % COLUMNS) - 0.5f * (COLUMNS - 1)) * 0.225f;
            def.position[1] = BENCH_TOP + 0.55f * size + lift;
            def.position[2] = BENCH_Z + ((float)(place / COLUMNS) - 0.5f * (ROWS - 1)) * 0.25f;
        } else {
            uint32_t board = (place - ON_TABLE) / ON_SHELF;
            def.position[0] = ((float)((place - ON_TABLE) % ON_SHELF) - 0.5f * (ON_SHELF - 1)) * 0.225f;
            def.position[1] = 1.235f + 0.38f * (float)board + 0.55f * size + lift;
            def.position[2] = SHELF_Z;
        }
        if (!p->shape) {
            def.scale = size;
            def.density = 500;
        }
        def.material.friction = 0.6f;
        if (sac_staging_add_actor(staging, NULL, props[kind], &def) == UINT32_MAX)
            return sac_plan_no_memory(p);
    }
    sac_plan_bound(p, (sac_box){{-8, -0.2f, -8}, {8, 100, 8}});
    sac_staging_set_view(staging, (float[3]){0, 1.55f, 0.25f}, (float[3]){0, 0.98f, -0.8f});
    sac_staging_set_light(staging, (float[3]){-0.35f, 1, 0.75f}, 2.2f);
    return SAC_OK;
}

/* ---- hailstorm ---- */

/* The yard lies lower than the plinth one stands on, so that the hail does not bury the viewer. */
#define YARD_FLOOR -0.9f
#define PLINTH 0.8f
#define HAIL_MOST_SIZE 0.6f

/* The next body of the storm, at a place nobody is in. */
static sac_result let_fall(sac_staging *staging, sac_world *world, const float position[3], sac_error *error)
{
    uint32_t count = staging->script_props ? staging->script_props : 1, most = staging->script_most;
    uint32_t place = (staging->script_first + (uint32_t)staging->script_bodies.count) % most;
    sac_body_def def = staging->script_body;
    sac_body_id id;
    def.shape = staging->props.data[staging->script_prop + sac_rng_below(&staging->rng, count)].id;
    def.scale *= sac_rng_range(&staging->rng, 0.7f, 1);
    def.user = staging->actors.count + place + 1;
    memcpy(def.position, position, sizeof def.position);
    sac_plan_turn(&staging->rng, def.rotation);
    sac_plan_in_ball(&staging->rng, def.spin);
    sac_result result = sac_body_create(world, &def, &id, error);
    if (result == SAC_OK) staging->script_bodies.data[place] = id, staging->script_bodies.count++;
    return result;
}

static bool over_plinth(const float at[3])
{
    return fabsf(at[0]) < PLINTH + 0.35f && fabsf(at[2]) < PLINTH + 0.35f;
}

/* At the start two fifths of the storm are in the air: a lattice, jittered. */
static sac_result begin_storm(sac_staging *staging, sac_world *world, float half, sac_error *error)
{
    const float apart = HAIL_MOST_SIZE * 1.3f;
    uint32_t columns = (uint32_t)fmaxf(1, 2 * half / apart), wanted = staging->script_crowd * 2 / 5, i = 0;
    sac_result result = SAC_OK;
    for (; staging->script_bodies.count < wanted && result == SAC_OK; i++) {
        uint32_t layer = i / (columns * columns), row = i / columns % columns, column = i % columns;
        float jitter[3], at[3];
        sac_plan_in_ball(&staging->rng, jitter);
        at[0] = ((float)column - 0.5f * (float)(columns - 1)) * apart + 0.1f * apart * jitter[0];
        at[1] = 0.6f + (float)layer * 2.2f * apart + 0.8f * apart * jitter[1];
        at[2] = ((float)row - 0.5f * (float)(columns - 1)) * apart + 0.1f * apart * jitter[2];
        /* Every other place, and none over the viewer. */
        if ((row + column + layer) % 2 || over_plinth(at)) continue;
        result = let_fall(staging, world, at, error);
    }
    return result;
}

/* A twenty-fifth of the crowd falls in a second; for each that is too many the oldest leaves. */
static sac_result storm(sac_staging *staging, sac_world *world, uint64_t frame, double hz, sac_error *error)
{
    enum { TRIES = 32, LAST = 24 };
    float half = fmaxf(0.3f, staging->bounds.high[0] - 0.5f * HAIL_MOST_SIZE - 0.05f);
    uint32_t most = staging->script_most;
    sac_result result = frame == 0 ? begin_storm(staging, world, half, error) : SAC_OK;
    staging->script_owed += staging->script_crowd / (25.0 * hz);
    while (staging->script_owed >= 1 && result == SAC_OK) {
        float at[3] = {0};
        bool free = false;
        staging->script_owed -= 1;
        for (int t = 0; t < TRIES && !free; t++) {
            at[0] = sac_rng_range(&staging->rng, -half, half);
            at[1] = sac_rng_range(&staging->rng, 5.5f, 7.5f) + 0.1f * (float)t;
            at[2] = sac_rng_range(&staging->rng, -half, half);
            free = !over_plinth(at);
            for (uint32_t k = 1; k <= LAST && k <= staging->script_bodies.count && free; k++) {
                sac_body_state state;
                uint32_t place = (staging->script_first + (uint32_t)staging->script_bodies.count - k) % most;
                if (sac_body_get(world, staging->script_bodies.data[place], &state, NULL) != SAC_OK) continue;
                float square = 0;
                for (int i = 0; i < 3; i++) square += (state.centre[i] - at[i]) * (state.centre[i] - at[i]);
                free = square > HAIL_MOST_SIZE * HAIL_MOST_SIZE * 1.4f;
            }
        }
        if (staging->script_bodies.count < most && free) result = let_fall(staging, world, at, error);
    }
    while (staging->script_bodies.count > staging->script_crowd && result == SAC_OK) {
        result = sac_body_destroy(world, staging->script_bodies.data[staging->script_first], error);
        staging->script_first = (staging->script_first + 1) % most;
        staging->script_bodies.count--;
    }
    return result;
}

sac_result sac_plan_hailstorm(sac_plan *p)
{
    sac_staging *staging = p->staging;
    float half = fmaxf(2.6f, 0.2f * sqrtf((float)p->bodies)), wall = 1.5f;
    sac_prop ground = {.name = "ground", .kind = SAC_PROP_PLANE, .normal = {0, 1, 0}, .offset = YARD_FLOOR};
    sac_body_def still = sac_default_body_def(), *body = &staging->script_body;
    still.kind = SAC_BODY_STATIC;
    still.material.friction = 0.6f;
    uint32_t index = sac_staging_add_prop(staging, &ground);
    bool ok = index != UINT32_MAX && sac_staging_add_actor(staging, "ground", index, &still) != UINT32_MAX;
    ok = ok && add_block(p, "plinth", PLASTER, 0.05f, (float[3]){0, 0.5f * YARD_FLOOR, 0},
                         (float[3]){PLINTH, -0.5f * YARD_FLOOR, PLINTH}, NULL);
    for (int i = 0; i < 4 && ok; i++) {
        float side = i & 1 ? 1 : -1, at = half + 0.2f, centre[3] = {0, 0.5f * (wall + YARD_FLOOR), 0},
              size[3] = {0.2f, 0.5f * (wall - YARD_FLOOR), half + 0.4f};
        centre[i < 2 ? 0 : 2] = side * at;
        if (i >= 2) size[0] = half, size[2] = 0.2f;
        ok = add_block(p, "wall", STONE, 0.03f, centre, size, NULL);
    }
    if (!ok) return sac_plan_no_memory(p);
    if (p->shape) {
        sac_result result = sac_plan_cast(p, HAIL_MOST_SIZE, &staging->script_prop, body, NULL);
        if (result != SAC_OK) return result;
        staging->props.data[staging->script_prop].quick = true;
        staging->script_props = 1;
    } else {
        *body = sac_default_body_def();
        body->scale = HAIL_MOST_SIZE;
        body->density = 300;
        staging->script_prop = add_mesh(p, "knot", 3, 0xd08a5b, 0.55f);
        uint32_t gear = add_mesh(p, "gear", 3, 0x6f8fa8, 0.65f),
                 spring = add_mesh(p, "spring", 3, 0xe9e1d2, 0.6f);
        if (staging->script_prop == UINT32_MAX || gear == UINT32_MAX || spring == UINT32_MAX)
            return sac_plan_no_memory(p);
        staging->script_props = 3;
    }
    body->velocity[1] = -3;
    body->linear_damping = 2.5f; /* falls at 4 m/s and no faster, as light things do */
    body->material.friction = 0.5f;
    staging->script_crowd = p->bodies;
    staging->script_most = p->bodies < SAC_STAGING_MOST_BODIES / 2 ? 2 * p->bodies : p->bodies;
    if (staging->script_most < 64) staging->script_most = 64;
    staging->script = storm;
    if (!sac_array_reserve(&staging->script_bodies, staging->script_most)) return sac_plan_no_memory(p);
    staging->bounded = true;
    staging->bounds = (sac_box){{-half, YARD_FLOOR, -half}, {half, 100, half}};
    sac_staging_set_view(staging, (float[3]){0, 1.65f, 0}, (float[3]){0, -0.4f, -0.62f * half});
    return SAC_OK;
}

/* ---- billiards ---- */

#define CLOTH_Y 0.8f
#define TABLE_Z -1.35f
#define TABLE_LONG 1.12f /* half, cushion to cushion */
#define TABLE_WIDE 0.56f
#define BALL 0.0286f
#define STROKE 6.5f /* m/s */
enum { BILLIARDS_SECONDS = 10 };

/* Every ten seconds all is put back, and a second later the cue ball played. */
static sac_result play(sac_staging *staging, sac_world *world, uint64_t frame, double hz, sac_error *error)
{
    uint64_t period = (uint64_t)(BILLIARDS_SECONDS * hz), phase = frame % period, stroke = (uint64_t)hz;
    sac_result result = SAC_OK;
    for (size_t i = 0; i < staging->actors.count && phase == 0 && frame && result == SAC_OK; i++) {
        const sac_actor *actor = &staging->actors.data[i];
        const float still[3] = {0};
        if (actor->def.kind != SAC_BODY_DYNAMIC || !sac_body_exists(world, actor->id)) continue;
        result = sac_body_set_pose(world, actor->id, actor->def.position, actor->def.rotation, error);
        if (result == SAC_OK) result = sac_body_set_velocity(world, actor->id, still, still, error);
    }
    if (phase != stroke || result != SAC_OK) return result;
    for (size_t i = 0; i < staging->actors.count; i++) {
        const sac_actor *actor = &staging->actors.data[i];
        if (strcmp(actor->name, "cue ball") != 0 || !sac_body_exists(world, actor->id)) continue;
        /* A little off the middle, another way each time. */
        float aim = 0.03f * (float)(int64_t)(frame / period % 3) - 0.02f;
        return sac_body_set_velocity(world, actor->id, (float[3]){aim, 0, -STROKE},
                                     (float[3]){-STROKE / BALL, 0, 0}, error);
    }
    return result;
}

static bool build_billiards(sac_plan *p)
{
    const sac_material cloth = {.friction = 0.2f, .restitution = 0.5f, .rolling = 0.0008f},
                       rubber = {.friction = 0.15f, .restitution = 0.85f};
    bool ok = sac_plan_floor(p) != UINT32_MAX;
    ok = ok && add_block(p, "cloth", CLOTH, 0.02f, (float[3]){0, CLOTH_Y - 0.03f, TABLE_Z},
                         (float[3]){TABLE_WIDE + 0.05f, 0.03f, TABLE_LONG + 0.05f}, &cloth);
    for (int i = 0; i < 4 && ok; i++) {
        float side = i & 1 ? 1 : -1;
        bool longer = i < 2;
        float nose[3] = {longer ? side * (TABLE_WIDE + 0.025f) : 0, CLOTH_Y + 0.018f,
                         TABLE_Z + (longer ? 0 : side * (TABLE_LONG + 0.025f))},
              size[3] = {longer ? 0.025f : TABLE_WIDE, 0.02f, longer ? TABLE_LONG + 0.05f : 0.025f};
        ok = add_block(p, "cushion", 0x41685f, 0.05f, nose, size, &rubber);
        float rail[3] = {longer ? side * (TABLE_WIDE + 0.11f) : 0, CLOTH_Y - 0.01f,
                         TABLE_Z + (longer ? 0 : side * (TABLE_LONG + 0.11f))},
              wide[3] = {longer ? 0.06f : TABLE_WIDE + 0.05f, 0.055f, longer ? TABLE_LONG + 0.17f : 0.06f};
        ok = ok && add_block(p, "rail", WALNUT, 0.5f, rail, wide, NULL);
        float leg[3] = {(i & 1 ? 1 : -1) * (TABLE_WIDE - 0.02f), 0.36f,
                        TABLE_Z + (i & 2 ? 1 : -1) * (TABLE_LONG - 0.1f)};
        ok = ok && add_block(p, "leg", WALNUT, 0.4f, leg, (float[3]){0.07f, 0.36f, 0.07f}, NULL);
    }
    return ok;
}

sac_result sac_plan_billiards(sac_plan *p)
{
    static const uint32_t colours[] = {0xe3c878, 0x55607a, 0xd08a5b, 0xa8788f,
                                       0x6f8fa8, 0xb9c7a9, 0x8c4a3c, 0x2f3438};
    enum { COLOURS = sizeof colours / sizeof *colours, OTHERS = 2 };
    sac_staging *staging = p->staging;
    uint32_t balls = p->bodies > OTHERS + 1 ? p->bodies - OTHERS - 1 : p->bodies - 1, props[COLOURS], row = 0,
             column = 0;
    sac_prop ball = {.name = "ball", .kind = SAC_PROP_SPHERE, .radius = BALL, .gloss = 0.95f};
    sac_body_def def = sac_default_body_def();
    if (!build_billiards(p)) return sac_plan_no_memory(p);
    for (int i = 0; i < COLOURS; i++) {
        ball.colour = colours[i];
        if ((props[i] = sac_staging_add_prop(staging, &ball)) == UINT32_MAX) return sac_plan_no_memory(p);
    }
    ball.colour = 0xf4efe2;
    uint32_t ivory = sac_staging_add_prop(staging, &ball);
    def.mass = 0.17f;
    def.material = (sac_material){.friction = 0.12f, .restitution = 0.93f, .rolling = 0.0004f};
    def.angular_damping = 0.1f;
    def.most_spin = 2 * STROKE / BALL;
    def.never_sleeps = true; /* every blow counts, the first one too */
    def.position[1] = CLOTH_Y + BALL;
    def.position[2] = TABLE_Z + 0.55f * TABLE_LONG;
    if (ivory == UINT32_MAX || sac_staging_add_actor(staging, "cue ball", ivory, &def) == UINT32_MAX)
        return sac_plan_no_memory(p);
    for (uint32_t i = 0; i < balls; i++) {
        const float apart = 2.004f * BALL;
        def.position[0] = ((float)column - 0.5f * (float)row) * apart;
        def.position[2] = TABLE_Z - 0.42f * TABLE_LONG - (float)row * apart * 0.8660254f;
        if (sac_staging_add_actor(staging, NULL, props[i % COLOURS], &def) == UINT32_MAX)
            return sac_plan_no_memory(p);
        if (++column > row) column = 0, row++;
    }
    /* Two that are not round, where balls come by. */
    static const char *const names[OTHERS] = {"star", "knot"};
    for (uint32_t i = 0; i < OTHERS && p->bodies > OTHERS + 1; i++) {
        uint32_t other;
        sac_body_def thing = sac_default_body_def();
        sac_result result = SAC_OK;
        sac_plan cast = *p;
        cast.shape = p->shape ? p->shape : names[i];
        result = sac_plan_cast(&cast, 0.11f, &other, &thing, NULL);
        if (result != SAC_OK) return result;
        staging->props.data[other].quick = true;
        staging->props.data[other].triangles = staging->props.data[other].builtin ? 1500 : 0;
        staging->props.data[other].colour = i ? 0xd9d2c5 : 0xc86f4b;
        staging->props.data[other].gloss = 0.7f;
        thing.mass = 0.12f;
        thing.material = (sac_material){.friction = 0.3f, .restitution = 0.5f};
        memcpy(thing.rotation, FLAT, sizeof thing.rotation);
        thing.position[0] = i ? 0.34f : -0.3f;
        thing.position[1] = CLOTH_Y + 0.06f;
        thing.position[2] = TABLE_Z + (i ? 0.1f : -0.12f);
        if (sac_staging_add_actor(staging, names[i], other, &thing) == UINT32_MAX)
            return sac_plan_no_memory(p);
    }
    staging->script = play;
    sac_plan_bound(p, (sac_box){{-8, -0.1f, -8}, {8, 100, 8}});
    sac_staging_set_view(staging, (float[3]){0.92f, 1.4f, TABLE_Z + 0.05f},
                         (float[3]){-0.1f, CLOTH_Y, TABLE_Z - 0.25f});
    sac_staging_set_light(staging, (float[3]){0.3f, 1, 0.25f}, 2);
    return SAC_OK;
}

/* ---- side by side ---- */

sac_result sac_plan_side_by_side(sac_plan *p)
{
    sac_staging *staging = p->staging;
    sac_result result = sac_plan_shared(p, "pile");
    if (result != SAC_OK) return result;
    float side = staging->glass.high[0] - staging->glass.low[0];
    staging->policies[0] = "round-robin";
    staging->policies[1] = "jnd";
    staging->apart = 1.25f * side;
    sac_staging_set_view(staging, (float[3]){0, 1.9f, 1.5f * side + 1}, (float[3]){0, 0.12f * side, 0});
    return SAC_OK;
}
