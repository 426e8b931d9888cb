/* The gaze replay layer: several instances and sessions, threads, gaze that is live, and the faults it puts
 * in. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/display_play.h"
#include "layer_play.h"

/* ---- several, and gone ones ---- */

static void instances_do_not_mix(void **state)
{
    (void)state;
    app a = start_on(0, "fixation:10,0"), b = start_on(1, "fixation:-20,5");
    for (int i = 0; i < 5; i++) frame(&b);
    located of_a = locate(&a, a.gaze_space, a.view, 1010 * ms),
            of_b = locate(&b, b.gaze_space, b.view, 1090 * ms);
    assert_true(of_a.flags == ALL && of_b.flags == ALL);
    same_pose(of_a.pose, turn(10, 0));
    same_pose(of_b.pose, turn(-20, 5));
    /* Each from its own first frame: b's was later. */
    assert_true(locate(&b, b.gaze_space, b.view, 1010 * ms).flags == 0);
    stop(&a);
    assert_true(locate(&b, b.gaze_space, b.view, 1090 * ms).flags == ALL);
    /* A second session beside the first. */
    app c = b;
    make_session(&c);
    assert_int_equal(attach(&c), XR_SUCCESS);
    c.gaze_space = make_space(&c, c.gaze, XR_NULL_PATH, identity);
    assert_int_equal(sync_for(&c, XR_NULL_PATH), XR_SUCCESS);
    XrTime begun = frame(&c).predictedDisplayTime;
    assert_true(locate(&c, c.gaze_space, c.view, begun - ms).flags == 0);
    assert_true(locate(&c, c.gaze_space, c.view, begun).flags == ALL);
    assert_int_equal(b.DestroySession(b.session), XR_SUCCESS);
    assert_true(locate(&c, c.gaze_space, c.view, begun).flags == ALL);
    XrFrameState dead = {.type = XR_TYPE_FRAME_STATE};
    assert_int_equal(b.WaitFrame(b.session, NULL, &dead), XR_ERROR_HANDLE_INVALID);
    stop(&c);
}

/* Handles come back with another meaning once they are destroyed. */
static void the_destroyed_are_forgotten(void **state)
{
    (void)state;
    app a = start("center");
    below *b = &below_runtimes[0];
    XrSpace was = a.gaze_space;
    assert_int_equal(a.DestroySpace(was), XR_SUCCESS);
    b->next_number = BELOW_NUMBER(was);
    XrReferenceSpaceCreateInfo info = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                       .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_LOCAL,
                                       .poseInReferenceSpace = identity};
    XrSpace now;
    assert_int_equal(a.CreateReferenceSpace(a.session, &info, &now), XR_SUCCESS);
    assert_true(now == was);
    located plain = locate(&a, now, a.local, 1010 * ms);
    assert_true(plain.sample == 77 && plain.velocity == 3);
    /* The action, its set. */
    XrAction action = a.gaze;
    XrActionSet set = a.set;
    assert_int_equal(a.DestroyAction(action), XR_SUCCESS);
    uint32_t free_number = b->next_number;
    b->next_number = BELOW_NUMBER(action);
    XrAction other = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    assert_true(other == action && !is_active(&a, other, XR_NULL_PATH));
    assert_int_equal(a.DestroyActionSet(set), XR_SUCCESS);
    b->next_number = BELOW_NUMBER(set);
    make_set(&a);
    assert_true(a.set == set);
    b->next_number = free_number;
    a.gaze = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_SUCCESS); /* nothing is attached to it */
    stop(&a);
}

static void *locate_for_a_while(void *user)
{
    app *a = user;
    for (int i = 0; i < 20000; i++) {
        XrSpaceLocation location = {.type = XR_TYPE_SPACE_LOCATION};
        XrResult result =
            a->LocateSpace(a->gaze_space, i % 2 ? a->view : a->local, 1100 * ms + i * 1000, &location);
        if (result != XR_SUCCESS || location.locationFlags != ALL) return a;
    }
    return NULL;
}

static void threads_may_ask_at_once(void **state)
{
    (void)state;
    app a = start_on(0, "saccades:1"), b = start_on(1, "pursuit:5,2");
    pthread_t threads[2];
    assert_int_equal(pthread_create(&threads[0], NULL, locate_for_a_while, &a), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, locate_for_a_while, &b), 0);
    for (int i = 0; i < 20; i++) {
        app c;
        assert_int_equal(make_instance(&c, 0, true), XR_SUCCESS);
        stop(&c);
        sync_for(&b, XR_NULL_PATH);
    }
    void *failed;
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    stop(&a);
    stop(&b);
}

/* ---- live ---- */

static void lines_from_a_pipe_are_gaze(void **state)
{
    (void)state;
    char path[] = "layer-pipe-XXXXXX";
    int number = mkstemp(path);
    assert_true(number >= 0);
    close(number);
    remove(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    char word[64];
    snprintf(word, sizeof word, "live:%s", path);
    app a = start(word);
    assert_true(came_down(0, "XR_KHR_convert_timespec_time")); /* for us */
    int pipe_end = open(path, O_WRONLY | O_NONBLOCK);
    assert_true(pipe_end >= 0);
    const struct {
        const char *text;
        bool valid;
        double yaw, pitch;
    } steps[] = {{"", false, 0, 0},
                 {"10,5\n", true, 10, 5},
                 {"", true, 10, 5},
                 {"1,1\n20,-3", true, 1, 1},
                 {"0\n", true, 20, -30},
                 {"5,5,0\n", false, 0, 0},
                 {"nonsense\n400,0\n7,7,2\n", false, 0, 0},
                 {"-8,0.5,1\r\n", true, -8, 0.5}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t length = strlen(steps[i].text);
        assert_int_equal(write(pipe_end, steps[i].text, length), (ssize_t)length);
        XrTime time = frame(&a).predictedDisplayTime;
        assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
        located gaze = locate(&a, a.gaze_space, a.view, time);
        assert_true(gaze.flags == (steps[i].valid ? ALL : 0));
        if (!steps[i].valid) continue;
        same_pose(gaze.pose, turn(steps[i].yaw, steps[i].pitch));
        assert_true(gaze.sample > 0 && gaze.sample < time);
    }
    close(pipe_end);
    frame(&a);
    assert_true(locate(&a, a.gaze_space, a.view, 9999 * ms).flags == ALL); /* stays when the writer leaves */
    stop(&a);
    remove(path);
}

static pid_t display; /* 0: none */

static int display_gone(void **state)
{
    if (display) {
        kill(display, SIGTERM);
        waitpid(display, NULL, 0);
        display = 0;
    }
    return done(state);
}

/* Moves the pointer the way a hand would, from outside. */
static void move_pointer(int16_t x, int16_t y)
{
    void *xcb = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(xcb);
    typedef struct cookie {
        unsigned int sequence;
    } cookie;
    typedef struct screens {
        uint32_t *data;
        int left, index;
    } screens;
    void *(*connect)(const char *, int *);
    const void *(*setup)(void *);
    screens (*roots)(const void *);
    cookie (*warp)(void *, uint32_t, uint32_t, int16_t, int16_t, uint16_t, uint16_t, int16_t, int16_t);
    cookie (*query)(void *, uint32_t);
    void *(*reply)(void *, cookie, void **);
    void (*disconnect)(void *);
    const struct {
        const char *name;
        void *function;
    } list[] = {
        {"xcb_connect", &connect},      {"xcb_get_setup", &setup},     {"xcb_setup_roots_iterator", &roots},
        {"xcb_warp_pointer", &warp},    {"xcb_query_pointer", &query}, {"xcb_query_pointer_reply", &reply},
        {"xcb_disconnect", &disconnect}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        void *found = dlsym(xcb, list[i].name);
        assert_non_null(found);
        memcpy(list[i].function, &found, sizeof found);
    }
    void *hand = connect(NULL, NULL);
    uint32_t root = roots(setup(hand)).data[0];
    warp(hand, 0, root, 0, 0, 0, 0, x, y);
    free(reply(hand, query(hand, root), NULL)); /* once that is answered it has moved */
    disconnect(hand);
    dlclose(xcb);
}

/* The screen is 90 degrees wide: a window at the distance of its half width. */
static void the_mouse_is_gaze(void **state)
{
    (void)state;
    char name[32];
    display = start_display("1000x500x24", name);
    if (!display) {
        print_message("there is no Xvfb here, so no mouse\n");
        skip();
    }
    setenv("DISPLAY", name, 1);
    app a = start("mouse");
    const int16_t places[][2] = {{500, 250}, {999, 250}, {0, 250}, {500, 0}, {750, 125}, {250, 499}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        move_pointer(places[i][0], places[i][1]);
        /* The display works through what it is told in its own time. */
        double right = (places[i][0] + 0.5 - 500) / 500, up = (250 - places[i][1] - 0.5) / 500;
        XrPosef expected =
            turn(atan(right) * 57.29577951308232, atan(up / sqrt(1 + right * right)) * 57.29577951308232);
        located gaze = {0};
        for (int tries = 0; tries < 200; tries++) {
            XrTime time = frame(&a).predictedDisplayTime;
            assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
            gaze = locate(&a, a.gaze_space, a.view, time);
            if (fabsf(gaze.pose.orientation.y - expected.orientation.y) < 1e-4f) break;
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        assert_true(gaze.flags == ALL);
        same_pose(gaze.pose, expected);
    }
    /* The display goes away: the last place stays, and nothing ends. */
    kill(display, SIGTERM);
    waitpid(display, NULL, 0);
    display = 0;
    XrTime time = frame(&a).predictedDisplayTime;
    assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
    assert_true(locate(&a, a.gaze_space, a.view, time).flags == ALL);
    stop(&a);
}

/* ---- faults ---- */

static void faults_are_put_in(void **state)
{
    (void)state;
    setenv("SACCADE_FAULT_NO_RENDER", "3-4,8", 1);
    setenv("SACCADE_FAULT_GAZE_LOST", "5-6", 1);
    setenv("SACCADE_FAULT_NEGATIVE_TIME", "7", 1);
    setenv("SACCADE_FAULT_ABSURD_TIME", "9", 1);
    setenv("SACCADE_FAULT_ABSURD_PERIOD", "10-", 1);
    app a = start("center"); /* the first frame */
    for (int i = 2; i < 20; i++) {
        XrTime truth = below_runtimes[0].predicted;
        XrFrameState f = frame(&a);
        assert_int_equal(f.shouldRender, !(i == 3 || i == 4 || i == 8));
        assert_true(f.predictedDisplayTime == (i == 7 ? -truth : i == 9 ? truth + 3600000 * ms : truth));
        assert_true(f.predictedDisplayPeriod == (i >= 10 ? 3600000 * ms : 10 * ms));
        located gaze = locate(&a, a.gaze_space, a.view, truth);
        assert_true(gaze.flags == (i == 5 || i == 6 ? 0 : ALL) && (gaze.sample == 0) == (i == 5 || i == 6));
        assert_true(is_active(&a, a.gaze, XR_NULL_PATH));
        const XrFrameEndInfo end = {.type = XR_TYPE_FRAME_END_INFO, .displayTime = f.predictedDisplayTime};
        assert_int_equal(a.BeginFrame(a.session, NULL), XR_SUCCESS);
        assert_int_equal(a.EndFrame(a.session, &end), XR_SUCCESS);
        assert_true(below_runtimes[0].ended_for == truth);
    }
    stop(&a);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Late is at least as late as asked for; how much more the machine decides. */
static void stalls_are_late(void **state)
{
    (void)state;
    const char *const ways[] = {"12/4", "12@4,8"};
    for (int w = 0; w < 2; w++) {
        setenv("SACCADE_FAULT_STALL", ways[w], 1);
        below_reset();
        app a = start("center");
        for (int i = 2; i < 10; i++) {
            double before = seconds_now();
            frame(&a);
            if (i % 4 == 0) assert_true(seconds_now() - before >= 0.012);
        }
        stop(&a);
    }
}

static void losses_happen_once(void **state)
{
    (void)state;
    setenv("SACCADE_FAULT_SESSION_LOSS", "5", 1);
    setenv("SACCADE_FAULT_INSTANCE_LOSS", "9", 1);
    app a = start("center");
    XrFrameState f = {.type = XR_TYPE_FRAME_STATE};
    for (int i = 2; i < 5; i++) assert_int_equal(a.WaitFrame(a.session, NULL, &f), XR_SUCCESS);
    const XrFrameEndInfo end = {.type = XR_TYPE_FRAME_END_INFO, .displayTime = 5};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(a.WaitFrame(a.session, NULL, &f), XR_ERROR_SESSION_LOST);
        assert_int_equal(a.BeginFrame(a.session, NULL), XR_ERROR_SESSION_LOST);
        assert_int_equal(a.EndFrame(a.session, &end), XR_ERROR_SESSION_LOST);
        assert_int_equal(a.BeginSession(a.session, NULL), XR_ERROR_SESSION_LOST);
        assert_int_equal(a.EndSession(a.session), XR_ERROR_SESSION_LOST);
        assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_ERROR_SESSION_LOST);
        assert_int_equal(locate(&a, a.gaze_space, a.view, 1010 * ms).result, XR_ERROR_SESSION_LOST);
        assert_int_equal(locate(&a, a.view, a.local, 1010 * ms).result, XR_ERROR_SESSION_LOST);
    }
    assert_int_equal(below_runtimes[0].ends, 0);
    assert_int_equal(a.DestroySession(a.session), XR_SUCCESS);
    make_session(&a); /* and again, to the instance's end */
    for (int i = 1; i < 9; i++) assert_int_equal(a.WaitFrame(a.session, NULL, &f), XR_SUCCESS);
    XrEventDataBuffer event;
    const XrSessionCreateInfo info = {.type = XR_TYPE_SESSION_CREATE_INFO, .systemId = 1};
    XrSession another;
    assert_int_equal(a.WaitFrame(a.session, NULL, &f), XR_ERROR_INSTANCE_LOST);
    assert_int_equal(a.PollEvent(a.instance, &event), XR_ERROR_INSTANCE_LOST);
    assert_int_equal(a.CreateSession(a.instance, &info, &another), XR_ERROR_INSTANCE_LOST);
    assert_int_equal(a.DestroySession(a.session), XR_SUCCESS);
    stop(&a);
    a = start("center");
    for (int i = 2; i < 30; i++) assert_int_equal(a.WaitFrame(a.session, NULL, &f), XR_SUCCESS);
    stop(&a);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)
    const struct CMUnitTest tests[] = {
        TEST(instances_do_not_mix),
        TEST(the_destroyed_are_forgotten),
        TEST(threads_may_ask_at_once),
        TEST(lines_from_a_pipe_are_gaze),
        cmocka_unit_test_setup_teardown(the_mouse_is_gaze, fresh, display_gone),
        TEST(faults_are_put_in),
        TEST(stalls_are_late),
        TEST(losses_happen_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
