/* Gaze: saccades by two thresholds, blinks held, loss and return softened, a guard for what is late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "scheduler/angle_internal.h"
#include "scheduler/scheduler.h"

static const uint64_t frame_ns = 11111111;

static sac_viewer looking(float degrees, uint64_t time_ns)
{
    sac_viewer viewer = sac_default_viewer();
    double a = degrees * 0.017453292519943295;
    viewer.gaze = (sac_gaze_sample){
        .valid = true, .direction = {(float)sin(a), 0, (float)-cos(a)}, .time_ns = time_ns, .confidence = 1};
    return viewer;
}

/* Degrees to the right the focus is taken to look. */
static float heading(const sac_focus *focus)
{
    return (float)(atan2((double)focus->axis[0][0], -(double)focus->axis[0][2]) * 57.29577951308232);
}

#define assert_near(a, b, tolerance) assert_true(fabs((double)(a) - (double)(b)) <= (tolerance))

static void angles_are_right(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(1);
    for (int i = -1000; i <= 1000; i++) {
        float x = (float)i / 1000.0f;
        assert_near(sac_arccos(x), acos((double)x), 4e-7);
    }
    for (int i = 0; i < 1000; i++) {
        float u[3], v[3];
        sac_rng_unit_vector(&rng, u);
        double near = sac_rng_double(&rng), length = 0, cross = 0, dot = 0;
        for (int k = 0; k < 3; k++) v[k] = u[k] + (float)near * sac_rng_range(&rng, -1, 1);
        for (int k = 0; k < 3; k++) length += (double)v[k] * v[k];
        for (int k = 0; k < 3; k++) v[k] = (float)(v[k] / sqrt(length));
        for (int k = 0; k < 3; k++) {
            double c = (double)u[(k + 1) % 3] * v[(k + 2) % 3] - (double)u[(k + 2) % 3] * v[(k + 1) % 3];
            cross += c * c;
            dot += (double)u[k] * v[k];
        }
        assert_near(sac_angle_between(u, v), atan2(sqrt(cross), dot) * 57.29577951308232, 1e-3);
    }
    for (double x = -3.2; x <= 3.2; x += 0.01) {
        double s, c;
        sac_sine_cosine(x, &s, &c);
        assert_near(s, sin(x), 1e-9);
        assert_near(c, cos(x), 1e-9);
    }
}

static void fixation_follows(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    uint64_t now = 1000000000;
    for (int i = 0; i < 60; i++, now += frame_ns) {
        sac_viewer viewer = looking(10, now - 5000000);
        sac_gaze_update(&filter, &viewer, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_FIXATION);
        assert_near(heading(&focus), 10, 0.01);
        assert_near(focus.guard_degrees, 1, 0.01); /* the tracker's error: the eye stands still */
    }
    /* Pursuit at 20 degrees a second: followed, with a guard for the 5 + 15 ms it is late. */
    for (int i = 0; i < 90; i++, now += frame_ns) {
        sac_viewer viewer = looking(10 + 20 * (float)i / 90, now - 5000000);
        sac_gaze_update(&filter, &viewer, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_FIXATION);
        assert_near(heading(&focus), 10 + 20 * (float)i / 90, 0.01);
    }
    assert_near(focus.eye_speed_degrees_s, 20, 0.1);
    assert_near(focus.guard_degrees, 1 + 20 * 0.020, 0.02);
}

static void saccades_hold_and_land(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    uint64_t now = 1000000000;
    sac_viewer viewer;
    for (int i = 0; i < 10; i++, now += frame_ns) {
        viewer = looking(0, now);
        sac_gaze_update(&filter, &viewer, now, &focus);
    }
    /* 12 degrees in four frames, 270 degrees a second. */
    for (int i = 1; i <= 4; i++, now += frame_ns) {
        viewer = looking(3.0f * (float)i, now);
        sac_gaze_update(&filter, &viewer, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_SACCADE);
        assert_near(heading(&focus), 0, 0.01);
        assert_true(focus.guard_degrees > 4);
    }
    /* Slower, yet above the lower threshold: 80 degrees a second. Then it lands. */
    viewer = looking(12 + 80 * 0.0111f, now);
    sac_gaze_update(&filter, &viewer, now, &focus);
    assert_int_equal(focus.state, SAC_GAZE_SACCADE);
    now += frame_ns;
    viewer = looking(13, now);
    sac_gaze_update(&filter, &viewer, now, &focus);
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
    assert_near(heading(&focus), 13, 0.01);
    /* 80 degrees a second from rest is no saccade. */
    now += frame_ns;
    viewer = looking(13 + 80 * 0.0111f, now);
    sac_gaze_update(&filter, &viewer, now, &focus);
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
}

/* The same sample handed in twice is not an eye that stopped. */
static void duplicates_are_no_news(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    uint64_t now = 1000000000, sample = now;
    for (int i = 0; i < 30; i++, now += frame_ns) {
        if (i % 3 == 0) sample = now; /* a 30 Hz tracker */
        sac_viewer viewer = looking(30 * (float)((double)(sample - 1000000000) * 1e-9), sample);
        sac_gaze_update(&filter, &viewer, now, &focus);
        if (i > 12) {
            assert_near(focus.eye_speed_degrees_s, 30, 3);
            assert_near(focus.guard_degrees,
                        1 + (double)focus.eye_speed_degrees_s * ((double)(now - sample) * 1e-9 + 0.015),
                        0.01);
        }
    }
}

static void blink_loss_and_return(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    uint64_t now = 1000000000;
    sac_viewer viewer = looking(20, now), blind = sac_default_viewer();
    for (int i = 0; i < 5; i++, now += frame_ns) {
        viewer.gaze.time_ns = now;
        sac_gaze_update(&filter, &viewer, now, &focus);
    }
    uint64_t last = now - frame_ns;
    float guard = focus.guard_degrees;
    for (; now - last <= 250000000; now += frame_ns) {
        sac_gaze_update(&filter, &blind, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_BLINK);
        assert_near(heading(&focus), 20, 0.01);
        assert_true(focus.guard_degrees > guard);
        guard = focus.guard_degrees;
    }
    /* Lost: to the head axis and the flat zone, without a jump. */
    float before = 20;
    for (int i = 0; i < 150; i++, now += frame_ns) {
        sac_gaze_update(&filter, &blind, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_LOST);
        assert_true(heading(&focus) <= before + 0.01f && before - heading(&focus) < 2.5f);
        before = heading(&focus);
    }
    assert_near(heading(&focus), 0, 0.1);
    assert_near(focus.guard_degrees, 30, 0.1);
    /* And back. */
    for (int i = 0; i < 150; i++, now += frame_ns) {
        viewer.gaze.time_ns = now;
        sac_gaze_update(&filter, &viewer, now, &focus);
        assert_int_equal(focus.state, SAC_GAZE_FIXATION);
        assert_true(heading(&focus) >= before - 0.01f && heading(&focus) - before < 2.5f);
        before = heading(&focus);
    }
    assert_near(heading(&focus), 20, 0.1);
    assert_near(focus.guard_degrees, 1, 0.1);
    /* A doubtful sample is none; one whose confidence is unknown is. */
    viewer.gaze.time_ns = now;
    viewer.gaze.confidence = 0.1f;
    sac_gaze_update(&filter, &viewer, now, &focus);
    assert_int_equal(focus.state, SAC_GAZE_BLINK);
    now += frame_ns;
    viewer.gaze.time_ns = now;
    viewer.gaze.confidence = NAN;
    sac_gaze_update(&filter, &viewer, now, &focus);
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
}

static void without_gaze(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_viewer viewer = sac_default_viewer();
    sac_gaze_init(&filter, NULL);
    sac_gaze_update(&filter, NULL, 5, &focus);
    assert_int_equal(focus.eye_count, 0);
    sac_gaze_update(&filter, &viewer, 6, &focus);
    assert_int_equal(focus.state, SAC_GAZE_NONE);
    assert_near(heading(&focus), 0, 0.001);
    assert_near(focus.guard_degrees, 30, 0);
    /* As the default says but for being valid: straight ahead, and believed. */
    viewer.gaze.valid = true;
    sac_gaze_filter fresh;
    sac_gaze_init(&fresh, NULL);
    sac_gaze_update(&fresh, &viewer, 6, &focus);
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
    assert_near(heading(&focus), 0, 0.01);
    /* The first sample is believed at once. */
    viewer = looking(-15, 7);
    sac_gaze_update(&filter, &viewer, 7, &focus);
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
    assert_near(heading(&focus), -15, 0.01);
    /* A stale one is none. */
    sac_gaze_init(&filter, NULL);
    viewer.gaze.time_ns = 1;
    sac_gaze_update(&filter, &viewer, 400000000, &focus);
    assert_int_equal(focus.state, SAC_GAZE_NONE);
}

/* One sample over and over: believed while it is young, then held as in a blink, then lost. */
static void a_tracker_that_hangs_is_lost(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    const uint64_t start = 1ull << 40, wait = 250000000;
    sac_viewer viewer = looking(20, start);
    sac_gaze_init(&filter, NULL);
    float guard = 0;
    for (uint64_t age = 0; age < 6 * wait; age += frame_ns) {
        sac_gaze_update(&filter, &viewer, start + age, &focus);
        if (age <= wait)
            assert_int_equal(focus.state, SAC_GAZE_FIXATION);
        else if (age < 2 * wait - frame_ns ||
                 age > 2 * wait) /* it was last believed in a frame, not between */
            assert_int_equal(focus.state, age > 2 * wait ? SAC_GAZE_LOST : SAC_GAZE_BLINK);
        if (focus.state != SAC_GAZE_LOST) assert_near(heading(&focus), 20, 0.01);
        assert_true(focus.guard_degrees >= guard);
        guard = focus.guard_degrees;
    }
    assert_true(heading(&focus) < 1);
}

static void clocks_jump(void **state)
{
    (void)state;
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    uint64_t now = 1ull << 40;
    const int64_t jumps[] = {0, -1000000000, 1ll << 39, -(1ll << 38), 5000000000};
    for (uint32_t j = 0; j < sizeof jumps / sizeof *jumps; j++) {
        now += (uint64_t)jumps[j];
        for (int i = 0; i < 20; i++, now += frame_ns) {
            sac_viewer viewer = looking(10.0f * (float)j, now);
            sac_gaze_update(&filter, &viewer, now, &focus);
            assert_int_equal(focus.state, SAC_GAZE_FIXATION);
            assert_near(heading(&focus), 10.0 * j, 0.01);
            assert_true(focus.guard_degrees <= 30);
        }
    }
    /* The tracker's clock alone is set back: seen as old for a moment, then taken up again. */
    for (int i = 0; i < 60; i++, now += frame_ns) {
        sac_viewer viewer = looking(5, now - 200000000);
        sac_gaze_update(&filter, &viewer, now, &focus);
    }
    assert_int_equal(focus.state, SAC_GAZE_FIXATION);
    assert_near(heading(&focus), 5, 0.01);
}

/* Whatever comes in, what goes out is a unit axis and a guard in range. */
static void nonsense_is_survived(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(3);
    sac_gaze_filter filter;
    sac_focus focus;
    sac_gaze_init(&filter, NULL);
    const float odd[] = {NAN, INFINITY, -INFINITY, 0, 1e-40f, 3e38f, 1, -1};
    uint64_t now = 0;
    for (int i = 0; i < 20000; i++) {
        sac_viewer viewer = looking(sac_rng_range(&rng, -60, 60), 0);
        viewer.gaze.valid = sac_rng_below(&rng, 4) > 0;
        if (sac_rng_below(&rng, 2))
            viewer.gaze.direction[sac_rng_below(&rng, 3)] = odd[sac_rng_below(&rng, 8)];
        if (sac_rng_below(&rng, 3) == 0) viewer.gaze.time_ns = sac_rng_next(&rng) >> sac_rng_below(&rng, 60);
        if (sac_rng_below(&rng, 8) == 0) viewer.gaze.confidence = odd[sac_rng_below(&rng, 8)];
        now = sac_rng_below(&rng, 50) ? now + sac_rng_below(&rng, 30000000) : sac_rng_next(&rng) >> 20;
        sac_gaze_update(&filter, &viewer, now, &focus);
        const float *a = focus.axis[0];
        assert_near((double)a[0] * a[0] + (double)a[1] * a[1] + (double)a[2] * a[2], 1, 1e-4);
        assert_true(focus.guard_degrees >= 0 && focus.guard_degrees <= 30);
        assert_true(focus.eye_speed_degrees_s >= 0);
    }
}

/* An eye looks where it would look as one of a few, and memory is asked for once. */
static void any_number_of_eyes(void **state)
{
    (void)state;
    enum { EYES = 100 };
    sac_eye eyes[EYES];
    sac_rng rng = sac_rng_seed(11);
    sac_viewer many = looking(10, 0), few = many;
    sac_gaze_filter filter, other;
    sac_focus focus, alone;
    for (int i = 0; i < EYES; i++) {
        float a = sac_rng_range(&rng, -0.5f, 0.5f);
        eyes[i] = many.eyes[0];
        eyes[i].rotation[1] = sinf(a), eyes[i].rotation[3] = cosf(a);
        for (int k = 0; k < 3; k++) eyes[i].position[k] = sac_rng_range(&rng, -1, 1);
    }
    many.eye_count = EYES;
    memcpy(many.eyes, eyes, sizeof many.eyes);
    many.more_eyes = eyes + SAC_VIEWER_OWN_EYES;
    assert_int_equal(sac_viewer_check(&many, NULL), SAC_OK);
    sac_gaze_init(&filter, NULL);
    assert_int_equal(sac_gaze_reserve(&filter, EYES, NULL), SAC_OK);
    const sac_focus_eye *room = filter.more;
    for (int f = 0; f < 40; f++) {
        uint64_t now = 1 + (uint64_t)f * frame_ns;
        many.gaze.valid = f >= 10 && f < 20; /* none, there, lost and on the way back */
        sac_gaze_update(&filter, &many, now, &focus);
        assert_true(focus.eye_count == EYES && focus.more == room);
    }
    for (int i = 0; i < EYES; i++) {
        const float *axis = i < 4 ? focus.axis[i] : focus.more[i - 4].axis;
        const float *at = i < 4 ? focus.eyes[i].position : focus.more[i - 4].position;
        few.eye_count = 2;
        few.eyes[0] = eyes[0], few.eyes[1] = eyes[i];
        sac_gaze_init(&other, NULL);
        for (int f = 0; f < 40; f++) {
            few.gaze.valid = f >= 10 && f < 20;
            sac_gaze_update(&other, &few, 1 + (uint64_t)f * frame_ns, &alone);
        }
        assert_memory_equal(axis, alone.axis[1], sizeof alone.axis[1]);
        assert_memory_equal(at, eyes[i].position, sizeof eyes[i].position);
    }
    /* A bad one is found wherever it is; more that are not there are no eyes. */
    sac_error error;
    eyes[77].fov_up = 9;
    assert_int_equal(sac_viewer_check(&many, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "eye 77"));
    many.more_eyes = NULL;
    sac_gaze_update(&filter, &many, 41 * frame_ns, &focus);
    assert_int_equal(focus.eye_count, SAC_VIEWER_OWN_EYES);
    sac_gaze_fini(&filter);
    assert_null(filter.more);
}

static void viewers_are_checked(void **state)
{
    (void)state;
    sac_error error;
    sac_viewer good = sac_default_viewer(), v;
    assert_int_equal(sac_viewer_check(&good, &error), SAC_OK);
#define WRONG(change)                                                   \
    v = good;                                                           \
    change;                                                             \
    assert_int_equal(sac_viewer_check(&v, &error), SAC_ERROR_ARGUMENT); \
    assert_true(error.message[0] && error.remedy[0])
    WRONG(v.eye_count = 5);
    WRONG(v.eyes[0].position[1] = NAN);
    WRONG(v.eyes[0].rotation[3] = 0.9f);
    WRONG(v.eyes[0].fov_left = 0.9f);
    WRONG(v.eyes[0].fov_up = 1.7f);
    WRONG(v.eyes[0].fov_down = NAN);
    WRONG((v.gaze.valid = true, v.gaze.direction[0] = INFINITY));
    WRONG((v.gaze.valid = true, v.gaze.direction[2] = 0));
    WRONG((v.gaze.valid = true, v.gaze.direction[0] = 1, v.gaze.confidence = 1.5f));
    WRONG((v.gaze.valid = true, v.gaze.direction[0] = 1, v.gaze.error_degrees = -1));
    WRONG((v.hands[1].valid = true, v.hands[1].radius = -1));
#undef WRONG
    good.eye_count = 0;
    assert_int_equal(sac_viewer_check(&good, NULL), SAC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_right),
        cmocka_unit_test(fixation_follows),
        cmocka_unit_test(saccades_hold_and_land),
        cmocka_unit_test(duplicates_are_no_news),
        cmocka_unit_test(blink_loss_and_return),
        cmocka_unit_test(without_gaze),
        cmocka_unit_test(a_tracker_that_hangs_is_lost),
        cmocka_unit_test(clocks_jump),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(any_number_of_eyes),
        cmocka_unit_test(viewers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
