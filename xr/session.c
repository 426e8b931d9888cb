/* The session's frame loop: events and states, waiting, what is handed to the caller, what goes back to the
 * runtime; and what happens when the runtime is gone. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "xr/session_internal.h"

#define IDLE_NS 5000000        /* between two looks at a session that does not run */
#define BELIEVED_NS 1000000000 /* a display time farther from now than this is a mistake */

sac_session_def sac_default_session_def(void)
{
    return (sac_session_def){.application = "Saccade",
                             .renderer = sac_default_renderer_def(),
                             .slice = sac_default_slice_def(),
                             .resolution = 1,
                             .depth = true,
                             .hand_joints = true};
}

const char *sac_session_state_name(XrSessionState state)
{
    static const char *const names[] = {"UNKNOWN", "IDLE",     "READY",        "SYNCHRONIZED", "VISIBLE",
                                        "FOCUSED", "STOPPING", "LOSS_PENDING", "EXITING"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "UNKNOWN";
}

/* ---- calls and their cost ---- */

void sac_session_enter(sac_session *session) { session->call_cpu_ns = sac_time_thread_cpu_ns(); }

XrResult sac_session_leave(sac_session *session, XrResult result)
{
    session->runtime_cpu_ns += sac_time_thread_cpu_ns() - session->call_cpu_ns;
    return result;
}

bool sac_session_good(sac_session *session, XrResult result, const char *doing)
{
    /* A time the runtime does not like costs a pose or a picture, not the session. */
    if (XR_SUCCEEDED(result) || result == XR_ERROR_TIME_INVALID) return true;
    if (!session->lost) sac_session_failed(session, result, doing, &session->trouble);
    session->lost = true;
    return false;
}

/* ---- life ---- */

sac_result sac_session_create(const sac_session_def *def, sac_session **out_session, sac_error *error)
{
    *out_session = NULL;
    if (!def || !(def->resolution >= 0.1f && def->resolution <= 4))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "start from sac_default_session_def",
                             "resolution must be 0.1 to 4");
    if (!def->renderer.gallery)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make one with sac_gallery_create",
                             "the renderer has no gallery");
    sac_session *session = sac_alloc_zero(1, sizeof *session);
    if (!session) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    session->def = *def;
    if (!session->def.application) session->def.application = "Saccade";
    session->created_ns = sac_time_now_ns();
    sac_ledger_init(&session->info.ledger);
    sac_slice_init(&session->info.slice, &def->slice);
    const sac_result result = sac_session_open(session, error);
    if (result != SAC_OK) {
        sac_free(session, 1, sizeof *session);
        return result;
    }
    *out_session = session;
    return SAC_OK;
}

void sac_session_destroy(sac_session **session)
{
    if (!*session) return;
    sac_session_close(*session);
    sac_free(*session, 1, sizeof **session);
    *session = NULL;
}

sac_result sac_session_reopen(sac_session *session, sac_error *error)
{
    if (session->open) return SAC_OK;
    const uint32_t width = session->info.width, height = session->info.height;
    session->lost = false;
    const sac_result result = sac_session_open(session, error);
    if (result != SAC_OK) {
        session->lost = true;
        session->info.width = width, session->info.height = height;
        if (error) error->code = SAC_ERROR_IO;
        return SAC_ERROR_IO;
    }
    session->info.reopened++;
    /* Another service counts from another zero: what was predicted before says nothing about what was missed
     * since. The sums are kept. */
    sac_ledger_break(&session->info.ledger);
    return SAC_OK;
}

void sac_session_info_get(const sac_session *session, sac_session_info *out_info)
{
    *out_info = session->info;
}

/* ---- events ---- */

static void begin_session(sac_session *session)
{
    const XrSessionBeginInfo info = {.type = XR_TYPE_SESSION_BEGIN_INFO,
                                     .primaryViewConfigurationType = session->view_type};
    if (!sac_session_good(session, xrBeginSession(session->session, &info), "begin the session")) return;
    session->running = true;
    session->clock_checked_ns = 0;
}

static void note_state(sac_session *session, const char *name)
{
    char *states = session->info.states;
    while (strlen(states) + strlen(name) + 2 > sizeof session->info.states) {
        const char *rest = strchr(states, ' ');
        memmove(states, rest ? rest + 1 : "", rest ? strlen(rest + 1) + 1 : 1);
    }
    if (*states) strcat(states, " ");
    strcat(states, name);
}

static void change_state(sac_session *session, XrSessionState state)
{
    session->state = state;
    note_state(session, sac_session_state_name(state));
    switch (state) {
    case XR_SESSION_STATE_READY:
        begin_session(session);
        break;
    case XR_SESSION_STATE_FOCUSED:
        if (!session->info.focused_ns) session->info.focused_ns = sac_time_now_ns() - session->created_ns;
        break;
    case XR_SESSION_STATE_STOPPING:
        session->running = false;
        /* Its predictions end here; the next run starts a new row of them. */
        sac_ledger_break(&session->info.ledger);
        sac_session_good(session, xrEndSession(session->session), "end the session");
        break;
    case XR_SESSION_STATE_EXITING:
        session->exited = true;
        break;
    case XR_SESSION_STATE_LOSS_PENDING:
        sac_session_good(session, XR_ERROR_SESSION_LOST, "keep the session");
        break;
    default:
        break;
    }
}

static void poll_events(sac_session *session)
{
    while (!session->lost && !session->exited) {
        XrEventDataBuffer event = {.type = XR_TYPE_EVENT_DATA_BUFFER};
        const XrResult result = SAC_XR(session, xrPollEvent(session->instance, &event));
        if (result == XR_EVENT_UNAVAILABLE || !sac_session_good(session, result, "ask for events")) return;
        switch (event.type) {
        case XR_TYPE_EVENT_DATA_SESSION_STATE_CHANGED: {
            const XrEventDataSessionStateChanged *change = (const void *)&event;
            if (change->session == session->session) change_state(session, change->state);
            break;
        }
        case XR_TYPE_EVENT_DATA_INSTANCE_LOSS_PENDING:
            sac_session_good(session, XR_ERROR_INSTANCE_LOST, "keep the runtime");
            break;
        case XR_TYPE_EVENT_DATA_REFERENCE_SPACE_CHANGE_PENDING:
            sac_session_space_changed(session, (const void *)&event);
            break;
        case XR_TYPE_EVENT_DATA_DISPLAY_REFRESH_RATE_CHANGED_FB: {
            const XrEventDataDisplayRefreshRateChangedFB *change = (const void *)&event;
            session->info.refresh_hz = change->toDisplayRefreshRate;
            break;
        }
        default:
            break;
        }
    }
}

/* ---- a frame ---- */

static bool wait_frame(sac_session *session, sac_session_frame *frame)
{
    XrFrameState state = {.type = XR_TYPE_FRAME_STATE};
    frame->stamp.wait_begin_ns = sac_time_now_ns();
    const XrResult result = SAC_XR(session, xrWaitFrame(session->session, NULL, &state));
    frame->stamp.wake_ns = sac_time_now_ns();
    if (!sac_session_good(session, result, "wait for the frame")) return false;
    frame->stamp.predicted_xr = session->predicted = state.predictedDisplayTime;
    frame->stamp.period_ns = state.predictedDisplayPeriod;
    frame->stamp.should_render = session->should_render = state.shouldRender;
    if (!sac_session_good(session, SAC_XR(session, xrBeginFrame(session->session, NULL)), "begin the frame"))
        return false;
    session->begun = true;
    frame->begin_ns = sac_time_now_ns();
    sac_session_read_clock(session);
    return true;
}

/* What was missed, and the time things are located at: the prediction, or when nobody can believe it, a
 * period from now. */
static void reckon(sac_session *session, sac_session_frame *frame)
{
    sac_ledger_add(&session->info.ledger, &frame->stamp, &frame->verdict);
    if (session->draw_ns) sac_slice_learn(&session->info.slice, session->draw_ns, frame->verdict.missed);
    session->draw_ns = 0;
    session->locate_time = frame->verdict.display_xr;
    frame->predicted_ns = sac_session_to_monotonic(session, session->locate_time);
    const int64_t lead = (int64_t)(frame->predicted_ns - frame->stamp.wake_ns);
    if (session->locate_time <= 0 || lead > BELIEVED_NS || lead < -BELIEVED_NS) {
        frame->predicted_ns = frame->stamp.wake_ns + (uint64_t)frame->verdict.period_ns;
        session->locate_time = (XrTime)frame->predicted_ns - session->clock_offset_ns;
    }
}

static void plan(const sac_session *session, sac_session_frame *frame)
{
    frame->deadline_ns = sac_slice_plan(&session->info.slice, sac_time_now_ns(), frame->stamp.wake_ns,
                                        frame->predicted_ns, frame->verdict.period_ns);
}

static sac_session_event release_lost(sac_session *session, sac_session_frame *frame, sac_error *error)
{
    if (session->open) note_state(session, "LOST");
    memset(frame, 0, sizeof *frame);
    snprintf(frame->state, sizeof frame->state, "LOST");
    sac_session_close(session);
    if (error) *error = session->trouble;
    return SAC_SESSION_LOST;
}

sac_session_event sac_session_wait(sac_session *session, sac_session_frame *out_frame, sac_error *error)
{
    memset(out_frame, 0, sizeof *out_frame);
    if (session->exited) return SAC_SESSION_EXIT;
    if (session->lost || !session->open) return release_lost(session, out_frame, error);
    if (session->begun) sac_session_skip(session, NULL); /* the caller forgot one */
    const uint64_t cpu = sac_time_thread_cpu_ns();
    session->runtime_cpu_ns = 0;
    poll_events(session);
    snprintf(out_frame->state, sizeof out_frame->state, "%s", sac_session_state_name(session->state));
    if (session->lost) return release_lost(session, out_frame, error);
    if (session->exited) return SAC_SESSION_EXIT;
    if (!session->running) {
        nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
        return SAC_SESSION_IDLE;
    }
    out_frame->focused = session->state == XR_SESSION_STATE_FOCUSED;
    if (!wait_frame(session, out_frame)) return release_lost(session, out_frame, error);
    reckon(session, out_frame);
    if (!sac_session_locate_views(session, out_frame) || !sac_actions_read(session, out_frame))
        return release_lost(session, out_frame, error);
    /* Never seen from anywhere yet: there is nothing to draw. */
    out_frame->should_render = session->should_render = session->should_render && session->located;
    plan(session, out_frame);
    session->frame_cpu_ns = sac_time_thread_cpu_ns() - cpu;
    return SAC_SESSION_FRAME;
}

static bool end_frame(sac_session *session, const XrCompositionLayerProjection *layer)
{
    const XrCompositionLayerBaseHeader *layers[] = {(const XrCompositionLayerBaseHeader *)layer};
    const XrFrameEndInfo info = {.type = XR_TYPE_FRAME_END_INFO,
                                 /* what it said, unless it cannot mean it */
                                 .displayTime =
                                     session->predicted > 0 ? session->predicted : session->locate_time,
                                 .environmentBlendMode = session->blend,
                                 .layerCount = layer ? 1 : 0,
                                 .layers = layers};
    session->begun = false;
    return sac_session_good(session, SAC_XR(session, xrEndFrame(session->session, &info)), "end the frame");
}

static void show_frame(sac_session *session, float near_plane)
{
    XrCompositionLayerProjectionView views[SAC_DRAWING_MOST_VIEWS];
    XrCompositionLayerDepthInfoKHR depths[SAC_DRAWING_MOST_VIEWS];
    const XrRect2Di rectangle = {.extent = {(int32_t)session->info.width, (int32_t)session->info.height}};
    for (uint32_t i = 0; i < session->view_count; i++) {
        const uint32_t chain = session->layered ? 0 : i, layer = session->layered ? i : 0;
        views[i] =
            (XrCompositionLayerProjectionView){.type = XR_TYPE_COMPOSITION_LAYER_PROJECTION_VIEW,
                                               .pose = session->views[i].pose,
                                               .fov = session->views[i].fov,
                                               .subImage = {session->colour[chain].handle, rectangle, layer}};
        depths[i] = (XrCompositionLayerDepthInfoKHR){.type = XR_TYPE_COMPOSITION_LAYER_DEPTH_INFO_KHR,
                                                     .subImage = {session->depth.handle, rectangle, layer},
                                                     .maxDepth = 1,
                                                     .nearZ = INFINITY, /* depth 0 is infinitely far */
                                                     .farZ = near_plane};
        if (session->depth.handle) views[i].next = &depths[i];
    }
    const XrCompositionLayerProjection layer = {.type = XR_TYPE_COMPOSITION_LAYER_PROJECTION,
                                                .space = session->space,
                                                .viewCount = session->view_count,
                                                .views = views};
    end_frame(session, &layer);
}

sac_result sac_session_draw(sac_session *session, const sac_drawing *drawing, sac_screen_stats *out_stats,
                            sac_error *error)
{
    sac_screen_stats stats = {0};
    sac_renderer_image image;
    sac_result result = SAC_OK;
    sac_error trouble = {0};
    if (out_stats) *out_stats = stats;
    if (!session->begun) {
        if (session->lost) return SAC_OK;
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "call sac_session_wait first", "no frame is begun");
    }
    if (!session->should_render) return sac_session_skip(session, error);
    const uint64_t start = sac_time_now_ns(), cpu = sac_time_thread_cpu_ns();
    uint64_t drawing_cpu = 0;
    if (sac_swapchains_acquire(session, &image)) {
        const uint64_t before = sac_time_thread_cpu_ns();
        result = sac_renderer_draw(session->renderer, &image, drawing, &stats, &trouble);
        drawing_cpu = sac_time_thread_cpu_ns() - before;
        /* Given back in any case: an image kept is an image less. */
        if (sac_swapchains_release(session)) {
            if (result == SAC_OK)
                show_frame(session, drawing->near_plane);
            else
                end_frame(session, NULL);
        }
    }
    session->begun = false;
    session->frame_cpu_ns += sac_time_thread_cpu_ns() - cpu - drawing_cpu;
    session->draw_ns = sac_time_now_ns() - start;
    const uint64_t own =
        session->frame_cpu_ns > session->runtime_cpu_ns ? session->frame_cpu_ns - session->runtime_cpu_ns : 0;
    stats.prepare_ns += own;
    if (out_stats) *out_stats = stats;
    if (result == SAC_OK) session->drawn = true;
    if (result == SAC_ERROR_UNSUPPORTED && session->drawn) {
        /* The device was lost, not wanting from the start: with a new session comes a new one. */
        if (!session->lost) session->trouble = trouble, session->trouble.code = SAC_ERROR_IO;
        session->lost = true;
        return SAC_OK;
    }
    if (result != SAC_OK && error) *error = trouble;
    return result;
}

sac_result sac_session_skip(sac_session *session, sac_error *error)
{
    if (!session->begun) {
        if (session->lost) return SAC_OK;
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "call sac_session_wait first", "no frame is begun");
    }
    end_frame(session, NULL);
    return SAC_OK;
}

void sac_session_pulse(sac_session *session, uint32_t hand, float amplitude, float seconds)
{
    if (session->lost || !session->running || hand >= SAC_HANDS || !(amplitude > 0)) return;
    sac_actions_pulse(session, hand, amplitude, seconds);
}

sac_result sac_session_request_exit(sac_session *session, sac_error *error)
{
    if (session->lost || !session->open || !session->running) {
        /* Nothing runs that would have to wind down. */
        session->exited = true;
        return SAC_OK;
    }
    const XrResult result = xrRequestExitSession(session->session);
    if (result == XR_ERROR_SESSION_NOT_RUNNING) {
        session->exited = true;
        return SAC_OK;
    }
    if (XR_FAILED(result)) {
        sac_session_good(session, result, "ask for the end");
        if (error) *error = session->trouble;
        return session->trouble.code;
    }
    return SAC_OK;
}
