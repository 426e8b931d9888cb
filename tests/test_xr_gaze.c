/* The gaze replay layer between us and a real runtime: recorded gaze arrives in the session with its stamps,
 * the faults it puts in are counted exactly, and plain OpenXR sees what the extension promises. */
#include "xr/openxr_compat_internal.h"
#include "xr_play.h"

static void use_layer(const char *gaze)
{
    setenv("XR_API_LAYER_PATH", SACCADE_GAZE_LAYER_FOLDER, 1);
    setenv("XR_ENABLE_API_LAYERS", "XR_APILAYER_SACCADE_gaze_replay", 1);
    setenv("SACCADE_GAZE", gaze, 1);
}

/* Five samples of every two seconds. */
static bool is_blink(int64_t row) { return row % 32 >= 16 && row % 32 < 21; }

static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("time_s,yaw_deg,pitch_deg,valid\n", file);
    for (int i = 0; i < 2000; i++)
        if (is_blink(i))
            fprintf(file, "%.4f,,,0\n", i * 0.0625);
        else
            fprintf(file, "%.4f,%.3f,%.3f,1\n", i * 0.0625, (i % 100) * 0.5, -(i % 100) * 0.25);
    fclose(file);
}

/* A tracker at 16 Hz under a display at 20: each frame has the sample that was there at its display time,
 * with the time it was taken, and says whether it is news. */
static void recording(void **state)
{
    (void)state;
    const int64_t apart = 62500000;
    play p;
    write_recording("xr-gaze.csv");
    use_layer("xr-gaze.csv");
    play_open(&p);
    sac_session_info info;
    sac_session_info_get(p.session, &info);
    assert_true(info.gaze);
    int64_t start = 0, before = -1;
    int valid = 0, blinking = 0, repeated = 0, missing = 0;
    bool synced = false;
    for (int i = 0; i < 70; i++) {
        play_frame(&p);
        const sac_gaze_reading *gaze = &p.frame.gaze;
        if (!start) start = p.frame.stamp.predicted_xr;
        if (!p.frame.focused) continue;
        if (!synced) { /* the first frame with focus may still be without input */
            synced = gaze->cyclopean.valid;
            continue;
        }
        int64_t since = p.frame.verdict.display_xr - start, row = since / apart;
        if (is_blink(row)) {
            assert_false(gaze->cyclopean.valid);
            blinking++;
            before = -1;
            continue;
        }
        assert_true(p.frame.gaze_supported);
        if (!gaze->cyclopean.valid) { /* a runtime short of time may leave a frame without input */
            missing++;
            before = -1;
            continue;
        }
        const float *d = gaze->cyclopean.direction;
        double yaw = atan2((double)d[0], -(double)d[2]) * 57.29577951308232,
               pitch = asin((double)d[1]) * 57.29577951308232;
        assert_true(fabs(yaw - (double)(row % 100) * 0.5) < 1e-3 &&
                    fabs(pitch + (double)(row % 100) * 0.25) < 1e-3);
        int64_t age = (int64_t)(p.frame.predicted_ns - gaze->sample_ns), expected = since - row * apart;
        assert_true(age - expected < 200000 &&
                    expected - age < 200000); /* clocks are compared to microseconds */
        if (before >= 0) assert_int_equal(gaze->fresh, row != before);
        repeated += !gaze->fresh;
        before = row;
        valid++;
    }
    print_message("%d valid, %d blinking, %d repeated\n", valid, blinking, repeated);
    assert_true(valid > 40 && blinking >= 4 && repeated >= 5 && missing <= 3);
    play_exit(&p);
    play_close(&p);
    remove("xr-gaze.csv");
}

static void late(void **state)
{
    (void)state;
    play p;
    setenv("SACCADE_GAZE_DELAY_MS", "40", 1);
    use_layer("pursuit:10,2");
    play_open(&p);
    play_until_focused(&p);
    for (int i = 0; i < 3; i++) play_frame(&p);
    for (int i = 0; i < 10; i++) {
        play_frame(&p);
        int64_t age = (int64_t)(p.frame.predicted_ns - p.frame.gaze.sample_ns);
        assert_true(p.frame.gaze.cyclopean.valid && age > 39800000 && age < 40200000);
    }
    play_exit(&p);
    play_close(&p);
}

static int64_t rounded(int64_t step, int64_t period) { return (step + period / 2) / period; }

/* Every fault in one run: what is counted is what was put in. */
static void faults(void **state)
{
    (void)state;
    play p;
    setenv("SACCADE_FAULT_STALL", "400@20,30,40", 1);
    setenv("SACCADE_FAULT_GAZE_LOST", "24-26", 1);
    setenv("SACCADE_FAULT_NO_RENDER", "33-34", 1);
    setenv("SACCADE_FAULT_NEGATIVE_TIME", "44", 1);
    setenv("SACCADE_FAULT_ABSURD_PERIOD", "47", 1);
    setenv("SACCADE_FAULT_SESSION_LOSS", "52", 1);
    use_layer("fixation:5,5");
    play_open(&p);
    int64_t last = 0, period = 0;
    uint64_t missed = 0, stalled = 0;
    for (int frame = 1; frame < 52; frame++) {
        play_frame(&p);
        const sac_session_frame *f = &p.frame;
        assert_int_equal(f->should_render == false,
                         frame == 33 || frame == 34 || (frame < 5 && !f->should_render));
        assert_int_equal(f->verdict.strange, frame == 44 || frame == 47);
        if (frame >= 15) assert_int_equal(f->gaze.cyclopean.valid, frame < 24 || frame > 26);
        /* The runtime may take us for slower than its display, and back, in steps of whole periods. */
        if (f->verdict.period_ns == period && last)
            assert_int_equal(f->verdict.missed, rounded(f->verdict.display_xr - last, period) - 1);
        missed += f->verdict.missed;
        if (frame == 21 || frame == 31 || frame == 41) stalled += f->verdict.missed > 0;
        period = f->verdict.period_ns;
        last = f->verdict.display_xr;
    }
    print_message("%d periods missed, three times at least by stalls\n", (int)missed);
    assert_true(stalled == 3);
    assert_int_equal(play_wait(&p), SAC_SESSION_LOST);
    sac_session_info info;
    sac_session_info_get(p.session, &info);
    assert_true(info.ledger.strange == 2 && info.ledger.frames == p.frames && info.ledger.missed == missed);
    sac_result result = SAC_ERROR_IO;
    for (int i = 0; i < 50 && result != SAC_OK; i++) {
        result = sac_session_reopen(p.session, &p.error);
        if (result != SAC_OK) play_sleep_ms(100);
    }
    assert_int_equal(result, SAC_OK);
    play_until_focused(&p);
    for (int i = 0; i < 4; i++) play_frame(&p);
    assert_true(p.frame.gaze.cyclopean.valid);
    play_exit(&p);
    play_close(&p);
}

/* ---- plain OpenXR ---- */

typedef struct plain {
    XrInstance instance;
    XrSystemId system;
    XrSession session;
    XrActionSet set;
    XrAction gaze;
    XrSpace gaze_space, view, local;
    XrPath profile, pose, eyes;
    VkInstance vulkan;
    VkDevice device;
} plain;

#define XR(call) assert_int_equal(call, XR_SUCCESS)

static XrResult create_instance(plain *x)
{
    const char *names[] = {"XR_KHR_vulkan_enable2", "XR_EXT_eye_gaze_interaction"};
    XrInstanceCreateInfo info = {
        .type = XR_TYPE_INSTANCE_CREATE_INFO,
        .applicationInfo = {.applicationName = "plain", .apiVersion = XR_MAKE_VERSION(1, 0, 0)},
        .enabledExtensionCount = 2,
        .enabledExtensionNames = names};
    memset(x, 0, sizeof *x);
    return xrCreateInstance(&info, &x->instance);
}

#define FIND(x, name) \
    PFN_##name name;  \
    XR(xrGetInstanceProcAddr((x)->instance, #name, (PFN_xrVoidFunction *)&name))

static void create_session(plain *x)
{
    const XrSystemGetInfo head = {.type = XR_TYPE_SYSTEM_GET_INFO,
                                  .formFactor = XR_FORM_FACTOR_HEAD_MOUNTED_DISPLAY};
    XR(xrGetSystem(x->instance, &head, &x->system));
    XrSystemEyeGazeInteractionPropertiesEXT eyes = {.type =
                                                        XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT};
    XrSystemProperties properties = {.type = XR_TYPE_SYSTEM_PROPERTIES, .next = &eyes};
    XR(xrGetSystemProperties(x->instance, x->system, &properties));
    assert_true(eyes.supportsEyeGazeInteraction);
    FIND(x, xrGetVulkanGraphicsRequirements2KHR);
    FIND(x, xrCreateVulkanInstanceKHR);
    FIND(x, xrGetVulkanGraphicsDevice2KHR);
    FIND(x, xrCreateVulkanDeviceKHR);
    XrGraphicsRequirementsVulkan2KHR needs = {.type = XR_TYPE_GRAPHICS_REQUIREMENTS_VULKAN2_KHR};
    XR(xrGetVulkanGraphicsRequirements2KHR(x->instance, x->system, &needs));
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo vulkan = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pApplicationInfo = &application};
    const XrVulkanInstanceCreateInfoKHR make = {.type = XR_TYPE_VULKAN_INSTANCE_CREATE_INFO_KHR,
                                                .systemId = x->system,
                                                .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                                .vulkanCreateInfo = &vulkan};
    VkResult made;
    XR(xrCreateVulkanInstanceKHR(x->instance, &make, &x->vulkan, &made));
    const XrVulkanGraphicsDeviceGetInfoKHR which = {.type = XR_TYPE_VULKAN_GRAPHICS_DEVICE_GET_INFO_KHR,
                                                    .systemId = x->system,
                                                    .vulkanInstance = x->vulkan};
    VkPhysicalDevice physical;
    XR(xrGetVulkanGraphicsDevice2KHR(x->instance, &which, &physical));
    const float one = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &one};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    const XrVulkanDeviceCreateInfoKHR make_device = {.type = XR_TYPE_VULKAN_DEVICE_CREATE_INFO_KHR,
                                                     .systemId = x->system,
                                                     .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                                     .vulkanPhysicalDevice = physical,
                                                     .vulkanCreateInfo = &device};
    XR(xrCreateVulkanDeviceKHR(x->instance, &make_device, &x->device, &made));
    const XrGraphicsBindingVulkan2KHR binding = {.type = XR_TYPE_GRAPHICS_BINDING_VULKAN2_KHR,
                                                 .instance = x->vulkan,
                                                 .physicalDevice = physical,
                                                 .device = x->device};
    const XrSessionCreateInfo info = {
        .type = XR_TYPE_SESSION_CREATE_INFO, .next = &binding, .systemId = x->system};
    XR(xrCreateSession(x->instance, &info, &x->session));
}

static void create_actions(plain *x)
{
    XR(xrStringToPath(x->instance, "/interaction_profiles/ext/eye_gaze_interaction", &x->profile));
    XR(xrStringToPath(x->instance, "/user/eyes_ext/input/gaze_ext/pose", &x->pose));
    XR(xrStringToPath(x->instance, "/user/eyes_ext", &x->eyes));
    const XrActionSetCreateInfo set = {
        .type = XR_TYPE_ACTION_SET_CREATE_INFO, .actionSetName = "set", .localizedActionSetName = "Set"};
    XR(xrCreateActionSet(x->instance, &set, &x->set));
    const XrActionCreateInfo action = {.type = XR_TYPE_ACTION_CREATE_INFO,
                                       .actionName = "gaze",
                                       .localizedActionName = "Gaze",
                                       .actionType = XR_ACTION_TYPE_POSE_INPUT,
                                       .countSubactionPaths = 1,
                                       .subactionPaths = &x->eyes};
    XR(xrCreateAction(x->set, &action, &x->gaze));
    const XrActionSuggestedBinding binding = {x->gaze, x->pose};
    const XrInteractionProfileSuggestedBinding suggestion = {
        .type = XR_TYPE_INTERACTION_PROFILE_SUGGESTED_BINDING,
        .interactionProfile = x->profile,
        .countSuggestedBindings = 1,
        .suggestedBindings = &binding};
    XR(xrSuggestInteractionProfileBindings(x->instance, &suggestion));
    const XrSessionActionSetsAttachInfo attach = {
        .type = XR_TYPE_SESSION_ACTION_SETS_ATTACH_INFO, .countActionSets = 1, .actionSets = &x->set};
    XR(xrAttachSessionActionSets(x->session, &attach));
    assert_true(XR_FAILED(xrSuggestInteractionProfileBindings(x->instance, &suggestion)));
    const XrActionSpaceCreateInfo space = {.type = XR_TYPE_ACTION_SPACE_CREATE_INFO,
                                           .action = x->gaze,
                                           .subactionPath = x->eyes,
                                           .poseInActionSpace = {.orientation = {0, 0, 0, 1}}};
    XR(xrCreateActionSpace(x->session, &space, &x->gaze_space));
    XrReferenceSpaceCreateInfo reference = {.type = XR_TYPE_REFERENCE_SPACE_CREATE_INFO,
                                            .referenceSpaceType = XR_REFERENCE_SPACE_TYPE_VIEW,
                                            .poseInReferenceSpace = {.orientation = {0, 0, 0, 1}}};
    XR(xrCreateReferenceSpace(x->session, &reference, &x->view));
    reference.referenceSpaceType = XR_REFERENCE_SPACE_TYPE_LOCAL;
    XR(xrCreateReferenceSpace(x->session, &reference, &x->local));
}

/* A frame with nothing in it. */
static XrTime empty_frame(plain *x)
{
    XrEventDataBuffer event;
    for (;;) {
        event = (XrEventDataBuffer){.type = XR_TYPE_EVENT_DATA_BUFFER};
        if (xrPollEvent(x->instance, &event) != XR_SUCCESS) break;
        const XrEventDataSessionStateChanged *changed = (const void *)&event;
        const XrSessionBeginInfo begin = {.type = XR_TYPE_SESSION_BEGIN_INFO,
                                          .primaryViewConfigurationType =
                                              XR_VIEW_CONFIGURATION_TYPE_PRIMARY_STEREO};
        if (event.type == XR_TYPE_EVENT_DATA_SESSION_STATE_CHANGED &&
            changed->state == XR_SESSION_STATE_READY)
            XR(xrBeginSession(x->session, &begin));
    }
    XrFrameState frame = {.type = XR_TYPE_FRAME_STATE};
    const XrResult result = xrWaitFrame(x->session, NULL, &frame);
    if (result == XR_ERROR_SESSION_NOT_RUNNING) {
        play_sleep_ms(10);
        return 0;
    }
    XR(result);
    XR(xrBeginFrame(x->session, NULL));
    const XrFrameEndInfo end = {.type = XR_TYPE_FRAME_END_INFO,
                                .displayTime = frame.predictedDisplayTime,
                                .environmentBlendMode = XR_ENVIRONMENT_BLEND_MODE_OPAQUE};
    XR(xrEndFrame(x->session, &end));
    return frame.predictedDisplayTime;
}

static bool sync_and_ask(plain *x)
{
    const XrActiveActionSet active = {x->set, x->eyes};
    const XrActionsSyncInfo sync = {
        .type = XR_TYPE_ACTIONS_SYNC_INFO, .countActiveActionSets = 1, .activeActionSets = &active};
    assert_true(XR_SUCCEEDED(xrSyncActions(x->session, &sync)));
    const XrActionStateGetInfo ask = {
        .type = XR_TYPE_ACTION_STATE_GET_INFO, .action = x->gaze, .subactionPath = x->eyes};
    XrActionStatePose pose = {.type = XR_TYPE_ACTION_STATE_POSE};
    XR(xrGetActionStatePose(x->session, &ask, &pose));
    return pose.isActive;
}

static void look_round(plain *x)
{
    XrTime time = 0;
    int waited = 0;
    for (; waited < 100; waited++) {
        time = empty_frame(x);
        if (time && sync_and_ask(x)) break;
    }
    assert_true(waited < 100);
    for (int i = 0; i < 10; i++) {
        time = empty_frame(x);
        assert_true(sync_and_ask(x));
        XrEyeGazeSampleTimeEXT sample = {.type = XR_TYPE_EYE_GAZE_SAMPLE_TIME_EXT};
        XrSpaceLocation in_view = {.type = XR_TYPE_SPACE_LOCATION, .next = &sample};
        XrSpaceLocation there = {.type = XR_TYPE_SPACE_LOCATION}, back = {.type = XR_TYPE_SPACE_LOCATION};
        XR(xrLocateSpace(x->gaze_space, x->view, time, &in_view));
        XR(xrLocateSpace(x->gaze_space, x->local, time, &there));
        XR(xrLocateSpace(x->local, x->gaze_space, time, &back));
        assert_true(in_view.locationFlags == 15 && sample.time == time);
        const XrSpaceLocationFlags tracked = 12;
        assert_true((there.locationFlags & tracked) == 0 || (there.locationFlags & tracked) == tracked);
        assert_true((there.locationFlags & 3) == 3 && back.locationFlags == there.locationFlags);
        /* There and back is where it was: rotations undo each other. */
        const XrQuaternionf p = there.pose.orientation, q = back.pose.orientation;
        assert_true(fabsf(fabsf(p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z) - 1) < 1e-4f);
        /* fixation:30,0 */
        assert_true(fabsf(in_view.pose.orientation.y + sinf(0.2617994f)) < 1e-5f);
    }
    XrInteractionProfileState profile = {.type = XR_TYPE_INTERACTION_PROFILE_STATE};
    XR(xrGetCurrentInteractionProfile(x->session, x->eyes, &profile));
    assert_true(profile.interactionProfile == x->profile);
}

static void destroy(plain *x)
{
    if (x->session) XR(xrDestroySession(x->session));
    XR(xrDestroyInstance(x->instance));
    if (x->device) vkDestroyDevice(x->device, NULL);
    if (x->vulkan) vkDestroyInstance(x->vulkan, NULL);
}

/* With the runtime's own extension below, and as if it had none; instance after instance, and beside each
 * other where the loader allows it. */
static void openxr(void **state)
{
    (void)state;
    use_layer("fixation:30,0");
    for (int hidden = 0; hidden < 2; hidden++) {
        plain x, y;
        if (hidden) setenv("SACCADE_GAZE_HIDE_RUNTIME", "1", 1);
        XR(create_instance(&x));
        create_session(&x);
        create_actions(&x);
        look_round(&x);
        const XrResult second = create_instance(&y);
        if (second == XR_SUCCESS) {
            create_session(&y);
            create_actions(&y);
            look_round(&y);
            look_round(&x);
            destroy(&y);
        } else {
            assert_int_equal(second, XR_ERROR_LIMIT_REACHED);
            print_message("this loader has one instance at a time\n");
        }
        destroy(&x);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recording),
        cmocka_unit_test(late),
        cmocka_unit_test(faults),
        cmocka_unit_test(openxr),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
