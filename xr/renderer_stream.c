/* A drawing looked at and written into a frame's stream: uniforms first, then everything instanced. */
#include "xr/renderer_parts_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_THINGS = 1 << 20, ALIGN = 256 };

static sac_result check_count(uint32_t count, const void *things, const char *name, sac_error *error)
{
    if (count > MOST_THINGS)
        return sac_error_set(error, SAC_ERROR_LIMIT, NULL, "%u %s in one drawing; %u can be drawn", count,
                             name, (unsigned)MOST_THINGS);
    if (count && !things) return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "%u %s at NULL", count, name);
    return SAC_OK;
}

sac_result sac_drawing_check(const sac_renderer *r, const sac_drawing *d, sac_error *error)
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
        (result = check_count(d->skinned_count, d->skinned, "skinned bodies", error)) != SAC_OK ||
        (result = check_count(d->joint_count, d->joints, "joints", error)) != SAC_OK ||
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

static VkDeviceSize place(VkDeviceSize *at, VkDeviceSize size)
{
    VkDeviceSize here = *at;
    *at = (here + size + ALIGN - 1) / ALIGN * ALIGN;
    return here;
}

static sac_result make_room(sac_renderer *r, sac_renderer_frame *f, VkDeviceSize size, VkDeviceSize joints,
                            sac_error *error)
{
    if (f->stream.size >= size) return SAC_OK;
    sac_gpu_buffer_destroy(r->gpu, &f->stream);
    sac_result result =
        sac_gpu_buffer_create(r->gpu, size + size / 2,
                              VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                              SAC_GPU_STREAMED, &f->stream, error);
    if (result != SAC_OK) return result;
    VkDeviceSize most = r->gpu->properties.limits.maxStorageBufferRange, rest = f->stream.size - joints;
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
        {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = f->set,
            .dstBinding = 3,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &(VkDescriptorBufferInfo){f->stream.buffer, joints, rest < most ? rest : most},
        },
    };
    vkUpdateDescriptorSets(r->gpu->device, sizeof writes / sizeof *writes, writes, 0, NULL);
    return SAC_OK;
}

/* Straight into the device's memory, written once and in order. */
static void stream_joints(const sac_drawing *d, float *restrict out)
{
    const float *now = d->joints[0][0], blend = d->blend;
    const size_t count = (size_t)d->joint_count * 12;
    if (!d->joints_before || blend >= 1) {
        memcpy(out, now, count * sizeof *out);
        return;
    }
    const float *before = d->joints_before[0][0];
    for (size_t i = 0; i < count; i++) out[i] = before[i] + (now[i] - before[i]) * blend;
}

sac_result sac_drawing_stream(sac_renderer *r, sac_renderer_frame *f, const sac_drawing *d,
                              sac_stream_layout *at, sac_error *error)
{
    sac_shader_frame uniforms;
    sac_shader_frame_fill(&r->targets.format, d, r->gpu->def.shadow_size ? r->shadow_size : 0, &uniforms);
    uniforms.level[2] = r->targets.samples > 1 ? 0 : 0.5f;
    sac_result result = sac_sort_plan(&r->sort, r->gpu->def.gallery, r->level_pixels, &uniforms, d, error);
    if (result != SAC_OK) return result;
    *at = (sac_stream_layout){0};
    place(&at->size, sizeof uniforms);
    /* One at least, or the shaders would be told of nothing. */
    at->joints = place(&at->size, (d->joint_count ? d->joint_count : 1) * sizeof(sac_joint));
    at->instances = place(&at->size, r->sort.total * sizeof(sac_instance));
    at->balls = place(&at->size, d->ball_count * sizeof(sac_ball));
    at->lines = place(&at->size, d->line_count * sizeof(sac_line));
    size_t quads = 0;
    for (uint32_t i = 0; i < d->panel_count; i++) quads += d->panels[i].canvas->quads.count;
    at->quads = place(&at->size, quads * sizeof(sac_canvas_quad));
    if ((result = make_room(r, f, at->size, at->joints, error)) != SAC_OK) return result;
    memcpy(f->stream.mapped, &uniforms, sizeof uniforms);
    sac_sort_write(&r->sort, d, (sac_instance *)(f->stream.mapped + at->instances));
    if (d->joint_count) stream_joints(d, (float *)(f->stream.mapped + at->joints));
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
