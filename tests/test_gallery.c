/* The gallery and the canvas, on the CPU alone: levels, creases, surfaces of spheres, bad meshes, letters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "xr/renderer_internal.h"

static uint32_t seed;
static float chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static uint32_t add(sac_gallery *gallery, const char *name)
{
    sac_mesh *mesh;
    sac_error error;
    uint32_t model = UINT32_MAX;
    assert_int_equal(sac_mesh_builtin(name, 0, &mesh, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_mesh(gallery, mesh, &model, &error), SAC_OK);
    sac_mesh_destroy(&mesh);
    return model;
}

static void gallery_levels_hold(void **state)
{
    (void)state;
    sac_gallery *gallery;
    sac_error error;
    assert_int_equal(sac_gallery_create(&gallery, &error), SAC_OK);
    uint32_t knot_model = add(gallery, "knot"), box_model = add(gallery, "box");
    const sac_gallery_model *model = &gallery->models.data[knot_model];
    assert_in_range(model->level_count, 3, SAC_GALLERY_LEVELS);
    for (uint32_t l = 0; l < model->level_count; l++) {
        const sac_gallery_level *level = &model->levels[l];
        if (l) {
            assert_true(level->index_count < level[-1].index_count);
            assert_true(level->error >= level[-1].error && level->error > 0);
            assert_true(level->edge > level[-1].edge);
        }
        for (uint32_t i = 0; i < level->index_count; i++) {
            const sac_gallery_vertex *v =
                &gallery->vertices.data[gallery->indices.data[level->first_index + i]];
            assert_true(fabsf(glm_vec3_norm((float *)v->normal) - 1) < 1e-3f);
            assert_true(glm_vec3_distance((float *)v->position, (float *)model->centre) <
                        model->radius * 1.0001f);
        }
    }
    /* A box keeps its edges: every normal is an axis. */
    const sac_gallery_model *box = &gallery->models.data[box_model];
    for (uint32_t i = 0; i < box->levels[0].index_count; i++) {
        const float *n = gallery->vertices.data[gallery->indices.data[box->levels[0].first_index + i]].normal;
        assert_true(fmaxf(fabsf(n[0]), fmaxf(fabsf(n[1]), fabsf(n[2]))) > 0.9999f);
    }
    sac_gallery_destroy(&gallery);
}

static void spheres_become_a_surface(void **state)
{
    (void)state;
    static float spheres[40][4];
    seed = 3;
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 3; k++) spheres[i][k] = chance() - 0.5f;
        spheres[i][3] = 0.1f + 0.15f * chance();
    }
    sac_gallery *own;
    uint32_t model;
    sac_error error;
    assert_int_equal(sac_gallery_create(&own, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_spheres(own, (const float(*)[4])spheres, 40, &model, &error), SAC_OK);
    const sac_gallery_level *level = &own->models.data[model].levels[0];
    assert_true(level->index_count > 0);
    for (uint32_t t = 0; t < level->index_count; t += 3) {
        /* No triangle lies wholly inside one sphere; every corner lies on one. */
        for (int s = 0; s < 40; s++) {
            int inside = 0;
            for (uint32_t k = 0; k < 3; k++) {
                const float *p = own->vertices.data[own->indices.data[level->first_index + t + k]].position;
                inside += glm_vec3_distance((float *)p, spheres[s]) < spheres[s][3] * 0.999f;
            }
            assert_true(inside < 3);
        }
        const float *p = own->vertices.data[own->indices.data[level->first_index + t]].position;
        float nearest = 1;
        for (int s = 0; s < 40; s++)
            nearest = fminf(nearest, fabsf(glm_vec3_distance((float *)p, spheres[s]) - spheres[s][3]));
        assert_true(nearest < 1e-4f);
    }
    float bad[1][4] = {{0, NAN, 0, 1}};
    size_t vertices = own->vertices.count;
    assert_int_equal(sac_gallery_add_spheres(own, (const float(*)[4])bad, 1, &model, &error),
                     SAC_ERROR_ARGUMENT);
    assert_int_equal(sac_gallery_add_spheres(own, NULL, 0, &model, &error), SAC_ERROR_EMPTY);
    assert_int_equal(own->vertices.count, vertices);
    sac_gallery_destroy(&own);
    assert_null(own);
}

static void bad_meshes_are_refused(void **state)
{
    (void)state;
    sac_error error;
    uint32_t model;
    float points[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    uint32_t triangles[1][3] = {{0, 1, 7}};
    sac_mesh mesh = {.vertices = points, .triangles = triangles, .vertex_count = 3, .triangle_count = 1};
    sac_gallery *own;
    assert_int_equal(sac_gallery_create(&own, &error), SAC_OK);
    assert_int_equal(sac_gallery_add_mesh(own, &mesh, &model, &error), SAC_ERROR_ARGUMENT);
    triangles[0][2] = 2, points[2][1] = NAN;
    assert_int_equal(sac_gallery_add_mesh(own, &mesh, &model, &error), SAC_ERROR_ARGUMENT);
    points[2][1] = 0;
    assert_int_equal(sac_gallery_add_mesh(own, &mesh, &model, &error), SAC_ERROR_EMPTY);
    assert_int_equal(sac_gallery_add_mesh(own, NULL, &model, &error), SAC_ERROR_EMPTY);
    assert_int_equal(own->models.count + own->vertices.count + own->indices.count, 0);
    sac_gallery_destroy(&own);
}

static void text_is_measured(void **state)
{
    (void)state;
    sac_canvas canvas = {0};
    assert_true(sac_canvas_text(&canvas, 0, 0, 10, 0xFFFFFFFFu, "a b"));
    assert_int_equal(canvas.quads.count, 2); /* a space is no ink */
    float one = sac_canvas_text_width(10, "Saccade");
    assert_true(one > 30 && one < 60);
    assert_true(fabsf(sac_canvas_text_width(20, "Saccade") - 2 * one) < 1e-3f);
    assert_true(sac_canvas_text_width(10, "") == 0);
    /* What is not there, and what is not UTF-8, is a box: never read past the end. */
    assert_true(sac_canvas_text_width(10, "\xE4\xB8\xAD") == sac_canvas_text_width(10, "\xE2\x96\xA1"));
    assert_true(sac_canvas_text_width(10, "\xF0\x9F") > 0 && sac_canvas_text_width(10, "\xFF\x80") > 0);
    sac_canvas_clear(&canvas);
    assert_int_equal(canvas.quads.count, 0);
    assert_true(sac_canvas_line(&canvas, 0, 0, 3, 4, 1, 0xFFFFFFFFu));
    assert_true(fabsf(canvas.quads.data[0].w - 5) < 1e-5f && fabsf(canvas.quads.data[0].ax - 0.6f) < 1e-5f);
    sac_canvas_fini(&canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gallery_levels_hold),
        cmocka_unit_test(spheres_become_a_surface),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(text_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
