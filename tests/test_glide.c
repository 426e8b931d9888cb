/* What is touched by nothing but what it rolls or slides along goes on between its turns, and so does what
 * the caller pushes: many more bodies than turns, counted in credits. */
#include "tests/world_play.h"

enum { SIDE = 30, COUNT = SIDE * SIDE };
static const float RADIUS = 0.1f, APART = 0.6f;
/* About one in fifteen has a turn in a frame. */
static const uint64_t SHORT_NS = 240000;

typedef struct field {
    sac_world *world;
    sac_body_id ids[COUNT], floor;
    uint64_t waited, held;
} field;

static sac_world *create(const float gravity[3])
{
    sac_world_def def = play_def();
    def.bodies = COUNT + 8;
    memcpy(def.gravity, gravity, sizeof def.gravity);
    return play_create(&def);
}

/* Balls that roll along x, side by side. */
static void roll(field *f, const float gravity[3], float speed)
{
    memset(f, 0, sizeof *f);
    f->world = create(gravity);
    f->floor = play_floor(f->world);
    sac_shape_id ball = play_ball(f->world, RADIUS);
    for (int i = 0; i < COUNT; i++) {
        sac_body_def def = play_body_def(ball, SAC_BODY_DYNAMIC, APART * (float)(i % SIDE), RADIUS,
                                         APART * (float)(i / SIDE));
        def.velocity[0] = speed, def.spin[2] = -speed / RADIUS, def.angular_damping = 0;
        f->ids[i] = play_make(f->world, &def);
    }
}

static void step(field *f, uint64_t budget_ns)
{
    sac_step_report report = play_step(f->world, budget_ns);
    f->waited += report.rungs[SAC_RUNG_BODIES];
    f->held += report.rungs[SAC_RUNG_HELD];
}

static void test_rollers_roll_on(void **state)
{
    (void)state;
    enum { WARM = 30, FRAMES = 120 };
    const float down[3] = {0, -9.81f, 0}, speed = 1;
    static field f;
    roll(&f, down, speed);
    for (int i = 0; i < WARM; i++) step(&f, SHORT_NS);
    static float start[COUNT];
    for (int i = 0; i < COUNT; i++) start[i] = play_state(f.world, f.ids[i]).centre[0];
    f.waited = f.held = 0;
    for (int i = 0; i < FRAMES; i++) step(&f, SHORT_NS);
    float least = 1e9f, most = 0;
    for (int i = 0; i < COUNT; i++) {
        sac_body_state s = play_state(f.world, f.ids[i]);
        float way = s.centre[0] - start[i];
        least = fminf(least, way), most = fmaxf(most, way);
        CHECK(fabsf(s.centre[1] - RADIUS) < PLAY_SLOP);
    }
    print_message("%u of %d without a turn, %u times held, %.3f to %.3f m\n", (unsigned)(f.waited / FRAMES),
                  COUNT, (unsigned)f.held, (double)least, (double)most);
    CHECK(f.waited > COUNT / 2 * FRAMES); /* else this test says nothing */
    CHECK(f.held == 0);
    CHECK(least > 0.99f * speed * FRAMES / 90 && most < 1.01f * speed * FRAMES / 90);
    sac_world_destroy(&f.world);
}

/* Up a slope, which is gravity aslant, they lose what they climb. */
static void test_nobody_climbs_for_nothing(void **state)
{
    (void)state;
    const float aslant[3] = {-4, -8.9f, 0};
    static field f;
    roll(&f, aslant, 2);
    double first = sac_world_energy(f.world), most = first;
    for (int i = 0; i < 180; i++) {
        step(&f, SHORT_NS);
        most = fmax(most, sac_world_energy(f.world));
    }
    print_message("%.3f J at first, %.3f at most\n", first, most);
    CHECK(f.waited > 0 && most - first < 0.002 * fabs(first));
    sac_world_destroy(&f.world);
}

static void test_walls_stop_them(void **state)
{
    (void)state;
    const float down[3] = {0, -9.81f, 0}, speed = 3, wall = SIDE * APART + 1;
    static field f;
    roll(&f, down, speed);
    play_body(f.world, play_box(f.world, 0.02f, 1, SIDE * APART), SAC_BODY_STATIC, wall, 1, 0);
    for (int i = 0; i < 240; i++) {
        step(&f, SHORT_NS);
        for (int k = 0; k < COUNT; k++) {
            float x = play_state(f.world, f.ids[k]).centre[0];
            CHECK_SAY(x < wall - 0.8f * RADIUS, "frame %d: ball %d is %g m into the wall\n", i, k,
                      (double)(x + RADIUS - wall));
        }
    }
    CHECK(f.waited > 0);
    sac_world_destroy(&f.world);
}

/* Where what bears them is gone they fall: at once when it is taken away, soon when it ends. */
static void test_nobody_glides_on_air(void **state)
{
    (void)state;
    const float down[3] = {0, -9.81f, 0};
    static field f;
    roll(&f, down, 1);
    for (int i = 0; i < 40; i++) step(&f, SHORT_NS);
    assert_int_equal(sac_body_destroy(f.world, f.floor, NULL), SAC_OK);
    for (int i = 0; i < 45; i++) step(&f, SHORT_NS);
    int fallen = 0;
    for (int k = 0; k < COUNT; k++) fallen += play_state(f.world, f.ids[k]).centre[1] < RADIUS - 0.5f;
    CHECK_SAY(fallen > COUNT * 9 / 10, "%d of %d fell\n", fallen, COUNT);
    sac_world_destroy(&f.world);

    roll(&f, down, 1);
    assert_int_equal(sac_body_destroy(f.world, f.floor, NULL), SAC_OK);
    float half = 0.5f * SIDE * APART;
    play_body(f.world, play_box(f.world, half, 0.5f, half), SAC_BODY_STATIC, half - APART, -0.5f, half);
    for (int i = 0; i < 180; i++) {
        step(&f, SHORT_NS);
        for (int k = 0; k < COUNT; k++) {
            sac_body_state s = play_state(f.world, f.ids[k]);
            /* Its centre beyond the edge, and by now it should have begun to go down. */
            CHECK_SAY(s.centre[0] < 2 * half - APART + 0.4f || s.centre[1] < RADIUS - 0.01f,
                      "frame %d: ball %d hangs %g m beyond the edge\n", i, k,
                      (double)(s.centre[0] - 2 * half + APART));
        }
    }
    sac_world_destroy(&f.world);
}

/* Balls that fall onto the floor are stopped a little above it where they had no time to be looked at: they
 * have touched, but nothing bears them, and from there they fall no farther than to the floor. */
static void test_nobody_falls_through(void **state)
{
    (void)state;
    const float down[3] = {0, -9.81f, 0};
    for (int k = 0; k < 4; k++) {
        static field f;
        memset(&f, 0, sizeof f);
        f.world = create(down);
        f.floor = play_floor(f.world);
        sac_shape_id ball = play_ball(f.world, RADIUS);
        for (int i = 0; i < COUNT; i++) {
            sac_body_def def =
                play_body_def(ball, SAC_BODY_DYNAMIC, APART * (float)(i % SIDE),
                              0.5f + 0.1f * (float)k + 0.01f * (float)(i % 97), APART * (float)(i / SIDE));
            def.velocity[1] = -2;
            f.ids[i] = play_make(f.world, &def);
        }
        float deepest = 0;
        for (int i = 0; i < 240; i++) {
            step(&f, SHORT_NS);
            for (int n = 0; n < COUNT; n++)
                deepest = fmaxf(deepest, RADIUS - play_state(f.world, f.ids[n]).centre[1]);
        }
        print_message("%.1f mm in the floor at most\n", 1000.0 * (double)deepest);
        CHECK(deepest < 0.1f * RADIUS);
        CHECK(f.waited > 0);
        sac_world_destroy(&f.world);
    }
}

/* Every second row comes back against the others. */
static void test_they_meet(void **state)
{
    (void)state;
    const float down[3] = {0, -9.81f, 0};
    static field f;
    roll(&f, down, 1.5f);
    for (int k = 0; k < COUNT; k++)
        if (k % SIDE >= SIDE / 2) {
            const float v[3] = {-1.5f, 0, 0}, w[3] = {0, 0, 1.5f / RADIUS};
            assert_int_equal(sac_body_set_velocity(f.world, f.ids[k], v, w, NULL), SAC_OK);
        }
    float deepest = 0;
    for (int i = 0; i < 180; i++) {
        step(&f, SHORT_NS);
        for (int row = 0; row < SIDE; row++)
            for (int k = 1; k < SIDE; k++) {
                sac_body_state a = play_state(f.world, f.ids[SIDE * row + k - 1]);
                sac_body_state b = play_state(f.world, f.ids[SIDE * row + k]);
                deepest = fmaxf(deepest, 2 * RADIUS - play_distance(a.centre, b.centre));
                CHECK(a.centre[0] < b.centre[0] || fabsf(a.centre[2] - b.centre[2]) > RADIUS);
            }
    }
    print_message("%.1f mm into each other at most\n", 1000.0 * (double)deepest);
    CHECK(f.waited > 0 && deepest < 0.1f * RADIUS);
    sac_world_destroy(&f.world);
}

/* A force is a push in every frame. Nothing is near: nobody has to wait for a turn to feel it. */
static void test_pushed_fly_on(void **state)
{
    (void)state;
    enum { FRAMES = 90 };
    const float none[3] = {0, 0, 0};
    static field f;
    memset(&f, 0, sizeof f);
    f.world = create(none);
    sac_tree *tree = play_torus(12, 0.12f, 0.04f);
    sac_shape_id ring = play_tree(f.world, tree);
    for (int i = 0; i < COUNT; i++) {
        sac_body_def def = play_body_def(ring, SAC_BODY_DYNAMIC, (float)(i % SIDE), 0, (float)(i / SIDE));
        def.mass = 1, def.spin[0] = 1;
        f.ids[i] = play_make(f.world, &def);
    }
    double first = sac_world_energy(f.world), work = 0;
    for (int i = 0; i < FRAMES; i++) {
        for (int k = 0; k < COUNT; k++) {
            const float push[3] = {0, 0.02f, 0};
            work += 0.02 * (0.02 * i + 0.01);
            assert_int_equal(sac_body_push(f.world, f.ids[k], push, NULL, NULL), SAC_OK);
        }
        step(&f, SHORT_NS);
    }
    print_message("%u of %d without a turn, %u times held\n", (unsigned)(f.waited / FRAMES), COUNT,
                  (unsigned)f.held);
    /* All begin to move in one frame, and some of their boxes have to wait for the next. */
    CHECK(f.waited > COUNT / 2 * FRAMES && f.held < COUNT * FRAMES / 50);
    double off = sac_world_energy(f.world) - first - work;
    CHECK_SAY(fabs(off) < 0.001 * work, "%g J more than was put in, %g\n", off, work);
    sac_world_destroy(&f.world);
    sac_tree_destroy(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rollers_roll_on),      cmocka_unit_test(test_nobody_climbs_for_nothing),
        cmocka_unit_test(test_walls_stop_them),      cmocka_unit_test(test_nobody_glides_on_air),
        cmocka_unit_test(test_nobody_falls_through), cmocka_unit_test(test_they_meet),
        cmocka_unit_test(test_pushed_fly_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
