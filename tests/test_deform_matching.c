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

enum { MOST = 2000 };
static float cloud[MOST][3], masses[MOST];

static void fill(uint32_t count, uint64_t seed, float sx, float sy, float sz)
{
    sac_rng rng = sac_rng_seed(seed);
    for (uint32_t i = 0; i < count; i++) {
        cloud[i][0] = sac_rng_range(&rng, -sx, sx);
        cloud[i][1] = sac_rng_range(&rng, -sy, sy);
        cloud[i][2] = sac_rng_range(&rng, -sz, sz);
        masses[i] = sac_rng_range(&rng, 0.1f, 2.0f);
    }
}

static sac_soft_def plain(sac_soft_mode mode, uint32_t clusters)
{
    sac_soft_def def = sac_default_soft_def();
    def.mode = mode;
    def.clusters = clusters;
    return def;
}

static sac_soft *body(uint32_t count, const sac_soft_def *def, const sac_transform *pose,
                      sac_soft_model **model)
{
    sac_soft *soft;
    sac_error error;
    assert_int_equal(sac_soft_model_create((const float(*)[3])cloud, masses, count, def, model, &error),
                     SAC_OK);
    assert_int_equal(sac_soft_create(*model, pose, &soft, &error), SAC_OK);
    return soft;
}

static void done(sac_soft *soft, sac_soft_model *model)
{
    sac_soft_destroy(&soft), sac_soft_model_destroy(&model);
}

static void step(sac_soft *soft, float dt, float down)
{
    sac_soft_step_def def = {dt, {0, -down, 0}};
    assert_int_equal(sac_soft_step(&soft, 1, &def, NULL, NULL), SAC_OK);
}

/* Mean distance to the rest shape after the best rigid motion is taken away. */
static double misfit(const sac_soft *soft)
{
    const sac_soft_model *m = soft->model;
    double total = 0, c[3] = {0}, r[3] = {0}, pq[3][3] = {{0}}, rows[3][3], turn[4] = {0, 0, 0, 1}, sum = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double w = m->mass[i], x[3] = {soft->x[i], soft->y[i], soft->z[i]},
               q[3] = {m->x[i], m->y[i], m->z[i]};
        total += w;
        for (int k = 0; k < 3; k++) c[k] += w * x[k], r[k] += w * q[k];
    }
    for (int k = 0; k < 3; k++) c[k] /= total, r[k] /= total;
    for (uint32_t i = 0; i < m->count; i++) {
        double x[3] = {soft->x[i] - c[0], soft->y[i] - c[1], soft->z[i] - c[2]};
        double q[3] = {m->x[i] - r[0], m->y[i] - r[1], m->z[i] - r[2]};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) pq[a][b] += m->mass[i] * x[a] * q[b];
    }
    sac_turn_follow(pq, turn);
    sac_turn_rows(turn, rows);
    for (uint32_t i = 0; i < m->count; i++) {
        double x[3] = {soft->x[i] - c[0], soft->y[i] - c[1], soft->z[i] - c[2]};
        double q[3] = {m->x[i] - r[0], m->y[i] - r[1], m->z[i] - r[2]}, d2 = 0;
        for (int a = 0; a < 3; a++) {
            double d = x[a] - (rows[a][0] * q[0] + rows[a][1] * q[1] + rows[a][2] * q[2]);
            d2 += d * d;
        }
        sum += sqrt(d2);
    }
    return sum / m->count;
}

static void rest_is_a_fixed_point(void **state)
{
    (void)state;
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++)
        for (uint32_t clusters = 1; clusters <= 8; clusters += 7) {
            fill(401, 1, 0.913f, 0.517f, 0.309f); /* no round numbers: they all round the same way */
            sac_soft_def def = plain((sac_soft_mode)mode, clusters);
            sac_soft_model *model;
            sac_soft *soft = body(401, &def, NULL, &model);
            assert_int_equal(sac_soft_model_clusters(model), clusters);
            for (int i = 0; i < 300; i++) step(soft, 1.0f / 90, 0);
            sac_soft_points p = sac_soft_view(soft);
            for (uint32_t i = 0; i < p.count; i++) {
                uint32_t at = p.place[i];
                assert_true(fabsf(p.x[at] - cloud[i][0]) < 1e-4f && fabsf(p.y[at] - cloud[i][1]) < 1e-4f &&
                            fabsf(p.z[at] - cloud[i][2]) < 1e-4f);
            }
            done(soft, model);
        }
}

/* Turned and moved: the goals are the turned and moved rest points, and the body stays. */
static void rigid_motion_is_reproduced(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(7);
    for (int trial = 0; trial < 60; trial++) {
        fill(150, 100 + (uint64_t)trial, 1, 0.6f, 0.4f);
        sac_soft_def def = plain((sac_soft_mode)(trial % 3), trial % 2 ? 1 : 4);
        sac_transform pose = sac_transform_identity(), none = pose;
        float axis[3], half = sac_rng_range(&rng, 0, 3.1f);
        sac_rng_unit_vector(&rng, axis);
        for (int k = 0; k < 3; k++)
            pose.rotation[k] = axis[k] * sinf(half), pose.translation[k] = sac_rng_range(&rng, -5, 5);
        pose.rotation[3] = cosf(half);
        sac_soft_model *model;
        sac_soft *soft = body(150, &def, &none, &model);
        for (uint32_t i = 0; i < 150; i++) { /* put there behind its back: rotations start from nothing */
            float to[3];
            sac_transform_point(&pose, cloud[i], to);
            assert_int_equal(sac_soft_set_point(soft, i, to, NULL, NULL), SAC_OK);
        }
        step(soft, 1.0f / 90, 0);
        for (uint32_t c = 0; c < sac_soft_model_clusters(model); c++) {
            sac_soft_map map;
            sac_soft_map_of(soft, c, &map);
            assert_true(map.stray < 1e-4f);
        }
        assert_true(misfit(soft) < 2e-5);
        done(soft, model);
    }
}

static void momentum_is_conserved(void **state)
{
    (void)state;
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++)
        for (int plastic = 0; plastic < 2; plastic++) {
            fill(300, 3, 1, 0.7f, 0.4f);
            sac_soft_def def = plain((sac_soft_mode)mode, 5);
            def.creep = plastic ? 5.0f : 0.0f;
            sac_soft_model *model;
            sac_soft *soft = body(300, &def, NULL, &model);
            sac_rng rng = sac_rng_seed(4);
            for (uint32_t i = 0; i < 300; i++) {
                float j[3] = {sac_rng_range(&rng, -1, 2), sac_rng_range(&rng, -1, 1),
                              sac_rng_range(&rng, -1, 1)};
                sac_soft_push(soft, i, j, NULL);
            }
            double before[6], size = 0;
            for (int turn = 0; turn < 200; turn++) {
                double now[6] = {0};
                sac_soft_points p = sac_soft_view(soft);
                for (uint32_t i = 0; i < p.count; i++) {
                    double m = p.mass[i], x[3] = {p.x[i], p.y[i], p.z[i]}, v[3] = {p.vx[i], p.vy[i], p.vz[i]};
                    for (int k = 0; k < 3; k++) {
                        int a = (k + 1) % 3, b = (k + 2) % 3;
                        now[k] += m * v[k];
                        now[3 + k] += m * (x[a] * v[b] - x[b] * v[a]);
                        if (turn == 0) size += m * fabs(v[k]);
                    }
                }
                if (turn == 0) memcpy(before, now, sizeof now);
                for (int k = 0; k < 3; k++) assert_true(fabs(now[k] - before[k]) < 1e-5 * size);
                for (int k = 3; k < 6; k++) assert_true(fabs(now[k] - before[k]) < 1e-3 * size);
                step(soft, 1.0f / 120, 0);
            }
            done(soft, model);
        }
}

/* A stretched body at 60, 120 and 240 Hz: the same swing. */
static void step_rate_does_not_matter(void **state)
{
    (void)state;
    double seen[3][8];
    for (int rate = 0; rate < 3; rate++) {
        fill(200, 5, 1, 1, 1);
        sac_soft_def def = plain(SAC_SOFT_LINEAR, 1);
        def.beta = 0, def.settle_time = 0.1f, def.damping = 0.1f;
        sac_soft_model *model;
        sac_soft *soft = body(200, &def, NULL, &model);
        for (uint32_t i = 0; i < 200; i++)
            sac_soft_set_point(soft, i, (float[3]){cloud[i][0] * 1.3f, cloud[i][1], cloud[i][2]}, NULL, NULL);
        int per = 1 << rate;
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 6 * per; i++) step(soft, 1.0f / (60.0f * (float)per), 0);
            seen[rate][k] = misfit(soft);
        }
        done(soft, model);
    }
    for (int k = 0; k < 8; k++) {
        assert_true(fabs(seen[1][k] - seen[2][k]) < 0.025 * 0.3);
        assert_true(fabs(seen[0][k] - seen[2][k]) < 0.06 * 0.3);
    }
}

static void wrecked_bodies_come_back(void **state)
{
    (void)state;
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++)
        for (int wreck = 0; wreck < 4; wreck++) {
            fill(160, 6, 1, 0.7f, 0.5f);
            sac_soft_def def = plain((sac_soft_mode)mode, 1);
            def.damping = 1;
            sac_soft_model *model;
            sac_soft *soft = body(160, &def, NULL, &model);
            for (uint32_t i = 0; i < 160; i++) {
                float x = cloud[i][0], y = cloud[i][1], z = cloud[i][2];
                float to[4][3] = {{-x, y, z}, {x, y, 0}, {0, 0, z}, {0, 0, 0}};
                /* All in one point says nothing about where to go: give it a hint. */
                if (wreck == 3) to[3][0] = x * 1e-3f, to[3][1] = y * 1e-3f, to[3][2] = z * 1e-3f;
                sac_soft_set_point(soft, i, to[wreck], NULL, NULL);
            }
            for (int i = 0; i < 3000; i++) step(soft, 1.0f / 90, 0);
            assert_true(misfit(soft) < 1e-3);
            done(soft, model);
        }
}

static void plasticity_keeps_its_limits(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        fill(120, 8, 1, 1, 1);
        sac_soft_def def = plain(trial == 2 ? SAC_SOFT_QUADRATIC : SAC_SOFT_LINEAR, 1);
        def.creep = 20, def.yield = trial == 0 ? 0.6f : 0.05f, def.most_plastic = 0.3f, def.damping = 1;
        sac_soft_model *model;
        sac_soft *soft = body(120, &def, NULL, &model);
        uint32_t yielded = 0;
        for (int i = 0; i < 200; i++) {
            for (uint32_t k = 0; k < 120 && i < 100; k++) /* held at 1.5 times its length, then let go */
                sac_soft_hold(soft, k, (float[3]){cloud[k][0] * 1.5f, cloud[k][1], cloud[k][2]}, NULL);
            for (uint32_t k = 0; k < 120 && i == 100; k++) sac_soft_release(soft, k, NULL);
            sac_soft_step_def sd = {1.0f / 90, {0}};
            sac_soft_report report;
            assert_int_equal(sac_soft_step(&soft, 1, &sd, NULL, &report), SAC_OK);
            yielded += report.plastic;
            double off[3][3];
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) off[a][b] = soft->clusters[0].plastic[a][b] - (a == b);
            assert_true(sac_norm_above(off) <= def.most_plastic * 1.00001);
        }
        for (int i = 0; i < 2000; i++) step(soft, 1.0f / 90, 0);
        if (trial == 0) {
            assert_int_equal(yielded, 0);
            assert_true(misfit(soft) < 1e-3);
        } else {
            assert_true(yielded > 0);
            assert_true(misfit(soft) > 0.05);
        }
        done(soft, model);
    }
}

/* Normal equations by elimination, in double, against the map of a step with beta = 1. */
static void least_squares_agree(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(12);
    for (int trial = 0; trial < 20; trial++) {
        int n = trial % 2 ? 10 : 4; /* with a constant */
        fill(80, 50 + (uint64_t)trial, 1, 0.8f, 0.6f);
        sac_soft_def def = plain(trial % 2 ? SAC_SOFT_QUADRATIC : SAC_SOFT_LINEAR, 1);
        def.beta = 1, def.keep_volume = false;
        sac_soft_model *model;
        sac_soft *soft = body(80, &def, NULL, &model);
        static double at[80][3];
        for (uint32_t i = 0; i < 80; i++) {
            float to[3];
            for (int k = 0; k < 3; k++) to[k] = cloud[i][k] + sac_rng_range(&rng, -0.4f, 0.4f);
            sac_soft_set_point(soft, i, to, NULL, NULL);
            for (int k = 0; k < 3; k++) at[i][k] = to[k];
        }
        step(soft, 1.0f / 90, 0);
        double m[10][13] = {{0}};
        for (uint32_t i = 0; i < 80; i++) {
            double x = cloud[i][0], y = cloud[i][1], z = cloud[i][2];
            double t[10] = {1, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x};
            for (int a = 0; a < n; a++) {
                for (int b = 0; b < n; b++) m[a][b] += masses[i] * t[a] * t[b];
                for (int k = 0; k < 3; k++) m[a][10 + k] += masses[i] * t[a] * at[i][k];
            }
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                if (a == b) continue;
                double f = m[b][a] / m[a][a];
                for (int k = 0; k < 13; k++) m[b][k] -= f * m[a][k];
            }
        sac_soft_map map;
        sac_soft_map_of(soft, 0, &map);
        for (uint32_t i = 0; i < 80; i++) {
            double x = cloud[i][0], y = cloud[i][1], z = cloud[i][2];
            double t[10] = {1, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x};
            float goal[3];
            sac_soft_goal(&map, cloud[i], goal);
            for (int k = 0; k < 3; k++) {
                double want = 0;
                for (int a = 0; a < n; a++) want += m[a][10 + k] / m[a][a] * t[a];
                assert_true(fabs(goal[k] - want) < 2e-5);
            }
        }
        done(soft, model);
    }
}

static uint64_t play(sac_simd simd, uint32_t threads)
{
    sac_soft_model *models[3];
    sac_soft *bodies[9];
    sac_tasks *tasks = NULL;
    if (simd != SAC_SIMD_COUNT) assert_int_equal(sac_simd_force(simd, NULL), SAC_OK);
    if (threads > 1)
        assert_int_equal(sac_tasks_create(&(sac_tasks_def){.threads = threads}, &tasks, NULL), SAC_OK);
    uint64_t hash = 14695981039346656037u;
    for (uint32_t few = 0; few < 2; few++) {
        uint32_t n = few ? 1 : 9;
        for (uint32_t m = 0; m < 3; m++) {
            uint32_t count = m == 0 ? 613 : m == 1 ? 64 : 1203;
            fill(count, 20 + m, 1, 1, 0.4f);
            sac_soft_def def = plain((sac_soft_mode)(2 - m), m == 1 ? 1 : 6);
            def.creep = m == 0 ? 2.0f : 0.0f;
            assert_int_equal(
                sac_soft_model_create((const float(*)[3])cloud, masses, count, &def, &models[m], NULL),
                SAC_OK);
        }
        sac_rng rng = sac_rng_seed(33);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(sac_soft_create(models[i % 3], NULL, &bodies[i], NULL), SAC_OK);
        for (int turn = 0; turn < 40; turn++) {
            for (uint32_t i = 0; i < n; i++) {
                uint32_t point = sac_rng_below(&rng, bodies[i]->model->count);
                float across = sac_rng_range(&rng, -30, 30);
                sac_soft_push(bodies[i], point, (float[3]){across, 20, 3}, NULL);
            }
            sac_soft_step_def def = {1.0f / 90, {0, -9.81f, 0}};
            assert_int_equal(sac_soft_step(bodies, n, &def, tasks, NULL), SAC_OK);
        }
        for (uint32_t i = 0; i < n; i++) {
            sac_soft_points p = sac_soft_view(bodies[i]);
            const float *all[6] = {p.x, p.y, p.z, p.vx, p.vy, p.vz};
            for (int k = 0; k < 6; k++)
                for (uint32_t j = 0; j < p.count; j++) {
                    uint32_t bits;
                    memcpy(&bits, &all[k][j], 4);
                    hash = (hash ^ bits) * 1099511628211u;
                }
            for (uint32_t c = 0; c < bodies[i]->model->cluster_count; c++) {
                uint32_t bits;
                memcpy(&bits, &bodies[i]->clusters[c].map.stray, 4);
                hash = (hash ^ bits) * 1099511628211u;
            }
            sac_soft_destroy(&bodies[i]);
        }
        for (uint32_t m = 0; m < 3; m++) sac_soft_model_destroy(&models[m]);
    }
    sac_tasks_destroy(&tasks);
    return hash;
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    sac_simd before = sac_simd_active();
    uint64_t scalar = play(SAC_SIMD_SCALAR, 1);
    assert_true(scalar == 0x915ce51806a1d97cu); /* any compiler; another number means another simulation */
    for (int simd = 1; simd < SAC_SIMD_COUNT; simd++)
        if (sac_simd_supported((sac_simd)simd)) assert_true(play((sac_simd)simd, 1) == scalar);
    sac_simd_force(before, NULL);
    for (uint32_t threads = 2; threads <= 4; threads++) assert_true(play(SAC_SIMD_COUNT, threads) == scalar);
}

static void rotations_are_the_best_there_are(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(2);
    for (int trial = 0; trial < 3000; trial++) {
        double a[3][3], turn[4] = {0, 0, 0, 1}, rows[3][3], best = -1e9, mine = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) a[i][k] = sac_rng_range(&rng, -1, 1) * (i == trial % 4 ? 0.0 : 1.0);
        sac_turn_follow(a, turn);
        sac_turn_rows(turn, rows);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) mine += rows[i][k] * a[i][k];
        for (int guess = 0; guess < 60; guess++) { /* nobody does better */
            double q[4], length = 0, sum = 0;
            for (int k = 0; k < 4; k++)
                q[k] = turn[k] * (guess % 2) + sac_rng_range(&rng, -1, 1) * (guess % 2 ? 0.05 : 1);
            for (int k = 0; k < 4; k++) length += q[k] * q[k];
            for (int k = 0; k < 4; k++) q[k] /= sqrt(length);
            sac_turn_rows(q, rows);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) sum += rows[i][k] * a[i][k];
            best = fmax(best, sum);
        }
        assert_true(mine >= best - 1e-9);
    }
    double half[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
           turn[4] = {0, 0, 0, 1}; /* exactly half a turn away */
    assert_false(sac_turn_follow(half, turn));
    assert_true(fabs(fabs(turn[0]) - 1) < 1e-9);
}

/* Never below what any direction shows, and not far above. */
static void norms_never_underestimate(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(9);
    for (int trial = 0; trial < 20000; trial++) {
        double m[3][3], v[3] = {1, 0.7, 0.4}, length = 0;
        float f[3][3];
        int kind = trial % 5;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                m[i][k] = sac_rng_range(&rng, -1, 1);
                if (kind == 1) m[i][k] = (i == k) + 1e-6 * m[i][k];
                if (kind == 2 && i == 2) m[i][k] = m[0][k];
                if (kind == 3) m[i][k] *= 1e-20;
                if (kind == 4) m[i][k] = i == k ? (i < 2 ? 1.0 : 0.5) : 1e-9 * m[i][k];
            }
        for (int turn = 0; turn < 300; turn++) { /* power iteration: from below */
            double t[3], u[3];
            for (int i = 0; i < 3; i++) t[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
            for (int i = 0; i < 3; i++) u[i] = m[0][i] * t[0] + m[1][i] * t[1] + m[2][i] * t[2];
            length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            for (int i = 0; i < 3; i++) v[i] = u[i] / length;
        }
        double below = sqrt(length), above = sac_norm_above(m);
        assert_true(above >= below * (1 - 1e-15));
        if (kind == 0 || kind == 4) assert_true(above <= below * (1 + 2e-3));
        if (kind == 1) assert_true(above <= below * (1 + 1e-5));
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) f[i][k] = (float)m[i][k];
        assert_true(sac_norm_above_f(f) >= above * (1 - 1e-7) || kind == 3);
    }
    assert_true(fabs(sac_cube_root(27) - 3) < 1e-12 && fabs(sac_cube_root(1e-9) - 1e-3) < 1e-15);
    assert_true(fabs(sac_exp_minus(1.5) - exp(-1.5)) < 1e-12);
}

static void bad_input_is_refused_or_survived(void **state)
{
    (void)state;
    sac_soft_model *model = NULL;
    sac_soft *soft;
    sac_error error;
    sac_soft_def def = sac_default_soft_def(), bad = def;
    fill(100, 2, 1, 1, 1);
    const float(*p)[3] = (const float(*)[3])cloud;
    assert_int_equal(sac_soft_model_create(p, masses, 0, &def, &model, &error), SAC_ERROR_EMPTY);
    bad.cookie = 0;
    assert_int_equal(sac_soft_model_create(p, masses, 10, &bad, &model, &error), SAC_ERROR_ARGUMENT);
    bad = def, bad.beta = NAN;
    assert_int_equal(sac_soft_model_create(p, masses, 10, &bad, &model, &error), SAC_ERROR_ARGUMENT);
    masses[5] = 0;
    assert_int_equal(sac_soft_model_create(p, masses, 10, &def, &model, &error), SAC_ERROR_ARGUMENT);
    masses[5] = 1, cloud[3][1] = INFINITY;
    assert_int_equal(sac_soft_model_create(p, masses, 10, &def, &model, &error), SAC_ERROR_ARGUMENT);
    /* One point, a line, a plane, all in one place, clusters of one point: pushed, pulled to the end of the
     * world, and still finite. */
    for (int kind = 0; kind < 6; kind++)
        for (int mode = 0; mode < SAC_SOFT_MODES; mode++) {
            uint32_t count = kind == 0 ? 1 : kind == 4 ? 9 : 100;
            fill(count, 3, 1, kind == 1 || kind == 3 ? 0.0f : 1.0f, kind == 5 ? 1.0f : 0.0f);
            if (kind == 3)
                for (uint32_t i = 0; i < count; i++) cloud[i][0] = 2;
            def = plain((sac_soft_mode)mode, kind == 4 ? 9 : kind == 2 ? 3 : 1);
            def.creep = 1;
            soft = body(count, &def, NULL, &model);
            assert_int_equal(sac_soft_push(soft, 0, (float[3]){NAN, 0, 0}, &error), SAC_ERROR_ARGUMENT);
            assert_int_equal(sac_soft_hold(soft, 0, (float[3]){0, INFINITY, 0}, &error), SAC_ERROR_ARGUMENT);
            assert_int_equal(sac_soft_push(soft, count, (float[3]){0}, &error), SAC_ERROR_ARGUMENT);
            sac_soft_push(soft, count - 1, (float[3]){3e38f, -3e38f, 1}, NULL);
            sac_soft_hold(soft, 0, (float[3]){3e38f, 3e38f, -3e38f}, NULL);
            for (int i = 0; i < 300; i++) {
                step(soft, 1.0f / 90, 9.81f);
                if (i == 150) sac_soft_release(soft, 0, NULL);
            }
            for (uint32_t i = 0; i < count; i++)
                assert_true(isfinite(soft->x[i]) && isfinite(soft->y[i]) && isfinite(soft->z[i]) &&
                            isfinite(soft->vx[i]));
            for (uint32_t c = 0; c < sac_soft_model_clusters(model); c++) {
                sac_soft_map map;
                sac_soft_map_of(soft, c, &map);
                assert_true(isfinite(map.stray) && map.stray >= 0);
            }
            sac_soft_step_def wrong = {0, {0}};
            assert_int_equal(sac_soft_step(&soft, 1, &wrong, NULL, NULL), SAC_ERROR_ARGUMENT);
            done(soft, model);
        }
}

static uint32_t outside(const sac_soft *soft, const sac_soft_tree *tree, sac_soft_cover *cover)
{
    uint32_t bad = 0;
    for (uint32_t block = 0; block < tree->block_count; block++) {
        const sac_sphere_block *eight = sac_soft_cover_block(cover, block);
        for (uint32_t lane = 0; lane < SAC_LANES; lane++) {
            sac_soft_range r = tree->range[block * SAC_LANES + lane];
            for (uint32_t i = r.first; i < r.first + r.count; i++) {
                uint32_t q = tree->order[i];
                double x = (double)soft->x[q] - eight->x[lane], y = (double)soft->y[q] - eight->y[lane],
                       z = (double)soft->z[q] - eight->z[lane];
                bad += !(sqrt(x * x + y * y + z * z) <= eight->r[lane]);
            }
        }
    }
    for (int k = 0; k < 3; k++) { /* and no wider than the points are */
        const float *x = k == 0 ? soft->x : k == 1 ? soft->y : soft->z;
        float low = x[0], high = x[0];
        for (uint32_t i = 0; i < soft->model->count; i++) low = fminf(low, x[i]), high = fmaxf(high, x[i]);
        bad += low != soft->box.low[k] || high != soft->box.high[k];
    }
    return bad;
}

/* A step is a pull and a move; a frame without time falls instead. Bounds hold before, between and after, and
 * nothing that is written into velocities in between breaks a body. */
static void halves_make_a_whole(void **state)
{
    (void)state;
    for (int mode = 0; mode < SAC_SOFT_MODES; mode++) {
        sac_soft_model *model;
        sac_soft_tree *tree;
        sac_soft_cover *cover;
        sac_soft *halves, *whole;
        sac_rng rng = sac_rng_seed(51);
        fill(501, 8, 1, 0.7f, 0.5f);
        sac_soft_def def = plain((sac_soft_mode)mode, mode == 1 ? 1 : 5);
        sac_soft_tree_def tree_def = sac_default_soft_tree_def();
        halves = body(501, &def, NULL, &model);
        assert_int_equal(sac_soft_create(model, NULL, &whole, NULL), SAC_OK);
        assert_int_equal(sac_soft_tree_create(model, &tree_def, &tree, NULL), SAC_OK);
        assert_int_equal(sac_soft_cover_create(tree, halves, &cover, NULL), SAC_OK);
        sac_soft_step_def sd = {1.0f / 90, {0, -9.81f, 0}};
        for (int turn = 0; turn < 60; turn++) {
            sac_soft *both[2] = {halves, whole};
            uint32_t point = sac_rng_below(&rng, 501);
            float push[3] = {sac_rng_range(&rng, -9, 9), sac_rng_range(&rng, -9, 90), 2};
            for (int k = 0; k < 2; k++) {
                sac_soft_push(both[k], point, push, NULL);
                if (turn == 20) sac_soft_hold(both[k], 500, (float[3]){3, 1, 0}, NULL);
            }
            sac_soft_report one, two, all;
            assert_int_equal(sac_soft_pull(&halves, 1, &sd, NULL, &one), SAC_OK);
            if (turn % 7 == 0) assert_int_equal(outside(halves, tree, cover), 0);
            assert_int_equal(sac_soft_move(&halves, 1, &sd, NULL, &two), SAC_OK);
            assert_int_equal(sac_soft_step(&whole, 1, &sd, NULL, &all), SAC_OK);
            assert_int_equal(outside(halves, tree, cover), 0);
            assert_int_equal(one.slowed + two.slowed, all.slowed);
            assert_memory_equal(halves->x, whole->x, 504 * sizeof(float));
            assert_memory_equal(halves->vz, whole->vz, 504 * sizeof(float));
        }
        for (int turn = 0; turn < 30; turn++) { /* nothing but gravity, for a third of a second */
            assert_int_equal(sac_soft_fall(halves, &sd), SAC_OK);
            assert_int_equal(outside(halves, tree, cover), 0);
            assert_int_equal(sac_soft_move(&halves, 1, &sd, NULL, NULL), SAC_OK);
            assert_int_equal(outside(halves, tree, cover), 0);
        }
        sac_soft_destroy(&whole); /* a calm one falls half a metre, and its goals with it */
        assert_int_equal(sac_soft_create(model, NULL, &whole, NULL), SAC_OK);
        for (int turn = 0; turn < 30; turn++)
            sac_soft_fall(whole, &sd), sac_soft_move(&whole, 1, &sd, NULL, NULL);
        assert_true(whole->y[3] < cloud[3][1] - 0.5f);
        assert_true(whole->clusters[0].map.stray < 1e-4f);
        for (int turn = 0; turn < 30; turn++) { /* an answer to contacts that went wrong */
            sac_soft_pull(&halves, 1, &sd, NULL, NULL);
            halves->vx[500] = halves->vx[9] = turn % 2 ? NAN : INFINITY, halves->vy[7] = 3e38f,
            halves->vz[8] = -INFINITY;
            sac_soft_report report;
            sac_soft_move(&halves, 1, &sd, NULL, &report);
            assert_true(report.slowed >= 2); /* point 500 is held */
            for (uint32_t i = 0; i < 504; i++)
                assert_true(isfinite(halves->x[i] + halves->y[i] + halves->z[i]) &&
                            isfinite(halves->vx[i] + halves->vy[i] + halves->vz[i]));
            assert_int_equal(outside(halves, tree, cover), 0);
        }
        sac_soft_cover_destroy(&cover), sac_soft_tree_destroy(&tree);
        sac_soft_destroy(&whole);
        done(halves, model);
    }
}

/* Against plain sums; no point and no velocity is left out; the same bits on every path. */
static void bodies_as_a_whole(void **state)
{
    (void)state;
    sac_simd before = sac_simd_active();
    for (uint32_t count = 1; count < 1300; count = count * 3 + 1) {
        fill(count, count, 1, 2, 0.3f);
        sac_soft_model *model;
        sac_soft_def def = plain(SAC_SOFT_LINEAR, 1);
        sac_transform pose = {.translation = {40, -7, 3}, .rotation = {0, 0, 0, 1}, .scale = 1};
        sac_soft *soft = body(count, &def, &pose, &model);
        sac_soft_motion m, other;
        double c[3] = {0}, v[3] = {0}, mass = 0;
        for (uint32_t i = 0; i < count; i++)
            sac_soft_push(soft, i, (float[3]){cloud[i][1], 5, cloud[i][0] * 3}, NULL);
        sac_soft_motion_of(soft, &m);
        const float *x[3] = {soft->x, soft->y, soft->z}, *u[3] = {soft->vx, soft->vy, soft->vz};
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                uint32_t at = model->place[i];
                c[k] += (double)masses[i] * x[k][at], v[k] += (double)masses[i] * u[k][at];
                if (k == 0) mass += masses[i];
                assert_true(x[k][at] >= m.box.low[k] && x[k][at] <= m.box.high[k]);
            }
        double far = 0, fast = 0;
        for (uint32_t i = 0; i < count; i++) {
            double d2 = 0, v2 = 0;
            for (int k = 0; k < 3; k++) {
                d2 += ((double)x[k][i] - m.centre[k]) * ((double)x[k][i] - m.centre[k]);
                v2 += ((double)u[k][i] - m.velocity[k]) * ((double)u[k][i] - m.velocity[k]);
            }
            far = fmax(far, sqrt(d2)), fast = fmax(fast, sqrt(v2));
        }
        assert_true(m.radius >= far && m.radius <= far * 1.0001 + 1e-6);
        assert_true(m.spread >= fast && m.spread <= fast * 1.0001 + 1e-6);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(c[k] / mass - m.centre[k]) < 1e-5);
            assert_true(fabs(v[k] / mass - m.velocity[k]) < 1e-4);
        }
        for (int simd = 0; simd < SAC_SIMD_COUNT; simd++) {
            if (!sac_simd_supported((sac_simd)simd)) continue;
            sac_simd_force((sac_simd)simd, NULL);
            sac_soft_motion_of(soft, &other);
            assert_memory_equal(&m, &other, sizeof m);
        }
        sac_simd_force(before, NULL);
        done(soft, model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_never_underestimate),
        cmocka_unit_test(rotations_are_the_best_there_are),
        cmocka_unit_test(rest_is_a_fixed_point),
        cmocka_unit_test(rigid_motion_is_reproduced),
        cmocka_unit_test(momentum_is_conserved),
        cmocka_unit_test(step_rate_does_not_matter),
        cmocka_unit_test(wrecked_bodies_come_back),
        cmocka_unit_test(plasticity_keeps_its_limits),
        cmocka_unit_test(least_squares_agree),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(halves_make_a_whole),
        cmocka_unit_test(bodies_as_a_whole),
        cmocka_unit_test(bad_input_is_refused_or_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
