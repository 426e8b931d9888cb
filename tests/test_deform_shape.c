#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "deform/deform.h"
#include "deform/soft_internal.h"

static sac_mesh *mesh_of(const char *name, uint32_t triangles)
{
    sac_mesh *mesh;
    assert_int_equal(sac_mesh_builtin(name, triangles, &mesh, NULL), SAC_OK);
    return mesh;
}

static void check_skin(const sac_soft_shape *shape)
{
    sac_soft_skin skin = sac_soft_shape_skin(shape);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(shape);
    for (uint32_t i = 0; i < skin.vertex_count; i++) {
        double sum = 0;
        assert_true(skin.first[i + 1] > skin.first[i]);
        for (uint32_t k = skin.first[i]; k < skin.first[i + 1]; k++) {
            assert_true(skin.node[k] < parts.point_count && skin.weight[k] >= 0);
            sum += skin.weight[k];
        }
        assert_true(fabs(sum - 1) < 1e-5);
    }
    for (uint32_t i = 0; i < skin.triangle_count * 3; i++)
        assert_true(skin.triangles[i / 3][i % 3] < skin.vertex_count);
}

static void check_form(const sac_soft_shape *shape)
{
    sac_form form;
    assert_int_equal(sac_form_from_soft(&form, shape, NULL), SAC_OK);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(shape);
    sac_soft_skin skin = sac_soft_shape_skin(shape);
    assert_int_equal(form.kind, SAC_FORM_SOFT);
    assert_ptr_equal(form.soft, shape);
    assert_int_equal(form.levels, parts.tree->depth);
    for (uint32_t i = 0; i < parts.point_count + skin.vertex_count; i++) {
        const float *p = i < parts.point_count ? parts.points[i] : skin.vertices[i - parts.point_count];
        double d2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = (double)p[k] - form.ball[k];
            assert_true(p[k] - parts.thickness >= form.box.low[k] - 1e-6f * form.ball[3]);
            assert_true(p[k] + parts.thickness <= form.box.high[k] + 1e-6f * form.ball[3]);
            d2 += d * d;
        }
        assert_true(sqrt(d2) + parts.thickness <= form.ball[3] * (1 + 1e-6));
    }
    /* Nodes of a level are no farther from their points than the gap says, and deeper levels not farther. */
    for (uint32_t level = 0; level < SAC_TREE_MOST_DEPTH; level++)
        assert_true(form.level_gap[level + 1] <= form.level_gap[level] * 1.01f);
    assert_true(form.level_gap[0] <= form.ball[3] * 1.2f);
    assert_true(form.thickness > 0 && isfinite(form.thickness));
    assert_true(form.mass.volume > 0 && isfinite(form.mass.volume));
    for (int k = 0; k < 3; k++) assert_true(form.mass.inertia[k] > 0 && isfinite(form.mass.inertia[k]));
    double sum = 0;
    sac_soft *soft;
    assert_int_equal(sac_soft_create(parts.model, NULL, &soft, NULL), SAC_OK);
    for (uint32_t i = 0; i < parts.point_count; i++) sum += sac_soft_view(soft).mass[i];
    assert_true(fabs(sum - parts.mass) < 1e-4 * parts.mass);
    sac_soft_destroy(&soft);
}

static void a_mesh_is_its_points(void **state)
{
    (void)state;
    sac_mesh *mesh = mesh_of("sphere", 1200);
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.density = 500;
    sac_soft_shape *shape;
    sac_mass mass;
    sac_form form;
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_int_equal(sac_soft_shape_from_mesh(mesh, &def, 0, &shape, NULL), SAC_OK);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(shape);
    assert_int_equal(parts.point_count, mesh->vertex_count);
    assert_int_equal(parts.triangle_count, mesh->triangle_count);
    assert_null(parts.surface);
    assert_true(fabsf(parts.mass - 500 * mass.volume) < 1e-3f * parts.mass);
    for (uint32_t i = 0; i < parts.point_count; i++) { /* of a ball at the origin: outwards, unit */
        const float *n = parts.normals[i], *p = parts.points[i];
        float r = sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        assert_true(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] > 0.97f * r);
        assert_true(fabsf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-5f);
    }
    /* A quarter of an edge. */
    float edge = sqrtf(4 * 3.1416f * 0.25f / (0.433f * (float)mesh->triangle_count));
    assert_true(parts.thickness > 0.15f * edge && parts.thickness < 0.4f * edge);
    check_skin(shape), check_form(shape);
    sac_form_from_soft(&form, shape, NULL);
    for (int k = 0; k < 3; k++) /* points on the surface: 2/3 instead of 2/5 of m r2 */
        assert_true(fabsf(form.mass.inertia[k] - mass.inertia[k] * 5 / 3) < 0.1f * form.mass.inertia[k]);
    sac_soft_skin skin = sac_soft_shape_skin(shape);
    assert_int_equal(skin.vertex_count, parts.point_count);
    for (uint32_t i = 0; i < skin.vertex_count; i++) assert_int_equal(skin.node[skin.first[i]], i);
    sac_soft_shape_destroy(&shape);
    assert_null(shape);

    /* Inside out: turned over. */
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        uint32_t swap = mesh->triangles[i][0];
        mesh->triangles[i][0] = mesh->triangles[i][1], mesh->triangles[i][1] = swap;
    }
    def.points = (const float(*)[3])mesh->vertices, def.point_count = mesh->vertex_count;
    def.triangles = (const uint32_t(*)[3])mesh->triangles, def.triangle_count = mesh->triangle_count;
    def.mass = 3;
    assert_int_equal(sac_soft_shape_create(&def, &shape, NULL), SAC_OK);
    parts = sac_soft_shape_parts_of(shape);
    assert_true(parts.mass == 3);
    for (uint32_t i = 0; i < parts.point_count; i++) {
        const float *n = parts.normals[i], *p = parts.points[i];
        assert_true(n[0] * p[0] + n[1] * p[1] + n[2] * p[2] > 0);
    }
    check_form(shape);
    sac_soft_shape_destroy(&shape);
    sac_mesh_destroy(&mesh);
}

static void a_large_mesh_follows_few_points(void **state)
{
    (void)state;
    sac_mesh *mesh = mesh_of("torus", 6000);
    sac_soft_shape_def def = sac_default_soft_shape_def();
    sac_soft_shape *shape;
    sac_mass mass;
    sac_mesh_mass(mesh, &mass, NULL);
    assert_int_equal(sac_soft_shape_from_mesh(mesh, &def, 200, &shape, NULL), SAC_OK);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(shape);
    assert_int_equal(parts.point_count, 200);
    assert_non_null(parts.surface);
    assert_true(fabsf(parts.mass - def.density * mass.volume) < 1e-3f * parts.mass);
    sac_soft_skin skin = sac_soft_shape_skin(shape);
    assert_int_equal(skin.vertex_count, mesh->vertex_count);
    assert_int_equal(skin.triangle_count, mesh->triangle_count);
    assert_non_null(skin.normals);
    check_skin(shape), check_form(shape);
    /* Spread: every vertex has a point near, no two points are nearer than that. */
    double cover = 0, least = 1e9;
    for (uint32_t i = 0; i < mesh->vertex_count + 200; i++) {
        const float *p = i < mesh->vertex_count ? mesh->vertices[i] : parts.points[i - mesh->vertex_count];
        double near = 1e9;
        for (uint32_t j = 0; j < 200; j++) {
            double d2 = 0;
            for (int k = 0; k < 3; k++)
                d2 += ((double)p[k] - parts.points[j][k]) * ((double)p[k] - parts.points[j][k]);
            if (i == mesh->vertex_count + j) continue;
            near = fmin(near, sqrt(d2));
        }
        if (i < mesh->vertex_count)
            cover = fmax(cover, near);
        else
            least = fmin(least, near);
    }
    assert_true(least >= cover * 0.999);
    sac_soft_shape_destroy(&shape);
    sac_mesh_destroy(&mesh);
}

/* Joints put rest points where points are, and turn a small step at rest as the map does. */
static void joints_carry_a_skin(void **state)
{
    (void)state;
    static float points[700][3];
    static float rows[700][3][4], plain[700][3][4];
    sac_simd before = sac_simd_active();
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++) {
        sac_rng rng = sac_rng_seed(4);
        for (uint32_t i = 0; i < 700; i++)
            for (int k = 0; k < 3; k++) points[i][k] = 5 + sac_rng_range(&rng, -1, 1);
        sac_soft_shape_def def = sac_default_soft_shape_def();
        def.points = (const float(*)[3])points, def.point_count = 700 - (uint32_t)mode;
        def.soft.mode = (sac_soft_mode)mode, def.soft.clusters = mode == 1 ? 1 : 7;
        sac_soft_shape *shape;
        sac_soft *soft;
        assert_int_equal(sac_soft_shape_create(&def, &shape, NULL), SAC_OK);
        assert_int_equal(sac_soft_create(sac_soft_shape_parts_of(shape).model, NULL, &soft, NULL), SAC_OK);
        for (int turn = 0; turn < 20; turn++) {
            sac_soft_push(soft, sac_rng_below(&rng, 600), (float[3]){20, 30, -9}, NULL);
            sac_soft_step_def step = {1.0f / 90, {0, -9.81f, 0}};
            sac_soft_step(&soft, 1, &step, NULL, NULL);
        }
        sac_soft_joints(soft, rows);
        sac_soft_points now = sac_soft_view(soft);
        for (uint32_t i = 0; i < now.count; i++) {
            sac_soft_map map;
            uint32_t lies = now.place[i];
            sac_soft_map_of(soft, soft->model->home[lies], &map);
            const float x[3] = {now.x[lies], now.y[lies], now.z[lies]};
            for (int r = 0; r < 3; r++) {
                double at = rows[i][r][3];
                for (int k = 0; k < 3; k++) at += (double)rows[i][r][k] * points[i][k];
                assert_true(fabs(at - x[r]) < 3e-5);
                for (int k = 0; k < 3; k++) { /* differences of the map */
                    float there[3] = {points[i][0], points[i][1], points[i][2]}, a[3], b[3];
                    there[k] += 0.05f, sac_soft_goal(&map, there, a);
                    there[k] -= 0.1f, sac_soft_goal(&map, there, b);
                    assert_true(fabsf((a[r] - b[r]) * 10 - rows[i][r][k]) < 1e-3f);
                }
            }
        }
        for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
            if (!sac_simd_supported((sac_simd)simd)) continue;
            sac_simd_force((sac_simd)simd, NULL);
            sac_soft_joints(soft, plain);
            assert_memory_equal(rows, plain, now.count * sizeof *rows);
        }
        sac_simd_force(before, NULL);
        sac_soft_destroy(&soft);
        sac_soft_shape_destroy(&shape);
    }
}

/* ---- bad input ---- */

enum { ONE, LINE, PLANE, SAME, INVERTED, SPLINTERS, FAR, THIN, WIDE, KINDS };
static const char *const kinds[KINDS] = {"one point",
                                         "a line",
                                         "a plane",
                                         "all in one place",
                                         "turned inside out",
                                         "clusters of one point",
                                         "far from the origin",
                                         "thinner than float",
                                         "masses from a microgram to a ton"};
static float odd[300][3], odd_mass[300];

static uint32_t fill_odd(int kind, sac_rng *rng)
{
    uint32_t count = kind == ONE ? 1 : kind == SPLINTERS ? 17 : 100 + sac_rng_below(rng, 200);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) odd[i][k] = sac_rng_range(rng, -1, 1);
        if (kind == LINE) odd[i][1] = odd[i][0] * 2, odd[i][2] = -odd[i][0];
        if (kind == PLANE) odd[i][1] = 0.5f * odd[i][0] + 1;
        if (kind == SAME) odd[i][0] = 2, odd[i][1] = 3, odd[i][2] = -1;
        if (kind == FAR) odd[i][0] += 9e5f, odd[i][2] -= 9e5f;
        if (kind == THIN) odd[i][2] *= 1e-7f;
        odd_mass[i] = 1;
        if (kind == WIDE) odd_mass[i] = i % 3 ? 1e-9f : 1e3f;
    }
    return count;
}

typedef struct odd_body {
    sac_soft_shape *shape;
    sac_soft *soft;
    sac_soft_cover *cover;
} odd_body;

/* Finite, held by its spheres, and with joints that can be drawn. */
static void check_sane(const odd_body *b, const char *kind, int turn)
{
    static float rows[300][3][4];
    const sac_soft *soft = b->soft;
    const sac_soft_tree *tree = sac_soft_shape_parts_of(b->shape).tree;
    uint32_t wild = 0, outside = 0, count = sac_soft_view(soft).count;
    for (uint32_t i = 0; i < soft->model->lanes; i++)
        wild += !isfinite(soft->x[i] + soft->y[i] + soft->z[i]) ||
                !isfinite(soft->vx[i] + soft->vy[i] + soft->vz[i]) || fabsf(soft->x[i]) > SAC_SOFT_REACH;
    for (uint32_t block = 0; block < tree->block_count; block++) {
        const sac_sphere_block *eight = sac_soft_cover_block(b->cover, block);
        for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
            sac_soft_range r = tree->range[block * SAC_LANES + lane];
            for (uint32_t i = r.first; i < r.first + r.count; i++) {
                uint32_t q = tree->order[i];
                double x = (double)soft->x[q] - eight->x[lane], y = (double)soft->y[q] - eight->y[lane],
                       z = (double)soft->z[q] - eight->z[lane];
                outside += !(sqrt(x * x + y * y + z * z) <= eight->r[lane]) || !isfinite(eight->r[lane]);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
        outside += !(soft->x[i] >= soft->box.low[0] && soft->x[i] <= soft->box.high[0] &&
                     soft->y[i] >= soft->box.low[1] && soft->y[i] <= soft->box.high[1] &&
                     soft->z[i] >= soft->box.low[2] && soft->z[i] <= soft->box.high[2]);
    sac_soft_joints(soft, rows);
    for (uint32_t i = 0; i < count * 12; i++) wild += !isfinite((&rows[0][0][0])[i]);
    if (wild || outside) print_message("%s, step %d: %u wild, %u outside\n", kind, turn, wild, outside);
    assert_int_equal(wild, 0);
    assert_int_equal(outside, 0);
}

/* What a user can do to a body, and what a mistake in here could: wrong numbers in velocities, goals, and
 * even positions end in the step. */
static void maltreat(odd_body *b, int turn, sac_rng *rng)
{
    sac_soft *soft = b->soft;
    const uint32_t *at = soft->model->place;
    uint32_t count = sac_soft_view(soft).count, i = sac_rng_below(rng, count);
    switch (turn % 12) {
    case 0:
        sac_soft_push(soft, i, (float[3]){3e38f, -3e38f, 1}, NULL);
        break;
    case 1: /* as far as can be */
        sac_soft_hold(soft, i, (float[3]){3e38f, 3e38f, -3e38f}, NULL);
        break;
    case 3:
        for (uint32_t k = 0; k < count; k++) sac_soft_release(soft, k, NULL);
        break;
    case 4: /* mirrored */
        for (uint32_t k = 0; k < count; k++)
            sac_soft_set_point(soft, k, (float[3]){-soft->x[at[k]], soft->y[at[k]], soft->z[at[k]]}, NULL,
                               NULL);
        break;
    case 5: /* stretched a thousand times */
        for (uint32_t k = 0; k < count; k++)
            sac_soft_set_point(soft, k, (float[3]){soft->x[at[k]] * 1e3f, soft->y[at[k]], soft->z[at[k]]},
                               (float[3]){0}, NULL);
        break;
    case 6: /* all in one place */
        for (uint32_t k = 0; k < count; k++)
            sac_soft_set_point(soft, k, (float[3]){1, 1, 1}, (float[3]){0}, NULL);
        break;
    case 8:
        soft->vy[i] = turn % 24 == 8 ? NAN : -INFINITY;
        break;
    case 9:
        for (uint32_t k = 0; soft->gx && k < soft->model->slot_count; k++) soft->gx[k] = soft->gz[k] = NAN;
        break;
    case 10:
        if (turn > 30) soft->x[i] = NAN;
        break;
    }
}

static void odd_bodies_survive(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(12);
    for (int kind = 0; kind < KINDS; kind++)
        for (int mode = 0; mode < SAC_SOFT_MODES; mode++)
            for (int several = 0; several < 2; several++) {
                odd_body b;
                sac_error error;
                sac_soft_shape_def def = sac_default_soft_shape_def();
                def.points = (const float(*)[3])odd, def.masses = odd_mass;
                def.point_count = fill_odd(kind, &rng);
                def.soft.mode = (sac_soft_mode)mode;
                def.soft.clusters = kind == SPLINTERS ? def.point_count : several ? 5 : 1;
                def.soft.creep = several ? 3.0f : 0.0f;
                def.soft.beta = several ? 1.0f : 0.7f;
                def.soft.settle_time = several ? 0 : 0.05f;
                assert_int_equal(sac_soft_shape_create(&def, &b.shape, &error), SAC_OK);
                sac_soft_shape_parts parts = sac_soft_shape_parts_of(b.shape);
                check_form(b.shape), check_skin(b.shape);
                assert_int_equal(sac_soft_create(parts.model, NULL, &b.soft, &error), SAC_OK);
                assert_int_equal(sac_soft_cover_create(parts.tree, b.soft, &b.cover, &error), SAC_OK);
                if (kind == INVERTED)
                    for (uint32_t i = 0; i < parts.point_count; i++)
                        sac_soft_set_point(b.soft, i, (float[3]){odd[i][0], odd[i][1], -odd[i][2]}, NULL,
                                           NULL);
                check_sane(&b, kinds[kind], -1);
                for (int turn = 0; turn < 72; turn++) {
                    sac_soft_step_def step = {turn % 5 ? 1.0f / 90 : 0.3f, {0, -9.81f, 0}};
                    sac_soft *one = b.soft;
                    maltreat(&b, turn, &rng);
                    if (turn % 7 == 3) {
                        sac_soft_fall(one, &step), sac_soft_move(&one, 1, &step, NULL, NULL);
                    } else {
                        assert_int_equal(sac_soft_step(&one, 1, &step, NULL, NULL), SAC_OK);
                    }
                    check_sane(&b, kinds[kind], turn);
                }
                sac_soft_cover_destroy(&b.cover);
                sac_soft_destroy(&b.soft);
                sac_soft_shape_destroy(&b.shape);
            }
}

static void refused(const sac_soft_shape_def *def, sac_result why, const char *remedy)
{
    sac_soft_shape *shape = (sac_soft_shape *)odd;
    sac_error error;
    memset(&error, 0, sizeof error);
    assert_int_equal(sac_soft_shape_create(def, &shape, &error), why);
    assert_null(shape);
    assert_true(error.message[0] != 0);
    if (!strstr(error.remedy, remedy)) print_message("remedy: %s\n", error.remedy);
    assert_non_null(strstr(error.remedy, remedy));
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(13);
    sac_soft_shape_def good = sac_default_soft_shape_def(), def;
    uint32_t triangles[2][3] = {{0, 1, 2}, {2, 1, 99999}};
    good.point_count = fill_odd(PLANE, &rng);
    good.points = (const float(*)[3])odd;
    def = good, def.cookie = 0, refused(&def, SAC_ERROR_ARGUMENT, "sac_default_soft_shape_def");
    def = good, def.point_count = 0, refused(&def, SAC_ERROR_EMPTY, "point_count");
    def = good, def.points = NULL, refused(&def, SAC_ERROR_EMPTY, "points");
    def = good, def.point_count = UINT32_MAX, refused(&def, SAC_ERROR_LIMIT, "4 million");
    def = good, def.triangle_count = 2, refused(&def, SAC_ERROR_ARGUMENT, "triangles");
    def.triangles = (const uint32_t(*)[3])triangles, refused(&def, SAC_ERROR_ARGUMENT, "over the points");
    def = good, def.mass = NAN, refused(&def, SAC_ERROR_ARGUMENT, "above");
    def = good, def.mass = -1, refused(&def, SAC_ERROR_ARGUMENT, "above");
    def = good, def.mass = 1e-20f, refused(&def, SAC_ERROR_ARGUMENT, "mass");
    def = good, def.density = 0, refused(&def, SAC_ERROR_ARGUMENT, "above 0");
    def = good, def.thickness = -1, refused(&def, SAC_ERROR_ARGUMENT, "above");
    def = good, def.masses = odd_mass, odd_mass[7] = 0, refused(&def, SAC_ERROR_ARGUMENT, "hold it");
    odd_mass[7] = NAN, refused(&def, SAC_ERROR_ARGUMENT, "hold it");
    odd_mass[7] = INFINITY, refused(&def, SAC_ERROR_ARGUMENT, "hold it");
    def = good, def.soft.beta = 2, refused(&def, SAC_ERROR_ARGUMENT, "0 to 1");
    def = good, def.tree.leaf_points = 0, refused(&def, SAC_ERROR_ARGUMENT, "sac_default_soft_tree_def");
    odd[3][2] = NAN, refused(&good, SAC_ERROR_ARGUMENT, "finite");
    odd[3][2] = 0;
    sac_meshless_surface empty = {0};
    def = good, def.surface = &empty, refused(&def, SAC_ERROR_EMPTY, "");
    sac_meshless_surface broken = {(const float(*)[3])odd, 3, (const uint32_t(*)[3])triangles, 2};
    def = good, def.surface = &broken, refused(&def, SAC_ERROR_ARGUMENT, "");
    sac_form form;
    sac_error error;
    assert_int_equal(sac_form_from_soft(&form, NULL, &error), SAC_ERROR_ARGUMENT);
    sac_soft_shape *shape;
    assert_int_equal(sac_soft_shape_from_mesh(NULL, &good, 0, &shape, &error), SAC_ERROR_ARGUMENT);
    sac_mesh *flat; /* triangles without area: nothing is left to stand on */
    assert_int_equal(sac_mesh_create((const float(*)[3])(float[3][3]){{0}, {1, 0, 0}, {2, 0, 0}}, 3,
                                     (const uint32_t(*)[3])triangles, 1, NULL, &flat, NULL),
                     SAC_OK);
    assert_int_equal(sac_soft_shape_from_mesh(flat, &good, 0, &shape, &error), SAC_ERROR_EMPTY);
    assert_null(shape);
    sac_mesh_destroy(&flat);
    /* The same straight triangle as points is a line, with normals that are not known. */
    def = good, def.points = (const float(*)[3])(float[3][3]){{0}, {1, 0, 0}, {2, 0, 0}}, def.point_count = 3;
    def.triangles = (const uint32_t(*)[3])triangles, def.triangle_count = 1;
    assert_int_equal(sac_soft_shape_create(&def, &shape, &error), SAC_OK);
    assert_true(sac_soft_shape_parts_of(shape).normals[1][0] == 0);
    check_form(shape);
    sac_soft_shape_destroy(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_is_its_points),   cmocka_unit_test(a_large_mesh_follows_few_points),
        cmocka_unit_test(joints_carry_a_skin),    cmocka_unit_test(odd_bodies_survive),
        cmocka_unit_test(bad_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
