/* A picture in memory: an image of our own, read back after every draw. */
#include "xr/offscreen.h"

#include "xr/renderer_parts_internal.h"

#include "base/clock.h"

struct sac_offscreen {
    sac_gpu *gpu;
    sac_renderer *renderer;
    sac_renderer_format format;
    uint32_t width, height;
    sac_gpu_image image;
    sac_gpu_buffer pixels;
    VkCommandPool pool;
    VkCommandBuffer commands; /* the copy, recorded once */
    VkFence done;
};

static sac_result record_copy(sac_offscreen *o, sac_error *error)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = o->gpu->family,
    };
    VkResult vk = vkCreateCommandPool(o->gpu->device, &pool, NULL, &o->pool);
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = o->pool,
        .commandBufferCount = 1,
    };
    if (vk == VK_SUCCESS) vk = vkAllocateCommandBuffers(o->gpu->device, &commands, &o->commands);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (vk == VK_SUCCESS) vk = vkBeginCommandBuffer(o->commands, &begin);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "recording a copy", error);
    VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {o->width, o->height, 1},
    };
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
    };
    vkCmdPipelineBarrier(o->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         1, &barrier, 0, NULL, 0, NULL);
    vkCmdCopyImageToBuffer(o->commands, o->image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           o->pixels.buffer, 1, &copy);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(o->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    return sac_gpu_failed(vkEndCommandBuffer(o->commands), "recording a copy", error);
}

static sac_result make(sac_offscreen *o, const sac_renderer_def *def, sac_error *error)
{
    sac_result result = sac_gpu_create(def, NULL, &o->gpu, error);
    if (result != SAC_OK) return result;
    o->format = (sac_renderer_format){
        .colour = VK_FORMAT_R8G8B8A8_SRGB,
        .width = o->width,
        .height = o->height,
        .views = 1,
        .colour_layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
    };
    if ((result = sac_renderer_create(o->gpu, &o->format, &o->renderer, error)) != SAC_OK ||
        (result =
             sac_gpu_image_create(o->gpu, o->format.colour, o->width, o->height, 1, VK_SAMPLE_COUNT_1_BIT,
                                  VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                      VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                  &o->image, error)) != SAC_OK ||
        (result = sac_gpu_buffer_create(o->gpu, (VkDeviceSize)o->width * o->height * 4,
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT, SAC_GPU_READ_BACK, &o->pixels,
                                        error)) != SAC_OK ||
        (result = record_copy(o, error)) != SAC_OK)
        return result;
    memset(o->pixels.mapped, 0, (size_t)o->width * o->height * 4);
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return sac_gpu_failed(vkCreateFence(o->gpu->device, &fence, NULL, &o->done), "making a fence", error);
}

sac_result sac_offscreen_create(const sac_renderer_def *def, uint32_t width, uint32_t height,
                                sac_offscreen **out_offscreen, sac_error *error)
{
    *out_offscreen = NULL;
    sac_offscreen *o = sac_alloc_zero(1, sizeof *o);
    if (!o) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    o->width = width, o->height = height;
    sac_result result = make(o, def, error);
    if (result != SAC_OK) {
        sac_offscreen_destroy(&o);
        return result;
    }
    *out_offscreen = o;
    return SAC_OK;
}

void sac_offscreen_destroy(sac_offscreen **offscreen)
{
    sac_offscreen *o = offscreen ? *offscreen : NULL;
    if (!o) return;
    if (o->gpu) {
        sac_renderer_destroy(&o->renderer);
        vkDestroyFence(o->gpu->device, o->done, NULL);
        vkDestroyCommandPool(o->gpu->device, o->pool, NULL);
        sac_gpu_buffer_destroy(o->gpu, &o->pixels);
        sac_gpu_image_destroy(o->gpu, &o->image);
        sac_gpu_destroy(&o->gpu);
    }
    sac_free(o, 1, sizeof *o);
    *offscreen = NULL;
}

/* One view takes the whole picture, two a half each. */
static sac_result fit_views(sac_offscreen *o, uint32_t views, sac_error *error)
{
    if (views < 1 || views > SAC_DRAWING_MOST_VIEWS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "draw 1 or 2", "the drawing has %u views", views);
    if (views == o->format.views) return SAC_OK;
    if (views == 2 && o->width < 2)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "two views in a picture one pixel wide");
    sac_renderer_format format = o->format;
    format.views = views;
    format.width = o->width / views;
    sac_result result = sac_renderer_resize(o->renderer, &format, error);
    o->format.views = result == SAC_OK ? views : 0;
    return result;
}

sac_result sac_offscreen_draw(sac_offscreen *o, const sac_drawing *drawing, sac_screen_stats *out_stats,
                              sac_error *error)
{
    sac_result result = fit_views(o, drawing->view_count, error);
    if (result != SAC_OK) return result;
    sac_renderer_image image = {.image = {o->image.image}};
    if ((result = sac_renderer_draw(o->renderer, &image, drawing, out_stats, error)) != SAC_OK) return result;
    uint64_t start = sac_time_now_ns();
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &o->commands,
    };
    VkResult vk = vkQueueSubmit(o->gpu->queue, 1, &info, o->done);
    if (vk == VK_SUCCESS) vk = vkWaitForFences(o->gpu->device, 1, &o->done, VK_TRUE, UINT64_MAX);
    if (vk == VK_SUCCESS) vk = vkResetFences(o->gpu->device, 1, &o->done);
    if (out_stats) out_stats->submit_ns += sac_time_now_ns() - start;
    return sac_gpu_failed(vk, "reading the picture back", error);
}

const uint8_t *sac_offscreen_pixels(const sac_offscreen *o) { return o->pixels.mapped; }
