/* A tiny OpenXR application for the tests of the gaze replay layer: the layer's library loaded as a loader
 * does it, below_layer.h at the other end. */
#ifndef SAC_TESTS_LAYER_PLAY_H
#define SAC_TESTS_LAYER_PLAY_H

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "below_layer.h"

static const XrTime ms = 1000000;
static const XrPosef identity = {.orientation = {0, 0, 0, 1}};
enum { ALL = 15, PROFILE = 1, POSE, EYES, LEFT }; /* flags; paths as the chain's end numbers them */

typedef XrResult(XRAPI_PTR *negotiate_function)(const XrNegotiateLoaderInfo *, const char *,
                                                XrNegotiateApiLayerRequest *);

static void *library;
static XrNegotiateApiLayerRequest layer;

#define CALLS(X)                         \
    X(DestroyInstance)                   \
    X(GetSystemProperties)               \
    X(PollEvent)                         \
    X(CreateSession)                     \
    X(DestroySession)                    \
    X(BeginSession)                      \
    X(EndSession)                        \
    X(WaitFrame)                         \
    X(BeginFrame)                        \
    X(EndFrame)                          \
    X(CreateReferenceSpace)              \
    X(CreateActionSpace)                 \
    X(DestroySpace)                      \
    X(LocateSpace)                       \
    X(LocateViews)                       \
    X(CreateActionSet)                   \
    X(DestroyActionSet)                  \
    X(CreateAction)                      \
    X(DestroyAction)                     \
    X(SuggestInteractionProfileBindings) \
    X(AttachSessionActionSets)           \
    X(SyncActions)                       \
    X(GetActionStatePose)                \
    X(GetCurrentInteractionProfile)      \
    X(EnumerateBoundSourcesForAction)    \
    X(GetInputSourceLocalizedName)       \
    X(LocateHandJointsEXT)

/* A tiny application: all it needs of OpenXR, through the layer. */
typedef struct app {
    int which;
    XrInstance instance;
    XrSession session;
    XrActionSet set;
    XrAction gaze;
    XrSpace gaze_space, view, local;
#define X(name) PFN_xr##name name;
    CALLS(X)
#undef X
    PFN_xrLocateSpaces LocateSpaces;
} app;

/* ---- the library ---- */

static inline XrNegotiateLoaderInfo loader_info(void)
{
    return (XrNegotiateLoaderInfo){.structType = XR_LOADER_INTERFACE_STRUCT_LOADER_INFO,
                                   .structVersion = XR_LOADER_INFO_STRUCT_VERSION,
                                   .structSize = sizeof(XrNegotiateLoaderInfo),
                                   .minInterfaceVersion = 1,
                                   .maxInterfaceVersion = XR_CURRENT_LOADER_API_LAYER_VERSION,
                                   .minApiVersion = XR_MAKE_VERSION(1, 0, 0),
                                   .maxApiVersion = XR_MAKE_VERSION(1, 0x3ff, 0xfff)};
}

static inline XrNegotiateApiLayerRequest layer_request(void)
{
    return (XrNegotiateApiLayerRequest){.structType = XR_LOADER_INTERFACE_STRUCT_API_LAYER_REQUEST,
                                        .structVersion = XR_API_LAYER_INFO_STRUCT_VERSION,
                                        .structSize = sizeof(XrNegotiateApiLayerRequest)};
}

static inline negotiate_function negotiator(void)
{
    void *found = dlsym(library, "xrNegotiateLoaderApiLayerInterface");
    negotiate_function function;
    memcpy(&function, &found, sizeof function);
    return function;
}

static const char *const variables[] = {"SACCADE_GAZE",
                                        "SACCADE_GAZE_LOOP",
                                        "SACCADE_GAZE_DELAY_MS",
                                        "SACCADE_GAZE_HOLD_MS",
                                        "SACCADE_GAZE_MOUSE_DEG",
                                        "SACCADE_GAZE_PREFER",
                                        "SACCADE_GAZE_HIDE_RUNTIME",
                                        "SACCADE_FAULT_STALL",
                                        "SACCADE_FAULT_NO_RENDER",
                                        "SACCADE_FAULT_GAZE_LOST",
                                        "SACCADE_FAULT_NEGATIVE_TIME",
                                        "SACCADE_FAULT_ABSURD_TIME",
                                        "SACCADE_FAULT_ABSURD_PERIOD",
                                        "SACCADE_FAULT_SESSION_LOSS",
                                        "SACCADE_FAULT_INSTANCE_LOSS",
                                        "DISPLAY"};

static inline int fresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    below_reset();
    library = dlopen(SACCADE_GAZE_LAYER, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    XrNegotiateLoaderInfo info = loader_info();
    layer = layer_request();
    assert_int_equal(negotiator()(&info, "XR_APILAYER_SACCADE_gaze_replay", &layer), XR_SUCCESS);
    return 0;
}

static inline int done(void **state)
{
    (void)state;
    dlclose(library);
    return 0;
}

/* ---- the application ---- */

static inline XrResult make_instance(app *a, int which, bool gaze)
{
    XrApiLayerCreateInfo chain;
    XrApiLayerNextInfo next;
    below_chain(which, &chain, &next);
    const char *names[] = {"XR_KHR_vulkan_enable2", XR_EXT_EYE_GAZE_INTERACTION_EXTENSION_NAME};
    const XrInstanceCreateInfo info = {.type = XR_TYPE_INSTANCE_CREATE_INFO,
                                       .enabledExtensionCount = gaze ? 2 : 1,
                                       .enabledExtensionNames = names};
    memset(a, 0, sizeof *a);
    a->which = which;
    XrResult result = layer.createApiLayerInstance(&info, &chain, &a->instance);
    if (XR_FAILED(result)) return result;
#define X(name)                                                                                          \
    assert_int_equal(layer.getInstanceProcAddr(a->instance, "xr" #name, (PFN_xrVoidFunction *)&a->name), \
                     XR_SUCCESS);
    CALLS(X)
#undef X
    layer.getInstanceProcAddr(a->instance, "xrLocateSpaces", (PFN_xrVoidFunction *)&a->LocateSpaces);
    return result;
}

static inline void make_session(app *a)
{
    const XrSessionCreateInfo info = {.type = XR_TYPE_SESSION_CREATE_INFO, .systemId = 1};
    assert_int_equal(a->CreateSession(a->instance, &info, &a->session), XR_SUCCESS);
    XrReferenceSpaceCreateInfo space = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                        .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_VIEW,
                                        .poseInReferenceSpace = identity};
    assert_int_equal(a->CreateReferenceSpace(a->session, &space, &a->view), XR_SUCCESS);
    space.referenceSpaceType = XR_REFERENCE_SPACE_TYPE_LOCAL;
    assert_int_equal(a->CreateReferenceSpace(a->session, &space, &a->local), XR_SUCCESS);
}

static inline XrAction make_action(app *a, XrActionType type, const XrPath *subactions, uint32_t count)
{
    const XrActionCreateInfo info = {.type = XR_TYPE_ACTION_CREATE_INFO,
                                     .actionName = "gaze",
                                     .localizedActionName = "Gaze",
                                     .actionType = type,
                                     .countSubactionPaths = count,
                                     .subactionPaths = subactions};
    XrAction action;
    assert_int_equal(a->CreateAction(a->set, &info, &action), XR_SUCCESS);
    return action;
}

static inline void make_set(app *a)
{
    const XrActionSetCreateInfo info = {.type = XR_TYPE_ACTION_SET_CREATE_INFO, .actionSetName = "s"};
    assert_int_equal(a->CreateActionSet(a->instance, &info, &a->set), XR_SUCCESS);
}

static inline XrResult suggest(app *a, XrPath profile, XrAction action, XrPath binding)
{
    const XrActionSuggestedBinding one = {action, binding};
    const XrInteractionProfileSuggestedBinding info = {.type = XR_TYPE_INTERACTION_PROFILE_SUGGESTED_BINDING,
                                                       .interactionProfile = profile,
                                                       .countSuggestedBindings = 1,
                                                       .suggestedBindings = &one};
    return a->SuggestInteractionProfileBindings(a->instance, &info);
}

static inline XrResult attach(app *a)
{
    const XrSessionActionSetsAttachInfo info = {
        .type = XR_TYPE_SESSION_ACTION_SETS_ATTACH_INFO, .countActionSets = 1, .actionSets = &a->set};
    return a->AttachSessionActionSets(a->session, &info);
}

static inline XrSpace make_space(app *a, XrAction action, XrPath subaction, XrPosef offset)
{
    const XrActionSpaceCreateInfo info = {.type = XR_TYPE_ACTION_SPACE_CREATE_INFO,
                                          .action = action,
                                          .subactionPath = subaction,
                                          .poseInActionSpace = offset};
    XrSpace space;
    assert_int_equal(a->CreateActionSpace(a->session, &info, &space), XR_SUCCESS);
    return space;
}

static inline XrResult sync_for(app *a, XrPath subaction)
{
    const XrActiveActionSet active = {a->set, subaction};
    const XrActionsSyncInfo info = {
        .type = XR_TYPE_ACTIONS_SYNC_INFO, .countActiveActionSets = 1, .activeActionSets = &active};
    return a->SyncActions(a->session, &info);
}

static inline XrFrameState frame(app *a)
{
    XrFrameState state = {.type = XR_TYPE_FRAME_STATE};
    assert_int_equal(a->WaitFrame(a->session, NULL, &state), XR_SUCCESS);
    return state;
}

/* Up to the first frame, with gaze from `source`. */
static inline app start_on(int which, const char *source)
{
    app a;
    setenv("SACCADE_GAZE", source, 1);
    assert_int_equal(make_instance(&a, which, true), XR_SUCCESS);
    make_session(&a);
    make_set(&a);
    a.gaze = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_SUCCESS);
    assert_int_equal(attach(&a), XR_SUCCESS);
    a.gaze_space = make_space(&a, a.gaze, XR_NULL_PATH, identity);
    assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
    frame(&a);
    return a;
}

static inline app start(const char *source) { return start_on(0, source); }

static inline void stop(app *a) { assert_int_equal(a->DestroyInstance(a->instance), XR_SUCCESS); }

typedef struct located {
    XrResult result;
    XrSpaceLocationFlags flags, velocity;
    XrPosef pose;
    XrTime sample;
} located;

static inline located locate(app *a, XrSpace space, XrSpace base, XrTime time)
{
    XrSpaceVelocity velocity = {.type = XR_TYPE_SPACE_VELOCITY};
    XrEyeGazeSampleTimeEXT sample = {.type = XR_TYPE_EYE_GAZE_SAMPLE_TIME_EXT, .next = &velocity, .time = 77};
    XrSpaceLocation location = {.type = XR_TYPE_SPACE_LOCATION, .next = &sample};
    XrResult result = a->LocateSpace(space, base, time, &location);
    assert_true(location.next == &sample && sample.next == &velocity); /* the chain is as it was */
    return (located){result, location.locationFlags, velocity.velocityFlags, location.pose, sample.time};
}

static inline bool is_active(app *a, XrAction action, XrPath subaction)
{
    const XrActionStateGetInfo info = {
        .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = action, .subactionPath = subaction};
    XrActionStatePose state = {.type = XR_TYPE_ACTION_STATE_POSE};
    assert_int_equal(a->GetActionStatePose(a->session, &info, &state), XR_SUCCESS);
    return state.isActive;
}

static inline XrPosef turn(double yaw_right_deg, double pitch_up_deg)
{
    double yaw = -yaw_right_deg * 0.008726646259971648, pitch = pitch_up_deg * 0.008726646259971648;
    XrPosef y = {.orientation = {0, (float)sin(yaw), 0, (float)cos(yaw)}};
    XrPosef x = {.orientation = {(float)sin(pitch), 0, 0, (float)cos(pitch)}};
    return below_times(y, x);
}

static inline void same_pose(XrPosef a, XrPosef b)
{
    float dot = a.orientation.x * b.orientation.x + a.orientation.y * b.orientation.y +
                a.orientation.z * b.orientation.z + a.orientation.w * b.orientation.w;
    if (!(fabsf(fabsf(dot) - 1) < 1e-5f && fabsf(a.position.x - b.position.x) < 1e-5f &&
          fabsf(a.position.y - b.position.y) < 1e-5f && fabsf(a.position.z - b.position.z) < 1e-5f))
        fail_msg("turned %g, at %g %g %g and %g %g %g", (double)dot, (double)a.position.x,
                 (double)a.position.y, (double)a.position.z, (double)b.position.x, (double)b.position.y,
                 (double)b.position.z);
}

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline bool came_down(int which, const char *name)
{
    for (uint32_t i = 0; i < below_runtimes[which].enabled_count; i++)
        if (strcmp(below_runtimes[which].enabled[i], name) == 0) return true;
    return false;
}

#endif
