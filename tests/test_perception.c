/* Perception: the formula against double precision, the literature's table, and the same bits on every path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/rng.h"
#include "scheduler/perceive_internal.h"
#include "scheduler/scheduler.h"

enum { COUNT = 1003, IN = 10 };

static float *arrays[IN];
static float *outs[4];

static int set_up(void **state)
{
    (void)state;
    for (int k = 0; k < IN; k++) arrays[k] = sac_alloc(COUNT + 8, sizeof(float));
    for (int k = 0; k < 4; k++) outs[k] = sac_alloc(COUNT + 8, sizeof(float));
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    for (int k = 0; k < IN; k++) sac_free(arrays[k], COUNT + 8, sizeof(float));
    for (int k = 0; k < 4; k++) sac_free(outs[k], COUNT + 8, sizeof(float));
    return 0;
}

static sac_sights sights_of(uint32_t count)
{
    return (sac_sights){.count = count,
                        .x = arrays[0],
                        .y = arrays[1],
                        .z = arrays[2],
                        .uncertainty = arrays[3],
                        .extent = arrays[4],
                        .vx = arrays[5],
                        .vy = arrays[6],
                        .vz = arrays[7],
                        .weight = arrays[8],
                        .similar = arrays[9],
                        .jnd = outs[0],
                        .priority = outs[1],
                        .sharpness = outs[2],
                        .factor = outs[3]};
}

static void scatter(uint64_t seed)
{
    sac_rng rng = sac_rng_seed(seed);
    for (int i = 0; i < COUNT + 8; i++) {
        for (int k = 0; k < 3; k++) arrays[k][i] = sac_rng_range(&rng, -5, 5);
        arrays[3][i] = sac_rng_range(&rng, 0, 0.3f) * sac_rng_float(&rng);
        arrays[4][i] = sac_rng_range(&rng, 0.05f, 0.5f);
        for (int k = 5; k < 8; k++) arrays[k][i] = sac_rng_range(&rng, -2, 2);
        arrays[8][i] = sac_rng_range(&rng, 0, 3);
        arrays[9][i] = (float)sac_rng_below(&rng, 6);
    }
}

enum { MOST_EYES = 40 };
static sac_eye eyes_of[MOST_EYES];
static float axes_of[MOST_EYES][3];

static sac_focus focus_of(uint32_t eyes, float guard)
{
    static sac_focus_eye more[MOST_EYES];
    sac_focus focus = {.eye_count = eyes, .guard_degrees = guard, .more = more};
    sac_rng rng = sac_rng_seed(9);
    for (uint32_t e = 0; e < eyes; e++) {
        sac_viewer one = sac_default_viewer();
        sac_eye *eye = &eyes_of[e];
        *eye = one.eyes[0];
        /* Turned a little, so that no plane is along an axis. */
        float q[4] = {0.1f, 0.2f, 0.05f, 1}, n = sqrtf(0.01f + 0.04f + 0.0025f + 1);
        for (int k = 0; k < 4; k++) eye->rotation[k] = q[k] / n;
        for (int k = 0; k < 3; k++) eye->position[k] = sac_rng_range(&rng, -0.2f, 0.2f);
        sac_rng_unit_vector(&rng, axes_of[e]);
        if (e < SAC_VIEWER_OWN_EYES) {
            focus.eyes[e] = *eye;
            memcpy(focus.axis[e], axes_of[e], sizeof axes_of[e]);
        } else {
            sac_focus_eye_ready(eye, axes_of[e], &more[e - SAC_VIEWER_OWN_EYES]);
        }
    }
    return focus;
}

static double dot(const double *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The door's text, word by word, in double. `edge`: so near the border of the view that either is right. */
static void by_the_book(const sac_perception_def *def, const sac_focus *f, int i, double *jnd,
                        double *priority, bool *edge)
{
    const double degrees = 57.29577951308232;
    double best = 0, speed = 0;
    bool seen = false;
    *edge = false;
    for (uint32_t e = 0; e < f->eye_count; e++) {
        const sac_eye *eye = &eyes_of[e];
        double d[3], v[3], length = 0, along = 0, v2 = 0;
        for (int k = 0; k < 3; k++) {
            d[k] = (double)arrays[k][i] - eye->position[k];
            v[k] = arrays[5 + k][i];
            length += d[k] * d[k];
            v2 += v[k] * v[k];
        }
        length = sqrt(length);
        double near = fmax(length, 0.05);
        double eccentricity = acos(fmin(fmax(dot(d, axes_of[e]) / length, -1), 1)) * degrees;
        eccentricity = fmax(0, eccentricity - f->guard_degrees);
        best = fmax(best, 60 * degrees / near / (0.7646 * (1 + eccentricity / 2.3)));
        for (int k = 0; k < 3; k++) along += v[k] * d[k] / length;
        speed = fmax(speed, sqrt(fmax(v2 - along * along, 0)) / near * degrees);
        /* Into the eye's frame. */
        double x = eye->rotation[0], y = eye->rotation[1], z = eye->rotation[2], w = eye->rotation[3], p[3];
        p[0] = (1 - 2 * (y * y + z * z)) * d[0] + 2 * (x * y + w * z) * d[1] + 2 * (x * z - w * y) * d[2];
        p[1] = 2 * (x * y - w * z) * d[0] + (1 - 2 * (x * x + z * z)) * d[1] + 2 * (y * z + w * x) * d[2];
        p[2] = 2 * (x * z + w * y) * d[0] + 2 * (y * z - w * x) * d[1] + (1 - 2 * (x * x + y * y)) * d[2];
        double out[5] = {-p[0] * cos(eye->fov_left) - p[2] * sin(eye->fov_left),
                         p[0] * cos(eye->fov_right) + p[2] * sin(eye->fov_right),
                         -p[1] * cos(eye->fov_down) - p[2] * sin(eye->fov_down),
                         p[1] * cos(eye->fov_up) + p[2] * sin(eye->fov_up), p[2]};
        bool inside = true;
        for (int n = 0; n < 5; n++) {
            inside = inside && out[n] <= (double)arrays[4][i];
            *edge = *edge || fabs(out[n] - (double)arrays[4][i]) < 1e-4;
        }
        seen = seen || inside;
    }
    *jnd = fmin(fmin(arrays[3][i], arrays[4][i]) * best, def->most_jnd);
    *priority = *jnd * arrays[8][i] * (seen ? 1 : def->out_of_view) *
                (1 + def->speed_weight * fmin(speed, 10 * def->speed_ref) / def->speed_ref) /
                (1 + def->distractor_weight * arrays[9][i]);
}

static void formula(void **state)
{
    (void)state;
    sac_perception_def def = sac_default_perception_def();
    uint32_t edges = 0, in_view = 0;
    for (uint32_t eyes = 1; eyes <= MOST_EYES; eyes += eyes < 6 ? 1 : 17) {
        for (float guard = 0; guard < 31; guard += 10) {
            sac_focus focus = focus_of(eyes, guard);
            sac_sights sights = sights_of(COUNT);
            scatter(eyes * 100 + (uint32_t)guard);
            sac_perceive(&def, &focus, &sights);
            for (int i = 0; i < COUNT; i++) {
                double jnd, priority;
                bool edge;
                by_the_book(&def, &focus, i, &jnd, &priority, &edge);
                assert_true(fabs(jnd - (double)outs[0][i]) <= 2e-3 * jnd + 1e-6);
                edges += edge;
                in_view += (double)outs[1][i] > 0.5 * (double)outs[0][i] * (double)arrays[8][i];
                if (!edge) assert_true(fabs(priority - (double)outs[1][i]) <= 3e-3 * priority + 1e-6);
                /* The parts make the whole. */
                float off = fminf(arrays[3][i], arrays[4][i]);
                assert_true(fabsf(outs[2][i] * off - outs[0][i]) <= 1e-5f * outs[0][i] ||
                            outs[0][i] == def.most_jnd);
                assert_true(fabsf(outs[3][i] * outs[0][i] - outs[1][i]) <= 1e-5f * outs[1][i]);
            }
        }
    }
    assert_true(edges < 200 && in_view > 1000);
}

/* An error of just the smallest resolvable gap at a metre is one JND, at every eccentricity of the table. */
static void literature_table(void **state)
{
    (void)state;
    const float degrees[] = {0, 2, 5, 10, 15, 20, 30, 40, 60};
    const float mar[] = {0.76f, 1.43f, 2.43f, 4.09f, 5.75f, 7.41f, 10.7f, 14.1f, 20.7f};
    const float gap_mm[] = {0.22f, 0.42f, 0.71f, 1.19f, 1.67f, 2.16f, 3.12f, 4.09f, 6.0f};
    sac_perception_def def = sac_default_perception_def();
    sac_focus focus = focus_of(1, 0);
    for (int k = 0; k < 3; k++) focus.eyes[0].position[k] = 0, focus.axis[0][k] = k == 2 ? -1.0f : 0.0f;
    memset(arrays[5], 0, 8 * sizeof(float)), memset(arrays[6], 0, 8 * sizeof(float));
    memset(arrays[7], 0, 8 * sizeof(float));
    sac_sights sights = sights_of(1);
    for (int i = 0; i < 9; i++) {
        assert_true(fabsf(sac_mar_arcmin(degrees[i]) - mar[i]) <= 0.06f);
        double a = (double)degrees[i] * 0.017453292519943295;
        arrays[0][0] = (float)sin(a), arrays[1][0] = 0, arrays[2][0] = (float)-cos(a);
        arrays[3][0] = gap_mm[i] * 0.001f, arrays[4][0] = 1, arrays[8][0] = 1, arrays[9][0] = 0;
        sac_perceive(&def, &focus, &sights);
        assert_true(fabsf(outs[0][0] - 1) < 0.03f);
    }
}

static void paths_agree(void **state)
{
    (void)state;
    sac_perception_def def = sac_default_perception_def();
    static float wanted[4][COUNT];
    sac_simd before = sac_simd_active();
    const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0f, FLT_MAX, -FLT_MAX, 1e-45f, -1, 1e20f};
    for (uint32_t eyes = 0; eyes <= 6; eyes++) {
        bool first = true;
        for (sac_simd path = SAC_SIMD_SCALAR; path < SAC_SIMD_COUNT; path++) {
            if (sac_simd_force(path, NULL) != SAC_OK) continue;
            sac_focus focus = focus_of(eyes, 3);
            scatter(4);
            sac_rng rng = sac_rng_seed(5);
            for (int i = 0; i < COUNT; i += 2)
                arrays[sac_rng_below(&rng, IN)][i] = odd[sac_rng_below(&rng, 10)];
            sac_sights sights = sights_of(COUNT / 8 * 8);
            sac_perceive(&def, &focus, &sights);
            for (int k = 0; k < 4; k++) {
                if (first)
                    memcpy(wanted[k], outs[k], sizeof wanted[k]);
                else
                    assert_memory_equal(wanted[k], outs[k], sights.count * sizeof(float));
            }
            for (uint32_t i = 0; i < sights.count; i++) {
                assert_true(outs[0][i] >= 0 && outs[0][i] <= def.most_jnd);
                assert_true(outs[1][i] >= 0);
            }
            first = false;
            /* Arrays that lie anywhere give the same. */
            sights = sights_of(COUNT - 9);
            const float **in[IN] = {&sights.x,  &sights.y,  &sights.z,  &sights.uncertainty, &sights.extent,
                                    &sights.vx, &sights.vy, &sights.vz, &sights.weight,      &sights.similar};
            for (int k = 0; k < IN; k++) (*in[k])++;
            sac_perceive(&def, &focus, &sights);
            assert_memory_equal(wanted[0] + 1, outs[0], (COUNT - 20) * sizeof(float));
            assert_memory_equal(wanted[1] + 1, outs[1], (COUNT - 20) * sizeof(float));
        }
    }
    sac_simd_force(before, NULL);
}

static void nobody_looks(void **state)
{
    (void)state;
    sac_perception_def def = sac_default_perception_def();
    sac_focus nobody = {0};
    sac_sights sights = sights_of(COUNT);
    scatter(6);
    for (int round = 0; round < 2; round++) {
        sac_perceive(&def, round ? NULL : &nobody, &sights);
        for (int i = 0; i < COUNT; i++) {
            float mm = fminf(fminf(arrays[3][i], arrays[4][i]) * 1000.0f, 1000.0f);
            assert_true(outs[0][i] == mm);
            assert_true(outs[1][i] == mm * arrays[8][i]);
        }
    }
    sights.count = 0;
    sac_perceive(&def, NULL, &sights);
}

/* No error looks larger than the thing it is in, nothing is divided by no distance. */
static void clamps(void **state)
{
    (void)state;
    sac_perception_def def = sac_default_perception_def();
    sac_focus focus = focus_of(1, 0);
    sac_sights sights = sights_of(1);
    scatter(7);
    for (int k = 0; k < 3; k++) arrays[k][0] = focus.eyes[0].position[k];
    arrays[3][0] = FLT_MAX, arrays[4][0] = 0.001f;
    sac_perceive(&def, &focus, &sights);
    assert_true(outs[0][0] > 0 && outs[0][0] < 100);
    float at_the_eye = outs[0][0];
    arrays[3][0] = 0.001f;
    sac_perceive(&def, &focus, &sights);
    assert_true(outs[0][0] == at_the_eye);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formula),      cmocka_unit_test(literature_table), cmocka_unit_test(paths_agree),
        cmocka_unit_test(nobody_looks), cmocka_unit_test(clamps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
