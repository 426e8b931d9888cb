/* The Vulkan driver, kept for the length of a suite. */
#ifndef SAC_TESTS_DRIVER_PLAY_H
#define SAC_TESTS_DRIVER_PLAY_H

#include <stdio.h>

#include <vulkan/vulkan.h>

#include "xr/drawing.h"

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

static uint32_t heard;

/* Whatever the validation layer says is a failure, so it is printed. */
static inline void hear(const char *text, void *user)
{
    (void)user;
    heard++;
    fprintf(stderr, "%.600s\n", text);
}

/* The validation layer on, and a small shadow. */
static inline sac_renderer_def validated_def(const sac_gallery *gallery, uint32_t shadow_size)
{
    sac_renderer_def def = sac_default_renderer_def();
    def.gallery = gallery;
    def.validation = true;
    def.message = hear;
    def.shadow_size = shadow_size;
    return def;
}

#endif
