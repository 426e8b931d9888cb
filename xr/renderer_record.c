/* A frame's commands: the shadow map, then the picture, what hides most first. */
#include "xr/renderer_parts_internal.h"

/* Inside a pass: a pass with several views forgets what was bound before it. */
static void start(const sac_recording *rec, uint32_t width, uint32_t height)
{
    VkCommandBuffer commands = rec->commands;
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.layout, 0, 1,
                            &rec->frame->set, 0, NULL);
    vkCmdSetViewport(commands, 0, 1, &(VkViewport){0, 0, (float)width, (float)height, 0, 1});
    vkCmdSetScissor(commands, 0, 1, &(VkRect2D){{0, 0}, {width, height}});
}

static void draw_some(sac_recording *rec, sac_pipe pipe, int kind, bool skinned)
{
    sac_renderer *r = rec->r;
    bool bound = false;
    for (size_t i = 0; i < r->sort.runs[kind].count; i++) {
        const sac_sort_run *run = &r->sort.runs[kind].data[i];
        if (run->skinned != skinned) continue;
        if (!bound) {
            const VkBuffer vertices = skinned ? r->skin_vertices.buffer : r->vertices.buffer;
            const VkBuffer buffers[] = {vertices, rec->frame->stream.buffer};
            vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipes.pipes[pipe]);
            vkCmdBindVertexBuffers(rec->commands, 0, 2, buffers, (VkDeviceSize[]){0, rec->at->instances});
            vkCmdBindIndexBuffer(rec->commands, r->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
            bound = true;
        }
        vkCmdDrawIndexed(rec->commands, run->index_count, run->instance_count, run->first_index, 0,
                         run->first_instance);
        rec->draws++;
    }
}

/* What is stiff, then what bends. */
static void draw_runs(sac_recording *rec, sac_pipe stiff, sac_pipe skin, int kind)
{
    draw_some(rec, stiff, kind, false);
    draw_some(rec, skin, kind, true);
}

/* Quads of four corners, an instance each. */
static void draw_quads(sac_recording *rec, sac_pipe pipe, VkDeviceSize offset, uint32_t first, uint32_t count)
{
    if (!count) return;
    vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.pipes[pipe]);
    vkCmdBindVertexBuffers(rec->commands, 0, 1, &rec->frame->stream.buffer, &offset);
    vkCmdDraw(rec->commands, 4, count, 0, first);
    rec->draws++;
}

static void draw_panels(sac_recording *rec, uint32_t view, bool in_world)
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

static void draw_plain(sac_recording *rec, sac_pipe pipe, uint32_t vertices)
{
    vkCmdBindPipeline(rec->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, rec->r->pipes.pipes[pipe]);
    vkCmdDraw(rec->commands, vertices, 1, 0, 0);
    rec->draws++;
}

static void record_shadow(sac_recording *rec)
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
    draw_runs(rec, SAC_PIPE_SHADOW_MESH, SAC_PIPE_SHADOW_SKIN, SAC_SORT_SHADOW);
    draw_quads(rec, SAC_PIPE_SHADOW_BALL, rec->at->balls, 0, rec->at->solid_balls);
    vkCmdEndRenderPass(rec->commands);
}

/* What hides most comes first; what can be seen through comes last. */
static void record_picture(sac_recording *rec, const sac_target *target, uint32_t view)
{
    sac_renderer *r = rec->r;
    const sac_drawing *d = rec->drawing;
    const sac_stream_layout *at = rec->at;
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
    draw_runs(rec, SAC_PIPE_MESH, SAC_PIPE_SKIN, SAC_SORT_SOLID);
    draw_quads(rec, SAC_PIPE_BALL, at->balls, 0, at->solid_balls);
    if (d->sky.grid) draw_plain(rec, SAC_PIPE_GROUND, 4);
    draw_plain(rec, SAC_PIPE_SKY, 3);
    draw_runs(rec, SAC_PIPE_GHOST, SAC_PIPE_SKIN_GHOST, SAC_SORT_GHOST);
    draw_quads(rec, SAC_PIPE_BUBBLE, at->balls, at->solid_balls, d->ball_count - at->solid_balls);
    draw_quads(rec, SAC_PIPE_LINE, at->lines, 0, d->line_count);
    draw_panels(rec, view, true);
    draw_panels(rec, view, false);
    vkCmdEndRenderPass(rec->commands);
}

sac_result sac_recording_make(sac_recording *rec, const sac_target *target, const sac_renderer_image *image,
                              sac_renderer_frame *f, sac_error *error)
{
    sac_renderer *r = rec->r;
    VkResult vk = vkResetCommandPool(r->gpu->device, f->pool, 0);
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (vk == VK_SUCCESS) vk = vkBeginCommandBuffer(rec->commands, &begin);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "recording a frame", error);
    const uint32_t query = (uint32_t)(f - r->frames) * SAC_RENDERER_QUERIES;
    f->timed = r->queries != VK_NULL_HANDLE;
    if (f->timed) {
        vkCmdResetQueryPool(rec->commands, r->queries, query, SAC_RENDERER_QUERIES);
        vkCmdWriteTimestamp(rec->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, r->queries, query);
    }
    record_shadow(rec);
    for (uint32_t i = 0; i < r->targets.passes; i++) record_picture(rec, target, i);
    if (target == &r->targets.whole) sac_targets_copy(&r->targets, rec->commands, image);
    if (f->timed)
        vkCmdWriteTimestamp(rec->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->queries, query + 1);
    return sac_gpu_failed(vkEndCommandBuffer(rec->commands), "recording a frame", error);
}
