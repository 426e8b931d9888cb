/* How the loader gets in: the one exported function, the instance, and which calls go through us. */
#include "xr/layer/layer_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char gaze_extension[] = XR_EXT_EYE_GAZE_INTERACTION_EXTENSION_NAME;
static const char time_extension[] = "XR_KHR_convert_timespec_time";

void sac_layer_say(const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, SAC_LAYER_NAME ": %s\n", text);
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

/* ---- which calls ---- */

static XrResult XRAPI_CALL get_instance_proc_addr(XrInstance handle, const char *name,
                                                  PFN_xrVoidFunction *function)
{
    if (!name || !function) return XR_ERROR_VALIDATION_FAILURE;
    *function = NULL;
    if (strcmp(name, "xrGetInstanceProcAddr") == 0) {
        *function = (PFN_xrVoidFunction)get_instance_proc_addr;
        return XR_SUCCESS;
    }
    sac_layer_lock();
    sac_layer_instance *instance = sac_layer_find_instance(handle);
    PFN_xrGetInstanceProcAddr get = instance ? instance->get : NULL;
    sac_layer_unlock();
    if (!get) return XR_ERROR_HANDLE_INVALID;
    /* Ours only where there is something below: what the runtime does not have stays away. */
    XrResult result = get(handle, name, function);
    if (XR_FAILED(result) || !*function) return result;
    const sac_layer_hook *const tables[] = {sac_layer_action_hooks, sac_layer_space_hooks,
                                            sac_layer_frame_hooks};
    for (size_t t = 0; t < 3; t++)
        for (const sac_layer_hook *hook = tables[t]; hook->name; hook++)
            if (strcmp(hook->name, name) == 0) *function = hook->function;
    return result;
}

static void find(const sac_layer_instance *instance, const char *name, PFN_xrVoidFunction *out_function)
{
    if (XR_FAILED(instance->get(instance->handle, name, out_function))) *out_function = NULL;
}

/* False when a core function is missing: that is no runtime. */
static bool find_all(sac_layer_instance *instance)
{
    sac_layer_next *next = &instance->next;
    bool all = true;
#define X(function)                                                        \
    find(instance, "xr" #function, (PFN_xrVoidFunction *)&next->function); \
    all &= next->function != NULL;
    SAC_LAYER_NEXT(X)
#undef X
    find(instance, "xrLocateSpaces", (PFN_xrVoidFunction *)&next->LocateSpaces);
    if (!next->LocateSpaces) find(instance, "xrLocateSpacesKHR", (PFN_xrVoidFunction *)&next->LocateSpaces);
    find(instance, "xrLocateHandJointsEXT", (PFN_xrVoidFunction *)&next->LocateHandJointsEXT);
    find(instance, "xrConvertTimespecTimeToTimeKHR",
         (PFN_xrVoidFunction *)&next->ConvertTimespecTimeToTimeKHR);
    return all;
}

/* ---- the instance ---- */

typedef struct extensions {
    XrExtensionProperties *list;
    uint32_t count;
} extensions;

/* What the runtime offers; empty when it cannot be asked. */
static extensions offered_by(PFN_xrGetInstanceProcAddr get)
{
    extensions found = {0};
    PFN_xrEnumerateInstanceExtensionProperties enumerate = NULL;
    uint32_t count = 0;
    if (XR_FAILED(get(XR_NULL_HANDLE, "xrEnumerateInstanceExtensionProperties",
                      (PFN_xrVoidFunction *)&enumerate)) ||
        !enumerate || XR_FAILED(enumerate(NULL, 0, &count, NULL)) || !count)
        return found;
    found.list = sac_alloc_zero(count, sizeof *found.list);
    if (!found.list) return found;
    found.count = count;
    for (uint32_t i = 0; i < count; i++) found.list[i].type = XR_TYPE_EXTENSION_PROPERTIES;
    if (XR_FAILED(enumerate(NULL, count, &count, found.list)))
        memset(found.list, 0, found.count * sizeof *found.list);
    return found;
}

static bool has(const extensions *offered, const char *name)
{
    for (uint32_t i = 0; i < offered->count; i++)
        if (strcmp(offered->list[i].extensionName, name) == 0) return true;
    return false;
}

/* What the application asked for, without what the runtime lacks and we make up for, and with the clock we
 * need for gaze that is live. */
static XrResult create_below(sac_layer_instance *instance, const XrInstanceCreateInfo *info,
                             const XrApiLayerCreateInfo *layer_info)
{
    const XrApiLayerNextInfo *next = layer_info->nextInfo;
    extensions offered = offered_by(next->nextGetInstanceProcAddr);
    size_t room = (size_t)info->enabledExtensionCount + 1;
    const char **names = sac_alloc_zero(room, sizeof *names);
    if (!names) {
        sac_free(offered.list, offered.count, sizeof *offered.list);
        return XR_ERROR_OUT_OF_MEMORY;
    }
    instance->native = has(&offered, gaze_extension) && !is_set("SACCADE_GAZE_HIDE_RUNTIME");
    bool clock = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        const char *name = info->enabledExtensionNames[i];
        bool gaze = strcmp(name, gaze_extension) == 0;
        instance->asked |= gaze;
        clock |= strcmp(name, time_extension) == 0;
        if (!gaze || instance->native) names[count++] = name;
    }
    if (!clock && instance->supply && sac_supply_is_live(instance->supply) && has(&offered, time_extension))
        names[count++] = time_extension;
    XrInstanceCreateInfo below = *info;
    below.enabledExtensionCount = count;
    below.enabledExtensionNames = names;
    XrApiLayerCreateInfo layer_below = *layer_info;
    layer_below.nextInfo = next->next;
    XrResult result = next->nextCreateApiLayerInstance(&below, &layer_below, &instance->handle);
    sac_free(names, room, sizeof *names);
    sac_free(offered.list, offered.count, sizeof *offered.list);
    return result;
}

static bool read_environment(sac_layer_instance *instance)
{
    sac_error error;
    char text[768];
    const char *prefer = getenv("SACCADE_GAZE_PREFER");
    instance->verbose = is_set("SACCADE_GAZE_VERBOSE");
    instance->prefer_runtime = prefer && strcmp(prefer, "runtime") == 0;
    if (sac_faults_from_environment(&instance->faults, &error) == SAC_OK &&
        sac_supply_from_environment(&instance->supply, &error) == SAC_OK)
        return true;
    sac_layer_say("%s", sac_error_text(&error, text, sizeof text));
    return false;
}

static XrResult finish(sac_layer_instance *instance)
{
    if (!find_all(instance)) return XR_ERROR_INITIALIZATION_FAILED;
    const struct {
        const char *text;
        XrPath *path;
    } paths[] = {{"/interaction_profiles/ext/eye_gaze_interaction", &instance->profile},
                 {"/user/eyes_ext/input/gaze_ext/pose", &instance->pose},
                 {"/user/eyes_ext", &instance->eyes}};
    for (size_t i = 0; i < 3; i++) {
        XrResult result = instance->next.StringToPath(instance->handle, paths[i].text, paths[i].path);
        if (XR_FAILED(result)) return result;
    }
    sac_layer_lock();
    bool kept = sac_layer_add_instance(instance) != NULL;
    sac_layer_unlock();
    return kept ? XR_SUCCESS : XR_ERROR_OUT_OF_MEMORY;
}

static XrResult XRAPI_CALL create_instance(const XrInstanceCreateInfo *info,
                                           const XrApiLayerCreateInfo *layer_info, XrInstance *out_handle)
{
    if (!info || !layer_info || !layer_info->nextInfo || !out_handle ||
        !layer_info->nextInfo->nextGetInstanceProcAddr || !layer_info->nextInfo->nextCreateApiLayerInstance)
        return XR_ERROR_INITIALIZATION_FAILED;
    sac_layer_instance instance = {.get = layer_info->nextInfo->nextGetInstanceProcAddr};
    /* A wrong file or number is the user's to see at once, not to wonder about. */
    if (!read_environment(&instance)) return XR_ERROR_INITIALIZATION_FAILED;
    XrResult result = create_below(&instance, info, layer_info);
    if (XR_SUCCEEDED(result)) {
        result = finish(&instance);
        if (XR_FAILED(result) && instance.next.DestroyInstance)
            instance.next.DestroyInstance(instance.handle);
    }
    if (XR_FAILED(result)) {
        sac_supply_close(&instance.supply);
        return result;
    }
    *out_handle = instance.handle;
    const char *gaze = getenv("SACCADE_GAZE");
    if (instance.asked && !instance.supply)
        sac_layer_say("SACCADE_GAZE is not set, so there is no gaze to give; set it to a CSV file, "
                      "saccades:1, mouse, ...");
    else if (instance.verbose)
        sac_layer_say("gaze from %s; the application %s it, the runtime %s the extension",
                      gaze ? gaze : "nowhere", instance.asked ? "asked for" : "did not ask for",
                      instance.native ? "has" : "lacks");
    return XR_SUCCESS;
}

__attribute__((visibility("default"))) XRAPI_ATTR XrResult XRAPI_CALL xrNegotiateLoaderApiLayerInterface(
    const XrNegotiateLoaderInfo *loader, const char *name, XrNegotiateApiLayerRequest *request);

XRAPI_ATTR XrResult XRAPI_CALL xrNegotiateLoaderApiLayerInterface(const XrNegotiateLoaderInfo *loader,
                                                                  const char *name,
                                                                  XrNegotiateApiLayerRequest *request)
{
    const uint32_t ours = XR_CURRENT_LOADER_API_LAYER_VERSION;
    if (!loader || !request || loader->structType != XR_LOADER_INTERFACE_STRUCT_LOADER_INFO ||
        loader->structVersion != XR_LOADER_INFO_STRUCT_VERSION || loader->structSize != sizeof *loader ||
        request->structType != XR_LOADER_INTERFACE_STRUCT_API_LAYER_REQUEST ||
        request->structVersion != XR_API_LAYER_INFO_STRUCT_VERSION || request->structSize != sizeof *request)
        return XR_ERROR_INITIALIZATION_FAILED;
    if ((name && strcmp(name, SAC_LAYER_NAME) != 0) || loader->minInterfaceVersion > ours ||
        loader->maxInterfaceVersion < ours)
        return XR_ERROR_INITIALIZATION_FAILED;
    request->layerInterfaceVersion = ours;
    request->layerApiVersion = XR_MAKE_VERSION(1, 0, 0);
    request->getInstanceProcAddr = get_instance_proc_addr;
    request->createApiLayerInstance = create_instance;
    return XR_SUCCESS;
}
