/* What the files of the session share. session_open.c makes and releases everything below `open`; it is all
 * zero when the session is lost. */
#ifndef SAC_XR_SESSION_INTERNAL_H
#define SAC_XR_SESSION_INTERNAL_H

#include "base/clock.h"
#include "xr/openxr_compat_internal.h"
#include "xr/renderer_internal.h"
#include "xr/session.h"

enum { SAC_SWAPCHAIN_MOST_IMAGES = 8 };

/* One chain of images, with a layer a view, or one for each view. */
typedef struct sac_swapchain {
    XrSwapchain handle;
    uint32_t image_count;
    VkImage images[SAC_SWAPCHAIN_MOST_IMAGES];
} sac_swapchain;

typedef struct sac_actions {
    XrActionSet set;
    XrAction grip, aim, select, squeeze, menu, haptic, gaze;
    XrPath hand[SAC_HANDS];
    XrSpace grip_space[SAC_HANDS], aim_space[SAC_HANDS], gaze_space;
    XrHandTrackerEXT tracker[SAC_HANDS];
    PFN_xrLocateHandJointsEXT locate_joints;
    PFN_xrCreateHandTrackerEXT create_tracker;
    PFN_xrDestroyHandTrackerEXT destroy_tracker;
    XrTime gaze_time; /* of the last sample */
    bool gaze_valid;
} sac_actions;

struct sac_session {
    sac_session_def def;
    sac_session_info info;
    uint64_t created_ns;
    sac_error trouble; /* why it was lost */
    bool lost, exited;

    /* ---- open ---- */
    bool open;
    XrInstance instance;
    XrSystemId system;
    XrSession session;
    bool has_gaze, has_joints, has_rate, has_depth, has_floor; /* extensions switched on */
    PFN_xrConvertTimespecTimeToTimeKHR to_xr_time;
    PFN_xrGetVulkanGraphicsRequirements2KHR graphics_requirements;
    PFN_xrCreateVulkanInstanceKHR create_vulkan_instance;
    PFN_xrGetVulkanGraphicsDevice2KHR get_vulkan_device;
    PFN_xrCreateVulkanDeviceKHR create_vulkan_device;
    XrResult maker_result; /* of the call before Vulkan's own result */
    sac_gpu *gpu;
    sac_renderer *renderer;
    XrViewConfigurationType view_type;
    uint32_t view_count;
    XrEnvironmentBlendMode blend;
    int64_t colour_format;
    bool layered; /* views are layers of swapchain 0 */
    sac_swapchain colour[SAC_DRAWING_MOST_VIEWS], depth;
    XrReferenceSpaceType space_type;
    XrSpace space, view_space;
    XrPosef origin; /* of `space` in the runtime's own space of that type */
    float lift;     /* the runtime's space is this far above the floor, by guess */
    sac_actions actions;

    XrSessionState state;
    bool running, begun;
    bool recentre_pending;
    XrTime recentre_time;
    int64_t clock_offset_ns; /* monotonic less XrTime */
    uint64_t clock_checked_ns;
    XrTime predicted;   /* of the frame that is begun, as the runtime said it */
    XrTime locate_time; /* the same, when it can be believed */
    bool should_render, located;
    bool drawn; /* a picture, since it was opened */
    XrView views[SAC_DRAWING_MOST_VIEWS];

    uint64_t draw_ns; /* what the last hand-over took; 0: none */
    uint64_t frame_cpu_ns,
        runtime_cpu_ns; /* of this frame so far: all of the room, and of it in the runtime */
    uint64_t call_cpu_ns;
};

/* Every call into the runtime goes through here, so that its CPU time can be told from ours. */
#define SAC_XR(session, call) (sac_session_enter(session), sac_session_leave(session, (call)))
void sac_session_enter(sac_session *session);
XrResult sac_session_leave(sac_session *session, XrResult result);

/* False and lost when the call failed: whatever fails in the frame loop, the session is not to be trusted any
 * more. The first trouble is the one that is told. */
bool sac_session_good(sac_session *session, XrResult result, const char *doing);
/* For setting up. */
sac_result sac_session_failed(const sac_session *session, XrResult result, const char *doing,
                              sac_error *error);
void sac_session_message(const sac_session *session, const char *format, ...) SAC_PRINTF(2, 3);
const char *sac_session_state_name(XrSessionState state);

/* session_open.c */
sac_result sac_session_open(sac_session *session, sac_error *error);
void sac_session_close(sac_session *session);
/* session_space.c */
sac_result sac_session_make_spaces(sac_session *session, sac_error *error);
bool sac_session_place(sac_session *session, const XrPosef *origin);
void sac_session_read_clock(sac_session *session);
uint64_t sac_session_to_monotonic(const sac_session *session, XrTime time);
bool sac_session_locate_views(sac_session *session, sac_session_frame *frame);
void sac_session_space_changed(sac_session *session, const XrEventDataReferenceSpaceChangePending *event);

/* swapchain.c */
sac_result sac_swapchains_create(sac_session *session, sac_error *error);
void sac_swapchains_destroy(sac_session *session);
/* The renderer cannot fill it. */
void sac_swapchains_drop_depth(sac_session *session);
/* False: the session is lost, or the images were not to be had in time. */
bool sac_swapchains_acquire(sac_session *session, sac_renderer_image *out_image);
bool sac_swapchains_release(sac_session *session);

/* actions.c */
sac_result sac_actions_create(sac_session *session, sac_error *error);
/* Once per session. */
sac_result sac_actions_attach(sac_session *session, sac_error *error);
void sac_actions_destroy(sac_session *session);
bool sac_actions_read(sac_session *session, sac_session_frame *frame);
void sac_actions_pulse(sac_session *session, uint32_t hand, float amplitude, float seconds);

#endif
