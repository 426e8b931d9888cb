/* The renderer, drawn into memory with the validation layer on: what is drawn where, in which colour, and
 * that nothing bad handed in does harm. Without a Vulkan driver the suite is skipped and says so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/driver_play.h"
#include "xr/offscreen.h"
#include "xr/renderer_internal.h"
#include "xr/window.h"
#include "counted_memory.h"

enum { WIDTH = 320, HEIGHT = 240, MOST = 2048 };

static sac_gallery *gallery;
static uint32_t ball_model, knot_model, box_model;
static sac_offscreen *screen;

static sac_renderer_def plain_def(void) { return validated_def(gallery, 512); }

/* 90 degrees up and down, looking along -z from the origin. */
static sac_eye plain_eye(uint32_t width)
{
    const float side = atanf((float)width / HEIGHT), up = atanf(1.0f);
    return (sac_eye){
        .rotation = {0, 0, 0, 1},
        .fov_left = -side,
        .fov_right = side,
        .fov_up = up,
        .fov_down = -up,
    };
}

static sac_drawing plain_drawing(const sac_eye *eyes, uint32_t count)
{
    sac_drawing drawing = sac_default_drawing();
    drawing.views = eyes;
    drawing.view_count = count;
    drawing.sky.ground_height = -1;
    return drawing;
}

static sac_screen_stats draw_on(sac_offscreen *on, const sac_drawing *drawing)
{
    sac_screen_stats stats;
    sac_error error = {0};
    if (sac_offscreen_draw(on, drawing, &stats, &error) != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(stats.messages, 0);
    assert_int_equal(heard, 0);
    return stats;
}
static sac_screen_stats draw(const sac_drawing *drawing) { return draw_on(screen, drawing); }

static uint32_t pixel(uint32_t x, uint32_t y)
{
    uint32_t colour;
    memcpy(&colour, sac_offscreen_pixels(screen) + 4 * ((size_t)y * WIDTH + x), sizeof colour);
    return colour;
}

static int channel_gap(uint32_t a, uint32_t b)
{
    int most = 0;
    for (int i = 0; i < 24; i += 8) {
        int gap = abs((int)(a >> i & 255) - (int)(b >> i & 255));
        if (gap > most) most = gap;
    }
    return most;
}

static void assert_colour(uint32_t x, uint32_t y, uint32_t wanted, int most)
{
    if (channel_gap(pixel(x, y), wanted) > most)
        fail_msg("pixel %u, %u is %08x, expected %08x", x, y, pixel(x, y), wanted);
}

static sac_instance body_at(uint32_t model, float x, float y, float z, float scale, uint32_t colour)
{
    return (sac_instance){
        .rotation = {0, 0, 0, 1},
        .position = {x, y, z},
        .scale = scale,
        .model = model,
        .colour = colour,
    };
}

static uint32_t seed;
static float chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static void scatter(sac_instance *out, uint32_t count)
{
    seed = 7;
    for (uint32_t i = 0; i < count; i++) {
        float q[4], length = 0;
        for (int k = 0; k < 4; k++) q[k] = chance() - 0.5f, length += q[k] * q[k];
        float x = chance() * 16 - 8, y = chance() * 3 - 0.8f, z = -1 - chance() * 16;
        out[i] = body_at(i % 3 == 0   ? ball_model
                         : i % 3 == 1 ? knot_model
                                      : box_model,
                         x, y, z, 0.3f, 0xFF000000u | (seed >> 7 & 0xFFFFFF));
        for (int k = 0; k < 4; k++) out[i].rotation[k] = q[k] / sqrtf(length);
        out[i].gloss = chance();
        if (i % 11 == 3) out[i].colour &= 0x80FFFFFFu;
    }
}

/* ---- what comes out where ---- */

static void empty_drawing_is_sky(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    drawing.sky.grid = false;
    sac_screen_stats stats = draw(&drawing);
    assert_int_equal(stats.instances, 0);
    assert_int_equal(stats.width, WIDTH);
    assert_int_equal(stats.height, HEIGHT);
    assert_colour(WIDTH / 2, HEIGHT / 2, drawing.sky.horizon, 3);
    assert_colour(WIDTH / 2, HEIGHT - 1, drawing.sky.ground, 2);
    /* Straight up is the zenith's colour. */
    eye.rotation[0] = eye.rotation[3] = sqrtf(0.5f);
    draw(&drawing);
    assert_colour(WIDTH / 2, HEIGHT / 2, drawing.sky.zenith, 1);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) assert_int_equal(pixel(i % WIDTH, i / WIDTH) >> 24, 255);
}

static void glow_keeps_its_colour(void **state)
{
    (void)state;
    static const uint32_t colours[] = {0xFF000000u, 0xFFFFFFFFu, 0xFF808080u, 0xFF0A0B0Cu, 0xFFB27200u,
                                       0xFF42E4F0u, 0xFF0000FFu, 0xFF00FF00u, 0xFFFF0000u, 0xFF7F3F1Fu};
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        sac_instance body = body_at(ball_model, 0, 0, -2, 1, colours[i]);
        body.glow = 1;
        drawing.instances = &body, drawing.instance_count = 1;
        draw(&drawing);
        assert_colour(WIDTH / 2, HEIGHT / 2, colours[i], 1);
    }
}

static void mesh_covers_its_pixels(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    const uint32_t red = 0xFF0000FFu;
    /* A sphere of radius 0.5 seen from 2 m: tan(asin(1/4)) * 120 = 31.0 pixels. */
    sac_instance body = body_at(ball_model, 0, 0, -2, 1, red);
    body.glow = 1;
    drawing.instances = &body, drawing.instance_count = 1;
    draw(&drawing);
    uint32_t count = 0;
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            float dx = (float)x + 0.5f - WIDTH / 2, dy = (float)y + 0.5f - HEIGHT / 2,
                  r = sqrtf(dx * dx + dy * dy);
            bool covered = channel_gap(pixel(x, y), red) < 60;
            count += covered;
            if (r < 29.5f) assert_true(covered);
            if (r > 32.5f) assert_false(covered);
        }
    assert_in_range(count, 2800, 3120);
    /* Right is right and up is up. */
    body.position[0] = 0.5f, body.position[1] = 0.5f;
    draw(&drawing);
    assert_colour(WIDTH / 2 + 30, HEIGHT / 2 - 30, red, 1);
    assert_true(channel_gap(pixel(WIDTH / 2 - 30, HEIGHT / 2 + 30), red) > 60);
}

static void ball_is_exact(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    drawing.sky.grid = false;
    draw(&drawing);
    static uint32_t before[WIDTH * HEIGHT];
    memcpy(before, sac_offscreen_pixels(screen), sizeof before);
    sac_ball ball = {{0.4f, -0.3f, -2}, 0.5f, 0xFF2030C0u};
    drawing.balls = &ball, drawing.ball_count = 1;
    draw(&drawing);
    /* A sight line meets the sphere exactly when it passes the centre within the radius. */
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            vec3 ray = {((float)x + 0.5f - WIDTH / 2) / 120, -((float)y + 0.5f - HEIGHT / 2) / 120, -1}, off;
            glm_vec3_normalize(ray);
            glm_vec3_cross(ray, ball.centre, off);
            float pixels = (ball.radius - glm_vec3_norm(off)) * 120 / 2;
            bool drawn = channel_gap(pixel(x, y), before[y * WIDTH + x]) > 24;
            if (pixels > 1.5f) assert_true(drawn);
            if (pixels < -1.5f) assert_false(drawn);
        }
}

static void nearer_hides_farther(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    const uint32_t red = 0xFF0000FFu, green = 0xFF00FF00u;
    sac_instance bodies[2] = {body_at(ball_model, 0, 0, -3, 1, red), body_at(box_model, 0, 0, -6, 3, green)};
    bodies[0].glow = bodies[1].glow = 1;
    drawing.instances = bodies, drawing.instance_count = 2;
    draw(&drawing);
    assert_colour(WIDTH / 2, HEIGHT / 2, red, 1);
    assert_colour(WIDTH / 2 + 25, HEIGHT / 2, green, 1);
    /* A ball with its front 2.6 m away stands before the mesh, one with its front at 2.9 m does not. */
    sac_ball ball = {{0, 0, -3}, 0.6f, 0xFFFF0000u};
    drawing.balls = &ball, drawing.ball_count = 1;
    draw(&drawing);
    assert_true(channel_gap(pixel(WIDTH / 2, HEIGHT / 2), red) > 40);
    ball.radius = 0.1f;
    draw(&drawing);
    assert_colour(WIDTH / 2, HEIGHT / 2, red, 1);
}

static void ghost_lets_through(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_instance bodies[2] = {body_at(box_model, 0, 0, -6, 3, 0xFF000000u),
                              body_at(ball_model, 0, 0, -3, 1, 0x80FFFFFFu)};
    bodies[0].glow = bodies[1].glow = 1;
    drawing.instances = bodies, drawing.instance_count = 2;
    draw(&drawing);
    /* Half of white's light is sRGB 188. */
    assert_colour(WIDTH / 2, HEIGHT / 2, 0xFFBCBCBCu, 3);
}

static void shadow_falls(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    eye.position[1] = 1;
    sac_drawing drawing = plain_drawing(&eye, 1);
    drawing.sky.sun[0] = 0, drawing.sky.sun[1] = 1, drawing.sky.sun[2] = 0;
    drawing.sky.ground_height = 0;
    drawing.sky.focus[2] = -3;
    /* 60 degrees to each side off the grid's lines; straight below the body and a metre beside it. */
    sac_instance body = body_at(box_model, 0.5f, 0.9f, -2.5f, 0.5f, 0xFFFFFFFFu);
    drawing.instances = &body, drawing.instance_count = 1;
    draw(&drawing);
    const uint32_t x = WIDTH / 2 + 24, y = HEIGHT / 2 + 48; /* (0.5, 0, -2.5) */
    uint32_t dark = pixel(x, y), lit = pixel(WIDTH / 2 - 24, y);
    assert_true((dark & 255) + 25 < (lit & 255));
    /* The same from a solid ball, not from a bubble, not from what shines, not without a map. */
    sac_ball ball = {{0.5f, 0.9f, -2.5f}, 0.3f, 0xFFFFFFFFu};
    drawing.instance_count = 0;
    drawing.balls = &ball, drawing.ball_count = 1;
    draw(&drawing);
    assert_colour(x, y, dark, 8);
    ball.colour = 0x80FFFFFFu;
    draw(&drawing);
    assert_colour(x, y, lit, 6);
    drawing.ball_count = 0, drawing.instance_count = 1;
    body.glow = 1;
    draw(&drawing);
    assert_colour(x, y, lit, 6);
}

static void line_and_panel_are_seen(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    /* One end behind the eye: the line must still come in from the edge. */
    sac_line lines[2] = {{{-1, 0.5f, -2}, 0xFF0000FFu, {1, 0.5f, -2}, -4},
                         {{0.2f, -0.4f, 1}, 0xFFFF0000u, {0, 0, -2}, -4}};
    drawing.lines = lines, drawing.line_count = 2;
    draw(&drawing);
    assert_colour(WIDTH / 2 + 20, HEIGHT / 2 - 30, 0xFF0000FFu, 2);
    assert_true(channel_gap(pixel(WIDTH / 2 + 20, HEIGHT / 2 - 36), 0xFF0000FFu) > 60);
    assert_colour(WIDTH / 2 + 1, HEIGHT / 2 + 3, 0xFFFF0000u, 90);

    drawing.line_count = 0;
    sac_canvas canvas = {0};
    assert_true(sac_canvas_rect(&canvas, 10, 20, 100, 40, 0xFF336699u));
    assert_true(sac_canvas_text(&canvas, 20, 30, 28, 0xFFFFFFFFu, "Hm"));
    drawing.panels[0] = (sac_panel){.canvas = &canvas, .x = 5, .y = 5};
    drawing.panel_count = 1;
    draw(&drawing);
    assert_colour(100, HEIGHT - 1 - 60, 0xFF336699u, 1);
    assert_colour(14, HEIGHT - 1 - 24, pixel(13, HEIGHT - 1 - 24), 60);
    assert_true(channel_gap(pixel(12, HEIGHT - 1 - 40), 0xFF336699u) > 10); /* left of it */
    uint32_t ink = 0;
    for (uint32_t y = HEIGHT - 66; y < HEIGHT - 25; y++)
        for (uint32_t x = 15; x < 115; x++) ink += channel_gap(pixel(x, y), 0xFFFFFFFFu) < 30;
    assert_in_range(ink, 80, 500);

    /* The same canvas in the world, a metre wide at two metres: a hundred units are 60 pixels. */
    drawing.panels[0] = (sac_panel){
        .canvas = &canvas,
        .in_world = true,
        .position = {-0.6f, -0.4f, -2},
        .rotation = {0, 0, 0, 1},
        .unit = 0.01f,
    };
    draw(&drawing);
    assert_colour(WIDTH / 2 + 25, HEIGHT / 2 + 9, 0xFF336699u, 1);
    assert_true(channel_gap(pixel(WIDTH / 2 + 34, HEIGHT / 2 + 9), 0xFF336699u) > 10);
    sac_canvas_fini(&canvas);
}

/* ---- two views ---- */

static void two_passes_equal_multiview(void **state)
{
    (void)state;
    static sac_instance bodies[300];
    scatter(bodies, 300);
    sac_eye eyes[2] = {plain_eye(WIDTH / 2), plain_eye(WIDTH / 2)};
    eyes[0].position[0] = -0.032f, eyes[1].position[0] = 0.032f;
    sac_drawing drawing = plain_drawing(eyes, 2);
    drawing.instances = bodies, drawing.instance_count = 300;
    sac_ball balls[2] = {{{0.3f, 0, -1}, 0.2f, 0xFF30C020u}, {{-0.3f, 0.2f, -1}, 0.3f, 0x60FFFFFFu}};
    sac_line line = {{-1, -0.2f, -1.5f}, 0xFF0000FFu, {1, 0.4f, -1.5f}, 6};
    drawing.balls = balls, drawing.ball_count = 2;
    drawing.lines = &line, drawing.line_count = 1;
    sac_canvas canvas = {0};
    sac_canvas_text(&canvas, 4, 4, 16, 0xFF000000u, "both eyes");
    drawing.panels[0] = (sac_panel){.canvas = &canvas, .x = 2, .y = 2};
    drawing.panel_count = 1;

    sac_offscreen *twice;
    sac_renderer_def def = plain_def();
    def.multiview = false;
    sac_error error;
    assert_int_equal(sac_offscreen_create(&def, WIDTH, HEIGHT, &twice, &error), SAC_OK);
    sac_screen_stats one = draw(&drawing), two = draw_on(twice, &drawing);
    assert_false(two.multiview);
    if (!one.multiview) print_message("this driver draws two views in two passes only\n");
    assert_int_equal(one.width, WIDTH / 2);
    const uint8_t *a = sac_offscreen_pixels(screen), *b = sac_offscreen_pixels(twice);
    uint32_t off = 0, halves = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT * 4; i++) off += abs(a[i] - b[i]) > 3;
    assert_in_range(off, 0, WIDTH * HEIGHT / 500);
    /* The eyes do not see the same, but the text is where it is in both. */
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH / 2; x++)
            halves += channel_gap(pixel(x, y), pixel(x + WIDTH / 2, y)) > 20;
    assert_true(halves > 500);
    uint32_t ink = 0;
    for (uint32_t y = HEIGHT - 20; y < HEIGHT - 4; y++)
        for (uint32_t x = 4; x < 80; x++)
            ink += channel_gap(pixel(x, y), 0) < 110 && channel_gap(pixel(x + WIDTH / 2, y), 0) < 110;
    assert_true(ink > 20);
    sac_canvas_fini(&canvas);
    sac_offscreen_destroy(&twice);
}

static void views_change_and_come_back(void **state)
{
    (void)state;
    sac_eye wide = plain_eye(WIDTH), eyes[2] = {plain_eye(WIDTH / 2), plain_eye(WIDTH / 2)};
    sac_drawing one = plain_drawing(&wide, 1), two = plain_drawing(eyes, 2);
    sac_instance body = body_at(knot_model, 0, 0, -2, 1, 0xFF40A0F0u);
    one.instances = two.instances = &body, one.instance_count = two.instance_count = 1;
    draw(&one);
    static uint8_t before[WIDTH * HEIGHT * 4];
    memcpy(before, sac_offscreen_pixels(screen), sizeof before);
    assert_int_equal(draw(&two).width, WIDTH / 2);
    assert_true(memcmp(before, sac_offscreen_pixels(screen), sizeof before));
    assert_int_equal(draw(&one).width, WIDTH);
    assert_memory_equal(before, sac_offscreen_pixels(screen), sizeof before);
}

/* ---- many bodies ---- */

static void two_thousand_bodies(void **state)
{
    (void)state;
    static sac_instance bodies[2000];
    scatter(bodies, 2000);
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    drawing.instances = bodies, drawing.instance_count = 2000;
    sac_screen_stats first = draw(&drawing);
    draw(&drawing);
    draw(&drawing);
    static uint8_t before[WIDTH * HEIGHT * 4];
    memcpy(before, sac_offscreen_pixels(screen), sizeof before);
    counted_memory count = {0};
    counted_memory_begin(&count);
    sac_screen_stats last = draw(&drawing);
    sac_set_allocator(NULL);
    assert_int_equal(count.calls, 0); /* streamed, nothing made anew */
    assert_memory_equal(before, sac_offscreen_pixels(screen), sizeof before);
    assert_int_equal(first.triangles, last.triangles);
    assert_in_range(last.instances, 500, 2000);
    /* One draw a model and level: of three models, solid, ghost and shadow, and sky and ground. */
    assert_in_range(last.draws, 5, 3 * 3 * SAC_GALLERY_LEVELS + 2);
    print_message("2000 bodies: %.3f ms to prepare (validation on), %u draws, %u triangles\n",
                  (double)last.prepare_ns / 1e6, last.draws, last.triangles);
}

static void levels_drop_with_distance(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_instance body = body_at(knot_model, 0, 0, -1, 1, 0xFF40A0F0u);
    drawing.instances = &body, drawing.instance_count = 1;
    uint32_t last = UINT32_MAX, steps = 0;
    for (float z = 1; z < 300; z *= 1.7f) {
        body.position[2] = -z;
        uint32_t triangles = draw(&drawing).triangles;
        assert_true(triangles > 0 && triangles <= last);
        steps += triangles < last;
        last = triangles;
    }
    assert_in_range(steps, 3, SAC_GALLERY_LEVELS);
    /* Behind, and far off to the side, nothing is drawn. */
    body.position[2] = 3;
    assert_int_equal(draw(&drawing).instances, 0);
    body.position[2] = -3, body.position[0] = 9;
    assert_int_equal(draw(&drawing).instances, 0);
    /* Just outside with its middle, it is. */
    body.position[0] = 4.3f;
    assert_int_equal(draw(&drawing).instances, 1);
}

/* ---- bad input ---- */

static void refused(const sac_drawing *drawing, sac_result code, const char *word)
{
    sac_screen_stats stats;
    sac_error error = {0};
    assert_int_equal(sac_offscreen_draw(screen, drawing, &stats, &error), code);
    if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
    assert_int_equal(heard, 0);
}

static void bad_drawings_are_refused(void **state)
{
    (void)state;
    sac_eye eyes[3] = {plain_eye(WIDTH), plain_eye(WIDTH), plain_eye(WIDTH)};
    const sac_drawing fine = plain_drawing(eyes, 1);
    sac_instance bodies[2] = {body_at(box_model, 0, 0, -2, 1, 0xFFFFFFFFu),
                              body_at(box_model, 0, 0, -2, 1, 0xFFFFFFFFu)};
    sac_drawing d = fine;
    d.instances = bodies, d.instance_count = 2;
    draw(&d);

    bodies[1].model = 1000;
    refused(&d, SAC_ERROR_ARGUMENT, "instance 1 is of model 1000");
    bodies[1].model = box_model;
    float *numbers[] = {&bodies[1].rotation[2], &bodies[1].position[1], &bodies[1].scale, &bodies[1].gloss,
                        &bodies[1].glow};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        float kept = *numbers[i];
        *numbers[i] = i % 2 ? NAN : INFINITY;
        refused(&d, SAC_ERROR_ARGUMENT, "instance 1 is not finite");
        *numbers[i] = kept;
    }
    d.instances = NULL;
    refused(&d, SAC_ERROR_ARGUMENT, "instances");
    d.instances = bodies, d.instance_count = UINT32_MAX;
    refused(&d, SAC_ERROR_LIMIT, "instances");

    d = fine, d.view_count = 0;
    refused(&d, SAC_ERROR_ARGUMENT, "0 views");
    d.view_count = 3;
    refused(&d, SAC_ERROR_ARGUMENT, "3 views");
    d = fine, d.views = NULL;
    refused(&d, SAC_ERROR_ARGUMENT, "views");
    d = fine;
    eyes[0].position[1] = NAN;
    refused(&d, SAC_ERROR_ARGUMENT, "pose");
    eyes[0] = plain_eye(WIDTH), eyes[0].rotation[3] = 0;
    refused(&d, SAC_ERROR_ARGUMENT, "pose");
    eyes[0] = plain_eye(WIDTH), eyes[0].fov_left = 1.2f;
    refused(&d, SAC_ERROR_ARGUMENT, "field of view");
    eyes[0].fov_left = -3;
    refused(&d, SAC_ERROR_ARGUMENT, "field of view");
    eyes[0] = plain_eye(WIDTH);
    d.near_plane = 0;
    refused(&d, SAC_ERROR_ARGUMENT, "near plane");
    d = fine;
    memset(d.sky.sun, 0, sizeof d.sky.sun);
    refused(&d, SAC_ERROR_ARGUMENT, "sun");
    d = fine, d.sky.focus[0] = NAN;
    refused(&d, SAC_ERROR_ARGUMENT, "sky");

    sac_ball ball = {{0, 0, NAN}, 1, 0xFFFFFFFFu};
    sac_line line = {{0, 0, 0}, 0xFFFFFFFFu, {0, INFINITY, 0}, 1};
    d = fine, d.balls = &ball, d.ball_count = 1;
    refused(&d, SAC_ERROR_ARGUMENT, "ball 0");
    d.ball_count = 0x7FFFFFFF;
    refused(&d, SAC_ERROR_LIMIT, "balls");
    d = fine, d.lines = &line, d.line_count = 1;
    refused(&d, SAC_ERROR_ARGUMENT, "line 0");
    d = fine, d.panel_count = 1;
    refused(&d, SAC_ERROR_ARGUMENT, "panel 0");
    d.panel_count = 100;
    refused(&d, SAC_ERROR_LIMIT, "panels");
    draw(&fine); /* and it still draws */
}

static void odd_drawings_are_drawn(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing d = plain_drawing(&eye, 1);
    /* Inside a body and a ball, of no size, mirrored, at the ends of the world. */
    sac_instance bodies[] = {
        body_at(ball_model, 0, 0, 0, 1, 0xFFFFFFFFu),
        body_at(knot_model, 0, 0, -1, 0, 0xFFFFFFFFu),
        body_at(knot_model, 0, 0, -1, -1, 0xFFFFFFFFu),
        body_at(box_model, 1e30f, 0, -1, 1, 0xFFFFFFFFu),
        body_at(box_model, 0, 0, -1e18f, 1e18f, 0x40FFFFFFu),
        body_at(box_model, 0, 0, -2, 1, 0),
    };
    sac_ball balls[] = {
        {{0, 0, 0}, 1, 0xFFFFFFFFu}, {{0, 0, -1}, 0, 0xFFFFFFFFu}, {{0, 0, -1}, -1, 0x80FFFFFFu}};
    sac_line lines[] = {{{0, 0, 0}, 0xFFFFFFFFu, {0, 0, 0}, 1},
                        {{0, 0, -1}, 0xFFFFFFFFu, {0, 0, -1}, -1},
                        {{0, 0, 1}, 0xFFFFFFFFu, {0, 1, 1}, 3}};
    d.instances = bodies, d.instance_count = sizeof bodies / sizeof *bodies;
    d.balls = balls, d.ball_count = 3;
    d.lines = lines, d.line_count = 3;
    draw(&d);
    d.sky.shadow_reach = 0;
    draw(&d);
    d.sky.sun[0] = d.sky.sun[1] = 0, d.sky.sun[2] = -1;
    d.sky.shadow_reach = 3;
    draw(&d);
}

static void bad_definitions_are_refused(void **state)
{
    (void)state;
    sac_offscreen *o = screen;
    sac_error error;
    sac_renderer_def def = plain_def();
    def.samples = 3;
    assert_int_equal(sac_offscreen_create(&def, 8, 8, &o, &error), SAC_ERROR_ARGUMENT);
    assert_null(o);
    def = plain_def(), def.gallery = NULL;
    assert_int_equal(sac_offscreen_create(&def, 8, 8, &o, &error), SAC_ERROR_ARGUMENT);
    def = plain_def(), def.device = "no such device";
    assert_int_equal(sac_offscreen_create(&def, 8, 8, &o, &error), SAC_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no such device"));
    assert_true(strlen(error.remedy) > 0);
    def = plain_def();
    assert_int_equal(sac_offscreen_create(&def, 0, 8, &o, &error), SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_offscreen_create(&def, 8, 1u << 30, &o, &error), SAC_ERROR_ARGUMENT);

    sac_gallery *own;
    assert_int_equal(sac_gallery_create(&own, &error), SAC_OK);
    /* A gallery with nothing in it still gives a picture. */
    def.gallery = own, def.samples = 1, def.shadow_size = 0;
    assert_int_equal(sac_offscreen_create(&def, 16, 16, &o, &error), SAC_OK);
    sac_eye eye = plain_eye(HEIGHT);
    sac_drawing d = plain_drawing(&eye, 1);
    sac_screen_stats stats = draw_on(o, &d);
    assert_int_equal(stats.samples, 1);
    sac_instance body = body_at(0, 0, 0, -1, 1, 0xFFFFFFFFu);
    d.instances = &body, d.instance_count = 1;
    assert_int_equal(sac_offscreen_draw(o, &d, &stats, &error), SAC_ERROR_ARGUMENT);
    sac_offscreen_destroy(&o);
    sac_offscreen_destroy(&o);
    sac_gallery_destroy(&own);
}

static void made_twice_draws_the_same(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing d = plain_drawing(&eye, 1);
    sac_instance body = body_at(knot_model, 0, 0, -2, 1, 0xFF40A0F0u);
    d.instances = &body, d.instance_count = 1;
    draw(&d);
    sac_renderer_def def = plain_def();
    for (int i = 0; i < 2; i++) {
        sac_offscreen *again;
        sac_error error;
        assert_int_equal(sac_offscreen_create(&def, WIDTH, HEIGHT, &again, &error), SAC_OK);
        draw_on(again, &d);
        assert_memory_equal(sac_offscreen_pixels(screen), sac_offscreen_pixels(again), WIDTH * HEIGHT * 4);
        sac_offscreen_destroy(&again);
    }
}

static void no_display_is_said(void **state)
{
    (void)state;
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    assert_false(sac_window_possible());
    sac_renderer_def def = plain_def();
    sac_window *window = (sac_window *)&def;
    sac_error error;
    assert_int_equal(sac_window_open(&def, "none", 100, 100, &window, &error), SAC_ERROR_UNSUPPORTED);
    assert_null(window);
    assert_non_null(strstr(error.message, "display"));
    assert_true(strlen(error.remedy) > 0);
    sac_window_close(&window);
}

static uint32_t add(const char *name)
{
    sac_mesh *mesh;
    sac_error error;
    uint32_t model = UINT32_MAX;
    if (sac_mesh_builtin(name, 0, &mesh, &error) != SAC_OK ||
        sac_gallery_add_mesh(gallery, mesh, &model, &error) != SAC_OK) {
        fprintf(stderr, "%s: %s\n", name, error.message);
        exit(1);
    }
    sac_mesh_destroy(&mesh);
    return model;
}

int main(void)
{
    hold_driver();
    sac_error error = {0};
    if (sac_gallery_create(&gallery, &error) != SAC_OK) return 1;
    ball_model = add("sphere"), knot_model = add("knot"), box_model = add("box");
    sac_renderer_def def = plain_def();
    sac_result result = sac_offscreen_create(&def, WIDTH, HEIGHT, &screen, &error);
    if (result == SAC_ERROR_UNSUPPORTED) {
        printf("SKIPPED: nothing was tested: %s; %s\n", error.message, error.remedy);
        sac_gallery_destroy(&gallery);
        return 77;
    }
    if (result != SAC_OK) {
        printf("%s; %s\n", error.message, error.remedy);
        return 1;
    }
    heard = 0; /* that the layer is missing was said */
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing nothing = plain_drawing(&eye, 1);
    sac_screen_stats stats = {0};
    if (sac_offscreen_draw(screen, &nothing, &stats, &error) != SAC_OK) return 1;
    printf("%s, %u samples%s%s\n", stats.device, stats.samples, stats.multiview ? ", multiview" : "",
           stats.validation ? "" : ", NOT VALIDATED: install vulkan-validationlayers");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_drawing_is_sky),
        cmocka_unit_test(glow_keeps_its_colour),
        cmocka_unit_test(mesh_covers_its_pixels),
        cmocka_unit_test(ball_is_exact),
        cmocka_unit_test(nearer_hides_farther),
        cmocka_unit_test(ghost_lets_through),
        cmocka_unit_test(shadow_falls),
        cmocka_unit_test(line_and_panel_are_seen),
        cmocka_unit_test(two_passes_equal_multiview),
        cmocka_unit_test(views_change_and_come_back),
        cmocka_unit_test(two_thousand_bodies),
        cmocka_unit_test(levels_drop_with_distance),
        cmocka_unit_test(bad_drawings_are_refused),
        cmocka_unit_test(odd_drawings_are_drawn),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(made_twice_draws_the_same),
        cmocka_unit_test(no_display_is_said),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sac_offscreen_destroy(&screen);
    sac_gallery_destroy(&gallery);
    if (heard) printf("%u messages of the validation layer\n", heard);
    return failed || heard;
}
