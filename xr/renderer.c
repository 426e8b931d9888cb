/* One frame: look at the drawing, stream it, record it, submit. Three frames may be under way; each has its
 * own stream (uniforms and everything instanced, mapped for good) and commands. */
#include "xr/renderer_parts_internal.h"

#include <stdio.h>

#include "base/clock.h"

static sac_result frame_ready(sac_renderer *r, sac_renderer_frame *f, sac_error *error)
{
    if (!f->pending) return SAC_OK;
    sac_result result = sac_gpu_failed(vkWaitForFences(r->gpu->device, 1, &f->fence, VK_TRUE, UINT64_MAX),
                                       "waiting for a frame", error);
    if (result != SAC_OK) return result;
    f->pending = false;
    uint64_t ticks[2];
    if (f->timed &&
        vkGetQueryPoolResults(r->gpu->device, r->queries, (uint32_t)(f - r->frames) * SAC_RENDERER_QUERIES, 2,
                              sizeof ticks, ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS)
        r->gpu_ns =
            (uint64_t)((double)(ticks[1] - ticks[0]) * (double)r->gpu->properties.limits.timestampPeriod);
    return sac_gpu_failed(vkResetFences(r->gpu->device, 1, &f->fence), "waiting for a frame", error);
}

static sac_result submit(sac_renderer *r, sac_renderer_frame *f, const sac_renderer_image *image,
                         sac_error *error)
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

static void tell(const sac_renderer *r, const sac_recording *rec, sac_screen_stats *out)
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
    sac_renderer_frame *f = &r->frames[r->next];
    sac_result result = frame_ready(r, f, error);
    uint64_t waited_cpu = sac_time_thread_cpu_ns() - cpu, waited = sac_time_now_ns() - wall;
    if (result != SAC_OK || (result = sac_drawing_check(r, drawing, error)) != SAC_OK) return result;

    const sac_target *target = NULL;
    sac_stream_layout at;
    if ((result = find_target(r, image, &target, error)) != SAC_OK ||
        (result = sac_drawing_stream(r, f, drawing, &at, error)) != SAC_OK)
        return result;
    sac_recording rec = {.r = r, .commands = f->commands, .frame = f, .drawing = drawing, .at = &at};
    if ((result = sac_recording_make(&rec, target, image, f, error)) != SAC_OK) return result;
    uint64_t prepared = sac_time_thread_cpu_ns() - cpu - waited_cpu;
    wall = sac_time_now_ns();
    if ((result = submit(r, f, image, error)) != SAC_OK) return result;
    waited += sac_time_now_ns() - wall;
    r->next = (r->next + 1) % SAC_RENDERER_FRAMES;
    if (out_stats) {
        *out_stats = (sac_screen_stats){.prepare_ns = prepared, .submit_ns = waited};
        tell(r, &rec, out_stats);
    }
    return SAC_OK;
}

sac_result sac_renderer_wait(sac_renderer *r, sac_error *error)
{
    for (uint32_t i = 0; i < SAC_RENDERER_FRAMES; i++) {
        sac_result result = frame_ready(r, &r->frames[(r->next + i) % SAC_RENDERER_FRAMES], error);
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
