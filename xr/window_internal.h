/* What a window draws on: surface and swapchain, made again whenever the size changes. */
#ifndef SAC_XR_WINDOW_INTERNAL_H
#define SAC_XR_WINDOW_INTERNAL_H

#include "xr/renderer_parts_internal.h"
#include "xr/window.h"

/* One more than the renderer's frames: a semaphore comes round again only after its frame is done. */
enum { SAC_SURFACE_MOST_IMAGES = 16, SAC_SURFACE_ACQUIRES = 4 };

typedef struct sac_surface {
    sac_gpu *gpu;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkFormat format;
    uint32_t width, height, image_count;
    VkImage images[SAC_SURFACE_MOST_IMAGES];
    VkSemaphore drawn[SAC_SURFACE_MOST_IMAGES];
    VkSemaphore acquired[SAC_SURFACE_ACQUIRES];
    uint32_t next_acquire;
    bool stale; /* size changed, or a frame went wrong half-way */
} sac_surface;

/* Swapchain for about this many pixels; zero-sized surfaces leave `width` 0. The device must be idle. */
sac_result sac_surface_build(sac_surface *surface, uint32_t width, uint32_t height, sac_error *error);
void sac_surface_clear(sac_surface *surface);
/* The next image; false (and SAC_OK in *out_result) when the swapchain must be built again first. */
bool sac_surface_acquire(sac_surface *surface, uint32_t *out_index, VkSemaphore *out_acquired,
                         sac_result *out_result, sac_error *error);
sac_result sac_surface_present(sac_surface *surface, uint32_t index, sac_error *error);

/* The GLFWwindow, for tests that resize it. */
void *sac_window_handle(sac_window *window);

#endif
