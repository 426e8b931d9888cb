/* Bodies that are changed while the world runs: kinds, limits, support, sleep. */
#include "tests/world_play.h"

static void test_kinds_on_the_fly(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_body_id box = play_body(world, play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_STATIC, 0, 0.5f, 0);
    sac_body_id top = play_body(world, play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 0.71f, 0);
    play_frames(world, 120);
    CHECK(play_state(world, box).centre[1] == 0.5f && !play_state(world, top).awake);
    CHECK(sac_body_set_kind(world, box, SAC_BODY_DYNAMIC, NULL) == SAC_OK);
    play_frames(world, 120);
    sac_body_state b = play_state(world, box), t = play_state(world, top);
    CHECK(fabsf(b.centre[1] - 0.1f) < PLAY_SLOP && fabsf(b.mass - 8) < 0.01f);
    CHECK_SAY(t.centre[1] < 0.35f, "what lay on it hangs at %g\n", (double)t.centre[1]);
    CHECK(sac_body_set_kind(world, box, SAC_BODY_KINEMATIC, NULL) == SAC_OK);
    CHECK(sac_body_set_velocity(world, box, (float[3]){0, 1, 0}, play_still, NULL) == SAC_OK);
    play_frames(world, 45);
    CHECK(fabsf(play_state(world, box).centre[1] - 0.6f) < 0.02f);
    CHECK(sac_body_set_kind(world, box, SAC_BODY_STATIC, NULL) == SAC_OK);
    float at = play_state(world, box).centre[1];
    play_frames(world, 10);
    CHECK(play_state(world, box).centre[1] == at);
    CHECK(sac_body_set_velocity(world, box, (float[3]){0, 1, 0}, play_still, NULL) == SAC_ERROR_ARGUMENT);
    /* One that was given a mass while it stood has it once it is free. */
    sac_body_def heavy = play_body_def(play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_STATIC, 3, 0.5f, 0);
    heavy.mass = 3;
    sac_body_id free = play_make(world, &heavy);
    CHECK(play_state(world, free).mass == 0);
    CHECK(sac_body_set_kind(world, free, SAC_BODY_DYNAMIC, NULL) == SAC_OK);
    CHECK(play_state(world, free).mass == 3);
    sac_world_destroy(&world);
}

/* What is told to a body never makes it faster than it may be, also while it waits for its turn. */
static void test_limits_hold_for_what_is_told(void **state)
{
    (void)state;
    const float fast[3] = {0, 60, 80}, turning[3] = {30, 0, -40};
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_body_def body = play_body_def(play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 0, 0);
    body.most_speed = 5, body.most_spin = 2, body.mass = 1;
    memcpy(body.velocity, fast, sizeof fast), memcpy(body.spin, turning, sizeof turning);
    sac_body_id id = play_make(world, &body);
    for (int way = 0; way < 5; way++) {
        if (way == 1) CHECK(sac_body_set_velocity(world, id, fast, turning, NULL) == SAC_OK);
        if (way == 2) CHECK(sac_body_push(world, id, fast, NULL, NULL) == SAC_OK);
        if (way == 3) { /* one that moves as told may be as fast as it likes, until it is set free */
            CHECK(sac_body_set_kind(world, id, SAC_BODY_KINEMATIC, NULL) == SAC_OK);
            CHECK(sac_body_set_velocity(world, id, fast, turning, NULL) == SAC_OK);
            CHECK(play_state(world, id).velocity[2] == 80);
            CHECK(sac_body_set_kind(world, id, SAC_BODY_DYNAMIC, NULL) == SAC_OK);
        }
        if (way == 4) CHECK(sac_body_set_motion(world, id, 1, 0, 0, 1, 0.5f, NULL) == SAC_OK);
        sac_body_state s = play_state(world, id);
        float most = way == 4 ? 1 : 5, spin = way == 4 ? 0.5f : 2;
        CHECK_SAY(fabsf(glm_vec3_norm(s.velocity) - most) < 1e-4f, "way %d: %g m/s\n", way,
                  (double)glm_vec3_norm(s.velocity));
        CHECK_SAY(fabsf(glm_vec3_norm(s.spin) - spin) < 1e-4f, "way %d: %g rad/s\n", way,
                  (double)glm_vec3_norm(s.spin));
        CHECK(s.velocity[1] > 0 && s.spin[2] < 0);
    }
    sac_world_destroy(&world);
}

/* Nor does what hits it, whatever that is. */
static void test_limits_hold_for_blows(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        sac_world_def def = play_def();
        def.gravity[1] = 0;
        sac_world *world = play_create(&def);
        sac_shape_id ball = play_ball(world, 0.2f);
        sac_body_def body = play_body_def(ball, SAC_BODY_DYNAMIC, 0, 0, 0);
        body.most_speed = 5, body.mass = 1, body.material.restitution = 1;
        sac_body_id id = play_make(world, &body);
        body = play_body_def(ball, kind ? SAC_BODY_KINEMATIC : SAC_BODY_DYNAMIC, -1, 0, 0);
        body.velocity[0] = 60, body.material.restitution = 1;
        if (!kind) body.mass = 100;
        play_make(world, &body);
        float fastest = 0, farthest = 0, x = 0;
        for (int f = 0; f < 6; f++) {
            play_frames(world, 1);
            sac_body_state s = play_state(world, id);
            fastest = fmaxf(fastest, glm_vec3_norm(s.velocity));
            farthest = fmaxf(farthest, fabsf(s.centre[0] - x));
            x = s.centre[0];
        }
        CHECK_SAY(fastest > 4 && fastest < 5.001f, "%g m/s\n", (double)fastest);
        CHECK_SAY(farthest < 5.001f / 90, "%g m in a frame\n", (double)farthest);
        sac_world_destroy(&world);
    }
}

/* Where a body was told to be is forgotten when it stops to be one that is told. */
static void test_told_no_more(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    def.gravity[1] = 0;
    sac_world *world = play_create(&def);
    sac_body_id id = play_body(world, play_ball(world, 0.1f), SAC_BODY_KINEMATIC, 0, 0, 0);
    for (int kind = SAC_BODY_STATIC; kind <= SAC_BODY_DYNAMIC; kind += 2) {
        CHECK(sac_body_move_to(world, id, (float[3]){3, 0, 0}, play_upright, NULL) == SAC_OK);
        CHECK(sac_body_set_kind(world, id, (sac_body_kind)kind, NULL) == SAC_OK);
        play_frames(world, 3);
        CHECK(sac_body_set_kind(world, id, SAC_BODY_KINEMATIC, NULL) == SAC_OK);
        play_frames(world, 3);
        CHECK_SAY(play_state(world, id).centre[0] == 0, "went to %g\n",
                  (double)play_state(world, id).centre[0]);
    }
    sac_world_destroy(&world);
}

static void test_destroy_wakes_what_lay_on_it(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    for (int k = 0; k < 2; k++) {
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_body_id table = play_body(world, play_box(world, 0.5f, 0.25f, 0.5f),
                                      k ? SAC_BODY_STATIC : SAC_BODY_DYNAMIC, 0, 0.25f, 0);
        sac_shape_id ball = play_box(world, 0.1f, 0.1f, 0.1f);
        sac_body_id on = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 0.6f, 0);
        sac_body_id above = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 0.8f, 0);
        CHECK(play_until_asleep(world, 400, 0) < 400);
        CHECK(play_state(world, on).centre[1] > 0.59f);
        CHECK(sac_body_destroy(world, table, NULL) == SAC_OK);
        CHECK(play_state(world, on).awake && play_state(world, above).awake);
        CHECK(play_until_asleep(world, 400, 0) < 400);
        CHECK(fabsf(play_state(world, on).centre[1] - 0.1f) < PLAY_SLOP);
        CHECK(fabsf(play_state(world, above).centre[1] - 0.3f) < 2 * PLAY_SLOP);
        sac_world_destroy(&world);
    }
}

/* Whatever is done to what it lies on, nobody sleeps on in the air, or on a slope that has become ice. */
static void test_support_that_changes_wakes(void **state)
{
    (void)state;
    enum { LOWERED, TOLD_SLOWLY, TOLD_FAR, PULLED_AWAY, SENT_DOWN, DROPPED, FILTERED, FREED, ICED, CASES };
    static const char *const names[] = {"lowered",     "told slowly", "told far", "pulled away", "sent down",
                                        "sent faster", "filtered",    "freed",    "iced"};
    for (int k = 0; k < 2 * CASES; k++) {
        int what = k % CASES;
        bool still = k >= CASES; /* a static support, else a kinematic one */
        if (still && what >= TOLD_SLOWLY && what <= DROPPED) continue;
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        float tilt = what == ICED ? 0.1f : 0, upright[4] = {0, 0, tilt, sqrtf(1 - tilt * tilt)};
        sac_body_def body =
            play_body_def(play_box(world, 1, 0.1f, 1), still ? SAC_BODY_STATIC : SAC_BODY_KINEMATIC, 0, 0, 0);
        memcpy(body.rotation, upright, sizeof upright);
        body.material.friction = 1;
        sac_body_id support = play_make(world, &body);
        body = play_body_def(play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_DYNAMIC, 0, 0.21f, 0);
        memcpy(body.rotation, upright, sizeof upright);
        body.material.friction = 1;
        sac_body_id on = play_make(world, &body);
        for (int f = 0; f < 600 && play_state(world, on).awake; f++) play_step(world, 0);
        CHECK_SAY(!play_state(world, on).awake, "%s: not asleep\n", names[what]);
        sac_body_state before = play_state(world, on);
        const sac_filter nobody = {1, 0, 0};
        switch (what) {
        case LOWERED:
            sac_body_set_pose(world, support, (float[3]){0, -1, 0}, upright, NULL);
            break;
        case TOLD_FAR:
            sac_body_move_to(world, support, (float[3]){0, -0.6f, 0}, upright, NULL);
            break;
        case PULLED_AWAY:
            sac_body_move_to(world, support, (float[3]){3, 0, 0}, upright, NULL);
            break;
        case SENT_DOWN:
            sac_body_set_velocity(world, support, (float[3]){0, -0.5f, 0}, play_still, NULL);
            break;
        case DROPPED:
            sac_body_set_velocity(world, support, (float[3]){0, -50, 0}, play_still, NULL);
            break;
        case FILTERED:
            sac_body_set_filter(world, support, &nobody, NULL);
            break;
        case FREED:
            sac_body_set_kind(world, support, SAC_BODY_DYNAMIC, NULL);
            break;
        case ICED:
            sac_body_set_material(world, support, &(sac_material){0, 0, 0}, NULL);
            break;
        }
        for (int f = 0; f < 90; f++) {
            if (what == TOLD_SLOWLY)
                sac_body_move_to(world, support, (float[3]){0, -0.005f * (float)(f + 1), 0}, upright, NULL);
            play_step(world, 0);
        }
        sac_body_state after = play_state(world, on);
        CHECK_SAY(play_distance(before.centre, after.centre) > 0.1f, "%s, %s: hangs at %g\n", names[what],
                  still ? "static" : "kinematic", (double)after.centre[1]);
        sac_world_destroy(&world);
    }
}

/* Nobody has looked yet at what a body that starts asleep, or is put to sleep at once, lies on. */
static void test_sleepers_fall_when_support_goes(void **state)
{
    (void)state;
    for (int way = 0; way < 8; way++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_body_id shelf = play_body(world, play_box(world, 0.5f, 0.1f, 0.5f), SAC_BODY_STATIC, 0, 1, 0);
        sac_body_id beside = {0}, pile[3];
        for (int i = 0; i < 3; i++) {
            sac_body_def box = play_body_def(play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_DYNAMIC, 0,
                                             1.2f + 0.2f * (float)i, 0);
            box.asleep = way < 4;
            pile[i] = play_make(world, &box);
            box.position[0] = 3, box.position[1] = 0.1f;
            if (i == 0) beside = play_make(world, &box);
            if (way >= 4) CHECK(sac_body_sleep(world, pile[i], NULL) == SAC_OK);
        }
        if (way >= 4) CHECK(sac_body_sleep(world, beside, NULL) == SAC_OK);
        if (way % 2) play_frames(world, 20);
        CHECK(!play_state(world, pile[2]).awake);
        if (way / 2 % 2)
            CHECK(sac_body_set_pose(world, shelf, (float[3]){0, 1, 5}, play_upright, NULL) == SAC_OK);
        else
            CHECK(sac_body_destroy(world, shelf, NULL) == SAC_OK);
        play_frames(world, 90);
        for (int i = 0; i < 3; i++)
            CHECK_SAY(play_state(world, pile[i]).centre[1] < 0.6f, "way %d: box %d hangs at %g\n", way, i,
                      (double)play_state(world, pile[i]).centre[1]);
        CHECK(!play_state(world, beside).awake); /* it is none of its business */
        sac_world_destroy(&world);
    }
}

/* One that is put to sleep by hand leaves the others as they are, also when there is little time. */
static void test_sleep_by_hand(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_shape_id ball = play_ball(world, 0.1f);
    sac_body_id flying[64];
    for (int i = 0; i < 64; i++) {
        sac_body_def body = play_body_def(ball, SAC_BODY_DYNAMIC, 3.0f * (float)i, 0, 0);
        body.gravity_scale = 0;
        body.velocity[2] = 1;
        flying[i] = play_make(world, &body);
    }
    play_frames(world, 10);
    for (int f = 0; f < 30; f++) {
        CHECK(sac_body_sleep(world, flying[0], NULL) == SAC_OK);
        CHECK(!play_state(world, flying[0]).awake);
        play_step(world, f % 3 ? 3000 : 0);
        CHECK(sac_body_wake(world, flying[0], NULL) == SAC_OK);
    }
    for (int i = 1; i < 64; i++) {
        sac_body_state s = play_state(world, flying[i]);
        float most = 40.0f / 90 + 1e-4f;
        CHECK_SAY(s.centre[2] <= most, "body %d came %g m in 40 frames\n", i, (double)s.centre[2]);
    }
    sac_world_destroy(&world);
}

/* "Slower than this for no time" is still slower: who flies does not stop in the air, and who is never to
 * sleep does not. */
static void test_sleep_at_once(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    def.sleep_seconds = 0;
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id ball = play_ball(world, 0.1f);
    sac_body_id one = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 1, 0);
    sac_body_def body = play_body_def(ball, SAC_BODY_DYNAMIC, 1, 0.1f, 0);
    body.never_sleeps = true;
    sac_body_id other = play_make(world, &body);
    play_frames(world, 20);
    CHECK(play_state(world, one).awake && play_state(world, one).centre[1] < 0.85f);
    play_frames(world, 70);
    CHECK(!play_state(world, one).awake && fabsf(play_state(world, one).centre[1] - 0.1f) < PLAY_SLOP);
    CHECK(play_state(world, other).awake);
    sac_world_destroy(&world);
}

/* Islands are found over several frames. Who led one and is gone by the time it sleeps, or stands still for
 * good, has no place in it: to wake the others must not wake him. */
static void test_islands_lose_their_first(void **state)
{
    (void)state;
    int tried = 0;
    for (int gone = 0; gone < 2; gone++)
        for (int when = 0; when < 16; when++) {
            sac_world_def def = play_def();
            sac_world *world = play_create(&def);
            sac_shape_id ball = play_ball(world, 0.1f);
            sac_body_id first = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 0.295f, 0);
            sac_body_id second = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 0.1f, 0);
            play_floor(world);
            /* Many pairs, so that a sweep takes many frames. */
            for (int i = 0; i < 200; i++) {
                sac_body_def sensor = play_body_def(ball, SAC_BODY_DYNAMIC, 9, 1, 0);
                sensor.sensor = sensor.asleep = true;
                play_make(world, &sensor);
            }
            play_frames(world, 44 + when);
            /* Away from the other without waking it, then gone. */
            if (play_state(world, first).awake) {
                CHECK(sac_body_set_velocity(world, first, (float[3]){0, 9, 0}, play_still, NULL) == SAC_OK);
                play_frames(world, 2);
                if (gone)
                    CHECK(sac_body_destroy(world, first, NULL) == SAC_OK);
                else
                    CHECK(sac_body_set_kind(world, first, SAC_BODY_STATIC, NULL) == SAC_OK);
                play_frames(world, 90);
                CHECK(!play_state(world, second).awake);
                CHECK(sac_body_wake(world, second, NULL) == SAC_OK);
                uint32_t awake = play_step(world, 0).awake;
                CHECK_SAY(awake == 1, "%s after %d frames: %u are awake\n", gone ? "destroyed" : "static",
                          44 + when, awake);
                CHECK(gone || !play_state(world, first).awake);
                tried++;
            }
            sac_world_destroy(&world);
        }
    CHECK(tried > 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_on_the_fly),
        cmocka_unit_test(test_limits_hold_for_what_is_told),
        cmocka_unit_test(test_limits_hold_for_blows),
        cmocka_unit_test(test_told_no_more),
        cmocka_unit_test(test_destroy_wakes_what_lay_on_it),
        cmocka_unit_test(test_support_that_changes_wakes),
        cmocka_unit_test(test_sleepers_fall_when_support_goes),
        cmocka_unit_test(test_sleep_by_hand),
        cmocka_unit_test(test_sleep_at_once),
        cmocka_unit_test(test_islands_lose_their_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
