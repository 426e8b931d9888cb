/* Surface and swapchain of a window. Pictures are copied to its images, so that any format will do and the
 * last picture stays ours to read. */
#include "xr/window_internal.h"

static sac_result choose_format(sac_surface *s, VkSurfaceFormatKHR *out, sac_error *error)
{
    VkSurfaceFormatKHR formats[64];
    uint32_t count = 64;
    VkResult vk = vkGetPhysicalDeviceSurfaceFormatsKHR(s->gpu->physical, s->surface, &count, formats);
    if (vk < 0) return sac_gpu_failed(vk, "asking for the window's formats", error);
    static const VkFormat wanted[] = {VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_R8G8B8A8_SRGB,
                                      VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM};
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
        for (uint32_t i = 0; i < count; i++)
            if (formats[i].format == wanted[w] &&
                formats[i].colorSpace == VK_COLOR_SPACE_SRGB_NONLINEAR_KHR) {
                *out = formats[i];
                return SAC_OK;
            }
    return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "use a display with 8 bits a colour",
                         "the display takes no format we can draw");
}

static uint32_t between(uint32_t x, uint32_t low, uint32_t high)
{
    return x < low ? low : x > high ? high : x;
}

static sac_result make_semaphores(sac_surface *s, sac_error *error)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkResult vk = VK_SUCCESS;
    for (uint32_t i = 0; i < s->image_count && vk == VK_SUCCESS; i++)
        vk = vkCreateSemaphore(s->gpu->device, &info, NULL, &s->drawn[i]);
    for (uint32_t i = 0; i < SAC_SURFACE_ACQUIRES && vk == VK_SUCCESS; i++)
        vk = vkCreateSemaphore(s->gpu->device, &info, NULL, &s->acquired[i]);
    return sac_gpu_failed(vk, "making semaphores", error);
}

void sac_surface_clear(sac_surface *s)
{
    for (uint32_t i = 0; i < SAC_SURFACE_MOST_IMAGES; i++) {
        vkDestroySemaphore(s->gpu->device, s->drawn[i], NULL);
        s->drawn[i] = VK_NULL_HANDLE;
    }
    for (uint32_t i = 0; i < SAC_SURFACE_ACQUIRES; i++) {
        vkDestroySemaphore(s->gpu->device, s->acquired[i], NULL);
        s->acquired[i] = VK_NULL_HANDLE;
    }
    if (s->swapchain) vkDestroySwapchainKHR(s->gpu->device, s->swapchain, NULL);
    s->swapchain = VK_NULL_HANDLE;
    s->width = s->height = s->image_count = 0;
}

sac_result sac_surface_build(sac_surface *s, uint32_t width, uint32_t height, sac_error *error)
{
    VkSurfaceCapabilitiesKHR can;
    VkResult vk = vkGetPhysicalDeviceSurfaceCapabilitiesKHR(s->gpu->physical, s->surface, &can);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "asking about the window", error);
    VkSurfaceFormatKHR format = {0};
    sac_result result = choose_format(s, &format, error);
    if (result != SAC_OK) return result;
    if (!(can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT))
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "draw offscreen instead",
                             "the window's images cannot be copied to");
    if (can.currentExtent.width != UINT32_MAX)
        width = can.currentExtent.width, height = can.currentExtent.height;
    width = between(width, can.minImageExtent.width, can.maxImageExtent.width);
    height = between(height, can.minImageExtent.height, can.maxImageExtent.height);
    if (!width || !height) {
        sac_surface_clear(s);
        return SAC_OK;
    }
    uint32_t images = can.minImageCount + 1;
    if (can.maxImageCount && images > can.maxImageCount) images = can.maxImageCount;
    VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = s->surface,
        .minImageCount = images,
        .imageFormat = format.format,
        .imageColorSpace = format.colorSpace,
        .imageExtent = {width, height},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = can.currentTransform,
        .compositeAlpha = can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                              ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                              : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
        .oldSwapchain = s->swapchain,
    };
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    vk = vkCreateSwapchainKHR(s->gpu->device, &info, NULL, &swapchain);
    sac_surface_clear(s); /* the old one, retired by now */
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "making the window's images", error);
    s->swapchain = swapchain;
    s->format = format.format;
    s->width = width, s->height = height;
    s->image_count = SAC_SURFACE_MOST_IMAGES;
    vk = vkGetSwapchainImagesKHR(s->gpu->device, swapchain, &s->image_count, s->images);
    if (vk != VK_SUCCESS) {
        sac_surface_clear(s);
        return sac_gpu_failed(vk, "asking for the window's images", error);
    }
    s->stale = false;
    return make_semaphores(s, error);
}

bool sac_surface_acquire(sac_surface *s, uint32_t *out_index, VkSemaphore *out_acquired,
                         sac_result *out_result, sac_error *error)
{
    *out_result = SAC_OK;
    *out_acquired = s->acquired[s->next_acquire];
    VkResult vk = vkAcquireNextImageKHR(s->gpu->device, s->swapchain, UINT64_MAX, *out_acquired,
                                        VK_NULL_HANDLE, out_index);
    if (vk == VK_ERROR_OUT_OF_DATE_KHR) {
        s->stale = true;
        return false;
    }
    if (vk == VK_SUBOPTIMAL_KHR)
        s->stale = true; /* this one can still be shown */
    else if (vk != VK_SUCCESS) {
        *out_result = sac_gpu_failed(vk, "waiting for the window", error);
        return false;
    }
    s->next_acquire = (s->next_acquire + 1) % SAC_SURFACE_ACQUIRES;
    return true;
}

sac_result sac_surface_present(sac_surface *s, uint32_t index, sac_error *error)
{
    VkPresentInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &s->drawn[index],
        .swapchainCount = 1,
        .pSwapchains = &s->swapchain,
        .pImageIndices = &index,
    };
    VkResult vk = vkQueuePresentKHR(s->gpu->queue, &info);
    if (vk == VK_ERROR_OUT_OF_DATE_KHR || vk == VK_SUBOPTIMAL_KHR) {
        s->stale = true;
        return SAC_OK;
    }
    return sac_gpu_failed(vk, "showing the picture", error);
}
