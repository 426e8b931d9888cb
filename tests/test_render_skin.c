/* Bodies that bend, drawn into memory with the validation layer on: a skin whose joints stand still is the
 * mesh it was made of, one that moves is drawn where its points are, lit as its surface now lies, in the
 * picture and in the shadow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "deform/shape_matching.h"
#include "tests/driver_play.h"
#include "xr/offscreen.h"
#include "xr/renderer_internal.h"
#include "counted_memory.h"

enum { WIDTH = 320, HEIGHT = 240, BODIES = 300 };

static sac_mesh *knot, *ball; /* what the skins are made of: a joint a vertex, and a joint in all */
static sac_gallery *gallery;
static uint32_t knot_mesh, knot_skin, ball_mesh, ball_skin;
static sac_offscreen *screen;
static uint32_t picture[2][WIDTH * HEIGHT];

static sac_eye plain_eye(uint32_t width)
{
    const float side = atanf((float)width / HEIGHT), up = atanf(1.0f);
    return (sac_eye){
        .rotation = {0, 0, 0, 1}, .fov_left = -side, .fov_right = side, .fov_up = up, .fov_down = -up};
}

static sac_drawing plain_drawing(const sac_eye *eyes, uint32_t count)
{
    sac_drawing drawing = sac_default_drawing();
    drawing.views = eyes, drawing.view_count = count;
    drawing.sky.ground_height = -1;
    drawing.sky.focus[2] = -2;
    return drawing;
}

static sac_screen_stats draw_on(sac_offscreen *on, const sac_drawing *drawing, uint32_t *out)
{
    sac_screen_stats stats;
    sac_error error = {0};
    if (sac_offscreen_draw(on, drawing, &stats, &error) != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(stats.messages, 0);
    assert_int_equal(heard, 0);
    memcpy(out, sac_offscreen_pixels(on), sizeof picture[0]);
    return stats;
}
static sac_screen_stats draw(const sac_drawing *drawing, uint32_t *out)
{
    return draw_on(screen, drawing, out);
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

static uint32_t pixels_off(const uint32_t *a, const uint32_t *b, int most)
{
    uint32_t off = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) off += channel_gap(a[i], b[i]) > most;
    return off;
}

static sac_instance stiff(uint32_t model, const float at[3])
{
    sac_instance in = {
        .rotation = {0, 0, 0, 1}, .scale = 1, .model = model, .colour = 0xFF5B8AD0u, .gloss = 0.5f};
    memcpy(in.position, at, sizeof in.position);
    return in;
}

static sac_skinned soft_one(uint32_t model, const float at[3])
{
    sac_skinned in = {.model = model, .colour = 0xFF5B8AD0u, .gloss = 0.5f, .radius = 2};
    memcpy(in.origin, at, sizeof in.origin);
    memcpy(in.centre, at, sizeof in.centre);
    return in;
}

static void joint_move(sac_joint out, float x, float y, float z)
{
    const float rows[3][4] = {{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}};
    memcpy(out, rows, sizeof rows);
}

/* A joint to each vertex of the knot, there where it is at rest. */
static sac_joint *still_joints(uint32_t count)
{
    sac_joint *joints = malloc(count * sizeof *joints);
    assert_non_null(joints);
    for (uint32_t i = 0; i < count; i++) joint_move(joints[i], 0, 0, 0);
    return joints;
}

static void still_joints_are_the_mesh(void **state)
{
    (void)state;
    const float at[3] = {0.2f, -0.1f, -2};
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_instance mesh = stiff(knot_mesh, at);
    mesh.glow = 1; /* edges are not smoothed alike */
    drawing.instances = &mesh, drawing.instance_count = 1;
    sac_screen_stats one = draw(&drawing, picture[0]);
    sac_joint *joints = still_joints(knot->vertex_count);
    sac_skinned skin = soft_one(knot_skin, at);
    skin.glow = 1;
    drawing.instance_count = 0;
    drawing.skinned = &skin, drawing.skinned_count = 1;
    drawing.joints = (const sac_joint *)joints, drawing.joint_count = knot->vertex_count;
    sac_screen_stats two = draw(&drawing, picture[1]);
    assert_int_equal(one.triangles, two.triangles);
    assert_int_equal(two.instances, 1);
    assert_in_range(pixels_off(picture[0], picture[1], 3), 0, 8);
    /* One can see it at all. */
    drawing.skinned_count = 0;
    draw(&drawing, picture[0]);
    assert_true(pixels_off(picture[0], picture[1], 30) > 2000);
    free(joints);
}

/* A knot of soft matter thrown against its own inertia: points go where shape matching takes them. The same
 * points as a mesh made anew must give the same outline. */
static void bent_body_is_where_its_points_are(void **state)
{
    (void)state;
    sac_soft_def def = sac_default_soft_def();
    sac_soft_model *model;
    sac_soft *soft;
    sac_error error;
    sac_transform pose = {.rotation = {0, 0, 0, 1}, .translation = {0, 0.1f, -2}, .scale = 1};
    assert_int_equal(sac_soft_model_create((const float(*)[3])knot->vertices, NULL, knot->vertex_count, &def,
                                           &model, &error),
                     SAC_OK);
    assert_int_equal(sac_soft_create(model, &pose, &soft, &error), SAC_OK);
    for (uint32_t i = 0; i < knot->vertex_count; i++)
        if (knot->vertices[i][0] > 0.1f)
            assert_int_equal(sac_soft_push(soft, i, (float[3]){0, 3, -2}, &error), SAC_OK);
    sac_soft_step_def step = {.dt = 1 / 90.0f};
    for (int i = 0; i < 8; i++) assert_int_equal(sac_soft_step(&soft, 1, &step, NULL, NULL), SAC_OK);

    sac_soft_points now = sac_soft_view(soft);
    sac_joint *joints = still_joints(now.count);
    sac_mesh *moved;
    float(*vertices)[3] = malloc(now.count * sizeof *vertices);
    double far = 0;
    for (uint32_t i = 0; i < now.count; i++) {
        const float *r = knot->vertices[i];
        const uint32_t at = now.place[i];
        vertices[i][0] = now.x[at], vertices[i][1] = now.y[at], vertices[i][2] = now.z[at];
        joint_move(joints[i], now.x[at] - r[0], now.y[at] - r[1], now.z[at] - r[2]);
        far = fmax(far, fabs(now.y[at] - 0.1 - r[1]));
    }
    assert_true(far > 0.1); /* it is bent indeed */
    sac_gallery *other;
    sac_offscreen *there;
    uint32_t model_moved;
    assert_int_equal(sac_mesh_create((const float(*)[3])vertices, now.count,
                                     (const uint32_t(*)[3])knot->triangles, knot->triangle_count, "moved",
                                     &moved, &error),
                     SAC_OK);
    assert_int_equal(sac_gallery_create(&other, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_mesh(other, moved, &model_moved, &error), SAC_OK);
    sac_renderer_def renderer = validated_def(other, 512);
    renderer.level_pixels = 0;
    assert_int_equal(sac_offscreen_create(&renderer, WIDTH, HEIGHT, &there, &error), SAC_OK);

    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_instance mesh = stiff(model_moved, (float[3]){0, 0, 0});
    mesh.glow = 1;
    drawing.instances = &mesh, drawing.instance_count = 1;
    draw_on(there, &drawing, picture[0]);
    sac_skinned skin = soft_one(knot_skin, (float[3]){0, 0, 0});
    skin.centre[2] = -2, skin.glow = 1;
    drawing.instance_count = 0;
    drawing.skinned = &skin, drawing.skinned_count = 1;
    drawing.joints = (const sac_joint *)joints, drawing.joint_count = now.count;
    draw(&drawing, picture[1]);
    uint32_t off = pixels_off(picture[0], picture[1], 40);
    assert_in_range(off, 0, 120); /* of about 5,000: the skin may take a coarser level */
    sac_offscreen_destroy(&there);
    sac_gallery_destroy(&other);
    sac_mesh_destroy(&moved);
    free(vertices);
    free(joints);
    sac_soft_destroy(&soft);
    sac_soft_model_destroy(&model);
}

/* One joint that squeezes and shears: normals must go with the cofactors, so the light falls as on a mesh of
 * that form. */
static void light_falls_on_the_bent_surface(void **state)
{
    (void)state;
    static const float rows[3][4] = {{1.5f, 0.4f, 0, 0.1f}, {0, 0.5f, 0, 0.2f}, {0, -0.3f, 0.8f, -2}};
    sac_error error;
    float(*vertices)[3] = malloc(ball->vertex_count * sizeof *vertices);
    for (uint32_t i = 0; i < ball->vertex_count; i++)
        for (int k = 0; k < 3; k++)
            vertices[i][k] = rows[k][0] * ball->vertices[i][0] + rows[k][1] * ball->vertices[i][1] +
                             rows[k][2] * ball->vertices[i][2] + rows[k][3];
    sac_mesh *moved;
    sac_gallery *other;
    sac_offscreen *there;
    uint32_t model;
    assert_int_equal(sac_mesh_create((const float(*)[3])vertices, ball->vertex_count,
                                     (const uint32_t(*)[3])ball->triangles, ball->triangle_count, "moved",
                                     &moved, &error),
                     SAC_OK);
    assert_int_equal(sac_gallery_create(&other, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_mesh(other, moved, &model, &error), SAC_OK);
    sac_renderer_def renderer = validated_def(other, 512);
    assert_int_equal(sac_offscreen_create(&renderer, WIDTH, HEIGHT, &there, &error), SAC_OK);
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_instance mesh = stiff(model, (float[3]){0, 0, 0});
    drawing.instances = &mesh, drawing.instance_count = 1;
    draw_on(there, &drawing, picture[0]);
    sac_skinned skin = soft_one(ball_skin, (float[3]){0, 0, 0});
    skin.centre[2] = -2;
    drawing.instance_count = 0;
    drawing.skinned = &skin, drawing.skinned_count = 1;
    drawing.joints = (const sac_joint *)rows, drawing.joint_count = 1;
    draw(&drawing, picture[1]);
    assert_in_range(pixels_off(picture[0], picture[1], 12), 0, 150); /* outline and highlight */
    assert_true(pixels_off(picture[0], picture[1], 5) < 800);
    sac_offscreen_destroy(&there);
    sac_gallery_destroy(&other);
    sac_mesh_destroy(&moved);
    free(vertices);
}

static void picture_lies_between_two_states(void **state)
{
    (void)state;
    sac_joint before, now;
    joint_move(before, -0.5f, 0, -2);
    joint_move(now, 0.5f, 0.4f, -2);
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_skinned skin = soft_one(ball_skin, (float[3]){0, 0, 0});
    skin.centre[2] = -2;
    drawing.skinned = &skin, drawing.skinned_count = 1, drawing.joint_count = 1;
    drawing.joints = (const sac_joint *)&now, drawing.joints_before = (const sac_joint *)&before;
    drawing.blend = 0.25f;
    draw(&drawing, picture[0]);
    joint_move(now, -0.25f, 0.1f, -2);
    drawing.joints_before = NULL;
    draw(&drawing, picture[1]);
    assert_int_equal(pixels_off(picture[0], picture[1], 0), 0);
}

static void shadow_and_both_eyes(void **state)
{
    (void)state;
    sac_eye eyes[2] = {plain_eye(WIDTH / 2), plain_eye(WIDTH / 2)};
    eyes[0].position[0] = -0.032f, eyes[1].position[0] = 0.032f;
    sac_drawing drawing = plain_drawing(eyes, 2);
    sac_joint joints[2];
    joint_move(joints[0], -0.3f, 0.2f, -1.8f);
    joint_move(joints[1], 0.3f, 0, -2.4f);
    sac_skinned skins[2] = {soft_one(ball_skin, (float[3]){0, 0, 0}),
                            soft_one(ball_skin, (float[3]){0, 0, 0})};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) skins[i].centre[k] = joints[i][k][3];
        skins[i].radius = 0.5f;
        skins[i].first_joint = (uint32_t)i;
    }
    skins[1].colour = 0x80FFFFFFu;
    drawing.skinned = skins, drawing.skinned_count = 2;
    drawing.joints = (const sac_joint *)joints, drawing.joint_count = 2;
    sac_renderer_def def = validated_def(gallery, 512);
    def.multiview = false;
    sac_offscreen *twice;
    sac_error error;
    assert_int_equal(sac_offscreen_create(&def, WIDTH, HEIGHT, &twice, &error), SAC_OK);
    draw(&drawing, picture[0]);
    draw_on(twice, &drawing, picture[1]);
    assert_in_range(pixels_off(picture[0], picture[1], 3), 0, WIDTH * HEIGHT / 500);
    sac_offscreen_destroy(&twice);
    /* The same as two stiff ones, the shadow on the ground included. */
    sac_instance pair[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = stiff(ball_mesh, (float[3]){joints[i][0][3], joints[i][1][3], joints[i][2][3]});
        pair[i].colour = skins[i].colour;
    }
    drawing.skinned_count = drawing.joint_count = 0;
    drawing.instances = pair, drawing.instance_count = 2;
    draw(&drawing, picture[1]);
    assert_in_range(pixels_off(picture[0], picture[1], 6), 0, 60);
    drawing.instance_count = 0;
    draw(&drawing, picture[1]);
    assert_true(pixels_off(picture[0], picture[1], 20) > 3000);
}

/* Eight of twelve count; what the lightest had goes to the others. */
static void heaviest_influences_are_kept(void **state)
{
    (void)state;
    enum { JOINTS = 12 };
    uint32_t first[5], joint[4 * JOINTS];
    float weight[4 * JOINTS];
    sac_mesh *mesh;
    sac_error error;
    static const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    assert_int_equal(sac_mesh_create(corners, 4, faces, 4, "corner", &mesh, &error), SAC_OK);
    for (uint32_t v = 0; v <= 4; v++) first[v] = v * JOINTS;
    for (uint32_t i = 0; i < 4 * JOINTS; i++) {
        joint[i] = i % JOINTS;
        weight[i] = (float)((i % JOINTS * 5 + 3) % JOINTS + 1) / 78;
    }
    sac_gallery *g;
    uint32_t model;
    sac_gallery_skin skin = {first, joint, weight, JOINTS, NULL};
    assert_int_equal(sac_gallery_create(&g, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_skin(g, mesh, &skin, &model, &error), SAC_OK);
    assert_int_equal(g->vertices.count, 0);
    for (size_t i = 0; i < g->skin_vertices.count; i++) {
        const sac_gallery_skin_vertex *v = &g->skin_vertices.data[i];
        uint32_t sum = 0;
        for (int k = 0; k < SAC_GALLERY_INFLUENCES; k++) {
            sum += v->weights[k];
            float wanted = (float)(JOINTS - k) / 68; /* 12 + 11 + ... + 5 */
            assert_true(fabsf((float)v->weights[k] / 65535 - wanted) < 2e-4f);
            assert_true(fabsf(weight[v->joints[k]] - (float)(JOINTS - k) / 78) < 1e-6f);
        }
        assert_int_equal(sum, 65535);
    }
    /* Skins that cannot be. */
    joint[7] = JOINTS;
    assert_int_equal(sac_gallery_add_skin(g, mesh, &skin, &model, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "joint 12 of 12"));
    joint[7] = 7, weight[3] = NAN;
    assert_int_equal(sac_gallery_add_skin(g, mesh, &skin, &model, &error), SAC_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < JOINTS; i++) weight[i] = 0;
    assert_int_equal(sac_gallery_add_skin(g, mesh, &skin, &model, &error), SAC_ERROR_ARGUMENT);
    skin.joint_count = 0;
    assert_int_equal(sac_gallery_add_skin(g, mesh, &skin, &model, &error), SAC_ERROR_EMPTY);
    sac_gallery_destroy(&g);
    sac_mesh_destroy(&mesh);
}

static void bad_skins_are_refused(void **state)
{
    (void)state;
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    sac_joint joint;
    sac_error error;
    joint_move(joint, 0, 0, -2);
    sac_skinned good = soft_one(ball_skin, (float[3]){0, 0, 0}), skin = good;
    sac_instance mesh = stiff(ball_skin, (float[3]){0, 0, -2});
    drawing.skinned = &skin, drawing.skinned_count = 1;
    drawing.joints = (const sac_joint *)&joint, drawing.joint_count = 1;
    skin.model = ball_mesh;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "no skin"));
    skin = good, skin.model = 99;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    skin = good, skin.first_joint = 1;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    skin.first_joint = UINT32_MAX;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    skin = good, skin.centre[1] = NAN;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "not finite"));
    skin = good, drawing.joints = NULL;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    drawing.joints = (const sac_joint *)&joint;
    drawing.instances = &mesh, drawing.instance_count = 1;
    assert_int_equal(sac_offscreen_draw(screen, &drawing, NULL, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "bends"));
    drawing.instance_count = 0;
    draw(&drawing, picture[0]); /* and goes on */
    /* Joints nobody can draw do no harm. */
    joint[0][0] = joint[1][3] = NAN;
    draw(&drawing, picture[0]);
    joint[0][0] = 1e30f, joint[1][3] = -1e30f;
    draw(&drawing, picture[0]);
}

/* Three hundred bodies of a joint a vertex: one draw a level, and nothing is allocated once it has been seen.
 */
static void three_hundred_bodies(void **state)
{
    (void)state;
    const uint32_t count = knot->vertex_count, total = BODIES * count;
    sac_joint *joints = still_joints(total), *before = still_joints(total);
    static sac_skinned skins[BODIES];
    for (uint32_t i = 0; i < BODIES; i++) {
        const float at[3] = {(float)(i % 20) - 9.5f, (float)(i / 20 % 5) - 1, -4 - (float)(i / 100)};
        skins[i] = soft_one(knot_skin, at);
        skins[i].radius = 0.9f;
        skins[i].first_joint = i * count;
    }
    sac_eye eye = plain_eye(WIDTH);
    sac_drawing drawing = plain_drawing(&eye, 1);
    drawing.skinned = skins, drawing.skinned_count = BODIES;
    drawing.joints = (const sac_joint *)joints, drawing.joint_count = total;
    drawing.joints_before = (const sac_joint *)before, drawing.blend = 0.5f;
    sac_screen_stats stats = draw(&drawing, picture[0]);
    for (int i = 0; i < 3; i++) draw(&drawing, picture[0]); /* each frame under way has a stream */
    counted_memory memory = {0};
    counted_memory_begin(&memory);
    stats = draw(&drawing, picture[0]);
    sac_set_allocator(NULL);
    assert_int_equal(memory.calls, 0);
    assert_in_range(stats.draws, 1, 16);
    assert_true(stats.instances > 150);
    print_message("%u bodies, %u joints: %.2f ms to prepare, %u draws\n", BODIES, total,
                  (double)stats.prepare_ns * 1e-6, stats.draws);
    free(joints);
    free(before);
}

static uint32_t add_skin(const sac_mesh *mesh, bool one_joint)
{
    sac_error error = {0};
    uint32_t model = UINT32_MAX, n = mesh->vertex_count, *first = malloc((n + 1) * sizeof *first),
             *joint = malloc(n * sizeof *joint);
    float *weight = malloc(n * sizeof *weight);
    for (uint32_t i = 0; i < n; i++) first[i] = i, joint[i] = one_joint ? 0 : i, weight[i] = 1;
    first[n] = n;
    sac_gallery_skin skin = {first, joint, weight, one_joint ? 1 : n, NULL};
    if (sac_gallery_add_skin(gallery, mesh, &skin, &model, &error) != SAC_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    free(first);
    free(joint);
    free(weight);
    return model;
}

int main(void)
{
    hold_driver();
    sac_error error = {0};
    if (sac_gallery_create(&gallery, &error) != SAC_OK ||
        sac_mesh_builtin("knot", 870, &knot, &error) != SAC_OK ||
        sac_mesh_builtin("sphere", 0, &ball, &error) != SAC_OK ||
        sac_gallery_add_mesh(gallery, knot, &knot_mesh, &error) != SAC_OK ||
        sac_gallery_add_mesh(gallery, ball, &ball_mesh, &error) != SAC_OK)
        return 1;
    knot_skin = add_skin(knot, false), ball_skin = add_skin(ball, true);
    sac_renderer_def def = validated_def(gallery, 512);
    sac_result result = sac_offscreen_create(&def, WIDTH, HEIGHT, &screen, &error);
    if (result == SAC_ERROR_UNSUPPORTED) {
        printf("SKIPPED: nothing was tested: %s; %s\n", error.message, error.remedy);
        sac_gallery_destroy(&gallery);
        sac_mesh_destroy(&knot);
        sac_mesh_destroy(&ball);
        return 77;
    }
    if (result != SAC_OK) {
        printf("%s; %s\n", error.message, error.remedy);
        return 1;
    }
    heard = 0; /* that the layer is missing was said */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_joints_are_the_mesh),
        cmocka_unit_test(bent_body_is_where_its_points_are),
        cmocka_unit_test(light_falls_on_the_bent_surface),
        cmocka_unit_test(picture_lies_between_two_states),
        cmocka_unit_test(shadow_and_both_eyes),
        cmocka_unit_test(heaviest_influences_are_kept),
        cmocka_unit_test(bad_skins_are_refused),
        cmocka_unit_test(three_hundred_bodies),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sac_offscreen_destroy(&screen);
    sac_gallery_destroy(&gallery);
    sac_mesh_destroy(&knot);
    sac_mesh_destroy(&ball);
    if (heard) printf("%u messages of the validation layer\n", heard);
    return failed || heard;
}
