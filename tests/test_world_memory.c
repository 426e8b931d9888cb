/* Nothing is allocated in a step once the world has seen what it will see, and everything is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "record_play.h"
#include "counted_memory.h"
#include "strict_memory.h"

static counted_memory memory;

static int set_up(void **state)
{
    (void)state;
    counted_memory_begin(&memory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sac_set_allocator(NULL);
    return 0;
}

/* 200 rings fall into a pit. */
static void make_pile(play *p, uint32_t threads, bool credits)
{
    sac_world_def def = sac_default_world_def();
    def.bodies = 256;
    def.tasks.threads = threads;
    if (credits) def.clock = sac_clock_credits(500);
    sac_form form;
    sac_body_def body = sac_default_body_def();
    *p = (play){.rng = sac_rng_seed(threads), .tree = play_ring(24)};
    assert_non_null(p->tree);
    assert_int_equal(sac_world_create(&def, &p->world, NULL), SAC_OK);
    body.kind = SAC_BODY_STATIC;
    const float walls[5][4] = {
        {0, 1, 0, 0}, {1, 0, 0, -1.5f}, {-1, 0, 0, -1.5f}, {0, 0, 1, -1.5f}, {0, 0, -1, -1.5f}};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sac_form_plane(&form, walls[i], walls[i][3], NULL), SAC_OK);
        assert_int_equal(sac_world_add_shape(p->world, &form, &body.shape, NULL), SAC_OK);
        assert_int_equal(sac_body_create(p->world, &body, NULL, NULL), SAC_OK);
    }
    assert_int_equal(sac_form_from_tree(&form, p->tree, NULL), SAC_OK);
    assert_int_equal(sac_world_add_shape(p->world, &form, &body.shape, NULL), SAC_OK);
    body.kind = SAC_BODY_DYNAMIC, body.mass = 1;
    for (uint32_t i = 0; i < 200; i++) {
        body.position[0] = 0.85f * ((float)(i % 3) - 1), body.position[2] = 0.85f * ((float)(i / 3 % 3) - 1);
        body.position[1] = 0.5f + 0.4f * (float)(i / 9);
        play_rotation(p, body.rotation);
        assert_int_equal(sac_body_create(p->world, &body, &p->bodies[i], NULL), SAC_OK);
    }
}

static void run(play *p, uint32_t frames, uint64_t budget, bool quiet)
{
    sac_step_def step = sac_default_step_def();
    sac_step_report report;
    step.budget_ns = budget;
    for (uint32_t i = 0; i < frames; i++, p->frame++) {
        sac_viewer viewer = play_viewer(p);
        step.viewer = &viewer;
        uint64_t calls = memory.calls;
        assert_int_equal(sac_world_step(p->world, &step, &report, NULL), SAC_OK);
        if (!quiet) continue;
        if (memory.calls != calls)
            print_message("frame %llu: %llu allocations, reported %u\n", (unsigned long long)p->frame,
                          (unsigned long long)(memory.calls - calls), report.allocations);
        assert_int_equal(memory.calls, calls);
        assert_int_equal(report.allocations, 0);
    }
}

static void pile(uint32_t threads, bool credits, uint64_t budget, const char *record)
{
    int64_t before = memory.bytes;
    play p;
    if (record) {
        sac_world_def def = sac_default_world_def();
        p = (play){.rng = sac_rng_seed(3)};
        def.bodies = 256;
        assert_int_equal(sac_world_create(&def, &p.world, NULL), SAC_OK);
        assert_int_equal(sac_record_start(p.world, record, NULL), SAC_OK);
        assert_true(play_begin(&p, 200));
    } else {
        make_pile(&p, threads, credits);
    }
    run(&p, 240, budget, false); /* it has come down and presses hardest */
    run(&p, 200, budget, true);
    play_end(&p);
    assert_int_equal(memory.bytes, before);
}

static void test_exhaustive_time(void **state)
{
    (void)state;
    pile(1, false, 0, NULL);
}

static void test_threads(void **state)
{
    (void)state;
    pile(2, false, 0, NULL);
}

static void test_short_of_time(void **state)
{
    (void)state;
    pile(1, true, 300000, NULL);
}

static void test_while_recording(void **state)
{
    (void)state;
    char path[64] = "/tmp/saccade-memory-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    pile(1, false, 0, path);
    unlink(path);
}

/* ---- no memory ---- */

/* A crowd for which a small world must grow, twice. */
static void crowd_in(sac_world *world)
{
    sac_form form;
    sac_shape_id ball, floor;
    sac_rng rng = sac_rng_seed(3);
    assert_int_equal(sac_form_sphere(&form, 0.2f, NULL), SAC_OK);
    if (sac_world_add_shape(world, &form, &ball, NULL) != SAC_OK) return;
    assert_int_equal(sac_form_plane(&form, (float[3]){0, 1, 0}, 0, NULL), SAC_OK);
    if (sac_world_add_shape(world, &form, &floor, NULL) != SAC_OK) return;
    sac_body_def body = sac_default_body_def();
    body.kind = SAC_BODY_STATIC, body.shape = floor;
    sac_body_create(world, &body, NULL, NULL);
    body.kind = SAC_BODY_DYNAMIC, body.shape = ball;
    uint32_t made = sac_world_bodies(world, NULL, 0);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 3; k++) body.position[k] = sac_rng_range(&rng, -0.5f, 0.5f) + (k == 1);
        sac_result result = sac_body_create(world, &body, NULL, NULL);
        assert_true(result == SAC_OK || result == SAC_ERROR_MEMORY);
        made += result == SAC_OK;
        assert_int_equal(sac_world_bodies(world, NULL, 0), made);
    }
    sac_step_def step = sac_default_step_def();
    step.budget_ns = 0;
    for (int f = 0; f < 6; f++) {
        sac_result result = sac_world_step(world, &step, NULL, NULL);
        assert_true(result == SAC_OK || result == SAC_ERROR_MEMORY);
    }
    assert_int_equal(sac_world_bodies(world, NULL, 0), made);
}

/* Whichever allocation fails, for good or once: nothing is written where nothing is, and all goes back as it
 * came. */
static void test_without_memory(void **state)
{
    (void)state;
    uint64_t all = 0;
    for (int once = 0; once < 2; once++)
        for (uint64_t last = 0; last <= all; last++) {
            strict_memory m = {.last = last, .once = once};
            strict_memory_begin(&m);
            sac_world_def def = sac_default_world_def();
            sac_world *world = NULL;
            def.bodies = 4, def.pairs = 4, def.agenda.pairs = 8, def.agenda.entries = 4096;
            def.clock = sac_clock_credits(500);
            if (sac_world_create(&def, &world, NULL) == SAC_OK) crowd_in(world);
            sac_world_destroy(&world);
            sac_set_allocator(NULL);
            if (last == 0) all = m.calls;
            if (m.wrong_size || m.overrun || m.pieces)
                print_error("    allocation %llu of %llu%s\n", (unsigned long long)last,
                            (unsigned long long)all, once ? ", once" : "");
            assert_false(m.overrun);
            assert_false(m.wrong_size);
            assert_int_equal(m.pieces, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive_time), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_of_time),   cmocka_unit_test(test_while_recording),
        cmocka_unit_test(test_without_memory), /* sets its own allocator */
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
