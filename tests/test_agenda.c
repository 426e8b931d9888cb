/* The agenda: whatever the policy, fronts cover what brute force finds; where the stop falls decides all the
 * rest, so a run can be repeated; and with time enough all policies end alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "scheduler/agenda_internal.h"
#include "tests/tree_garden.h"

enum { FORMS = 4, PAIRS = 120 };

typedef struct scene {
    sac_tree *trees[FORMS];
    sac_form forms[FORMS];
    sac_transform poses[PAIRS][2];
    uint32_t form[PAIRS][2];
    float region[PAIRS][3];
} scene;

static const char *const all_policies[] = {"exhaustive", "fifo",        "random",   "round-robin",
                                           "distance",   "sort",        "groups:2", "groups:8",
                                           "groups:32",  "probability", "jnd"};
enum { POLICIES = sizeof all_policies / sizeof *all_policies };

static scene world;

static int set_up(void **state)
{
    (void)state;
    const garden_def defs[FORMS] = {
        {.shape = GARDEN_KNOT, .branch = 8, .depth = 3, .points_per_leaf = 2, .nested = true, .seed = 1},
        {.shape = GARDEN_BUMPY, .branch = 8, .depth = 2, .nested = true, .seed = 2},
        {.shape = GARDEN_CLOUD, .branch = 6, .depth = 3, .points_per_leaf = 2, .uneven = 0.3f, .seed = 3},
        {.shape = GARDEN_BUMPY, .branch = 12, .depth = 2, .points_per_leaf = 2, .seed = 4}};
    sac_rng rng = sac_rng_seed(5);
    for (uint32_t i = 0; i < FORMS; i++) {
        world.trees[i] = garden_grow(&defs[i]);
        if (!world.trees[i] || sac_form_from_tree(&world.forms[i], world.trees[i], NULL) != SAC_OK) return 1;
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        float place[3], reach = sac_rng_range(&rng, 0.2f, 3.0f);
        for (int k = 0; k < 3; k++) place[k] = sac_rng_range(&rng, -4, 4);
        place[2] -= 6;
        for (uint32_t s = 0; s < 2; s++) {
            world.form[i][s] = sac_rng_below(&rng, FORMS);
            world.poses[i][s] = garden_pose(&rng, s ? reach : 0);
            for (int k = 0; k < 3; k++) world.poses[i][s].translation[k] += place[k];
        }
        for (int k = 0; k < 3; k++) world.region[i][k] = place[k];
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FORMS; i++) sac_tree_destroy(&world.trees[i]);
    return 0;
}

static sac_agenda *new_agenda(uint32_t entries, float stop_jnd)
{
    sac_agenda_def def = sac_default_agenda_def();
    def.pairs = PAIRS;
    def.entries = entries;
    def.stop_jnd = stop_jnd;
    def.seed = 77;
    sac_agenda *agenda;
    assert_int_equal(sac_agenda_create(&def, &agenda, NULL), SAC_OK);
    return agenda;
}

static void fill(sac_agenda *agenda)
{
    sac_rng rng = sac_rng_seed(6);
    sac_agenda_clear(agenda);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t n = sac_agenda_add(agenda, &world.forms[world.form[i][0]], &world.poses[i][0],
                                    &world.forms[world.form[i][1]], &world.poses[i][1], 0.02f);
        assert_int_equal(n, i);
        agenda->x[i] = world.region[i][0], agenda->y[i] = world.region[i][1],
        agenda->z[i] = world.region[i][2];
        agenda->extent[i] = 2;
        agenda->tag[i] = 1000 - i;
        uint32_t kind = sac_rng_below(&rng, 4);
        if (kind == 0) agenda->known[i] = sac_rng_range(&rng, 0, 0.2f);
        if (kind == 1) agenda->age[i] = (uint16_t)sac_rng_below(&rng, 200);
        if (i == 17) agenda->flags[i] |= SAC_AGENDA_TOP;
    }
}

static sac_focus focus_now(void)
{
    sac_gaze_filter filter;
    sac_focus focus;
    sac_viewer viewer = sac_default_viewer();
    viewer.gaze = (sac_gaze_sample){.valid = true, .direction = {0.2f, 0.1f, -1}, .confidence = 1};
    sac_gaze_init(&filter, NULL);
    sac_gaze_update(&filter, &viewer, 1000000, &focus);
    return focus;
}

typedef struct outcome {
    sac_agenda_report report;
    uint64_t hash;
} outcome;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15u;
    return sac_rng_splitmix(&hash);
}

/* Of all fronts, in their order. */
static uint64_t hash_of(const sac_agenda *agenda, bool with_work)
{
    uint64_t hash = 1;
    for (uint32_t i = 0; i < agenda->count; i++) {
        sac_pairs lists[2];
        sac_agenda_front(agenda, i, &lists[0], &lists[1]);
        hash = mix(hash, agenda->flags[i]);
        uint32_t bits;
        memcpy(&bits, &agenda->uncertainty[i], sizeof bits);
        hash = mix(mix(hash, bits), agenda->level[i]);
        if (with_work) hash = mix(hash, agenda->tests[i]);
        for (int k = 0; k < 2; k++) {
            hash = mix(hash, lists[k].count);
            for (uint32_t n = 0; n < lists[k].count; n++)
                hash = mix(hash, (uint64_t)lists[k].a[n] << 32 | lists[k].b[n]);
        }
    }
    return hash;
}

static const uint64_t endless = UINT64_MAX;

/* With a limit in credits, or, when that is endless, after so many pieces. */
static outcome run(sac_agenda *agenda, const char *policy, uint64_t credits, uint64_t pieces)
{
    sac_perception_def perception = sac_default_perception_def();
    sac_focus focus = focus_now();
    sac_clock clock = sac_clock_credits(500);
    sac_pace pace;
    sac_stop stop;
    outcome out;
    sac_pace_init(&pace);
    if (credits != endless)
        sac_stop_at(&stop, &clock, credits / 2, &pace);
    else if (pieces != endless)
        sac_stop_after(&stop, &clock, pieces);
    else
        sac_stop_at(&stop, &clock, UINT64_MAX, &pace);
    fill(agenda);
    sac_agenda_work(agenda, sac_policy_find(policy, NULL), &perception, &focus, &stop, NULL, &out.report);
    out.hash = hash_of(agenda, true);
    return out;
}

static void all_policies_end_alike(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 0);
    run(agenda, "exhaustive", endless, endless);
    uint64_t wanted = hash_of(agenda, false);
    uint32_t empty = 0, touching = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        assert_true(agenda->flags[i] & SAC_AGENDA_FINISHED);
        assert_int_equal(agenda->pending[i], 0);
        empty += (agenda->flags[i] & SAC_AGENDA_EMPTY) != 0;
        touching += agenda->done[i] > 0;
    }
    assert_int_equal(empty + touching, PAIRS);
    assert_in_range(touching, PAIRS / 10, PAIRS - PAIRS / 10);
    for (uint32_t p = 1; p < POLICIES; p++) {
        outcome out = run(agenda, all_policies[p], endless, endless);
        assert_false(out.report.interrupted);
        assert_int_equal(hash_of(agenda, false), wanted);
        assert_int_equal(out.report.finished, PAIRS);
    }
    sac_agenda_destroy(&agenda);
}

/* Ancestors of a leaf, itself included, as node ids. */
static uint32_t line_of(const sac_tree *tree, uint32_t node, uint32_t *out)
{
    uint32_t n = 0;
    for (;;) {
        out[n++] = node;
        if (node == 0) return n;
        node = tree->parents[node / SAC_LANES];
    }
}

static uint32_t node_of(const sac_tree *tree, uint32_t link)
{
    return link & SAC_LINK_LEAF ? link & ~SAC_LINK_LEAF : tree->parents[link];
}

static bool covered(const sac_agenda *agenda, uint32_t i, uint32_t leaf_a, uint32_t leaf_b)
{
    const sac_tree *a = agenda->form_a[i]->tree, *b = agenda->form_b[i]->tree;
    uint32_t above_a[16], above_b[16], na = line_of(a, leaf_a, above_a), nb = line_of(b, leaf_b, above_b);
    sac_pairs pending, done;
    sac_agenda_front(agenda, i, &pending, &done);
    for (uint32_t n = 0; n < done.count; n++)
        if (done.a[n] == leaf_a && done.b[n] == leaf_b) return true;
    for (uint32_t n = 0; n < pending.count; n++) {
        uint32_t node_a = node_of(a, pending.a[n]), node_b = node_of(b, pending.b[n]);
        bool in_a = false, in_b = false;
        for (uint32_t k = 0; k < na; k++) in_a = in_a || above_a[k] == node_a;
        for (uint32_t k = 0; k < nb; k++) in_b = in_b || above_b[k] == node_b;
        if (in_a && in_b) return true;
    }
    return false;
}

/* Everything a finished front holds is, at any moment before, held by what is there then. */
static void fronts_cover(void **state)
{
    (void)state;
    sac_agenda *final = new_agenda(1u << 20, 0), *agenda = new_agenda(1u << 20, 0);
    run(final, "exhaustive", endless, endless);
    for (uint32_t p = 1; p < POLICIES; p++) {
        for (uint64_t pieces = 40; pieces < 700; pieces += 217) {
            run(agenda, all_policies[p], endless, pieces);
            for (uint32_t i = 0; i < PAIRS; i++) {
                if (!(agenda->flags[i] & SAC_AGENDA_STARTED)) continue;
                sac_pairs pending, done;
                sac_agenda_front(final, i, &pending, &done);
                uint32_t step = done.count / 8 + 1;
                for (uint32_t n = 0; n < done.count; n += step)
                    assert_true(covered(agenda, i, done.a[n], done.b[n]));
            }
        }
    }
    sac_agenda_destroy(&final);
    sac_agenda_destroy(&agenda);
}

static void stops_repeat(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 1);
    const uint64_t limits[] = {0, 3000, 20000, 60000, 150000};
    for (uint32_t p = 1; p < POLICIES; p++) {
        uint64_t before = 0;
        for (uint32_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            /* Each with an agenda of its own: the random policy goes on where it was. */
            sac_agenda *first = new_agenda(1u << 20, 1), *again = new_agenda(1u << 20, 1);
            outcome live = run(first, all_policies[p], limits[k], endless);
            outcome replay = run(again, all_policies[p], endless, live.report.pieces);
            assert_int_equal(live.hash, replay.hash);
            assert_int_equal(live.report.tests, replay.report.tests);
            assert_true(live.report.pieces >= before);
            if (live.report.interrupted) assert_true(live.report.overshoot_credits <= 2 * SAC_CREDITS_SLICE);
            if (limits[k] == 0) assert_int_equal(live.report.pieces, 0);
            before = live.report.pieces;
            sac_agenda_destroy(&first);
            sac_agenda_destroy(&again);
        }
    }
    sac_agenda_destroy(&agenda);
}

static void simd_paths_agree(void **state)
{
    (void)state;
    sac_simd before = sac_simd_active();
    for (uint32_t p = 0; p < POLICIES; p++) {
        uint64_t wanted = 0;
        for (sac_simd path = SAC_SIMD_SCALAR; path < SAC_SIMD_COUNT; path++) {
            if (sac_simd_force(path, NULL) != SAC_OK) continue;
            sac_agenda *agenda = new_agenda(1u << 20, 1);
            uint64_t hash = run(agenda, all_policies[p], 40000, endless).hash;
            if (!wanted) wanted = hash;
            assert_int_equal(hash, wanted);
            sac_agenda_destroy(&agenda);
        }
    }
    sac_simd_force(before, NULL);
}

/* A slow finger along the whole descent: one piece more changes at most one entry, and never for the worse.
 */
static void pieces_are_small(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 1);
    static float before[PAIRS];
    uint64_t total = run(agenda, "jnd", endless, endless).report.pieces;
    run(agenda, "jnd", endless, 0);
    memcpy(before, agenda->uncertainty, sizeof before);
    for (uint64_t pieces = 1; pieces <= total; pieces += 1 + pieces / 16) {
        outcome out = run(agenda, "jnd", endless, pieces);
        assert_int_equal(out.report.pieces, pieces);
        for (uint32_t i = 0; i < PAIRS; i++) {
            assert_true(agenda->uncertainty[i] <= before[i]);
            assert_true(agenda->uncertainty[i] <= agenda->known[i]);
        }
        memcpy(before, agenda->uncertainty, sizeof before);
    }
    sac_agenda_destroy(&agenda);
}

static void jnd_stops_when_nothing_is_seen(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 1);
    outcome out = run(agenda, "jnd", endless, endless);
    assert_false(out.report.interrupted);
    uint32_t spared = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        spared += !(agenda->flags[i] & SAC_AGENDA_FINISHED);
        if (agenda->jnd[i] < 1) continue;
        /* Still visible: then nothing finer would have helped much. */
        float end = sac_agenda_jnd(agenda, i, sac_agenda_gap(agenda, i, sac_agenda_levels(agenda, i)));
        assert_true(end >= 0.9f * agenda->jnd[i]);
    }
    assert_true(spared > 0);
    sac_agenda_destroy(&agenda);
}

/* Nobody who is unknown waits for somebody to go deeper. */
static void unknown_pairs_come_first(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 1);
    for (uint64_t pieces = 10; pieces < 2 * PAIRS; pieces += 31) {
        run(agenda, "jnd", endless, pieces);
        bool waiting = false, deep = false;
        for (uint32_t i = 0; i < PAIRS; i++) {
            waiting = waiting ||
                      (agenda->known[i] == FLT_MAX && agenda->level[i] < 1 && !sac_agenda_settled(agenda, i));
            deep = deep || agenda->level[i] > 1;
        }
        assert_false(waiting && deep);
    }
    sac_agenda_destroy(&agenda);
}

/* Fronts do not outlast a frame: wherever it ends, pairs alike are not all left half way. */
static void jnd_ends_what_it_began(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 1);
    sac_perception_def perception = sac_default_perception_def();
    sac_focus focus = focus_now();
    sac_clock clock = sac_clock_credits(500);
    sac_agenda_report report;
    uint32_t most = 0;
    for (uint64_t pieces = 20; pieces < 200; pieces += 7) {
        sac_stop stop;
        sac_stop_after(&stop, &clock, pieces);
        fill(agenda);
        for (uint32_t i = 0; i < PAIRS; i++) agenda->known[i] = 1.0f + 0.01f * (float)i;
        sac_agenda_work(agenda, sac_policy_find("jnd", NULL), &perception, &focus, &stop, NULL, &report);
        if (!report.interrupted) break;
        uint32_t half_way = 0;
        for (uint32_t i = 0; i < PAIRS; i++) {
            bool started = agenda->flags[i] & SAC_AGENDA_STARTED;
            float end = sac_agenda_jnd(agenda, i, sac_agenda_gap(agenda, i, sac_agenda_levels(agenda, i)));
            half_way += started && !sac_agenda_settled(agenda, i) && end < 0.9f * agenda->jnd[i];
        }
        most = half_way > most ? half_way : most;
    }
    assert_in_range(most, 1, 2);
    sac_agenda_destroy(&agenda);
}

static float most_priority(const sac_agenda *agenda)
{
    float most = 0;
    for (uint32_t i = 0; i < agenda->count; i++)
        if (!sac_agenda_settled(agenda, i) && agenda->priority[i] > most) most = agenda->priority[i];
    return most;
}

/* An exact order leaves no greater priority than any other way to spend the same, but for the last piece. */
static void sort_is_exact(void **state)
{
    (void)state;
    sac_agenda *sorted = new_agenda(1u << 20, 1), *other = new_agenda(1u << 20, 1);
    const char *const rivals[] = {"groups:2", "groups:8", "groups:32", "round-robin", "fifo", "random"};
    for (uint64_t credits = 10000; credits < 160000; credits *= 2) {
        for (uint32_t k = 0; k < 6; k++) {
            run(other, rivals[k], credits, endless);
            run(sorted, "sort", credits + 4 * SAC_CREDITS_SLICE, endless);
            assert_true(most_priority(sorted) <= most_priority(other));
        }
    }
    sac_agenda_destroy(&sorted);
    sac_agenda_destroy(&other);
}

/* With an arena too small fronts stay coarse, and cover all the same. */
static void little_room(void **state)
{
    (void)state;
    sac_agenda *final = new_agenda(1u << 20, 0);
    run(final, "exhaustive", endless, endless);
    const uint32_t rooms[] = {0, 600, 1500, 8000};
    for (uint32_t r = 0; r < 4; r++) {
        sac_agenda *agenda = new_agenda(rooms[r], 0);
        for (uint32_t p = 0; p < POLICIES; p++) {
            outcome out = run(agenda, all_policies[p], endless, endless);
            if (rooms[r] == 0) assert_int_equal(out.report.coarse + out.report.finished, PAIRS);
            for (uint32_t i = 0; i < PAIRS; i++) {
                assert_true(sac_agenda_settled(agenda, i));
                sac_pairs pending, done;
                sac_agenda_front(final, i, &pending, &done);
                uint32_t step = done.count / 4 + 1;
                for (uint32_t n = 0; n < done.count; n += step)
                    assert_true(covered(agenda, i, done.a[n], done.b[n]));
            }
        }
        sac_agenda_destroy(&agenda);
    }
    sac_agenda_destroy(&final);
}

static void sensors_end_early(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 20, 0);
    sac_perception_def perception = sac_default_perception_def();
    sac_agenda_report report, full;
    fill(agenda);
    sac_agenda_work(agenda, sac_policy_find("exhaustive", NULL), &perception, NULL, NULL, NULL, &full);
    static uint32_t done[PAIRS];
    memcpy(done, agenda->done, sizeof done);
    fill(agenda);
    for (uint32_t i = 0; i < PAIRS; i++) agenda->flags[i] |= SAC_AGENDA_SENSOR;
    sac_agenda_work(agenda, sac_policy_find("exhaustive", NULL), &perception, NULL, NULL, NULL, &report);
    for (uint32_t i = 0; i < PAIRS; i++) assert_int_equal(agenda->done[i] > 0, done[i] > 0);
    assert_true(report.tests <= full.tests);
    sac_agenda_destroy(&agenda);
}

static void names(void **state)
{
    (void)state;
    sac_error error;
    for (uint32_t i = 0; sac_policy_name(i); i++) assert_non_null(sac_policy_find(sac_policy_name(i), NULL));
    for (uint32_t p = 0; p < POLICIES; p++) assert_non_null(sac_policy_find(all_policies[p], NULL));
    assert_ptr_equal(sac_policy_find("groups", NULL), sac_policy_find("groups:8", NULL));
    const char *const wrong[] = {"",   "groups:", "groups:1", "groups:33", "groups:8x", "groups:99999999999",
                                 "Jnd"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(sac_policy_find(wrong[i], &error));
        assert_int_equal(error.code, SAC_ERROR_ARGUMENT);
    }
    assert_null(sac_policy_find(NULL, &error));
    sac_agenda *agenda;
    sac_agenda_def def = {0};
    assert_int_equal(sac_agenda_create(&def, &agenda, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_agenda_def();
    def.groups = 33;
    assert_int_equal(sac_agenda_create(&def, &agenda, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_agenda_def();
    def.share = NAN;
    assert_int_equal(sac_agenda_create(&def, &agenda, &error), SAC_ERROR_ARGUMENT);
    assert_null(agenda);
}

/* Room is made between frames and keeps what was entered. */
static void grows(void **state)
{
    (void)state;
    sac_agenda *agenda = new_agenda(1u << 16, 1);
    fill(agenda);
    uint32_t room = agenda->capacity;
    sac_form ball;
    sac_transform pose = sac_transform_identity();
    assert_int_equal(sac_form_sphere(&ball, 1, NULL), SAC_OK);
    while (agenda->count < room) sac_agenda_add(agenda, &ball, &pose, &ball, &pose, 0);
    assert_int_equal(sac_agenda_add(agenda, &ball, &pose, &ball, &pose, 0), UINT32_MAX);
    assert_int_equal(sac_agenda_reserve(agenda, room + 100, NULL), SAC_OK);
    assert_true(agenda->capacity >= room + 100);
    for (uint32_t i = 0; i < PAIRS; i++) {
        assert_ptr_equal(agenda->pose_b[i], &world.poses[i][1]);
        assert_int_equal(agenda->tag[i], 1000 - i);
    }
    assert_int_equal(sac_agenda_add(agenda, &ball, &pose, &ball, &pose, 0), room);
    run(agenda, "jnd", endless, endless);
    sac_agenda_destroy(&agenda);
    assert_null(agenda);
}

/* Two that move together do not slide, however far; one that moves alone slides as far as its point goes. */
static void slides_are_relative(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(91);
    for (int n = 0; n < 200; n++) {
        sac_transform pose[2], there = garden_pose(&rng, n % 2 ? 1 : 1000),
                               world_pose = sac_transform_identity();
        float touch[3], local[2][3], moved[3], way = 0;
        for (int k = 0; k < 3; k++) touch[k] = sac_rng_range(&rng, -1, 1);
        there.scale = 1;
        for (int s = 0; s < 2; s++) {
            pose[s] = garden_pose(&rng, 1);
            pose[s].scale = sac_rng_range(&rng, 0.5f, 2);
            sac_transform into = sac_transform_relative(&pose[s], &world_pose);
            sac_transform_point(&into, touch, local[s]);
        }
        assert_true(sac_slide_between(&pose[0], local[0], &pose[1], local[1]) < 1e-5f);
        sac_transform back = sac_transform_relative(&there, &world_pose), both[2];
        for (int s = 0; s < 2; s++) both[s] = sac_transform_relative(&back, &pose[s]);
        assert_true(sac_slide_between(&both[0], local[0], &both[1], local[1]) < (n % 2 ? 1e-5f : 1e-3f));
        pose[1] = garden_pose(&rng, 1);
        sac_transform_point(&pose[1], local[1], moved);
        for (int k = 0; k < 3; k++) way += (moved[k] - touch[k]) * (moved[k] - touch[k]);
        assert_true(fabsf(sac_slide_between(&pose[0], local[0], &pose[1], local[1]) - sqrtf(way)) < 1e-5f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_policies_end_alike),
        cmocka_unit_test(fronts_cover),
        cmocka_unit_test(stops_repeat),
        cmocka_unit_test(simd_paths_agree),
        cmocka_unit_test(pieces_are_small),
        cmocka_unit_test(jnd_stops_when_nothing_is_seen),
        cmocka_unit_test(unknown_pairs_come_first),
        cmocka_unit_test(jnd_ends_what_it_began),
        cmocka_unit_test(sort_is_exact),
        cmocka_unit_test(little_room),
        cmocka_unit_test(sensors_end_early),
        cmocka_unit_test(names),
        cmocka_unit_test(slides_are_relative),
        cmocka_unit_test(grows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
