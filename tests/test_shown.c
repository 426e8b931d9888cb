/* Where bodies of a crowd that does not fit are drawn: smoothly, and no longer than it takes behind where
 * they are. Work is counted in credits, so the run is the same everywhere. */
#include "tests/world_play.h"

enum { SIDE = 5, RINGS = SIDE * SIDE * SIDE, FRAMES = 240 };

typedef struct heap {
    sac_world *world;
    sac_tree *tree;
    sac_body_id ids[RINGS];
    sac_body_state before[RINGS];
} heap;

/* Rings that overlap a little when they fall upon each other, in a pen. */
static void raise(heap *h)
{
    sac_world_def def = play_def();
    sac_rng rng = sac_rng_seed(5);
    h->world = play_create(&def);
    h->tree = play_torus(24, 0.3f, 0.1f);
    sac_shape_id shape = play_tree(h->world, h->tree);
    play_pen(h->world, 3.2f, 6);
    for (uint32_t i = 0; i < RINGS; i++) {
        sac_body_def body =
            play_body_def(shape, SAC_BODY_DYNAMIC, 0.6f * (float)(i % SIDE) - 1.2f,
                          0.5f + 0.85f * (float)(i / SIDE / SIDE), 0.6f * (float)(i / SIDE % SIDE) - 1.2f);
        play_turn_randomly(&rng, body.rotation);
        h->ids[i] = play_make(h->world, &body);
        h->before[i] = play_state(h->world, h->ids[i]);
    }
}

static void take_down(heap *h)
{
    sac_world_destroy(&h->world);
    sac_tree_destroy(&h->tree);
}

static bool same(const sac_transform *a, const sac_transform *b)
{
    return memcmp(a->translation, b->translation, 3 * sizeof(float)) == 0 &&
           memcmp(a->rotation, b->rotation, 4 * sizeof(float)) == 0;
}

/* How far the farthest point of a ring goes from one pose to the other, at the most. */
static float way_between(const sac_transform *a, const sac_transform *b)
{
    float dot = 0;
    for (int i = 0; i < 4; i++) dot += a->rotation[i] * b->rotation[i];
    dot = fabsf(dot) < 1 ? fabsf(dot) : 1;
    return play_distance(a->translation, b->translation) + 0.4f * 2 * acosf(dot);
}

static void test_time_for_all(void **state)
{
    (void)state;
    heap h;
    raise(&h);
    for (int f = 0; f < 90; f++) {
        play_step(h.world, 0);
        for (uint32_t i = 0; i < RINGS; i++) {
            sac_body_state s = play_state(h.world, h.ids[i]);
            CHECK(same(&s.pose, &s.shown));
        }
    }
    take_down(&h);
}

/* A turn after k frames moves a body as far as k frames later the next: drawn like that it jerks. */
static void test_nobody_jerks(void **state)
{
    (void)state;
    heap h;
    uint64_t waited = 0;
    double jerk_pose = 0, jerk_shown = 0;
    float way_pose[RINGS] = {0}, way_shown[RINGS] = {0};
    raise(&h);
    for (int f = 0; f < FRAMES; f++) {
        waited += play_step(h.world, 60000).rungs[SAC_RUNG_BODIES];
        for (uint32_t i = 0; i < RINGS; i++) {
            sac_body_state s = play_state(h.world, h.ids[i]), *b = &h.before[i];
            float pose = way_between(&b->pose, &s.pose), shown = way_between(&b->shown, &s.shown);
            /* Never faster than it really goes in a frame, but for what is left of the turn before. */
            CHECK_SAY(shown < 0.2f, "frame %d, ring %u: drawn %g m on\n", f, (unsigned)i, (double)shown);
            jerk_pose += fabsf(pose - way_pose[i]), jerk_shown += fabsf(shown - way_shown[i]);
            way_pose[i] = pose, way_shown[i] = shown;
            *b = s;
        }
    }
    CHECK(waited > RINGS / 4 * FRAMES); /* else this says nothing */
    print_message("changes of what is drawn from frame to frame: %.1f m as it is, %.1f m as it is shown\n",
                  jerk_pose, jerk_shown);
    CHECK(jerk_shown < 0.15 * jerk_pose);
    /* With time for all they are drawn where they are, to the bit. */
    for (int f = 0; f < 31; f++) play_step(h.world, 0);
    for (uint32_t i = 0; i < RINGS; i++) {
        sac_body_state s = play_state(h.world, h.ids[i]);
        CHECK(same(&s.pose, &s.shown));
    }
    take_down(&h);
}

/* Who draws from events alone draws the same. */
static void test_events_tell_all(void **state)
{
    (void)state;
    heap h;
    raise(&h);
    for (int f = 0; f < FRAMES; f++) {
        const sac_move_event *events;
        bool told[RINGS] = {false};
        play_step(h.world, 60000);
        uint32_t count = sac_world_move_events(h.world, &events);
        for (uint32_t e = 0; e < count; e++)
            for (uint32_t i = 0; i < RINGS; i++)
                if (events[e].body.value == h.ids[i].value) {
                    sac_body_state s = play_state(h.world, h.ids[i]);
                    CHECK(same(&events[e].pose, &s.pose) && same(&events[e].shown, &s.shown));
                    told[i] = true;
                }
        for (uint32_t i = 0; i < RINGS; i++) {
            sac_body_state s = play_state(h.world, h.ids[i]);
            CHECK_SAY(told[i] || (same(&s.pose, &h.before[i].pose) && same(&s.shown, &h.before[i].shown)),
                      "frame %d, ring %u moved untold\n", f, (unsigned)i);
            h.before[i] = s;
        }
    }
    take_down(&h);
}

/* One that is drawn behind; UINT32_MAX: nobody. */
static uint32_t somebody_behind(const heap *h)
{
    for (uint32_t i = 0; i < RINGS; i++) {
        sac_body_state s = play_state(h->world, h->ids[i]);
        if (play_distance(s.pose.translation, s.shown.translation) > 0.01f) return i;
    }
    return UINT32_MAX;
}

/* What somebody does to it is seen at once. */
static void test_at_once(void **state)
{
    (void)state;
    for (int what = 0; what < 5; what++) {
        heap h;
        uint32_t i = UINT32_MAX;
        raise(&h);
        for (int f = 0; f < FRAMES && i == UINT32_MAX; f++) {
            play_step(h.world, 60000);
            if (f > 40) i = somebody_behind(&h);
        }
        CHECK(i != UINT32_MAX);
        sac_grab_def grab = sac_default_grab_def();
        if (what == 0)
            CHECK(sac_body_set_pose(h.world, h.ids[i], (float[3]){0, 9, 0}, play_upright, NULL) == SAC_OK);
        if (what == 1) CHECK(sac_body_sleep(h.world, h.ids[i], NULL) == SAC_OK);
        if (what == 2) CHECK(sac_body_set_kind(h.world, h.ids[i], SAC_BODY_KINEMATIC, NULL) == SAC_OK);
        if (what == 3) {
            CHECK(sac_body_set_kind(h.world, h.ids[i], SAC_BODY_STATIC, NULL) == SAC_OK);
            CHECK(sac_body_set_kind(h.world, h.ids[i], SAC_BODY_DYNAMIC, NULL) == SAC_OK);
        }
        if (what == 4) {
            grab.body = h.ids[i];
            memcpy(grab.anchor, play_state(h.world, h.ids[i]).centre, sizeof grab.anchor);
            memcpy(grab.target, grab.anchor, sizeof grab.target);
            CHECK(sac_grab_create(h.world, &grab, &(sac_grab_id){0}, NULL) == SAC_OK);
        }
        sac_body_state s = play_state(h.world, h.ids[i]);
        CHECK_SAY(same(&s.pose, &s.shown), "what %d\n", what);
        take_down(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_for_all),
        cmocka_unit_test(test_nobody_jerks),
        cmocka_unit_test(test_events_tell_all),
        cmocka_unit_test(test_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
