/* One frame: look at the drawing, stream it, record a shadow pass and the picture, submit. Three frames may
 * be under way; each has its own stream (uniforms and everything instanced, mapped for good) and commands. */
#include "xr/renderer_parts_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { FRAMES = 3, MOST_THINGS = 1 << 20, ALIGN = 256 };
/* A processor that plays graphics card has a hard time with more texels and small triangles; the shadow is a
 * little softer then, and levels may be off a little more. */
enum { SOFTWARE_SHADOW = 1024 };
static const float software_level = 1.35f;
/* Of a frame: begin, end, and room behind: lavapipe 25 still writes one for each view after a multiview pass.
 */
enum { QUERIES = 4 };

typedef struct frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    bool pending, timed;
    sac_gpu_buffer stream;
    VkDescriptorSet set;
} frame;

struct sac_renderer {
    sac_gpu *gpu;
    sac_targets targets;
    sac_pipes pipes;
    sac_sort sort;
    frame frames[FRAMES];
    uint32_t next;
    VkDescriptorPool descriptors;
    VkQueryPool queries; /* VK_NULL_HANDLE: no clock on the device */
    sac_gpu_buffer vertices, indices;
    sac_gpu_image shadow;
    VkImageView shadow_view;
    VkSampler shadow_sampler;
    sac_gpu_image letters;
    VkImageView letters_view;
    VkSampler letters_sampler;
    VkRenderPass shadow_pass;
    VkFramebuffer shadow_frame;
    uint32_t shadow_size;
    float level_pixels;
    uint64_t gpu_ns;
};

/* Where things lie in a frame's stream. */
typedef struct layout {
    VkDeviceSize instances, balls, lines, quads, size;
    uint32_t solid_balls;
} layout;

/* ---- made once ---- */

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

static sac_result make_meshes(sac_renderer *r, sac_error *error)
{
    const sac_gallery *gallery = r->gpu->def.gallery;
    VkDeviceSize vertices = gallery->vertices.count * sizeof *gallery->vertices.data;
    VkDeviceSize indices = gallery->indices.count * sizeof *gallery->indices.data;
    if (!vertices || !indices) return SAC_OK;
    sac_result result = sac_gpu_buffer_create(
        r->gpu, vertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, SAC_GPU_OWN,
        &r->vertices, error);
    if (result == SAC_OK)
        result = sac_gpu_buffer_create(r->gpu, indices,
                                       VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                       SAC_GPU_OWN, &r->indices, error);
    if (result == SAC_OK)
        result = sac_gpu_upload_buffer(r->gpu, gallery->vertices.data, vertices, &r->vertices, error);
    if (result == SAC_OK)
        result = sac_gpu_upload_buffer(r->gpu, gallery->indices.data, indices, &r->indices, error);
    return result;
}

static sac_result make_frame(sac_renderer *r, frame *f, sac_error *error)
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
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, FRAMES},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2 * FRAMES},
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = FRAMES,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    sac_result result = sac_gpu_failed(vkCreateDescriptorPool(r->gpu->device, &pool, NULL, &r->descriptors),
                                       "describing what shaders read", error);
    for (int i = 0; i < FRAMES && result == SAC_OK; i++) result = make_frame(r, &r->frames[i], error);
    if (result != SAC_OK) return result;

    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(r->gpu->physical, &count, families);
    VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = QUERIES * FRAMES,
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
    for (int i = 0; i < FRAMES; i++) {
        frame *f = &r->frames[i];
        sac_gpu_buffer_destroy(r->gpu, &f->stream);
        vkDestroyFence(device, f->fence, NULL);
        vkDestroyCommandPool(device, f->pool, NULL);
    }
    vkDestroyDescriptorPool(device, r->descriptors, NULL);
    vkDestroyQueryPool(device, r->queries, NULL);
    sac_gpu_buffer_destroy(r->gpu, &r->vertices);
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

/* ---- a frame ---- */

static sac_result check_count(uint32_t count, const void *things, const char *name, sac_error *error)
{
    if (count > MOST_THINGS)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "%u %s in one drawing; %u can be drawn", count,
                             name, (unsigned)MOST_THINGS);
    if (count && !things) return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "%u %s at NULL", count, name);
    return SAC_OK;
}

static sac_result check(const sac_renderer *r, const sac_drawing *d, sac_error *error)
{
    if (!r->targets.pass)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "resize it to a size that works",
                             "the renderer failed to take its last size");
    if (d->view_count != r->targets.format.views || !d->views)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "the drawing has %u views, the picture %u",
                             d->views ? d->view_count : 0, r->targets.format.views);
    for (uint32_t i = 0; i < d->view_count; i++) {
        const sac_eye *e = &d->views[i];
        float length = 0;
        for (int k = 0; k < 4; k++) length += e->rotation[k] * e->rotation[k];
        if (!isfinite(e->position[0]) || !isfinite(e->position[1]) || !isfinite(e->position[2]) ||
            !(length > 0.5f && length < 2))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "view %u has no proper pose", i);
        const float most = 1.56f;
        if (!(e->fov_left > -most && e->fov_right < most && e->fov_left < e->fov_right &&
              e->fov_down > -most && e->fov_up < most && e->fov_down < e->fov_up))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "give radians, left and down negative",
                                 "view %u has no proper field of view", i);
    }
    if (!(d->near_plane > 0) || !isfinite(d->near_plane))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_default_drawing gives 0.05",
                             "the near plane is at %g", (double)d->near_plane);
    const sac_sky *s = &d->sky;
    float sun = s->sun[0] * s->sun[0] + s->sun[1] * s->sun[1] + s->sun[2] * s->sun[2];
    if (!(sun > 0) || !isfinite(sun))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "sac_default_drawing gives one",
                             "the sun has no direction");
    if (!isfinite(s->ground_height) || !isfinite(s->shadow_reach) || !isfinite(s->focus[0]) ||
        !isfinite(s->focus[1]) || !isfinite(s->focus[2]))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "the sky has a number that is not finite");
    sac_result result;
    if ((result = check_count(d->instance_count, d->instances, "instances", error)) != SAC_OK ||
        (result = check_count(d->ball_count, d->balls, "balls", error)) != SAC_OK ||
        (result = check_count(d->line_count, d->lines, "lines", error)) != SAC_OK)
        return result;
    for (uint32_t i = 0; i < d->line_count; i++) {
        const sac_line *l = &d->lines[i];
        float sum = l->width * 0;
        for (int k = 0; k < 3; k++) sum += l->from[k] * 0 + l->to[k] * 0;
        if (sum != 0) return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "line %u is not finite", i);
    }
    if (d->panel_count > SAC_DRAWING_MOST_PANELS)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "%u panels; %u can be drawn", d->panel_count,
                             (unsigned)SAC_DRAWING_MOST_PANELS);
    for (uint32_t i = 0; i < d->panel_count; i++) {
        if (!d->panels[i].canvas)
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "panel %u has no canvas", i);
        if (d->panels[i].canvas->quads.count > MOST_THINGS)
            return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "%zu quads on panel %u; %u can be drawn",
                                 d->panels[i].canvas->quads.count, i, (unsigned)MOST_THINGS);
    }
    return SAC_OK;
}

static sac_result frame_ready(sac_renderer *r, frame *f, sac_error *error)
{
    if (!f->pending) return SAC_OK;
    sac_result result = sac_gpu_failed(vkWaitForFences(r->gpu->device, 1, &f->fence, VK_TRUE, UINT64_MAX),
                                       "waiting for a frame", error);
    if (result != SAC_OK) return result;
    f->pending = false;
    uint64_t ticks[2];
    if (f->timed &&
        vkGetQueryPoolResults(r->gpu->device, r->queries, (uint32_t)(f - r->frames) * QUERIES, 2,
                              sizeof ticks, ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS)
        r->gpu_ns =
            (uint64_t)((double)(ticks[1] - ticks[0]) * (double)r->gpu->properties.limits.timestampPeriod);
    return sac_gpu_failed(vkResetFences(r->gpu->device, 1, &f->fence), "waiting for a frame", error);
}

static VkDeviceSize place(VkDeviceSize *at, VkDeviceSize size)
{
    VkDeviceSize here = *at;
    *at = (here + size + ALIGN - 1) / ALIGN * ALIGN;
    return here;
}

static sac_result make_room(sac_renderer *r, frame *f, VkDeviceSize size, sac_error *error)
{
    if (f->stream.size >= size) return SAC_OK;
    sac_gpu_buffer_destroy(r->gpu, &f->stream);
    sac_result result = sac_gpu_buffer_create(
        r->gpu, size + size / 2, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        SAC_GPU_STREAMED, &f->stream, error);
    if (result != SAC_OK) return result;
    const VkWriteDescriptorSet writes[] = {
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = f->set,
            .dstBinding = 0,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
            .pBufferInfo = &(VkDescriptorBufferInfo){f->stream.buffer, 0, sizeof(sac_shader_frame)},
        },
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = f->set,
            .dstBinding = 1,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
            .pImageInfo = &(VkDescriptorImageInfo){r->shadow_sampler, r->shadow_view,
                                                   VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
        },
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = f->set,
            .dstBinding = 2,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
            .pImageInfo = &(VkDescriptorImageInfo){r->letters_sampler, r->letters_view,
                                                   VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
        },
    };
    vkUpdateDescriptorSets(r->gpu->device, sizeof writes / sizeof *writes, writes, 0, NULL);
    return SAC_OK;
}

static sac_result stream(sac_renderer *r, frame *f, const sac_drawing *d, layout *at, sac_error *error)
{
    sac_shader_frame uniforms;
    sac_shader_frame_fill(&r->targets.format, d, r->gpu->def.shadow_size ? r->shadow_size : 0, &uniforms);
    uniforms.level[3] = r->targets.samples > 1 ? 0 : 0.5f;
    sac_result result = sac_sort_plan(&r->sort, r->gpu->def.gallery, r->level_pixels, &uniforms, d, error);
    if (result != SAC_OK) return result;
    *at = (layout){0};
    place(&at->size, sizeof uniforms);
    at->instances = place(&at->size, r->sort.total * sizeof(sac_instance));
    at->balls = place(&at->size, d->ball_count * sizeof(sac_ball));
    at->lines = place(&at->size, d->line_count * sizeof(sac_line));
    size_t quads = 0;
    for (uint32_t i = 0; i < d->panel_count; i++) quads += d->panels[i].canvas->quads.count;
    at->quads = place(&at->size, quads * sizeof(sac_canvas_quad));
    if ((result = make_room(r, f, at->size, error)) != SAC_OK) return result;
    memcpy(f->stream.mapped, &uniforms, sizeof uniforms);
    sac_sort_write(&r->sort, d, (sac_instance *)(f->stream.mapped + at->instances));
    if (d->line_count) memcpy(f->stream.mapped + at->lines, d->lines, d->line_count * sizeof *d->lines);
    uint8_t *out = f->stream.mapped + at->quads;
    for (uint32_t i = 0; i < d->panel_count; i++) {
        const sac_canvas *canvas = d->panels[i].canvas;
        size_t size = canvas->quads.count * sizeof *canvas->quads.data;
        if (size) memcpy(out, canvas->quads.data, size);
        out += size;
    }
    if (!d->ball_count) return SAC_OK;
    return sac_sort_balls(&r->sort, d, (sac_ball *)(f->stream.mapped + at->balls), &at->solid_balls, error);
}

typedef struct recording {
    sac_renderer *r;
    VkCommandBuffer commands;
    const frame *frame;
    const sac_drawing *drawing;
    const layout *at;
    uint32_t draws;
} recording;

/* Inside a pass: a pass with several views forgets what was bound before it. */
static void start(const recording *rec, uint32_t width, uint32_t height)
{
    VkCommandBuffer commands = rec->commands;
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.layout, 0, 1,
                            &rec->frame->set, 0, NULL);
    vkCmdSetViewport(commands, 0, 1, &(VkViewport){0, 0, (float)width, (float)height, 0, 1});
    vkCmdSetScissor(commands, 0, 1, &(VkRect2D){{0, 0}, {width, height}});
}

static void draw_runs(recording *rec, sac_pipe pipe, int kind)
{
    sac_renderer *r = rec->r;
    if (!r->sort.runs[kind].count) return;
    vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipes.pipes[pipe]);
    const VkBuffer buffers[] = {r->vertices.buffer, rec->frame->stream.buffer};
    vkCmdBindVertexBuffers(rec->commands, 0, 2, buffers, (VkDeviceSize[]){0, rec->at->instances});
    vkCmdBindIndexBuffer(rec->commands, r->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    for (size_t i = 0; i < r->sort.runs[kind].count; i++) {
        const sac_sort_run *run = &r->sort.runs[kind].data[i];
        vkCmdDrawIndexed(rec->commands, run->index_count, run->instance_count, run->first_index, 0,
                         run->first_instance);
    }
    rec->draws += (uint32_t)r->sort.runs[kind].count;
}

/* Quads of four corners, an instance each. */
static void draw_quads(recording *rec, sac_pipe pipe, VkDeviceSize offset, uint32_t first, uint32_t count)
{
    if (!count) return;
    vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.pipes[pipe]);
    vkCmdBindVertexBuffers(rec->commands, 0, 1, &rec->frame->stream.buffer, &offset);
    vkCmdDraw(rec->commands, 4, count, 0, first);
    rec->draws++;
}

static void draw_panels(recording *rec, uint32_t view, bool in_world)
{
    const sac_drawing *d = rec->drawing;
    uint32_t first = 0;
    for (uint32_t i = 0; i < d->panel_count; i++) {
        const uint32_t count = (uint32_t)d->panels[i].canvas->quads.count;
        if (d->panels[i].in_world == in_world && count) {
            vkCmdPushConstants(rec->commands, rec->r->pipes.layout, SAC_PUSH_STAGES, 0, sizeof(sac_push),
                               &(sac_push){view, i});
            draw_quads(rec, in_world ? SAC_PIPE_PANEL : SAC_PIPE_SCREEN_PANEL, rec->at->quads, first, count);
        }
        first += count;
    }
}

static void draw_plain(recording *rec, sac_pipe pipe, uint32_t vertices)
{
    vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.pipes[pipe]);
    vkCmdDraw(rec->commands, vertices, 1, 0, 0);
    rec->draws++;
}

static void record_shadow(recording *rec)
{
    sac_renderer *r = rec->r;
    VkRenderPassBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = r->shadow_pass,
        .framebuffer = r->shadow_frame,
        .renderArea = {{0, 0}, {r->shadow_size, r->shadow_size}},
        .clearValueCount = 1,
        .pClearValues = &(VkClearValue){.depthStencil = {1, 0}},
    };
    vkCmdBeginRenderPass(rec->commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    start(rec, r->shadow_size, r->shadow_size);
    draw_runs(rec, SAC_PIPE_SHADOW_MESH, SAC_SORT_SHADOW);
    draw_quads(rec, SAC_PIPE_SHADOW_BALL, rec->at->balls, 0, rec->at->solid_balls);
    vkCmdEndRenderPass(rec->commands);
}

/* What hides most comes first; what can be seen through comes last. */
static void record_picture(recording *rec, const sac_target *target, uint32_t view)
{
    sac_renderer *r = rec->r;
    const sac_drawing *d = rec->drawing;
    const layout *at = rec->at;
    const VkClearValue clear[2] = {{.color = {.float32 = {0, 0, 0, 1}}}, {.depthStencil = {0, 0}}};
    VkRenderPassBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = target == &r->targets.whole ? r->targets.pass_copied : r->targets.pass,
        .framebuffer = target->frames[view],
        .renderArea = {{0, 0}, {r->targets.format.width, r->targets.format.height}},
        .clearValueCount = 2,
        .pClearValues = clear,
    };
    vkCmdBeginRenderPass(rec->commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    start(rec, r->targets.format.width, r->targets.format.height);
    vkCmdPushConstants(rec->commands, r->pipes.layout, SAC_PUSH_STAGES, 0, sizeof(sac_push),
                       &(sac_push){view, 0});
    draw_runs(rec, SAC_PIPE_MESH, SAC_SORT_SOLID);
    draw_quads(rec, SAC_PIPE_BALL, at->balls, 0, at->solid_balls);
    if (d->sky.grid) draw_plain(rec, SAC_PIPE_GROUND, 4);
    draw_plain(rec, SAC_PIPE_SKY, 3);
    draw_runs(rec, SAC_PIPE_GHOST, SAC_SORT_GHOST);
    draw_quads(rec, SAC_PIPE_BUBBLE, at->balls, at->solid_balls, d->ball_count - at->solid_balls);
    draw_quads(rec, SAC_PIPE_LINE, at->lines, 0, d->line_count);
    draw_panels(rec, view, true);
    draw_panels(rec, view, false);
    vkCmdEndRenderPass(rec->commands);
}

static sac_result record(recording *rec, const sac_target *target, const sac_renderer_image *image, frame *f,
                         sac_error *error)
{
    sac_renderer *r = rec->r;
    VkResult vk = vkResetCommandPool(r->gpu->device, f->pool, 0);
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (vk == VK_SUCCESS) vk = vkBeginCommandBuffer(rec->commands, &begin);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "recording a frame", error);
    const uint32_t query = (uint32_t)(f - r->frames) * QUERIES;
    f->timed = r->queries != VK_NULL_HANDLE;
    if (f->timed) {
        vkCmdResetQueryPool(rec->commands, r->queries, query, QUERIES);
        vkCmdWriteTimestamp(rec->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, r->queries, query);
    }
    record_shadow(rec);
    for (uint32_t i = 0; i < r->targets.passes; i++) record_picture(rec, target, i);
    if (target == &r->targets.whole) sac_targets_copy(&r->targets, rec->commands, image);
    if (f->timed)
        vkCmdWriteTimestamp(rec->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->queries, query + 1);
    return sac_gpu_failed(vkEndCommandBuffer(rec->commands), "recording a frame", error);
}

static sac_result submit(sac_renderer *r, frame *f, const sac_renderer_image *image, sac_error *error)
{
    const VkPipelineStageFlags stage =
        VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = image->wait ? 1 : 0,
        .pWaitSemaphores = &image->wait,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &f->commands,
        .signalSemaphoreCount = image->signal ? 1 : 0,
        .pSignalSemaphores = &image->signal,
    };
    VkResult vk = vkQueueSubmit(r->gpu->queue, 1, &info, f->fence);
    if (vk == VK_SUCCESS) {
        f->pending = true;
        if (image->done) vk = vkQueueSubmit(r->gpu->queue, 0, NULL, image->done);
    }
    return sac_gpu_failed(vk, "handing a frame to the graphics device", error);
}

static sac_result find_target(sac_renderer *r, const sac_renderer_image *image, const sac_target **out,
                              sac_error *error)
{
    bool full;
    sac_result result = sac_targets_find(r->gpu, &r->targets, image, out, &full, error);
    if (result != SAC_OK || !full) return result;
    if ((result = sac_renderer_wait(r, error)) != SAC_OK) return result;
    sac_targets_forget(r->gpu, &r->targets);
    return sac_targets_find(r->gpu, &r->targets, image, out, &full, error);
}

static void tell(const sac_renderer *r, const recording *rec, sac_screen_stats *out)
{
    snprintf(out->device, sizeof out->device, "%.127s", r->gpu->properties.deviceName);
    out->multiview = r->targets.multiview;
    out->validation = r->gpu->validation;
    out->samples = (uint32_t)r->targets.samples;
    out->width = r->targets.format.width;
    out->height = r->targets.format.height;
    out->instances = r->sort.shown;
    out->triangles = r->sort.triangles;
    out->draws = rec->draws;
    out->gpu_ns = r->gpu_ns;
    out->messages = __atomic_load_n(&r->gpu->messages, __ATOMIC_RELAXED);
}

sac_result sac_renderer_draw(sac_renderer *r, const sac_renderer_image *image, const sac_drawing *drawing,
                             sac_screen_stats *out_stats, sac_error *error)
{
    uint64_t cpu = sac_time_thread_cpu_ns(), wall = sac_time_now_ns();
    frame *f = &r->frames[r->next];
    sac_result result = frame_ready(r, f, error);
    uint64_t waited_cpu = sac_time_thread_cpu_ns() - cpu, waited = sac_time_now_ns() - wall;
    if (result != SAC_OK || (result = check(r, drawing, error)) != SAC_OK) return result;

    const sac_target *target = NULL;
    layout at;
    if ((result = find_target(r, image, &target, error)) != SAC_OK ||
        (result = stream(r, f, drawing, &at, error)) != SAC_OK)
        return result;
    recording rec = {.r = r, .commands = f->commands, .frame = f, .drawing = drawing, .at = &at};
    if ((result = record(&rec, target, image, f, error)) != SAC_OK) return result;
    uint64_t prepared = sac_time_thread_cpu_ns() - cpu - waited_cpu;
    wall = sac_time_now_ns();
    if ((result = submit(r, f, image, error)) != SAC_OK) return result;
    waited += sac_time_now_ns() - wall;
    r->next = (r->next + 1) % FRAMES;
    if (out_stats) {
        *out_stats = (sac_screen_stats){.prepare_ns = prepared, .submit_ns = waited};
        tell(r, &rec, out_stats);
    }
    return SAC_OK;
}

sac_result sac_renderer_wait(sac_renderer *r, sac_error *error)
{
    for (uint32_t i = 0; i < FRAMES; i++) {
        sac_result result = frame_ready(r, &r->frames[(r->next + i) % FRAMES], error);
        if (result != SAC_OK) return result;
    }
    return SAC_OK;
}

sac_result sac_renderer_read(sac_renderer *r, uint8_t **out_rgba, uint32_t *out_width, uint32_t *out_height,
                             sac_error *error)
{
    *out_rgba = NULL;
    sac_result result = sac_renderer_wait(r, error);
    return result != SAC_OK ? result
                            : sac_targets_read(r->gpu, &r->targets, out_rgba, out_width, out_height, error);
}
