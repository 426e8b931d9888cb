#include "below_layer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

below below_runtimes[2];

static const char *const paths[] = {"",
                                    "/interaction_profiles/ext/eye_gaze_interaction",
                                    "/user/eyes_ext/input/gaze_ext/pose",
                                    "/user/eyes_ext",
                                    "/user/hand/left",
                                    "/user/hand/right",
                                    "/user/hand/left/input/aim/pose",
                                    "/interaction_profiles/khr/simple_controller"};
enum { PROFILE = 1, POSE, EYES };

#define MUST(condition)                                                                \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: came down: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

static below *of(const void *handle)
{
    MUST(BELOW_WHICH(handle) == 0 || BELOW_WHICH(handle) == 1);
    return &below_runtimes[BELOW_WHICH(handle)];
}

void below_reset(void)
{
    for (int i = 0; i < 2; i++)
        below_runtimes[i] = (below){.head_flags = 15,
                                    .focused = true,
                                    .has_locate_spaces = true,
                                    .has_clock = true,
                                    .predicted = 1000000000 + i * 77000000,
                                    .period = 10000000,
                                    .should_render = XR_TRUE,
                                    .next_number = 1};
}

/* ---- poses, in double and by matrices: not the way the layer does it ---- */

static void matrix_of(XrQuaternionf q, double m[3][3])
{
    double x = q.x, y = q.y, z = q.z, w = q.w;
    double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                         {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                         {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(m, rows, sizeof rows);
}

XrPosef below_times(XrPosef a, XrPosef b)
{
    XrQuaternionf p = a.orientation, q = b.orientation;
    double m[3][3];
    matrix_of(p, m);
    const float v[3] = {b.position.x, b.position.y, b.position.z};
    double moved[3];
    for (int i = 0; i < 3; i++) moved[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
    XrPosef out = {.position = {(float)(a.position.x + moved[0]), (float)(a.position.y + moved[1]),
                                (float)(a.position.z + moved[2])}};
    out.orientation.x = p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y;
    out.orientation.y = p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x;
    out.orientation.z = p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w;
    out.orientation.w = p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z;
    return out;
}

XrPosef below_inverse(XrPosef a)
{
    XrPosef turn = {.orientation = {-a.orientation.x, -a.orientation.y, -a.orientation.z, a.orientation.w}};
    XrPosef move = {.orientation = {0, 0, 0, 1}, .position = {-a.position.x, -a.position.y, -a.position.z}};
    return below_times(turn, move);
}

XrPosef below_head(XrTime time)
{
    double s = (double)time * 1e-9, yaw = 0.3 * sin(s), pitch = 0.1 * cos(2 * s);
    XrPosef turn = {.orientation = {0, (float)sin(yaw / 2), 0, (float)cos(yaw / 2)}};
    XrPosef nod = {.orientation = {(float)sin(pitch / 2), 0, 0, (float)cos(pitch / 2)}};
    XrPosef pose = below_times(turn, nod);
    pose.position = (XrVector3f){(float)(0.1 * s), 1.6f, (float)(-0.2 * cos(s))};
    return pose;
}

/* ---- calls ---- */

static XrResult XRAPI_CALL enumerate_extensions_of(below *b, uint32_t capacity, uint32_t *count,
                                                   XrExtensionProperties *list)
{
    const char *names[4];
    uint32_t n = 0;
    names[n++] = "XR_KHR_vulkan_enable2";
    if (b->native) names[n++] = XR_EXT_EYE_GAZE_INTERACTION_EXTENSION_NAME;
    if (b->has_clock) names[n++] = "XR_KHR_convert_timespec_time";
    *count = n;
    if (capacity && capacity < n) return XR_ERROR_SIZE_INSUFFICIENT;
    for (uint32_t i = 0; capacity && i < n; i++) strcpy(list[i].extensionName, names[i]);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL destroy_instance(XrInstance handle)
{
    of(handle)->instances_destroyed++;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL string_to_path(XrInstance handle, const char *text, XrPath *path)
{
    MUST(of(handle));
    for (size_t i = 1; i < sizeof paths / sizeof *paths; i++)
        if (strcmp(paths[i], text) == 0) {
            *path = i;
            return XR_SUCCESS;
        }
    return XR_ERROR_PATH_FORMAT_INVALID;
}

static XrResult XRAPI_CALL get_system_properties(XrInstance handle, XrSystemId system,
                                                 XrSystemProperties *properties)
{
    MUST(system == 1);
    for (XrBaseOutStructure *item = properties->next; item; item = item->next)
        if (item->type == XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT) {
            MUST(of(handle)->native);
            ((XrSystemEyeGazeInteractionPropertiesEXT *)(void *)item)->supportsEyeGazeInteraction =
                of(handle)->tracks;
        }
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL create_session(XrInstance handle, const XrSessionCreateInfo *info, XrSession *out)
{
    below *b = of(handle);
    MUST(info->systemId == 1);
    *out = b->session = BELOW_HANDLE(XrSession, BELOW_WHICH(handle), b->next_number++);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL plain_session(XrSession handle)
{
    MUST(of(handle));
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL begin_session(XrSession handle, const XrSessionBeginInfo *info)
{
    (void)info;
    return plain_session(handle);
}

static XrResult XRAPI_CALL begin_frame(XrSession handle, const XrFrameBeginInfo *info)
{
    (void)info;
    return plain_session(handle);
}

static XrResult XRAPI_CALL end_frame(XrSession handle, const XrFrameEndInfo *info)
{
    below *b = of(handle);
    b->ends++;
    b->ended_for = info->displayTime;
    return info->displayTime > 0 ? XR_SUCCESS : XR_ERROR_TIME_INVALID;
}

static XrResult wait_frame(int which, XrSession handle, XrFrameState *state)
{
    below *b = of(handle);
    MUST(BELOW_WHICH(handle) == which);
    state->predictedDisplayTime = b->predicted;
    state->predictedDisplayPeriod = b->period;
    state->shouldRender = b->should_render;
    b->predicted += b->period;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL wait_frame_0(XrSession handle, const XrFrameWaitInfo *info, XrFrameState *state)
{
    (void)info;
    return wait_frame(0, handle, state);
}

static XrResult XRAPI_CALL wait_frame_1(XrSession handle, const XrFrameWaitInfo *info, XrFrameState *state)
{
    (void)info;
    return wait_frame(1, handle, state);
}

static XrResult XRAPI_CALL poll_event(XrInstance handle, XrEventDataBuffer *buffer)
{
    below *b = of(handle);
    if (!b->event_there) return XR_EVENT_UNAVAILABLE;
    memcpy(buffer, &b->event, sizeof b->event);
    b->event_there = false;
    return XR_SUCCESS;
}

static XrResult make_space(XrSession session, below_kind kind, XrPosef offset, XrSpace *out)
{
    below *b = of(session);
    uint32_t number = b->next_number++;
    MUST(number < BELOW_MOST);
    b->spaces[number].kind = kind;
    b->spaces[number].offset = offset;
    *out = BELOW_HANDLE(XrSpace, BELOW_WHICH(session), number);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL create_reference_space(XrSession session, const XrReferenceSpaceCreateInfo *info,
                                                  XrSpace *out)
{
    return make_space(session,
                      info->referenceSpaceType == XR_REFERENCE_SPACE_TYPE_VIEW ? BELOW_VIEW : BELOW_LOCAL,
                      info->poseInReferenceSpace, out);
}

static XrResult XRAPI_CALL create_action_space(XrSession session, const XrActionSpaceCreateInfo *info,
                                               XrSpace *out)
{
    if (info->subactionPath == EYES && !of(session)->native) return XR_ERROR_PATH_UNSUPPORTED;
    return make_space(session, BELOW_ACTION, info->poseInActionSpace, out);
}

static XrResult XRAPI_CALL destroy_space(XrSpace handle)
{
    below *b = of(handle);
    MUST(b->spaces[BELOW_NUMBER(handle)].kind != BELOW_NOTHING);
    b->spaces[BELOW_NUMBER(handle)].kind = BELOW_NOTHING;
    return XR_SUCCESS;
}

static XrResult locate(XrSpace space, XrSpace base, XrTime time, XrSpaceLocationFlags *flags, XrPosef *pose)
{
    below *b = of(space);
    MUST(BELOW_WHICH(space) == BELOW_WHICH(base));
    if (time <= 0) return XR_ERROR_TIME_INVALID;
    XrPosef in_world[2];
    const XrSpace handles[2] = {space, base};
    bool head = false, action = false;
    for (int i = 0; i < 2; i++) {
        uint32_t number = BELOW_NUMBER(handles[i]);
        MUST(number < BELOW_MOST && b->spaces[number].kind != BELOW_NOTHING);
        in_world[i] = b->spaces[number].offset;
        if (b->spaces[number].kind == BELOW_VIEW)
            in_world[i] = below_times(below_head(time), in_world[i]), head = !head;
        action |= b->spaces[number].kind == BELOW_ACTION;
    }
    *flags = action ? 0 : head ? b->head_flags : 15;
    *pose = below_times(below_inverse(in_world[1]), in_world[0]);
    return XR_SUCCESS;
}

static XrResult locate_space(int which, XrSpace space, XrSpace base, XrTime time, XrSpaceLocation *location)
{
    MUST(BELOW_WHICH(space) == which);
    for (XrBaseOutStructure *item = location->next; item; item = item->next) {
        if (item->type == XR_TYPE_EYE_GAZE_SAMPLE_TIME_EXT) of(space)->saw_stamp = true;
        if (item->type == XR_TYPE_SPACE_VELOCITY) ((XrSpaceVelocity *)(void *)item)->velocityFlags = 3;
    }
    return locate(space, base, time, &location->locationFlags, &location->pose);
}

static XrResult XRAPI_CALL locate_space_0(XrSpace space, XrSpace base, XrTime time, XrSpaceLocation *location)
{
    return locate_space(0, space, base, time, location);
}

static XrResult XRAPI_CALL locate_space_1(XrSpace space, XrSpace base, XrTime time, XrSpaceLocation *location)
{
    return locate_space(1, space, base, time, location);
}

static XrResult XRAPI_CALL locate_spaces(XrSession session, const XrSpacesLocateInfo *info,
                                         XrSpaceLocations *out)
{
    MUST(of(session));
    if (out->locationCount != info->spaceCount) return XR_ERROR_VALIDATION_FAILURE;
    for (XrBaseOutStructure *item = out->next; item; item = item->next)
        if (item->type == XR_TYPE_SPACE_VELOCITIES)
            for (uint32_t i = 0; i < info->spaceCount; i++)
                ((XrSpaceVelocities *)(void *)item)->velocities[i].velocityFlags = 3;
    for (uint32_t i = 0; i < info->spaceCount; i++) {
        XrResult result = locate(info->spaces[i], info->baseSpace, info->time,
                                 &out->locations[i].locationFlags, &out->locations[i].pose);
        if (XR_FAILED(result)) return result;
    }
    return XR_SUCCESS;
}

/* Two views, 6 cm apart. */
static XrResult XRAPI_CALL locate_views(XrSession session, const XrViewLocateInfo *info, XrViewState *state,
                                        uint32_t capacity, uint32_t *count, XrView *views)
{
    XrSpace view;
    *count = 2;
    if (!capacity) return XR_SUCCESS;
    for (int i = 0; i < 2; i++) {
        XrPosef offset = {.orientation = {0, 0, 0, 1}, .position = {i ? 0.03f : -0.03f, 0, 0}};
        make_space(session, BELOW_VIEW, offset, &view);
        XrResult result =
            locate(view, info->space, info->displayTime, &state->viewStateFlags, &views[i].pose);
        destroy_space(view);
        if (XR_FAILED(result)) return result;
    }
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL locate_joints(XrHandTrackerEXT tracker, const XrHandJointsLocateInfoEXT *info,
                                         XrHandJointLocationsEXT *out)
{
    (void)tracker;
    XrSpace hand;
    XrPosef offset = {.orientation = {0, 0, 0, 1}, .position = {0.2f, 1.2f, -0.4f}};
    make_space(of(info->baseSpace)->session, BELOW_LOCAL, offset, &hand);
    XrResult result = XR_SUCCESS;
    for (uint32_t i = 0; i < out->jointCount; i++)
        result = locate(hand, info->baseSpace, info->time, &out->jointLocations[i].locationFlags,
                        &out->jointLocations[i].pose);
    destroy_space(hand);
    out->isActive = XR_TRUE;
    return result;
}

static XrResult XRAPI_CALL create_action_set(XrInstance handle, const XrActionSetCreateInfo *info,
                                             XrActionSet *out)
{
    (void)info;
    *out = BELOW_HANDLE(XrActionSet, BELOW_WHICH(handle), of(handle)->next_number++);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL destroy_action_set(XrActionSet handle)
{
    return of(handle) ? XR_SUCCESS : XR_ERROR_HANDLE_INVALID;
}

static XrResult XRAPI_CALL create_action(XrActionSet set, const XrActionCreateInfo *info, XrAction *out)
{
    below *b = of(set);
    b->subactions = info->countSubactionPaths;
    for (uint32_t i = 0; i < info->countSubactionPaths; i++)
        if (info->subactionPaths[i] == EYES && !b->native) return XR_ERROR_PATH_UNSUPPORTED;
    *out = BELOW_HANDLE(XrAction, BELOW_WHICH(set), b->next_number++);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL destroy_action(XrAction handle)
{
    return of(handle) ? XR_SUCCESS : XR_ERROR_HANDLE_INVALID;
}

static XrResult XRAPI_CALL suggest(XrInstance handle, const XrInteractionProfileSuggestedBinding *info)
{
    of(handle)->suggestions++;
    return info->interactionProfile == PROFILE && !of(handle)->native ? XR_ERROR_PATH_UNSUPPORTED
                                                                      : XR_SUCCESS;
}

static XrResult XRAPI_CALL attach(XrSession session, const XrSessionActionSetsAttachInfo *info)
{
    for (uint32_t i = 0; i < info->countActionSets; i++)
        MUST(BELOW_WHICH(info->actionSets[i]) == BELOW_WHICH(session));
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL sync_actions(XrSession session, const XrActionsSyncInfo *info)
{
    below *b = of(session);
    b->syncs++;
    b->synced_sets = info->countActiveActionSets;
    for (uint32_t i = 0; i < info->countActiveActionSets; i++)
        if (info->activeActionSets[i].subactionPath == EYES && !b->native) return XR_ERROR_PATH_UNSUPPORTED;
    return b->focused ? XR_SUCCESS : XR_SESSION_NOT_FOCUSED;
}

static XrResult XRAPI_CALL get_pose(XrSession session, const XrActionStateGetInfo *info,
                                    XrActionStatePose *state)
{
    if (info->subactionPath == EYES && !of(session)->native) return XR_ERROR_PATH_UNSUPPORTED;
    state->isActive = info->subactionPath == 4; /* the left hand is there, the eyes are not */
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL get_profile(XrSession session, XrPath user, XrInteractionProfileState *state)
{
    if (user == EYES && !of(session)->native) return XR_ERROR_PATH_UNSUPPORTED;
    state->interactionProfile = user == 4 ? 7 : XR_NULL_PATH;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL enumerate_sources(XrSession session,
                                             const XrBoundSourcesForActionEnumerateInfo *info,
                                             uint32_t capacity, uint32_t *count, XrPath *sources)
{
    (void)info;
    MUST(of(session));
    *count = 1;
    if (capacity && sources) sources[0] = 6;
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL get_name(XrSession session, const XrInputSourceLocalizedNameGetInfo *info,
                                    uint32_t capacity, uint32_t *count, char *buffer)
{
    (void)info;
    MUST(of(session));
    *count = 5;
    if (capacity >= 5) memcpy(buffer, "hand", 5);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL to_time(XrInstance handle, const struct timespec *from, XrTime *out)
{
    (void)from;
    *out = of(handle)->predicted - of(handle)->period - 3000000; /* this clock goes with the frames */
    return XR_SUCCESS;
}

/* ---- the chain ---- */

static XrResult get_proc(int which, XrInstance handle, const char *name, PFN_xrVoidFunction *out);

static XrResult XRAPI_CALL enumerate_0(const char *layer, uint32_t capacity, uint32_t *count,
                                       XrExtensionProperties *list)
{
    MUST(!layer);
    return enumerate_extensions_of(&below_runtimes[0], capacity, count, list);
}

static XrResult XRAPI_CALL enumerate_1(const char *layer, uint32_t capacity, uint32_t *count,
                                       XrExtensionProperties *list)
{
    MUST(!layer);
    return enumerate_extensions_of(&below_runtimes[1], capacity, count, list);
}

static XrResult get_proc(int which, XrInstance handle, const char *name, PFN_xrVoidFunction *out)
{
    const below *b = &below_runtimes[which];
    const struct {
        const char *name;
        PFN_xrVoidFunction function;
    } list[] = {
#define CALL(name, function) {"xr" #name, (PFN_xrVoidFunction)function},
        CALL(DestroyInstance, destroy_instance) CALL(StringToPath, string_to_path) CALL(GetSystemProperties,
                                                                                        get_system_properties)
            CALL(CreateSession, create_session) CALL(DestroySession, plain_session)
                CALL(BeginSession, begin_session) CALL(EndSession, plain_session) CALL(
                    RequestExitSession, plain_session) CALL(BeginFrame, begin_frame) CALL(EndFrame, end_frame)
                    CALL(WaitFrame, (which ? wait_frame_1 : wait_frame_0)) CALL(PollEvent, poll_event) CALL(
                        CreateReferenceSpace, create_reference_space)
                        CALL(CreateActionSpace, create_action_space) CALL(DestroySpace, destroy_space) CALL(
                            LocateSpace, (which ? locate_space_1 : locate_space_0))
                            CALL(LocateViews, locate_views) CALL(LocateHandJointsEXT, locate_joints) CALL(
                                CreateActionSet, create_action_set) CALL(DestroyActionSet, destroy_action_set)
                                CALL(CreateAction, create_action) CALL(DestroyAction, destroy_action)
                                    CALL(SuggestInteractionProfileBindings, suggest)
                                        CALL(AttachSessionActionSets, attach) CALL(SyncActions, sync_actions)
                                            CALL(GetActionStatePose, get_pose)
                                                CALL(GetCurrentInteractionProfile, get_profile)
                                                    CALL(EnumerateBoundSourcesForAction, enumerate_sources)
                                                        CALL(GetInputSourceLocalizedName, get_name)
                                                            CALL(EnumerateInstanceExtensionProperties,
                                                                 (which ? enumerate_1 : enumerate_0)){
                                                                "xrLocateSpaces",
                                                                b->has_locate_spaces
                                                                    ? (PFN_xrVoidFunction)locate_spaces
                                                                    : NULL},
        {"xrConvertTimespecTimeToTimeKHR", b->has_clock ? (PFN_xrVoidFunction)to_time : NULL},
        {"xrResultToString", (PFN_xrVoidFunction)plain_session}};
    MUST(!handle || BELOW_WHICH(handle) == which);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i].name, name) == 0 && list[i].function) {
            *out = list[i].function;
            return XR_SUCCESS;
        }
    *out = NULL;
    return XR_ERROR_FUNCTION_UNSUPPORTED;
}

static XrResult XRAPI_CALL get_proc_0(XrInstance handle, const char *name, PFN_xrVoidFunction *out)
{
    return get_proc(0, handle, name, out);
}

static XrResult XRAPI_CALL get_proc_1(XrInstance handle, const char *name, PFN_xrVoidFunction *out)
{
    return get_proc(1, handle, name, out);
}

static XrResult create_instance(int which, const XrInstanceCreateInfo *info,
                                const XrApiLayerCreateInfo *layer, XrInstance *out)
{
    below *b = &below_runtimes[which];
    MUST(!layer->nextInfo); /* the layer moved on in the chain */
    b->enabled_count = info->enabledExtensionCount;
    for (uint32_t i = 0; i < info->enabledExtensionCount && i < 16; i++) {
        snprintf(b->enabled[i], sizeof b->enabled[i], "%s", info->enabledExtensionNames[i]);
        if (!b->native && strcmp(b->enabled[i], XR_EXT_EYE_GAZE_INTERACTION_EXTENSION_NAME) == 0)
            return XR_ERROR_EXTENSION_NOT_PRESENT;
    }
    *out = BELOW_HANDLE(XrInstance, which, b->next_number++);
    return XR_SUCCESS;
}

static XrResult XRAPI_CALL create_0(const XrInstanceCreateInfo *info, const XrApiLayerCreateInfo *layer,
                                    XrInstance *out)
{
    return create_instance(0, info, layer, out);
}

static XrResult XRAPI_CALL create_1(const XrInstanceCreateInfo *info, const XrApiLayerCreateInfo *layer,
                                    XrInstance *out)
{
    return create_instance(1, info, layer, out);
}

void below_chain(int which, XrApiLayerCreateInfo *out_info, XrApiLayerNextInfo *out_next)
{
    *out_next = (XrApiLayerNextInfo){.structType = XR_LOADER_INTERFACE_STRUCT_API_LAYER_NEXT_INFO,
                                     .structVersion = XR_API_LAYER_NEXT_INFO_STRUCT_VERSION,
                                     .structSize = sizeof *out_next,
                                     .nextGetInstanceProcAddr = which ? get_proc_1 : get_proc_0,
                                     .nextCreateApiLayerInstance = which ? create_1 : create_0};
    *out_info = (XrApiLayerCreateInfo){.structType = XR_LOADER_INTERFACE_STRUCT_API_LAYER_CREATE_INFO,
                                       .structVersion = XR_API_LAYER_CREATE_INFO_STRUCT_VERSION,
                                       .structSize = sizeof *out_info,
                                       .nextInfo = out_next};
}
