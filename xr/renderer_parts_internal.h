/* The parts of the renderer, for its own files: device memory, targets, pipelines, the sorted stream. */
#ifndef SAC_XR_RENDERER_PARTS_INTERNAL_H
#define SAC_XR_RENDERER_PARTS_INTERNAL_H

#include "xr/renderer_internal.h"

/* ---- memory of the device (gpu_memory.c) ---- */

typedef struct sac_gpu_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint8_t *mapped; /* NULL: the device's own */
    VkDeviceSize size;
} sac_gpu_buffer;

typedef struct sac_gpu_image {
    VkImage image;
    VkDeviceMemory memory;
} sac_gpu_image;

typedef enum sac_gpu_memory { SAC_GPU_OWN, SAC_GPU_STREAMED, SAC_GPU_READ_BACK } sac_gpu_memory;

sac_result sac_gpu_buffer_create(const sac_gpu *gpu, VkDeviceSize size, VkBufferUsageFlags usage,
                                 sac_gpu_memory kind, sac_gpu_buffer *out, sac_error *error);
void sac_gpu_buffer_destroy(const sac_gpu *gpu, sac_gpu_buffer *buffer);
sac_result sac_gpu_image_create(const sac_gpu *gpu, VkFormat format, uint32_t width, uint32_t height,
                                uint32_t layers, VkSampleCountFlagBits samples, VkImageUsageFlags usage,
                                sac_gpu_image *out, sac_error *error);
void sac_gpu_image_destroy(const sac_gpu *gpu, sac_gpu_image *image);
sac_result sac_gpu_view_create(const sac_gpu *gpu, VkImage image, VkFormat format, uint32_t first_layer,
                               uint32_t layers, VkImageView *out, sac_error *error);
/* A few commands, done when `end` returns. */
typedef struct sac_gpu_now {
    VkCommandPool pool;
    VkCommandBuffer commands;
} sac_gpu_now;
sac_result sac_gpu_now_begin(const sac_gpu *gpu, sac_gpu_now *out, sac_error *error);
sac_result sac_gpu_now_end(const sac_gpu *gpu, sac_gpu_now *now, sac_error *error);
/* Into a buffer, or into an image that ends up readable by fragment shaders. Waits. */
sac_result sac_gpu_upload_buffer(const sac_gpu *gpu, const void *bytes, VkDeviceSize size,
                                 const sac_gpu_buffer *to, sac_error *error);
sac_result sac_gpu_upload_image(const sac_gpu *gpu, const void *bytes, VkDeviceSize size, VkImage to,
                                uint32_t width, uint32_t height, sac_error *error);

/* ---- what the shaders know of a frame: shaders/frame.glsl ---- */

typedef struct sac_shader_panel {
    float origin[4], x[4], y[4];
} sac_shader_panel;

typedef struct sac_shader_frame {
    float clip[2][16];
    float eye[2][4];
    float ray[2][3][4];
    float shadow[16];
    float sun[4];
    float horizon[4], zenith[4], ground[4];
    float size[4];
    float level[4];
    sac_shader_panel panels[SAC_DRAWING_MOST_PANELS];
} sac_shader_frame;

/* Views, shadow box, colours, panels, as the shaders want them (renderer_frame.c). */
void sac_shader_frame_fill(const sac_renderer_format *format, const sac_drawing *drawing,
                           uint32_t shadow_size, sac_shader_frame *out);

/* ---- instances in the order they are drawn (renderer_sort.c) ---- */

enum { SAC_SORT_SOLID, SAC_SORT_GHOST, SAC_SORT_SHADOW, SAC_SORT_KINDS };

/* A run of instances of one model and level: one draw. */
typedef struct sac_sort_run {
    uint32_t first_index, index_count;
    uint32_t first_instance, instance_count;
    bool skinned;
} sac_sort_run;

typedef struct sac_sort {
    sac_array(uint32_t) keys;     /* by instance, skinned ones behind: bucket of the picture, bucket of the
                                     shadow map */
    sac_array(uint32_t) counts;   /* by bucket, then where it starts */
    sac_array(uint32_t) order;    /* what is seen, near to far; twice as long for sorting */
    sac_array(uint8_t) distances; /* of those, in steps of a ratio */
    sac_array(sac_sort_run) runs[SAC_SORT_KINDS];
    uint32_t total;     /* instances to stream, all kinds */
    uint32_t triangles; /* of a view, shadow map excluded */
    uint32_t shown;     /* instances somebody sees */
} sac_sort;

void sac_sort_fini(sac_sort *sort);
/* Chooses levels, drops what is out of sight, and counts. ERROR_ARGUMENT names a bad instance. */
sac_result sac_sort_plan(sac_sort *sort, const sac_gallery *gallery, float level_pixels,
                         const sac_shader_frame *frame, const sac_drawing *drawing, sac_error *error);
/* Writes `total` instances and skinned ones; which, their runs know. */
void sac_sort_write(sac_sort *sort, const sac_drawing *drawing, sac_instance *out);
/* Solid balls first, then bubbles far to near: all of them, written to `out`. */
sac_result sac_sort_balls(sac_sort *sort, const sac_drawing *drawing, sac_ball *out, uint32_t *out_solid,
                          sac_error *error);

/* The texture of the letters, one byte a texel (canvas.c). */
const uint8_t *sac_letters(uint32_t *out_width, uint32_t *out_height);

/* ---- pipelines (renderer_pipelines.c) ---- */

typedef enum sac_pipe {
    SAC_PIPE_MESH,
    SAC_PIPE_GHOST,
    SAC_PIPE_SKIN,
    SAC_PIPE_SKIN_GHOST,
    SAC_PIPE_BALL,
    SAC_PIPE_BUBBLE,
    SAC_PIPE_GROUND,
    SAC_PIPE_SKY,
    SAC_PIPE_LINE,
    SAC_PIPE_PANEL,
    SAC_PIPE_SCREEN_PANEL,
    SAC_PIPE_SHADOW_MESH,
    SAC_PIPE_SHADOW_SKIN,
    SAC_PIPE_SHADOW_BALL,
    SAC_PIPES
} sac_pipe;

typedef struct sac_pipes {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipes[SAC_PIPES];
} sac_pipes;

typedef struct sac_push {
    uint32_t view, panel;
} sac_push;
enum { SAC_PUSH_STAGES = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT };

sac_result sac_pipes_layout(const sac_gpu *gpu, sac_pipes *pipes, sac_error *error);
/* For one pass; shadow is VK_NULL_HANDLE when there is no shadow map. */
sac_result sac_pipes_create(const sac_gpu *gpu, VkRenderPass pass, VkRenderPass shadow, bool multiview,
                            VkSampleCountFlagBits samples, sac_pipes *pipes, sac_error *error);
void sac_pipes_clear(const sac_gpu *gpu, sac_pipes *pipes);
void sac_pipes_fini(const sac_gpu *gpu, sac_pipes *pipes);

/* ---- what is drawn into (renderer_targets.c) ---- */

enum { SAC_TARGET_MOST = 16 };

/* Framebuffers of one image handed in. */
typedef struct sac_target {
    VkImage image, depth;
    VkImageView views[SAC_DRAWING_MOST_VIEWS], depth_views[SAC_DRAWING_MOST_VIEWS];
    VkFramebuffer frames[SAC_DRAWING_MOST_VIEWS]; /* one with multiview, else one a view */
} sac_target;

typedef struct sac_targets {
    sac_renderer_format format;
    VkFormat colour; /* that is drawn in: sRGB, or float */
    bool multiview;  /* both views in one pass */
    uint32_t passes; /* of the picture: 1 or 2 */
    VkSampleCountFlagBits samples;
    VkRenderPass pass;        /* ends in colour_layout */
    VkRenderPass pass_copied; /* ends ready to be copied from */
    bool layers_weak;
    sac_gpu_image colour_image, depth_image;
    sac_gpu_image
        whole_images[SAC_DRAWING_MOST_VIEWS]; /* one of two layers with multiview, else one a view */
    VkImageView colour_view, depth_view;      /* multisampled; the depth also without */
    sac_target whole;                         /* our own, copied from where an image cannot be drawn into */
    sac_target targets[SAC_TARGET_MOST];
    uint32_t target_count;
} sac_targets;

sac_result sac_targets_create(const sac_gpu *gpu, const sac_renderer_format *format, sac_targets *targets,
                              sac_error *error);
void sac_targets_fini(const sac_gpu *gpu, sac_targets *targets);
/* Can it be drawn into as it is, or is it copied to? */
bool sac_targets_direct(const sac_targets *targets, const sac_renderer_image *image);
/* Framebuffers for it; *out_full when the table must be emptied first, with the device idle. */
sac_result sac_targets_find(const sac_gpu *gpu, sac_targets *targets, const sac_renderer_image *image,
                            const sac_target **out_target, bool *out_full, sac_error *error);
void sac_targets_forget(const sac_gpu *gpu, sac_targets *targets);
/* Copies our own image to where it belongs. */
void sac_targets_copy(const sac_targets *targets, VkCommandBuffer commands, const sac_renderer_image *image);
/* Our own image, views side by side, RGBA. */
sac_result sac_targets_read(const sac_gpu *gpu, const sac_targets *targets, uint8_t **out_rgba,
                            uint32_t *out_width, uint32_t *out_height, sac_error *error);

/* ---- the renderer (renderer.c; renderer_make.c, renderer_stream.c, renderer_record.c) ---- */

enum { SAC_RENDERER_FRAMES = 3 }; /* under way at most */
/* Time stamps of a frame: begin, end, and room behind: lavapipe 25 still writes one for each view after a
 * multiview pass. */
enum { SAC_RENDERER_QUERIES = 4 };

typedef struct sac_renderer_frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    bool pending, timed;
    sac_gpu_buffer stream;
    VkDescriptorSet set;
} sac_renderer_frame;

struct sac_renderer {
    sac_gpu *gpu;
    sac_targets targets;
    sac_pipes pipes;
    sac_sort sort;
    sac_renderer_frame frames[SAC_RENDERER_FRAMES];
    uint32_t next;
    VkDescriptorPool descriptors;
    VkQueryPool queries; /* VK_NULL_HANDLE: no clock on the device */
    sac_gpu_buffer vertices, skin_vertices, indices;
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
typedef struct sac_stream_layout {
    VkDeviceSize joints; /* right after the uniforms: the shaders are told once where */
    VkDeviceSize instances, balls, lines, quads, size;
    uint32_t solid_balls;
} sac_stream_layout;

/* ERROR_ARGUMENT or _LIMIT names what cannot be drawn; instances and balls are looked at while streaming. */
sac_result sac_drawing_check(const sac_renderer *renderer, const sac_drawing *drawing, sac_error *error);
/* Writes the drawing into the frame's stream, which grows when it must. */
sac_result sac_drawing_stream(sac_renderer *renderer, sac_renderer_frame *frame, const sac_drawing *drawing,
                              sac_stream_layout *out_layout, sac_error *error);

typedef struct sac_recording {
    sac_renderer *r;
    VkCommandBuffer commands;
    const sac_renderer_frame *frame;
    const sac_drawing *drawing;
    const sac_stream_layout *at;
    uint32_t draws;
} sac_recording;
sac_result sac_recording_make(sac_recording *recording, const sac_target *target,
                              const sac_renderer_image *image, sac_renderer_frame *frame, sac_error *error);

#endif
