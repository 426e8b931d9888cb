/* What flies by itself goes on whether there is time for it or not, as it would in its turns, and still meets
 * what is in its way: crowds that have time for few turns, counted in credits. */
#include "tests/world_play.h"

enum { SIDE = 15, COUNT = SIDE * SIDE * SIDE };

/* With room for no more than there will be: what a frame writes down beside them is found out by a sanitizer.
 */
static sac_world *create(uint32_t bodies)
{
    sac_world_def def = play_def();
    def.bodies = bodies;
    return play_create(&def);
}

/* Rings side by side, a few centimetres apart, any way round. */
static void hang(sac_world *world, sac_shape_id ring, float height, sac_body_id ids[COUNT])
{
    sac_rng rng = sac_rng_seed(5);
    for (int i = 0; i < COUNT; i++) {
        sac_body_def def =
            play_body_def(ring, SAC_BODY_DYNAMIC, 0.85f * (float)(i % SIDE),
                          height + 0.85f * (float)(i / SIDE % SIDE), 0.85f * (float)(i / SIDE / SIDE));
        for (int k = 0; k < 3; k++) def.position[k] += sac_rng_range(&rng, -0.01f, 0.01f);
        play_turn_randomly(&rng, def.rotation);
        def.mass = 1;
        ids[i] = play_make(world, &def);
    }
}

static void test_crowds_fall_freely(void **state)
{
    (void)state;
    enum { FRAMES = 50 };
    const uint64_t short_ns = 1000000;
    static sac_body_id ids[COUNT], alike[COUNT];
    sac_tree *tree = play_torus(12, 0.3f, 0.1f);
    sac_world *world = create(COUNT), *free = create(COUNT);
    hang(world, play_tree(world, tree), 100, ids);
    hang(free, play_tree(free, tree), 100, alike);
    uint64_t waited = 0, held = 0, most = 0;
    for (int i = 0; i < FRAMES; i++) {
        sac_step_report report = play_step(world, short_ns);
        waited += report.rungs[SAC_RUNG_BODIES];
        held += report.rungs[SAC_RUNG_HELD];
        most = report.spent_ns > most ? report.spent_ns : most;
        play_step(free, 0);
    }
    print_message("%u of %d without a turn, %u times held, %u ns at most\n", (unsigned)(waited / FRAMES),
                  COUNT, (unsigned)held, (unsigned)most);
    CHECK(waited > COUNT / 2 * FRAMES); /* else this test says nothing */
    CHECK(held == 0);
    CHECK(most <= short_ns);
    for (int i = 0; i < COUNT; i++) {
        sac_body_state a = play_state(world, ids[i]), b = play_state(free, alike[i]);
        CHECK_SAY(play_distance(a.centre, b.centre) < 0.01f && play_distance(a.velocity, b.velocity) < 1e-3f,
                  "body %d is %g m and %g m/s from where it should be\n", i,
                  (double)play_distance(a.centre, b.centre), (double)play_distance(a.velocity, b.velocity));
    }
    sac_world_destroy(&world);
    sac_world_destroy(&free);
    sac_tree_destroy(&tree);
}

/* Thrown up, each at another speed and aslant: they turn where they should and pass no ceiling. */
static void test_thrown_up(void **state)
{
    (void)state;
    enum { LOT = 900, WIDE = 30 };
    const float radius = 0.1f, ceiling = 6;
    static sac_body_id ids[LOT];
    static float top[LOT];
    sac_world *world = create(LOT + 1);
    sac_shape_id ball = play_ball(world, radius);
    float half = 0.5f * WIDE;
    play_body(world, play_box(world, half, 0.05f, half), SAC_BODY_STATIC, 0.5f * half, ceiling + 0.05f, half);
    for (int i = 0; i < LOT; i++) {
        sac_body_def def =
            play_body_def(ball, SAC_BODY_DYNAMIC, 0.5f * (float)(i % WIDE), 1, 0.7f * (float)(i / WIDE));
        def.velocity[1] = 5 + 0.01f * (float)i, def.velocity[0] = 0.3f;
        top[i] = def.position[1] + def.velocity[1] * def.velocity[1] / (2 * 9.81f);
        ids[i] = play_make(world, &def);
    }
    static float highest[LOT];
    uint64_t waited = 0;
    for (int f = 0; f < 90; f++) {
        waited += play_step(world, 200000).rungs[SAC_RUNG_BODIES];
        for (int i = 0; i < LOT; i++) highest[i] = fmaxf(highest[i], play_state(world, ids[i]).centre[1]);
    }
    CHECK(waited > LOT / 2 * 60);
    for (int i = 0; i < LOT; i++) {
        bool free = top[i] < ceiling - 2 * radius;
        CHECK_SAY(highest[i] < ceiling - radius + 0.02f && (!free || fabsf(highest[i] - top[i]) < 0.1f),
                  "ball %d came to %g m, not %g\n", i, (double)highest[i], (double)top[i]);
    }
    sac_world_destroy(&world);
}

/* One layer falls on another that comes up: nobody passes through anybody. */
static void test_layers_meet(void **state)
{
    (void)state;
    enum { WIDE = 24, LOT = WIDE * WIDE };
    static sac_body_id upper[LOT], lower[LOT];
    const float radius = 0.2f;
    for (int pass = 0; pass < 4; pass++) {
        const uint64_t budgets[] = {0, 500000, 150000, 60000};
        sac_world *world = create(2 * LOT);
        sac_shape_id ball = play_ball(world, radius);
        for (int i = 0; i < LOT; i++) {
            float x = 0.45f * (float)(i % WIDE), z = 0.45f * (float)(i / WIDE);
            sac_body_def def = play_body_def(ball, SAC_BODY_DYNAMIC, x, 3, z);
            def.velocity[1] = -4;
            upper[i] = play_make(world, &def);
            def.position[1] = 0, def.velocity[1] = 4;
            lower[i] = play_make(world, &def);
        }
        float deepest = 0;
        uint64_t waited = 0;
        for (int f = 0; f < 90; f++) {
            waited += play_step(world, budgets[pass]).rungs[SAC_RUNG_BODIES];
            for (int i = 0; i < LOT; i++) {
                sac_body_state a = play_state(world, upper[i]), b = play_state(world, lower[i]);
                deepest = fmaxf(deepest, 2 * radius - play_distance(a.centre, b.centre));
                CHECK_SAY(a.centre[1] > b.centre[1], "budget %u, frame %d: pair %d passed\n",
                          (unsigned)budgets[pass], f, i);
            }
        }
        print_message("%u ns: %u of %d without a turn, %.1f mm into each other at most\n",
                      (unsigned)budgets[pass], (unsigned)(waited / 90), 2 * LOT, 1000.0 * (double)deepest);
        CHECK(deepest < 0.25f * radius);
        CHECK(budgets[pass] ? waited > LOT * 30 : waited == 0);
        sac_world_destroy(&world);
    }
}

/* From all sides at once, with time for a part of the boxes: nobody is lost, and few get far into each other.
 */
static void test_all_meet_at_once(void **state)
{
    (void)state;
    enum { WIDE = 9, LOT = WIDE * WIDE * WIDE };
    static sac_body_id ids[LOT];
    const float radius = 0.35f;
    const uint64_t budgets[] = {700000, 400000, 200000, 100000};
    for (int pass = 0; pass < 4; pass++) {
        sac_world *world = create(LOT);
        const float none[3] = {0, 0, 0};
        assert_int_equal(sac_world_set_gravity(world, none, NULL), SAC_OK);
        sac_shape_id ball = play_ball(world, radius);
        for (int i = 0; i < LOT; i++) {
            const int at[3] = {i % WIDE - WIDE / 2, i / WIDE % WIDE - WIDE / 2, i / WIDE / WIDE - WIDE / 2};
            sac_body_def def =
                play_body_def(ball, SAC_BODY_DYNAMIC, (float)at[0], (float)at[1], (float)at[2]);
            for (int k = 0; k < 3; k++) def.velocity[k] = -3 * (float)at[k];
            ids[i] = play_make(world, &def);
        }
        uint64_t waited = 0;
        for (int f = 0; f < 120; f++) waited += play_step(world, budgets[pass]).rungs[SAC_RUNG_BODIES];
        CHECK(waited > 0);
        double deep = 0;
        uint32_t pairs = 0;
        for (int i = 0; i < LOT; i++)
            for (int j = i + 1; j < LOT; j++) {
                sac_body_state a = play_state(world, ids[i]), b = play_state(world, ids[j]);
                float into = 2 * radius - play_distance(a.centre, b.centre);
                if (into > 0) deep += (double)into, pairs++;
            }
        print_message("%u ns: %.1f mm into each other, the mean of %u pairs\n", (unsigned)budgets[pass],
                      pairs ? 1000 * deep / pairs : 0, pairs);
        CHECK(pairs == 0 || deep / pairs < 0.05 * (double)radius);
        sac_world_destroy(&world);
    }
}

/* A core that is taken away: the clock jumps ahead when it has been read so often. */
typedef struct lurching {
    uint64_t now;
    uint32_t reads, lurch_at;
} lurching;

static uint64_t lurching_now(void *user)
{
    lurching *clock = user;
    clock->now += clock->reads++ == clock->lurch_at ? 50000000 : 60;
    return clock->now;
}

/* Neighbours that nearly touch are pushed between two frames, and time is up in the middle of their boxes:
 * those that stop beside those that have a turn once went beyond the world's room. */
static void test_time_is_up_among_boxes(void **state)
{
    (void)state;
    enum { WIDE = 32, LOT = WIDE * WIDE, ROUNDS = 400 }; /* the world's room is a power of two */
    static sac_body_id ids[LOT];
    lurching clock = {.now = 1000000000};
    sac_world_def def = play_def();
    def.bodies = LOT;
    def.clock = sac_clock_caller(lurching_now, &clock);
    sac_world *world = play_create(&def);
    sac_rng rng = sac_rng_seed(3);
    sac_shape_id ball = play_ball(world, 0.2f);
    uint64_t unplaced = 0;
    for (int i = 0; i < LOT; i++)
        ids[i] = play_body(world, ball, SAC_BODY_DYNAMIC, 0.41f * (float)(i % WIDE), 100,
                           0.41f * (float)(i / WIDE));
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < 2; f++) play_step(world, 500000000);
        for (int i = 0; i < LOT; i++) {
            float v[3];
            for (int k = 0; k < 3; k++) v[k] = sac_rng_range(&rng, -4, 4);
            assert_int_equal(sac_body_set_velocity(world, ids[i], v, play_still, NULL), SAC_OK);
        }
        clock.reads = 0, clock.lurch_at = 1 + sac_rng_below(&rng, 40);
        unplaced += play_step(world, 2000 + sac_rng_below(&rng, 400000)).rungs[SAC_RUNG_BOUNDS];
        clock.lurch_at = UINT32_MAX;
    }
    print_message("%u times without a box\n", (unsigned)unplaced);
    CHECK(unplaced > LOT);
    for (int i = 0; i < LOT; i++) {
        sac_body_state s = play_state(world, ids[i]);
        CHECK(play_finite(&s));
    }
    sac_world_destroy(&world);
}

/* Damping and the limit of speed hold for those that have no turn. */
static void test_held_back_alike(void **state)
{
    (void)state;
    enum { LOT = 1000, FRAMES = 120 };
    static sac_body_id ids[LOT];
    sac_world *world = create(LOT);
    sac_shape_id ball = play_ball(world, 0.1f);
    for (int i = 0; i < LOT; i++) {
        sac_body_def def = play_body_def(ball, SAC_BODY_DYNAMIC, (float)(i % 32), 100, (float)(i / 32));
        if (i % 2)
            def.linear_damping = 2;
        else
            def.most_speed = 5;
        def.spin[1] = 3, def.angular_damping = 1;
        ids[i] = play_make(world, &def);
    }
    uint64_t waited = 0;
    for (int f = 0; f < FRAMES; f++) waited += play_step(world, 200000).rungs[SAC_RUNG_BODIES];
    CHECK(waited > LOT / 2 * FRAMES);
    float t = FRAMES / 90.0f, expected = 9.81f / 2 * (1 - expf(-2 * t));
    for (int i = 0; i < LOT; i++) {
        sac_body_state s = play_state(world, ids[i]);
        float should = i % 2 ? expected : 5;
        CHECK_SAY(fabsf(play_speed(&s) - should) < 0.03f * should &&
                      fabsf(s.spin[1] - 3 * expf(-t)) < 0.03f * 3 * expf(-t),
                  "ball %d has %g m/s, not %g, and %g rad/s\n", i, (double)play_speed(&s), (double)should,
                  (double)s.spin[1]);
    }
    sac_world_destroy(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crowds_fall_freely),
        cmocka_unit_test(test_thrown_up),
        cmocka_unit_test(test_layers_meet),
        cmocka_unit_test(test_all_meet_at_once),
        cmocka_unit_test(test_time_is_up_among_boxes),
        cmocka_unit_test(test_held_back_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
