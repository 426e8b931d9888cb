/* The images both eyes are drawn into: made once a session, taken and given back every frame. */
#include <string.h>

#include "xr/session_internal.h"

enum { MOST_FORMATS = 128 };

static sac_result choose_format(sac_session *session, bool *out_depth, sac_error *error)
{
    /* sRGB first: the compositor then blends in linear light, and eight bits are enough. */
    static const VkFormat wanted[] = {VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_B8G8R8A8_SRGB,
                                      VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM};
    int64_t formats[MOST_FORMATS];
    uint32_t count = 0;
    XrResult result = xrEnumerateSwapchainFormats(session->session, 0, &count, NULL);
    if (XR_SUCCEEDED(result) && count > MOST_FORMATS) count = MOST_FORMATS;
    if (XR_SUCCEEDED(result)) result = xrEnumerateSwapchainFormats(session->session, count, &count, formats);
    if (XR_FAILED(result)) return sac_session_failed(session, result, "list the image formats", error);
    session->colour_format = 0;
    *out_depth = false;
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted && !session->colour_format; w++)
        for (uint32_t i = 0; i < count; i++)
            if (formats[i] == wanted[w]) session->colour_format = formats[i];
    for (uint32_t i = 0; i < count; i++)
        if (formats[i] == VK_FORMAT_D32_SFLOAT) *out_depth = true;
    if (!session->colour_format)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "report it with the name of the runtime",
                             "%s offers none of the four image formats this renderer knows",
                             session->info.runtime);
    return SAC_OK;
}

static sac_result create_chain(sac_session *session, int64_t format, XrSwapchainUsageFlags usage,
                               sac_swapchain *chain, sac_error *error)
{
    const XrSwapchainCreateInfo info = {.type = XR_TYPE_SWAPCHAIN_CREATE_INFO,
                                        .usageFlags = usage,
                                        .format = format,
                                        .sampleCount = 1,
                                        .width = session->info.width,
                                        .height = session->info.height,
                                        .faceCount = 1,
                                        .arraySize = session->layered ? session->view_count : 1,
                                        .mipCount = 1};
    XrSwapchainImageVulkan2KHR images[SAC_SWAPCHAIN_MOST_IMAGES];
    XrResult result = xrCreateSwapchain(session->session, &info, &chain->handle);
    if (XR_SUCCEEDED(result))
        result = xrEnumerateSwapchainImages(chain->handle, 0, &chain->image_count, NULL);
    if (XR_SUCCEEDED(result) && chain->image_count > SAC_SWAPCHAIN_MOST_IMAGES)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL,
                             "%s wants %u images in turn, at most %d are handled", session->info.runtime,
                             chain->image_count, SAC_SWAPCHAIN_MOST_IMAGES);
    for (uint32_t i = 0; i < SAC_SWAPCHAIN_MOST_IMAGES; i++)
        images[i] = (XrSwapchainImageVulkan2KHR){.type = XR_TYPE_SWAPCHAIN_IMAGE_VULKAN2_KHR};
    if (XR_SUCCEEDED(result))
        result = xrEnumerateSwapchainImages(chain->handle, chain->image_count, &chain->image_count,
                                            (XrSwapchainImageBaseHeader *)images);
    if (XR_FAILED(result)) return sac_session_failed(session, result, "make the images of an eye", error);
    for (uint32_t i = 0; i < chain->image_count; i++) chain->images[i] = images[i].image;
    return SAC_OK;
}

sac_result sac_swapchains_create(sac_session *session, sac_error *error)
{
    bool depth_format = false;
    sac_result result = choose_format(session, &depth_format, error);
    session->layered = session->gpu->multiview && session->view_count == 2;
    XrSwapchainUsageFlags usage = XR_SWAPCHAIN_USAGE_COLOR_ATTACHMENT_BIT | XR_SWAPCHAIN_USAGE_SAMPLED_BIT;
    /* What cannot be drawn into directly is copied to. */
    const bool direct = session->colour_format == VK_FORMAT_R8G8B8A8_SRGB ||
                        session->colour_format == VK_FORMAT_B8G8R8A8_SRGB;
    if (!session->layered || !direct) usage |= XR_SWAPCHAIN_USAGE_TRANSFER_DST_BIT;
    const uint32_t chains = session->layered ? 1 : session->view_count;
    for (uint32_t i = 0; i < chains && result == SAC_OK; i++)
        result = create_chain(session, session->colour_format, usage, &session->colour[i], error);
    session->info.depth = false;
    if (result == SAC_OK && session->def.depth && session->has_depth && depth_format && session->layered &&
        direct) {
        /* A picture without depth is still a picture. */
        if (create_chain(session, VK_FORMAT_D32_SFLOAT,
                         XR_SWAPCHAIN_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | XR_SWAPCHAIN_USAGE_SAMPLED_BIT,
                         &session->depth, NULL) == SAC_OK)
            session->info.depth = true;
    }
    return result;
}

void sac_swapchains_drop_depth(sac_session *session)
{
    if (session->depth.handle) xrDestroySwapchain(session->depth.handle);
    memset(&session->depth, 0, sizeof session->depth);
    session->info.depth = false;
}

void sac_swapchains_destroy(sac_session *session)
{
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++)
        if (session->colour[i].handle) xrDestroySwapchain(session->colour[i].handle);
    if (session->depth.handle) xrDestroySwapchain(session->depth.handle);
    memset(session->colour, 0, sizeof session->colour);
    memset(&session->depth, 0, sizeof session->depth);
}

static bool acquire(sac_session *session, sac_swapchain *chain, VkImage *out_image)
{
    const XrSwapchainImageWaitInfo info = {.type = XR_TYPE_SWAPCHAIN_IMAGE_WAIT_INFO, .timeout = 1000000000};
    uint32_t index = 0;
    if (!sac_session_good(session, SAC_XR(session, xrAcquireSwapchainImage(chain->handle, NULL, &index)),
                          "take an image"))
        return false;
    XrResult result = SAC_XR(session, xrWaitSwapchainImage(chain->handle, &info));
    /* The compositor is late by frames; another second is fair, an image not waited for cannot be given
     * back. */
    if (result == XR_TIMEOUT_EXPIRED) result = SAC_XR(session, xrWaitSwapchainImage(chain->handle, &info));
    if (result == XR_TIMEOUT_EXPIRED) result = XR_ERROR_RUNTIME_FAILURE;
    if (!sac_session_good(session, result, "wait for an image")) return false;
    if (index >= chain->image_count)
        return sac_session_good(session, XR_ERROR_RUNTIME_FAILURE, "take an image");
    *out_image = chain->images[index];
    return true;
}

bool sac_swapchains_acquire(sac_session *session, sac_renderer_image *out_image)
{
    memset(out_image, 0, sizeof *out_image);
    out_image->layered = session->layered;
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++)
        if (session->colour[i].handle && !acquire(session, &session->colour[i], &out_image->image[i]))
            return false;
    return !session->depth.handle || acquire(session, &session->depth, &out_image->depth);
}

bool sac_swapchains_release(sac_session *session)
{
    bool good = true;
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++)
        if (session->colour[i].handle)
            good &= sac_session_good(
                session, SAC_XR(session, xrReleaseSwapchainImage(session->colour[i].handle, NULL)),
                "give an image back");
    if (session->depth.handle)
        good &=
            sac_session_good(session, SAC_XR(session, xrReleaseSwapchainImage(session->depth.handle, NULL)),
                             "give an image back");
    return good;
}
