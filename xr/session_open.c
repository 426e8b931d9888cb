/* Opening and closing: instance, system, device, session, images. Everything that can be missing on a machine
 * is found out here, and each has its remedy. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "xr/session_internal.h"

enum { MOST_EXTENSIONS = 512 };

#define REMEDY_NO_RUNTIME                                                          \
    "install and start Monado, SteamVR or WiVRn, or point XR_RUNTIME_JSON at its " \
    "manifest; without a headset use: saccade view"

/* ---- what a result means ---- */

sac_result sac_session_failed(const sac_session *session, XrResult result, const char *doing,
                              sac_error *error)
{
    char name[XR_MAX_RESULT_STRING_SIZE];
    snprintf(name, sizeof name, "XrResult %d", (int)result);
    if (session->instance) xrResultToString(session->instance, result, name);
    switch (result) {
    case XR_ERROR_RUNTIME_UNAVAILABLE:
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, REMEDY_NO_RUNTIME,
                             "there is no OpenXR runtime here");
    case XR_ERROR_FORM_FACTOR_UNAVAILABLE:
    case XR_ERROR_FORM_FACTOR_UNSUPPORTED:
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                             "connect and switch on the headset; without one use: saccade view",
                             "%s is running, but finds no headset", session->info.runtime);
    case XR_ERROR_INSTANCE_LOST:
    case XR_ERROR_SESSION_LOST:
        return sac_error_set(error, SAC_ERROR_IO, "it can be opened again when the runtime is back",
                             "the runtime went away (could not %s: %s)", doing, name);
    case XR_ERROR_OUT_OF_MEMORY:
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "could not %s", doing);
    case XR_ERROR_LIMIT_REACHED:
        return sac_error_set(error, SAC_ERROR_IO, "end the other program in the headset",
                             "the runtime takes no more programs (could not %s)", doing);
    default:
        return sac_error_set(error, SAC_ERROR_IO, NULL, "could not %s: %s", doing, name);
    }
}

void sac_session_message(const sac_session *session, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (session->def.renderer.message)
        session->def.renderer.message(text, session->def.renderer.user);
    else
        fprintf(stderr, "saccade: %s\n", text);
}

/* ---- instance ---- */

static bool offers(const XrExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0) return true;
    return false;
}

static sac_result list_extensions(const sac_session *session, XrExtensionProperties *list, uint32_t *count,
                                  sac_error *error)
{
    XrResult r = xrEnumerateInstanceExtensionProperties(NULL, 0, count, NULL);
    if (XR_SUCCEEDED(r)) {
        if (*count > MOST_EXTENSIONS) *count = MOST_EXTENSIONS;
        for (uint32_t i = 0; i < *count; i++)
            list[i] = (XrExtensionProperties){.type = XR_TYPE_EXTENSION_PROPERTIES};
        r = xrEnumerateInstanceExtensionProperties(NULL, *count, count, list);
        if (r == XR_ERROR_SIZE_INSUFFICIENT) r = XR_SUCCESS;
    }
    /* Loaders differ in what they say when no manifest, or no library behind it, is found. */
    if (r == XR_ERROR_RUNTIME_FAILURE || r == XR_ERROR_FILE_ACCESS_ERROR || r == XR_ERROR_INSTANCE_LOST ||
        r == XR_ERROR_FILE_CONTENTS_INVALID)
        r = XR_ERROR_RUNTIME_UNAVAILABLE;
    return XR_FAILED(r) ? sac_session_failed(session, r, "ask the runtime what it can", error) : SAC_OK;
}

static sac_result name_missing(const char *name, sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                         "use a runtime that has it: Monado, SteamVR and WiVRn do",
                         "the OpenXR runtime lacks %s", name);
}

static sac_result create_instance(sac_session *session, sac_error *error)
{
    XrExtensionProperties *list = sac_alloc(MOST_EXTENSIONS, sizeof *list);
    const char *names[8];
    uint32_t listed = 0, count = 0;
    if (!list) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    sac_result result = list_extensions(session, list, &listed, error);
    const struct {
        const char *name;
        bool *on;
    } extensions[] = {{XR_KHR_VULKAN_ENABLE2_EXTENSION_NAME, NULL},
                      {XR_KHR_CONVERT_TIMESPEC_TIME_EXTENSION_NAME, NULL},
                      {XR_EXT_EYE_GAZE_INTERACTION_EXTENSION_NAME, &session->has_gaze},
                      {XR_EXT_HAND_TRACKING_EXTENSION_NAME, &session->has_joints},
                      {XR_FB_DISPLAY_REFRESH_RATE_EXTENSION_NAME, &session->has_rate},
                      {XR_KHR_COMPOSITION_LAYER_DEPTH_EXTENSION_NAME, &session->has_depth},
                      {XR_EXT_LOCAL_FLOOR_EXTENSION_NAME, &session->has_floor}};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions && result == SAC_OK; i++) {
        const bool there = offers(list, listed, extensions[i].name);
        if (extensions[i].on) *extensions[i].on = there;
        if (there)
            names[count++] = extensions[i].name;
        else if (!extensions[i].on)
            result = name_missing(extensions[i].name, error);
    }
    sac_free(list, MOST_EXTENSIONS, sizeof *list);
    if (result != SAC_OK) return result;
    XrInstanceCreateInfo info = {
        .type = XR_TYPE_INSTANCE_CREATE_INFO, .enabledExtensionCount = count, .enabledExtensionNames = names};
    info.applicationInfo.apiVersion = XR_MAKE_VERSION(1, 0, 0);
    info.applicationInfo.applicationVersion = info.applicationInfo.engineVersion = 1;
    snprintf(info.applicationInfo.applicationName, sizeof info.applicationInfo.applicationName, "%s",
             session->def.application);
    snprintf(info.applicationInfo.engineName, sizeof info.applicationInfo.engineName, "Saccade");
    const XrResult r = xrCreateInstance(&info, &session->instance);
    if (XR_FAILED(r)) session->instance = XR_NULL_HANDLE;
    if (r == XR_ERROR_RUNTIME_FAILURE || r == XR_ERROR_INSTANCE_LOST)
        return sac_error_set(error, SAC_ERROR_IO,
                             "start its service (monado-service, SteamVR, WiVRn) and try again",
                             "the OpenXR runtime is installed but does not answer");
    if (XR_FAILED(r)) return sac_session_failed(session, r, "connect to the OpenXR runtime", error);
    XrInstanceProperties properties = {.type = XR_TYPE_INSTANCE_PROPERTIES};
    if (XR_SUCCEEDED(xrGetInstanceProperties(session->instance, &properties)))
        snprintf(session->info.runtime, sizeof session->info.runtime, "%.100s %u.%u.%u",
                 properties.runtimeName, (unsigned)XR_VERSION_MAJOR(properties.runtimeVersion),
                 (unsigned)XR_VERSION_MINOR(properties.runtimeVersion),
                 (unsigned)XR_VERSION_PATCH(properties.runtimeVersion));
    return SAC_OK;
}

static sac_result find_system(sac_session *session, sac_error *error)
{
    const XrSystemGetInfo get = {.type = XR_TYPE_SYSTEM_GET_INFO,
                                 .formFactor = XR_FORM_FACTOR_HEAD_MOUNTED_DISPLAY};
    XrResult r = xrGetSystem(session->instance, &get, &session->system);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "find a headset", error);
    XrSystemEyeGazeInteractionPropertiesEXT gaze = {.type =
                                                        XR_TYPE_SYSTEM_EYE_GAZE_INTERACTION_PROPERTIES_EXT};
    XrSystemHandTrackingPropertiesEXT hands = {.type = XR_TYPE_SYSTEM_HAND_TRACKING_PROPERTIES_EXT};
    XrSystemProperties properties = {.type = XR_TYPE_SYSTEM_PROPERTIES};
    if (session->has_gaze) properties.next = &gaze;
    if (session->has_joints) hands.next = properties.next, properties.next = &hands;
    r = xrGetSystemProperties(session->instance, session->system, &properties);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "ask what the headset can", error);
    snprintf(session->info.system, sizeof session->info.system, "%.127s", properties.systemName);
    session->info.gaze = session->has_gaze && gaze.supportsEyeGazeInteraction;
    session->has_joints = session->has_joints && hands.supportsHandTracking;
    return SAC_OK;
}

/* ---- device ---- */

static VkResult make_instance(void *user, const VkInstanceCreateInfo *info, VkInstance *out)
{
    sac_session *session = user;
    const XrVulkanInstanceCreateInfoKHR create = {.type = XR_TYPE_VULKAN_INSTANCE_CREATE_INFO_KHR,
                                                  .systemId = session->system,
                                                  .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                                  .vulkanCreateInfo = info};
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;
    session->maker_result = session->create_vulkan_instance(session->instance, &create, out, &result);
    return XR_FAILED(session->maker_result) ? VK_ERROR_INITIALIZATION_FAILED : result;
}

static VkResult find_physical(void *user, VkInstance instance, VkPhysicalDevice *out)
{
    sac_session *session = user;
    const XrVulkanGraphicsDeviceGetInfoKHR get = {.type = XR_TYPE_VULKAN_GRAPHICS_DEVICE_GET_INFO_KHR,
                                                  .systemId = session->system,
                                                  .vulkanInstance = instance};
    session->maker_result = session->get_vulkan_device(session->instance, &get, out);
    return XR_FAILED(session->maker_result) ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS;
}

static VkResult make_device(void *user, VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                            VkDevice *out)
{
    sac_session *session = user;
    const XrVulkanDeviceCreateInfoKHR create = {.type = XR_TYPE_VULKAN_DEVICE_CREATE_INFO_KHR,
                                                .systemId = session->system,
                                                .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                                .vulkanPhysicalDevice = physical,
                                                .vulkanCreateInfo = info};
    VkResult result = VK_ERROR_INITIALIZATION_FAILED;
    session->maker_result = session->create_vulkan_device(session->instance, &create, out, &result);
    return XR_FAILED(session->maker_result) ? VK_ERROR_INITIALIZATION_FAILED : result;
}

static sac_result find_functions(sac_session *session, sac_error *error)
{
    const struct {
        const char *name;
        PFN_xrVoidFunction *function;
    } list[] = {
        {"xrGetVulkanGraphicsRequirements2KHR", (PFN_xrVoidFunction *)&session->graphics_requirements},
        {"xrCreateVulkanInstanceKHR", (PFN_xrVoidFunction *)&session->create_vulkan_instance},
        {"xrGetVulkanGraphicsDevice2KHR", (PFN_xrVoidFunction *)&session->get_vulkan_device},
        {"xrCreateVulkanDeviceKHR", (PFN_xrVoidFunction *)&session->create_vulkan_device},
        {"xrConvertTimespecTimeToTimeKHR", (PFN_xrVoidFunction *)&session->to_xr_time}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (XR_FAILED(xrGetInstanceProcAddr(session->instance, list[i].name, list[i].function)))
            return name_missing(list[i].name, error);
    return SAC_OK;
}

static sac_result create_gpu(sac_session *session, sac_error *error)
{
    XrGraphicsRequirementsVulkan2KHR needs = {.type = XR_TYPE_GRAPHICS_REQUIREMENTS_VULKAN2_KHR};
    sac_result result = find_functions(session, error);
    if (result != SAC_OK) return result;
    const XrResult r = session->graphics_requirements(session->instance, session->system, &needs);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "ask which Vulkan is needed", error);
    if (needs.minApiVersionSupported > XR_MAKE_VERSION(1, 1, 0xffff) ||
        needs.maxApiVersionSupported < XR_MAKE_VERSION(1, 1, 0))
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "use a newer runtime",
                             "%s cannot work with Vulkan 1.1", session->info.runtime);
    const sac_gpu_maker maker = {
        .instance = make_instance, .physical = find_physical, .device = make_device, .user = session};
    session->maker_result = XR_SUCCESS;
    result = sac_gpu_create(&session->def.renderer, &maker, &session->gpu, error);
    if (result != SAC_OK && XR_FAILED(session->maker_result))
        return sac_session_failed(session, session->maker_result, "set up Vulkan for the headset", error);
    return result;
}

/* ---- session ---- */

static sac_result read_views(sac_session *session, sac_error *error)
{
    XrViewConfigurationType types[8];
    XrViewConfigurationView views[SAC_DRAWING_MOST_VIEWS];
    uint32_t count = 0;
    XrResult r = xrEnumerateViewConfigurations(session->instance, session->system, 0, &count, NULL);
    if (XR_SUCCEEDED(r) && count > 8) count = 8;
    if (XR_SUCCEEDED(r))
        r = xrEnumerateViewConfigurations(session->instance, session->system, count, &count, types);
    session->view_type = 0;
    for (uint32_t i = 0; i < count && XR_SUCCEEDED(r); i++) {
        if (types[i] == XR_VIEW_CONFIGURATION_TYPE_PRIMARY_STEREO) session->view_type = types[i];
        if (types[i] == XR_VIEW_CONFIGURATION_TYPE_PRIMARY_MONO && !session->view_type)
            session->view_type = types[i];
    }
    if (XR_SUCCEEDED(r) && !session->view_type)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, NULL, "%s has neither two views nor one",
                             session->info.system);
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++)
        views[i] = (XrViewConfigurationView){.type = XR_TYPE_VIEW_CONFIGURATION_VIEW};
    session->view_count = session->view_type == XR_VIEW_CONFIGURATION_TYPE_PRIMARY_STEREO ? 2 : 1;
    if (XR_SUCCEEDED(r))
        r = xrEnumerateViewConfigurationViews(session->instance, session->system, session->view_type,
                                              session->view_count, &session->view_count, views);
    if (XR_FAILED(r)) return sac_session_failed(session, r, "ask how large the views are", error);
    float width = 0, height = 0;
    uint32_t most_width = UINT32_MAX, most_height = UINT32_MAX;
    for (uint32_t i = 0; i < session->view_count; i++) {
        width = width > (float)views[i].recommendedImageRectWidth ? width
                                                                  : (float)views[i].recommendedImageRectWidth;
        height = height > (float)views[i].recommendedImageRectHeight
                     ? height
                     : (float)views[i].recommendedImageRectHeight;
        if (views[i].maxImageRectWidth < most_width) most_width = views[i].maxImageRectWidth;
        if (views[i].maxImageRectHeight < most_height) most_height = views[i].maxImageRectHeight;
    }
    session->info.width = (uint32_t)(width * session->def.resolution + 0.5f);
    session->info.height = (uint32_t)(height * session->def.resolution + 0.5f);
    if (session->info.width > most_width) session->info.width = most_width;
    if (session->info.height > most_height) session->info.height = most_height;
    if (session->info.width < 16) session->info.width = 16;
    if (session->info.height < 16) session->info.height = 16;
    return SAC_OK;
}

static void choose_blend(sac_session *session)
{
    XrEnvironmentBlendMode modes[8];
    uint32_t count = 0;
    session->blend = XR_ENVIRONMENT_BLEND_MODE_OPAQUE;
    if (XR_FAILED(xrEnumerateEnvironmentBlendModes(session->instance, session->system, session->view_type, 0,
                                                   &count, NULL)) ||
        !count || count > 8 ||
        XR_FAILED(xrEnumerateEnvironmentBlendModes(session->instance, session->system, session->view_type,
                                                   count, &count, modes)))
        return;
    session->blend = modes[0];
    for (uint32_t i = 0; i < count; i++)
        if (modes[i] == XR_ENVIRONMENT_BLEND_MODE_OPAQUE) session->blend = modes[i];
}

/* The rate nearest to the one wanted, of those the runtime has. */
static void choose_rate(sac_session *session)
{
    PFN_xrEnumerateDisplayRefreshRatesFB list = NULL;
    PFN_xrGetDisplayRefreshRateFB get = NULL;
    PFN_xrRequestDisplayRefreshRateFB request = NULL;
    float rates[32], hz = 0;
    uint32_t count = 0;
    session->info.refresh_rate = session->has_rate;
    if (!session->has_rate) return;
    xrGetInstanceProcAddr(session->instance, "xrEnumerateDisplayRefreshRatesFB", (PFN_xrVoidFunction *)&list);
    xrGetInstanceProcAddr(session->instance, "xrGetDisplayRefreshRateFB", (PFN_xrVoidFunction *)&get);
    xrGetInstanceProcAddr(session->instance, "xrRequestDisplayRefreshRateFB", (PFN_xrVoidFunction *)&request);
    if (session->def.refresh_hz > 0 && list && request &&
        XR_SUCCEEDED(list(session->session, 0, &count, NULL)) && count && count <= 32 &&
        XR_SUCCEEDED(list(session->session, count, &count, rates))) {
        float best = rates[0];
        for (uint32_t i = 1; i < count; i++) {
            const float d = rates[i] - session->def.refresh_hz, b = best - session->def.refresh_hz;
            if (d * d < b * b) best = rates[i];
        }
        if (XR_FAILED(request(session->session, best)))
            sac_session_message(session, "the runtime keeps its own refresh rate");
    }
    if (get && XR_SUCCEEDED(get(session->session, &hz)) && hz > 0) session->info.refresh_hz = hz;
}

static sac_result create_session(sac_session *session, sac_error *error)
{
    const XrGraphicsBindingVulkan2KHR binding = {.type = XR_TYPE_GRAPHICS_BINDING_VULKAN2_KHR,
                                                 .instance = session->gpu->instance,
                                                 .physicalDevice = session->gpu->physical,
                                                 .device = session->gpu->device,
                                                 .queueFamilyIndex = session->gpu->family,
                                                 .queueIndex = 0};
    const XrSessionCreateInfo info = {
        .type = XR_TYPE_SESSION_CREATE_INFO, .next = &binding, .systemId = session->system};
    const XrResult r = xrCreateSession(session->instance, &info, &session->session);
    return XR_FAILED(r) ? sac_session_failed(session, r, "open the session", error) : SAC_OK;
}

static sac_result create_renderer(sac_session *session, sac_error *error)
{
    const sac_renderer_format format = {.colour = (VkFormat)session->colour_format,
                                        .width = session->info.width,
                                        .height = session->info.height,
                                        .views = session->view_count,
                                        .colour_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                        .depth = session->info.depth};
    session->info.multiview = session->layered;
    const sac_result result = sac_renderer_create(session->gpu, &format, &session->renderer, error);
    if (result == SAC_OK && session->info.depth && !sac_renderer_gives_depth(session->renderer))
        sac_swapchains_drop_depth(session);
    return result;
}

sac_result sac_session_open(sac_session *session, sac_error *error)
{
    static sac_result (*const steps[])(sac_session *, sac_error *) = {
        create_instance,    find_system,           read_views,      create_gpu,
        create_session,     sac_swapchains_create, create_renderer, sac_session_make_spaces,
        sac_actions_create, sac_actions_attach};
    sac_result result = SAC_OK;
    session->open = true;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && result == SAC_OK; i++)
        result = steps[i](session, error);
    if (result != SAC_OK) {
        sac_session_close(session);
        return result;
    }
    choose_blend(session);
    choose_rate(session);
    return SAC_OK;
}

/* The device goes after the session that uses it. What a dead runtime answers to all this is not asked. */
void sac_session_close(sac_session *session)
{
    if (!session->open) return;
    sac_renderer_destroy(&session->renderer);
    sac_swapchains_destroy(session);
    sac_actions_destroy(session);
    if (session->space) xrDestroySpace(session->space);
    if (session->view_space) xrDestroySpace(session->view_space);
    if (session->session) xrDestroySession(session->session);
    sac_gpu_destroy(&session->gpu);
    if (session->instance) xrDestroyInstance(session->instance);
    memset(&session->open, 0, sizeof *session - offsetof(sac_session, open));
}

/* ---- is there one? ---- */

sac_session_presence sac_session_probe(char *out_text, size_t size)
{
    sac_error error;
    char text[512];
    sac_session_presence presence = SAC_PRESENCE_NO_RUNTIME;
    sac_session *session = sac_alloc_zero(1, sizeof *session);
    if (!session) {
        if (size) snprintf(out_text, size, "out of memory");
        return presence;
    }
    session->def = sac_default_session_def();
    sac_result result = create_instance(session, &error);
    if (result == SAC_OK) {
        presence = SAC_PRESENCE_NO_HEADSET;
        result = find_system(session, &error);
    }
    if (result == SAC_OK) {
        presence = SAC_PRESENCE_HEADSET;
        snprintf(text, sizeof text, "%s on %s%s", session->info.system, session->info.runtime,
                 session->info.gaze ? ", with eye tracking" : "");
    } else {
        sac_error_text(&error, text, sizeof text);
    }
    if (size) snprintf(out_text, size, "%s", text);
    if (session->instance) xrDestroyInstance(session->instance);
    sac_free(session, 1, sizeof *session);
    return presence;
}
