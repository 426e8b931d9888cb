/* Buffers and images with their memory, and bringing bytes to them. One allocation each: there are few. */
#include "xr/renderer_parts_internal.h"

static uint32_t memory_type(const sac_gpu *gpu, uint32_t bits, sac_gpu_memory kind)
{
    static const VkMemoryPropertyFlags wishes[][2] = {
        [SAC_GPU_OWN] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
        [SAC_GPU_STREAMED] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                              VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT},
        [SAC_GPU_READ_BACK] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                   VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT},
    };
    uint32_t type = sac_gpu_memory_type(gpu, bits, wishes[kind][0]);
    return type != UINT32_MAX ? type : sac_gpu_memory_type(gpu, bits, wishes[kind][1]);
}

static sac_result allocate(const sac_gpu *gpu, const VkMemoryRequirements *needs, sac_gpu_memory kind,
                           VkDeviceMemory *out, sac_error *error)
{
    uint32_t type = memory_type(gpu, needs->memoryTypeBits, kind);
    if (type == UINT32_MAX)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "update the graphics driver",
                             "the graphics device has no memory of the kind needed");
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs->size,
        .memoryTypeIndex = type,
    };
    VkResult result = vkAllocateMemory(gpu->device, &info, NULL, out);
    if (result != VK_SUCCESS) *out = VK_NULL_HANDLE;
    return sac_gpu_failed(result, "reserving graphics memory", error);
}

sac_result sac_gpu_buffer_create(const sac_gpu *gpu, VkDeviceSize size, VkBufferUsageFlags usage,
                                 sac_gpu_memory kind, sac_gpu_buffer *out, sac_error *error)
{
    *out = (sac_gpu_buffer){.size = size};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
    sac_result result =
        sac_gpu_failed(vkCreateBuffer(gpu->device, &info, NULL, &out->buffer), "making a buffer", error);
    if (result != SAC_OK) {
        *out = (sac_gpu_buffer){0};
        return result;
    }
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, out->buffer, &needs);
    if ((result = allocate(gpu, &needs, kind, &out->memory, error)) == SAC_OK)
        result = sac_gpu_failed(vkBindBufferMemory(gpu->device, out->buffer, out->memory, 0),
                                "giving a buffer its memory", error);
    if (result == SAC_OK && kind != SAC_GPU_OWN) {
        void *mapped = NULL;
        result = sac_gpu_failed(vkMapMemory(gpu->device, out->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                                "mapping a buffer", error);
        out->mapped = mapped;
    }
    if (result != SAC_OK) sac_gpu_buffer_destroy(gpu, out);
    return result;
}

void sac_gpu_buffer_destroy(const sac_gpu *gpu, sac_gpu_buffer *buffer)
{
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
    *buffer = (sac_gpu_buffer){0};
}

sac_result sac_gpu_image_create(const sac_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                                uint32_t layers, VkSampleCountFlagBits samples, VkImageUsageFlags usage,
                                sac_gpu_image *out, sac_error *error)
{
    *out = (sac_gpu_image){0};
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {width, height, 1},
        .mipLevels = 1,
        .arrayLayers = layers,
        .samples = samples,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = usage,
    };
    sac_result result =
        sac_gpu_failed(vkCreateImage(gpu->device, &info, NULL, &out->image), "making an image", error);
    if (result != SAC_OK) {
        *out = (sac_gpu_image){0};
        return result;
    }
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu->device, out->image, &needs);
    if ((result = allocate(gpu, &needs, SAC_GPU_OWN, &out->memory, error)) == SAC_OK)
        result = sac_gpu_failed(vkBindImageMemory(gpu->device, out->image, out->memory, 0),
                                "giving an image its memory", error);
    if (result != SAC_OK) sac_gpu_image_destroy(gpu, out);
    return result;
}

void sac_gpu_image_destroy(const sac_gpu *gpu, sac_gpu_image *image)
{
    vkDestroyImage(gpu->device, image->image, NULL);
    vkFreeMemory(gpu->device, image->memory, NULL);
    *image = (sac_gpu_image){0};
}

sac_result sac_gpu_view_create(const sac_gpu *gpu, VkImage image, VkFormat format, uint32_t first_layer,
                               uint32_t layers, VkImageView *out, sac_error *error)
{
    bool depth = format == VK_FORMAT_D32_SFLOAT || format == VK_FORMAT_D16_UNORM;
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, first_layer,
                             layers},
    };
    VkResult result = vkCreateImageView(gpu->device, &info, NULL, out);
    if (result != VK_SUCCESS) *out = VK_NULL_HANDLE;
    return sac_gpu_failed(result, "making a view of an image", error);
}

/* ---- uploads, at start only ---- */

static void record_image(VkCommandBuffer commands, VkBuffer from, VkImage to, uint32_t width, uint32_t height)
{
    VkImageMemoryBarrier turn = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = to,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                         NULL, 0, NULL, 1, &turn);
    VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {width, height, 1},
    };
    vkCmdCopyBufferToImage(commands, from, to, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    turn.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    turn.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    turn.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    turn.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0,
                         0, NULL, 0, NULL, 1, &turn);
}

static void record_buffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, VkDeviceSize size)
{
    vkCmdCopyBuffer(commands, from, to, 1, &(VkBufferCopy){.size = size});
    VkMemoryBarrier seen = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_INDEX_READ_BIT,
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, 0, 1,
                         &seen, 0, NULL, 0, NULL);
}

sac_result sac_gpu_now_begin(const sac_gpu *gpu, sac_gpu_now *out, sac_error *error)
{
    *out = (sac_gpu_now){0};
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = gpu->family,
    };
    VkResult vk = vkCreateCommandPool(gpu->device, &pool, NULL, &out->pool);
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = out->pool,
        .commandBufferCount = 1,
    };
    if (vk == VK_SUCCESS) vk = vkAllocateCommandBuffers(gpu->device, &commands, &out->commands);
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (vk == VK_SUCCESS) vk = vkBeginCommandBuffer(out->commands, &begin);
    if (vk != VK_SUCCESS) {
        vkDestroyCommandPool(gpu->device, out->pool, NULL);
        *out = (sac_gpu_now){0};
    }
    return sac_gpu_failed(vk, "recording commands", error);
}

sac_result sac_gpu_now_end(const sac_gpu *gpu, sac_gpu_now *now, sac_error *error)
{
    VkResult vk = vkEndCommandBuffer(now->commands);
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &now->commands,
    };
    if (vk == VK_SUCCESS) vk = vkQueueSubmit(gpu->queue, 1, &info, VK_NULL_HANDLE);
    if (vk == VK_SUCCESS) vk = vkQueueWaitIdle(gpu->queue);
    vkDestroyCommandPool(gpu->device, now->pool, NULL);
    *now = (sac_gpu_now){0};
    return sac_gpu_failed(vk, "copying on the graphics device", error);
}

static sac_result upload(const sac_gpu *gpu, const void *bytes, VkDeviceSize size, VkBuffer buffer,
                         VkImage image, uint32_t width, uint32_t height, sac_error *error)
{
    sac_gpu_buffer staging;
    sac_gpu_now now;
    sac_result result =
        sac_gpu_buffer_create(gpu, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, SAC_GPU_STREAMED, &staging, error);
    if (result != SAC_OK) return result;
    memcpy(staging.mapped, bytes, size);
    if ((result = sac_gpu_now_begin(gpu, &now, error)) == SAC_OK) {
        if (image)
            record_image(now.commands, staging.buffer, image, width, height);
        else
            record_buffer(now.commands, staging.buffer, buffer, size);
        result = sac_gpu_now_end(gpu, &now, error);
    }
    sac_gpu_buffer_destroy(gpu, &staging);
    return result;
}

sac_result sac_gpu_upload_buffer(const sac_gpu *gpu, const void *bytes, VkDeviceSize size,
                                 const sac_gpu_buffer *to, sac_error *error)
{
    return upload(gpu, bytes, size, to->buffer, VK_NULL_HANDLE, 0, 0, error);
}

sac_result sac_gpu_upload_image(const sac_gpu *gpu, const void *bytes, VkDeviceSize size, VkImage to,
                                uint32_t width, uint32_t height, sac_error *error)
{
    return upload(gpu, bytes, size, VK_NULL_HANDLE, to, width, height, error);
}
