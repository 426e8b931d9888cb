/* A world to play with: shapes by a word, bodies by one call, steps on the credit clock. What a test wants
 * otherwise it writes into the definitions between. */
#ifndef SAC_TESTS_WORLD_PLAY_H
#define SAC_TESTS_WORLD_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "runtime/world.h"

/* The solver leaves half a millimetre; softness under gravity adds some. */
#define PLAY_SLOP 0.0015f

#define CHECK(condition) assert_true(condition)
/* Says the numbers before it fails. */
#define CHECK_SAY(condition, ...)                          \
    do {                                                   \
        if (!(condition)) print_error("    " __VA_ARGS__); \
        assert_true(condition);                            \
    } while (0)

static const float play_still[3] = {0, 0, 0}, play_upright[4] = {0, 0, 0, 1};

/* Half a nanosecond a credit, room for few bodies. */
static inline sac_world_def play_def(void)
{
    sac_world_def def = sac_default_world_def();
    def.clock = sac_clock_credits(500);
    def.bodies = 256;
    return def;
}

/* A handful of bodies, for tests that make worlds by the thousand: most of their time went into memory nobody
 * needs. */
static inline sac_world_def play_small_def(void)
{
    sac_world_def def = play_def();
    def.bodies = 16, def.agenda.pairs = 64, def.agenda.entries = 4096;
    def.solver.bodies = 16, def.solver.contacts = 64, def.solver.grabs = 4;
    return def;
}

static inline sac_world *play_create(const sac_world_def *def)
{
    sac_world *world = NULL;
    sac_error error = {0};
    if (sac_world_create(def, &world, &error) != SAC_OK) print_error("    %s\n", error.message);
    assert_non_null(world);
    return world;
}

static inline sac_shape_id play_shape(sac_world *world, const sac_form *form)
{
    sac_shape_id id;
    assert_int_equal(sac_world_add_shape(world, form, &id, NULL), SAC_OK);
    return id;
}

static inline sac_shape_id play_ball(sac_world *world, float radius)
{
    sac_form form;
    assert_int_equal(sac_form_sphere(&form, radius, NULL), SAC_OK);
    return play_shape(world, &form);
}

static inline sac_shape_id play_capsule(sac_world *world, float radius, float half)
{
    sac_form form;
    assert_int_equal(sac_form_capsule(&form, radius, half, NULL), SAC_OK);
    return play_shape(world, &form);
}

static inline sac_shape_id play_box(sac_world *world, float x, float y, float z)
{
    sac_form form;
    assert_int_equal(sac_form_box(&form, (float[3]){x, y, z}, NULL), SAC_OK);
    return play_shape(world, &form);
}

static inline sac_shape_id play_plane(sac_world *world)
{
    sac_form form;
    assert_int_equal(sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL), SAC_OK);
    return play_shape(world, &form);
}

static inline sac_shape_id play_tree(sac_world *world, const sac_tree *tree)
{
    sac_form form;
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    return play_shape(world, &form);
}

static inline sac_body_id play_make(sac_world *world, const sac_body_def *def)
{
    sac_body_id id;
    sac_error error = {0};
    sac_result result = sac_body_create(world, def, &id, &error);
    if (result != SAC_OK) print_error("    %s\n", error.message);
    assert_int_equal(result, SAC_OK);
    return id;
}

static inline sac_body_def play_body_def(sac_shape_id shape, sac_body_kind kind, float x, float y, float z)
{
    sac_body_def def = sac_default_body_def();
    def.shape = shape;
    def.kind = kind;
    def.position[0] = x, def.position[1] = y, def.position[2] = z;
    return def;
}

static inline sac_body_id play_body(sac_world *world, sac_shape_id shape, sac_body_kind kind, float x,
                                    float y, float z)
{
    sac_body_def def = play_body_def(shape, kind, x, y, z);
    return play_make(world, &def);
}

static inline sac_body_id play_floor(sac_world *world)
{
    return play_body(world, play_plane(world), SAC_BODY_STATIC, 0, 0, 0);
}

static inline sac_body_state play_state(const sac_world *world, sac_body_id body)
{
    sac_body_state state;
    assert_int_equal(sac_body_get(world, body, &state, NULL), SAC_OK);
    return state;
}

/* One frame; budget 0: no limit. */
static inline sac_step_report play_step(sac_world *world, uint64_t budget_ns)
{
    sac_step_def step = sac_default_step_def();
    sac_step_report report;
    step.budget_ns = budget_ns;
    assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
    return report;
}

static inline void play_frames(sac_world *world, int frames)
{
    for (int i = 0; i < frames; i++) play_step(world, 0);
}

/* Frames until nobody who could sleep is awake, `most` when it takes longer. */
static inline int play_until_asleep(sac_world *world, int most, uint64_t budget_ns)
{
    for (int i = 0; i < most; i++)
        if (play_step(world, budget_ns).awake == 0) return i;
    return most;
}

static inline float play_speed(const sac_body_state *s)
{
    return sqrtf(s->velocity[0] * s->velocity[0] + s->velocity[1] * s->velocity[1] +
                 s->velocity[2] * s->velocity[2]);
}

static inline float play_distance(const float a[3], const float b[3])
{
    float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static inline bool play_finite(const sac_body_state *s)
{
    return sac_vec3_is_finite(s->centre) && sac_vec3_is_finite(s->velocity) && sac_vec3_is_finite(s->spin) &&
           isfinite(s->pose.rotation[0] + s->pose.rotation[1] + s->pose.rotation[2] + s->pose.rotation[3]);
}

/* A box of spheres: side 2 * half, `n` spheres along each edge, faces where spheres end. Its mass is that of
 * the spheres' union as the tree knows it. */
static inline sac_tree *play_sphere_box(float half, uint32_t n)
{
    float spheres[512][4], r = half / (float)n;
    uint32_t count = 0;
    assert_true(n * n * n <= 512);
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t y = 0; y < n; y++)
            for (uint32_t z = 0; z < n; z++) {
                if (x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1) continue;
                float *s = spheres[count++];
                s[0] = -half + r * (float)(2 * x + 1);
                s[1] = -half + r * (float)(2 * y + 1);
                s[2] = -half + r * (float)(2 * z + 1);
                s[3] = r;
            }
    sac_build_def def = sac_default_build_def();
    sac_tree *tree = NULL;
    assert_int_equal(sac_tree_build_spheres((const float(*)[4])spheres, count, &def, &tree, NULL), SAC_OK);
    return tree;
}

/* A ring of spheres, axis y. */
static inline sac_tree *play_torus(uint32_t count, float ring, float tube)
{
    float spheres[64][4];
    assert_true(count <= 64);
    for (uint32_t i = 0; i < count; i++) {
        float a = 6.2831853f * (float)i / (float)count;
        spheres[i][0] = ring * cosf(a);
        spheres[i][1] = 0;
        spheres[i][2] = ring * sinf(a);
        spheres[i][3] = tube;
    }
    sac_build_def def = sac_default_build_def();
    sac_tree *tree = NULL;
    assert_int_equal(sac_tree_build_spheres((const float(*)[4])spheres, count, &def, &tree, NULL), SAC_OK);
    return tree;
}

static inline void play_turn_randomly(sac_rng *rng, float q[4])
{
    float n;
    do {
        n = 0;
        for (int i = 0; i < 4; i++) q[i] = sac_rng_range(rng, -1, 1), n += q[i] * q[i];
    } while (n < 0.1f || n > 1);
    for (int i = 0; i < 4; i++) q[i] /= sqrtf(n);
}

/* An open-topped box of walls, its floor at y = 0, inside `side` wide. */
static inline void play_pen(sac_world *world, float side, float high)
{
    float t = 0.25f, h = 0.5f * side;
    play_body(world, play_box(world, h + 2 * t, t, h + 2 * t), SAC_BODY_STATIC, 0, -t, 0);
    sac_shape_id wall = play_box(world, t, high, h + 2 * t), end = play_box(world, h + 2 * t, high, t);
    play_body(world, wall, SAC_BODY_STATIC, -h - t, high, 0);
    play_body(world, wall, SAC_BODY_STATIC, h + t, high, 0);
    play_body(world, end, SAC_BODY_STATIC, 0, high, -h - t);
    play_body(world, end, SAC_BODY_STATIC, 0, high, h + t);
}

/* Two triangles, six metres a side, across the x axis. */
static inline sac_terrain *play_wall_of_triangles(void)
{
    float vertices[4][3] = {{0, -3, -3}, {0, 3, -3}, {0, 3, 3}, {0, -3, 3}};
    uint32_t triangles[2][3] = {{0, 2, 1}, {0, 3, 2}};
    sac_mesh *mesh = NULL;
    sac_terrain *terrain = NULL;
    CHECK(sac_mesh_create((const float(*)[3])vertices, 4, (const uint32_t(*)[3])triangles, 2, "wall", &mesh,
                          NULL) == SAC_OK);
    CHECK(sac_terrain_from_mesh(mesh, &terrain, NULL) == SAC_OK);
    sac_mesh_destroy(&mesh);
    return terrain;
}

#endif
