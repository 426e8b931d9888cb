/* Hands and eyes as OpenXR gives them: one action set, suggested bindings for the usual controllers, gaze by
 * XR_EXT_eye_gaze_interaction, joints by XR_EXT_hand_tracking. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xr/session_internal.h"

static const XrPosef identity = {.orientation = {0, 0, 0, 1}};

/* ---- setting up ---- */

static XrPath path_of(const sac_session *session, const char *text)
{
    XrPath path = XR_NULL_PATH;
    xrStringToPath(session->instance, text, &path);
    return path;
}

static XrResult create_action(sac_session *session, const char *name, const char *shown, XrActionType type,
                              bool of_hands, XrAction *out)
{
    XrActionCreateInfo info = {.type = XR_TYPE_ACTION_CREATE_INFO,
                               .actionType = type,
                               .countSubactionPaths = of_hands ? SAC_HANDS : 0,
                               .subactionPaths = of_hands ? session->actions.hand : NULL};
    snprintf(info.actionName, sizeof info.actionName, "%s", name);
    snprintf(info.localizedActionName, sizeof info.localizedActionName, "%s", shown);
    return xrCreateAction(session->actions.set, &info, out);
}

/* A path for each hand; NULL: this controller has no such thing. */
typedef struct controller {
    const char *profile, *select, *squeeze, *menu_left, *menu_right;
} controller;

static const controller controllers[] = {
    {"/interaction_profiles/khr/simple_controller", "input/select/click", NULL, "input/menu/click",
     "input/menu/click"},
    {"/interaction_profiles/oculus/touch_controller", "input/trigger/value", "input/squeeze/value",
     "input/menu/click", "input/b/click"},
    {"/interaction_profiles/valve/index_controller", "input/trigger/value", "input/squeeze/value",
     "input/b/click", "input/b/click"},
    {"/interaction_profiles/htc/vive_controller", "input/trigger/value", "input/squeeze/click",
     "input/menu/click", "input/menu/click"},
};

static void bind(const sac_session *session, XrActionSuggestedBinding *bindings, uint32_t *count,
                 XrAction action, uint32_t hand, const char *input)
{
    char text[128];
    if (!input) return;
    snprintf(text, sizeof text, "/user/hand/%s/%s", hand ? "right" : "left", input);
    bindings[(*count)++] = (XrActionSuggestedBinding){action, path_of(session, text)};
}

static XrResult suggest(sac_session *session, const char *profile, const XrActionSuggestedBinding *bindings,
                        uint32_t count)
{
    const XrInteractionProfileSuggestedBinding info = {.type = XR_TYPE_INTERACTION_PROFILE_SUGGESTED_BINDING,
                                                       .interactionProfile = path_of(session, profile),
                                                       .countSuggestedBindings = count,
                                                       .suggestedBindings = bindings};
    return xrSuggestInteractionProfileBindings(session->instance, &info);
}

static void suggest_controller(sac_session *session, const controller *c)
{
    const sac_actions *a = &session->actions;
    XrActionSuggestedBinding bindings[6 * SAC_HANDS];
    uint32_t count = 0;
    for (uint32_t hand = 0; hand < SAC_HANDS; hand++) {
        bind(session, bindings, &count, a->grip, hand, "input/grip/pose");
        bind(session, bindings, &count, a->aim, hand, "input/aim/pose");
        bind(session, bindings, &count, a->haptic, hand, "output/haptic");
        bind(session, bindings, &count, a->select, hand, c->select);
        bind(session, bindings, &count, a->squeeze, hand, c->squeeze);
        bind(session, bindings, &count, a->menu, hand, hand ? c->menu_right : c->menu_left);
    }
    /* A runtime that does not know a controller has none of it connected. */
    XrResult result = suggest(session, c->profile, bindings, count);
    if (XR_FAILED(result))
        sac_session_message(session, "%s does not take the bindings for %s", session->info.runtime,
                            c->profile);
}

sac_result sac_actions_create(sac_session *session, sac_error *error)
{
    sac_actions *a = &session->actions;
    XrActionSetCreateInfo info = {.type = XR_TYPE_ACTION_SET_CREATE_INFO};
    snprintf(info.actionSetName, sizeof info.actionSetName, "saccade");
    snprintf(info.localizedActionSetName, sizeof info.localizedActionSetName, "Saccade");
    a->hand[0] = path_of(session, "/user/hand/left");
    a->hand[1] = path_of(session, "/user/hand/right");
    XrResult r = xrCreateActionSet(session->instance, &info, &a->set);
    const struct {
        const char *name, *shown;
        XrActionType type;
        XrAction *action;
    } list[] = {{"grip", "Hand", XR_ACTION_TYPE_POSE_INPUT, &a->grip},
                {"aim", "Pointing", XR_ACTION_TYPE_POSE_INPUT, &a->aim},
                {"select", "Pick", XR_ACTION_TYPE_FLOAT_INPUT, &a->select},
                {"squeeze", "Grab", XR_ACTION_TYPE_FLOAT_INPUT, &a->squeeze},
                {"menu", "Switch view", XR_ACTION_TYPE_BOOLEAN_INPUT, &a->menu},
                {"haptic", "Touch felt", XR_ACTION_TYPE_VIBRATION_OUTPUT, &a->haptic}};
    for (size_t i = 0; i < sizeof list / sizeof *list && XR_SUCCEEDED(r); i++)
        r = create_action(session, list[i].name, list[i].shown, list[i].type, true, list[i].action);
    if (XR_SUCCEEDED(r) && session->info.gaze)
        r = create_action(session, "gaze", "Gaze", XR_ACTION_TYPE_POSE_INPUT, false, &a->gaze);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "set up the controllers", error);
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        suggest_controller(session, &controllers[i]);
    if (session->info.gaze) {
        const XrActionSuggestedBinding binding = {a->gaze,
                                                  path_of(session, "/user/eyes_ext/input/gaze_ext/pose")};
        r = suggest(session, "/interaction_profiles/ext/eye_gaze_interaction", &binding, 1);
        if (XR_FAILED(r)) return sac_session_failed(session, r, "bind the gaze", error);
    }
    return SAC_OK;
}

static XrResult create_space(sac_session *session, XrAction action, XrPath hand, XrSpace *out)
{
    const XrActionSpaceCreateInfo info = {.type = XR_TYPE_ACTION_SPACE_CREATE_INFO,
                                          .action = action,
                                          .subactionPath = hand,
                                          .poseInActionSpace = identity};
    return xrCreateActionSpace(session->session, &info, out);
}

static void create_trackers(sac_session *session)
{
    sac_actions *a = &session->actions;
    session->info.hand_joints = false;
    if (!session->has_joints || !session->def.hand_joints) return;
    xrGetInstanceProcAddr(session->instance, "xrCreateHandTrackerEXT",
                          (PFN_xrVoidFunction *)&a->create_tracker);
    xrGetInstanceProcAddr(session->instance, "xrDestroyHandTrackerEXT",
                          (PFN_xrVoidFunction *)&a->destroy_tracker);
    xrGetInstanceProcAddr(session->instance, "xrLocateHandJointsEXT",
                          (PFN_xrVoidFunction *)&a->locate_joints);
    if (!a->create_tracker || !a->destroy_tracker || !a->locate_joints) return;
    for (uint32_t hand = 0; hand < SAC_HANDS; hand++) {
        const XrHandTrackerCreateInfoEXT info = {.type = XR_TYPE_HAND_TRACKER_CREATE_INFO_EXT,
                                                 .hand = hand ? XR_HAND_RIGHT_EXT : XR_HAND_LEFT_EXT,
                                                 .handJointSet = XR_HAND_JOINT_SET_DEFAULT_EXT};
        if (XR_FAILED(a->create_tracker(session->session, &info, &a->tracker[hand])))
            a->tracker[hand] = XR_NULL_HANDLE;
        else
            session->info.hand_joints = true;
    }
}

sac_result sac_actions_attach(sac_session *session, sac_error *error)
{
    sac_actions *a = &session->actions;
    const XrSessionActionSetsAttachInfo info = {
        .type = XR_TYPE_SESSION_ACTION_SETS_ATTACH_INFO, .countActionSets = 1, .actionSets = &a->set};
    XrResult r = xrAttachSessionActionSets(session->session, &info);
    for (uint32_t hand = 0; hand < SAC_HANDS && XR_SUCCEEDED(r); hand++) {
        r = create_space(session, a->grip, a->hand[hand], &a->grip_space[hand]);
        if (XR_SUCCEEDED(r)) r = create_space(session, a->aim, a->hand[hand], &a->aim_space[hand]);
    }
    if (XR_SUCCEEDED(r) && a->gaze) r = create_space(session, a->gaze, XR_NULL_PATH, &a->gaze_space);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "attach the controllers", error);
    create_trackers(session);
    return SAC_OK;
}

void sac_actions_destroy(sac_session *session)
{
    sac_actions *a = &session->actions;
    for (uint32_t hand = 0; hand < SAC_HANDS; hand++) {
        if (a->tracker[hand]) a->destroy_tracker(a->tracker[hand]);
        if (a->grip_space[hand]) xrDestroySpace(a->grip_space[hand]);
        if (a->aim_space[hand]) xrDestroySpace(a->aim_space[hand]);
    }
    if (a->gaze_space) xrDestroySpace(a->gaze_space);
    if (a->set) xrDestroyActionSet(a->set); /* and its actions */
    memset(a, 0, sizeof *a);
}

/* ---- a frame ---- */

static bool finite_pose(const XrPosef *pose)
{
    const XrQuaternionf *q = &pose->orientation;
    const float length = q->x * q->x + q->y * q->y + q->z * q->z + q->w * q->w;
    return isfinite(pose->position.x) && isfinite(pose->position.y) && isfinite(pose->position.z) &&
           length > 0.98f && length < 1.02f;
}

static void copy_pose(const XrPosef *pose, float position[3], float rotation[4])
{
    memcpy(position, &pose->position, 3 * sizeof(float));
    memcpy(rotation, &pose->orientation, 4 * sizeof(float));
}

/* False when the session is lost; a pose that is not known leaves `out_valid` false. */
static bool locate(sac_session *session, XrSpace space, float position[3], float rotation[4], bool *out_valid)
{
    XrSpaceLocation location = {.type = XR_TYPE_SPACE_LOCATION};
    const XrSpaceLocationFlags both =
        XR_SPACE_LOCATION_POSITION_VALID_BIT | XR_SPACE_LOCATION_ORIENTATION_VALID_BIT;
    *out_valid = false;
    if (!sac_session_good(
            session, SAC_XR(session, xrLocateSpace(space, session->space, session->locate_time, &location)),
            "locate a hand"))
        return false;
    if ((location.locationFlags & both) != both || !finite_pose(&location.pose)) return true;
    copy_pose(&location.pose, position, rotation);
    *out_valid = true;
    return true;
}

static bool read_float(sac_session *session, XrAction action, uint32_t hand, float *out)
{
    const XrActionStateGetInfo info = {.type = XR_TYPE_ACTION_STATE_GET_INFO,
                                       .action = action,
                                       .subactionPath = session->actions.hand[hand]};
    XrActionStateFloat state = {.type = XR_TYPE_ACTION_STATE_FLOAT};
    if (!sac_session_good(session, SAC_XR(session, xrGetActionStateFloat(session->session, &info, &state)),
                          "read a trigger"))
        return false;
    *out = state.isActive && state.currentState > 0 ? fminf(state.currentState, 1) : 0;
    return true;
}

static bool read_joints(sac_session *session, uint32_t hand, sac_hand_input *input)
{
    _Static_assert(SAC_HAND_JOINTS == XR_HAND_JOINT_COUNT_EXT, "joints of the default set");
    XrHandJointLocationEXT joints[SAC_HAND_JOINTS];
    XrHandJointLocationsEXT locations = {
        .type = XR_TYPE_HAND_JOINT_LOCATIONS_EXT, .jointCount = SAC_HAND_JOINTS, .jointLocations = joints};
    const XrHandJointsLocateInfoEXT info = {.type = XR_TYPE_HAND_JOINTS_LOCATE_INFO_EXT,
                                            .baseSpace = session->space,
                                            .time = session->locate_time};
    if (!session->actions.tracker[hand]) return true;
    memset(joints, 0, sizeof joints);
    if (!sac_session_good(session,
                          SAC_XR(session, session->actions.locate_joints(session->actions.tracker[hand],
                                                                         &info, &locations)),
                          "locate the joints of a hand"))
        return false;
    if (!locations.isActive) return true;
    for (uint32_t i = 0; i < SAC_HAND_JOINTS; i++) {
        if (!(joints[i].locationFlags & XR_SPACE_LOCATION_POSITION_VALID_BIT)) return true;
        memcpy(input->joints[i], &joints[i].pose.position, 3 * sizeof(float));
        input->joints[i][3] = joints[i].radius;
    }
    input->joints_valid = true;
    return true;
}

static bool read_hand(sac_session *session, uint32_t hand, sac_hand_input *input)
{
    const sac_actions *a = &session->actions;
    const XrActionStateGetInfo grip = {
        .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = a->grip, .subactionPath = a->hand[hand]};
    const XrActionStateGetInfo menu = {
        .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = a->menu, .subactionPath = a->hand[hand]};
    XrActionStatePose pose = {.type = XR_TYPE_ACTION_STATE_POSE};
    XrActionStateBoolean pressed = {.type = XR_TYPE_ACTION_STATE_BOOLEAN};
    bool aim_valid = false;
    if (!sac_session_good(session, SAC_XR(session, xrGetActionStatePose(session->session, &grip, &pose)),
                          "read a hand"))
        return false;
    if (!read_joints(session, hand, input)) return false;
    if (!pose.isActive) return true;
    if (!locate(session, a->grip_space[hand], input->position, input->rotation, &input->active) ||
        !locate(session, a->aim_space[hand], input->aim_position, input->aim_rotation, &aim_valid) ||
        !read_float(session, a->select, hand, &input->select) ||
        !read_float(session, a->squeeze, hand, &input->squeeze) ||
        !sac_session_good(session,
                          SAC_XR(session, xrGetActionStateBoolean(session->session, &menu, &pressed)),
                          "read a button"))
        return false;
    if (input->active && !aim_valid) {
        memcpy(input->aim_position, input->position, sizeof input->position);
        memcpy(input->aim_rotation, input->rotation, sizeof input->rotation);
    }
    input->menu = pressed.isActive && pressed.currentState && pressed.changedSinceLastSync;
    return true;
}

/* Gaze looks along -z of its space. The position and orientation valid bits come together; without the
 * tracked bits the runtime guesses, which is worth less than the head's axis. */
static bool read_gaze(sac_session *session, sac_gaze_reading *reading)
{
    sac_actions *a = &session->actions;
    const XrActionStateGetInfo info = {.type = XR_TYPE_ACTION_STATE_GET_INFO, .action = a->gaze};
    XrActionStatePose state = {.type = XR_TYPE_ACTION_STATE_POSE};
    XrEyeGazeSampleTimeEXT sample = {.type = XR_TYPE_EYE_GAZE_SAMPLE_TIME_EXT};
    XrSpaceLocation location = {.type = XR_TYPE_SPACE_LOCATION, .next = &sample};
    const XrSpaceLocationFlags valid =
        XR_SPACE_LOCATION_ORIENTATION_VALID_BIT | XR_SPACE_LOCATION_ORIENTATION_TRACKED_BIT;
    if (!sac_session_good(session, SAC_XR(session, xrGetActionStatePose(session->session, &info, &state)),
                          "read the gaze") ||
        !sac_session_good(session,
                          SAC_XR(session, xrLocateSpace(a->gaze_space, session->view_space,
                                                        session->locate_time, &location)),
                          "locate the gaze"))
        return false;
    const bool seen =
        state.isActive && (location.locationFlags & valid) == valid && finite_pose(&location.pose);
    if (!seen) {
        /* Losing it is news once. */
        reading->fresh = a->gaze_valid;
        a->gaze_valid = false;
        a->gaze_time = 0;
        return true;
    }
    const XrQuaternionf q = location.pose.orientation;
    sac_gaze_ray *ray = &reading->cyclopean;
    ray->valid = true;
    memcpy(ray->origin, &location.pose.position, sizeof ray->origin);
    ray->direction[0] = -2 * (q.x * q.z + q.w * q.y);
    ray->direction[1] = -2 * (q.y * q.z - q.w * q.x);
    ray->direction[2] = -1 + 2 * (q.x * q.x + q.y * q.y);
    reading->sample_ns = sample.time > 0 ? sac_session_to_monotonic(session, sample.time) : 0;
    /* Without a time stamp there is nothing to tell a duplicate by. */
    reading->fresh = sample.time <= 0 || !a->gaze_valid || sample.time != a->gaze_time;
    a->gaze_time = sample.time;
    a->gaze_valid = true;
    return true;
}

bool sac_actions_read(sac_session *session, sac_session_frame *frame)
{
    const sac_actions *a = &session->actions;
    const XrActiveActionSet active = {.actionSet = a->set};
    const XrActionsSyncInfo info = {
        .type = XR_TYPE_ACTIONS_SYNC_INFO, .countActiveActionSets = 1, .activeActionSets = &active};
    frame->gaze_supported = session->info.gaze;
    frame->gaze.cyclopean.confidence = frame->gaze.cyclopean.pupil_mm = NAN;
    frame->gaze.left = frame->gaze.right = frame->gaze.cyclopean;
    /* Not focused: somebody else has the hands and the eyes. */
    if (!frame->focused) return true;
    const XrResult result = SAC_XR(session, xrSyncActions(session->session, &info));
    if (result == XR_SESSION_NOT_FOCUSED) return true;
    if (!sac_session_good(session, result, "read the controllers")) return false;
    for (uint32_t hand = 0; hand < SAC_HANDS; hand++)
        if (!read_hand(session, hand, &frame->hands[hand])) return false;
    return !a->gaze || read_gaze(session, &frame->gaze);
}

void sac_actions_pulse(sac_session *session, uint32_t hand, float amplitude, float seconds)
{
    const XrHapticActionInfo info = {.type = XR_TYPE_HAPTIC_ACTION_INFO,
                                     .action = session->actions.haptic,
                                     .subactionPath = session->actions.hand[hand]};
    const XrHapticVibration vibration = {
        .type = XR_TYPE_HAPTIC_VIBRATION,
        .duration = seconds > 0 ? (XrDuration)((double)fminf(seconds, 2) * 1e9) : XR_MIN_HAPTIC_DURATION,
        .frequency = XR_FREQUENCY_UNSPECIFIED,
        .amplitude = fminf(amplitude, 1)};
    /* Not focused, or no such hand: nobody feels it, and nothing is wrong. */
    xrApplyHapticFeedback(session->session, &info, (const XrHapticBaseHeader *)&vibration);
}
