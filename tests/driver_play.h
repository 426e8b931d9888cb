/* The Vulkan driver, kept for the length of a suite. */
#ifndef SAC_TESTS_DRIVER_PLAY_H
#define SAC_TESTS_DRIVER_PLAY_H

#include <vulkan/vulkan.h>

/* Never destroyed: it keeps the driver and the layers loaded until the end, so that the leak checker knows
 * whose memory it is that they keep (lsan.supp). */
static inline void hold_driver(void)
{
    static VkInstance instance;
    const char *layer = "VK_LAYER_KHRONOS_validation";
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .enabledLayerCount = 1,
        .ppEnabledLayerNames = &layer,
    };
    if (vkCreateInstance(&info, NULL, &instance) == VK_SUCCESS) return;
    info.enabledLayerCount = 0;
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS) instance = VK_NULL_HANDLE;
}

#endif
