/* Threads, task systems and SIMD paths change nothing but the time: the same hash after every frame. */
#include "tests/world_play.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cpu.h"

#ifdef SACCADE_INSTRUMENTED /* ten times as slow */
enum { FRAMES = 40, BODIES = 80 };
#else
enum { FRAMES = 150, BODIES = 160 };
#endif

typedef struct trees {
    sac_tree *cube, *ring;
} trees;

static int make_trees(void **state)
{
    static trees t;
    t.cube = play_sphere_box(0.1f, 4);
    t.ring = play_torus(24, 0.15f, 0.05f);
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

/* A task system of the caller's that is as awkward as it may be: pieces from the last to the first, on
 * workers that are not asked in order. */
static void backwards(uint32_t count, uint32_t grain, sac_task_range *range, void *context, void *user)
{
    uint32_t threads = *(const uint32_t *)user, pieces = (count + grain - 1) / grain;
    for (uint32_t i = pieces; i-- > 0;) {
        uint32_t first = i * grain, last = first + grain < count ? first + grain : count;
        range(first, last, (i * 7u) % threads, context);
    }
}

typedef struct errand {
    uint32_t first, last, worker;
    sac_task_range *range;
    void *context;
} errand;

static void *run(void *argument)
{
    errand *e = argument;
    if (e->first < e->last) e->range(e->first, e->last, e->worker, e->context);
    return NULL;
}

/* And one that starts its threads each time. */
static void fresh_threads(uint32_t count, uint32_t grain, sac_task_range *range, void *context, void *user)
{
    uint32_t threads = *(const uint32_t *)user, each = (count + threads - 1) / threads;
    each = (each + grain - 1) / grain * grain;
    errand errands[8] = {{0}};
    pthread_t ids[8];
    bool started[8] = {false};
    for (uint32_t t = 0; t < threads; t++) {
        uint32_t first = t * each < count ? t * each : count;
        uint32_t last = first + each < count ? first + each : count;
        errands[t] = (errand){first, last, t, range, context};
        if (t) started[t] = pthread_create(&ids[t], NULL, run, &errands[t]) == 0;
        if (t && !started[t]) run(&errands[t]);
    }
    run(&errands[0]);
    for (uint32_t t = 1; t < threads; t++)
        if (started[t]) pthread_join(ids[t], NULL);
}

/* A pile that is starved, served and hit, with a viewer; the hash of each frame. */
static void play_pile(const trees *t, const char *policy, const sac_tasks_def *tasks, uint64_t *out_hashes)
{
    sac_world_def def = play_def();
    def.policy = policy;
    def.tasks = *tasks;
    sac_world *world = play_create(&def);
    play_pen(world, 1.5f, 3);
    sac_shape_id shapes[] = {play_tree(world, t->cube), play_tree(world, t->ring), play_ball(world, 0.1f),
                             play_box(world, 0.1f, 0.05f, 0.12f)};
    sac_rng rng = sac_rng_seed(21);
    for (int i = 0; i < BODIES; i++) {
        sac_body_def body = play_body_def(shapes[i % 4], SAC_BODY_DYNAMIC, 0.3f * (float)(i % 4) - 0.45f,
                                          0.2f + 0.26f * (float)(i / 16), 0.3f * (float)(i / 4 % 4) - 0.45f);
        for (int a = 0; a < 3; a++) body.position[a] += sac_rng_range(&rng, -0.01f, 0.01f);
        play_turn_randomly(&rng, body.rotation);
        body.velocity[1] = -1;
        play_make(world, &body);
    }
    sac_viewer viewer = sac_default_viewer();
    viewer.eyes[0].position[1] = 0.5f, viewer.eyes[0].position[2] = 2;
    sac_body_def bullet = play_body_def(shapes[2], SAC_BODY_DYNAMIC, 0, 4, 0);
    bullet.velocity[1] = -60;
    static const uint64_t budgets[] = {0, 2000000, 300000, 60000, 1};
    for (int f = 0; f < FRAMES; f++) {
        sac_step_def step = sac_default_step_def();
        step.viewer = &viewer;
        step.budget_ns = budgets[f / 7 % 5];
        if (f % 20 == 10) play_make(world, &bullet);
        CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
        out_hashes[f] = sac_world_hash(world);
    }
    sac_world_destroy(&world);
}

static void compare(const uint64_t *a, const uint64_t *b, const char *what)
{
    for (int f = 0; f < FRAMES; f++) CHECK_SAY(a[f] == b[f], "%s: other state after frame %d\n", what, f + 1);
}

static void test_threads(void **state)
{
    static const char *const policies[] = {"jnd", "exhaustive", "round-robin"};
    uint64_t alone[FRAMES], other[FRAMES];
    for (int p = 0; p < 3; p++) {
        play_pile(*state, policies[p], &(sac_tasks_def){.threads = 1}, alone);
        play_pile(*state, policies[p], &(sac_tasks_def){.threads = 1}, other);
        compare(alone, other, "the same again");
        for (uint32_t threads = 2; threads <= 3; threads++) {
            char what[64];
            snprintf(what, sizeof what, "%s, %u threads of our own", policies[p], threads);
            play_pile(*state, policies[p], &(sac_tasks_def){.threads = threads}, other);
            compare(alone, other, what);
            snprintf(what, sizeof what, "%s, a hook that runs backwards", policies[p]);
            play_pile(*state, policies[p], &(sac_tasks_def){threads, backwards, &threads}, other);
            compare(alone, other, what);
        }
    }
}

static void test_fresh_threads(void **state)
{
    uint64_t alone[FRAMES], other[FRAMES];
    uint32_t threads = 3;
    play_pile(*state, "jnd", &(sac_tasks_def){.threads = 1}, alone);
    play_pile(*state, "jnd", &(sac_tasks_def){threads, fresh_threads, &threads}, other);
    compare(alone, other, "a hook with threads of its own");
}

static void test_paths(void **state)
{
    uint64_t first[FRAMES], other[FRAMES];
    sac_simd before = sac_simd_active();
    bool any = false;
    for (sac_simd simd = SAC_SIMD_SCALAR; simd < SAC_SIMD_COUNT; simd++) {
        if (!sac_simd_supported(simd) || sac_simd_force(simd, NULL) != SAC_OK) continue;
        play_pile(*state, "jnd", &(sac_tasks_def){.threads = 1 + (uint32_t)simd % 2}, any ? other : first);
        if (any) compare(first, other, sac_simd_name(simd));
        any = true;
    }
    CHECK(any && sac_simd_force(before, NULL) == SAC_OK);
}

/* ---- the pool ---- */

static sem_t stopped, may_go_on;

static void lose_core(int number)
{
    (void)number;
    sem_post(&stopped);
    while (sem_wait(&may_go_on) != 0) {
    }
}

typedef struct roll_call {
    atomic_uint done, seen;
    pthread_t other;
} roll_call;

static void note(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    roll_call *r = context;
    if (worker == 1) r->other = pthread_self(), atomic_store(&r->seen, 1);
    atomic_fetch_add(&r->done, last - first);
}

/* A thread that lost its core holds up nobody while it has no piece in its hands: a signal stops it for as
 * long as two thousand jobs take, and would for ever. */
static void test_nobody_waits_for_the_stopped(void **state)
{
    (void)state;
    sac_tasks *tasks;
    roll_call r = {0};
    struct sigaction action = {.sa_handler = lose_core}, before;
    assert_int_equal(sac_tasks_create(&(sac_tasks_def){.threads = 2}, &tasks, NULL), SAC_OK);
    if (sac_tasks_threads(tasks) < 2) {
        sac_tasks_destroy(&tasks);
        skip();
    }
    assert_int_equal(sem_init(&stopped, 0, 0) | sem_init(&may_go_on, 0, 0), 0);
    sigaction(SIGUSR1, &action, &before);
    while (!atomic_load(&r.seen)) sac_tasks_for(tasks, 64, 1, note, &r);
    pthread_kill(r.other, SIGUSR1);
    while (sem_wait(&stopped) != 0) {
    }
    atomic_store(&r.done, 0), atomic_store(&r.seen, 0);
    for (uint32_t job = 1; job <= 2000; job++) {
        sac_tasks_for(tasks, 64, 4, note, &r);
        assert_int_equal(atomic_load(&r.done), 64 * job);
    }
    assert_int_equal(atomic_load(&r.seen), 0);
    sem_post(&may_go_on);
    /* And it comes back to the jobs of after that. */
    while (!atomic_load(&r.seen)) sac_tasks_for(tasks, 64, 1, note, &r);
    sac_tasks_destroy(&tasks);
    sigaction(SIGUSR1, &before, NULL);
    sem_destroy(&stopped), sem_destroy(&may_go_on);
}

typedef struct marks {
    atomic_uchar times[1000];
} marks;

static void mark(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
    (void)worker;
    for (uint32_t i = first; i < last; i++) atomic_fetch_add(&((marks *)context)->times[i], 1);
}

/* Every item once, whatever the grain and however many jobs follow each other at once. */
static void test_each_item_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 5; threads++) {
        sac_tasks *tasks;
        static marks m;
        assert_int_equal(sac_tasks_create(&(sac_tasks_def){.threads = threads}, &tasks, NULL), SAC_OK);
        memset(&m, 0, sizeof m);
        uint32_t jobs = 0;
        for (uint32_t grain = 1; grain <= 1100; grain += 1 + grain / 8, jobs++)
            sac_tasks_for(tasks, 1000, grain, mark, &m);
        for (uint32_t i = 0; i < 1000; i++) assert_int_equal(atomic_load(&m.times[i]), jobs);
        sac_tasks_destroy(&tasks);
    }
}

/* Small and large jobs by turns: who comes late from a small one, all of which was claimed, finds nothing in
 * the large one that it was not called for. */
static void test_late_from_the_last(void **state)
{
    (void)state;
#ifdef SACCADE_INSTRUMENTED
    enum { JOBS = 30000 };
#else
    enum { JOBS = 300000 };
#endif
    sac_tasks *tasks;
    static marks m;
    memset(&m, 0, sizeof m);
    assert_int_equal(sac_tasks_create(&(sac_tasks_def){.threads = 2}, &tasks, NULL), SAC_OK);
    for (uint32_t job = 1; job <= JOBS; job++) {
        sac_tasks_for(tasks, job % 2 ? 2 : 64, 1, mark, &m);
        /* Not after each: the next has to follow at once. */
        for (uint32_t i = 0; i < 64 && job % 64 == 0; i++)
            assert_int_equal(atomic_load(&m.times[i]), (uint8_t)(i < 2 ? job : job / 2));
    }
    sac_tasks_destroy(&tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_fresh_threads),
        cmocka_unit_test(test_paths),          cmocka_unit_test(test_nobody_waits_for_the_stopped),
        cmocka_unit_test(test_each_item_once), cmocka_unit_test(test_late_from_the_last)};
    return cmocka_run_group_tests(tests, make_trees, free_trees);
}
