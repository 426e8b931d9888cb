/* Instance, device, queue: by plain Vulkan, or by whoever insists on making them (OpenXR). */
#include "xr/renderer_internal.h"

#include <stdio.h>
#include <string.h>

enum { MOST_EXTENSIONS = 16, MOST_DEVICES = 16 };

static void say(const sac_gpu *gpu, const char *text)
{
    if (gpu->def.message)
        gpu->def.message(text, gpu->def.user);
    else
        fprintf(stderr, "%s\n", text);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT types,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    sac_gpu *gpu = user;
    (void)severity;
    if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT)
        __atomic_fetch_add(&gpu->messages, 1, __ATOMIC_RELAXED);
    say(gpu, data->pMessage ? data->pMessage : "validation message without text");
    return VK_FALSE;
}

sac_result sac_gpu_failed(VkResult result, const char *doing, sac_error *error)
{
    switch (result) {
    case VK_SUCCESS:
        return SAC_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory while %s", doing);
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return sac_error_set(error, SAC_ERROR_MEMORY, "make the picture smaller or take fewer samples",
                             "the graphics device is out of memory while %s", doing);
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "install mesa-vulkan-drivers",
                             "there is no Vulkan driver");
    case VK_ERROR_DEVICE_LOST:
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "start again",
                             "the graphics device was lost while %s", doing);
    default:
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "update the graphics driver",
                             "Vulkan error %d while %s", (int)result, doing);
    }
}

uint32_t sac_gpu_memory_type(const sac_gpu *gpu, uint32_t bits, VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++)
        if (bits >> i & 1 && (gpu->memory.memoryTypes[i].propertyFlags & flags) == flags) return i;
    return UINT32_MAX;
}

/* ---- instance ---- */

static bool has_layer(const char *name)
{
    VkLayerProperties *layers = NULL;
    uint32_t count = 0;
    bool found = false;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || !count) return false;
    uint32_t room = count;
    if (!(layers = sac_alloc(room, sizeof *layers))) return false;
    if (vkEnumerateInstanceLayerProperties(&count, layers) >= 0)
        for (uint32_t i = 0; i < count; i++) found |= !strcmp(layers[i].layerName, name);
    sac_free(layers, room, sizeof *layers);
    return found;
}

static bool instance_has(const char *name, const char *layer)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    bool found = false;
    if (vkEnumerateInstanceExtensionProperties(layer, &count, NULL) != VK_SUCCESS || !count) return false;
    uint32_t room = count;
    if (!(list = sac_alloc(room, sizeof *list))) return false;
    if (vkEnumerateInstanceExtensionProperties(layer, &count, list) >= 0)
        for (uint32_t i = 0; i < count; i++) found |= !strcmp(list[i].extensionName, name);
    sac_free(list, room, sizeof *list);
    return found;
}

static const char validation_layer[] = "VK_LAYER_KHRONOS_validation";

static sac_result make_instance(sac_gpu *gpu, const sac_gpu_maker *maker, sac_error *error)
{
    const char *extensions[MOST_EXTENSIONS];
    uint32_t count = 0;
    if (maker->instance_extension_count > MOST_EXTENSIONS - 1)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "too many instance extensions (%u)",
                             maker->instance_extension_count);
    for (uint32_t i = 0; i < maker->instance_extension_count; i++)
        extensions[count++] = maker->instance_extensions[i];

    gpu->validation = gpu->def.validation && has_layer(validation_layer);
    if (gpu->def.validation && !gpu->validation)
        say(gpu, "the Vulkan validation layer is not installed, going on without it; install "
                 "vulkan-validationlayers");
    bool debug = gpu->validation && (instance_has(VK_EXT_DEBUG_UTILS_EXTENSION_NAME, NULL) ||
                                     instance_has(VK_EXT_DEBUG_UTILS_EXTENSION_NAME, validation_layer));
    if (debug) extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;

    const char *layers[] = {validation_layer};
    VkDebugUtilsMessengerCreateInfoEXT listen = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear,
        .pUserData = gpu,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = debug && !maker->instance ? &listen : NULL,
        .pApplicationInfo =
            &(VkApplicationInfo){
                .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                .pApplicationName = "Saccade",
                .pEngineName = "Saccade",
                .apiVersion = VK_API_VERSION_1_1,
            },
        .enabledLayerCount = gpu->validation,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = maker->instance ? maker->instance(maker->user, &info, &gpu->instance)
                                      : vkCreateInstance(&info, NULL, &gpu->instance);
    if (result != VK_SUCCESS) {
        gpu->instance = VK_NULL_HANDLE;
        return sac_gpu_failed(result, "starting Vulkan", error);
    }
    if (debug) {
        PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            gpu->instance, "vkCreateDebugUtilsMessengerEXT");
        if (!create || create(gpu->instance, &listen, NULL, &gpu->messenger) != VK_SUCCESS)
            gpu->messenger = VK_NULL_HANDLE;
    }
    return SAC_OK;
}

/* ---- device ---- */

static uint32_t graphics_family(VkPhysicalDevice physical)
{
    VkQueueFamilyProperties families[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) return i;
    return UINT32_MAX;
}

/* 0: of no use. */
static int merit(VkPhysicalDevice physical, const char *wanted)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1 || graphics_family(physical) == UINT32_MAX) return 0;
    if (wanted && !strstr(properties.deviceName, wanted)) return 0;
    switch (properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 5;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 2;
    default:
        return 1;
    }
}

static sac_result choose_physical(sac_gpu *gpu, const sac_gpu_maker *maker, sac_error *error)
{
    if (maker->physical) {
        VkResult result = maker->physical(maker->user, gpu->instance, &gpu->physical);
        if (result != VK_SUCCESS) return sac_gpu_failed(result, "asking which graphics device to use", error);
    } else {
        VkPhysicalDevice devices[MOST_DEVICES];
        uint32_t count = MOST_DEVICES;
        VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &count, devices);
        if (result < 0) return sac_gpu_failed(result, "looking for graphics devices", error);
        int best = 0;
        for (uint32_t i = 0; i < count; i++) {
            int m = merit(devices[i], gpu->def.device);
            if (m > best) best = m, gpu->physical = devices[i];
        }
        if (!count || (!best && !gpu->def.device))
            return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "install mesa-vulkan-drivers",
                                 "there is no device with Vulkan 1.1");
        if (!best)
            return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "vulkaninfo --summary lists the devices",
                                 "no device with Vulkan 1.1 has \"%s\" in its name", gpu->def.device);
    }
    vkGetPhysicalDeviceProperties(gpu->physical, &gpu->properties);
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
    gpu->family = graphics_family(gpu->physical);
    if (gpu->family == UINT32_MAX || gpu->properties.apiVersion < VK_API_VERSION_1_1)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "update the graphics driver",
                             "%s cannot draw with Vulkan 1.1", gpu->properties.deviceName);
    return SAC_OK;
}

static bool device_has(VkPhysicalDevice physical, const char *name)
{
    VkExtensionProperties *list = NULL;
    uint32_t count = 0;
    bool found = false;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) != VK_SUCCESS || !count)
        return false;
    uint32_t room = count;
    if (!(list = sac_alloc(room, sizeof *list))) return false;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list) >= 0)
        for (uint32_t i = 0; i < count; i++) found |= !strcmp(list[i].extensionName, name);
    sac_free(list, room, sizeof *list);
    return found;
}

/* Mesa's llvmpipe of Debian 12 (22.3) mixes up the views of small draws and resolves samples into layer 0
 * whatever layer is asked for; that of 25.0 does neither, its two views equal two passes bit for bit. Neither
 * tells its version in numbers, but the newer one speaks Vulkan 1.4. */
static bool is_weak_in_layers(const VkPhysicalDeviceProperties *p)
{
    return p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU && !strncmp(p->deviceName, "llvmpipe", 8) &&
           p->apiVersion < VK_MAKE_API_VERSION(0, 1, 4, 0);
}

static sac_result make_device(sac_gpu *gpu, const sac_gpu_maker *maker, sac_error *error)
{
    VkPhysicalDeviceMultiviewFeatures multiview = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES,
    };
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &multiview,
    };
    vkGetPhysicalDeviceFeatures2(gpu->physical, &features);
    gpu->layers_weak = is_weak_in_layers(&gpu->properties);
    gpu->multiview = multiview.multiview && gpu->def.multiview && !gpu->layers_weak;

    const char *extensions[4];
    uint32_t count = 0;
    if (maker->swapchain) {
        if (!device_has(gpu->physical, VK_KHR_SWAPCHAIN_EXTENSION_NAME))
            return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "draw offscreen instead",
                                 "%s cannot draw into a window", gpu->properties.deviceName);
        extensions[count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    }
    if (!device_has(gpu->physical, VK_KHR_CREATE_RENDERPASS_2_EXTENSION_NAME))
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "update the graphics driver",
                             "%s lacks VK_KHR_create_renderpass2", gpu->properties.deviceName);
    extensions[count++] = VK_KHR_CREATE_RENDERPASS_2_EXTENSION_NAME;
    /* Depth for the compositor out of a multisampled pass; without it no depth is handed out. */
    gpu->depth_resolve = device_has(gpu->physical, VK_KHR_DEPTH_STENCIL_RESOLVE_EXTENSION_NAME);
    if (gpu->depth_resolve) extensions[count++] = VK_KHR_DEPTH_STENCIL_RESOLVE_EXTENSION_NAME;

    multiview = (VkPhysicalDeviceMultiviewFeatures){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES,
        .multiview = gpu->multiview,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &multiview,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos =
            &(VkDeviceQueueCreateInfo){
                .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                .queueFamilyIndex = gpu->family,
                .queueCount = 1,
                .pQueuePriorities = &(float){1},
            },
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = maker->device ? maker->device(maker->user, gpu->physical, &info, &gpu->device)
                                    : vkCreateDevice(gpu->physical, &info, NULL, &gpu->device);
    if (result != VK_SUCCESS) {
        gpu->device = VK_NULL_HANDLE;
        return sac_gpu_failed(result, "opening the graphics device", error);
    }
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);
    return SAC_OK;
}

static sac_result check_def(const sac_renderer_def *def, sac_error *error)
{
    if (!def || !def->gallery)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_gallery_create makes one",
                             "the renderer has no gallery");
    if (def->samples != 1 && def->samples != 2 && def->samples != 4 && def->samples != 8)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "take 1, 2, 4 or 8", "%u samples", def->samples);
    if (def->shadow_size > 8192)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "take up to 8192", "a shadow map of %u texels",
                             def->shadow_size);
    if (!(def->level_pixels >= 0 && def->level_pixels <= 1000))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "take 0 to 1000", "level_pixels is %g",
                             (double)def->level_pixels);
    return SAC_OK;
}

sac_result sac_gpu_create(const sac_renderer_def *def, const sac_gpu_maker *maker, sac_gpu **out_gpu,
                          sac_error *error)
{
    *out_gpu = NULL;
    sac_result result = check_def(def, error);
    if (result != SAC_OK) return result;
    sac_gpu *gpu = sac_alloc_zero(1, sizeof *gpu);
    if (!gpu) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    gpu->def = *def;
    static const sac_gpu_maker plain;
    if (!maker) maker = &plain;
    if ((result = make_instance(gpu, maker, error)) == SAC_OK &&
        (result = choose_physical(gpu, maker, error)) == SAC_OK)
        result = make_device(gpu, maker, error);
    if (result != SAC_OK) {
        sac_gpu_destroy(&gpu);
        return result;
    }
    *out_gpu = gpu;
    return SAC_OK;
}

void sac_gpu_destroy(sac_gpu **gpu_pointer)
{
    sac_gpu *gpu = gpu_pointer ? *gpu_pointer : NULL;
    if (!gpu) return;
    if (gpu->device) vkDestroyDevice(gpu->device, NULL);
    if (gpu->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(gpu->instance,
                                                                       "vkDestroyDebugUtilsMessengerEXT");
        if (destroy) destroy(gpu->instance, gpu->messenger, NULL);
    }
    if (gpu->instance) vkDestroyInstance(gpu->instance, NULL);
    sac_free(gpu, 1, sizeof *gpu);
    *gpu_pointer = NULL;
}
