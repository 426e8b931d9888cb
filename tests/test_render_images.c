/* Images of every kind a screen may hand in (layers, one a view, side by side; sRGB, not sRGB, floats; with
 * depth) get the same picture, and depth means what the door says. Skipped loudly without a Vulkan driver. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xr/renderer_parts_internal.h"

enum { WIDTH = 96, HEIGHT = 64 };

static sac_gallery *gallery;
static uint32_t heard;

static void hear(const char *text, void *user)
{
    (void)user;
    heard++;
    fprintf(stderr, "%.600s\n", text);
}

typedef struct screen {
    sac_gpu *gpu;
    sac_renderer *renderer;
    sac_renderer_format format;
} screen;

static sac_result screen_open(screen *s, VkFormat colour, uint32_t samples, bool depth, sac_error *error)
{
    sac_renderer_def def = sac_default_renderer_def();
    def.gallery = gallery, def.message = hear, def.validation = true;
    def.samples = samples, def.shadow_size = 256;
    *s = (screen){0};
    sac_result result = sac_gpu_create(&def, NULL, &s->gpu, error);
    if (result != SAC_OK) return result;
    s->format = (sac_renderer_format){
        .colour = colour,
        .width = WIDTH,
        .height = HEIGHT,
        .views = 2,
        .colour_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .depth = depth,
    };
    return sac_renderer_create(s->gpu, &s->format, &s->renderer, error);
}

static void screen_close(screen *s)
{
    sac_renderer_destroy(&s->renderer);
    assert_int_equal(s->gpu->messages, 0);
    sac_gpu_destroy(&s->gpu);
}

static void draw_scene(screen *s, sac_renderer_image *image)
{
    sac_eye eyes[2];
    for (int v = 0; v < 2; v++)
        eyes[v] = (sac_eye){
            .position = {0.1f * (float)v, 0.5f, 0},
            .rotation = {0, 0, 0, 1},
            .fov_left = -0.7f,
            .fov_right = 0.7f,
            .fov_up = 0.5f,
            .fov_down = -0.5f,
        };
    sac_instance body = {
        .rotation = {0, 0, 0, 1}, .position = {0, 0.5f, -2}, .scale = 1, .colour = 0xFF3060C0u};
    sac_ball ball = {{0.4f, 0.2f, -1}, 0.2f, 0xFF20A040u};
    sac_drawing drawing = sac_default_drawing();
    drawing.views = eyes, drawing.view_count = 2;
    drawing.instances = &body, drawing.instance_count = 1;
    drawing.balls = &ball, drawing.ball_count = 1;
    sac_error error = {0};
    /* More frames than there are buffers. */
    for (int i = 0; i < 5; i++) {
        sac_screen_stats stats;
        VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        assert_int_equal(vkCreateFence(s->gpu->device, &info, NULL, &image->done), VK_SUCCESS);
        if (sac_renderer_draw(s->renderer, image, &drawing, &stats, &error) != SAC_OK)
            fail_msg("%s", error.message);
        assert_int_equal(vkWaitForFences(s->gpu->device, 1, &image->done, VK_TRUE, 10000000000ull),
                         VK_SUCCESS);
        vkDestroyFence(s->gpu->device, image->done, NULL);
        image->done = VK_NULL_HANDLE;
    }
    assert_int_equal(sac_renderer_wait(s->renderer, &error), SAC_OK);
    assert_int_equal(heard, 0);
}

static sac_gpu_image make_image(const screen *s, VkFormat format, uint32_t width, uint32_t layers)
{
    const bool depth = format == VK_FORMAT_D32_SFLOAT;
    sac_gpu_image image;
    sac_error error;
    assert_int_equal(sac_gpu_image_create(
                         s->gpu, format, width, HEIGHT, layers, VK_SAMPLE_COUNT_1_BIT,
                         VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                             (depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                    : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT),
                         &image, &error),
                     SAC_OK);
    return image;
}

/* `pixel` bytes a pixel. */
static void read_layer(const screen *s, VkImage image, VkImageLayout layout, bool depth, uint32_t width,
                       uint32_t layer, size_t pixel, void *out)
{
    sac_gpu_buffer buffer;
    sac_gpu_now now;
    sac_error error;
    assert_int_equal(sac_gpu_buffer_create(s->gpu, width * HEIGHT * pixel, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                           SAC_GPU_READ_BACK, &buffer, &error),
                     SAC_OK);
    const VkImageAspectFlags aspect = depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    assert_int_equal(sac_gpu_now_begin(s->gpu, &now, &error), SAC_OK);
    VkImageMemoryBarrier turn = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = layout,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspect, 0, 1, layer, 1},
    };
    vkCmdPipelineBarrier(now.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                         0, NULL, 0, NULL, 1, &turn);
    VkBufferImageCopy copy = {.imageSubresource = {aspect, 0, layer, 1}, .imageExtent = {width, HEIGHT, 1}};
    vkCmdCopyImageToBuffer(now.commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer.buffer, 1,
                           &copy);
    assert_int_equal(sac_gpu_now_end(s->gpu, &now, &error), SAC_OK);
    memcpy(out, buffer.mapped, width * HEIGHT * pixel);
    sac_gpu_buffer_destroy(s->gpu, &buffer);
}

static const VkImageLayout colour_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
static uint8_t wanted[2][WIDTH * HEIGHT * 4]; /* by layers, RGBA sRGB */

static void layers_get_a_view_each(void **state)
{
    (void)state;
    screen s;
    sac_error error;
    assert_int_equal(screen_open(&s, VK_FORMAT_R8G8B8A8_SRGB, 4, false, &error), SAC_OK);
    sac_gpu_image image = make_image(&s, VK_FORMAT_R8G8B8A8_SRGB, WIDTH, 2);
    draw_scene(&s, &(sac_renderer_image){.image = {image.image}, .layered = true});
    for (uint32_t v = 0; v < 2; v++)
        read_layer(&s, image.image, colour_layout, false, WIDTH, v, 4, wanted[v]);
    assert_true(memcmp(wanted[0], wanted[1], sizeof wanted[0]));
    /* The body is to the left of the middle for the right eye. */
    const uint8_t *middle = wanted[0] + (HEIGHT / 2 * WIDTH + WIDTH / 2) * 4;
    assert_true(middle[0] > middle[1] + 30 && middle[3] == 255);
    sac_gpu_image_destroy(s.gpu, &image);
    screen_close(&s);
}

static void one_image_a_view(void **state)
{
    (void)state;
    screen s;
    sac_error error;
    assert_int_equal(screen_open(&s, VK_FORMAT_R8G8B8A8_SRGB, 4, false, &error), SAC_OK);
    sac_gpu_image left = make_image(&s, VK_FORMAT_R8G8B8A8_SRGB, WIDTH, 1),
                  right = make_image(&s, VK_FORMAT_R8G8B8A8_SRGB, WIDTH, 1);
    draw_scene(&s, &(sac_renderer_image){.image = {left.image, right.image}});
    static uint8_t got[WIDTH * HEIGHT * 4];
    read_layer(&s, left.image, colour_layout, false, WIDTH, 0, 4, got);
    assert_memory_equal(got, wanted[0], sizeof got);
    read_layer(&s, right.image, colour_layout, false, WIDTH, 0, 4, got);
    assert_memory_equal(got, wanted[1], sizeof got);
    sac_gpu_image_destroy(s.gpu, &left);
    sac_gpu_image_destroy(s.gpu, &right);
    screen_close(&s);
}

static void side_by_side_in_other_formats(void **state)
{
    (void)state;
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM,
                                       VK_FORMAT_B8G8R8A8_SRGB};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        screen s;
        sac_error error;
        assert_int_equal(screen_open(&s, formats[f], 4, false, &error), SAC_OK);
        sac_gpu_image image = make_image(&s, formats[f], 2 * WIDTH, 1);
        draw_scene(&s, &(sac_renderer_image){.image = {image.image}});
        static uint8_t got[2 * WIDTH * HEIGHT * 4];
        read_layer(&s, image.image, colour_layout, false, 2 * WIDTH, 0, 4, got);
        const int red = formats[f] == VK_FORMAT_R8G8B8A8_UNORM ? 0 : 2;
        for (uint32_t y = 0; y < HEIGHT; y++)
            for (uint32_t x = 0; x < 2 * WIDTH; x++) {
                const uint8_t *a = got + (y * 2 * WIDTH + x) * 4,
                              *b = wanted[x / WIDTH] + (y * WIDTH + x % WIDTH) * 4;
                assert_in_range(abs(a[red] - b[0]) + abs(a[1] - b[1]) + abs(a[2 - red] - b[2]), 0, 1);
            }
        sac_gpu_image_destroy(s.gpu, &image);
        screen_close(&s);
    }
}

static void depth_is_near_over_distance(void **state)
{
    (void)state;
    for (uint32_t samples = 1; samples <= 4; samples *= 4) {
        screen s;
        sac_error error;
        assert_int_equal(screen_open(&s, VK_FORMAT_R8G8B8A8_SRGB, samples, true, &error), SAC_OK);
        if (!sac_renderer_gives_depth(s.renderer)) {
            print_message("this driver gives no depth with %u samples\n", samples);
            assert_true(samples > 1);
            screen_close(&s);
            continue;
        }
        sac_gpu_image image = make_image(&s, VK_FORMAT_R8G8B8A8_SRGB, WIDTH, 2),
                      depth = make_image(&s, VK_FORMAT_D32_SFLOAT, WIDTH, 2);
        sac_renderer_image handed = {.image = {image.image}, .layered = true};
        sac_drawing none = sac_default_drawing();
        sac_eye eyes[2] = {
            {.rotation = {0, 0, 0, 1}, .fov_left = -1, .fov_right = 1, .fov_up = 1, .fov_down = -1},
            {.rotation = {0, 0, 0, 1}, .fov_left = -1, .fov_right = 1, .fov_up = 1, .fov_down = -1}};
        none.views = eyes, none.view_count = 2;
        assert_int_equal(sac_renderer_draw(s.renderer, &handed, &none, NULL, &error), SAC_ERROR_ARGUMENT);
        handed.depth = depth.image;
        draw_scene(&s, &handed);
        static float got[WIDTH * HEIGHT];
        for (uint32_t v = 0; v < 2; v++) {
            read_layer(&s, depth.image, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, true, WIDTH, v, 4,
                       got);
            /* The sphere of radius 0.5 two metres away; the sky. */
            float front = 0;
            for (uint32_t x = WIDTH / 4; x < WIDTH * 3 / 4; x++)
                front = fmaxf(front, got[HEIGHT / 2 * WIDTH + x]);
            assert_true(fabsf(0.05f / front - 1.5f) < 0.03f);
            assert_true(got[WIDTH / 2] == 0);
        }
        sac_gpu_image_destroy(s.gpu, &image);
        sac_gpu_image_destroy(s.gpu, &depth);
        screen_close(&s);
    }
}

static void resized_and_refused(void **state)
{
    (void)state;
    screen s;
    sac_error error;
    assert_int_equal(screen_open(&s, VK_FORMAT_R8G8B8A8_SRGB, 4, false, &error), SAC_OK);
    sac_renderer_format odd = s.format;
    odd.colour = VK_FORMAT_R32_UINT;
    assert_int_equal(sac_renderer_resize(s.renderer, &odd, &error), SAC_ERROR_UNSUPPORTED);
    odd = s.format, odd.views = 3;
    assert_int_equal(sac_renderer_resize(s.renderer, &odd, &error), SAC_ERROR_ARGUMENT);
    odd = s.format, odd.width = 0;
    assert_int_equal(sac_renderer_resize(s.renderer, &odd, &error), SAC_ERROR_ARGUMENT);
    sac_renderer_image image = {0};
    sac_drawing drawing = sac_default_drawing();
    assert_int_equal(sac_renderer_draw(s.renderer, &image, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    /* Floats, after all that; made anew so often that the table of images has to be emptied. */
    s.format.colour = VK_FORMAT_R16G16B16A16_SFLOAT;
    assert_int_equal(sac_renderer_resize(s.renderer, &s.format, &error), SAC_OK);
    sac_gpu_image many[SAC_TARGET_MOST + 3];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = make_image(&s, s.format.colour, WIDTH, 2);
        image = (sac_renderer_image){.image = {many[i].image}, .layered = true};
        draw_scene(&s, &image);
    }
    static uint16_t half[WIDTH * HEIGHT * 4];
    read_layer(&s, image.image[0], colour_layout, false, WIDTH, 0, 8, half);
    const uint16_t *middle = half + (HEIGHT / 2 * WIDTH + WIDTH / 2) * 4;
    assert_true(middle[0] > middle[1] && middle[3] == 0x3C00); /* red most, alpha 1 */
    sac_error_set(&error, SAC_OK, NULL, "-");
    assert_int_equal(sac_renderer_wait(s.renderer, &error), SAC_OK);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) sac_gpu_image_destroy(s.gpu, &many[i]);
    screen_close(&s);
}

int main(void)
{
    static VkInstance
        held; /* keeps the driver loaded, so that the leak checker knows its memory (lsan.supp) */
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    sac_error error = {0};
    sac_mesh *mesh;
    uint32_t model;
    screen s;
    if (sac_gallery_create(&gallery, &error) != SAC_OK ||
        sac_mesh_builtin("sphere", 0, &mesh, &error) != SAC_OK ||
        sac_gallery_add_mesh(gallery, mesh, &model, &error) != SAC_OK)
        return 1;
    sac_mesh_destroy(&mesh);
    if (vkCreateInstance(&info, NULL, &held) != VK_SUCCESS ||
        screen_open(&s, VK_FORMAT_R8G8B8A8_SRGB, 1, false, &error) == SAC_ERROR_UNSUPPORTED) {
        printf("SKIPPED: nothing was tested: there is no Vulkan driver; install mesa-vulkan-drivers\n");
        sac_gallery_destroy(&gallery);
        return 77;
    }
    sac_renderer_destroy(&s.renderer);
    sac_gpu_destroy(&s.gpu);
    heard = 0; /* that the layer is missing was said */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_get_a_view_each),        cmocka_unit_test(one_image_a_view),
        cmocka_unit_test(side_by_side_in_other_formats), cmocka_unit_test(depth_is_near_over_distance),
        cmocka_unit_test(resized_and_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sac_gallery_destroy(&gallery);
    return failed || heard;
}
