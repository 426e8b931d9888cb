/* Levels of detail come and go with the time there is; energy does not come with them, what rests does not
 * move, and when there is hardly any time at all nobody is lost. */
#include "tests/world_play.h"

typedef struct trees {
    sac_tree *cube, *ring;
} trees;

static int make_trees(void **state)
{
    static trees t;
    t.cube = play_sphere_box(0.1f, 6); /* 152 leaves, three levels */
    t.ring = play_torus(48, 0.15f, 0.05f);
    *state = &t;
    return 0;
}

static int free_trees(void **state)
{
    trees *t = *state;
    sac_tree_destroy(&t->cube);
    sac_tree_destroy(&t->ring);
    return 0;
}

static uint32_t fill_pen(sac_world *world, const trees *t, uint64_t seed, uint32_t count, sac_body_id *out)
{
    play_pen(world, 1.0f, 2);
    sac_shape_id shapes[] = {play_tree(world, t->cube), play_tree(world, t->ring)};
    sac_rng rng = sac_rng_seed(seed);
    for (uint32_t i = 0; i < count; i++) {
        sac_body_def body = play_body_def(shapes[i % 2], SAC_BODY_DYNAMIC, 0.4f * (float)(i % 2) - 0.2f,
                                          0.25f + 0.42f * (float)(i / 4), 0.4f * (float)(i / 2 % 2) - 0.2f);
        for (int a = 0; a < 3; a++) body.position[a] += sac_rng_range(&rng, -0.03f, 0.03f);
        play_turn_randomly(&rng, body.rotation);
        body.mass = 1;
        out[i] = play_make(world, &body);
    }
    return count;
}

/* Budgets that cut the descent elsewhere every frame. */
static uint64_t budget_of(int pattern, int frame, sac_rng *rng)
{
    switch (pattern) {
    case 0:
        return 60000; /* starved */
    case 1:
        return 5000000; /* rich */
    case 2:
        return frame % 2 ? 5000000 : 60000; /* in turns */
    case 3:
        return 30000 + sac_rng_below(rng, 600000); /* at random */
    default:
        return frame / 20 % 2 ? 150000 : 1000 + 30000u * (uint32_t)(frame % 20);
    }
}

/* How far above the least it ever was the energy of a heap rises, of what is allowed. With time enough: every
 * body lifted a tenth of a millimetre, since deep overlap is undone whoever pays. Starved, bodies whose turn
 * it is not stand like walls, and one wedged deep between two is pushed by both: half a per cent of what
 * there was. */
enum { HEAP = 24 };
static bool has_time(const char *policy, int pattern)
{
    return pattern == 1 || strcmp(policy, "exhaustive") == 0; /* that one knows no budget */
}

static double growth_of(const trees *t, uint64_t seed, uint32_t p, int pattern)
{
    sac_world_def def = play_def();
    def.policy = sac_policy_name(p);
    sac_world *world = play_create(&def);
    sac_body_id ids[HEAP];
    fill_pen(world, t, seed, HEAP, ids);
    sac_rng rng = sac_rng_seed(p * 7u + 1);
    sac_viewer viewer = sac_default_viewer();
    viewer.eyes[0].position[1] = 1, viewer.eyes[0].position[2] = 3;
    double first = sac_world_energy(world), least = first, growth = 0;
    for (int f = 0; f < 240; f++) {
        sac_step_def step = sac_default_step_def();
        sac_step_report report;
        step.budget_ns = budget_of(pattern, f, &rng);
        step.viewer = &viewer;
        CHECK(sac_world_step(world, &step, &report, NULL) == SAC_OK);
        CHECK(report.not_finite == 0);
        double energy = sac_world_energy(world);
        growth = fmax(growth, energy - least);
        least = fmin(least, energy);
    }
    for (int i = 0; i < HEAP; i++) {
        sac_body_state b = play_state(world, ids[i]);
        CHECK_SAY(play_finite(&b) && fabsf(b.centre[0]) < 0.5f && fabsf(b.centre[2]) < 0.5f &&
                      b.centre[1] > 0,
                  "%s, pattern %d: body %d is out\n", def.policy, pattern, i);
    }
    sac_world_destroy(&world);
    return growth / (has_time(def.policy, pattern) ? HEAP * 9.81 * 0.0001 : 0.005 * first);
}

static void test_energy_never_grows(void **state)
{
#ifdef SACCADE_INSTRUMENTED
    enum { HEAPS = 1 };
#else
    enum { HEAPS = 6 };
#endif
    uint32_t over[2] = {0, 0}, runs[2] = {0, 0};
    double worst[2] = {0, 0};
    for (uint64_t seed = 31; seed < 31 + HEAPS; seed++)
        for (uint32_t p = 0; sac_policy_name(p); p++)
            for (int pattern = 0; pattern < 5; pattern++) {
                if (strcmp(sac_policy_name(p), "exhaustive") == 0 && pattern > 0) continue;
                double growth = growth_of(*state, seed, p, pattern);
                bool time = has_time(sac_policy_name(p), pattern);
                runs[time]++;
                over[time] += growth > 1;
                worst[time] = fmax(worst[time], growth);
            }
    print_message("above what is allowed: %u of %u with time, at most %.2f; %u of %u starved, at most %.2f\n",
                  over[1], runs[1], worst[1], over[0], runs[0], worst[0]);
    CHECK(over[0] == 0 && over[1] == 0);
}

/* A body at rest a metre from the eye, looked at; its level is made to flip, and it stays where it is. */
static void test_rest_through_flips(void **state)
{
    const trees *t = *state;
    static const char *const policies[] = {"jnd", "round-robin", "sort"};
    for (int shape = 0; shape < 2; shape++)
        for (int p = 0; p < 3; p++)
            for (int way = 0; way < 3; way++) {
                sac_world_def def = play_def();
                def.policy = policies[p];
                sac_world *world = play_create(&def);
                play_floor(world);
                sac_body_def body = play_body_def(play_tree(world, shape ? t->ring : t->cube),
                                                  SAC_BODY_DYNAMIC, 0, shape ? 0.05f : 0.1f, 0);
                body.never_sleeps = true;
                sac_body_id id = play_make(world, &body);
                body.position[1] += shape ? 0.1f : 0.2f;
                sac_body_id top = play_make(world, &body);
                sac_viewer viewer = sac_default_viewer();
                viewer.eyes[0].position[1] = 0.1f, viewer.eyes[0].position[2] = 1;
                sac_step_def step = sac_default_step_def();
                step.viewer = &viewer;
                step.budget_ns = 0;
                for (int f = 0; f < 120; f++) CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
                sac_body_state a = play_state(world, id), b = play_state(world, top);
                float worst = 0, worst_top = 0;
                uint32_t flips = 0;
                for (int f = 0; f < 200; f++) {
                    sac_step_report report;
                    step.budget_ns = f % 2 || way == 2 ? 0 : way == 0 ? 2500 : 4000;
                    if (way > 0) {
                        /* Told to be where it is: whatever was known of its pairs is void. */
                        sac_body_state now = play_state(world, id);
                        CHECK(sac_body_set_pose(world, id, now.pose.translation, now.pose.rotation, NULL) ==
                              SAC_OK);
                    }
                    /* Seen from far away coarse levels will do. */
                    if (way == 2) viewer.eyes[0].position[2] = f % 2 ? 1 : 40;
                    CHECK(sac_world_step(world, &step, &report, NULL) == SAC_OK);
                    flips += report.flips;
                    worst = fmaxf(worst, play_distance(play_state(world, id).centre, a.centre));
                    worst_top = fmaxf(worst_top, play_distance(play_state(world, top).centre, b.centre));
                }
                float jnd = SAC_MAR_FOVEA / 60 * 0.01745329f * 1.0f; /* metres, at a metre */
                /* With its memory void and no time to look, a body on another is held where likely surfaces
                 * are and not where they surely are. */
                float most = way == 1 ? 5 * jnd : jnd;
                CHECK_SAY(worst <= most && worst_top <= most,
                          "%s, %s, way %d: moved %g and %g mm, a JND is %g mm (%u flips)\n",
                          shape ? "ring" : "cube", policies[p], way, (double)worst * 1e3,
                          (double)worst_top * 1e3, (double)jnd * 1e3, flips);
                sac_world_destroy(&world);
            }
}

/* What a report says must fit together. */
static void check_report(const sac_step_report *r, uint32_t awake_before, uint32_t substeps)
{
    CHECK_SAY(r->simulated + r->rungs[SAC_RUNG_BODIES] + r->rungs[SAC_RUNG_BOUNDS] == awake_before,
              "%u simulated + %u + %u deferred, %u awake\n", r->simulated,
              (unsigned)r->rungs[SAC_RUNG_BODIES], (unsigned)r->rungs[SAC_RUNG_BOUNDS], awake_before);
    CHECK(r->rungs[SAC_RUNG_HELD] <= r->rungs[SAC_RUNG_BODIES] + r->rungs[SAC_RUNG_BOUNDS] + r->fast +
                                         (r->awake > awake_before ? r->awake - awake_before : 0));
    CHECK(r->fast <= r->simulated && r->awake <= r->bodies);
    CHECK(r->pairs_active <= r->pairs + r->pairs_ended);
    CHECK(r->descent.started <= r->pairs_active && r->descent.finished <= r->descent.started);
    CHECK(r->manifolds <= r->pairs_active && r->contacts <= 4 * r->manifolds);
    CHECK(r->substeps <= substeps);
    uint64_t stages = 0;
    for (int s = 0; s < SAC_STAGES; s++) stages += r->stage_ns[s];
    CHECK(stages <= r->spent_ns);
    if (r->budget_ns) {
        CHECK(r->overshoot_ns == (int64_t)r->spent_ns - (int64_t)r->budget_ns);
        CHECK(r->returned_ns == (r->spent_ns < r->budget_ns ? r->budget_ns - r->spent_ns : 0));
    }
    CHECK(r->descent.jnd_p50 <= r->descent.jnd_p95 && r->descent.jnd_p95 <= r->descent.jnd_most);
}

static void test_ladder(void **state)
{
    enum { BODIES = 200 };
    static const uint64_t budgets[] = {1, 5000, 20000, 60000, 250000};
    for (int k = 0; k < 5; k++) {
        const trees *t = *state;
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        play_pen(world, 2.4f, 3);
        sac_shape_id shapes[] = {play_tree(world, t->cube), play_tree(world, t->ring)};
        static sac_body_id ids[BODIES];
        static float start[BODIES][3];
        sac_rng rng = sac_rng_seed(77);
        for (int i = 0; i < BODIES; i++) {
            sac_body_def body =
                play_body_def(shapes[i % 2], SAC_BODY_DYNAMIC, 0.45f * (float)(i % 5) - 0.9f,
                              0.4f + 0.45f * (float)(i / 25), 0.45f * (float)(i / 5 % 5) - 0.9f);
            play_turn_randomly(&rng, body.rotation);
            body.mass = 1;
            body.never_sleeps = true;
            ids[i] = play_make(world, &body);
            memcpy(start[i], body.position, sizeof start[i]);
        }
        uint64_t rungs[SAC_RUNGS] = {0};
        double first = sac_world_energy(world), least = first, growth = 0;
        uint32_t longest = 0;
        int frames = k == 0 ? 900 : 300;
        for (int f = 0; f < frames; f++) {
            sac_counters before;
            sac_world_counters(world, &before);
            sac_step_report report = play_step(world, budgets[k]);
            check_report(&report, before.awake, 4);
            CHECK(report.bodies == BODIES + 5 && report.not_finite == 0);
            for (int r = 0; r < SAC_RUNGS; r++) rungs[r] += report.rungs[r];
            double energy = sac_world_energy(world);
            growth = fmax(growth, energy - least);
            least = fmin(least, energy);
            for (int i = 0; i < BODIES; i++) {
                uint32_t waits = play_state(world, ids[i]).staleness;
                if (waits > longest) longest = waits;
            }
        }
        int unmoved = 0;
        for (int i = 0; i < BODIES; i++) {
            sac_body_state b = play_state(world, ids[i]);
            CHECK(play_finite(&b) && fabsf(b.centre[0]) < 1.2f && fabsf(b.centre[2]) < 1.2f &&
                  b.centre[1] > 0);
            unmoved += play_distance(b.centre, start[i]) < 0.01f;
        }
        CHECK_SAY(unmoved == 0, "budget %u: %d bodies never moved; the longest wait is %u frames\n",
                  (unsigned)budgets[k], unmoved, longest);
        CHECK(rungs[SAC_RUNG_BODIES] + rungs[SAC_RUNG_BOUNDS] > 0);
        CHECK_SAY(growth < 0.01 * first, "budget %u: %g J more, of %g\n", (unsigned)budgets[k], growth,
                  first);
        /* Everybody's turn comes. */
        uint32_t most = k == 0 ? 800 : 200;
        CHECK_SAY(longest < most, "budget %u: one waited %u frames\n", (unsigned)budgets[k], longest);
        sac_world_destroy(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_energy_never_grows),
                                       cmocka_unit_test(test_rest_through_flips),
                                       cmocka_unit_test(test_ladder)};
    return cmocka_run_group_tests(tests, make_trees, free_trees);
}
