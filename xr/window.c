/* A desktop window by GLFW. */
#include "xr/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "xr/window_internal.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

struct sac_window {
    GLFWwindow *window;
    sac_gpu *gpu;
    sac_renderer *renderer;
    sac_renderer_format format;
    sac_surface surface;
    sac_window_input input; /* gathered since the last poll */
    double last_x, last_y;
};

/* GLFW is one per process and ends for all windows at once, so the last one out turns it off. Like GLFW, this
 * belongs to the main thread. */
static uint32_t open_windows;

static bool start_glfw(void)
{
    if (open_windows) return true;
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
#if !defined(_WIN32) && !defined(__APPLE__)
    if (!(x11 && *x11) && !(wayland && *wayland)) return false;
#endif
    return glfwInit() == GLFW_TRUE;
}

static void stop_glfw(void)
{
    if (!open_windows) glfwTerminate();
}

bool sac_window_possible(void)
{
    if (!start_glfw()) return false;
    bool possible = glfwVulkanSupported() == GLFW_TRUE;
    stop_glfw();
    return possible;
}

void *sac_window_handle(sac_window *w) { return w->window; }

/* ---- input ---- */

static int key_code(int key)
{
    if (key >= GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT) return key;
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return '0' + key - GLFW_KEY_KP_0;
    switch (key) {
    case GLFW_KEY_ESCAPE:
        return SAC_KEY_ESCAPE;
    case GLFW_KEY_LEFT:
        return SAC_KEY_LEFT;
    case GLFW_KEY_RIGHT:
        return SAC_KEY_RIGHT;
    case GLFW_KEY_UP:
        return SAC_KEY_UP;
    case GLFW_KEY_DOWN:
        return SAC_KEY_DOWN;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER:
        return SAC_KEY_ENTER;
    case GLFW_KEY_TAB:
        return SAC_KEY_TAB;
    case GLFW_KEY_F1:
        return SAC_KEY_F1;
    case GLFW_KEY_KP_ADD:
        return '+';
    case GLFW_KEY_KP_SUBTRACT:
        return '-';
    default:
        return 0;
    }
}

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int mods)
{
    sac_window *w = glfwGetWindowUserPointer(handle);
    (void)scancode, (void)mods;
    int code = action == GLFW_RELEASE ? 0 : key_code(key);
    if (code && w->input.key_count < SAC_WINDOW_MOST_KEYS) w->input.keys[w->input.key_count++] = code;
}

static void on_scroll(GLFWwindow *handle, double x, double y)
{
    sac_window *w = glfwGetWindowUserPointer(handle);
    (void)x;
    w->input.scroll += (float)y;
}

static void on_move(GLFWwindow *handle, double x, double y)
{
    sac_window *w = glfwGetWindowUserPointer(handle);
    if (glfwGetMouseButton(handle, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS) {
        w->input.drag[0] += (float)(x - w->last_x);
        w->input.drag[1] -= (float)(y - w->last_y);
    }
    w->last_x = x, w->last_y = y;
}

void sac_window_poll(sac_window *w, sac_window_input *out)
{
    glfwPollEvents();
    int width, height, inner_width, inner_height;
    glfwGetFramebufferSize(w->window, &width, &height);
    glfwGetWindowSize(w->window, &inner_width, &inner_height);
    const float kx = inner_width > 0 ? (float)width / (float)inner_width : 1,
                ky = inner_height > 0 ? (float)height / (float)inner_height : 1;
    double x, y;
    glfwGetCursorPos(w->window, &x, &y);
    *out = w->input;
    out->closed = glfwWindowShouldClose(w->window) == GLFW_TRUE;
    out->focused = glfwGetWindowAttrib(w->window, GLFW_FOCUSED) == GLFW_TRUE;
    out->width = (uint32_t)width, out->height = (uint32_t)height;
    out->mouse[0] = (float)x * kx;
    out->mouse[1] = (float)height - (float)y * ky;
    out->drag[0] *= kx, out->drag[1] *= ky;
    out->left = glfwGetMouseButton(w->window, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
    out->right = glfwGetMouseButton(w->window, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
    out->middle = glfwGetMouseButton(w->window, GLFW_MOUSE_BUTTON_MIDDLE) == GLFW_PRESS;
    out->shift = glfwGetKey(w->window, GLFW_KEY_LEFT_SHIFT) == GLFW_PRESS ||
                 glfwGetKey(w->window, GLFW_KEY_RIGHT_SHIFT) == GLFW_PRESS;
    w->input = (sac_window_input){0};
}

/* ---- open and close ---- */

static sac_result no_display(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "set DISPLAY, or draw offscreen with saccade render",
                         "there is no display to open a window on");
}

static sac_result make(sac_window *w, const sac_renderer_def *def, const char *title, uint32_t width,
                       uint32_t height, sac_error *error)
{
    if (!glfwVulkanSupported())
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "install mesa-vulkan-drivers",
                             "there is no Vulkan driver for this display");
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    w->window = glfwCreateWindow((int)width, (int)height, title, NULL, NULL);
    if (!w->window) return no_display(error);
    glfwSetWindowUserPointer(w->window, w);
    glfwSetKeyCallback(w->window, on_key);
    glfwSetScrollCallback(w->window, on_scroll);
    glfwSetCursorPosCallback(w->window, on_move);
    glfwGetCursorPos(w->window, &w->last_x, &w->last_y);

    sac_gpu_maker maker = {.swapchain = true};
    maker.instance_extensions = glfwGetRequiredInstanceExtensions(&maker.instance_extension_count);
    sac_result result = sac_gpu_create(def, &maker, &w->gpu, error);
    if (result != SAC_OK) return result;
    w->surface.gpu = w->gpu;
    VkResult vk = glfwCreateWindowSurface(w->gpu->instance, w->window, NULL, &w->surface.surface);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "drawing on a window", error);
    VkBool32 shows = VK_FALSE;
    vk = vkGetPhysicalDeviceSurfaceSupportKHR(w->gpu->physical, w->gpu->family, w->surface.surface, &shows);
    if (vk != VK_SUCCESS || !shows)
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "choose another device, or draw offscreen",
                             "%.100s cannot show pictures on this display", w->gpu->properties.deviceName);
    return SAC_OK;
}

sac_result sac_window_open(const sac_renderer_def *def, const char *title, uint32_t width, uint32_t height,
                           sac_window **out_window, sac_error *error)
{
    *out_window = NULL;
    if (!width || !height || width > 16384 || height > 16384)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "take 1 to 16384", "a window of %u x %u pixels",
                             width, height);
    if (!start_glfw()) return no_display(error);
    sac_window *w = sac_alloc_zero(1, sizeof *w);
    if (!w) {
        stop_glfw();
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    }
    open_windows++;
    sac_result result = make(w, def, title ? title : "Saccade", width, height, error);
    if (result != SAC_OK) {
        sac_window_close(&w);
        return result;
    }
    *out_window = w;
    return SAC_OK;
}

void sac_window_close(sac_window **window)
{
    sac_window *w = window ? *window : NULL;
    if (!w) return;
    if (w->gpu) {
        vkDeviceWaitIdle(w->gpu->device);
        sac_renderer_destroy(&w->renderer);
        if (w->surface.gpu) sac_surface_clear(&w->surface);
        if (w->surface.surface) vkDestroySurfaceKHR(w->gpu->instance, w->surface.surface, NULL);
        sac_gpu_destroy(&w->gpu);
    }
    if (w->window) glfwDestroyWindow(w->window);
    sac_free(w, 1, sizeof *w);
    open_windows--;
    stop_glfw();
    *window = NULL;
}

/* ---- draw ---- */

static sac_result rebuild(sac_window *w, uint32_t width, uint32_t height, uint32_t views, sac_error *error)
{
    VkResult vk = vkDeviceWaitIdle(w->gpu->device);
    if (vk != VK_SUCCESS) return sac_gpu_failed(vk, "waiting for the window", error);
    sac_result result = sac_surface_build(&w->surface, width, height, error);
    if (result != SAC_OK || !w->surface.width) return result;
    const sac_renderer_format format = {
        .colour = w->surface.format,
        .width = views == 2 && w->surface.width > 1 ? w->surface.width / 2 : w->surface.width,
        .height = w->surface.height,
        .views = views,
        .colour_layout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
        .keep = true,
    };
    result = w->renderer ? sac_renderer_resize(w->renderer, &format, error)
                         : sac_renderer_create(w->gpu, &format, &w->renderer, error);
    w->format = format;
    if (result != SAC_OK) w->surface.stale = true;
    return result;
}

sac_result sac_window_draw(sac_window *w, const sac_drawing *drawing, sac_screen_stats *out_stats,
                           sac_error *error)
{
    if (out_stats) *out_stats = (sac_screen_stats){0};
    if (drawing->view_count < 1 || drawing->view_count > SAC_DRAWING_MOST_VIEWS)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "draw 1 or 2", "the drawing has %u views",
                             drawing->view_count);
    int width, height;
    glfwGetFramebufferSize(w->window, &width, &height);
    if (width <= 0 || height <= 0 || glfwGetWindowAttrib(w->window, GLFW_ICONIFIED)) return SAC_OK;
    sac_result result = SAC_OK;
    uint32_t index = 0;
    VkSemaphore acquired = VK_NULL_HANDLE;
    bool ready = false;
    uint64_t start = sac_time_now_ns();
    /* A window being dragged larger can change under our hands; it gets another try, then the next frame. */
    for (int tries = 0; tries < 2 && !ready; tries++) {
        if (w->surface.stale || !w->renderer || w->surface.width != (uint32_t)width ||
            w->surface.height != (uint32_t)height || w->format.views != drawing->view_count)
            result = rebuild(w, (uint32_t)width, (uint32_t)height, drawing->view_count, error);
        if (result != SAC_OK || !w->surface.width) return result;
        ready = sac_surface_acquire(&w->surface, &index, &acquired, &result, error);
        if (result != SAC_OK) return result;
    }
    if (!ready) return SAC_OK;
    uint64_t waited = sac_time_now_ns() - start;
    sac_renderer_image image = {
        .image = {w->surface.images[index]},
        .wait = acquired,
        .signal = w->surface.drawn[index],
    };
    if ((result = sac_renderer_draw(w->renderer, &image, drawing, out_stats, error)) != SAC_OK) {
        w->surface.stale = true; /* an image was taken and nothing will come of it */
        return result;
    }
    start = sac_time_now_ns();
    result = sac_surface_present(&w->surface, index, error);
    if (out_stats) out_stats->submit_ns += waited + sac_time_now_ns() - start;
    return result;
}

sac_result sac_window_capture(sac_window *w, uint8_t **out_rgba, uint32_t *out_width, uint32_t *out_height,
                              sac_error *error)
{
    *out_rgba = NULL;
    *out_width = *out_height = 0;
    if (!w->renderer)
        return sac_error_set(error, SAC_ERROR_EMPTY, "draw first", "nothing was drawn in the window");
    return sac_renderer_read(w->renderer, out_rgba, out_width, out_height, error);
}
