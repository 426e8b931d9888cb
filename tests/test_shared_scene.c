/* The scenes engines are compared on: what is in them, and that nothing touches before the first step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "apps/shape.h"
#include "apps/shared_scene.h"

static float body_distance(const sac_shared_body *a, const sac_shared_body *b)
{
    float square = 0;
    for (int i = 0; i < 3; i++)
        square += (a->position[i] - b->position[i]) * (a->position[i] - b->position[i]);
    return sqrtf(square);
}

static void spheres_are_inside_reach(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        uint32_t count;
    } shapes[] = {{"t24", 24}, {"t100", 100}, {"t500", 500}};
    for (int k = 0; k < 3; k++) {
        sac_shared_scene scene;
        assert_int_equal(sac_shared_scene_create(&scene, "pile", shapes[k].shape, 5, 1, NULL), SAC_OK);
        assert_int_equal(scene.sphere_count, shapes[k].count);
        for (uint32_t i = 0; i < scene.sphere_count; i++) {
            const float *s = scene.spheres[i];
            float out = sqrtf(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) + s[3];
            assert_true(out <= scene.reach + 1e-5f);
        }
        sac_shared_scene_destroy(&scene);
    }
}

static void pile_is_free_at_the_start(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 25, 100, 500, 2000};
    for (int k = 0; k < 7; k++) {
        sac_shared_scene scene;
        assert_int_equal(sac_shared_scene_create(&scene, "pile", "t24", counts[k], SAC_SHARED_SEED, NULL),
                         SAC_OK);
        assert_int_equal(scene.body_count, counts[k]);
        assert_int_equal(scene.box_count, 5);
        if (counts[k] > 2)
            assert_true(fabsf(scene.side * scene.side * scene.side / (0.3f * counts[k]) - 1) < 1e-5f);
        for (uint32_t i = 0; i < counts[k]; i++) {
            const sac_shared_body *body = &scene.bodies[i];
            float length = 0;
            for (int c = 0; c < 4; c++) length += body->rotation[c] * body->rotation[c];
            assert_true(fabsf(length - 1) < 1e-5f);
            for (int c = 0; c < 3; c++) assert_true(body->velocity[c] == 0);
            assert_true(fabsf(body->position[0]) + scene.reach < 0.5f * scene.side);
            assert_true(fabsf(body->position[2]) + scene.reach < 0.5f * scene.side);
            assert_true(body->position[1] > scene.reach);
            assert_true(body->position[1] + scene.reach < scene.height);
            for (uint32_t j = 0; j < i; j++)
                assert_true(body_distance(body, &scene.bodies[j]) > 2 * scene.reach);
        }
        sac_shared_scene_destroy(&scene);
    }
}

static void walls_close_the_box(void **state)
{
    (void)state;
    sac_shared_scene scene;
    assert_int_equal(sac_shared_scene_create(&scene, "pile", "t24", 100, 1, NULL), SAC_OK);
    float half = 0.5f * scene.side;
    assert_true(fabsf(scene.boxes[0].centre[1] + scene.boxes[0].half[1]) < 1e-6f);
    for (int i = 1; i < 5; i++) {
        int axis = i < 3 ? 0 : 2;
        float inside = fabsf(scene.boxes[i].centre[axis]) - scene.boxes[i].half[axis];
        assert_true(fabsf(inside - half) < 1e-5f);
        assert_true(scene.boxes[i].half[2 - axis] > half);
        assert_true(scene.boxes[i].centre[1] + scene.boxes[i].half[1] >= scene.height - 1e-4f);
    }
    sac_shared_scene_destroy(&scene);
}

static void burst_is_the_nearest_lattice(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 7, 8, 27, 500, 3000};
    for (int k = 0; k < 6; k++) {
        sac_shared_scene scene;
        assert_int_equal(sac_shared_scene_create(&scene, "burst", "t24", counts[k], 7, NULL), SAC_OK);
        float most = 0;
        for (uint32_t i = 0; i < counts[k]; i++) {
            float square = 0;
            for (int c = 0; c < 3; c++) {
                float p = scene.bodies[i].position[c];
                assert_true(p == rintf(p) && scene.bodies[i].velocity[c] == -p);
                square += p * p;
            }
            assert_true(square >= most);
            most = square;
            for (uint32_t j = 0; j < i; j++)
                assert_true(body_distance(&scene.bodies[i], &scene.bodies[j]) > 0.99f);
        }
        /* Every lattice point nearer than the farthest taken is taken. */
        uint32_t nearer = 0;
        int r = (int)ceilf(sqrtf(most));
        for (int x = -r; x <= r; x++)
            for (int y = -r; y <= r; y++)
                for (int z = -r; z <= r; z++) nearer += x * x + y * y + z * z < (int)most;
        assert_true(nearer <= counts[k]);
        assert_true(scene.gravity[1] == 0 && scene.box_count == 0 && scene.frames == 360);
        sac_shared_scene_destroy(&scene);
    }
}

static void seed_decides(void **state)
{
    (void)state;
    sac_shared_scene a, b, c;
    assert_int_equal(sac_shared_scene_create(&a, "wake", "t24", 60, 5, NULL), SAC_OK);
    assert_int_equal(sac_shared_scene_create(&b, "wake", "t24", 60, 5, NULL), SAC_OK);
    assert_int_equal(sac_shared_scene_create(&c, "wake", "t24", 60, 6, NULL), SAC_OK);
    assert_memory_equal(a.bodies, b.bodies, 60 * sizeof *a.bodies);
    assert_memory_not_equal(a.bodies, c.bodies, 60 * sizeof *a.bodies);
    assert_int_equal(a.throw_frame, 720);
    assert_true(a.throw_velocity[1] == 12 && a.thrown == 0);
    sac_shared_scene_destroy(&a);
    sac_shared_scene_destroy(&b);
    sac_shared_scene_destroy(&c);
}

static void refuses_what_is_not_there(void **state)
{
    (void)state;
    sac_shared_scene scene;
    sac_error error;
    assert_int_equal(sac_shared_scene_create(&scene, "heap", "t24", 5, 1, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "heap"));
    assert_int_equal(sac_shared_scene_create(&scene, "pile", "t25", 5, 1, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "t25"));
    assert_int_equal(sac_shared_scene_create(&scene, "pile", "t24", 0, 1, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_shared_scene_create(&scene, "pile", "t24", SAC_SHARED_MOST_BODIES + 1, 1, &error),
                     SAC_ERROR_ARGUMENT);
    sac_shared_scene_destroy(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_are_inside_reach),
        cmocka_unit_test(pile_is_free_at_the_start),
        cmocka_unit_test(walls_close_the_box),
        cmocka_unit_test(burst_is_the_nearest_lattice),
        cmocka_unit_test(seed_decides),
        cmocka_unit_test(refuses_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
