#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "bench/contact_lattice.h"
#include "tests/solver_play.h"

static const float up[3] = {0, 1, 0};

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        print_error("%g, expected %g within %g\n", value, expected, tolerance);
        fail();
    }
}

static float length(const float v[3]) { return sqrtf(play_dot(v, v)); }

/* ---- one body ---- */

static void test_rest_on_plane(void **state)
{
    (void)state;
    play *p = play_create();
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    play_box(p, 0, 0.6f, 0, 0.1f, 0.1f, 0.1f, 1);
    for (int frame = 0; frame < 360; frame++) {
        play_begin(p);
        play_face(p, 0, 1, up, 0);
        play_end(p);
    }
    const play_body *b = &p->bodies[1];
    /* Anywhere between touching and slop; below it only by what a soft contact yields under the weight. */
    float gap = b->x[1] - 0.1f;
    assert_true(gap < 1e-5f && gap > -(p->solver->def.slop + 0.0001f));
    assert_true(fabsf(b->v[1]) < 1e-4f && length(b->w) < 1e-4f);
    play_destroy(p);
}

/* Buried 5 cm deep it comes up at push_speed at most, and does not jump. */
static void test_deep_overlap(void **state)
{
    (void)state;
    play *p = play_create();
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    play_box(p, 0, 0.05f, 0, 0.1f, 0.1f, 0.1f, 1);
    float highest = -1, fastest = 0, last = 0.05f;
    for (int frame = 0; frame < 180; frame++) {
        play_begin(p);
        play_face(p, 0, 1, up, 0);
        play_end(p);
        const play_body *b = &p->bodies[1];
        highest = fmaxf(highest, b->x[1]);
        fastest = fmaxf(fastest, b->v[1]);
        assert_true((b->x[1] - last) / p->step.dt <= p->solver->def.push_speed * 1.01f);
        last = b->x[1];
    }
    near(p->bodies[1].x[1], 0.1, 0.001);
    assert_true(highest < 0.1005f);
    assert_true(fastest < 0.05f);
    play_destroy(p);
}

/* The slope's angle is in gravity. */
static float slide_on_slope(float friction, float angle, float seconds)
{
    play *p = play_create();
    p->friction = friction;
    p->gravity[0] = 9.81f * sinf(angle), p->gravity[1] = -9.81f * cosf(angle);
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    play_box(p, 0, 0.05f, 0, 0.2f, 0.05f, 0.2f, 1);
    int frames = (int)(seconds / p->step.dt);
    for (int frame = 0; frame < frames; frame++) {
        play_begin(p);
        play_face(p, 0, 1, up, 0);
        play_end(p);
    }
    float speed = p->bodies[1].v[0];
    play_destroy(p);
    return speed;
}

static void test_friction_cone(void **state)
{
    (void)state;
    for (float friction = 0.2f; friction < 0.9f; friction += 0.3f) {
        float hold = atanf(friction) - 0.02f, slip = atanf(friction) + 0.1f;
        near(slide_on_slope(friction, hold, 1.0f), 0, 0.001);
        float expected = 9.81f * (sinf(slip) - friction * cosf(slip));
        near(slide_on_slope(friction, slip, 1.0f), expected, 0.03 * expected);
    }
}

static void test_restitution(void **state)
{
    (void)state;
    for (float e = 0.3f; e <= 0.91f; e += 0.3f) {
        play *p = play_create();
        p->restitution = e, p->margin = 0.1f;
        play_box(p, 0, -1, 0, 5, 1, 5, 0);
        play_ball(p, 0, 1.1f, 0, 0.1f, 2);
        float highest = 0;
        bool met = false;
        for (int frame = 0; frame < 130; frame++) {
            play_begin(p);
            play_ball_on_plane(p, 0, 1, up, 0);
            play_end(p);
            if (p->bodies[1].v[1] > 0) met = true;
            if (met && p->bodies[1].v[1] <= 0) break;
            if (met) highest = fmaxf(highest, p->bodies[1].x[1] - 0.1f);
        }
        near(highest, e * e, 0.06 * e * e + 0.01);
        play_destroy(p);
    }
}

static void test_rolling(void **state)
{
    (void)state;
    float ways[2];
    for (int with = 0; with < 2; with++) {
        play *p = play_create();
        p->rolling = with ? 0.005f : 0;
        play_box(p, 0, -1, 0, 50, 1, 50, 0);
        play_body *ball = play_ball(p, 0, 0.1f, 0, 0.1f, 1);
        ball->v[0] = 1, ball->w[2] = -10;
        for (int frame = 0; frame < 360; frame++) {
            play_begin(p);
            play_ball_on_plane(p, 0, 1, up, 0);
            play_end(p);
        }
        ways[with] = p->bodies[1].x[0];
        if (with) assert_true(length(p->bodies[1].v) < 1e-3f && length(p->bodies[1].w) < 1e-2f);
        if (!with) near(p->bodies[1].v[0], 1, 0.01);
        /* m a = -lever m g / r against 7/5 of the mass: it stops after v^2 / (2 a). */
        if (with) near(ways[1], 0.5 / (0.05 * 9.81 / 1.4), 0.08);
        play_destroy(p);
    }
}

/* ---- two bodies ---- */

static void test_momentum(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(5);
    for (int round = 0; round < 50; round++) {
        play *p = play_create();
        memset(p->gravity, 0, sizeof p->gravity);
        p->restitution = round % 2 ? 0.5f : 0;
        p->rolling = round % 3 ? 0 : 0.01f;
        play_ball(p, 0, 0, 0, 0.1f, sac_rng_range(&rng, 0.1f, 10));
        play_ball(p, sac_rng_range(&rng, 0.16f, 0.2f), sac_rng_range(&rng, -0.05f, 0.05f), 0, 0.1f,
                  sac_rng_range(&rng, 0.1f, 10));
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++) {
                p->bodies[i].v[k] = sac_rng_range(&rng, -3, 3) + (k ? 0 : i ? -3.0f : 3.0f);
                p->bodies[i].w[k] = sac_rng_range(&rng, -20, 20);
            }
        double sums[2][6];
        for (int after = 0; after < 2; after++) {
            double *s = sums[after];
            memset(s, 0, sizeof sums[after]);
            for (int i = 0; i < 2; i++) {
                const play_body *b = &p->bodies[i];
                float turn[3];
                play_cross(b->x, b->v, turn);
                for (int k = 0; k < 3; k++) {
                    s[k] += b->mass * b->v[k];
                    s[3 + k] += b->mass * turn[k] + b->inertia[k] * b->w[k];
                }
            }
            if (after) break;
            play_begin(p);
            play_balls(p, 0, 1);
            assert_int_equal(p->contact_count, 1);
            /* Angular momentum about the origin is conserved by the impulses, so look before anybody moves.
             */
            float x[2][3];
            memcpy(x[0], p->bodies[0].x, sizeof x[0]), memcpy(x[1], p->bodies[1].x, sizeof x[1]);
            play_end(p);
            memcpy(p->bodies[0].x, x[0], sizeof x[0]), memcpy(p->bodies[1].x, x[1], sizeof x[1]);
        }
        for (int k = 0; k < 6; k++) near(sums[1][k], sums[0][k], 2e-4);
        play_destroy(p);
    }
}

/* A hundred times heavier stands on what is lighter; a thousand times sinks in, but gains no energy. */
static void test_mass_ratio(void **state)
{
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++) {
        play *p = play_create();
        play_box(p, 0, -1, 0, 5, 1, 5, 0);
        play_box(p, 0, 0.1f, 0, 0.1f, 0.1f, 0.1f, 1);
        play_box(p, 0, 0.3f, 0, 0.1f, 0.1f, 0.1f, heavy ? 1000 : 100);
        double first = play_energy(p);
        for (int frame = 0; frame < 360; frame++) {
            play_begin(p);
            play_stacked(p, 0, 1), play_stacked(p, 1, 2);
            play_end(p);
            assert_true(play_energy(p) <= first * 1.0001 && p->bodies[2].v[1] < 0.5f);
        }
        if (!heavy) near(p->bodies[2].x[1], 0.3, 0.04), assert_true(length(p->bodies[2].v) < 0.01f);
        play_destroy(p);
    }
}

/* ---- many ---- */

static void test_stack(void **state)
{
    (void)state;
    play *p = play_create();
    enum { HIGH = 10 };
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    for (int i = 0; i < HIGH; i++) play_box(p, 0, 0.1f + 0.2f * (float)i, 0, 0.1f, 0.1f, 0.1f, 1);
    for (int frame = 0; frame < 900; frame++) {
        play_begin(p);
        for (uint32_t i = 0; i < HIGH; i++) play_stacked(p, i, i + 1);
        play_end(p);
        if (frame > 100) assert_true(p->deepest < 0.01f);
    }
    for (int i = 1; i <= HIGH; i++) {
        const play_body *b = &p->bodies[i];
        assert_true(length(b->v) < 1e-4f && length(b->w) < 1e-3f);
        near(b->x[0], 0, 0.005), near(b->x[2], 0, 0.005), near(b->x[1], 0.1 + 0.2 * (i - 1), 0.02);
    }
    play_destroy(p);
}

static void test_energy_never_grows(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(11);
    for (int round = 0; round < 4; round++) {
        play *p = play_create();
        if (round % 2) memset(p->gravity, 0, sizeof p->gravity);
        p->rolling = round > 1 ? 0.002f : 0;
        enum { BALLS = 40 };
        play_box(p, 0, -1, 0, 5, 1, 5, 0);
        for (int i = 0; i < BALLS; i++) {
            play_body *b = play_ball(p, sac_rng_range(&rng, -0.4f, 0.4f), 0.15f + 0.05f * (float)i,
                                     sac_rng_range(&rng, -0.4f, 0.4f), 0.1f, sac_rng_range(&rng, 0.2f, 4));
            for (int k = 0; k < 3; k++)
                b->v[k] = sac_rng_range(&rng, -2, 2), b->w[k] = sac_rng_range(&rng, -9, 9);
        }
        double before = play_energy(p), first = before, depth = 0;
        for (int frame = 0; frame < 300; frame++) {
            play_begin(p);
            for (uint32_t i = 1; i <= BALLS; i++) {
                play_ball_on_plane(p, 0, i, up, 0);
                for (uint32_t k = i + 1; k <= BALLS; k++) play_balls(p, i, k);
            }
            depth = fmax(depth, p->deepest);
            play_end(p);
            double now = play_energy(p);
            /* Overlap undone against gravity lifts bodies: that much is allowed, kinetic energy is not. */
            assert_true(now <= before + 0.003 * fabs(first) + 40 * 2 * 9.81 * 0.0005);
            assert_true(now <= first * 1.0001 + 0.01);
            before = fmin(before, now);
        }
        play_destroy(p);
    }
}

/* A body with far more contacts than there are colours. */
static void test_hub(void **state)
{
    (void)state;
    play *p = play_create();
    enum { ROWS = 10 };
    play_box(p, 0, -1, 0, 5, 1, 5, 0);
    play_box(p, 0, 0.1f, 0, 1.2f, 0.1f, 1.2f, 20);
    for (int i = 0; i < ROWS * ROWS; i++)
        play_ball(p, -1 + 0.22f * (float)(i % ROWS), 0.3f, -1 + 0.22f * (float)(i / ROWS), 0.1f, 1);
    for (int frame = 0; frame < 200; frame++) {
        play_begin(p);
        play_face(p, 0, 1, up, 0);
        for (uint32_t i = 0; i < ROWS * ROWS; i++) {
            float m[3][3], n[3], top[3];
            play_rows(p->bodies[1].q, m);
            for (int k = 0; k < 3; k++) n[k] = m[k][1], top[k] = p->bodies[1].x[k] + 0.1f * n[k];
            play_ball_on_plane(p, 1, i + 2, n, play_dot(top, n));
        }
        play_end(p);
    }
    assert_int_equal(p->report.overflow, ROWS * ROWS - 48);
    for (uint32_t i = 1; i < p->count; i++) assert_true(length(p->bodies[i].v) < 0.02f);
    near(p->bodies[1].x[1], 0.1, 0.02);
    play_destroy(p);
}

/* ---- holds ---- */

static sac_solver_grab grab_of(uint32_t body, float force)
{
    return (sac_solver_grab){
        .body = body, .hertz = 12, .damping = 1, .most_force = force, .most_torque = force};
}

static void test_grab(void **state)
{
    (void)state;
    play *p = play_create();
    play_box(p, 0, 1, 0, 0.1f, 0.2f, 0.1f, 1);
    const float target[3] = {0.5f, 1.2f, -0.3f}, local[3] = {0, 0.2f, 0};
    p->grabs[0] = grab_of(0, 1000), p->grab_count = 1;
    for (int frame = 0; frame < 180; frame++) {
        play_body *b = &p->bodies[0];
        float m[3][3];
        play_rows(b->q, m);
        for (int k = 0; k < 3; k++) {
            p->grabs[0].arm[k] = play_dot(m[k], local);
            p->grabs[0].offset[k] = target[k] - b->x[k] - p->grabs[0].arm[k];
            /* Towards a quarter turn about z: q = (0, 0, s, s). */
            p->grabs[0].twist[k] = 0;
        }
        p->grabs[0].twist[2] = 1.5707963f - 2 * atan2f(b->q[2], b->q[3]);
        play_begin(p);
        play_end(p);
        float force = length(p->grabs[0].impulse) / p->step.dt;
        assert_true(force <= 1000.1f);
    }
    float m[3][3];
    play_rows(p->bodies[0].q, m);
    for (int k = 0; k < 3; k++)
        near(p->bodies[0].x[k] + play_dot(m[k], local), target[k], 0.01); /* a spring gives */
    near(2 * atan2f(p->bodies[0].q[2], p->bodies[0].q[3]), 1.5707963, 0.03);
    assert_true(length(p->bodies[0].v) < 0.01f);
    play_destroy(p);
}

/* Held with less than its weight, it falls with what is left. */
static void test_grab_limit(void **state)
{
    (void)state;
    play *p = play_create();
    play_box(p, 0, 1, 0, 0.1f, 0.1f, 0.1f, 2);
    p->grabs[0] = grab_of(0, 10), p->grab_count = 1;
    for (int frame = 0; frame < 90; frame++) {
        p->grabs[0].offset[1] = 1 - p->bodies[0].x[1];
        play_begin(p);
        play_end(p);
        assert_true(length(p->grabs[0].impulse) <= 10 * p->step.dt * 1.001f);
    }
    near(p->bodies[0].v[1], -(9.81 - 5) * 1.0, 0.25);
    play_destroy(p);
}

/* ---- the reference ---- */

static void test_reference_impulse(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(3);
    for (int round = 0; round < 200; round++) {
        sac_solver_body body[2];
        memset(body, 0, sizeof body);
        float arm[2][3], n[3], e = sac_rng_float(&rng);
        sac_rng_unit_vector(&rng, n);
        for (int i = 0; i < 2; i++) {
            body[i].inverse_mass = round % 7 == i ? 0 : sac_rng_range(&rng, 0.1f, 5);
            for (int k = 0; k < 3; k++) {
                body[i].v[k] = sac_rng_range(&rng, -3, 3), body[i].w[k] = sac_rng_range(&rng, -3, 3);
                body[i].inverse_inertia[k] = body[i].inverse_mass > 0 ? sac_rng_range(&rng, 5, 9) : 0;
                body[i].inverse_inertia[3 + k] = body[i].inverse_mass > 0 ? sac_rng_range(&rng, -1, 1) : 0;
                arm[i][k] = sac_rng_range(&rng, -1, 1);
            }
        }
        double speed[2];
        float j = sac_impulse_reference(&body[0], &body[1], arm[0], arm[1], n, e);
        for (int after = 0; after < 2; after++) {
            speed[after] = 0;
            for (int i = 0; i < 2; i++) {
                float swing[3];
                play_cross(body[i].w, arm[i], swing);
                speed[after] += (i ? 1 : -1) * (double)(play_dot(body[i].v, n) + play_dot(swing, n));
            }
            float p[2][3];
            for (int k = 0; k < 3; k++) p[0][k] = -j * n[k], p[1][k] = j * n[k];
            for (int i = 0; i < 2 && !after; i++) sac_impulse_apply(&body[i], arm[i], p[i]);
        }
        if (speed[0] < 0)
            near(speed[1], -e * speed[0], 1e-4);
        else
            assert_true(j == 0);
    }
    /* Two equal balls head on, by hand: all of it passes over. */
    sac_solver_body one = {.v = {1, 0, 0}, .inverse_mass = 1}, two = {.inverse_mass = 1};
    const float x[3] = {1, 0, 0}, none[3] = {0};
    near(sac_impulse_reference(&one, &two, none, none, x, 1), 1, 1e-6);
    near(sac_impulse_reference(&one, &two, none, none, x, 0), 0.5, 1e-6);
}

static void test_single_impulse_mode(void **state)
{
    (void)state;
    play *p = play_create();
    p->step.single_impulse = true;
    memset(p->gravity, 0, sizeof p->gravity);
    p->restitution = 1;
    play_ball(p, 0, 0, 0, 0.1f, 1)->v[0] = 2;
    play_ball(p, 0.2f, 0, 0, 0.1f, 1);
    p->bodies[1].x[0] = 0.1999f;
    play_begin(p);
    play_balls(p, 0, 1);
    play_end(p);
    near(p->bodies[0].v[0], 0, 1e-5), near(p->bodies[1].v[0], 2, 1e-5);
    near(p->bodies[1].x[0], 0.1999 + 2 * p->step.dt, 1e-5);
    play_destroy(p);
}

/* ---- the same bits, and the stop ---- */

static uint64_t hash_of(const sac_solver *solver, uint64_t hash)
{
    const uint8_t *parts[2] = {(const uint8_t *)solver->bodies, (const uint8_t *)solver->contacts};
    size_t sizes[2] = {solver->body_count * sizeof *solver->bodies, 0};
    for (size_t i = 0; i < sizes[0]; i++) hash = (hash ^ parts[0][i]) * 0x100000001b3u;
    for (uint32_t c = 0; c < solver->contact_count; c++) {
        const sac_solver_contact *contact = &solver->contacts[c];
        const uint8_t *bytes = (const uint8_t *)contact->points;
        for (size_t i = 0; i < contact->count * sizeof *contact->points; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
        bytes = (const uint8_t *)contact->rolling_impulse;
        for (size_t i = 0; i < sizeof contact->rolling_impulse; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t solve_lattice(sac_simd path, uint32_t threads, uint32_t contacts, sac_stop *stop)
{
    sac_simd before = sac_simd_active();
    sac_tasks *tasks;
    sac_solver *solver;
    sac_solver_def def = sac_default_solver_def();
    sac_solver_report report;
    assert_int_equal(sac_simd_force(path, NULL), SAC_OK);
    assert_int_equal(sac_tasks_create(&(sac_tasks_def){.threads = threads}, &tasks, NULL), SAC_OK);
    assert_int_equal(sac_solver_create(&def, &solver, NULL), SAC_OK);
    uint64_t hash = 0xcbf29ce484222325u;
    for (int round = 0; round < 2; round++) {
        uint32_t count = sac_contact_lattice(solver, contacts, round ? 0.01f : 0, round ? 0.5f : 0, 7);
        assert_int_equal(count, contacts);
        for (uint32_t i = 1; i < solver->body_count && round; i++) solver->bodies[i].v[1] -= 3;
        const sac_solver_step step = {.dt = 1.0f / 90, .substeps = 4, .relaxations = 1};
        sac_solver_solve(solver, &step, stop, tasks, &report);
        hash = hash_of(solver, hash);
    }
    sac_solver_destroy(&solver);
    sac_tasks_destroy(&tasks);
    assert_int_equal(sac_simd_force(before, NULL), SAC_OK);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 37, 1000, 6000};
    for (uint32_t s = 0; s < 4; s++) {
        uint64_t expected = solve_lattice(SAC_SIMD_SCALAR, 1, sizes[s], NULL);
        for (int path = 0; path < SAC_SIMD_COUNT; path++)
            for (uint32_t threads = 1; threads <= 3; threads++)
                if (sac_simd_supported((sac_simd)path) && (path != SAC_SIMD_SCALAR || threads > 1))
                    assert_true(solve_lattice((sac_simd)path, threads, sizes[s], NULL) == expected);
    }
}

/* Stopped after any number of pieces: nobody half integrated, no energy from the pushes, and the same again.
 */
static void test_stop(void **state)
{
    (void)state;
    for (uint64_t pieces = 0; pieces < 20; pieces++) {
        uint64_t hashes[2];
        for (int again = 0; again < 2; again++) {
            sac_clock clock = sac_clock_credits(500);
            sac_stop stop;
            sac_stop_after(&stop, &clock, pieces);
            hashes[again] = solve_lattice(sac_simd_active(), 1 + (uint32_t)again, 1000, &stop);
        }
        assert_true(hashes[0] == hashes[1]);

        play *p = play_create();
        sac_clock clock = sac_clock_credits(500);
        play_box(p, 0, -1, 0, 5, 1, 5, 0);
        play_box(p, 0, 0.07f, 0, 0.1f, 0.1f, 0.1f, 1);
        float highest = 0, y = 0.07f;
        for (int frame = 0; frame < 120; frame++) {
            sac_stop stop;
            sac_stop_after(&stop, &clock, pieces);
            p->stop = &stop;
            play_begin(p);
            play_face(p, 0, 1, up, 0);
            play_end(p);
            y = p->bodies[1].x[1];
            highest = fmaxf(highest, y);
            assert_true(p->report.substeps <= 4);
        }
        /* Without a piece it is not simulated at all; with one it no longer sinks; with a sub-step it rises.
         */
        assert_true(highest < 0.101f && y > 0.069f);
        if (p->report.substeps > 0) assert_true(y > 0.095f);
        if (pieces >= 14) assert_int_equal(p->report.substeps, 4);
        play_destroy(p);
    }
}

/* ---- what must not hurt ---- */

static void test_bad_numbers(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e38f, 0};
    sac_rng rng = sac_rng_seed(21);
    sac_solver_def def = sac_default_solver_def();
    sac_solver *solver;
    assert_int_equal(sac_solver_create(&def, &solver, NULL), SAC_OK);
    for (int round = 0; round < 600; round++) {
        uint32_t count = sac_contact_lattice(solver, 60, 0.01f, 0.5f, (uint64_t)round);
        for (int k = 0; k < 6; k++) {
            float value = bad[sac_rng_below(&rng, 6)];
            if (k % 2) {
                sac_solver_contact *contact = &solver->contacts[sac_rng_below(&rng, count)];
                ((float *)contact)[2 + sac_rng_below(&rng, 3)] = value;
                ((float *)&contact->points[0])[sac_rng_below(&rng, 16)] = value;
                contact->rolling_impulse[1] = value;
            } else {
                uint32_t i = 1 + sac_rng_below(&rng, solver->body_count - 1);
                ((float *)&solver->bodies[i])[sac_rng_below(&rng, 23)] = value;
            }
        }
        solver->contacts[0].a = sac_rng_below(&rng, 2) ? UINT32_MAX : solver->contacts[0].b;
        solver->contacts[1].count = sac_rng_below(&rng, 2) ? 5 : 0;
        const sac_solver_step step = {.dt = round % 50 ? 1.0f / 90 : 10.0f,
                                      .substeps = 1u + (uint32_t)round % 5};
        sac_solver_solve(solver, &step, NULL, NULL, NULL);
        for (uint32_t i = 0; i < solver->body_count; i++) {
            const sac_solver_body *b = &solver->bodies[i];
            for (int k = 0; k < 3; k++)
                assert_true(isfinite(b->v[k]) && isfinite(b->w[k]) && isfinite(b->moved[k]) &&
                            isfinite(b->turned[k]));
        }
        for (uint32_t c = 2; c < count; c++)
            for (uint32_t k = 0; k < solver->contacts[c].count; k++) {
                const sac_solver_point *point = &solver->contacts[c].points[k];
                assert_true(point->impulse >= 0 && isfinite(point->impulse) && isfinite(point->total));
                for (int j = 0; j < 3; j++) assert_true(isfinite(point->friction_impulse[j]));
            }
    }
    for (int k = 0; k < 4; k++) {
        const float times[] = {0, -1, NAN, INFINITY};
        sac_contact_lattice(solver, 10, 0, 0, 1);
        float v = solver->bodies[3].v[0];
        const sac_solver_step step = {.dt = times[k], .substeps = 4};
        sac_solver_solve(solver, &step, NULL, NULL, NULL);
        assert_true(solver->bodies[3].v[0] == v && solver->bodies[3].moved[0] == 0);
    }
    sac_solver_destroy(&solver);
    assert_null(solver);
    def.cookie = 0;
    assert_int_equal(sac_solver_create(&def, &solver, NULL), SAC_ERROR_ARGUMENT);
    def = sac_default_solver_def(), def.slop = NAN;
    assert_int_equal(sac_solver_create(&def, &solver, NULL), SAC_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest_on_plane),
                                       cmocka_unit_test(test_deep_overlap),
                                       cmocka_unit_test(test_friction_cone),
                                       cmocka_unit_test(test_restitution),
                                       cmocka_unit_test(test_rolling),
                                       cmocka_unit_test(test_momentum),
                                       cmocka_unit_test(test_mass_ratio),
                                       cmocka_unit_test(test_stack),
                                       cmocka_unit_test(test_energy_never_grows),
                                       cmocka_unit_test(test_hub),
                                       cmocka_unit_test(test_grab),
                                       cmocka_unit_test(test_grab_limit),
                                       cmocka_unit_test(test_reference_impulse),
                                       cmocka_unit_test(test_single_impulse_mode),
                                       cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_stop),
                                       cmocka_unit_test(test_bad_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
