/* The show: scenes on their feet, the same motion at any refresh rate, this frame's gaze in this frame's
 * priorities, nothing allocated once it runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apps/console.h"
#include "apps/show.h"
#include "apps/show_camera.h"
#include "apps/show_options.h"
#include "counted_memory.h"

/* ---- playing ---- */

static sac_show *open_show(const char *scene, uint32_t bodies, uint64_t budget_ns)
{
    sac_show_def def = sac_default_show_def();
    sac_show *show;
    sac_error error;
    def.scene = scene;
    def.staging.bodies = bodies;
    def.budget_ns = budget_ns;
    def.credits = true;
    if (sac_show_open(&def, &show, &error) != SAC_OK) fail_msg("%s: %s", scene, error.message);
    return show;
}

static void advance(sac_show *show, int64_t display_ns, const sac_viewer *viewer)
{
    sac_show_frame frame = {.display_ns = display_ns, .viewer = *viewer};
    sac_error error;
    if (sac_show_advance(show, &frame, &error) != SAC_OK) fail_msg("%s", error.message);
}

static void draw(sac_show *show, const sac_viewer *viewer, sac_drawing *drawing)
{
    const sac_show_look look = {.width = 640, .height = 480};
    sac_error error;
    if (sac_show_draw(show, viewer->eyes, viewer->eye_count, &look, drawing, &error) != SAC_OK)
        fail_msg("%s", error.message);
}

static int64_t frame_ns(uint32_t frame, double hz) { return (int64_t)((double)frame / hz * 1e9) + 1; }

static const struct {
    const char *name;
    uint32_t bodies, worlds;
} scenes[] = {{"workshop", 12, 1}, {"hailstorm", 60, 1}, {"billiards", 0, 1}, {"side-by-side", 40, 2},
              {"rain", 30, 1},     {"avalanche", 20, 1}, {"jelly", 9, 1},     {"santas", 4, 1}};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* Instrumented code is ten times as slow: there a second of each scene has to show the same. */
#ifdef SACCADE_INSTRUMENTED
enum { STEPS = 90 };
#else
enum { STEPS = 200 };
#endif

static void scenes_run_the_same_twice(void **state)
{
    (void)state;
    for (int s = 0; s < SCENES; s++) {
        uint64_t hashes[2][2] = {{0}}, steps = 0;
        sac_show *show = open_show(scenes[s].name, scenes[s].bodies, 1000000);
        sac_viewer viewer = sac_show_viewer(show);
        sac_error error;
        sac_show_stats stats;
        sac_drawing drawing;
        uint32_t f = 0;
        assert_int_equal(sac_show_worlds(show), scenes[s].worlds);
        for (int turn = 0; turn < 2; turn++) {
            /* The second time from the start again, with its gallery. */
            if (turn) assert_int_equal(sac_show_restart(show, &error), SAC_OK);
            for (steps += STEPS, stats.steps = 0; stats.steps < steps; f++) {
                advance(show, frame_ns(f, 90), &viewer);
                if (f % 20 == 0) draw(show, &viewer, &drawing);
                sac_show_stats_get(show, &stats);
            }
            assert_int_equal(stats.steps, steps);
            for (uint32_t w = 0; w < scenes[s].worlds; w++)
                hashes[turn][w] = sac_world_hash(sac_show_world_at(show, w));
            draw(show, &viewer, &drawing);
            sac_show_stats_get(show, &stats);
            assert_true(stats.bodies > 0 && drawing.instance_count + drawing.skinned_count >= stats.bodies);
            for (uint32_t i = 0; i < drawing.instance_count; i++)
                assert_true(sac_vec3_is_finite(drawing.instances[i].position) &&
                            drawing.instances[i].scale > 0);
        }
        for (uint32_t w = 0; w < scenes[s].worlds; w++) assert_true(hashes[0][w] == hashes[1][w]);
        if (scenes[s].worlds == 2) assert_true(hashes[0][0] != hashes[0][1]); /* two policies */
        sac_show_close(&show);
    }
}

/* Every sixth of a second is a frame at 72, 90 and 120 Hz. */
static void the_same_motion_at_any_rate(void **state)
{
    (void)state;
    enum { MOMENTS = 12, MOST = 128 };
    static const uint32_t rates[] = {72, 90, 120};
    static float seen[3][MOMENTS][MOST][7];
    uint32_t count = 0;
    float moved = 0;
    for (int r = 0; r < 3; r++) {
        sac_show *show = open_show("pile", 40, 0);
        sac_viewer viewer = sac_show_viewer(show);
        uint32_t every = rates[r] / 6, moment = 0;
        for (uint32_t f = 0; f < every * MOMENTS; f++) {
            sac_drawing drawing;
            advance(show, frame_ns(f, rates[r]), &viewer);
            if (f % every) continue;
            draw(show, &viewer, &drawing);
            assert_true(drawing.instance_count <= MOST);
            count = drawing.instance_count;
            for (uint32_t i = 0; i < count; i++) {
                memcpy(seen[r][moment][i], drawing.instances[i].position, 3 * sizeof(float));
                memcpy(seen[r][moment][i] + 3, drawing.instances[i].rotation, 4 * sizeof(float));
            }
            moment++;
        }
        sac_show_close(&show);
    }
    for (int m = 0; m < MOMENTS; m++)
        for (uint32_t i = 0; i < count; i++) {
            for (int k = 0; k < 7; k++) {
                assert_true(fabsf(seen[0][m][i][k] - seen[1][m][i][k]) < 2e-4f);
                assert_true(fabsf(seen[2][m][i][k] - seen[1][m][i][k]) < 2e-4f);
            }
            moved = fmaxf(moved, fabsf(seen[1][m][i][1] - seen[1][0][i][1]));
        }
    assert_true(moved > 0.01f); /* things did fall */
}

/* Between two states the picture lies between them, and on the way. */
static void pictures_lie_between_states(void **state)
{
    (void)state;
    sac_show *show = open_show("orrery", 10, 0);
    sac_viewer viewer = sac_show_viewer(show);
    sac_drawing drawing;
    float last[16][3], way[16] = {0}, jump[16] = {0};
    uint32_t frames = 0;
    for (uint32_t f = 0; f < 90 * 4; f++) {
        advance(show, frame_ns(f, 360), &viewer); /* four pictures a step */
        draw(show, &viewer, &drawing);
        assert_true(drawing.instance_count <= 16);
        for (uint32_t i = 0; i < drawing.instance_count; i++) {
            const float *p = drawing.instances[i].position;
            float d = f < 16 ? 0
                             : sqrtf((p[0] - last[i][0]) * (p[0] - last[i][0]) +
                                     (p[1] - last[i][1]) * (p[1] - last[i][1]) +
                                     (p[2] - last[i][2]) * (p[2] - last[i][2]));
            way[i] += d;
            jump[i] = fmaxf(jump[i], d);
            memcpy(last[i], p, sizeof last[i]);
        }
        frames += f >= 16;
    }
    /* Even motion: no picture moves much more than the mean does. */
    for (uint32_t i = 0; i < drawing.instance_count; i++)
        assert_true(jump[i] <= 3 * way[i] / (float)frames + 1e-5f);
    sac_show_close(&show);
}

/* What the same error in the same pair is in JNDs, as a frame weighs it: whoever else had a turn does not
 * matter. */
enum { PAIRS = 4096 };
typedef struct weighed {
    sac_pair_view pairs[PAIRS];
    uint32_t count;
} weighed;

static void weigh(const sac_world *world, weighed *out)
{
    out->count = sac_world_pairs(world, out->pairs, PAIRS);
    if (out->count > PAIRS) out->count = PAIRS;
}

/* The mean over pairs on one side of how much more an error shows in the second than in the first. */
static double change_of(const weighed *first, const weighed *second, float sign, uint32_t *out_count)
{
    double sum = 0;
    *out_count = 0;
    for (uint32_t i = 0; i < first->count; i++)
        for (uint32_t k = 0; k < second->count; k++) {
            const sac_pair_view *a = &first->pairs[i], *b = &second->pairs[k];
            if ((uint32_t)a->a.value != (uint32_t)b->a.value || (uint32_t)a->b.value != (uint32_t)b->b.value)
                continue;
            if (!a->active || !b->active || !(a->jnd > 0 && b->jnd > 0)) continue;
            if (a->uncertainty != b->uncertainty || !(a->region[0] * sign > 0.2f)) continue;
            sum += log((double)b->jnd / a->jnd);
            ++*out_count;
        }
    return *out_count ? exp(sum / *out_count) : 1;
}

/* Somebody looks to the left for a while; then either goes on doing so, or to the right. Pairs are weighed
 * with this frame's gaze: a millimetre on the side the eye has come to shows more, and one on the other less,
 * in the very frame it came. */
static void gaze_reaches_the_same_frame(void **state)
{
    (void)state;
    enum { LAST = 110 };
    static weighed left, right;
    uint32_t f = 0, lefts, rights;
    sac_error error;
    sac_show_def def = sac_default_show_def();
    sac_show *show;
    def.scene = "pile";
    def.staging = (sac_staging_def){.bodies = 60, .shape = "knot"}; /* whose finest spheres are still off */
    def.budget_ns = 1000000;
    def.credits = true;
    assert_int_equal(sac_show_open(&def, &show, &error), SAC_OK);
    sac_viewer viewer = sac_show_viewer(show);
    viewer.gaze.confidence = 1;
    for (int turn = 0; turn < 2; turn++) {
        if (turn) assert_int_equal(sac_show_restart(show, &error), SAC_OK);
        for (uint32_t n = 0; n <= LAST; n++, f++) {
            const float to[3] = {n == LAST && turn ? 1.2f : -1.2f, 0.4f, 0};
            for (int k = 0; k < 3; k++) viewer.gaze.direction[k] = to[k] - viewer.gaze.origin[k];
            viewer.gaze.time_ns = (uint64_t)frame_ns(f, 90);
            /* Eyes closed on the way. */
            viewer.gaze.valid = n + 12 < LAST || n == LAST;
            advance(show, frame_ns(f, 90), &viewer);
        }
        weigh(sac_show_world_at(show, 0), turn ? &right : &left);
    }
    sac_show_close(&show);
    double on_the_left = change_of(&left, &right, -1, &lefts),
           on_the_right = change_of(&left, &right, 1, &rights);
    if (!(lefts > 4 && rights > 4 && on_the_right > 1.1 && on_the_left < 0.9))
        fail_msg("looking right instead of left, an error shows %g times as much in %u pairs on the left, %g "
                 "in %u "
                 "on the right",
                 on_the_left, lefts, on_the_right, rights);
}

static void allocates_nothing(const char *scene, uint32_t bodies)
{
    counted_memory memory = {0};
    counted_memory_begin(&memory);
    sac_show *show = open_show(scene, bodies, 0);
    sac_viewer viewer = sac_show_viewer(show);
    sac_insight *insight = sac_show_insight(show);
    sac_drawing drawing;
    insight->paint = SAC_PAINT_JND;
    insight->strip = insight->rings = insight->contacts = insight->gaze = true;
    for (uint32_t f = 0; f < 500; f++) {
        if (f == 420) memory.calls = 0;
        advance(show, frame_ns(f, 90), &viewer);
        draw(show, &viewer, &drawing);
    }
    if (memory.calls) fail_msg("%llu allocations in 80 frames", (unsigned long long)memory.calls);
    sac_show_close(&show);
    sac_set_allocator(NULL);
}

static void nothing_is_allocated_once_it_runs(void **state)
{
    (void)state;
    allocates_nothing("pile", 60);
    allocates_nothing("santas", 5);
}

/* ---- what bends ---- */

/* The joint of a point takes its rest place where the point is now. */
static void assert_at_points(const sac_skinned *s, const sac_joint *joints, const sac_world *world,
                             sac_body_id id)
{
    const sac_soft_shape_parts parts = sac_soft_shape_parts_of(sac_body_soft_shape(world, id));
    const sac_soft_points now = sac_soft_view(sac_body_soft(world, id));
    for (uint32_t i = 0; i < parts.point_count; i++) {
        const uint32_t lies = now.place[i];
        const float at[3] = {now.x[lies], now.y[lies], now.z[lies]}, *r = parts.points[i];
        float off2 = 0;
        for (int k = 0; k < 3; k++) {
            const float *row = joints[s->first_joint + i][k];
            float drawn = row[0] * r[0] + row[1] * r[1] + row[2] * r[2] + row[3];
            if (fabsf(drawn - at[k]) > 1e-4f)
                fail_msg("point %u is at %g, drawn at %g", i, (double)at[k], (double)drawn);
            off2 += (at[k] - s->centre[k]) * (at[k] - s->centre[k]);
        }
        assert_true(off2 <= s->radius * s->radius);
    }
}

static void what_bends_is_drawn_where_its_points_are(void **state)
{
    (void)state;
    static const char *const names[] = {"jelly", "santas", "flowers"};
    for (int n = 0; n < 3; n++) {
#ifdef SACCADE_INSTRUMENTED
        if (n == 1) continue; /* two other tests here draw santas */
#endif
        sac_show *show = open_show(names[n], n == 2 ? 1 : 7, 0);
        sac_viewer viewer = sac_show_viewer(show);
        const sac_world *world = sac_show_world_at(show, 0);
        sac_drawing drawing;
        sac_body_id ids[64];
        for (uint32_t f = 0; f < 60; f++) {
            advance(show, frame_ns(f, 90), &viewer);
            if (f % 12 && f < 57) continue;
            draw(show, &viewer, &drawing);
            uint32_t bodies = sac_world_bodies(world, ids, 64), soft = 0;
            for (uint32_t i = 0; i < bodies; i++) {
                if (!sac_body_soft(world, ids[i])) continue;
                assert_true(soft < drawing.skinned_count);
                assert_at_points(&drawing.skinned[soft++], drawing.joints, world, ids[i]);
            }
            assert_int_equal(soft, drawing.skinned_count);
        }
        assert_true(drawing.skinned_count >= (n == 2 ? 1u : 4u));
        /* Between two states the joints before are those of the step before. */
        static float before[64][3];
        for (uint32_t i = 0; i < drawing.skinned_count; i++)
            for (int k = 0; k < 3; k++) before[i][k] = drawing.joints[drawing.skinned[i].first_joint][k][3];
        advance(show, frame_ns(60, 90) + 5000000, &viewer);
        draw(show, &viewer, &drawing);
        assert_true(drawing.blend > 0 && drawing.blend < 1);
        for (uint32_t i = 0; i < drawing.skinned_count; i++)
            for (int k = 0; k < 3; k++)
                assert_true(drawing.joints_before[drawing.skinned[i].first_joint][k][3] == before[i][k]);
        sac_show_close(&show);
    }
}

static void bodies_come_and_go(void **state)
{
    (void)state;
    static const char *const names[] = {"pile", "hailstorm", "side-by-side"};
    for (int s = 0; s < 3; s++) {
        sac_show *show = open_show(names[s], s == 1 ? 40 : 60, 200000);
        sac_viewer viewer = sac_show_viewer(show);
        sac_show_stats stats;
        sac_drawing drawing;
        uint32_t f = 0, worlds = sac_show_worlds(show), counts[3];
        for (int turn = 0; turn < 3; turn++) {
            int32_t by = turn == 1 ? 15 : turn == 2 ? -30 : 0;
            if (by) assert_int_equal(sac_show_load(show, by), by);
            for (uint32_t n = 0; n < (s == 1 ? 1500u : 30u); n++, f++)
                advance(show, frame_ns(f, 90), &viewer);
            draw(show, &viewer, &drawing);
            sac_show_stats_get(show, &stats);
            counts[turn] = stats.bodies / worlds;
        }
        /* In a storm one may just be coming in. */
        uint32_t coming = s == 1;
        assert_in_range(counts[1] - counts[0], 15 - coming, 15 + coming);
        assert_in_range(counts[1] - counts[2], 30 - coming, 30 + coming);
        sac_show_close(&show);
    }
}

static void paused_shows_stand_still(void **state)
{
    (void)state;
    sac_show *show = open_show("pile", 20, 0);
    sac_viewer viewer = sac_show_viewer(show);
    sac_error error;
    for (uint32_t f = 0; f < 30; f++) advance(show, frame_ns(f, 90), &viewer);
    sac_show_ticker(show)->rate = 0;
    uint64_t hash = sac_world_hash(sac_show_world_at(show, 0));
    for (uint32_t f = 30; f < 60; f++) advance(show, frame_ns(f, 90), &viewer);
    assert_true(sac_world_hash(sac_show_world_at(show, 0)) == hash);
    assert_int_equal(sac_show_step(show, &error), SAC_OK);
    assert_true(sac_world_hash(sac_show_world_at(show, 0)) != hash);
    sac_show_close(&show);
}

static void options_say_what_is_wrong(void **state)
{
    (void)state;
    sac_show_options o = sac_default_show_options();
    sac_common common = {.threads = 1};
    sac_show_def def;
    sac_show *show = NULL;
    sac_error error;
    sac_option list[SAC_SHOW_OPTIONS];
    assert_int_equal(sac_show_options_list(&o, list), SAC_SHOW_OPTIONS);
    o.policy = "jdn";
    assert_int_equal(sac_show_options_apply(&o, &common, &def, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "jnd"));
    o.policy = "jnd", o.paint = "groop";
    assert_int_equal(sac_show_options_apply(&o, &common, &def, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "group"));
    o.paint = "group", o.scene = "wrokshop";
    assert_int_equal(sac_show_options_apply(&o, &common, &def, &error), SAC_OK);
    assert_int_equal(sac_show_open(&def, &show, &error), SAC_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "workshop"));
    def.scene = "no/such.json";
    assert_int_not_equal(sac_show_open(&def, &show, &error), SAC_OK);
    assert_null(show);
}

/* Every seed is one, also the largest; without, it is the scene's own. */
static void a_seed_is_given_or_not(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        sac_show_options o = sac_default_show_options();
        sac_common common = {.threads = 1};
        sac_show_def def;
        sac_error error;
        sac_option list[SAC_SHOW_OPTIONS];
        const sac_command command = {"view", "SCENE", "", list, sac_show_options_list(&o, list), NULL};
        char *argv[] = {(char *)"pile", (char *)"--seed", (char *)"18446744073709551615"};
        int words;
        assert_int_equal(sac_options_parse(&command, given ? 3 : 1, argv, &common, &o.scene, 1, &words), -1);
        assert_int_equal(sac_show_options_apply(&o, &common, &def, &error), SAC_OK);
        assert_int_equal(def.staging.seed_given, given);
        assert_true(def.seed == (given ? UINT64_MAX : 1));
        assert_true(!given || def.staging.seed == UINT64_MAX);
    }
}

/* The eye stands where it was put and looks where it was told. */
static void the_camera_looks_where_it_is_told(void **state)
{
    (void)state;
    static const float eyes[][3] = {{0, 1, 3}, {2, 0.5f, -1}, {-4, -2, 0.1f}, {0, 5, 0.001f}};
    for (int i = 0; i < 4; i++) {
        sac_show_camera camera = {.fov = 1, .ipd = 0.06f};
        const float target[3] = {0.3f, 0.2f, -0.1f};
        sac_eye eye[2];
        sac_show_camera_look(&camera, eyes[i], target);
        assert_int_equal(sac_show_camera_eyes(&camera, 800, 600, false, eye), 1);
        sac_transform turn = {.scale = 1};
        float ahead[3], dot = 0, length = 0;
        memcpy(turn.rotation, eye[0].rotation, sizeof turn.rotation);
        sac_transform_point(&turn, (float[3]){0, 0, -1}, ahead);
        for (int k = 0; k < 3; k++) {
            assert_true(fabsf(eye[0].position[k] - eyes[i][k]) < 1e-4f);
            dot += ahead[k] * (target[k] - eyes[i][k]);
            length += (target[k] - eyes[i][k]) * (target[k] - eyes[i][k]);
        }
        assert_true(dot > 0.9999f * sqrtf(length));
        assert_int_equal(sac_show_camera_eyes(&camera, 800, 600, true, eye), 2);
        float apart = 0;
        for (int k = 0; k < 3; k++)
            apart += (eye[1].position[k] - eye[0].position[k]) * (eye[1].position[k] - eye[0].position[k]);
        assert_true(fabsf(sqrtf(apart) - 0.06f) < 1e-4f);
    }
}

int main(void)
{
    const sac_common quiet = {.quiet = true, .threads = 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_run_the_same_twice),
        cmocka_unit_test(the_same_motion_at_any_rate),
        cmocka_unit_test(pictures_lie_between_states),
        cmocka_unit_test(gaze_reaches_the_same_frame),
        cmocka_unit_test(nothing_is_allocated_once_it_runs),
        cmocka_unit_test(bodies_come_and_go),
        cmocka_unit_test(paused_shows_stand_still),
        cmocka_unit_test(options_say_what_is_wrong),
        cmocka_unit_test(a_seed_is_given_or_not),
        cmocka_unit_test(the_camera_looks_where_it_is_told),
        cmocka_unit_test(what_bends_is_drawn_where_its_points_are),
    };
    sac_console_init("test", &quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
