/* Sessions, frames and events: the calls that tell the layer what time it is, and the places where faults go
 * in. */
#include "xr/layer/layer_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const XrDuration an_hour = 3600000000000;

XrResult sac_layer_lost(const sac_layer_session *session)
{
    if (session->instance->lost) return XR_ERROR_INSTANCE_LOST;
    return session->lost ? XR_ERROR_SESSION_LOST : XR_SUCCESS;
}

XrTime sac_layer_now(const sac_layer_session *session)
{
    const sac_layer_instance *instance = session->instance;
    struct timespec now;
    XrTime time;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (instance->next.ConvertTimespecTimeToTimeKHR &&
        XR_SUCCEEDED(instance->next.ConvertTimespecTimeToTimeKHR(instance->handle, &now, &time)))
        return time;
    sac_layer_lock();
    time = session->predicted - session->period; /* about when the application was woken */
    sac_layer_unlock();
    return time;
}

/* Finds the session and tells whether it is well; NULL: not known. */
static sac_layer_session *well(XrSession handle, XrResult *out_result)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    *out_result = session ? sac_layer_lost(session) : XR_ERROR_HANDLE_INVALID;
    sac_layer_unlock();
    return session;
}

/* ---- instances ---- */

static XrResult XRAPI_CALL destroy_instance(XrInstance handle)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    PFN_xrDestroyInstance destroy = instance ? instance->next.DestroyInstance : NULL;
    sac_layer_forget_instance(handle);
    sac_layer_unlock();
    return destroy ? destroy(handle) : XR_ERROR_HANDLE_INVALID;
}

/* Does the runtime track eyes by itself? */
static bool runtime_tracks(const sac_layer_instance *instance, XrSystemId system)
{
    XrSystemEyeGazeInteractionPropertiesEXT eyes = {.type =
                                                        XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT};
    XrSystemProperties properties = {.type = XR_TYPE_SYSTEM_PROPERTIES, .next = &eyes};
    return instance->native &&
           XR_SUCCEEDED(instance->next.GetSystemProperties(instance->handle, system, &properties)) &&
           eyes.supportsEyeGazeInteraction;
}

static bool gaze_is_ours(const sac_layer_instance *instance, XrSystemId system)
{
    if (!instance->asked || !instance->supply) return false;
    return !instance->prefer_runtime || !runtime_tracks(instance, system);
}

static XrResult XRAPI_CALL get_system_properties(XrInstance handle, XrSystemId system,
                                                 XrSystemProperties *properties)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    bool lost = instance && instance->lost;
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    if (lost) return XR_ERROR_INSTANCE_LOST;
    XrSystemEyeGazeInteractionPropertiesEXT *eyes = NULL;
    XrBaseOutStructure **place = properties ? (XrBaseOutStructure **)&properties->next : NULL;
    for (; place && *place; place = &(*place)->next)
        if ((*place)->type == XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT) {
            eyes = (void *)*place;
            break;
        }
    bool hidden = eyes && !instance->native; /* from a runtime that does not know it */
    if (hidden) *place = (XrBaseOutStructure *)eyes->next;
    XrResult result = instance->next.GetSystemProperties(handle, system, properties);
    if (hidden) *place = (XrBaseOutStructure *)(void *)eyes;
    if (XR_FAILED(result) || !eyes || !instance->asked) return result;
    if (hidden) eyes->supportsEyeGazeInteraction = XR_FALSE;
    if (gaze_is_ours(instance, system)) eyes->supportsEyeGazeInteraction = XR_TRUE;
    return result;
}

/* ---- events ---- */

static void note_state(const XrEventDataSessionStateChanged *event)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(event->session);
    if (session && event->state != XR_SESSION_STATE_FOCUSED) session->active.count = 0;
    sac_layer_unlock();
}

/* The eyes got a profile: an event of ours when the runtime has none to give. */
static bool own_event(const sac_layer_instance *instance, XrEventDataBuffer *buffer)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_changed_session(instance);
    XrSession handle = session ? session->handle : XR_NULL_HANDLE;
    if (session) session->profile_changed = false;
    sac_layer_unlock();
    if (!session) return false;
    const XrEventDataInteractionProfileChanged event = {
        .type = XR_TYPE_EVENT_DATA_INTERACTION_PROFILE_CHANGED, .session = handle};
    memcpy(buffer, &event, sizeof event);
    return true;
}

static XrResult XRAPI_CALL poll_event(XrInstance handle, XrEventDataBuffer *buffer)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    bool lost = instance && instance->lost;
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    if (lost) return XR_ERROR_INSTANCE_LOST;
    XrResult result = instance->next.PollEvent(handle, buffer);
    if (result == XR_EVENT_UNAVAILABLE && buffer && own_event(instance, buffer)) return XR_SUCCESS;
    if (result == XR_SUCCESS && buffer->type == XR_TYPE_EVENT_DATA_SESSION_STATE_CHANGED)
        note_state((const XrEventDataSessionStateChanged *)(const void *)buffer);
    return result;
}

/* ---- sessions ---- */

static XrResult XRAPI_CALL create_session(XrInstance handle, const XrSessionCreateInfo *info, XrSession *out)
{
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    bool lost = instance && instance->lost;
    sac_layer_unlock();
    if (!instance) return XR_ERROR_HANDLE_INVALID;
    if (lost) return XR_ERROR_INSTANCE_LOST;
    XrResult result = instance->next.CreateSession(handle, info, out);
    if (XR_FAILED(result)) return result;
    sac_layer_session session = {.handle = *out, .instance = instance};
    session.ours = gaze_is_ours(instance, info->systemId);
    const XrReferenceSpaceCreateInfo view = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                             .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_VIEW,
                                             .poseInReferenceSpace = {.orientation = {0, 0, 0, 1}}};
    XrResult made =
        session.ours ? instance->next.CreateReferenceSpace(*out, &view, &session.view) : XR_SUCCESS;
    sac_layer_lock();
    bool kept = XR_SUCCEEDED(made) && sac_layer_add_session(&session);
    sac_layer_unlock();
    if (kept) return result;
    instance->next.DestroySession(*out);
    return XR_FAILED(made) ? made : XR_ERROR_OUT_OF_MEMORY;
}

static XrResult XRAPI_CALL destroy_session(XrSession handle)
{
    sac_layer_lock();
    sac_layer_session *session = sac_layer_find_session(handle);
    PFN_xrDestroySession destroy = session ? session->instance->next.DestroySession : NULL;
    sac_layer_forget_session(handle);
    sac_layer_unlock();
    return destroy ? destroy(handle) : XR_ERROR_HANDLE_INVALID;
}

static XrResult XRAPI_CALL begin_session(XrSession handle, const XrSessionBeginInfo *info)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    return XR_FAILED(result) ? result : session->instance->next.BeginSession(handle, info);
}

static XrResult XRAPI_CALL end_session(XrSession handle)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    return XR_FAILED(result) ? result : session->instance->next.EndSession(handle);
}

static XrResult XRAPI_CALL request_exit(XrSession handle)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    return XR_FAILED(result) ? result : session->instance->next.RequestExitSession(handle);
}

/* ---- frames ---- */

/* With the lock. Losses happen once in the life of the process, so that what comes after can be watched. */
static XrResult lose(sac_layer_session *session)
{
    static bool session_done, instance_done;
    const sac_faults *faults = &session->instance->faults;
    if (faults->instance_loss && session->frames >= faults->instance_loss && !instance_done)
        session->instance->lost = instance_done = true;
    if (faults->session_loss && session->frames >= faults->session_loss && !session_done)
        session->lost = session_done = true;
    return sac_layer_lost(session);
}

/* With the lock: what the application is told instead of what the runtime said. */
static void lie(sac_layer_session *session, XrFrameState *state)
{
    const sac_faults *faults = &session->instance->faults;
    uint64_t frame = session->frames;
    if (sac_fault_frames_have(&faults->should_render, frame)) state->shouldRender = XR_FALSE;
    if (sac_fault_frames_have(&faults->negative_time, frame))
        state->predictedDisplayTime = -state->predictedDisplayTime;
    if (sac_fault_frames_have(&faults->absurd_time, frame)) state->predictedDisplayTime += an_hour;
    if (sac_fault_frames_have(&faults->absurd_period, frame)) state->predictedDisplayPeriod = an_hour;
}

static void sleep_for(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) continue;
}

static XrResult XRAPI_CALL wait_frame(XrSession handle, const XrFrameWaitInfo *info, XrFrameState *state)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    if (XR_FAILED(result)) return result;
    result = session->instance->next.WaitFrame(handle, info, state);
    if (XR_FAILED(result) || !state) return result;
    const sac_faults *faults = &session->instance->faults;
    sac_layer_lock();
    session->frames++;
    if (!session->start) session->start = state->predictedDisplayTime;
    session->predicted = state->predictedDisplayTime;
    session->period = state->predictedDisplayPeriod;
    uint64_t frame = session->frames;
    lie(session, state);
    session->times[frame % 4].said = session->predicted;
    session->times[frame % 4].told = state->predictedDisplayTime;
    XrResult loss = lose(session);
    sac_layer_unlock();
    if (XR_FAILED(loss)) return loss;
    bool stalls = faults->stall_every ? frame % faults->stall_every == 0
                                      : sac_fault_frames_have(&faults->stall_at, frame);
    if (faults->stall_ns && stalls) sleep_for(faults->stall_ns);
    return result;
}

static XrResult XRAPI_CALL begin_frame(XrSession handle, const XrFrameBeginInfo *info)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    return XR_FAILED(result) ? result : session->instance->next.BeginFrame(handle, info);
}

/* An application that says what it was told is right: the runtime gets its own time back. */
static XrResult XRAPI_CALL end_frame(XrSession handle, const XrFrameEndInfo *info)
{
    XrResult result;
    sac_layer_session *session = well(handle, &result);
    if (XR_FAILED(result)) return result;
    if (!info) return session->instance->next.EndFrame(handle, info);
    XrFrameEndInfo below = *info;
    sac_layer_lock();
    for (int i = 0; i < 4; i++)
        if (session->times[i].told && session->times[i].told == info->displayTime)
            below.displayTime = session->times[i].said;
    sac_layer_unlock();
    return session->instance->next.EndFrame(handle, &below);
}

const sac_layer_hook sac_layer_frame_hooks[] = {
    {"xrDestroyInstance", (PFN_xrVoidFunction)destroy_instance},
    {"xrGetSystemProperties", (PFN_xrVoidFunction)get_system_properties},
    {"xrPollEvent", (PFN_xrVoidFunction)poll_event},
    {"xrCreateSession", (PFN_xrVoidFunction)create_session},
    {"xrDestroySession", (PFN_xrVoidFunction)destroy_session},
    {"xrBeginSession", (PFN_xrVoidFunction)begin_session},
    {"xrEndSession", (PFN_xrVoidFunction)end_session},
    {"xrRequestExitSession", (PFN_xrVoidFunction)request_exit},
    {"xrWaitFrame", (PFN_xrVoidFunction)wait_frame},
    {"xrBeginFrame", (PFN_xrVoidFunction)begin_frame},
    {"xrEndFrame", (PFN_xrVoidFunction)end_frame},
    {NULL, NULL}};
