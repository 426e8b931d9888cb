/* Soft bodies in the world: they fall, lie, stack, are held and told, like any other body. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "world_play.h"

enum { RINGS = 10, SEGMENTS = 16, BALL = RINGS * SEGMENTS + 2 };

enum { MOST_RINGS = 24, MOST_SEGMENTS = 40, MOST_BALL = MOST_RINGS * MOST_SEGMENTS + 2 };

/* A closed ball of points and triangles. */
typedef struct ball {
    float points[MOST_BALL][3];
    uint32_t triangles[2 * MOST_BALL][3], count, faces;
} ball;

static void make_ball(ball *b, uint32_t rings, uint32_t segments, float radius)
{
    uint32_t(*t)[3] = b->triangles, last = (rings - 1) * segments, top = rings * segments;
    b->count = b->faces = 0;
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t s = 0; s < segments; s++) {
            float polar = 3.14159265f * (float)(r + 1) / (float)(rings + 1),
                  turn = 6.2831853f * (float)s / (float)segments;
            float at[3] = {radius * sinf(polar) * cosf(turn), radius * cosf(polar),
                           radius * sinf(polar) * sinf(turn)};
            memcpy(b->points[b->count++], at, sizeof at);
        }
    memcpy(b->points[b->count++], (float[3]){0, radius, 0}, sizeof b->points[0]);
    memcpy(b->points[b->count++], (float[3]){0, -radius, 0}, sizeof b->points[0]);
    for (uint32_t s = 0; s < segments; s++) {
        uint32_t n = (s + 1) % segments;
        memcpy(t[b->faces++], (uint32_t[3]){top, n, s}, sizeof t[0]);
        memcpy(t[b->faces++], (uint32_t[3]){top + 1, last + s, last + n}, sizeof t[0]);
        for (uint32_t r = 0; r + 1 < rings; r++) {
            uint32_t p = r * segments + s, q = r * segments + n;
            memcpy(t[b->faces++], (uint32_t[3]){p, q, p + segments}, sizeof t[0]);
            memcpy(t[b->faces++], (uint32_t[3]){q, q + segments, p + segments}, sizeof t[0]);
        }
    }
}

static sac_soft_shape *shape_of(const sac_soft_shape_def *def)
{
    sac_soft_shape *shape = NULL;
    sac_error error = {0};
    if (sac_soft_shape_create(def, &shape, &error) != SAC_OK) print_error("    %s\n", error.message);
    assert_non_null(shape);
    return shape;
}

static sac_soft_shape *make_shape(float radius, uint32_t clusters, float settle)
{
    static ball b;
    make_ball(&b, RINGS, SEGMENTS, radius);
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.points = (const float(*)[3])b.points, def.point_count = b.count;
    def.triangles = (const uint32_t(*)[3])b.triangles, def.triangle_count = b.faces;
    def.soft.clusters = clusters, def.soft.settle_time = settle, def.soft.beta = 0.4f;
    return shape_of(&def);
}

/* Few points, and a fine surface that follows them. */
static sac_soft_shape *make_figure(float radius)
{
    static ball few, many;
    make_ball(&few, 6, 8, 0.9f * radius);
    make_ball(&many, MOST_RINGS, MOST_SEGMENTS, radius);
    sac_meshless_surface surface = {.vertices = (const float(*)[3])many.points,
                                    .vertex_count = many.count,
                                    .triangles = (const uint32_t(*)[3])many.triangles,
                                    .triangle_count = many.faces};
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.points = (const float(*)[3])few.points, def.point_count = few.count;
    def.surface = &surface;
    def.soft.settle_time = 0.02f, def.soft.beta = 0.3f;
    return shape_of(&def);
}

static sac_shape_id add_soft(sac_world *world, const sac_soft_shape *shape)
{
    sac_form form;
    assert_int_equal(sac_form_from_soft(&form, shape, NULL), SAC_OK);
    return play_shape(world, &form);
}

static sac_body_id make(sac_world *world, sac_shape_id shape, float x, float y, float z)
{
    return play_body(world, shape, SAC_BODY_DYNAMIC, x, y, z);
}

static sac_step_report step(sac_world *world, uint64_t budget)
{
    sac_step_report report = play_step(world, budget);
    assert_int_equal(report.not_finite, 0);
    return report;
}

static float lowest(const sac_world *world, sac_body_id body)
{
    sac_soft_points p = sac_soft_view(sac_body_soft(world, body));
    float low = p.y[0];
    for (uint32_t i = 1; i < p.count; i++) low = p.y[i] < low ? p.y[i] : low;
    return low;
}

/* Falls, lies, comes to rest on the floor and sleeps; nothing hangs in the air or sinks. */
static void lies_on_the_floor(void **state)
{
    (void)state;
    for (uint32_t clusters = 1; clusters <= 4; clusters += 3) {
        sac_soft_shape *shape = make_shape(0.3f, clusters, 0.02f);
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_body_id body = make(world, add_soft(world, shape), 0, 1, 0);
        bool begun = false, hit = false;
        double start = sac_world_energy(world);
        for (int i = 0; i < 900; i++) {
            sac_step_report report = step(world, 0);
            CHECK(report.soft_contacts == 0 || report.refits > 0);
            const sac_contact_event *events;
            uint32_t n = sac_world_contact_events(world, &events);
            for (uint32_t k = 0; k < n; k++)
                begun |= events[k].kind == SAC_CONTACT_BEGIN, hit |= events[k].kind == SAC_CONTACT_HIT;
            CHECK_SAY(lowest(world, body) > -0.05f, "step %d: lowest at %g\n", i,
                      (double)lowest(world, body));
            CHECK_SAY(sac_world_energy(world) < start + 2, "step %d: energy %g of %g\n", i,
                      sac_world_energy(world), start);
        }
        CHECK(begun && hit);
        float low = lowest(world, body);
        sac_body_state s = play_state(world, body);
        CHECK_SAY(low > -0.02f && low < 0.03f, "lowest at %g\n", (double)low);
        CHECK_SAY(s.centre[1] > 0.2f && s.centre[1] < 0.36f, "centre at %g\n", (double)s.centre[1]);
        CHECK_SAY(!s.awake, "still awake at %g m/s\n", (double)fabsf(s.velocity[1]));
        sac_world_destroy(&world);
        sac_soft_shape_destroy(&shape);
    }
}

static void stacks(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.3f, 1, 0.02f);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id soft = add_soft(world, shape), box = play_box(world, 0.25f, 0.05f, 0.25f);
    sac_body_id low = make(world, soft, 0, 0.32f, 0);
    sac_body_def plate = sac_default_body_def();
    plate.shape = box, plate.mass = 2, plate.position[1] = 0.75f;
    sac_body_id middle;
    assert_int_equal(sac_body_create(world, &plate, &middle, NULL), SAC_OK);
    for (int i = 0; i < 450; i++) step(world, 0);
    sac_body_state a = play_state(world, low), b = play_state(world, middle);
    CHECK_SAY(b.centre[1] > a.centre[1] + 0.2f && b.centre[1] < 0.8f, "plate at %g over %g\n",
              (double)b.centre[1], (double)a.centre[1]);
    CHECK_SAY(lowest(world, low) > -0.02f, "lowest at %g\n", (double)lowest(world, low));
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

static void is_pushed_pinned_and_held(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 1, 0.02f);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_shape_id soft = add_soft(world, shape);
    sac_body_id body = make(world, soft, 0, 0, 0), hung = make(world, soft, 2, 0, 0),
                held = make(world, soft, 4, 0, 0);
    float mass = play_state(world, body).mass;
    assert_int_equal(sac_body_push(world, body, (float[3]){mass * 3, 0, 0}, NULL, NULL), SAC_OK);
    CHECK_SAY(fabsf(play_state(world, body).velocity[0] - 3) < 1e-3f, "%g m/s\n",
              (double)play_state(world, body).velocity[0]);
    assert_int_equal(sac_body_push(world, body, (float[3]){0, mass, 0}, (float[3]){0.2f, 0, 0}, NULL),
                     SAC_OK);
    CHECK_SAY(fabsf(play_state(world, body).velocity[1] - 1) < 1e-3f, "%g m/s\n",
              (double)play_state(world, body).velocity[1]);
    /* One point cannot carry all others without being drawn far from them: a cap of them. */
    sac_soft_points top = sac_soft_view(sac_body_soft(world, hung));
    for (uint32_t i = 0; i < BALL; i++) {
        const uint32_t lies = top.place[i];
        const float at[3] = {top.x[lies], top.y[lies], top.z[lies]};
        if (at[1] > 0.15f) assert_int_equal(sac_body_pin(world, hung, i, at, NULL), SAC_OK);
    }
    assert_int_equal(sac_body_pin(world, hung, BALL, (float[3]){0}, NULL), SAC_ERROR_ARGUMENT);
    sac_grab_def grab = sac_default_grab_def();
    grab.body = held;
    memcpy(grab.anchor, (float[3]){4, 0.2f, 0}, sizeof grab.anchor);
    memcpy(grab.target, (float[3]){4, 0.3f, 0}, sizeof grab.target);
    sac_grab_id hand;
    assert_int_equal(sac_grab_create(world, &grab, &hand, NULL), SAC_OK);
    for (int i = 0; i < 180; i++) step(world, 0);
    sac_soft_points p = sac_soft_view(sac_body_soft(world, hung));
    const float pinned = p.y[p.place[BALL - 2]];
    CHECK_SAY(fabsf(pinned - 0.2f) < 1e-4f, "pinned at %g\n", (double)pinned);
    CHECK(play_state(world, hung).centre[1] > -0.6f);
    CHECK_SAY(play_state(world, held).centre[1] > -0.4f, "held at %g\n",
              (double)play_state(world, held).centre[1]);
    sac_grab_state g;
    assert_int_equal(sac_grab_get(world, hand, &g, NULL), SAC_OK);
    CHECK_SAY(fabsf(g.force - 9.81f * mass) < 3 * mass, "%g N for %g\n", (double)g.force,
              (double)(9.81f * mass));
    /* Torn away too far the hand lets go. */
    assert_int_equal(sac_grab_move(world, hand, (float[3]){4, 1e6f, 0}, play_upright, NULL), SAC_OK);
    step(world, 0);
    assert_int_equal(sac_grab_get(world, hand, &g, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_body_unpin(world, hung, BALL - 2, NULL), SAC_OK);
    assert_int_equal(sac_body_set_pose(world, hung, (float[3]){0, 5, 0}, play_upright, NULL), SAC_OK);
    CHECK(fabsf(play_state(world, hung).centre[1] - 5) < 1e-3f);
    assert_int_equal(sac_body_set_kind(world, hung, SAC_BODY_STATIC, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_body_destroy(world, hung, NULL), SAC_OK);
    assert_null(sac_body_soft(world, hung));
    sac_world_hit seen;
    sac_body_state at = play_state(world, body);
    assert_int_equal(sac_world_ray(world, (float[3]){at.centre[0], at.centre[1] + 3, at.centre[2]},
                                   (float[3]){0, -1, 0}, 10, UINT32_MAX, &seen, NULL),
                     SAC_OK);
    CHECK_SAY(seen.body.value == body.value && seen.t > 2 && seen.t < 3, "t %g of body %llu\n",
              (double)seen.t, (unsigned long long)seen.body.value);
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

static sac_world *make_world(uint32_t threads)
{
    sac_world_def def = play_def();
    def.tasks.threads = threads;
    return play_create(&def);
}

/* A crowd, soft and rigid. */
static void fill_crowd(sac_world *world, const sac_soft_shape *shape, uint32_t count)
{
    play_floor(world);
    sac_shape_id soft = add_soft(world, shape), round = play_ball(world, 0.2f);
    sac_rng rng = sac_rng_seed(5);
    for (uint32_t i = 0; i < count; i++)
        make(world, i % 3 == 2 ? round : soft, 0.5f * (float)(i % 3) + sac_rng_range(&rng, -0.05f, 0.05f),
             0.4f + 0.5f * (float)(i / 9), 0.5f * (float)(i / 3 % 3));
}

/* Threads change nothing; a recording plays back bit for bit, wherever the clock stopped it. */
static void the_same_again(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 2, 0.03f);
    uint64_t hashes[2];
    char path[] = "/tmp/saccade-soft-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        sac_world *world = make_world(threads);
        if (threads == 2) assert_int_equal(sac_record_start(world, path, NULL), SAC_OK);
        fill_crowd(world, shape, 18);
        for (int i = 0; i < 90; i++) step(world, i % 3 ? 150000 : 0);
        hashes[threads - 1] = sac_world_hash(world);
        if (threads == 2) assert_int_equal(sac_record_stop(world, NULL), SAC_OK);
        sac_world_destroy(&world);
    }
    assert_int_equal(hashes[0], hashes[1]);
    sac_replay *replay;
    sac_replay_frame frame;
    sac_error error = {0};
    uint32_t frames = 0;
    if (sac_replay_open(path, 1, &replay, &error) != SAC_OK) print_error("    %s\n", error.message);
    assert_non_null(replay);
    while (sac_replay_step(replay, &frame, &error) == SAC_OK && !frame.end) {
        CHECK_SAY(frame.same, "frame %u differs\n", frames);
        frames++;
    }
    assert_int_equal(frames, 90);
    sac_replay_close(&replay);
    unlink(path);
    sac_soft_shape_destroy(&shape);
}

/* However little time: nobody is lost, nothing explodes, and the shapes are given up before the bodies. */
static void lives_with_little_time(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 2, 0.03f);
    const uint64_t budgets[] = {1000, 30000, 100000, 300000};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        sac_world *world = make_world(1);
        fill_crowd(world, shape, 60);
        uint64_t shapes = 0, waits = 0;
        for (int i = 0; i < 300; i++) {
            sac_step_report r = step(world, budgets[b]);
            shapes += r.rungs[SAC_RUNG_SHAPES], waits += r.rungs[SAC_RUNG_BODIES];
        }
        sac_body_id bodies[64];
        uint32_t count = sac_world_bodies(world, bodies, 64);
        assert_int_equal(count, 61);
        for (uint32_t i = 0; i < count; i++) {
            sac_body_state s = play_state(world, bodies[i]);
            if (s.kind == SAC_BODY_STATIC) continue;
            CHECK_SAY(s.centre[1] > -0.1f && s.centre[1] < 12 && fabsf(s.centre[0]) < 30,
                      "body %u at %g %g %g\n", i, (double)s.centre[0], (double)s.centre[1],
                      (double)s.centre[2]);
        }
        if (b == 0) CHECK(shapes + waits > 0);
        sac_world_destroy(&world);
    }
    sac_soft_shape_destroy(&shape);
}

/* Many that only fall cost as much as they have points, and the first frame knows it before any was seen. */
static void the_first_frame_fits(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 2, 0.03f);
    sac_world *world = make_world(1);
    sac_shape_id soft = add_soft(world, shape);
    enum { COUNT = 100 };
    sac_body_id body = {0};
    for (int i = 0; i < COUNT; i++) body = make(world, soft, (float)(i % 10), 20 + (float)(i / 10), 0);
    const uint64_t points = (uint64_t)COUNT * sac_soft_view(sac_body_soft(world, body)).count;
    const uint64_t budget = 5 * points; /* falling takes four */
    for (int i = 0; i < 3; i++) {
        sac_step_report r = step(world, budget);
        CHECK_SAY(r.spent_ns <= budget + budget / 20, "frame %d: %llu of %llu\n", i + 1,
                  (unsigned long long)r.spent_ns, (unsigned long long)budget);
        CHECK(r.simulated < COUNT);
    }
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

static void nothing_is_allocated(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 2, 0.03f);
    sac_world *world = make_world(1);
    fill_crowd(world, shape, 30);
    for (int i = 0; i < 400; i++) {
        sac_step_report r = step(world, 0);
        if (i > 300) assert_int_equal(r.allocations, 0);
    }
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

/* What is met is the surface, and its hierarchy is asked only where it is met. */
static void a_surface_is_met(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_figure(0.3f);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id soft = add_soft(world, shape);
    sac_body_id low = make(world, soft, 0, 0.5f, 0), high = make(world, soft, 0.1f, 1.4f, 0.05f);
    uint64_t refits = 0;
    uint32_t contacts = 0;
    for (int i = 0; i < 360; i++) {
        sac_step_report r = step(world, i % 2 ? 300000 : 0);
        refits += r.refits, contacts += r.soft_contacts;
        CHECK(lowest(world, low) > -0.1f && lowest(world, high) > -0.1f);
    }
    sac_body_state a = play_state(world, low), b = play_state(world, high);
    CHECK_SAY(a.centre[1] > 0.15f && b.centre[1] > 0.15f, "at %g and %g\n", (double)a.centre[1],
              (double)b.centre[1]);
    CHECK_SAY(play_distance(a.centre, b.centre) > 0.35f, "%g apart\n",
              (double)play_distance(a.centre, b.centre));
    CHECK(contacts > 100 && refits > 0);
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

/* Memory as it may come: here nothing is 0 by chance. */
static void *allocate_dirty(size_t size, size_t alignment, void *user)
{
    void *memory = NULL;
    (void)user;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size)) return NULL;
    return memset(memory, 0xff, size);
}

static void release_dirty(void *memory, size_t size, void *user)
{
    (void)size, (void)user;
    free(memory);
}

/* What moves in a frame farther than a thing is thick may come through it, and is swept. A soft body is not:
 * most of its spheres are those of another frame, or nobody has ever asked for them. */
static void nobody_sweeps_it(void **state)
{
    (void)state;
    sac_set_allocator(&(sac_allocator){allocate_dirty, release_dirty, NULL});
    sac_soft_shape *shape = make_shape(0.3f, 2, 0.02f);
    sac_world *world = make_world(1);
    play_body(world, play_box(world, 1, 0.005f, 1), SAC_BODY_STATIC, 0, 0, 0);
    sac_body_id body = make(world, add_soft(world, shape), 0, 1, 0);
    for (int i = 0; i < 60; i++) {
        sac_step_report r = step(world, 0);
        assert_int_equal(r.fast, 0);
        CHECK(isfinite(play_state(world, body).centre[1]));
    }
    CHECK(play_state(world, body).centre[1] < 0.5f);
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
    sac_set_allocator(NULL);
}

static void wrong_definitions(void **state)
{
    (void)state;
    sac_soft_shape *shape = make_shape(0.2f, 1, 0.03f);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_body_def body = sac_default_body_def();
    sac_body_id id;
    body.shape = add_soft(world, shape);
    body.kind = SAC_BODY_STATIC;
    assert_int_equal(sac_body_create(world, &body, &id, NULL), SAC_ERROR_ARGUMENT);
    body.kind = SAC_BODY_DYNAMIC, body.scale = 2;
    assert_int_equal(sac_body_create(world, &body, &id, NULL), SAC_ERROR_ARGUMENT);
    body.scale = 1;
    assert_int_equal(sac_body_create(world, &body, &id, NULL), SAC_OK);
    assert_int_equal(sac_body_pin(world, id, 0, (float[3]){NAN, 0, 0}, NULL), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_body_pin(world, id, 0, (float[3]){1e30f, 0, 0}, NULL), SAC_OK);
    for (int i = 0; i < 50; i++) step(world, 0); /* a pin at the end of the world: finite */
    sac_world_destroy(&world);
    sac_soft_shape_destroy(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_on_the_floor),         cmocka_unit_test(stacks),
        cmocka_unit_test(is_pushed_pinned_and_held), cmocka_unit_test(the_same_again),
        cmocka_unit_test(lives_with_little_time),    cmocka_unit_test(the_first_frame_fits),
        cmocka_unit_test(nothing_is_allocated),      cmocka_unit_test(a_surface_is_met),
        cmocka_unit_test(nobody_sweeps_it),          cmocka_unit_test(wrong_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
