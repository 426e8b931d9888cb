/* The gaze replay layer: what an application with an eye tracker expects, and how the layer gets in. */
#include "layer_play.h"

/* ---- how it gets in ---- */

static void negotiation_is_checked(void **state)
{
    (void)state;
    const char *name = "XR_APILAYER_SACCADE_gaze_replay";
    XrNegotiateLoaderInfo info;
    XrNegotiateApiLayerRequest request;
#define REFUSED(change, with_name)                   \
    info = loader_info(), request = layer_request(); \
    change;                                          \
    assert_int_equal(negotiator()(&info, with_name, &request), XR_ERROR_INITIALIZATION_FAILED)
    REFUSED((void)0, "XR_APILAYER_OTHER");
    REFUSED(info.structSize--, name);
    REFUSED(info.structVersion++, name);
    REFUSED(info.minInterfaceVersion = 2, name);
    REFUSED(info.maxInterfaceVersion = 0, name);
    REFUSED(request.structSize++, name);
    REFUSED(request.structVersion = 0, name);
#undef REFUSED
    assert_int_equal(negotiator()(NULL, name, &request), XR_ERROR_INITIALIZATION_FAILED);
    PFN_xrVoidFunction function;
    assert_int_equal(layer.getInstanceProcAddr(BELOW_HANDLE(XrInstance, 0, 99), "xrLocateSpace", &function),
                     XR_ERROR_HANDLE_INVALID);
}

static void extensions_go_down_where_they_are_known(void **state)
{
    (void)state;
    for (int native = 0; native < 2; native++)
        for (int hide = 0; hide < 2; hide++) {
            app a;
            below_reset();
            below_runtimes[0].native = native;
            setenv("SACCADE_GAZE", "center", 1);
            if (hide) setenv("SACCADE_GAZE_HIDE_RUNTIME", "1", 1);
            assert_int_equal(make_instance(&a, 0, true), XR_SUCCESS);
            assert_int_equal(came_down(0, "XR_EXT_eye_gaze_interaction"), native && !hide);
            assert_true(came_down(0, "XR_KHR_vulkan_enable2") &&
                        !came_down(0, "XR_KHR_convert_timespec_time"));
            XrSystemEyeGazeInteractionPropertiesEXT eyes = {
                .type = XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT};
            XrSystemProperties properties = {.type = XR_TYPE_SYSTEM_PROPERTIES, .next = &eyes};
            assert_int_equal(a.GetSystemProperties(a.instance, 1, &properties), XR_SUCCESS);
            assert_true(eyes.supportsEyeGazeInteraction && properties.next == &eyes);
            stop(&a);
            unsetenv("SACCADE_GAZE_HIDE_RUNTIME");
        }
    /* What is not there below stays away, what is passes. */
    below_reset();
    below_runtimes[0].has_locate_spaces = false;
    app a;
    assert_int_equal(make_instance(&a, 0, true), XR_SUCCESS);
    assert_null(a.LocateSpaces);
    PFN_xrVoidFunction function;
    assert_int_equal(layer.getInstanceProcAddr(a.instance, "xrResultToString", &function), XR_SUCCESS);
    assert_int_equal(layer.getInstanceProcAddr(a.instance, "xrNoSuchThing", &function),
                     XR_ERROR_FUNCTION_UNSUPPORTED);
    stop(&a);
    assert_int_equal(below_runtimes[0].instances_destroyed, 1);
    assert_int_equal(a.PollEvent(a.instance, NULL), XR_ERROR_HANDLE_INVALID); /* forgotten */
}

static void mistakes_stop_it(void **state)
{
    (void)state;
    write_file("layer-bad.csv", "time_s,yaw_deg,pitch_deg\n0,0,0\n0,1,1\n");
    write_file("layer-world.csv", "# space: world\n0,0,0,-1\n");
    const char *const wrong[][2] = {{"SACCADE_GAZE", "no-such.csv"},
                                    {"SACCADE_GAZE", "layer-bad.csv"},
                                    {"SACCADE_GAZE", "layer-world.csv"},
                                    {"SACCADE_GAZE", "file:no-such.csv"},
                                    {"SACCADE_GAZE", "fixation:1"},
                                    {"SACCADE_GAZE", "live:no/such/pipe"},
                                    {"SACCADE_GAZE", "mouse"}, /* without a display */
                                    {"SACCADE_GAZE_DELAY_MS", "soon"},
                                    {"SACCADE_GAZE_DELAY_MS", "-1"},
                                    {"SACCADE_GAZE_HOLD_MS", "1s"},
                                    {"SACCADE_GAZE_MOUSE_DEG", "0"},
                                    {"SACCADE_FAULT_STALL", "80"},
                                    {"SACCADE_FAULT_STALL", "80/0"},
                                    {"SACCADE_FAULT_STALL", "80/4x"},
                                    {"SACCADE_FAULT_STALL", "80@"},
                                    {"SACCADE_FAULT_NO_RENDER", "0"},
                                    {"SACCADE_FAULT_GAZE_LOST", "9-5"},
                                    {"SACCADE_FAULT_NEGATIVE_TIME", "5,"},
                                    {"SACCADE_FAULT_ABSURD_TIME", "a"},
                                    {"SACCADE_FAULT_ABSURD_PERIOD", "5 6"},
                                    {"SACCADE_FAULT_SESSION_LOSS", "5-9"},
                                    {"SACCADE_FAULT_INSTANCE_LOSS", "x"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        app a;
        setenv("SACCADE_GAZE", "center", 1);
        setenv(wrong[i][0], wrong[i][1], 1);
        if (make_instance(&a, 0, true) != XR_ERROR_INITIALIZATION_FAILED)
            fail_msg("%s=%s was taken", wrong[i][0], wrong[i][1]);
        unsetenv(wrong[i][0]);
    }
    assert_int_equal(below_runtimes[0].enabled_count, 0); /* nothing went down */
    remove("layer-bad.csv");
    remove("layer-world.csv");
}

/* ---- gaze ---- */

static const char recording[] = "time_s,yaw_deg,pitch_deg,valid,origin_x,origin_y,origin_z\n"
                                "0.00,0,0,1,,,\n"
                                "0.02,10,5,1,0.001,0.002,0.003\n"
                                "0.04,,,0,,,\n"
                                "0.06,-30,-20,1,,,\n"
                                "0.08,90,0,1,,,\n";

static void recorded_gaze_arrives(void **state)
{
    (void)state;
    write_file("layer.csv", recording);
    for (int native = 0; native < 2; native++) {
        below_reset();
        below_runtimes[0].native = native;
        app a = start("layer.csv");
        XrTime zero = 1000000000;
        const struct {
            int at, sample;
            double yaw, pitch;
            bool valid;
        } expected[] = {{0, 0, 0, 0, true},       {19, 0, 0, 0, true},    {20, 20, 10, 5, true},
                        {39, 20, 10, 5, true},    {40, 0, 0, 0, false},   {59, 0, 0, 0, false},
                        {60, 60, -30, -20, true}, {80, 80, 90, 0, true},  {330, 80, 90, 0, true},
                        {331, 0, 0, 0, false},    {5000, 0, 0, 0, false}, {-1, 0, 0, 0, false},
                        {25, 20, 10, 5, true}};
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            XrTime time = zero + expected[i].at * ms;
            located in_view = locate(&a, a.gaze_space, a.view, time),
                    in_local = locate(&a, a.gaze_space, a.local, time);
            assert_true(in_view.result == XR_SUCCESS && in_view.velocity == 0);
            if (!expected[i].valid) {
                assert_true(in_view.flags == 0 && in_local.flags == 0 && in_view.sample == 0 &&
                            in_local.sample == 0);
                continue;
            }
            XrPosef gaze = turn(expected[i].yaw, expected[i].pitch);
            if (expected[i].sample == 20) gaze.position = (XrVector3f){0.001f, 0.002f, 0.003f};
            assert_true(in_view.flags == ALL && in_local.flags == ALL);
            assert_true(in_view.sample == zero + expected[i].sample * ms &&
                        in_local.sample == in_view.sample);
            same_pose(in_view.pose, gaze);
            same_pose(in_local.pose, below_times(below_head(time), gaze));
        }
        assert_int_equal(locate(&a, a.gaze_space, a.view, 0).result, XR_ERROR_TIME_INVALID);
        assert_false(below_runtimes[0].saw_stamp && !native);
        /* Others are none of our business. */
        located head = locate(&a, a.view, a.local, zero);
        assert_true(head.flags == ALL && head.velocity == 3 && head.sample == 77);
        same_pose(head.pose, below_head(zero));
        stop(&a);
    }
    remove("layer.csv");
}

static void delay_loop_and_hold(void **state)
{
    (void)state;
    write_file("layer.csv", recording);
    const XrTime zero = 1000000000;
    setenv("SACCADE_GAZE_DELAY_MS", "15.5", 1);
    app a = start("layer.csv");
    assert_true(locate(&a, a.gaze_space, a.view, zero + 15 * ms).flags == 0);
    located late = locate(&a, a.gaze_space, a.view, zero + 36 * ms);
    assert_true(late.flags == ALL && late.sample == zero + 20 * ms);
    assert_true(locate(&a, a.gaze_space, a.view, zero + 35 * ms).sample == zero);
    assert_true(locate(&a, a.gaze_space, a.view, zero + 345 * ms).flags == ALL); /* held from when it came */
    assert_true(locate(&a, a.gaze_space, a.view, zero + 346 * ms).flags == 0);
    stop(&a);
    unsetenv("SACCADE_GAZE_DELAY_MS");
    setenv("SACCADE_GAZE_LOOP", "1", 1);
    below_reset();
    a = start("layer.csv"); /* a round takes 100 ms */
    located again = locate(&a, a.gaze_space, a.view, zero + 7 * 100 * ms + 25 * ms);
    assert_true(again.flags == ALL && again.sample == zero + 720 * ms);
    stop(&a);
    setenv("SACCADE_GAZE_LOOP", "0", 1);
    setenv("SACCADE_GAZE_HOLD_MS", "0", 1);
    below_reset();
    a = start("file:layer.csv");
    assert_true(locate(&a, a.gaze_space, a.view, zero + 50000 * ms).flags == ALL);
    stop(&a);
    remove("layer.csv");
}

/* Whatever the head's own flags: the tracked bits come together, and never without their valid ones. */
static void tracked_bits_come_together(void **state)
{
    (void)state;
    app a = start("fixation:3,4");
    for (XrSpaceLocationFlags flags = 0; flags < 16; flags++) {
        below_runtimes[0].head_flags = flags;
        const XrSpace pairs[][2] = {{a.gaze_space, a.local}, {a.local, a.gaze_space}, {a.gaze_space, a.view}};
        for (int i = 0; i < 3; i++) {
            XrSpaceLocationFlags got = locate(&a, pairs[i][0], pairs[i][1], 1020 * ms).flags;
            bool position = got & XR_SPACE_LOCATION_POSITION_TRACKED_BIT;
            bool orientation = got & XR_SPACE_LOCATION_ORIENTATION_TRACKED_BIT;
            assert_true(position == orientation);
            if (position) assert_true(got == ALL);
            if (i == 2 || flags == ALL) assert_true(got == ALL);
            if (i < 2 && flags == 7) assert_true(got == 3); /* three degrees of freedom */
            if (i < 2) assert_true((got & ~flags) == 0);
        }
    }
    stop(&a);
}

static void gaze_is_a_base_space(void **state)
{
    (void)state;
    app a = start("pursuit:20,1");
    XrPosef offset = turn(15, -40);
    offset.position = (XrVector3f){0.1f, -0.2f, 0.3f};
    XrSpace moved = make_space(&a, a.gaze, XR_NULL_PATH, offset);
    for (int i = 0; i < 40; i++) {
        XrTime time = 1000 * ms + i * 37 * ms;
        located there = locate(&a, a.gaze_space, a.local, time),
                back = locate(&a, a.local, a.gaze_space, time);
        assert_true(there.flags == ALL && back.flags == ALL && back.velocity == 0 && back.sample == time);
        same_pose(below_times(there.pose, back.pose), identity);
        same_pose(locate(&a, a.gaze_space, a.gaze_space, time).pose, identity);
        same_pose(locate(&a, moved, a.gaze_space, time).pose, offset);
        same_pose(locate(&a, a.gaze_space, moved, time).pose, below_inverse(offset));
        same_pose(locate(&a, moved, a.local, time).pose, below_times(there.pose, offset));
        /* All at once gives the same as one by one. */
        const XrSpace spaces[] = {a.gaze_space, a.view, moved, a.local};
        const XrSpace bases[] = {a.local, a.gaze_space, moved};
        for (int b = 0; b < 3; b++) {
            XrSpaceLocationData data[4];
            XrSpaceVelocityData speeds[4];
            XrSpaceVelocities velocities = {
                .type = XR_TYPE_SPACE_VELOCITIES, .velocityCount = 4, .velocities = speeds};
            const XrSpacesLocateInfo info = {.type = XR_TYPE_SPACES_LOCATE_INFO,
                                             .baseSpace = bases[b],
                                             .time = time,
                                             .spaceCount = 4,
                                             .spaces = spaces};
            XrSpaceLocations out = {
                .type = XR_TYPE_SPACE_LOCATIONS, .next = &velocities, .locationCount = 4, .locations = data};
            assert_int_equal(a.LocateSpaces(a.session, &info, &out), XR_SUCCESS);
            for (int s = 0; s < 4; s++) {
                located one = locate(&a, spaces[s], bases[b], time);
                assert_true(data[s].locationFlags == one.flags && speeds[s].velocityFlags == one.velocity);
                same_pose(data[s].pose, one.pose);
            }
        }
        XrViewState state_of_views = {.type = XR_TYPE_VIEW_STATE};
        XrView views[2] = {{.type = XR_TYPE_VIEW}, {.type = XR_TYPE_VIEW}};
        const XrViewLocateInfo ask = {
            .type = XR_TYPE_VIEW_LOCATE_INFO, .displayTime = time, .space = a.gaze_space};
        uint32_t count;
        assert_int_equal(a.LocateViews(a.session, &ask, &state_of_views, 2, &count, views), XR_SUCCESS);
        XrPosef eye = below_head(time);
        eye = below_times(eye, (XrPosef){identity.orientation, {0.03f, 0, 0}});
        assert_true(state_of_views.viewStateFlags == ALL);
        same_pose(views[1].pose, below_times(back.pose, eye));
        XrHandJointLocationEXT joint;
        XrHandJointLocationsEXT joints = {
            .type = XR_TYPE_HAND_JOINT_LOCATIONS_EXT, .jointCount = 1, .jointLocations = &joint};
        const XrHandJointsLocateInfoEXT hand = {
            .type = XR_TYPE_HAND_JOINTS_LOCATE_INFO_EXT, .baseSpace = a.gaze_space, .time = time};
        assert_int_equal(a.LocateHandJointsEXT((XrHandTrackerEXT)0, &hand, &joints), XR_SUCCESS);
        same_pose(joint.pose, below_times(back.pose, (XrPosef){identity.orientation, {0.2f, 1.2f, -0.4f}}));
        assert_true(joint.locationFlags == ALL);
    }
    stop(&a);
}

/* ---- actions ---- */

static void gaze_is_live_when_synced_and_focused(void **state)
{
    (void)state;
    for (int native = 0; native < 2; native++) {
        below_reset();
        below_runtimes[0].native = native;
        setenv("SACCADE_GAZE", "center", 1);
        app a;
        assert_int_equal(make_instance(&a, 0, true), XR_SUCCESS);
        make_session(&a);
        make_set(&a);
        const XrPath both[] = {LEFT, EYES};
        a.gaze = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, both, 2);
        assert_int_equal(below_runtimes[0].subactions, native ? 2 : 1);
        XrSpace early = make_space(&a, a.gaze, XR_NULL_PATH, identity); /* before anything is bound */
        XrSpace of_eyes = make_space(&a, a.gaze, EYES, identity),
                of_hand = make_space(&a, a.gaze, LEFT, identity);
        assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_SUCCESS);
        const XrActionStateGetInfo question = {
            .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = a.gaze, .subactionPath = EYES};
        XrActionStatePose answer = {.type = XR_TYPE_ACTION_STATE_POSE};
        XrInteractionProfileState profile = {.type = XR_TYPE_INTERACTION_PROFILE_STATE};
        if (!native) {
            assert_int_equal(a.GetActionStatePose(a.session, &question, &answer),
                             XR_ERROR_ACTIONSET_NOT_ATTACHED);
            assert_int_equal(sync_for(&a, EYES), XR_ERROR_ACTIONSET_NOT_ATTACHED);
        }
        assert_int_equal(a.GetCurrentInteractionProfile(a.session, EYES, &profile),
                         XR_ERROR_ACTIONSET_NOT_ATTACHED);
        assert_int_equal(attach(&a), XR_SUCCESS);
        frame(&a);
        const XrTime time = 1005 * ms;
#define LIVE(yes)                                                                                      \
    assert_true(is_active(&a, a.gaze, XR_NULL_PATH) == (yes) && is_active(&a, a.gaze, EYES) == (yes)); \
    assert_true(locate(&a, early, a.view, time).flags == ((yes) ? ALL : 0));                           \
    assert_true(locate(&a, of_eyes, a.view, time).flags == ((yes) ? ALL : 0));                         \
    assert_true(locate(&a, a.view, of_eyes, time).flags == ((yes) ? ALL : 0));                         \
    assert_true(locate(&a, of_hand, a.view, time).flags == 0 && is_active(&a, a.gaze, LEFT))
        LIVE(false); /* not synced yet */
        assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
        LIVE(true);
        assert_int_equal(sync_for(&a, LEFT), XR_SUCCESS);
        LIVE(false); /* the hand only */
        assert_int_equal(sync_for(&a, EYES), XR_SUCCESS);
        LIVE(true);
        assert_int_equal(below_runtimes[0].synced_sets, native ? 1 : 0);
        below_runtimes[0].focused = false;
        assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SESSION_NOT_FOCUSED);
        LIVE(false);
        below_runtimes[0].focused = true;
        assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
        LIVE(true);
        /* Focus goes between two syncs: the event says so. */
        below_runtimes[0].event =
            (XrEventDataSessionStateChanged){.type = XR_TYPE_EVENT_DATA_SESSION_STATE_CHANGED,
                                             .session = a.session,
                                             .state = XR_SESSION_STATE_VISIBLE};
        below_runtimes[0].event_there = true;
        XrEventDataBuffer event = {.type = XR_TYPE_EVENT_DATA_BUFFER};
        assert_int_equal(a.PollEvent(a.instance, &event), XR_SUCCESS);
        LIVE(false);
#undef LIVE
        /* The profile came up: one event, and it is told. */
        assert_int_equal(a.PollEvent(a.instance, &event), XR_SUCCESS);
        assert_int_equal(event.type, XR_TYPE_EVENT_DATA_INTERACTION_PROFILE_CHANGED);
        assert_int_equal(a.PollEvent(a.instance, &event), XR_EVENT_UNAVAILABLE);
        assert_int_equal(a.GetCurrentInteractionProfile(a.session, EYES, &profile), XR_SUCCESS);
        assert_int_equal(profile.interactionProfile, PROFILE);
        assert_int_equal(a.GetCurrentInteractionProfile(a.session, LEFT, &profile), XR_SUCCESS);
        assert_int_equal(profile.interactionProfile, 7);
        stop(&a);
    }
}

static void bindings_are_checked(void **state)
{
    (void)state;
    setenv("SACCADE_GAZE", "center", 1);
    app a;
    assert_int_equal(make_instance(&a, 0, true), XR_SUCCESS);
    make_session(&a);
    make_set(&a);
    const XrPath left[] = {LEFT};
    XrAction button = make_action(&a, XR_ACTION_TYPE_BOOLEAN_INPUT, NULL, 0);
    XrAction hand = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, left, 1);
    XrAction first = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    a.gaze = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, EYES), XR_ERROR_PATH_UNSUPPORTED);
    assert_int_equal(suggest(&a, PROFILE, button, POSE), XR_ERROR_PATH_UNSUPPORTED);
    assert_int_equal(suggest(&a, PROFILE, hand, POSE), XR_ERROR_PATH_UNSUPPORTED);
    assert_int_equal(suggest(&a, PROFILE, BELOW_HANDLE(XrAction, 0, 250), POSE), XR_ERROR_HANDLE_INVALID);
    XrInteractionProfileSuggestedBinding none = {.type = XR_TYPE_INTERACTION_PROFILE_SUGGESTED_BINDING,
                                                 .interactionProfile = PROFILE};
    assert_int_equal(a.SuggestInteractionProfileBindings(a.instance, &none), XR_ERROR_VALIDATION_FAILURE);
    assert_int_equal(below_runtimes[0].suggestions, 0);
    assert_int_equal(suggest(&a, 7, hand, 6), XR_SUCCESS); /* other profiles go down */
    assert_int_equal(below_runtimes[0].suggestions, 1);
    assert_int_equal(suggest(&a, PROFILE, first, POSE), XR_SUCCESS);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_SUCCESS); /* instead of the first */
    assert_int_equal(attach(&a), XR_SUCCESS);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_ERROR_ACTIONSETS_ALREADY_ATTACHED);
    assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
    assert_true(is_active(&a, a.gaze, XR_NULL_PATH) && !is_active(&a, first, XR_NULL_PATH));
    /* What a question about the eyes gets when the action has nothing to do with them. */
    XrActionStateGetInfo question = {
        .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = hand, .subactionPath = EYES};
    XrActionStatePose answer = {.type = XR_TYPE_ACTION_STATE_POSE};
    assert_int_equal(a.GetActionStatePose(a.session, &question, &answer), XR_ERROR_PATH_UNSUPPORTED);
    question.action = button;
    assert_int_equal(a.GetActionStatePose(a.session, &question, &answer), XR_ERROR_ACTION_TYPE_MISMATCH);
    XrActionSpaceCreateInfo space = {.type = XR_TYPE_ACTION_SPACE_CREATE_INFO,
                                     .action = hand,
                                     .subactionPath = EYES,
                                     .poseInActionSpace = identity};
    XrSpace out;
    assert_int_equal(a.CreateActionSpace(a.session, &space, &out), XR_ERROR_PATH_UNSUPPORTED);
    /* Names. */
    const XrBoundSourcesForActionEnumerateInfo sources = {
        .type = XR_TYPE_BOUND_SOURCES_FOR_ACTION_ENUMERATE_INFO, .action = a.gaze};
    uint32_t count = 0;
    XrPath found[4];
    assert_int_equal(a.EnumerateBoundSourcesForAction(a.session, &sources, 0, &count, NULL), XR_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(a.EnumerateBoundSourcesForAction(a.session, &sources, 1, &count, found),
                     XR_ERROR_SIZE_INSUFFICIENT);
    assert_int_equal(a.EnumerateBoundSourcesForAction(a.session, &sources, 4, &count, found), XR_SUCCESS);
    assert_true(count == 2 && found[0] == 6 && found[1] == POSE);
    XrInputSourceLocalizedNameGetInfo name = {
        .type = XR_TYPE_INPUT_SOURCE_LOCALIZED_NAME_GET_INFO, .sourcePath = POSE, .whichComponents = 5};
    char text[32];
    assert_int_equal(a.GetInputSourceLocalizedName(a.session, &name, 0, &count, NULL), XR_SUCCESS);
    assert_int_equal(a.GetInputSourceLocalizedName(a.session, &name, count - 1, &count, text),
                     XR_ERROR_SIZE_INSUFFICIENT);
    assert_int_equal(a.GetInputSourceLocalizedName(a.session, &name, count, &count, text), XR_SUCCESS);
    assert_string_equal(text, "Eyes Gaze");
    name.whichComponents = 0;
    assert_int_equal(a.GetInputSourceLocalizedName(a.session, &name, 0, &count, NULL),
                     XR_ERROR_VALIDATION_FAILURE);
    stop(&a);
}

/* With a tracker of its own the runtime is left alone on request, and replaced without. */
static void runtimes_with_trackers(void **state)
{
    (void)state;
    for (int prefer = 0; prefer < 2; prefer++) {
        below_reset();
        below_runtimes[0].native = below_runtimes[0].tracks = true;
        if (prefer) setenv("SACCADE_GAZE_PREFER", "runtime", 1);
        app a = start("center");
        assert_int_equal(is_active(&a, a.gaze, XR_NULL_PATH), !prefer);
        assert_true(locate(&a, a.gaze_space, a.view, 1010 * ms).flags == (prefer ? 0 : ALL));
        stop(&a);
    }
    below_runtimes[0].tracks = false; /* preferred, but there is none */
    app a = start("center");
    assert_true(is_active(&a, a.gaze, XR_NULL_PATH));
    stop(&a);
    /* Without a source there is no gaze of ours, and nothing breaks. */
    unsetenv("SACCADE_GAZE");
    below_reset();
    assert_int_equal(make_instance(&a, 0, true), XR_SUCCESS);
    make_session(&a);
    make_set(&a);
    a.gaze = make_action(&a, XR_ACTION_TYPE_POSE_INPUT, NULL, 0);
    assert_int_equal(suggest(&a, PROFILE, a.gaze, POSE), XR_SUCCESS);
    assert_int_equal(attach(&a), XR_SUCCESS);
    assert_int_equal(sync_for(&a, XR_NULL_PATH), XR_SUCCESS);
    frame(&a);
    assert_false(is_active(&a, a.gaze, XR_NULL_PATH));
    stop(&a);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, done)
    const struct CMUnitTest tests[] = {
        TEST(negotiation_is_checked), TEST(extensions_go_down_where_they_are_known),
        TEST(mistakes_stop_it),       TEST(recorded_gaze_arrives),
        TEST(delay_loop_and_hold),    TEST(tracked_bits_come_together),
        TEST(gaze_is_a_base_space),   TEST(gaze_is_live_when_synced_and_focused),
        TEST(bindings_are_checked),   TEST(runtimes_with_trackers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
