/* The device and the renderer behind the three screens. A screen makes the gpu its own way (OpenXR insists on
 * making instance and device itself), hands images to draw into, and submits through here. */
#ifndef SAC_XR_RENDERER_INTERNAL_H
#define SAC_XR_RENDERER_INTERNAL_H

#include <vulkan/vulkan.h>

#include "drawing.h"

typedef struct sac_gpu sac_gpu;

/* How instance and device come to be; all may be NULL: plain Vulkan. */
typedef struct sac_gpu_maker {
    VkResult (*instance)(void *user, const VkInstanceCreateInfo *info, VkInstance *out);
    VkResult (*physical)(void *user, VkInstance instance, VkPhysicalDevice *out);
    VkResult (*device)(void *user, VkPhysicalDevice physical, const VkDeviceCreateInfo *info, VkDevice *out);
    const char *const *instance_extensions; /* of a window */
    uint32_t instance_extension_count;
    bool swapchain; /* VK_KHR_swapchain wanted */
    void *user;
} sac_gpu_maker;

struct sac_gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    bool multiview, validation;
    bool depth_resolve; /* depth can come out of a multisampled pass */
    bool layers_weak;   /* samples resolve into layer 0 whatever is asked for */
    VkDebugUtilsMessengerEXT messenger;
    uint32_t messages; /* of the validation layer */
    sac_renderer_def def;
};

sac_result sac_gpu_create(const sac_renderer_def *def, const sac_gpu_maker *maker, sac_gpu **out_gpu,
                          sac_error *error);
void sac_gpu_destroy(sac_gpu **gpu);
/* Memory of a kind; UINT32_MAX: none. */
uint32_t sac_gpu_memory_type(const sac_gpu *gpu, uint32_t bits, VkMemoryPropertyFlags flags);
sac_result sac_gpu_failed(VkResult result, const char *doing, sac_error *error);

/* ---- the renderer ---- */

typedef struct sac_renderer sac_renderer;

/* What the screen's images are like. */
typedef struct sac_renderer_format {
    VkFormat colour; /* RGBA or BGRA, 8 bits sRGB or UNORM, or 16-bit floats. UNORM, and views that are not
                        layers, are copied to and need TRANSFER_DST usage */
    uint32_t width, height; /* of a view */
    uint32_t views;         /* 1 or 2 */
    VkImageLayout
        colour_layout; /* the image is in before (contents dropped) and after: COLOR_ATTACHMENT_OPTIMAL for
                          XR, PRESENT_SRC_KHR for a window, TRANSFER_SRC_OPTIMAL offscreen */
    bool depth;        /* images come with a depth image to fill: 1 at the near plane, 0 at infinity. Ask
                          sac_renderer_gives_depth after */
    bool keep;         /* the picture can be read afterwards with sac_renderer_read; images are copied to */
} sac_renderer_format;

/* Up to three frames' worth of buffers and command buffers; images are registered as they come. */
sac_result sac_renderer_create(sac_gpu *gpu, const sac_renderer_format *format, sac_renderer **out_renderer,
                               sac_error *error);
void sac_renderer_destroy(sac_renderer **renderer);
/* False: samples cannot be resolved here; leave the depth images out. */
bool sac_renderer_gives_depth(const sac_renderer *renderer);
/* Size or format changed, or the images were made again (call it then even if nothing else changed): what
 * depends on it is made again. */
sac_result sac_renderer_resize(sac_renderer *renderer, const sac_renderer_format *format, sac_error *error);

/* An image to draw into: one image with an array layer a view, or one image a view, or (side by side) one
 * image. */
typedef struct sac_renderer_image {
    VkImage image[SAC_DRAWING_MOST_VIEWS]; /* the second VK_NULL_HANDLE: one image for all views */
    bool layered;  /* views are array layers of image[0]; else, with one image, side by side */
    VkImage depth; /* layered like the colour, D32_SFLOAT, resolved into for the compositor; VK_NULL_HANDLE:
                      none */
    VkFence done;  /* signalled when drawn; VK_NULL_HANDLE: none */
    VkSemaphore wait, signal; /* VK_NULL_HANDLE: none */
} sac_renderer_image;

/* Records and submits. Waits only when all frames are still under way. */
sac_result sac_renderer_draw(sac_renderer *renderer, const sac_renderer_image *image,
                             const sac_drawing *drawing, sac_screen_stats *out_stats, sac_error *error);
sac_result sac_renderer_wait(sac_renderer *renderer, sac_error *error);
/* The last picture of a renderer that keeps it, views side by side, rows from the top, RGBA; waits.
 * Release with sac_free(p, w * h, 4). */
sac_result sac_renderer_read(sac_renderer *renderer, uint8_t **out_rgba, uint32_t *out_width,
                             uint32_t *out_height, sac_error *error);

/* ---- the gallery, as the renderer reads it ---- */

enum {
    SAC_GALLERY_MOST_TRIANGLES = 4 * 1024 * 1024,
    SAC_GALLERY_MOST_SPHERES = 4096,
    SAC_GALLERY_MOST_JOINTS = 1 << 20
};

typedef struct sac_gallery_vertex {
    float position[3], normal[3];
} sac_gallery_vertex;
/* Weights are sorted, heaviest first, in 65535ths; those left over are 0. */
typedef struct sac_gallery_skin_vertex {
    float position[3], normal[3];
    uint32_t joints[SAC_GALLERY_INFLUENCES];
    uint16_t weights[SAC_GALLERY_INFLUENCES];
    uint32_t colour;
} sac_gallery_skin_vertex;
typedef struct sac_gallery_level {
    uint32_t first_index, index_count;
    float error; /* farthest the surface is off, metres at scale 1 */
    float edge;  /* of a typical triangle, metres at scale 1 */
} sac_gallery_level;
typedef struct sac_gallery_model {
    sac_gallery_level levels[SAC_GALLERY_LEVELS];
    uint32_t level_count;
    float centre[3], radius;
    uint32_t joint_count; /* 0: stiff; else its indices are of skin_vertices */
} sac_gallery_model;
struct sac_gallery {
    sac_array(sac_gallery_vertex) vertices;
    sac_array(sac_gallery_skin_vertex) skin_vertices;
    sac_array(uint32_t) indices;
    sac_array(sac_gallery_model) models;
};

#endif
