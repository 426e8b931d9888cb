/* The instruments of the side-by-side: penetration against comparing everything, percentiles, noise floor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "apps/run.h"
#include "apps/shape.h"
#include "base/rng.h"
#include "bench/noise_floor.h"
#include "bench/penetration.h"
#include "bench/percentile.h"
#include "bench/pose_log.h"

enum { BODIES = 40 };

static void random_poses(sac_rng *rng, float room, sac_peer_pose *poses)
{
    for (int i = 0; i < BODIES; i++) {
        float length = 0;
        for (int c = 0; c < 3; c++) poses[i].position[c] = sac_rng_range(rng, -room, room);
        for (int c = 0; c < 4; c++) {
            poses[i].rotation[c] = sac_rng_range(rng, -1, 1);
            length += poses[i].rotation[c] * poses[i].rotation[c];
        }
        for (int c = 0; c < 4; c++) poses[i].rotation[c] /= sqrtf(length);
    }
}

static void compare_all(const sac_shared_scene *scene, const sac_peer_pose *poses, double cosine,
                        sac_penetration *out)
{
    uint32_t n = scene->sphere_count, count = BODIES * n;
    float(*world)[4] = malloc(count * sizeof *world);
    double *depths = malloc((size_t)count * count / 2 * sizeof *depths);
    size_t pairs = 0;
    for (uint32_t i = 0; i < count; i++) {
        sac_transform t = {.scale = 1};
        memcpy(t.translation, poses[i / n].position, sizeof t.translation);
        memcpy(t.rotation, poses[i / n].rotation, sizeof t.rotation);
        sac_transform_point(&t, scene->spheres[i % n], world[i]);
        world[i][3] = scene->spheres[i % n][3];
        for (uint32_t j = 0; j < i / n * n; j++) {
            double square = 0, middle[3], length = 0;
            for (int c = 0; c < 3; c++) {
                double d = (double)world[i][c] - world[j][c];
                square += d * d;
                middle[c] = 0.5 * ((double)world[i][c] + world[j][c]);
                length += middle[c] * middle[c];
            }
            double depth = world[i][3] + world[j][3] - sqrt(square);
            if (depth > 1e-7 && -middle[2] > cosine * sqrt(length)) depths[pairs++] = depth * 1e3;
        }
    }
    *out = (sac_penetration){.pairs = pairs};
    if (pairs) {
        sac_percentiles p = sac_percentiles_of(depths, pairs);
        out->mean_mm = p.mean, out->p99_mm = p.p99, out->max_mm = p.max;
    }
    free(world);
    free(depths);
}

static void penetration_is_that_of_comparing_all(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(3);
    sac_penetration_room room = {0};
    static const char *const shapes[] = {"t24", "t100"};
#ifdef SACCADE_INSTRUMENTED
    enum { ROUNDS = 6 };
#else
    enum { ROUNDS = 12 };
#endif
    for (int k = 0; k < ROUNDS; k++) {
        sac_shared_scene scene;
        sac_peer_pose poses[BODIES];
        sac_penetration fast, slow;
        assert_int_equal(sac_shared_scene_create(&scene, "burst", shapes[k % 2], BODIES, 1, NULL), SAC_OK);
        random_poses(&rng, 0.7f + 0.06f * k, poses);
        /* Spheres of all sizes, as those of a tree are. */
        for (uint32_t n = 0; k % 4 == 1 && n < scene.sphere_count; n++)
            scene.spheres[n][3] *= ldexpf(1, -(int)(n % 10));
        sac_penetration_view view = {{0, 0, 0}, {0, 0, -1}, 60};
        bool looks = k % 3 == 2;
        assert_int_equal(sac_penetration_measure(&room, &scene, poses, looks ? &view : NULL, &fast, NULL),
                         SAC_OK);
        compare_all(&scene, poses, looks ? 0.5 : -2, &slow);
        assert_true(fast.pairs > 0);
        /* A pair that just touches may round either way. */
        assert_true(llabs((long long)fast.pairs - (long long)slow.pairs) <= 1);
        assert_true(fabs(fast.mean_mm - slow.mean_mm) < 1e-2 * slow.mean_mm);
        assert_true(fabs(fast.max_mm - slow.max_mm) < 1e-3);
        assert_true(fabs(fast.p99_mm - slow.p99_mm) < 0.05 * slow.p99_mm);
        sac_shared_scene_destroy(&scene);
    }
    sac_penetration_room_fini(&room);
}

static void penetration_sees_the_floor_and_the_lost(void **state)
{
    (void)state;
    sac_shared_scene scene;
    sac_penetration_room room = {0};
    sac_penetration p;
    sac_peer_pose poses[3];
    assert_int_equal(sac_shared_scene_create(&scene, "pile", "t24", 3, 1, NULL), SAC_OK);
    for (int i = 0; i < 3; i++) {
        memcpy(poses[i].position, scene.bodies[i].position, sizeof poses[i].position);
        memcpy(poses[i].rotation, scene.bodies[i].rotation, sizeof poses[i].rotation);
    }
    assert_int_equal(sac_penetration_measure(&room, &scene, poses, NULL, &p, NULL), SAC_OK);
    assert_true(p.pairs == 0 && p.floor_mm == 0 && p.outside == 0 && p.not_finite == 0);
    /* Lying flat, its centre 9 cm up: the tube of 10 cm is 1 cm in the floor. */
    poses[0] = (sac_peer_pose){{0, 0.09f, 0}, {0, 0, 0, 1}};
    poses[1].position[0] = 50;
    poses[2].position[1] = NAN;
    assert_int_equal(sac_penetration_measure(&room, &scene, poses, NULL, &p, NULL), SAC_OK);
    assert_true(fabs(p.floor_mm - 10) < 1e-3);
    assert_int_equal(p.outside, 1);
    assert_int_equal(p.not_finite, 1);
    /* On top of each other, exactly. */
    poses[2] = poses[1] = poses[0];
    assert_int_equal(sac_penetration_measure(&room, &scene, poses, NULL, &p, NULL), SAC_OK);
    assert_true(fabs(p.max_mm - 200) < 1e-2);
    sac_penetration_room_fini(&room);
    sac_shared_scene_destroy(&scene);
}

static void percentiles_are_measured_values(void **state)
{
    (void)state;
    double values[1000];
    for (int i = 0; i < 1000; i++) values[i] = (i * 617) % 1000 + 1;
    sac_percentiles p = sac_percentiles_of(values, 1000);
    assert_true(p.p50 == 500 && p.p99 == 990 && p.p999 == 999 && p.max == 1000);
    assert_true(fabs(p.mean - 500.5) < 1e-9);
    p = sac_percentiles_of(values, 1);
    assert_true(p.p50 == 1 && p.p999 == 1 && p.max == 1);
    p = sac_percentiles_of(values, 900);
    assert_true(p.p99 == 891 && p.p999 == 900);
    assert_true(isnan(sac_percentiles_of(values, 0).p50));
}

static void spin_never_stops_early(void **state)
{
    (void)state;
    sac_noise_floor floor = {0};
    for (int i = 0; i < 50; i++) assert_true(sac_noise_floor_spin(&floor, 20000));
    for (int i = 0; i < 50; i++) assert_true(floor.wall_us.data[i] >= 0);
    /* It was late by no more than the look at the clock that told it so. */
    for (int i = 0; i < 50; i++) assert_true(floor.stall_us.data[i] >= floor.wall_us.data[i]);
    uint64_t allowance = sac_noise_floor_allowance_ns(&floor, 0);
    assert_true(allowance >= 50000 && allowance <= 250000);
    sac_percentiles p = sac_noise_floor_wall_us(&floor);
    assert_true(p.p50 <= p.p99 && p.p99 <= p.max);
    sac_noise_floor_clear(&floor);
    assert_int_equal(sac_noise_floor_allowance_ns(&floor, 0), 50000);
    sac_noise_floor_fini(&floor);
}

static void a_log_keeps_looks_until_it_is_full(void **state)
{
    (void)state;
    sac_pose_log log;
    const size_t look = 3 * sizeof(sac_peer_pose);
    assert_true(sac_pose_log_init(&log, 3, 100, 5 * look + 1));
    assert_int_equal(log.room, 5); /* no more than the bytes hold */
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5; i++) {
            sac_peer_pose *poses = sac_pose_log_next(&log);
            assert_non_null(poses);
            for (uint32_t k = 0; k <= i % 3; k++) poses[k].position[0] = (float)(10 * i + k + 100 * round);
            sac_pose_log_keep(&log, i % 3 + 1, i);
        }
        assert_null(sac_pose_log_next(&log));
        for (uint32_t i = 0; i < 5; i++) {
            assert_int_equal(log.looks[i].count, i % 3 + 1);
            assert_int_equal(log.looks[i].who, i);
            for (uint32_t k = 0; k <= i % 3; k++)
                assert_true(sac_pose_log_at(&log, i)[k].position[0] == (float)(10 * i + k + 100 * round));
        }
        sac_pose_log_clear(&log);
    }
    sac_pose_log_fini(&log);
    assert_true(sac_pose_log_init(&log, 3, 2, 1)); /* one at least */
    assert_int_equal(log.room, 1);
    sac_pose_log_fini(&log);
    assert_true(sac_pose_log_init(&log, 3, 2, SAC_POSE_LOG_BYTES));
    assert_int_equal(log.room, 2);
    sac_pose_log_fini(&log);
}

/* Nothing is measured while the clock runs, unless there is no room for poses; the figures are the same. */
static void overlaps_are_measured_after_the_run(void **state)
{
    (void)state;
    sac_run runs[2];
    for (int i = 0; i < 2; i++) {
        sac_staging staging;
        const sac_staging_def pile = {.bodies = 40, .shape = "t24"};
        sac_run_def def = sac_default_run_def();
        def.frames = 200, def.credits = def.quiet_floor = true;
        if (i) def.log_bytes = 1;
        assert_int_equal(sac_staging_builtin(&staging, "pile", &pile, NULL), SAC_OK);
        assert_int_equal(sac_run_go(&runs[i], &staging, &def, NULL), SAC_OK);
        sac_staging_fini(&staging);
        sac_run_fini(&runs[i]);
    }
    assert_int_equal(runs[0].drains, 0);
    assert_int_equal(runs[1].drains,
                     4); /* looks at 45, 90, 135, 180 and 200, each but the first finds it full */
    assert_true(runs[0].penetration_mean_mm > 0);
    assert_true(runs[0].penetration_mean_mm == runs[1].penetration_mean_mm);
    assert_true(runs[0].penetration_p99_mm == runs[1].penetration_p99_mm);
    assert_true(runs[0].penetration_max_mm == runs[1].penetration_max_mm);
    assert_true(runs[0].floor_mm == runs[1].floor_mm);
    assert_true(runs[0].last_penetration.pairs == runs[1].last_penetration.pairs);
    assert_true(runs[0].last_penetration.mean_mm == runs[1].last_penetration.mean_mm);
    assert_true(runs[0].state_hash == runs[1].state_hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(penetration_is_that_of_comparing_all),
        cmocka_unit_test(penetration_sees_the_floor_and_the_lost),
        cmocka_unit_test(percentiles_are_measured_values),
        cmocka_unit_test(spin_never_stops_early),
        cmocka_unit_test(a_log_keeps_looks_until_it_is_full),
        cmocka_unit_test(overlaps_are_measured_after_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
