/* Fast bodies do not pass through what is in their way, whatever it is and however long a frame is. */
#include "tests/world_play.h"

/* Instrumented code takes one of so many cases, a number that shares nothing with how many there are of
 * anything: all kinds, rates and speeds still come up. */
#ifdef SACCADE_INSTRUMENTED
enum { EVERY = 7 };
#else
enum { EVERY = 1 };
#endif

static const float rates[] = {72, 90, 120};
static const float speeds[] = {5, 15, 40, 70, 99};

typedef struct shapes {
    sac_tree *cube, *ring;
} shapes;

static int make_shapes(void **state)
{
    static shapes s;
    s.cube = play_sphere_box(0.1f, 3);
    s.ring = play_torus(16, 0.15f, 0.05f);
    *state = &s;
    return 0;
}

static int free_shapes(void **state)
{
    shapes *s = *state;
    sac_tree_destroy(&s->cube);
    sac_tree_destroy(&s->ring);
    return 0;
}

static sac_shape_id projectile(sac_world *world, const shapes *s, int kind, float *half)
{
    *half = 0.1f;
    switch (kind) {
    case 0:
        *half = 0.02f;
        return play_ball(world, 0.02f);
    case 1:
        return play_ball(world, 0.1f);
    case 2:
        *half = 0.03f;
        return play_capsule(world, 0.03f, 0.1f);
    case 3:
        *half = 0.01f;
        return play_box(world, 0.1f, 0.01f, 0.1f); /* a thin plate */
    case 4:
        return play_tree(world, s->cube);
    default:
        *half = 0.05f;
        return play_tree(world, s->ring);
    }
}
static const char *const names[] = {"pebble", "ball",           "capsule",
                                    "plate",  "tree of a cube", "tree of a torus"};

static void step_at(sac_world *world, float rate, uint64_t budget_ns)
{
    sac_step_def step = sac_default_step_def();
    step.dt = 1 / rate;
    step.budget_ns = budget_ns;
    CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
}

/* Thrown along +x at a wall at x = 0, never seen beyond it. */
static void test_static_walls(void **state)
{
    const shapes *s = *state;
    sac_terrain *mesh = play_wall_of_triangles();
    static const char *const walls[] = {"thin box", "plane", "thick box", "mesh"};
    sac_rng rng = sac_rng_seed(4);
    int through = 0, number = 0;
    for (int wall = 0; wall < 4; wall++)
        for (int kind = 0; kind < 6; kind++)
            for (size_t r = 0; r < 3; r++)
                for (size_t v = 0; v < 5; v++)
                    for (int spun = 0; spun < 2; spun++) {
                        if (number++ % EVERY) continue;
                        sac_world_def def = play_small_def();
                        def.gravity[1] = 0;
                        sac_world *world = play_create(&def);
                        sac_form form;
                        float thick = wall == 0 ? 0.005f : 0.5f, half;
                        if (wall == 1) {
                            CHECK(sac_form_plane(&form, (float[3]){-1, 0, 0}, 0, NULL) == SAC_OK);
                            play_body(world, play_shape(world, &form), SAC_BODY_STATIC, 0, 0, 0);
                        } else if (wall == 3) {
                            CHECK(sac_form_from_terrain(&form, mesh, NULL) == SAC_OK);
                            play_body(world, play_shape(world, &form), SAC_BODY_STATIC, 0, 0, 0);
                        } else {
                            play_body(world, play_box(world, thick, 3, 3), SAC_BODY_STATIC, thick, 0, 0);
                        }
                        sac_body_def body = play_body_def(projectile(world, s, kind, &half), SAC_BODY_DYNAMIC,
                                                          -1 - sac_rng_float(&rng), 0.05f, 0.03f);
                        body.velocity[0] = speeds[v], body.velocity[1] = 0.1f * speeds[v];
                        body.mass = 1;
                        if (spun) {
                            play_turn_randomly(&rng, body.rotation);
                            for (int i = 0; i < 3; i++) body.spin[i] = sac_rng_range(&rng, -20, 20);
                        }
                        sac_body_id id = play_make(world, &body);
                        float farthest = -10;
                        for (int f = 0; f < 45; f++) {
                            step_at(world, rates[r], 0);
                            farthest = fmaxf(farthest, play_state(world, id).centre[0]);
                        }
                        /* A centre beyond the wall's face is through. */
                        if (farthest > 0) {
                            through++;
                            print_error("    %s%s at %g m/s, %g Hz, through the %s: %g m\n", names[kind],
                                        spun ? ", spinning," : "", (double)speeds[v], (double)rates[r],
                                        walls[wall], (double)farthest);
                        }
                        sac_world_destroy(&world);
                    }
    sac_terrain_destroy(&mesh);
    assert_int_equal(through, 0);
}

/* Two of a kind, head on: they never change sides. */
static void test_each_other(void **state)
{
    const shapes *s = *state;
    int through = 0;
    for (int kind = 0; kind < 5; kind++)
        for (size_t r = 0; r < 3; r++)
            for (size_t v = 0; v < 5; v++)
                for (int both = 0; both < 2; both++) {
                    sac_world_def def = play_small_def();
                    def.gravity[1] = 0;
                    sac_world *world = play_create(&def);
                    float half;
                    sac_shape_id shape = projectile(world, s, kind, &half);
                    sac_body_def body = play_body_def(shape, SAC_BODY_DYNAMIC, -1, 0, 0);
                    body.mass = 1;
                    /* Flat sides first. */
                    if (kind == 3) body.rotation[2] = body.rotation[3] = 0.70710678f;
                    body.velocity[0] = speeds[v];
                    sac_body_id left = play_make(world, &body);
                    body.position[0] = 0.9f; /* straight: a glancing hit may well change sides */
                    body.velocity[0] = both ? -speeds[v] : 0;
                    sac_body_id right = play_make(world, &body);
                    for (int f = 0; f < 45; f++) {
                        step_at(world, rates[r], 0);
                        float a = play_state(world, left).centre[0], b = play_state(world, right).centre[0];
                        if (a > b) {
                            through++;
                            print_error("    two of %s at %g m/s, %g Hz: passed by %g m\n", names[kind],
                                        (double)speeds[v], (double)rates[r], (double)(a - b));
                            break;
                        }
                    }
                    sac_world_destroy(&world);
                }
    assert_int_equal(through, 0);
}

/* A row of fast balls, one behind the other, into a wall: the order stays. */
static void test_in_a_row(void **state)
{
    (void)state;
    for (size_t r = 0; r < 3; r++)
        for (size_t v = 0; v < 5; v++) {
            enum { ROW = 6 };
            sac_world_def def = play_small_def();
            def.gravity[1] = 0;
            sac_world *world = play_create(&def);
            play_body(world, play_box(world, 0.01f, 3, 3), SAC_BODY_STATIC, 0.01f, 0, 0);
            sac_shape_id shape = play_ball(world, 0.05f);
            sac_body_id ids[ROW];
            for (int i = 0; i < ROW; i++) {
                sac_body_def body = play_body_def(shape, SAC_BODY_DYNAMIC, -1 - 0.15f * (float)i, 0, 0);
                body.mass = 1;
                body.velocity[0] = speeds[v];
                ids[i] = play_make(world, &body);
            }
            for (int f = 0; f < 45; f++) {
                step_at(world, rates[r], 0);
                float before = 0;
                for (int i = 0; i < ROW; i++) {
                    float x = play_state(world, ids[i]).centre[0];
                    CHECK_SAY(x < before, "%g m/s, %g Hz, frame %d: ball %d at %g, before it %g\n",
                              (double)speeds[v], (double)rates[r], f, i, (double)x, (double)before);
                    before = x;
                }
            }
            sac_world_destroy(&world);
        }
}

/* Something at rest between a bullet and a wall is not driven through the wall. */
static void test_hit_against_a_wall(void **state)
{
    (void)state;
    for (size_t r = 0; r < 3; r++)
        for (size_t v = 0; v < 5; v++)
            for (int near = 0; near < 2; near++) {
                sac_world_def def = play_small_def();
                def.gravity[1] = 0;
                sac_world *world = play_create(&def);
                play_body(world, play_box(world, 0.005f, 3, 3), SAC_BODY_STATIC, 0.005f, 0, 0);
                sac_body_def body =
                    play_body_def(play_ball(world, 0.04f), SAC_BODY_DYNAMIC, near ? -0.06f : -0.5f, 0, 0);
                body.mass = 1;
                body.material.restitution = 0.5f;
                sac_body_id target = play_make(world, &body);
                body.position[0] = -1.5f, body.mass = 4, body.velocity[0] = speeds[v];
                sac_body_id bullet = play_make(world, &body);
                for (int f = 0; f < 60; f++) {
                    step_at(world, rates[r], 0);
                    float t = play_state(world, target).centre[0], b = play_state(world, bullet).centre[0];
                    CHECK_SAY(t < 0 && b < 0, "%g m/s, %g Hz, %s, frame %d: hit one at %g, bullet at %g\n",
                              (double)speeds[v], (double)rates[r], near ? "near" : "far", f, (double)t,
                              (double)b);
                }
                sac_world_destroy(&world);
            }
}

/* A plate as wide as a house and as thin as a coin, free to move: it was taken for as thick as its width
 * allows. */
static void test_wide_plates(void **state)
{
    (void)state;
    for (float half = 5; half < 300; half *= 2)
        for (int rate = 72; rate <= 120; rate += 16)
            for (float speed = 40; speed < 210; speed += 20) {
                sac_world_def def = play_small_def();
                memset(def.gravity, 0, sizeof def.gravity);
                sac_world *world = play_create(&def);
                sac_body_id plate =
                    play_body(world, play_box(world, 0.002f, half, half), SAC_BODY_DYNAMIC, 0, 0, 0);
                sac_body_id ball = play_body(world, play_ball(world, 0.01f), SAC_BODY_DYNAMIC, -3, 0, 0);
                const float v[3] = {speed, 0, 0};
                assert_int_equal(sac_body_set_velocity(world, ball, v, play_still, NULL), SAC_OK);
                for (int f = 0; f < 30; f++) step_at(world, (float)rate, 0);
                sac_body_state a, b;
                assert_int_equal(sac_body_get(world, ball, &a, NULL), SAC_OK);
                assert_int_equal(sac_body_get(world, plate, &b, NULL), SAC_OK);
                CHECK_SAY(a.centre[0] < b.centre[0],
                          "plate %g m wide, %g m/s at %d Hz: ball at %g, plate at %g\n", 2 * (double)half,
                          (double)speed, rate, (double)a.centre[0], (double)b.centre[0]);
                sac_world_destroy(&world);
            }
}

/* Without time to look, they still do not pass. */
static void test_starved(void **state)
{
    const shapes *s = *state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_pen(world, 2, 2);
    sac_form lid;
    CHECK(sac_form_plane(&lid, (float[3]){0, -1, 0}, -4, NULL) == SAC_OK);
    play_body(world, play_shape(world, &lid), SAC_BODY_STATIC, 0, 0, 0);
    sac_rng rng = sac_rng_seed(8);
    enum { BODIES = 80 };
    sac_body_id ids[BODIES];
    float half;
    sac_shape_id kinds[6];
    for (int k = 0; k < 6; k++) kinds[k] = projectile(world, s, k, &half);
    for (int i = 0; i < BODIES; i++) {
        sac_body_def body = play_body_def(kinds[i % 6], SAC_BODY_DYNAMIC, 0.38f * (float)(i % 5) - 0.76f,
                                          0.3f + 0.4f * (float)(i / 25), 0.38f * (float)(i / 5 % 5) - 0.76f);
        sac_rng_unit_vector(&rng, body.velocity);
        for (int k = 0; k < 3; k++) body.velocity[k] *= 80;
        body.mass = 1;
        body.material.restitution = 0.9f;
        ids[i] = play_make(world, &body);
    }
    for (int f = 0; f < 200; f++) {
        step_at(world, 90, f % 3 == 0 ? 1 : f % 3 == 1 ? 30000 : 150000);
        for (int i = 0; i < BODIES; i++) {
            sac_body_state b = play_state(world, ids[i]);
            CHECK_SAY(fabsf(b.centre[0]) < 1 && fabsf(b.centre[2]) < 1 && b.centre[1] > 0 && b.centre[1] < 4,
                      "frame %d: body %d (%s) is out: %g %g %g\n", f, i, names[i % 6], (double)b.centre[0],
                      (double)b.centre[1], (double)b.centre[2]);
        }
    }
    sac_world_destroy(&world);
}

/* A kinematic body swung as fast as a bat: what it hits flies ahead of it and no faster than a blow makes it;
 * what it misses stays where it is. */
static void test_bats(void **state)
{
    const shapes *s = *state;
    static const float swings[] = {1, 3, 6, 12, 25, 40};
    int bad = 0, tipped = 0, tried = 0, number = 0;
    for (int bat = 0; bat < 3; bat++)
        for (int kind = 0; kind < 6; kind++)
            for (size_t r = 0; r < 3; r++)
                for (size_t v = 0; v < 6; v++)
                    for (int phase = 0; phase < 4; phase++)
                        for (int miss = 0; miss < 2; miss++) {
                            if (number++ % EVERY) continue;
                            sac_world_def def = play_small_def();
                            def.gravity[1] = 0;
                            def.sleep = phase % 2;
                            sac_world *world = play_create(&def);
                            sac_shape_id shape = bat == 0   ? play_ball(world, 0.05f)
                                                 : bat == 1 ? play_box(world, 0.01f, 0.1f, 0.1f)
                                                            : play_tree(world, s->cube);
                            float half, x = -0.5f - 0.03f * (float)phase, way = swings[v] / rates[r];
                            sac_body_id club = play_body(world, shape, SAC_BODY_KINEMATIC, x, 0, 0);
                            sac_body_def body =
                                play_body_def(projectile(world, s, kind, &half), SAC_BODY_DYNAMIC, 0,
                                              miss ? 0.32f : 0.01f, 0.01f);
                            if (kind == 5) body.position[2] = miss ? 0.01f : 0.15f; /* a ring: on its rim */
                            if (kind == 5 && miss) body.position[1] = 0.35f;
                            body.mass = 0.5f;
                            body.asleep = phase == 3;
                            sac_body_id id = play_make(world, &body);
                            float before[3];
                            memcpy(before, body.position, sizeof before);
                            while (x < 1) {
                                x += way;
                                CHECK(sac_body_move_to(world, club, (float[3]){x, 0, 0}, play_upright,
                                                       NULL) == SAC_OK);
                                step_at(world, rates[r], 0);
                            }
                            sac_body_state hit = play_state(world, id);
                            float speed = play_speed(&hit);
                            /* Ahead of the bat, or slid off its side. */
                            float aside =
                                sqrtf(hit.centre[1] * hit.centre[1] + hit.centre[2] * hit.centre[2]);
                            bool good = miss
                                            ? play_distance(hit.pose.translation, before) < 0.01f
                                            : (hit.centre[0] > x - 0.05f || aside > 0.07f) &&
                                                  speed > 0.7f * swings[v] && speed < 2.0f * swings[v] + 0.5f;
                            tried++;
                            /* A long thing struck by one of many spheres may tip and be passed over. */
                            if (!good && bat == 2 && swings[v] >= 12) {
                                tipped++;
                            } else if (!good) {
                                if (bad++ < 20)
                                    print_error(
                                        "    bat %d %s %s at %g m/s, %g Hz, phase %d: bat at %g, it at "
                                        "(%g %g %g) with %g m/s\n",
                                        bat, miss ? "misses" : "hits", names[kind], (double)swings[v],
                                        (double)rates[r], phase, (double)x, (double)hit.centre[0],
                                        (double)hit.centre[1], (double)hit.centre[2], (double)speed);
                            }
                            sac_world_destroy(&world);
                        }
    CHECK_SAY(bad == 0, "%d of %d\n", bad, tried);
    CHECK_SAY(tipped <= tried / 200, "%d of %d tipped\n", tipped, tried);
}

/* Nor one that comes to meet it: a plate rises while bodies fly down at it, each much farther in a frame than
 * either is thick, and turns aside or takes along whatever it meets. */
static void test_plates_and_fliers(void **state)
{
    const shapes *s = *state;
    sac_rng rng = sac_rng_seed(12);
    int bad = 0;
    for (int t = 0; t < 1200 / EVERY; t++) {
        sac_world_def def = play_small_def();
        def.gravity[1] = 0;
        sac_world *world = play_create(&def);
        float half, rise = sac_rng_range(&rng, 3, 60);
        sac_body_def plate = play_body_def(play_box(world, 2, 0.01f, 2), SAC_BODY_KINEMATIC, 0, -3, 0);
        plate.velocity[1] = rise;
        sac_body_id lift = play_make(world, &plate);
        sac_body_def body = play_body_def(projectile(world, s, t % 6, &half), SAC_BODY_DYNAMIC, 0,
                                          sac_rng_range(&rng, 0, 2), 0);
        body.mass = 1;
        body.velocity[1] = -sac_rng_range(&rng, 5, 100);
        play_turn_randomly(&rng, body.rotation);
        for (int k = 0; k < 3; k++) body.spin[k] = sac_rng_range(&rng, -30, 30);
        sac_body_id id = play_make(world, &body);
        for (int f = 0; f < 60; f++) {
            step_at(world, rates[t % 3], (const uint64_t[]){0, 20000, 1}[t / 6 % 3]);
            sac_body_state a = play_state(world, id), b = play_state(world, lift);
            /* A ring's centre may be in the plate while the plate is in the ring's hole. Some slide off. */
            float under = t % 6 == 5 ? 0.15f : 0.01f;
            bool off = fabsf(a.centre[0]) > 1.8f || fabsf(a.centre[2]) > 1.8f;
            if (off || a.centre[1] > b.centre[1] - under || bad++ >= 20) continue;
            print_error("    %d: %s at %g m/s is %g m under a plate at %g m/s\n", t, names[t % 6],
                        (double)-body.velocity[1], (double)(b.centre[1] - a.centre[1]), (double)rise);
            break;
        }
        sac_world_destroy(&world);
    }
    CHECK_SAY(bad == 0, "%d are under it\n", bad);
}

/* However little time there is, and whether it is told where to be or has a speed of its own: a bat passes
 * nobody. In work credits, alone and beside a crowd that takes all the turns. */
static void test_starved_bats(void **state)
{
    const shapes *s = *state;
    static const float swings[] = {0.5f, 3, 6, 12, 25};
    static const uint64_t budgets[] = {1, 10000, 200000};
    enum { CROWD = 100 };
    int bad = 0, tried = 0, number = 0;
    for (int bat = 0; bat < 2; bat++)
        for (int kind = 0; kind < 6; kind++)
            for (size_t v = 0; v < 5; v++)
                for (size_t b = 0; b < 3; b++)
                    for (int way = 0; way < 8; way++) {
                        if (number++ % EVERY) continue;
                        bool told = way & 1, crowd = way & 2;
                        sac_world_def def = play_small_def();
                        def.gravity[1] = 0;
                        def.sleep = false;
                        def.clock = sac_clock_credits(500);
                        sac_world *world = play_create(&def);
                        float half, x = -0.5f - 0.07f * (float)(way / 4);
                        sac_shape_id ball = play_ball(world, 0.05f);
                        for (int i = 0; crowd && i < CROWD; i++) {
                            sac_body_def other =
                                play_body_def(ball, SAC_BODY_DYNAMIC, 3 + 0.09f * (float)(i % 5),
                                              0.09f * (float)(i / 5 % 5), 0.09f * (float)(i / 25));
                            other.velocity[0] = 0.3f * (float)(i * 7 % 5 - 2);
                            play_make(world, &other);
                        }
                        sac_shape_id shape = bat ? play_box(world, 0.01f, 0.2f, 0.2f) : ball;
                        sac_body_def club = play_body_def(shape, SAC_BODY_KINEMATIC, x, 0, 0);
                        if (!told) club.velocity[0] = swings[v];
                        sac_body_id striker = play_make(world, &club);
                        sac_body_def body = play_body_def(projectile(world, s, kind, &half), SAC_BODY_DYNAMIC,
                                                          0, 0.01f, kind == 5 ? 0.15f : 0.01f);
                        body.mass = 0.5f;
                        sac_body_id id = play_make(world, &body);
                        while (x < 0.6f) {
                            x += swings[v] / 90;
                            if (told)
                                CHECK(sac_body_move_to(world, striker, (float[3]){x, 0, 0}, play_upright,
                                                       NULL) == SAC_OK);
                            step_at(world, 90, budgets[b]);
                        }
                        sac_body_state hit = play_state(world, id);
                        float aside = sqrtf(hit.centre[1] * hit.centre[1] + hit.centre[2] * hit.centre[2]);
                        tried++;
                        if (!(hit.centre[0] > x - 0.05f || aside > 0.065f) && bad++ < 20)
                            print_error("    bat %d, %s, %g m/s%s%s, %llu ns: bat at %g, it at (%g %g %g)\n",
                                        bat, names[kind], (double)swings[v], told ? ", told" : "",
                                        crowd ? ", in a crowd" : "", (unsigned long long)budgets[b],
                                        (double)x, (double)hit.centre[0], (double)hit.centre[1],
                                        (double)hit.centre[2]);
                        sac_world_destroy(&world);
                    }
    CHECK_SAY(bad == 0, "%d of %d\n", bad, tried);
}

/* Whoever turns round in the air has hit something, and the step tells how hard, also when they are apart
 * again before it ends. */
static void test_every_bounce_is_told(void **state)
{
    (void)state;
    uint32_t bounces = 0;
    for (int run = 0; run < 60; run++) {
        sac_world_def def = play_def();
        def.gravity[1] = 0;
        sac_world *world = play_create(&def);
        play_body(world, play_ball(world, 0.05f), SAC_BODY_KINEMATIC, 0, 0, 0);
        sac_body_def body = play_body_def(play_ball(world, 0.04f), SAC_BODY_DYNAMIC, 0.4f, 0, 0);
        body.velocity[0] = -1 - 0.07f * (float)run;
        body.material.restitution = 0.2f + 0.1f * (float)(run % 8);
        body.mass = 2;
        sac_body_id id = play_make(world, &body);
        float last = body.velocity[0];
        for (int f = 0; f < 60; f++) {
            play_step(world, 0);
            float v = play_state(world, id).velocity[0], told = 0;
            const sac_contact_event *events;
            uint32_t count = sac_world_contact_events(world, &events);
            for (uint32_t i = 0; i < count; i++)
                if (events[i].kind == SAC_CONTACT_HIT) told = events[i].impulse;
            if (last < 0 && v > 0) {
                bounces++;
                CHECK_SAY(fabsf(told - 2 * (v - last)) < 0.1f * 2 * (v - last),
                          "run %d, frame %d: from %g to %g m/s, told %g N s\n", run, f, (double)last,
                          (double)v, (double)told);
            }
            last = v;
        }
        sac_world_destroy(&world);
    }
    CHECK_SAY(bounces > 50, "%u bounces\n", bounces);
}

/* Balls of all sizes in a closed room, most of them there from the start, some that come later. */
enum { BALLS = 60, AT_FIRST = 40 };
typedef struct room {
    sac_world *world;
    sac_body_id ids[BALLS];
    float radius[BALLS];
    uint32_t count;
} room;

static bool free_place(const room *r, sac_rng *rng, float radius, float out[3])
{
    for (int tries = 0; tries < 200; tries++) {
        bool fits = true;
        for (int k = 0; k < 3; k++) out[k] = sac_rng_range(rng, -1.5f + radius, 1.5f - radius);
        for (uint32_t i = 0; i < r->count && fits; i++)
            fits =
                play_distance(out, play_state(r->world, r->ids[i]).centre) > radius + r->radius[i] + 0.002f;
        if (fits) return true;
    }
    return false;
}

static void fill_room(room *r, sac_rng *rng, uint32_t want, float speed)
{
    for (; r->count < want && r->count < BALLS; r->count++) {
        float radius = sac_rng_range(rng, 0.05f, 0.2f), at[3];
        if (!free_place(r, rng, radius, at)) return;
        sac_body_def def = play_body_def(play_ball(r->world, radius), SAC_BODY_DYNAMIC, at[0], at[1], at[2]);
        for (int k = 0; k < 3; k++) def.velocity[k] = sac_rng_range(rng, -speed, speed);
        def.material.restitution = r->count % 2 ? 0.8f : 0;
        r->ids[r->count] = play_make(r->world, &def);
        r->radius[r->count] = radius;
    }
}

/* Of the smaller one's radius; walls are not asked, other tests do that. */
static float deepest_overlap(const room *r)
{
    float centre[BALLS][3], worst = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        memcpy(centre[i], play_state(r->world, r->ids[i]).centre, sizeof centre[i]);
        for (uint32_t j = 0; j < i; j++) {
            float overlap = r->radius[i] + r->radius[j] - play_distance(centre[i], centre[j]);
            worst = fmaxf(worst, overlap / fminf(r->radius[i], r->radius[j]));
        }
    }
    return worst;
}

static void test_balls_of_all_sizes(void **state)
{
    (void)state;
    /* Speed, and how far one may sink into another: a light one between a heavy one and a wall gives way. */
    static const float cases[][2] = {{2, 0.6f}, {8, 0.7f}, {25, 1}};
    for (uint32_t k = 0; k < 3; k++)
        for (uint64_t seed = 0; seed < 16; seed++) {
            sac_rng rng = sac_rng_seed(seed);
            sac_world_def def = play_def();
            if (seed % 2) def.gravity[1] = 0;
            def.policy = seed / 2 % 2 ? "jnd" : "exhaustive";
            room r = {.world = play_create(&def)};
            for (int side = 0; side < 6; side++) {
                float half[3] = {1.7f, 1.7f, 1.7f}, at[3] = {0, 0, 0};
                half[side / 2] = 0.1f, at[side / 2] = side % 2 ? 1.6f : -1.6f;
                play_body(r.world, play_box(r.world, half[0], half[1], half[2]), SAC_BODY_STATIC, at[0],
                          at[1], at[2]);
            }
            for (uint32_t frame = 0; frame < 120; frame++) {
                fill_room(&r, &rng, AT_FIRST + frame / 6, cases[k][0]);
                step_at(r.world, rates[seed % 3], 0);
                float worst = deepest_overlap(&r);
                CHECK_SAY(worst < cases[k][1], "%g m/s, seed %u, frame %u: %g of a radius\n",
                          (double)cases[k][0], (unsigned)seed, frame, (double)worst);
            }
            sac_world_destroy(&r.world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_static_walls),
                                       cmocka_unit_test(test_each_other),
                                       cmocka_unit_test(test_balls_of_all_sizes),
                                       cmocka_unit_test(test_in_a_row),
                                       cmocka_unit_test(test_hit_against_a_wall),
                                       cmocka_unit_test(test_wide_plates),
                                       cmocka_unit_test(test_starved),
                                       cmocka_unit_test(test_bats),
                                       cmocka_unit_test(test_plates_and_fliers),
                                       cmocka_unit_test(test_starved_bats),
                                       cmocka_unit_test(test_every_bounce_is_told)};
    return cmocka_run_group_tests(tests, make_shapes, free_shapes);
}
