/* The session against a real runtime: states, bookkeeping, stalls, a service that is killed. Each test is a
 * ctest entry with a service of its own; the name is the argument. */
#include <fcntl.h>

#include "xr_play.h"
#include "counted_memory.h"

static counted_memory memory;

/* ---- start, FOCUSED, exit ---- */

static void life(void **state)
{
    (void)state;
    counted_memory_begin(&memory);
    play p;
    sac_session_info info;
    play_open(&p);
    play_until_focused(&p);
    for (int i = 0; i < 10; i++) play_frame(&p);
    const uint64_t before = memory.calls;
    for (int i = 0; i < 20; i++) {
        play_frame(&p);
        const sac_session_frame *f = &p.frame;
        assert_string_equal(f->state, "FOCUSED");
        assert_true(f->should_render && f->focused && f->head_valid);
        assert_int_equal(f->eye_count, 2);
        /* Waiting ends before the frame begins, and that before the deadline of physics. */
        assert_true(f->stamp.wait_begin_ns <= f->stamp.wake_ns && f->stamp.wake_ns <= f->begin_ns);
        assert_true(f->deadline_ns > f->begin_ns && f->deadline_ns < f->begin_ns + 500000000u);
        /* Converted, not copied: near our own clock's now, however late this machine woke us. */
        const double lead = ((double)f->predicted_ns - (double)f->stamp.wake_ns) * 1e-9;
        assert_true(fabs(lead) < 30);
        /* The runtime counts from its own zero; converted it is our clock. */
        assert_true(fabs((double)f->stamp.predicted_xr - (double)f->predicted_ns) > 1e9);
        assert_true(f->eyes[0].fov_left < 0 && f->eyes[0].fov_right > 0);
        float apart = 0;
        for (int k = 0; k < 3; k++) apart += powf(f->eyes[1].position[k] - f->eyes[0].position[k], 2);
        assert_float_equal(sqrtf(apart), 0.063, 0.001);
        assert_true(f->head_position[1] > 1 && f->head_position[1] < 2); /* above the floor */
    }
    assert_int_equal(memory.calls, before);
    play_exit(&p);
    sac_session_info_get(p.session, &info);
    assert_string_equal(info.states, "IDLE READY SYNCHRONIZED VISIBLE FOCUSED VISIBLE SYNCHRONIZED STOPPING "
                                     "IDLE EXITING");
    assert_true(info.ledger.frames >= 31 && info.reopened == 0);
    assert_true(info.focused_ns > 0);
    print_message("%s, %s: FOCUSED after %.0f ms, %ux%u, %s, %.1f Hz%s\n", info.runtime, info.system,
                  (double)info.focused_ns * 1e-6, info.width, info.height,
                  info.multiview ? "multiview" : "two passes", (double)info.refresh_hz,
                  info.depth ? ", with depth" : "");
    print_message("the room's own CPU time in the last frame: %.3f ms\n", (double)p.stats.prepare_ns * 1e-6);
    /* After the end nothing moves any more. */
    assert_int_equal(sac_session_wait(p.session, &p.frame, &p.error), SAC_SESSION_EXIT);
    play_close(&p);
    assert_int_equal(memory.pieces, 0);
    sac_set_allocator(NULL);
}

/* ---- other ways to open it ---- */

static uint32_t told;
static void count_message(const char *text, void *user)
{
    (void)user;
    told++;
    print_message("%s\n", text);
}

/* Two passes with an image for each eye, without depth, smaller, seated; and everything at its most. Not a
 * word from Vulkan's validation layer where it is there. */
static void variants(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        play p;
        sac_session_info info;
        play_gallery(&p);
        sac_session_def def = play_def(&p);
        def.renderer.message = count_message;
        def.renderer.validation = true;
        def.renderer.multiview = i != 0 && i != 3;
        def.renderer.samples = (uint32_t[]){1, 1, 2, 4}[i];
        def.renderer.shadow_size = i == 1 ? 0 : 512;
        def.depth = i != 1;
        def.resolution = i == 2 ? 1.5f : 0.5f;
        def.seated = i == 1;
        def.refresh_hz = 90;
        def.hand_joints = i != 2;
        assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
        play_until_focused(&p);
        for (int k = 0; k < 5; k++) play_frame(&p);
        sac_session_info_get(p.session, &info);
        assert_int_equal(info.multiview, def.renderer.multiview);
        assert_int_equal(info.width, i == 2 ? 480 : 160);
        if (i == 1 || !def.renderer.multiview) assert_false(info.depth);
        /* Above the floor, whichever space it came from. */
        assert_true(p.frame.head_position[1] > 0.9f && p.frame.head_position[1] < 2.2f);
        print_message("%ux%u, %u samples, %s%s%s: head at %.2f m\n", info.width, info.height, p.stats.samples,
                      info.multiview ? "multiview" : "two passes", info.depth ? ", depth" : "",
                      p.stats.validation ? ", validated" : "", (double)p.frame.head_position[1]);
        play_exit(&p);
        play_close(&p);
    }
    assert_int_equal(told, 0);
}

/* ---- wrong use ---- */

static void misuse(void **state)
{
    (void)state;
    play p;
    play_gallery(&p);
    sac_session_def def = play_def(&p);
    def.resolution = 100;
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_ERROR_ARGUMENT);
    assert_null(p.session);
    def = play_def(&p);
    def.renderer.gallery = NULL;
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_ERROR_ARGUMENT);
    def = play_def(&p);
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
    const sac_drawing drawing = sac_default_drawing();
    assert_int_equal(sac_session_draw(p.session, &drawing, NULL, &p.error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_session_skip(p.session, &p.error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_session_recentre(p.session, &p.error), SAC_ERROR_ARGUMENT);
    sac_session_pulse(p.session, 7, 1, 1);
    sac_session_pulse(p.session, 0, NAN, 1);
    /* A frame that was neither drawn nor skipped is ended by the next wait. */
    play_until_focused(&p);
    for (int i = 0; i < 3; i++) assert_int_equal(play_wait(&p), SAC_SESSION_FRAME);
    play_draw(&p);
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK); /* it is open */
    play_close(&p);                                                    /* in the middle of its life */
    /* And once more, in the same process; ended before it runs. */
    play_open(&p);
    assert_int_equal(sac_session_request_exit(p.session, &p.error), SAC_OK);
    assert_int_equal(sac_session_wait(p.session, &p.frame, &p.error), SAC_SESSION_EXIT);
    play_close(&p);
}

/* ---- stalls ---- */

/* Between two frames: k whole periods and a half from the wake-up cost k, whatever came before. Inside a
 * frame the runtime takes the stall for slowness and predicts farther ahead; there, one period and a bit
 * costs one. Where they differ, a frame that took long by itself may be the reason. */
typedef struct stall {
    uint32_t periods;
    bool inside;
} stall;
static const stall plan[] = {{1, 0}, {0, 0}, {2, 0}, {0, 0}, {0, 0}, {1, 0}, {3, 0}, {1, 1}, {0, 0}, {0, 0},
                             {0, 0}, {0, 0}, {0, 0}, {5, 0}, {0, 0}, {1, 0}, {1, 0}, {0, 0}, {1, 1}, {0, 0},
                             {0, 0}, {2, 0}, {0, 0}, {9, 0}, {0, 0}, {4, 0}, {1, 0}, {1, 1}, {0, 0}, {0, 0}};
enum { STALLS = sizeof plan / sizeof *plan };

static void sleep_until(uint64_t time_ns)
{
    const uint64_t now = sac_time_now_ns();
    if (time_ns > now) play_sleep_ms((double)(time_ns - now) * 1e-6);
}

static bool try_stalls(bool *out_exact, uint64_t *out_counted, uint64_t *out_injected)
{
    play p;
    uint64_t counted = 0, injected = 0;
    int64_t first = 0, last = 0;
    uint32_t expected = 0;
    bool calm = true, steady = true, exact = true;
    play_open(&p);
    play_until_focused(&p);
    for (int i = 0; i < 5; i++) play_frame(&p);
    for (uint32_t i = 0; i <= STALLS; i++) {
        assert_int_equal(play_wait(&p), SAC_SESSION_FRAME);
        const sac_session_frame *f = &p.frame;
        const uint64_t wake = f->stamp.wake_ns;
        assert_false(f->verdict.strange);
        /* The runtime found us slow and shows every second picture only. */
        if (f->verdict.period_ns != 50000000) steady = calm = false;
        last = f->stamp.predicted_xr;
        if (!i) first = last;
        if (i) counted += f->verdict.missed, injected += expected;
        if (i && f->verdict.missed != expected) exact = false;
        const stall s = i < STALLS ? plan[i] : (stall){0, false};
        expected = s.periods;
        if (s.inside) sleep_until(wake + 65000000u);
        play_draw(&p);
        if (s.periods && !s.inside) sleep_until(wake + s.periods * 50000000u + 25000000u);
        const double took = (double)(sac_time_now_ns() - wake) * 1e-6;
        if (took > (s.inside ? 75 : s.periods ? s.periods * 50 + 40 : 30)) calm = false;
    }
    /* Calm or not: what was counted is what the predictions leave out. */
    if (steady) assert_int_equal(counted, (uint64_t)((last - first + 25000000) / 50000000) - STALLS);
    play_exit(&p);
    play_close(&p);
    *out_exact = exact && steady, *out_counted = counted, *out_injected = injected;
    return calm;
}

static void stalls(void **state)
{
    (void)state;
    uint64_t counted = 0, injected = 0;
    for (int i = 0; i < 8; i++) {
        bool exact = false;
        const bool calm = try_stalls(&exact, &counted, &injected);
        if (exact) {
            print_message("%u periods stalled, %u counted as missed\n", (unsigned)injected,
                          (unsigned)counted);
            assert_int_equal(counted, injected);
            return;
        }
        if (calm && !play_busy())
            fail_msg("%u periods stalled, %u counted as missed", (unsigned)injected, (unsigned)counted);
        print_message("try %d was disturbed: %u stalled, %u counted\n", i + 1, (unsigned)injected,
                      (unsigned)counted);
    }
    play_too_busy();
}

/* ---- the service is killed ---- */

static void expect_loss(play *p)
{
    for (int i = 0; i < 100; i++) {
        const sac_session_event event = sac_session_wait(p->session, &p->frame, &p->error);
        if (event == SAC_SESSION_LOST) return;
        if (event == SAC_SESSION_FRAME) play_draw(p);
    }
    fail_msg("the service is gone, and 100 frames later nobody noticed");
}

static void come_back(play *p)
{
    for (int i = 0; i < 1000; i++) {
        if (sac_session_reopen(p->session, &p->error) == SAC_OK) return;
        assert_int_equal(p->error.code, SAC_ERROR_IO);
        play_sleep_ms(50);
    }
    fail_msg("a new service is there, and the session does not come back: %s", p->error.message);
}

static int open_files(void)
{
    int count = 0;
    for (int i = 0; i < 256; i++) count += fcntl(i, F_GETFD) != -1;
    return count;
}

static void killed(void **state)
{
    (void)state;
    play p;
    sac_session_info info;
    char text[600];
    play_open(&p);
    int files = 0;
    pid_t service = play_service();
    for (int round = 0; round < 3; round++) {
        play_until_focused(&p);
        for (int i = 0; i < 5; i++) play_frame(&p);
        if (round == 1) assert_int_equal(play_wait(&p), SAC_SESSION_FRAME);
        kill(service, SIGKILL);
        if (round) waitpid(service, NULL, 0);
        /* In the middle of a frame as between two of them. */
        if (round == 1) play_draw(&p);
        expect_loss(&p);
        print_message("%s\n", sac_error_text(&p.error, text, sizeof text));
        assert_int_equal(p.error.code, SAC_ERROR_IO);
        assert_string_equal(p.frame.state, "LOST");
        /* It stays lost, quietly, until somebody opens it. */
        assert_int_equal(sac_session_wait(p.session, &p.frame, &p.error), SAC_SESSION_LOST);
        const sac_drawing drawing = sac_default_drawing();
        assert_int_equal(sac_session_draw(p.session, &drawing, NULL, &p.error), SAC_OK);
        assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_ERROR_IO);
        print_message("%s\n", sac_error_text(&p.error, text, sizeof text));
        assert_true(strlen(p.error.remedy) > 0);
        if (round == 0) files = open_files();
        assert_int_equal(open_files(), files); /* nothing of the dead one is held */
        service = play_serve();
        come_back(&p);
    }
    play_until_focused(&p);
    play_frame(&p);
    play_exit(&p);
    sac_session_info_get(p.session, &info);
    assert_int_equal(info.reopened, 3);
    play_close(&p);
    kill(service, SIGTERM);
    waitpid(service, NULL, 0);
}

/* ---- nobody there ---- */

static void absent(void **state)
{
    (void)state;
    play p;
    char text[600];
    assert_int_equal(sac_session_probe(text, sizeof text), SAC_PRESENCE_NO_RUNTIME);
    print_message("%s\n", text);
    assert_true(strlen(text) > 20);
    play_gallery(&p);
    const sac_session_def def = play_def(&p);
    assert_int_not_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
    assert_null(p.session);
    assert_true(strlen(p.error.message) > 0 && strlen(p.error.remedy) > 0);
    play_close(&p);
}

static void present(void **state)
{
    (void)state;
    char text[600];
    for (int i = 0; i < 3; i++) assert_int_equal(sac_session_probe(text, sizeof text), SAC_PRESENCE_HEADSET);
    print_message("%s\n", text);
    assert_non_null(strstr(text, "Monado"));
    assert_int_equal(sac_session_probe(text, 0), SAC_PRESENCE_HEADSET);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life),    cmocka_unit_test(variants), cmocka_unit_test(misuse),
        cmocka_unit_test(stalls),  cmocka_unit_test(killed),   cmocka_unit_test(absent),
        cmocka_unit_test(present),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
