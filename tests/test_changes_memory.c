/* Bodies that are changed when there is no memory for it: the call says so, and was never made. */
#include "strict_memory.h"
#include "tests/jelly_play.h"
#include "tests/world_play.h"

/* Things that stand still and overlap: no pairs, until somebody who moves is among them. */
enum { CROWD = 40, TRAY = 70, MOST = CROWD + TRAY + 16 };

typedef enum change { MOVE, MOVE_SOFT, MOVE_TRAY, FILTER, SET_FREE, CHANGES } change;
static const char *const names[] = {"set_pose", "set_pose, soft", "set_pose, of what bears many",
                                    "set_filter", "set_kind"};

typedef struct stage {
    sac_world *world;
    sac_body_id sleeper, jelly, tray, ghost, table;
} stage;

/* All at rest and asleep; a full tray only for who moves it, because of the room its pairs have. */
static stage set_stage(const sac_soft_shape *soft, change what)
{
    sac_world_def def = play_def();
    def.bodies = 16, def.pairs = 16;
    stage s = {.world = play_create(&def)};
    sac_rng rng = sac_rng_seed(7);
    sac_shape_id ball = play_ball(s.world, 0.3f), box = play_box(s.world, 0.1f, 0.1f, 0.1f);
    sac_shape_id pea = play_box(s.world, 0.02f, 0.02f, 0.02f);
    play_floor(s.world);
    for (int i = 0; i < CROWD; i++)
        play_body(s.world, ball, SAC_BODY_STATIC, 5 + sac_rng_range(&rng, -0.1f, 0.1f), 0.3f,
                  sac_rng_range(&rng, -0.1f, 0.1f));
    s.sleeper = play_body(s.world, box, SAC_BODY_DYNAMIC, 0, 0.1f, 0);
    play_body(s.world, box, SAC_BODY_DYNAMIC, 0, 0.3f, 0);
    s.table = play_body(s.world, play_box(s.world, 0.1f, 0.5f, 0.1f), SAC_BODY_STATIC, 5, 0.5f, 0);
    play_body(s.world, box, SAC_BODY_DYNAMIC, 5, 1.1f, 0);
    s.tray = play_body(s.world, play_box(s.world, 1, 0.1f, 1), SAC_BODY_STATIC, -5, 0.5f, 0);
    for (int i = 0; i < (what == MOVE_TRAY ? TRAY : 1); i++)
        play_body(s.world, pea, SAC_BODY_DYNAMIC, -5.5f + 0.1f * (float)(i % 10), 0.62f,
                  0.1f * (float)(i / 10));
    sac_body_def unseen = play_body_def(box, SAC_BODY_DYNAMIC, 5, 0.3f, 0.05f);
    unseen.filter.mask = 0, unseen.gravity_scale = 0;
    s.ghost = play_make(s.world, &unseen);
    sac_form form;
    assert_int_equal(sac_form_from_soft(&form, soft, NULL), SAC_OK);
    s.jelly = play_body(s.world, play_shape(s.world, &form), SAC_BODY_DYNAMIC, 0, 0.6f, 3);
    assert_true(play_until_asleep(s.world, 900, 0) < 900);
    return s;
}

static sac_result apply(const stage *s, change what, sac_error *error)
{
    static const float among[3] = {5, 0.3f, 0}, away[3] = {5, -3, 9}, turned[4] = {0, 0.6f, 0, 0.8f};
    sac_filter all = {.category = 1, .mask = UINT32_MAX};
    switch (what) {
    case MOVE:
        return sac_body_set_pose(s->world, s->sleeper, among, turned, error);
    case MOVE_SOFT:
        return sac_body_set_pose(s->world, s->jelly, among, turned, error);
    case MOVE_TRAY:
        return sac_body_set_pose(s->world, s->tray, away, turned, error);
    case FILTER:
        return sac_body_set_filter(s->world, s->ghost, &all, error);
    default:
        return sac_body_set_kind(s->world, s->table, SAC_BODY_DYNAMIC, error);
    }
}

/* All that can be asked of every body, and of what a soft one is made of. */
typedef struct snapshot {
    sac_body_state bodies[MOST];
    float points[3];
    uint32_t count, awake, ends;
} snapshot;

static void look(const stage *s, snapshot *out)
{
    sac_body_id ids[MOST];
    const sac_contact_event *events;
    *out = (snapshot){.count = sac_world_bodies(s->world, ids, MOST)};
    assert_true(out->count <= MOST);
    for (uint32_t i = 0; i < out->count; i++) {
        out->bodies[i] = play_state(s->world, ids[i]);
        out->awake += out->bodies[i].awake;
    }
    sac_soft_points p = sac_soft_view(sac_body_soft(s->world, s->jelly));
    for (uint32_t i = 0; i < p.count; i++)
        out->points[0] += p.x[i], out->points[1] += p.y[i], out->points[2] += p.z[i];
    for (uint32_t i = 0, n = sac_world_contact_events(s->world, &events); i < n; i++)
        out->ends += events[i].kind == SAC_CONTACT_END;
}

static bool same(const snapshot *a, const snapshot *b)
{
    bool is = a->count == b->count && a->awake == b->awake && a->ends == b->ends &&
              memcmp(a->points, b->points, sizeof a->points) == 0;
    for (uint32_t i = 0; i < a->count && is; i++) {
        const sac_body_state *x = &a->bodies[i], *y = &b->bodies[i];
        is = x->kind == y->kind && x->awake == y->awake && x->mass == y->mass &&
             x->staleness == y->staleness && memcmp(&x->pose, &y->pose, sizeof x->pose) == 0 &&
             memcmp(x->centre, y->centre, sizeof x->centre) == 0 &&
             memcmp(x->velocity, y->velocity, sizeof x->velocity) == 0 &&
             memcmp(x->spin, y->spin, sizeof x->spin) == 0;
        if (!is) print_error("    body %u of %u\n", i, a->count);
    }
    return is;
}

static void expect_same(const stage *a, const stage *b, change what, uint64_t last, const char *when)
{
    snapshot x, y;
    look(a, &x), look(b, &y);
    bool is = same(&x, &y);
    CHECK_SAY(is, "%s, allocation %llu: not the same %s (%u, %u awake; %u, %u ends)\n", names[what],
              (unsigned long long)last, when, x.awake, y.awake, x.ends, y.ends);
}

/* `twin` never tries in vain. */
static void fail_at(const sac_soft_shape *soft, change what, uint64_t last, bool again, uint64_t *out_calls)
{
    strict_memory m = {0};
    strict_memory_begin(&m);
    stage s = set_stage(soft, what), twin = set_stage(soft, what);
    sac_error error = {0};
    if (last) {
        m.last = m.calls + last;
        assert_int_equal(apply(&s, what, &error), SAC_ERROR_MEMORY);
        m.last = 0;
        expect_same(&s, &twin, what, last, "after the call");
    }
    uint64_t calls = m.calls;
    if (again) {
        assert_int_equal(apply(&s, what, NULL), SAC_OK);
        *out_calls = m.calls - calls;
        assert_int_equal(apply(&twin, what, NULL), SAC_OK);
    }
    for (int f = 0; f < 8; f++) {
        play_step(s.world, 0), play_step(twin.world, 0);
        expect_same(&s, &twin, what, last, "later");
        snapshot now;
        look(&s, &now);
        if (again && f == 0 && what == MOVE_TRAY) assert_int_equal(now.ends, TRAY);
    }
    sac_world_destroy(&s.world), sac_world_destroy(&twin.world);
    sac_set_allocator(NULL);
    assert_false(m.overrun || m.wrong_size);
    assert_int_equal(m.pieces, 0);
}

static void test_nothing_is_lost(void **state)
{
    (void)state;
    sac_soft_shape *soft = play_jelly();
    assert_non_null(soft);
    for (int what = 0; what < CHANGES; what++) {
        uint64_t calls = 0, unused;
        fail_at(soft, (change)what, 0, true, &calls);
        CHECK_SAY(calls > 0, "%s needs no memory\n", names[what]);
        for (uint64_t last = 1; last <= calls; last++)
            for (int again = 0; again < 2; again++) {
#ifdef SACCADE_INSTRUMENTED
                if (last % 2 != (uint64_t)again) continue; /* each fails once, not twice */
#endif
                fail_at(soft, (change)what, last, again, &unused);
            }
    }
    sac_soft_shape_destroy(&soft);
}

/* Who comes after a soft body, more than there was room for, is touched by it like those who were there. */
static void test_soft_bodies_touch_newcomers(void **state)
{
    (void)state;
    sac_soft_shape *soft = play_jelly();
    assert_non_null(soft);
    strict_memory m = {0};
    strict_memory_begin(&m);
    sac_world_def def = play_small_def();
    sac_world *world = play_create(&def);
    sac_form form;
    assert_int_equal(sac_form_from_soft(&form, soft, NULL), SAC_OK);
    play_floor(world);
    sac_body_id jelly = play_body(world, play_shape(world, &form), SAC_BODY_DYNAMIC, 0, 0.2f, 0);
    sac_shape_id ball = play_ball(world, 0.05f);
    for (int i = 0; i < 20; i++) play_body(world, ball, SAC_BODY_STATIC, 5 + (float)i, 0, 0);
    /* However little memory there is on the way: whoever is refused is not there, whoever is there fits. */
    sac_body_def late = play_body_def(ball, SAC_BODY_DYNAMIC, 0, 0.6f, 0);
    int refused = 0;
    for (uint64_t tries = 1; sac_world_bodies(world, NULL, 0) < 40; tries++) {
        m.last = m.calls + tries, m.once = true;
        refused += sac_body_create(world, &late, NULL, NULL) == SAC_ERROR_MEMORY;
        m.last = 0;
        late.position[1] += 0.12f;
    }
    CHECK(refused > 0);
    play_frames(world, 60);
    CHECK(sac_body_exists(world, jelly));
    sac_world_destroy(&world);
    sac_set_allocator(NULL);
    assert_false(m.overrun || m.wrong_size);
    assert_int_equal(m.pieces, 0);
    sac_soft_shape_destroy(&soft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_soft_bodies_touch_newcomers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
