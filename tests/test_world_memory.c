/* Nothing is allocated in a step once the world has seen what it will see, and everything is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <unistd.h>

#include "record_play.h"
#include "counted_memory.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive_time),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_of_time),
        cmocka_unit_test(test_while_recording),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
