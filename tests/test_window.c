/* The desktop window on a display of its own (Xvfb): what is shown is what is drawn in memory; it survives
 * being resized, minimised and given nonsense. Without Xvfb or a Vulkan driver the suite is skipped and says
 * so. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/display_play.h"
#include "tests/driver_play.h"
#include "xr/offscreen.h"
#include "xr/window.h"
#include "xr/window_internal.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

static sac_gallery *gallery;
static uint32_t model;

static sac_renderer_def plain_def(void) { return validated_def(gallery, 256); }

typedef struct scene {
    sac_eye eyes[2];
    sac_instance bodies[8];
    sac_drawing drawing;
} scene;

static void scene_fill(scene *s, uint32_t views)
{
    *s = (scene){.drawing = sac_default_drawing()};
    for (int v = 0; v < 2; v++)
        s->eyes[v] = (sac_eye){
            .position = {0.06f * (float)v, 0.5f, 0},
            .rotation = {0, 0, 0, 1},
            .fov_left = -0.6f,
            .fov_right = 0.6f,
            .fov_up = 0.6f,
            .fov_down = -0.6f,
        };
    for (int i = 0; i < 8; i++)
        s->bodies[i] = (sac_instance){
            .rotation = {0, 0, 0, 1},
            .position = {(float)i * 0.4f - 1.4f, 0.5f, -2.5f},
            .scale = 0.4f,
            .model = model,
            .colour = 0xFF0040A0u + 0x1800u * (uint32_t)i,
        };
    s->drawing.views = s->eyes, s->drawing.view_count = views;
    s->drawing.instances = s->bodies, s->drawing.instance_count = 8;
}

static void show(sac_window *window, const sac_drawing *drawing)
{
    sac_error error = {0};
    sac_screen_stats stats;
    sac_window_input input;
    sac_window_poll(window, &input);
    if (sac_window_draw(window, drawing, &stats, &error) != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(stats.messages, 0);
    assert_int_equal(heard, 0);
}

static void same_as_in_memory(sac_window *window, const sac_drawing *drawing, uint32_t width, uint32_t height)
{
    sac_error error = {0};
    uint8_t *rgba;
    uint32_t w, h;
    if (sac_window_capture(window, &rgba, &w, &h, &error) != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(w, width);
    assert_int_equal(h, height);
    sac_renderer_def def = plain_def();
    sac_offscreen *offscreen;
    assert_int_equal(sac_offscreen_create(&def, width, height, &offscreen, &error), SAC_OK);
    assert_int_equal(sac_offscreen_draw(offscreen, drawing, NULL, &error), SAC_OK);
    assert_memory_equal(rgba, sac_offscreen_pixels(offscreen), (size_t)w * h * 4);
    sac_offscreen_destroy(&offscreen);
    sac_free(rgba, (size_t)w * h, 4);
}

static sac_window *opened(uint32_t width, uint32_t height)
{
    sac_renderer_def def = plain_def();
    sac_window *window;
    sac_error error = {0};
    if (sac_window_open(&def, "Saccade \xC2\xB7 test", width, height, &window, &error) != SAC_OK)
        fail_msg("%s; %s", error.message, error.remedy);
    return window;
}

/* There is no window manager, so the size comes after a while or so. */
static void resized(sac_window *window, uint32_t width, uint32_t height)
{
    glfwSetWindowSize(sac_window_handle(window), (int)width, (int)height);
    sac_window_input input = {0};
    for (int i = 0; i < 200 && (input.width != width || input.height != height); i++) {
        sac_window_poll(window, &input);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    assert_int_equal(input.width, width);
    assert_int_equal(input.height, height);
}

static void shows_what_memory_holds(void **state)
{
    (void)state;
    sac_window *window = opened(320, 200);
    scene s;
    scene_fill(&s, 1);
    uint8_t *rgba;
    uint32_t w, h;
    sac_error error;
    assert_int_equal(sac_window_capture(window, &rgba, &w, &h, &error), SAC_ERROR_EMPTY);
    for (int i = 0; i < 6; i++) show(window, &s.drawing);
    same_as_in_memory(window, &s.drawing, 320, 200);
    scene_fill(&s, 2);
    for (int i = 0; i < 4; i++) show(window, &s.drawing);
    same_as_in_memory(window, &s.drawing, 320, 200);
    sac_window_close(&window);
    assert_null(window);
}

static void follows_its_size(void **state)
{
    (void)state;
    sac_window *window = opened(320, 200);
    scene s;
    scene_fill(&s, 1);
    show(window, &s.drawing);
    resized(window, 400, 260);
    for (int i = 0; i < 3; i++) show(window, &s.drawing);
    same_as_in_memory(window, &s.drawing, 400, 260);
    resized(window, 90, 301);
    for (int i = 0; i < 3; i++) show(window, &s.drawing);
    same_as_in_memory(window, &s.drawing, 90, 301);
    glfwIconifyWindow(sac_window_handle(window));
    for (int i = 0; i < 3; i++) show(window, &s.drawing);
    glfwRestoreWindow(sac_window_handle(window));
    for (int i = 0; i < 3; i++) show(window, &s.drawing);
    glfwSetWindowShouldClose(sac_window_handle(window), GLFW_TRUE);
    sac_window_input input;
    sac_window_poll(window, &input);
    assert_true(input.closed);
    sac_window_close(&window);
}

static void refuses_and_goes_on(void **state)
{
    (void)state;
    sac_window *window = opened(160, 120), *second = opened(100, 100);
    scene s;
    scene_fill(&s, 1);
    sac_error error;
    show(window, &s.drawing);
    for (int i = 0; i < 5; i++) {
        s.bodies[3].position[1] = NAN;
        assert_int_equal(sac_window_draw(window, &s.drawing, NULL, &error), SAC_ERROR_ARGUMENT);
        s.bodies[3].position[1] = 0;
        show(window, &s.drawing);
    }
    s.drawing.view_count = 0;
    assert_int_equal(sac_window_draw(window, &s.drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    scene_fill(&s, 1);
    show(second, &s.drawing);
    sac_window_close(&window);
    show(second, &s.drawing); /* one window does not end the other */
    assert_true(sac_window_possible());
    show(second, &s.drawing);
    sac_window_close(&second);
    sac_renderer_def def = plain_def();
    assert_int_equal(sac_window_open(&def, NULL, 0, 100, &window, &error), SAC_ERROR_ARGUMENT);
    assert_true(sac_window_possible());
}

int main(void)
{
    hold_driver();
    char name[32];
    pid_t display = start_display("800x600x24", name);
    if (!display) {
        printf("SKIPPED: nothing was tested: Xvfb does not start; install xvfb\n");
        return 77;
    }
    setenv("DISPLAY", name, 1);
    unsetenv("WAYLAND_DISPLAY");
    unsetenv("XAUTHORITY");
    sac_error error = {0};
    sac_mesh *mesh;
    if (sac_gallery_create(&gallery, &error) != SAC_OK ||
        sac_mesh_builtin("torus", 400, &mesh, &error) != SAC_OK ||
        sac_gallery_add_mesh(gallery, mesh, &model, &error) != SAC_OK)
        return 1;
    sac_mesh_destroy(&mesh);
    int failed = 77;
    if (sac_window_possible()) {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(shows_what_memory_holds),
            cmocka_unit_test(follows_its_size),
            cmocka_unit_test(refuses_and_goes_on),
        };
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        if (heard) printf("%u messages of the validation layer\n", heard);
        failed |= heard > 0;
    } else
        printf(
            "SKIPPED: nothing was tested: no Vulkan driver for the display; install mesa-vulkan-drivers\n");
    sac_gallery_destroy(&gallery);
    kill(display, SIGTERM);
    waitpid(display, NULL, 0);
    return failed;
}
