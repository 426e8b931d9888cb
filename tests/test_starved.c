/* A heap far too large for its budget: most bodies wait in every frame, and yet they are kept apart. Work is
 * counted in credits, so the run is the same everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/peer.h"
#include "bench/penetration.h"
#include "bench/percentile.h"
#include "runtime/world.h"

enum { BODIES = 300, FRAMES = 450, LOOK_EVERY = 15, LONGEST = 3000 };

typedef struct heap {
    sac_shared_scene scene;
    sac_world *world;
    sac_tree *tree;
    sac_body_id ids[BODIES];
    sac_penetration_room room;
    sac_array(double) depths;
} heap;

static void raise(heap *h, uint64_t seed)
{
    sac_world_def def = sac_default_world_def();
    sac_body_def body = sac_default_body_def();
    sac_build_def build = sac_default_build_def();
    sac_form form;
    assert_int_equal(sac_shared_scene_create(&h->scene, "pile", "t24", BODIES, seed, NULL), SAC_OK);
    def.clock = sac_clock_credits(500);
    def.bodies = BODIES + 8;
    assert_int_equal(sac_world_create(&def, &h->world, NULL), SAC_OK);
    for (uint32_t i = 0; i < h->scene.box_count; i++) {
        assert_int_equal(sac_form_box(&form, h->scene.boxes[i].half, NULL), SAC_OK);
        assert_int_equal(sac_world_add_shape(h->world, &form, &body.shape, NULL), SAC_OK);
        body.kind = SAC_BODY_STATIC;
        memcpy(body.position, h->scene.boxes[i].centre, sizeof body.position);
        assert_int_equal(sac_body_create(h->world, &body, NULL, NULL), SAC_OK);
    }
    body = sac_default_body_def();
    assert_int_equal(sac_tree_build_spheres((const float(*)[4])h->scene.spheres, h->scene.sphere_count,
                                            &build, &h->tree, NULL),
                     SAC_OK);
    assert_int_equal(sac_form_from_tree(&form, h->tree, NULL), SAC_OK);
    assert_int_equal(sac_world_add_shape(h->world, &form, &body.shape, NULL), SAC_OK);
    body.mass = h->scene.mass;
    for (uint32_t i = 0; i < BODIES; i++) {
        memcpy(body.position, h->scene.bodies[i].position, sizeof body.position);
        memcpy(body.rotation, h->scene.bodies[i].rotation, sizeof body.rotation);
        assert_int_equal(sac_body_create(h->world, &body, &h->ids[i], NULL), SAC_OK);
    }
}

static void look(heap *h)
{
    sac_peer_pose poses[BODIES];
    sac_penetration p;
    for (uint32_t i = 0; i < BODIES; i++) {
        sac_body_state state;
        assert_int_equal(sac_body_get(h->world, h->ids[i], &state, NULL), SAC_OK);
        memcpy(poses[i].position, state.pose.translation, sizeof poses[i].position);
        memcpy(poses[i].rotation, state.pose.rotation, sizeof poses[i].rotation);
    }
    assert_int_equal(sac_penetration_measure(&h->room, &h->scene, poses, NULL, &p, NULL), SAC_OK);
    assert_int_equal(p.outside, 0);
    assert_int_equal(p.not_finite, 0);
    for (size_t i = 0; i < h->room.depths.count; i++)
        assert_true(sac_array_push(&h->depths, h->room.depths.data[i]));
}

static float mean_height(const heap *h)
{
    float sum = 0;
    for (uint32_t i = 0; i < BODIES; i++) {
        sac_body_state state;
        assert_int_equal(sac_body_get(h->world, h->ids[i], &state, NULL), SAC_OK);
        sum += state.centre[1];
    }
    return sum / BODIES;
}

/* The tube is 200 mm thick. Engines that take all the time they want leave 9 to 14 mm at the 99th percentile
 * of a settled heap. */
static void test_starved_bodies_stay_apart(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        heap h = {0};
        sac_step_def step = sac_default_step_def();
        sac_viewer viewer = sac_default_viewer();
        uint64_t waited = 0;
        raise(&h, seed);
        float start = mean_height(&h);
        viewer.eyes[0].position[1] = 2, viewer.eyes[0].position[2] = 3;
        step.viewer = &viewer;
        step.budget_ns = 500000;
        for (uint32_t f = 0; f < FRAMES; f++) {
            sac_step_report report;
            assert_int_equal(sac_world_step(h.world, &step, &report, NULL), SAC_OK);
            waited += report.rungs[SAC_RUNG_BODIES];
            if (f % LOOK_EVERY == 0) look(&h);
        }
        assert_true(waited > BODIES / 4 * FRAMES); /* else this test says nothing */
        sac_percentiles p = sac_percentiles_of(h.depths.data, (uint32_t)h.depths.count);
        float end = mean_height(&h);
        print_message(
            "seed %u: %u of %u bodies wait; overlap mean %.1f, p99 %.1f, most %.1f mm; from %.2f to "
            "%.2f m\n",
            (unsigned)seed, (unsigned)(waited / FRAMES), BODIES, p.mean, p.p99, p.max, (double)start,
            (double)end);
        /* And it falls: those that wait are not left hanging in the air. */
        assert_true(end < 0.5f * start);
        assert_true(p.mean < 3);
        assert_true(p.p99 < 25);
        assert_true(p.max < 100);
        sac_array_fini(&h.depths);
        sac_penetration_room_fini(&h.room);
        sac_world_destroy(&h.world);
        sac_tree_destroy(&h.tree);
        sac_shared_scene_destroy(&h.scene);
    }
}

/* However many have to wait on the way down, a heap sleeps in the end. */
static void test_starved_heap_sleeps(void **state)
{
    (void)state;
    heap h = {0};
    sac_step_def step = sac_default_step_def();
    sac_viewer viewer = sac_default_viewer();
    uint32_t awake = BODIES, frames = 0;
    uint64_t waited = 0;
    raise(&h, 1);
    viewer.eyes[0].position[1] = 2, viewer.eyes[0].position[2] = 3;
    step.viewer = &viewer;
    step.budget_ns = 900000;
    while (awake && frames < LONGEST) {
        sac_step_report report;
        assert_int_equal(sac_world_step(h.world, &step, &report, NULL), SAC_OK);
        waited += report.rungs[SAC_RUNG_BODIES];
        awake = report.awake;
        frames++;
    }
    print_message("asleep after %u frames, %u of %u waiting in the mean\n", frames,
                  (unsigned)(waited / frames), BODIES);
    assert_int_equal(awake, 0);
    assert_true(waited > BODIES / 4 * frames);
    sac_world_destroy(&h.world);
    sac_tree_destroy(&h.tree);
    sac_shared_scene_destroy(&h.scene);
}

/* Falling side by side with time for their boxes but not for turns, nobody has to stop: that a box holds its
 * body is found out once a frame. */
static void test_fliers_fly_on(void **state)
{
    (void)state;
    enum { SIDE = 15, COUNT = SIDE * SIDE * SIDE, FALL = 90 };
    sac_world_def def = sac_default_world_def();
    sac_body_def body = sac_default_body_def();
    sac_step_def step = sac_default_step_def();
    sac_world *world;
    sac_form form;
    uint64_t waited = 0, held = 0;
    def.clock = sac_clock_credits(500);
    def.bodies = COUNT;
    assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
    assert_int_equal(sac_form_sphere(&form, 0.1f, NULL), SAC_OK);
    assert_int_equal(sac_world_add_shape(world, &form, &body.shape, NULL), SAC_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        body.position[0] = (float)(i % SIDE), body.position[2] = (float)(i / SIDE % SIDE);
        body.position[1] = (float)(i / SIDE / SIDE);
        assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    }
    for (uint32_t f = 0; f < FALL; f++) {
        sac_step_report report;
        assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
        waited += report.rungs[SAC_RUNG_BODIES];
        held += report.rungs[SAC_RUNG_HELD];
    }
    print_message("%u of %u without a turn, %u times held\n", (unsigned)(waited / FALL), COUNT,
                  (unsigned)held);
    assert_true(waited > COUNT / 2 * FALL); /* else this test says nothing */
    assert_int_equal(held, 0);
    sac_world_destroy(&world);
}

/* A frame that had all the time in the world says nothing of how much the next one has: what fits its budget
 * many times over is simulated. */
static void test_short_after_long(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    sac_world_def def = sac_default_world_def();
    sac_body_def body = sac_default_body_def();
    sac_world *world;
    sac_form form;
    def.clock = sac_clock_credits(500);
    def.bodies = COUNT;
    assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
    assert_int_equal(sac_form_sphere(&form, 0.1f, NULL), SAC_OK);
    assert_int_equal(sac_world_add_shape(world, &form, &body.shape, NULL), SAC_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        body.position[1] = 0.15f * (float)i; /* into each other */
        assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
    }
    for (uint32_t f = 0; f < 60; f++) {
        sac_step_def step = sac_default_step_def();
        sac_step_report report;
        step.budget_ns = f % 12 < 6 ? 2000000 : f < 30 ? 100000000 : UINT64_MAX - f;
        assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
        if (f > 6) assert_int_equal(report.simulated, report.awake);
    }
    sac_world_destroy(&world);
}

/* Trees so deep that two which lie in each other have a hundred thousand pairs of spheres to read contacts
 * from: no more are opened than there is time to read. */
static void test_deep_trees_are_read_in_time(void **state)
{
    (void)state;
    enum { COUNT = 48, ACROSS = 4 };
    sac_build_def build = sac_default_build_def();
    sac_mesh *mesh;
    sac_tree *tree;
    sac_form form;
    assert_int_equal(sac_mesh_builtin("blob", 3000, &mesh, NULL), SAC_OK);
    build.method = SAC_METHOD_OCTREE;
    build.depth = 4;
    assert_int_equal(sac_tree_build(mesh, &build, &tree, NULL), SAC_OK);
    assert_int_equal(sac_form_from_tree(&form, tree, NULL), SAC_OK);
    for (uint64_t budget = 300000; budget <= 1200000; budget *= 2) {
        sac_world_def def = sac_default_world_def();
        sac_body_def body = sac_default_body_def();
        sac_world *world;
        def.clock = sac_clock_credits(500);
        assert_int_equal(sac_world_create(&def, &world, NULL), SAC_OK);
        assert_int_equal(sac_world_add_shape(world, &form, &body.shape, NULL), SAC_OK);
        body.mass = 1;
        body.scale = 0.5f;
        for (uint32_t i = 0; i < COUNT; i++) {
            body.position[0] = 0.3f * (float)(i % ACROSS);
            body.position[1] = 0.3f * (float)(i / ACROSS % ACROSS);
            body.position[2] = 0.3f * (float)(i / ACROSS / ACROSS);
            assert_int_equal(sac_body_create(world, &body, NULL, NULL), SAC_OK);
        }
        uint64_t most = 0;
        for (uint32_t f = 0; f < 60; f++) {
            sac_step_def step = sac_default_step_def();
            sac_step_report report;
            step.budget_ns = budget;
            assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
            if (report.spent_ns > most) most = report.spent_ns;
        }
        assert_in_range(most, 0, budget + 100000);
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&tree);
    sac_mesh_destroy(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_trees_are_read_in_time), cmocka_unit_test(test_starved_bodies_stay_apart),
        cmocka_unit_test(test_starved_heap_sleeps), cmocka_unit_test(test_fliers_fly_on),
        cmocka_unit_test(test_short_after_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
