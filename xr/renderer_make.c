/* What a renderer is made of, and taking it apart: shadow map, letters, meshes, frames, and what depends on
 * the size of the picture. */
#include "xr/renderer_parts_internal.h"

/* A processor that plays graphics card has a hard time with more texels and small triangles; the shadow is a
 * little softer then, and levels may be off a little more. */
enum { SOFTWARE_SHADOW = 1024 };
static const float software_level = 1.35f;

static sac_result make_shadow(sac_renderer *r, sac_error *error)
{
    const sac_gpu *gpu = r->gpu;
    r->shadow_size = gpu->def.shadow_size ? gpu->def.shadow_size : 1;
    uint32_t most = gpu->properties.limits.maxImageDimension2D;
    if (gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) most = SOFTWARE_SHADOW;
    if (r->shadow_size > most) r->shadow_size = most;
    const VkFormat format = VK_FORMAT_D16_UNORM;
    VkAttachmentDescription attachment = {
        .format = format,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .pDepthStencilAttachment =
            &(VkAttachmentReference){0, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL},
    };
    const VkPipelineStageFlags tests =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkSubpassDependency dependencies[] = {
        {VK_SUBPASS_EXTERNAL, 0, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, tests, 0,
         VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, 0},
        {0, VK_SUBPASS_EXTERNAL, tests, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
         VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT, 0},
    };
    VkRenderPassCreateInfo pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };
    sac_result result = sac_gpu_failed(vkCreateRenderPass(gpu->device, &pass, NULL, &r->shadow_pass),
                                       "making a render pass", error);
    if (result != SAC_OK ||
        (result =
             sac_gpu_image_create(gpu, format, r->shadow_size, r->shadow_size, 1, VK_SAMPLE_COUNT_1_BIT,
                                  VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                                  &r->shadow, error)) != SAC_OK ||
        (result = sac_gpu_view_create(gpu, r->shadow.image, format, 0, 1, &r->shadow_view, error)) != SAC_OK)
        return result;
    VkFramebufferCreateInfo frame_info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = r->shadow_pass,
        .attachmentCount = 1,
        .pAttachments = &r->shadow_view,
        .width = r->shadow_size,
        .height = r->shadow_size,
        .layers = 1,
    };
    result = sac_gpu_failed(vkCreateFramebuffer(gpu->device, &frame_info, NULL, &r->shadow_frame),
                            "making a framebuffer", error);
    if (result != SAC_OK) return result;
    VkFormatProperties can;
    vkGetPhysicalDeviceFormatProperties(gpu->physical, format, &can);
    bool smooth = can.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
    VkSamplerCreateInfo sampler = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = smooth ? VK_FILTER_LINEAR : VK_FILTER_NEAREST,
        .minFilter = smooth ? VK_FILTER_LINEAR : VK_FILTER_NEAREST,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .compareEnable = VK_TRUE,
        .compareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
    };
    return sac_gpu_failed(vkCreateSampler(gpu->device, &sampler, NULL, &r->shadow_sampler),
                          "making a sampler", error);
}

static sac_result make_letters(sac_renderer *r, sac_error *error)
{
    uint32_t width, height;
    const uint8_t *texels = sac_letters(&width, &height);
    sac_result result = sac_gpu_image_create(
        r->gpu, VK_FORMAT_R8_UNORM, width, height, 1, VK_SAMPLE_COUNT_1_BIT,
        VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, &r->letters, error);
    if (result != SAC_OK ||
        (result = sac_gpu_view_create(r->gpu, r->letters.image, VK_FORMAT_R8_UNORM, 0, 1, &r->letters_view,
                                      error)) != SAC_OK ||
        (result = sac_gpu_upload_image(r->gpu, texels, (VkDeviceSize)width * height, r->letters.image, width,
                                       height, error)) != SAC_OK)
        return result;
    VkSamplerCreateInfo sampler = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_LINEAR,
        .minFilter = VK_FILTER_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    return sac_gpu_failed(vkCreateSampler(r->gpu->device, &sampler, NULL, &r->letters_sampler),
                          "making a sampler", error);
}

static sac_result make_static(sac_renderer *r, const void *bytes, VkDeviceSize size, VkBufferUsageFlags usage,
                              sac_gpu_buffer *out, sac_error *error)
{
    if (!size) return SAC_OK;
    sac_result result = sac_gpu_buffer_create(r->gpu, size, usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                              SAC_GPU_OWN, out, error);
    return result == SAC_OK ? sac_gpu_upload_buffer(r->gpu, bytes, size, out, error) : result;
}

static sac_result make_meshes(sac_renderer *r, sac_error *error)
{
    const sac_gallery *g = r->gpu->def.gallery;
    sac_result result;
    if ((result = make_static(r, g->vertices.data, g->vertices.count * sizeof *g->vertices.data,
                              VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &r->vertices, error)) != SAC_OK ||
        (result =
             make_static(r, g->skin_vertices.data, g->skin_vertices.count * sizeof *g->skin_vertices.data,
                         VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &r->skin_vertices, error)) != SAC_OK)
        return result;
    return make_static(r, g->indices.data, g->indices.count * sizeof *g->indices.data,
                       VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &r->indices, error);
}

static sac_result make_frame(sac_renderer *r, sac_renderer_frame *f, sac_error *error)
{
    VkDevice device = r->gpu->device;
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = r->gpu->family,
    };
    VkResult vk = vkCreateCommandPool(device, &pool, NULL, &f->pool);
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = f->pool,
        .commandBufferCount = 1,
    };
    if (vk == VK_SUCCESS) vk = vkAllocateCommandBuffers(device, &commands, &f->commands);
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (vk == VK_SUCCESS) vk = vkCreateFence(device, &fence, NULL, &f->fence);
    VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = r->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &r->pipes.set_layout,
    };
    if (vk == VK_SUCCESS) vk = vkAllocateDescriptorSets(device, &set, &f->set);
    return sac_gpu_failed(vk, "making a frame's commands", error);
}

static sac_result make_frames(sac_renderer *r, sac_error *error)
{
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, SAC_RENDERER_FRAMES},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2 * SAC_RENDERER_FRAMES},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SAC_RENDERER_FRAMES},
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = SAC_RENDERER_FRAMES,
        .poolSizeCount = 3,
        .pPoolSizes = sizes,
    };
    sac_result result = sac_gpu_failed(vkCreateDescriptorPool(r->gpu->device, &pool, NULL, &r->descriptors),
                                       "describing what shaders read", error);
    for (int i = 0; i < SAC_RENDERER_FRAMES && result == SAC_OK; i++)
        result = make_frame(r, &r->frames[i], error);
    if (result != SAC_OK) return result;

    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(r->gpu->physical, &count, families);
    VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = SAC_RENDERER_QUERIES * SAC_RENDERER_FRAMES,
    };
    if (r->gpu->family < count && families[r->gpu->family].timestampValidBits &&
        vkCreateQueryPool(r->gpu->device, &queries, NULL, &r->queries) != VK_SUCCESS)
        r->queries = VK_NULL_HANDLE;
    return SAC_OK;
}

static sac_result make_sized(sac_renderer *r, const sac_renderer_format *format, sac_error *error)
{
    sac_result result = sac_targets_create(r->gpu, format, &r->targets, error);
    if (result != SAC_OK) return result;
    return sac_pipes_create(r->gpu, r->targets.pass, r->shadow_pass, r->targets.multiview, r->targets.samples,
                            &r->pipes, error);
}

sac_result sac_renderer_create(sac_gpu *gpu, const sac_renderer_format *format, sac_renderer **out_renderer,
                               sac_error *error)
{
    *out_renderer = NULL;
    sac_renderer *r = sac_alloc_zero(1, sizeof *r);
    if (!r) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    r->gpu = gpu;
    bool software = gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    r->level_pixels = gpu->def.level_pixels * (software ? software_level : 1);
    sac_result result;
    if ((result = sac_pipes_layout(gpu, &r->pipes, error)) != SAC_OK ||
        (result = make_shadow(r, error)) != SAC_OK || (result = make_letters(r, error)) != SAC_OK ||
        (result = make_meshes(r, error)) != SAC_OK || (result = make_frames(r, error)) != SAC_OK ||
        (result = make_sized(r, format, error)) != SAC_OK) {
        sac_renderer_destroy(&r);
        return result;
    }
    *out_renderer = r;
    return SAC_OK;
}

void sac_renderer_destroy(sac_renderer **renderer)
{
    sac_renderer *r = renderer ? *renderer : NULL;
    if (!r) return;
    VkDevice device = r->gpu->device;
    vkDeviceWaitIdle(device);
    sac_targets_fini(r->gpu, &r->targets);
    sac_pipes_fini(r->gpu, &r->pipes);
    for (int i = 0; i < SAC_RENDERER_FRAMES; i++) {
        sac_renderer_frame *f = &r->frames[i];
        sac_gpu_buffer_destroy(r->gpu, &f->stream);
        vkDestroyFence(device, f->fence, NULL);
        vkDestroyCommandPool(device, f->pool, NULL);
    }
    vkDestroyDescriptorPool(device, r->descriptors, NULL);
    vkDestroyQueryPool(device, r->queries, NULL);
    sac_gpu_buffer_destroy(r->gpu, &r->vertices);
    sac_gpu_buffer_destroy(r->gpu, &r->skin_vertices);
    sac_gpu_buffer_destroy(r->gpu, &r->indices);
    vkDestroyFramebuffer(device, r->shadow_frame, NULL);
    vkDestroyRenderPass(device, r->shadow_pass, NULL);
    vkDestroySampler(device, r->shadow_sampler, NULL);
    vkDestroyImageView(device, r->shadow_view, NULL);
    vkDestroySampler(device, r->letters_sampler, NULL);
    vkDestroyImageView(device, r->letters_view, NULL);
    sac_gpu_image_destroy(r->gpu, &r->letters);
    sac_gpu_image_destroy(r->gpu, &r->shadow);
    sac_sort_fini(&r->sort);
    sac_free(r, 1, sizeof *r);
    *renderer = NULL;
}

sac_result sac_renderer_resize(sac_renderer *r, const sac_renderer_format *format, sac_error *error)
{
    sac_result result = sac_renderer_wait(r, error);
    if (result != SAC_OK) return result;
    sac_pipes_clear(r->gpu, &r->pipes);
    sac_targets_fini(r->gpu, &r->targets);
    return make_sized(r, format, error);
}

bool sac_renderer_gives_depth(const sac_renderer *r) { return r->targets.format.depth; }
