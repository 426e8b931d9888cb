/* What the tests against a real runtime share: a few rings to draw, a session that draws them, services to
 * start and kill. scripts/xr-test gives each of them its own folder and service. */
#ifndef XR_PLAY_H
#define XR_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "xr/session.h"

enum { PLAY_RINGS = 12 };

typedef struct play {
    sac_gallery *gallery;
    sac_session *session;
    sac_instance rings[PLAY_RINGS];
    sac_session_frame frame;
    sac_screen_stats stats;
    sac_error error;
    uint32_t frames, empty; /* ended; of them not drawn */
} play;

static inline void play_sleep_ms(double ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(fmod(ms, 1e3) * 1e6)};
    while (nanosleep(&left, &left) != 0) {
    }
}

/* More wants to run than there are processors: others' work may hold up the runtime without our seeing it. */
static inline bool play_busy(void)
{
    double load = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file) {
        if (fscanf(file, "%lf", &load) != 1) load = 0;
        fclose(file);
    }
    return load > 0.75 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}
static inline void play_too_busy(void)
{
    fprintf(stderr, "\n*** SKIPPED: the machine is too busy to tell our stalls from its own\n");
    exit(77);
}

static inline void play_gallery(play *p)
{
    sac_mesh *mesh = NULL;
    uint32_t model = 0;
    memset(p, 0, sizeof *p);
    assert_int_equal(sac_gallery_create(&p->gallery, &p->error), SAC_OK);
    assert_int_equal(sac_mesh_builtin("knot", 200, &mesh, &p->error), SAC_OK);
    assert_int_equal(sac_gallery_add_mesh(p->gallery, mesh, &model, &p->error), SAC_OK);
    sac_mesh_destroy(&mesh);
    for (int i = 0; i < PLAY_RINGS; i++) {
        const float angle = 6.2831853f * (float)i / PLAY_RINGS;
        p->rings[i] = (sac_instance){.rotation = {0, 0, 0, 1},
                                     .position = {2 * sinf(angle), 1.6f, -2 * cosf(angle)},
                                     .scale = 1,
                                     .model = model,
                                     .colour = i % 2 ? 0xff40a0e0u : 0xffe0a040u};
    }
}

static inline sac_session_def play_def(const play *p)
{
    sac_session_def def = sac_default_session_def();
    def.application = "saccade test";
    def.renderer.gallery = p->gallery;
    /* Light enough for a software renderer on a busy machine to keep up. */
    def.renderer.samples = 1;
    def.renderer.shadow_size = 256;
    return def;
}

static inline void play_open(play *p)
{
    play_gallery(p);
    const sac_session_def def = play_def(p);
    if (sac_session_create(&def, &p->session, &p->error) != SAC_OK) {
        char text[600];
        fail_msg("%s", sac_error_text(&p->error, text, sizeof text));
    }
}

static inline void play_close(play *p)
{
    sac_session_destroy(&p->session);
    assert_null(p->session);
    sac_gallery_destroy(&p->gallery);
}

static inline void play_draw(play *p)
{
    sac_drawing drawing = sac_default_drawing();
    drawing.views = p->frame.eyes, drawing.view_count = p->frame.eye_count;
    drawing.instances = p->rings, drawing.instance_count = PLAY_RINGS;
    if (p->frame.should_render) {
        assert_int_equal(sac_session_draw(p->session, &drawing, &p->stats, &p->error), SAC_OK);
    } else {
        assert_int_equal(sac_session_skip(p->session, &p->error), SAC_OK);
        p->empty++;
    }
    p->frames++;
}

/* The next frame, begun and not drawn yet. */
static inline sac_session_event play_wait(play *p)
{
    const uint64_t start = sac_time_now_ns();
    sac_session_event event;
    do {
        event = sac_session_wait(p->session, &p->frame, &p->error);
        if (sac_time_now_ns() - start > 20000000000u) fail_msg("no frame for 20 s, state %s", p->frame.state);
    } while (event == SAC_SESSION_IDLE);
    return event;
}

static inline void play_frame(play *p)
{
    assert_int_equal(play_wait(p), SAC_SESSION_FRAME);
    play_draw(p);
}

static inline void play_until_focused(play *p)
{
    for (int i = 0; i < 200; i++) {
        play_frame(p);
        if (p->frame.focused) return;
    }
    fail_msg("not focused after 200 frames, state %s", p->frame.state);
}

static inline void play_exit(play *p)
{
    assert_int_equal(sac_session_request_exit(p->session, &p->error), SAC_OK);
    for (int i = 0; i < 200; i++) {
        const sac_session_event event = sac_session_wait(p->session, &p->frame, &p->error);
        if (event == SAC_SESSION_EXIT) return;
        assert_int_not_equal(event, SAC_SESSION_LOST);
        if (event == SAC_SESSION_FRAME) play_draw(p);
    }
    fail_msg("no exit after 200 frames, state %s", p->frame.state);
}

/* ---- services ---- */

static inline pid_t play_service(void)
{
    const char *pid = getenv("SACCADE_XR_SERVICE");
    assert_non_null(pid);
    return (pid_t)atol(pid);
}

/* Another service in the same folder; scripts/xr-test ends it when the test forgets. */
static inline pid_t play_serve(void)
{
    const char *script = getenv("SACCADE_XR_TEST"), *log = getenv("SACCADE_XR_LOG"),
               *list = getenv("SACCADE_XR_SERVICES");
    assert_non_null(script);
    const pid_t pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0) {
        if (freopen("/dev/null", "r", stdin) && freopen(log, "a", stdout)) dup2(STDOUT_FILENO, STDERR_FILENO);
        execl(script, script, "--serve", (char *)NULL);
        _exit(127);
    }
    FILE *file = fopen(list, "a");
    if (file) {
        fprintf(file, "%ld\n", (long)pid);
        fclose(file);
    }
    return pid;
}

#endif
