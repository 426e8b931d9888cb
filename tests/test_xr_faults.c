/* What a real runtime seldom does, made to happen: the linker puts these functions between the session and
 * the loader (--wrap, see CMakeLists.txt), and each can be told to fail or to lie at a certain call. */
#include "xr/openxr_compat_internal.h"
#include "xr_play.h"

/* ---- between the session and the loader ---- */

static struct {
    const char *function; /* NULL: all is well */
    uint32_t after;       /* calls that still go through */
    bool for_good;        /* from then on, not only once */
    XrResult result;
    uint32_t times; /* it happened */
} fault;

static bool fails(const char *function)
{
    if (!fault.function || strcmp(fault.function, function) != 0) return false;
    if (fault.after) {
        fault.after--;
        return false;
    }
    fault.times++;
    if (!fault.for_good) fault.function = NULL;
    return true;
}

static void plan_fault(const char *function, uint32_t after, XrResult result, bool for_good)
{
    fault.function = function, fault.after = after, fault.result = result, fault.for_good = for_good,
    fault.times = 0;
}

/* What the next frames are said to be; 0: as they are. */
static struct {
    XrTime predicted;
    bool predicted_given, no_render;
    XrDuration period;
    bool period_given;
    uint32_t frames;
} lie;

static XrTime predicted_truly; /* of the frame that is lied about; 0: of none */
static XrEventDataBuffer event_waiting;
static XrSession session_seen;

#define WRAP(function, parameters, arguments)                                 \
    XRAPI_ATTR XrResult XRAPI_CALL __real_##function parameters;              \
    XRAPI_ATTR XrResult XRAPI_CALL __wrap_##function parameters;              \
    XRAPI_ATTR XrResult XRAPI_CALL __wrap_##function parameters               \
    {                                                                         \
        return fails(#function) ? fault.result : __real_##function arguments; \
    }

WRAP(xrGetSystem, (XrInstance i, const XrSystemGetInfo *g, XrSystemId *s), (i, g, s))
WRAP(xrCreateSwapchain, (XrSession s, const XrSwapchainCreateInfo *c, XrSwapchain *w), (s, c, w))
WRAP(xrCreateReferenceSpace, (XrSession s, const XrReferenceSpaceCreateInfo *c, XrSpace *p), (s, c, p))
WRAP(xrCreateActionSet, (XrInstance i, const XrActionSetCreateInfo *c, XrActionSet *a), (i, c, a))
WRAP(xrAttachSessionActionSets, (XrSession s, const XrSessionActionSetsAttachInfo *a), (s, a))
WRAP(xrBeginSession, (XrSession s, const XrSessionBeginInfo *b), (s, b))
WRAP(xrBeginFrame, (XrSession s, const XrFrameBeginInfo *b), (s, b))
WRAP(xrLocateViews,
     (XrSession s, const XrViewLocateInfo *l, XrViewState *v, uint32_t n, uint32_t *c, XrView *w),
     (s, l, v, n, c, w))
WRAP(xrLocateSpace, (XrSpace s, XrSpace b, XrTime t, XrSpaceLocation *l), (s, b, t, l))
WRAP(xrSyncActions, (XrSession s, const XrActionsSyncInfo *a), (s, a))
WRAP(xrGetActionStatePose, (XrSession s, const XrActionStateGetInfo *g, XrActionStatePose *p), (s, g, p))
WRAP(xrAcquireSwapchainImage, (XrSwapchain w, const XrSwapchainImageAcquireInfo *a, uint32_t *i), (w, a, i))
WRAP(xrWaitSwapchainImage, (XrSwapchain w, const XrSwapchainImageWaitInfo *a), (w, a))
WRAP(xrReleaseSwapchainImage, (XrSwapchain w, const XrSwapchainImageReleaseInfo *a), (w, a))

XRAPI_ATTR XrResult XRAPI_CALL __real_xrCreateSession(XrInstance i, const XrSessionCreateInfo *c,
                                                      XrSession *s);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrCreateSession(XrInstance i, const XrSessionCreateInfo *c,
                                                      XrSession *s);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrCreateSession(XrInstance i, const XrSessionCreateInfo *c,
                                                      XrSession *s)
{
    if (fails("xrCreateSession")) return fault.result;
    const XrResult result = __real_xrCreateSession(i, c, s);
    session_seen = *s;
    return result;
}

XRAPI_ATTR XrResult XRAPI_CALL __real_xrPollEvent(XrInstance i, XrEventDataBuffer *e);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrPollEvent(XrInstance i, XrEventDataBuffer *e);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrPollEvent(XrInstance i, XrEventDataBuffer *e)
{
    if (fails("xrPollEvent")) return fault.result;
    if (event_waiting.type) {
        *e = event_waiting;
        event_waiting.type = 0;
        return XR_SUCCESS;
    }
    return __real_xrPollEvent(i, e);
}

XRAPI_ATTR XrResult XRAPI_CALL __real_xrWaitFrame(XrSession s, const XrFrameWaitInfo *w, XrFrameState *f);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrWaitFrame(XrSession s, const XrFrameWaitInfo *w, XrFrameState *f);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrWaitFrame(XrSession s, const XrFrameWaitInfo *w, XrFrameState *f)
{
    if (fails("xrWaitFrame")) return fault.result;
    const XrResult result = __real_xrWaitFrame(s, w, f);
    if (XR_FAILED(result) || !lie.frames) return result;
    lie.frames--;
    predicted_truly = f->predictedDisplayTime;
    if (lie.predicted_given) f->predictedDisplayTime = lie.predicted;
    if (lie.period_given) f->predictedDisplayPeriod = lie.period;
    if (lie.no_render) f->shouldRender = XR_FALSE;
    return result;
}

/* The compositor would wait for the display time it never meant. */
XRAPI_ATTR XrResult XRAPI_CALL __real_xrEndFrame(XrSession s, const XrFrameEndInfo *e);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrEndFrame(XrSession s, const XrFrameEndInfo *e);
XRAPI_ATTR XrResult XRAPI_CALL __wrap_xrEndFrame(XrSession s, const XrFrameEndInfo *e)
{
    XrFrameEndInfo truth = *e;
    if (fails("xrEndFrame")) return fault.result;
    if (predicted_truly) truth.displayTime = predicted_truly;
    predicted_truly = 0;
    return __real_xrEndFrame(s, &truth);
}

static uint32_t submits_fail;
VKAPI_ATTR VkResult VKAPI_CALL __real_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *s, VkFence f);
VKAPI_ATTR VkResult VKAPI_CALL __wrap_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *s, VkFence f);
VKAPI_ATTR VkResult VKAPI_CALL __wrap_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *s, VkFence f)
{
    if (!submits_fail) return __real_vkQueueSubmit(q, n, s, f);
    submits_fail--;
    return VK_ERROR_DEVICE_LOST;
}

/* ---- tests ---- */

static void run_until_lost(play *p, const char *what)
{
    for (int i = 0; i < 60; i++) {
        const sac_session_event event = sac_session_wait(p->session, &p->frame, &p->error);
        if (event == SAC_SESSION_LOST) return;
        assert_int_not_equal(event, SAC_SESSION_EXIT);
        if (event == SAC_SESSION_FRAME) play_draw(p);
    }
    fail_msg("%s failed and nothing was lost", what);
}

/* Each call of the frame loop fails once in the middle: all is released, told, and comes back. */
static void every_call(void **state)
{
    static const char *const calls[] = {"xrPollEvent",
                                        "xrWaitFrame",
                                        "xrBeginFrame",
                                        "xrLocateViews",
                                        "xrLocateSpace",
                                        "xrSyncActions",
                                        "xrGetActionStatePose",
                                        "xrAcquireSwapchainImage",
                                        "xrWaitSwapchainImage",
                                        "xrReleaseSwapchainImage",
                                        "xrEndFrame"};
    static const XrResult results[] = {XR_ERROR_SESSION_LOST, XR_ERROR_INSTANCE_LOST,
                                       XR_ERROR_RUNTIME_FAILURE};
    (void)state;
    play p;
    sac_session_info info;
    play_open(&p);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        play_until_focused(&p);
        plan_fault(calls[i], 2, results[i % 3], false);
        run_until_lost(&p, calls[i]);
        assert_int_equal(fault.times, 1);
        assert_int_equal(p.error.code, SAC_ERROR_IO);
        assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
        sac_session_info_get(p.session, &info);
        assert_int_equal(info.reopened, i + 1);
        /* What lies between two sessions is nobody's miss. */
        play_frame(&p);
        assert_int_equal(p.frame.verdict.missed, 0);
        assert_false(p.frame.verdict.strange);
    }
    play_until_focused(&p);
    play_exit(&p);
    play_close(&p);
}

/* The graphics device goes: a new session brings a new one. One that never worked is an error. */
static void device_lost(void **state)
{
    (void)state;
    play p;
    sac_drawing drawing = sac_default_drawing();
    play_open(&p);
    play_until_focused(&p);
    play_frame(&p);
    submits_fail = 1;
    run_until_lost(&p, "vkQueueSubmit");
    assert_non_null(strstr(p.error.message, "graphics device"));
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    play_close(&p);
    play_open(&p);
    do assert_int_equal(play_wait(&p), SAC_SESSION_FRAME);
    while (!p.frame.should_render && sac_session_skip(p.session, NULL) == SAC_OK);
    submits_fail = 1;
    drawing.views = p.frame.eyes, drawing.view_count = p.frame.eye_count;
    assert_int_equal(sac_session_draw(p.session, &drawing, NULL, &p.error), SAC_ERROR_UNSUPPORTED);
    submits_fail = 0;
    play_frame(&p); /* its images were given back */
    play_close(&p);
}

/* Whatever fails on the way in leaves nothing behind. */
static void every_door(void **state)
{
    static const char *const calls[] = {"xrGetSystem",       "xrCreateSession",
                                        "xrCreateSwapchain", "xrCreateReferenceSpace",
                                        "xrCreateActionSet", "xrAttachSessionActionSets"};
    (void)state;
    play p;
    play_gallery(&p);
    const sac_session_def def = play_def(&p);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        plan_fault(calls[i], 0, i % 2 ? XR_ERROR_RUNTIME_FAILURE : XR_ERROR_LIMIT_REACHED, false);
        assert_int_not_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
        assert_null(p.session);
        assert_int_equal(fault.times, 1);
        assert_true(strlen(p.error.message) > 0);
    }
    plan_fault("xrBeginSession", 0, XR_ERROR_RUNTIME_FAILURE, false);
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
    run_until_lost(&p, "xrBeginSession");
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    play_close(&p);
}

static void no_headset(void **state)
{
    (void)state;
    play p;
    char text[600];
    plan_fault("xrGetSystem", 0, XR_ERROR_FORM_FACTOR_UNAVAILABLE, true);
    assert_int_equal(sac_session_probe(text, sizeof text), SAC_PRESENCE_NO_HEADSET);
    print_message("%s\n", text);
    assert_non_null(strstr(text, "headset"));
    play_gallery(&p);
    const sac_session_def def = play_def(&p);
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_ERROR_UNSUPPORTED);
    assert_non_null(strstr(p.error.remedy, "saccade view"));
    fault.function = NULL;
    /* Unplugged while it runs, and plugged in again. */
    assert_int_equal(sac_session_create(&def, &p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    plan_fault("xrEndFrame", 0, XR_ERROR_SESSION_LOST, false);
    run_until_lost(&p, "xrEndFrame");
    plan_fault("xrGetSystem", 0, XR_ERROR_FORM_FACTOR_UNAVAILABLE, true);
    for (int i = 0; i < 3; i++) assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_ERROR_IO);
    assert_non_null(strstr(p.error.message, "headset"));
    fault.function = NULL;
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    play_close(&p);
}

static void say(const void *event, size_t size) { memcpy(&event_waiting, event, size); }

static void events(void **state)
{
    (void)state;
    play p;
    play_open(&p);
    play_until_focused(&p);
    /* Somebody else's menu over ours: seen, but neither hands nor eyes. */
    const XrEventDataSessionStateChanged visible = {.type = XR_TYPE_EVENT_DATA_SESSION_STATE_CHANGED,
                                                    .session = session_seen,
                                                    .state = XR_SESSION_STATE_VISIBLE};
    say(&visible, sizeof visible);
    play_frame(&p);
    assert_false(p.frame.focused);
    assert_string_equal(p.frame.state, "VISIBLE");
    XrEventDataSessionStateChanged other = visible;
    other.session = (XrSession)(uintptr_t)0x1234, other.state = XR_SESSION_STATE_EXITING;
    say(&other, sizeof other);
    play_frame(&p); /* not about us */
    XrEventDataSessionStateChanged focused = visible;
    focused.state = XR_SESSION_STATE_FOCUSED;
    say(&focused, sizeof focused);
    play_frame(&p);
    assert_true(p.frame.focused);
    /* The wearer recentres: at the time the runtime names, not before. */
    const XrTime soon = p.frame.stamp.predicted_xr + 180000000;
    const XrEventDataReferenceSpaceChangePending change = {
        .type = XR_TYPE_EVENT_DATA_REFERENCE_SPACE_CHANGE_PENDING,
        .session = session_seen,
        .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_STAGE,
        .changeTime = soon};
    assert_int_equal(sac_session_recentre(p.session, &p.error), SAC_OK);
    say(&change, sizeof change);
    int recentred = 0;
    for (int i = 0; i < 8; i++) {
        play_frame(&p);
        assert_int_equal(p.frame.recentred, !recentred && p.frame.stamp.predicted_xr >= soon);
        recentred += p.frame.recentred;
    }
    assert_int_equal(recentred, 1);
    XrEventDataSessionStateChanged loss = visible;
    loss.state = XR_SESSION_STATE_LOSS_PENDING;
    say(&loss, sizeof loss);
    run_until_lost(&p, "LOSS_PENDING");
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    const XrEventDataInstanceLossPending instance_loss = {.type = XR_TYPE_EVENT_DATA_INSTANCE_LOSS_PENDING};
    say(&instance_loss, sizeof instance_loss);
    run_until_lost(&p, "INSTANCE_LOSS_PENDING");
    assert_int_equal(sac_session_reopen(p.session, &p.error), SAC_OK);
    play_until_focused(&p);
    /* Ended while lost: there is nothing to wait for. */
    plan_fault("xrWaitFrame", 0, XR_ERROR_SESSION_LOST, false);
    run_until_lost(&p, "xrWaitFrame");
    assert_int_equal(sac_session_request_exit(p.session, &p.error), SAC_OK);
    assert_int_equal(sac_session_wait(p.session, &p.frame, &p.error), SAC_SESSION_EXIT);
    play_close(&p);
}

/* Times nobody can mean: the frame goes on, its deadline is sane, and nothing is counted that was not missed.
 */
static void strange_times(void **state)
{
    (void)state;
    static const struct {
        XrTime predicted;
        XrDuration period;
    } lies[] = {{-5, 50000000}, {0, 50000000},   {INT64_MAX, 50000000},
                {1, 0},         {INT64_MIN, -1}, {400000000000000000, INT64_MAX}};
    play p;
    sac_session_info info;
    play_open(&p);
    play_until_focused(&p);
    for (int i = 0; i < 3; i++) play_frame(&p);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        lie.predicted = lies[i].predicted, lie.period = lies[i].period;
        lie.predicted_given = lie.period_given = true, lie.frames = 1;
        const sac_session_event event = play_wait(&p);
        lie.predicted_given = lie.period_given = false;
        if (event == SAC_SESSION_LOST) fail_msg("lie %d cost the session: %s", (int)i, p.error.message);
        const sac_session_frame *f = &p.frame;
        assert_true(f->verdict.strange);
        assert_int_equal(f->verdict.missed, 0);
        assert_true(f->deadline_ns > f->stamp.wake_ns && f->deadline_ns < f->stamp.wake_ns + 60000000u);
        assert_true(f->predicted_ns + 1000000000u > f->stamp.wake_ns &&
                    f->predicted_ns < f->stamp.wake_ns + 1000000000u);
        assert_true(f->eye_count == 2 && f->head_valid);
        play_draw(&p);
        play_frame(&p);
        play_frame(&p);
    }
    /* Not to be drawn: the frame is ended empty, and stays in the books. */
    lie.no_render = true, lie.frames = 3;
    for (int i = 0; i < 3; i++) {
        play_frame(&p);
        assert_false(p.frame.should_render);
    }
    lie.no_render = false;
    play_frame(&p);
    assert_true(p.frame.should_render);
    /* A time the runtime will not locate at costs the pose, not the session. */
    plan_fault("xrLocateViews", 0, XR_ERROR_TIME_INVALID, false);
    play_frame(&p);
    assert_false(p.frame.head_valid);
    assert_int_equal(p.frame.eye_count, 2); /* where they were last */
    play_frame(&p);
    assert_true(p.frame.head_valid);
    sac_session_info_get(p.session, &info);
    assert_int_equal(info.ledger.frames, p.frames);
    assert_int_equal(info.ledger.rendered + p.empty, info.ledger.frames);
    play_exit(&p);
    play_close(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call), cmocka_unit_test(device_lost), cmocka_unit_test(every_door),
        cmocka_unit_test(no_headset), cmocka_unit_test(events),      cmocka_unit_test(strange_times),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
