/* Stacks of sphere-tree boxes stand, come to rest, sleep, wake together and sleep again. */
#include "tests/world_play.h"

static const float HALF = 0.1f;

typedef struct setting {
    const char *policy;
    uint64_t budget_ns;
} setting;

static const setting settings[] = {{"exhaustive", 0}, {"jnd", 0}, {"jnd", 1000000}};

static sac_world *stack_world(const setting *s, uint32_t bodies)
{
    sac_world_def def = play_def();
    def.policy = s->policy;
    def.bodies = bodies;
    sac_world *world = play_create(&def);
    play_floor(world);
    return world;
}

static void test_ten_high(void **state)
{
    (void)state;
    enum { HIGH = 10 };
    sac_tree *cube = play_sphere_box(HALF, 4);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        sac_world *world = stack_world(&settings[k], 64);
        sac_shape_id shape = play_tree(world, cube);
        sac_body_id ids[HIGH];
        for (int i = 0; i < HIGH; i++)
            ids[i] = play_body(world, shape, SAC_BODY_DYNAMIC, 0, HALF + 2 * HALF * (float)i, 0);
        int frames = play_until_asleep(world, 900, settings[k].budget_ns);
        CHECK_SAY(frames < 900, "%s, %u ns: the stack is awake after 900 frames\n", settings[k].policy,
                  (unsigned)settings[k].budget_ns);
        for (int i = 0; i < HIGH; i++) {
            sac_body_state s = play_state(world, ids[i]);
            float sunk = HALF + 2 * HALF * (float)i - s.centre[1];
            /* Each contact gives a millimetre or so. */
            CHECK_SAY(sunk > -0.002f && sunk < 0.0015f * (float)(i + 1), "%s: box %d sank %g m\n",
                      settings[k].policy, i, (double)sunk);
            CHECK(fabsf(s.centre[0]) < 0.02f && fabsf(s.centre[2]) < 0.02f);
        }
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&cube);
}

static void test_pyramid(void **state)
{
    (void)state;
    enum { ROWS = 15, BODIES = ROWS * (ROWS + 1) / 2 };
    sac_tree *cube = play_sphere_box(HALF, 4);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        sac_world *world = stack_world(&settings[k], 256);
        sac_shape_id shape = play_tree(world, cube);
        sac_body_id ids[BODIES];
        float want[BODIES][2];
        uint32_t n = 0;
        for (int row = 0; row < ROWS; row++)
            for (int i = 0; i < ROWS - row; i++, n++) {
                want[n][0] = 2.1f * HALF * ((float)i - 0.5f * (float)(ROWS - row - 1));
                want[n][1] = HALF + 2 * HALF * (float)row;
                ids[n] = play_body(world, shape, SAC_BODY_DYNAMIC, want[n][0], want[n][1], 0);
            }
        int frames = play_until_asleep(world, 300, settings[k].budget_ns);
        float worst = 0, aside = 0;
        for (uint32_t i = 0; i < n; i++) {
            sac_body_state s = play_state(world, ids[i]);
            worst = fmaxf(worst, fabsf(s.centre[1] - want[i][1]));
            aside = fmaxf(aside, fmaxf(fabsf(s.centre[0] - want[i][0]), fabsf(s.centre[2])));
        }
        CHECK_SAY(frames < 300, "%s, %u ns: the pyramid is awake after 300 frames; %g m off, %g aside\n",
                  settings[k].policy, (unsigned)settings[k].budget_ns, (double)worst, (double)aside);
        /* Also when nobody looks: what rocks is looked at when time is left, or upper boxes would wander by
         * what nobody sees until they are half a box off. */
        CHECK_SAY(worst < 0.03f && aside < 0.02f, "%s, %u ns: %g m off in height, %g m aside\n",
                  settings[k].policy, (unsigned)settings[k].budget_ns, (double)worst, (double)aside);
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&cube);
}

static uint32_t awake_of(const sac_world *world, const sac_body_id *ids, uint32_t count)
{
    uint32_t awake = 0;
    for (uint32_t i = 0; i < count; i++) awake += play_state(world, ids[i]).awake;
    return awake;
}

static void test_island_wakes_as_a_whole(void **state)
{
    (void)state;
    enum { HIGH = 6 };
    sac_tree *cube = play_sphere_box(HALF, 3);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        sac_world *world = stack_world(&settings[k], 64);
        sac_shape_id shape = play_tree(world, cube);
        sac_body_id near[HIGH], far[HIGH];
        for (int i = 0; i < HIGH; i++) {
            near[i] = play_body(world, shape, SAC_BODY_DYNAMIC, 0, HALF + 2 * HALF * (float)i, 0);
            far[i] = play_body(world, shape, SAC_BODY_DYNAMIC, 3, HALF + 2 * HALF * (float)i, 0);
        }
        CHECK(play_until_asleep(world, 600, settings[k].budget_ns) < 600);
        /* A pebble on the top of one: all of its stack wakes in one frame, none of the other. */
        sac_body_def body = play_body_def(play_ball(world, 0.03f), SAC_BODY_DYNAMIC, 0.02f,
                                          2 * HALF * (float)HIGH + 0.3f, 0.01f);
        body.material.rolling = 0.02f;
        sac_body_id pebble = play_make(world, &body);
        bool woke = false;
        for (int f = 0; f < 90 && !woke; f++) {
            play_step(world, settings[k].budget_ns);
            uint32_t awake = awake_of(world, near, HIGH);
            CHECK_SAY(awake == 0 || awake == HIGH, "%u of %d wake\n", awake, HIGH);
            woke = awake > 0;
            CHECK(awake_of(world, far, HIGH) == 0);
        }
        CHECK(woke && play_state(world, pebble).awake);
        int frames = play_until_asleep(world, 600, settings[k].budget_ns);
        CHECK_SAY(frames < 600, "%s, %u ns: does not sleep again\n", settings[k].policy,
                  (unsigned)settings[k].budget_ns);
        CHECK(play_state(world, near[HIGH - 1]).centre[1] > 2 * HALF * (float)HIGH - 1.1f * HALF);
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&cube);
}

static void test_mixed_pile_sleeps(void **state)
{
    (void)state;
    enum { BODIES = 60 };
    sac_tree *cube = play_sphere_box(HALF, 3), *ring = play_torus(16, 0.15f, 0.06f);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        sac_world_def def = play_def();
        def.policy = settings[k].policy;
        sac_world *world = play_create(&def);
        play_pen(world, 1.2f, 2);
        sac_shape_id shapes[] = {play_tree(world, cube), play_tree(world, ring), play_ball(world, 0.1f),
                                 play_capsule(world, 0.06f, 0.1f), play_box(world, 0.1f, 0.06f, 0.14f)};
        sac_rng rng = sac_rng_seed(17);
        sac_body_id ids[BODIES];
        for (int i = 0; i < BODIES; i++) {
            sac_body_def body = play_body_def(shapes[i % 5], SAC_BODY_DYNAMIC, 0.3f * (float)(i % 3) - 0.3f,
                                              0.3f + 0.3f * (float)(i / 9), 0.3f * (float)(i / 3 % 3) - 0.3f);
            for (int a = 0; a < 3; a++) body.position[a] += sac_rng_range(&rng, -0.02f, 0.02f);
            body.material.rolling = 0.01f;
            play_turn_randomly(&rng, body.rotation);
            ids[i] = play_make(world, &body);
        }
        int frames = play_until_asleep(world, 1500, settings[k].budget_ns);
        CHECK_SAY(frames < 1500, "%s, %u ns: %u of %d still awake\n", settings[k].policy,
                  (unsigned)settings[k].budget_ns, awake_of(world, ids, BODIES), BODIES);
        for (int i = 0; i < BODIES; i++) {
            sac_body_state s = play_state(world, ids[i]);
            CHECK(s.centre[1] > 0.02f && fabsf(s.centre[0]) < 0.6f && fabsf(s.centre[2]) < 0.6f);
        }
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&cube);
    sac_tree_destroy(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ten_high), cmocka_unit_test(test_pyramid),
                                       cmocka_unit_test(test_island_wakes_as_a_whole),
                                       cmocka_unit_test(test_mixed_pile_sleeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
