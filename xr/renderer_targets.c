/* What is drawn into: multisampled colour and depth of our own, resolved into the image handed in. Light is
 * added up and resolved in linear values, so the picture is always drawn in an sRGB (or float) format; where
 * the image handed in is not one, or its views lie side by side, it gets a copy of ours. */
#include "xr/renderer_parts_internal.h"

static VkFormat drawn_in(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R8G8B8A8_UNORM:
        return VK_FORMAT_R8G8B8A8_SRGB;
    case VK_FORMAT_B8G8R8A8_UNORM:
        return VK_FORMAT_B8G8R8A8_SRGB;
    case VK_FORMAT_R8G8B8A8_SRGB:
    case VK_FORMAT_B8G8R8A8_SRGB:
    case VK_FORMAT_R16G16B16A16_SFLOAT:
        return format;
    default:
        return VK_FORMAT_UNDEFINED;
    }
}

static VkSampleCountFlagBits most_samples(const sac_gpu *gpu)
{
    VkSampleCountFlags can = gpu->properties.limits.framebufferColorSampleCounts &
                             gpu->properties.limits.framebufferDepthSampleCounts;
    for (uint32_t n = gpu->def.samples; n > 1; n /= 2)
        if (can & n) return (VkSampleCountFlagBits)n;
    return VK_SAMPLE_COUNT_1_BIT;
}

/* Attachments: colour, depth, then, when multisampled, what they are resolved into. */
static sac_result make_pass(const sac_gpu *gpu, const sac_targets *t, VkImageLayout last, VkRenderPass *out,
                            sac_error *error)
{
    PFN_vkCreateRenderPass2KHR create =
        (PFN_vkCreateRenderPass2KHR)vkGetDeviceProcAddr(gpu->device, "vkCreateRenderPass2KHR");
    if (!create)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "update the graphics driver",
                             "the driver lacks VK_KHR_create_renderpass2");
    const bool many = t->samples > 1;
    const VkImageLayout depth_layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    VkAttachmentDescription2 attachments[4];
    uint32_t count = 0;
    attachments[count++] = (VkAttachmentDescription2){
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .format = t->colour,
        .samples = t->samples,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = many ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = many ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL : last,
    };
    attachments[count++] = (VkAttachmentDescription2){
        .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
        .format = VK_FORMAT_D32_SFLOAT,
        .samples = t->samples,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = !many && t->format.depth ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = depth_layout,
    };
    if (many)
        attachments[count++] = (VkAttachmentDescription2){
            .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
            .format = t->colour,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
            .finalLayout = last,
        };
    const bool resolve_depth = many && t->format.depth;
    if (resolve_depth)
        attachments[count++] = (VkAttachmentDescription2){
            .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
            .format = VK_FORMAT_D32_SFLOAT,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
            .finalLayout = depth_layout,
        };
    const VkAttachmentReference2 references[4] = {
        {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
         VK_IMAGE_ASPECT_COLOR_BIT},
        {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, 1, depth_layout, VK_IMAGE_ASPECT_DEPTH_BIT},
        {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, 2, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
         VK_IMAGE_ASPECT_COLOR_BIT},
        {VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, NULL, 3, depth_layout, VK_IMAGE_ASPECT_DEPTH_BIT},
    };
    VkSubpassDescriptionDepthStencilResolve depth_resolve = {
        .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
        .depthResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .stencilResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .pDepthStencilResolveAttachment = &references[3],
    };
    const uint32_t mask = t->multiview ? 3 : 0;
    const VkPipelineStageFlags drawing = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                                         VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                         VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags writing =
        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    const VkAccessFlags reading =
        VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
    const VkSubpassDependency2 dependencies[] = {
        {
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
            .srcSubpass = VK_SUBPASS_EXTERNAL,
            .srcStageMask = drawing | VK_PIPELINE_STAGE_TRANSFER_BIT,
            .dstStageMask = drawing,
            .srcAccessMask = writing,
            .dstAccessMask = writing | reading,
        },
        {
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
            .dstSubpass = VK_SUBPASS_EXTERNAL,
            .srcStageMask = drawing,
            .dstStageMask = drawing | VK_PIPELINE_STAGE_TRANSFER_BIT,
            .srcAccessMask = writing,
            .dstAccessMask = writing | reading | VK_ACCESS_TRANSFER_READ_BIT,
        },
    };
    VkRenderPassCreateInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = count,
        .pAttachments = attachments,
        .subpassCount = 1,
        .pSubpasses =
            &(VkSubpassDescription2){
                .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                .pNext = resolve_depth ? &depth_resolve : NULL,
                .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                .viewMask = mask,
                .colorAttachmentCount = 1,
                .pColorAttachments = &references[0],
                .pResolveAttachments = many ? &references[2] : NULL,
                .pDepthStencilAttachment = &references[1],
            },
        .dependencyCount = 2,
        .pDependencies = dependencies,
        .correlatedViewMaskCount = mask ? 1 : 0,
        .pCorrelatedViewMasks = &mask,
    };
    return sac_gpu_failed(create(gpu->device, &info, NULL, out), "making a render pass", error);
}

static sac_result make_frames(const sac_gpu *gpu, const sac_targets *t, sac_target *target, VkImage image,
                              VkImage second, VkImage depth, VkRenderPass pass, sac_error *error)
{
    const bool many = t->samples > 1;
    target->image = image, target->depth = depth;
    for (uint32_t i = 0; i < t->passes; i++) {
        uint32_t layers = t->multiview ? 2 : 1;
        VkImage colour = i && second ? second : image;
        sac_result result = sac_gpu_view_create(gpu, colour, t->colour, i && second ? 0 : i, layers,
                                                &target->views[i], error);
        if (result == SAC_OK && depth)
            result = sac_gpu_view_create(gpu, depth, VK_FORMAT_D32_SFLOAT, i, layers, &target->depth_views[i],
                                         error);
        if (result != SAC_OK) return result;
        VkImageView attachments[4];
        uint32_t count = 0;
        attachments[count++] = many ? t->colour_view : target->views[i];
        attachments[count++] = !many && depth ? target->depth_views[i] : t->depth_view;
        if (many) attachments[count++] = target->views[i];
        if (many && depth) attachments[count++] = target->depth_views[i];
        VkFramebufferCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
            .renderPass = pass,
            .attachmentCount = count,
            .pAttachments = attachments,
            .width = t->format.width,
            .height = t->format.height,
            .layers = 1,
        };
        result = sac_gpu_failed(vkCreateFramebuffer(gpu->device, &info, NULL, &target->frames[i]),
                                "making a framebuffer", error);
        if (result != SAC_OK) return result;
    }
    return SAC_OK;
}

static void target_fini(const sac_gpu *gpu, sac_target *target)
{
    for (uint32_t i = 0; i < SAC_DRAWING_MOST_VIEWS; i++) {
        vkDestroyFramebuffer(gpu->device, target->frames[i], NULL);
        vkDestroyImageView(gpu->device, target->views[i], NULL);
        vkDestroyImageView(gpu->device, target->depth_views[i], NULL);
    }
    *target = (sac_target){0};
}

static sac_result check(const sac_gpu *gpu, const sac_renderer_format *format, sac_error *error)
{
    uint32_t most = gpu->properties.limits.maxFramebufferWidth;
    if (gpu->properties.limits.maxFramebufferHeight < most)
        most = gpu->properties.limits.maxFramebufferHeight;
    if (gpu->properties.limits.maxImageDimension2D < most) most = gpu->properties.limits.maxImageDimension2D;
    if (!format->width || !format->height || format->width > most || format->height > most)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL,
                             "a picture of %u x %u pixels; each side can be 1 to %u here", format->width,
                             format->height, most);
    if (format->views < 1 || format->views > SAC_DRAWING_MOST_VIEWS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "draw 1 or 2", "%u views", format->views);
    if (drawn_in(format->colour) == VK_FORMAT_UNDEFINED)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                             "choose RGBA or BGRA with 8 bits, or RGBA with 16-bit floats",
                             "cannot draw in Vulkan format %d", (int)format->colour);
    return SAC_OK;
}

sac_result sac_targets_create(const sac_gpu *gpu, const sac_renderer_format *format, sac_targets *t,
                              sac_error *error)
{
    *t = (sac_targets){0};
    sac_result result = check(gpu, format, error);
    if (result != SAC_OK) return result;
    t->format = *format;
    t->colour = drawn_in(format->colour);
    t->samples = most_samples(gpu);
    t->multiview = gpu->multiview && format->views == 2;
    t->passes = t->multiview ? 1 : format->views;
    t->layers_weak = gpu->layers_weak && t->samples > 1;
    t->format.depth &= t->samples == 1 || (gpu->depth_resolve && !t->layers_weak);
    if ((result = make_pass(gpu, t, format->colour_layout, &t->pass, error)) != SAC_OK ||
        (result = make_pass(gpu, t, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, &t->pass_copied, error)) != SAC_OK)
        goto fail;
    /* Two passes take turns with one layer. */
    const uint32_t layers = t->multiview ? 2 : 1;
    const VkImageUsageFlags transient = VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
    if (t->samples > 1 &&
        ((result = sac_gpu_image_create(gpu, t->colour, format->width, format->height, layers, t->samples,
                                        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | transient, &t->colour_image,
                                        error)) != SAC_OK ||
         (result = sac_gpu_view_create(gpu, t->colour_image.image, t->colour, 0, layers, &t->colour_view,
                                       error)) != SAC_OK))
        goto fail;
    if ((result = sac_gpu_image_create(gpu, VK_FORMAT_D32_SFLOAT, format->width, format->height, layers,
                                       t->samples, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | transient,
                                       &t->depth_image, error)) != SAC_OK ||
        (result = sac_gpu_view_create(gpu, t->depth_image.image, VK_FORMAT_D32_SFLOAT, 0, layers,
                                      &t->depth_view, error)) != SAC_OK)
        goto fail;
    return SAC_OK;
fail:
    sac_targets_fini(gpu, t);
    return result;
}

void sac_targets_forget(const sac_gpu *gpu, sac_targets *t)
{
    for (uint32_t i = 0; i < t->target_count; i++) target_fini(gpu, &t->targets[i]);
    t->target_count = 0;
}

void sac_targets_fini(const sac_gpu *gpu, sac_targets *t)
{
    sac_targets_forget(gpu, t);
    target_fini(gpu, &t->whole);
    vkDestroyImageView(gpu->device, t->colour_view, NULL);
    vkDestroyImageView(gpu->device, t->depth_view, NULL);
    sac_gpu_image_destroy(gpu, &t->colour_image);
    sac_gpu_image_destroy(gpu, &t->depth_image);
    for (int i = 0; i < SAC_DRAWING_MOST_VIEWS; i++) sac_gpu_image_destroy(gpu, &t->whole_images[i]);
    vkDestroyRenderPass(gpu->device, t->pass, NULL);
    vkDestroyRenderPass(gpu->device, t->pass_copied, NULL);
    *t = (sac_targets){0};
}

bool sac_targets_direct(const sac_targets *t, const sac_renderer_image *image)
{
    if (t->colour != t->format.colour || t->format.keep) return false;
    if (t->format.views == 1) return true;
    if (image->layered) return !t->layers_weak;
    return image->image[1] && !t->multiview; /* a pass each */
}

sac_result sac_targets_find(const sac_gpu *gpu, sac_targets *t, const sac_renderer_image *image,
                            const sac_target **out_target, bool *out_full, sac_error *error)
{
    *out_full = false;
    VkImage depth = t->format.depth ? image->depth : VK_NULL_HANDLE;
    if (t->format.depth && !depth)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL,
                             "the format promises depth, the image has none");
    if (!sac_targets_direct(t, image)) {
        if (depth)
            return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "take one sRGB image with a layer a view",
                                 "depth is handed out with layered sRGB images only");
        *out_target = &t->whole;
        if (t->whole.frames[0]) return SAC_OK;
        sac_result result = SAC_OK;
        for (uint32_t i = 0; i < t->passes && result == SAC_OK; i++)
            result = sac_gpu_image_create(
                gpu, t->colour, t->format.width, t->format.height, t->multiview ? 2 : 1,
                VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                &t->whole_images[i], error);
        if (result == SAC_OK)
            result = make_frames(gpu, t, &t->whole, t->whole_images[0].image, t->whole_images[1].image,
                                 VK_NULL_HANDLE, t->pass_copied, error);
        if (result != SAC_OK) {
            target_fini(gpu, &t->whole);
            for (int i = 0; i < SAC_DRAWING_MOST_VIEWS; i++) sac_gpu_image_destroy(gpu, &t->whole_images[i]);
        }
        return result;
    }
    for (uint32_t i = 0; i < t->target_count; i++)
        if (t->targets[i].image == image->image[0] && t->targets[i].depth == depth) {
            *out_target = &t->targets[i];
            return SAC_OK;
        }
    if (t->target_count == SAC_TARGET_MOST) {
        *out_full = true;
        return SAC_OK;
    }
    sac_target *target = &t->targets[t->target_count];
    sac_result result = make_frames(gpu, t, target, image->image[0],
                                    image->layered ? VK_NULL_HANDLE : image->image[1], depth, t->pass, error);
    if (result != SAC_OK) {
        target_fini(gpu, target);
        return result;
    }
    t->target_count++;
    *out_target = target;
    return SAC_OK;
}

void sac_targets_copy(const sac_targets *t, VkCommandBuffer commands, const sac_renderer_image *image)
{
    const uint32_t images = image->image[1] && !image->layered ? 2 : 1;
    VkImageMemoryBarrier turn[2];
    for (uint32_t i = 0; i < images; i++)
        turn[i] = (VkImageMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
            .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
            .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = image->image[i],
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS},
        };
    /* The wait semaphore holds back these stages, so the layout changes after it. */
    vkCmdPipelineBarrier(commands,
                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, images, turn);
    for (uint32_t v = 0; v < t->format.views; v++) {
        VkImageCopy copy = {
            .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, t->multiview ? v : 0, 1},
            .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, image->layered ? v : 0, 1},
            .extent = {t->format.width, t->format.height, 1},
        };
        if (!image->layered && images == 1) copy.dstOffset.x = (int32_t)(v * t->format.width);
        vkCmdCopyImage(commands, t->whole_images[t->multiview ? 0 : v].image,
                       VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image->image[images == 2 ? v : 0],
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    }
    for (uint32_t i = 0; i < images; i++) {
        turn[i].srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        turn[i].dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
        turn[i].oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
        turn[i].newLayout = t->format.colour_layout;
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         NULL, 0, NULL, images, turn);
}

sac_result sac_targets_read(const sac_gpu *gpu, const sac_targets *t, uint8_t **out_rgba, uint32_t *out_width,
                            uint32_t *out_height, sac_error *error)
{
    if (!t->whole.frames[0])
        return sac_error_set(error, SAC_ERROR_EMPTY, "draw first", "there is no picture to read");
    if (t->colour == VK_FORMAT_R16G16B16A16_SFLOAT)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "draw with 8 bits a colour",
                             "pictures of floats are not read back");
    const uint32_t width = t->format.width * t->format.views, height = t->format.height;
    const size_t count = (size_t)width * height;
    sac_gpu_buffer pixels;
    sac_gpu_now now;
    sac_result result = sac_gpu_buffer_create(gpu, count * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                              SAC_GPU_READ_BACK, &pixels, error);
    if (result != SAC_OK) return result;
    if ((result = sac_gpu_now_begin(gpu, &now, error)) != SAC_OK) goto done;
    for (uint32_t v = 0; v < t->format.views; v++) {
        VkBufferImageCopy copy = {
            .bufferOffset = (VkDeviceSize)v * t->format.width * 4,
            .bufferRowLength = width,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, t->multiview ? v : 0, 1},
            .imageExtent = {t->format.width, height, 1},
        };
        vkCmdCopyImageToBuffer(now.commands, t->whole_images[t->multiview ? 0 : v].image,
                               VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, pixels.buffer, 1, &copy);
    }
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(now.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    if ((result = sac_gpu_now_end(gpu, &now, error)) != SAC_OK) goto done;
    uint8_t *rgba = sac_alloc(count, 4);
    if (!rgba) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
        goto done;
    }
    const int red = t->colour == VK_FORMAT_B8G8R8A8_SRGB ? 2 : 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = pixels.mapped + 4 * i;
        rgba[4 * i] = p[red], rgba[4 * i + 1] = p[1], rgba[4 * i + 2] = p[2 - red], rgba[4 * i + 3] = p[3];
    }
    *out_rgba = rgba, *out_width = width, *out_height = height;
done:
    sac_gpu_buffer_destroy(gpu, &pixels);
    return result;
}
