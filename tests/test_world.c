/* The world through its door: falling, resting, pushing, telling, holding. */
#include <unistd.h>

#include "tests/world_play.h"

typedef struct rest_case {
    const char *name;
    sac_shape_id shape;
    float height; /* of its origin when it lies */
} rest_case;

/* ---- falling and resting ---- */

static sac_terrain *heights_at(float height)
{
    float posts[21 * 21];
    for (int i = 0; i < 21 * 21; i++) posts[i] = height;
    sac_terrain *terrain = NULL;
    CHECK(sac_terrain_from_heights(posts, 21, 21, 0.5f, &terrain, NULL) == SAC_OK);
    return terrain;
}

static sac_terrain *triangles_at(float height)
{
    float vertices[4][3] = {{-5, height, -5}, {5, height, -5}, {5, height, 5}, {-5, height, 5}};
    uint32_t triangles[2][3] = {{0, 2, 1}, {0, 3, 2}};
    sac_mesh *mesh = NULL;
    sac_terrain *terrain = NULL;
    CHECK(sac_mesh_create((const float(*)[3])vertices, 4, (const uint32_t(*)[3])triangles, 2, "flat", &mesh,
                          NULL) == SAC_OK);
    CHECK(sac_terrain_from_mesh(mesh, &terrain, NULL) == SAC_OK);
    sac_mesh_destroy(&mesh);
    return terrain;
}

static void test_falls_rests_and_sleeps(void **state)
{
    (void)state;
    sac_tree *cube = play_sphere_box(0.2f, 4), *ring = play_torus(24, 0.3f, 0.1f);
    sac_terrain *heights = heights_at(0.5f), *triangles = triangles_at(0.5f);
    for (int ground = 0; ground < 4; ground++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        sac_form form;
        float top = ground == 0 ? 0 : 0.5f;
        if (ground == 0) play_floor(world);
        if (ground == 1) play_body(world, play_box(world, 5, 0.5f, 5), SAC_BODY_STATIC, 0, 0, 0);
        if (ground >= 2) {
            CHECK(sac_form_from_terrain(&form, ground == 2 ? heights : triangles, NULL) == SAC_OK);
            play_body(world, play_shape(world, &form), SAC_BODY_STATIC, 0, 0, 0);
        }
        rest_case cases[] = {{"ball", play_ball(world, 0.1f), 0.1f},
                             {"capsule", play_capsule(world, 0.1f, 0.3f), 0.4f},
                             {"box", play_box(world, 0.2f, 0.1f, 0.3f), 0.1f},
                             {"tree of a cube", play_tree(world, cube), 0.2f},
                             {"tree of a torus", play_tree(world, ring), 0.1f}};
        enum { CASES = sizeof cases / sizeof *cases };
        sac_body_id bodies[CASES];
        for (int i = 0; i < CASES; i++) {
            sac_body_def body = play_body_def(cases[i].shape, SAC_BODY_DYNAMIC, 1.5f * (float)i - 3,
                                              top + cases[i].height + 0.5f, 0.07f);
            body.user = 100u + (uint64_t)i;
            body.material.rolling = i < 2 ? 0.01f : 0; /* balls roll for ever otherwise */
            if (i == 1) body.rotation[0] = body.rotation[3] = 0.70710678f, cases[i].height = 0.1f;
            bodies[i] = play_make(world, &body);
        }
        int frames = play_until_asleep(world, 600, 0);
        CHECK_SAY(frames < 600, "ground %d: not asleep after 600 frames\n", ground);
        for (int i = 0; i < CASES; i++) {
            sac_body_state s = play_state(world, bodies[i]);
            float off = s.pose.translation[1] - top - cases[i].height;
            CHECK_SAY(fabsf(off) < PLAY_SLOP, "ground %d: %s lies %g m off\n", ground, cases[i].name,
                      (double)off);
            CHECK(!s.awake && play_speed(&s) == 0 && s.user == 100u + (uint64_t)i);
            CHECK(fabsf(s.pose.translation[2] - 0.07f) < 0.02f);
        }
        /* Nobody moves in its sleep. */
        uint64_t before = sac_world_hash(world);
        const sac_move_event *moves;
        sac_step_report report = play_step(world, 0);
        CHECK(before != sac_world_hash(world)); /* the frame counts */
        CHECK(report.awake == 0 && report.simulated == 0 && sac_world_move_events(world, &moves) == 0);
        sac_world_destroy(&world);
    }
    sac_terrain_destroy(&heights);
    sac_terrain_destroy(&triangles);
    sac_tree_destroy(&cube);
    sac_tree_destroy(&ring);
}

static void test_free_fall(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_shape_id ball = play_ball(world, 0.1f);
    sac_body_def body = play_body_def(ball, SAC_BODY_DYNAMIC, 0, 0, 0);
    sac_body_id plain = play_make(world, &body);
    body.position[0] = 5, body.gravity_scale = 0;
    sac_body_id floating = play_make(world, &body);
    body.position[0] = 10, body.gravity_scale = -0.5f;
    sac_body_id rising = play_make(world, &body);
    body.position[0] = 15, body.gravity_scale = 0, body.velocity[0] = 4, body.spin[1] = 6;
    body.linear_damping = 2, body.angular_damping = 1;
    sac_body_id damped = play_make(world, &body);
    body.position[0] = 0, body.position[2] = 40, body.velocity[0] = 50, body.linear_damping = 0;
    body.spin[1] = 40, body.most_speed = 3, body.most_spin = 5;
    sac_body_id limited = play_make(world, &body);
    play_frames(world, 90);
    sac_body_state s = play_state(world, plain);
    CHECK(fabsf(s.velocity[1] + 9.81f) < 0.01f);
    CHECK(fabsf(s.centre[1] + 4.905f) < 0.06f); /* sub-steps: half a sub-step of speed more */
    s = play_state(world, floating);
    CHECK(s.centre[1] == 0 && s.velocity[1] == 0);
    s = play_state(world, rising);
    CHECK(fabsf(s.velocity[1] - 0.5f * 9.81f) < 0.01f);
    s = play_state(world, damped);
    CHECK(fabsf(s.velocity[0] - 4 * expf(-2)) < 0.02f);
    CHECK(fabsf(s.spin[1] - 6 * expf(-1)) < 0.03f);
    s = play_state(world, limited);
    CHECK(play_speed(&s) <= 3.001f && s.spin[1] <= 5.001f && s.centre[0] < 3.1f);
    CHECK(sac_body_set_motion(world, plain, 0, 0, 0, 2, 10, NULL) == SAC_OK);
    play_frames(world, 2);
    s = play_state(world, plain);
    CHECK(play_speed(&s) <= 2.001f);
    CHECK(sac_world_set_gravity(world, (float[3]){3, 0, 0}, NULL) == SAC_OK);
    s = play_state(world, rising);
    float before = s.velocity[0];
    play_frames(world, 90);
    s = play_state(world, rising);
    CHECK(fabsf(s.velocity[0] - before + 1.5f) < 0.01f);
    sac_world_destroy(&world);
}

static void test_bounces_as_told(void **state)
{
    (void)state;
    for (int k = 0; k <= 4; k++) {
        float e = 0.25f * (float)k, highest = 0;
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_body_def body = play_body_def(play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 1.1f, 0);
        body.material.restitution = e;
        sac_body_id ball = play_make(world, &body);
        bool met = false;
        for (int f = 0; f < 120; f++) {
            play_frames(world, 1);
            sac_body_state s = play_state(world, ball);
            met |= s.velocity[1] >= 0 && f > 5;
            if (met && s.centre[1] > highest) highest = s.centre[1];
            if (met && f > 60 && s.velocity[1] < 0) break;
        }
        float rise = highest - 0.1f, want = e * e;
        /* Never higher than it fell from, and as high as e^2 says but for what a frame is long. */
        CHECK_SAY(rise < 1.001f && fabsf(rise - want) < 0.05f + 0.1f * want, "e %g: rose %g, not %g\n",
                  (double)e, (double)rise, (double)want);
        sac_world_destroy(&world);
    }
}

static void test_friction_holds_and_lets_go(void **state)
{
    (void)state;
    /* A slope of atan 0.5 done by turning gravity: it holds above 0.5, slides below. */
    for (int k = 0; k < 2; k++) {
        float mu = k ? 0.7f : 0.3f, g = 9.81f, c = 0.894427f, s = 0.447214f;
        sac_world_def def = play_def();
        def.gravity[0] = g * s, def.gravity[1] = -g * c;
        sac_world *world = play_create(&def);
        sac_body_def ground = play_body_def(play_plane(world), SAC_BODY_STATIC, 0, 0, 0);
        ground.material.friction = mu;
        play_make(world, &ground);
        sac_body_def body = play_body_def(play_box(world, 0.2f, 0.1f, 0.2f), SAC_BODY_DYNAMIC, 0, 0.1f, 0);
        body.material.friction = mu;
        sac_body_id box = play_make(world, &body);
        play_frames(world, 90);
        sac_body_state b = play_state(world, box);
        float slide = 0.5f * g * (s - mu * c);
        if (k)
            CHECK_SAY(b.centre[0] < 0.01f, "slid %g m though it should hold\n", (double)b.centre[0]);
        else
            CHECK_SAY(fabsf(b.centre[0] - slide) < 0.1f * slide, "slid %g m, not %g\n", (double)b.centre[0],
                      (double)slide);
        sac_world_destroy(&world);
    }
}

/* ---- kinematic bodies ---- */

/* Two balls that fly at each other meet, whenever they were made and however long the steps are by then. */
static void test_head_on(void **state)
{
    (void)state;
    const struct {
        float before, dt; /* one step of `before` first, when that is not 0 */
        float gap;
    } cases[] = {{0, 1.0f / 90, 0.12f}, {0, 1.0f / 90, 0.02f}, {0, 0.05f, 0.12f},
                 {0.001f, 0.02f, 0.1f}, {0.002f, 0.1f, 0.3f},  {1.0f / 120, 1.0f / 72, 0.15f}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sac_world_def def = play_def();
        def.gravity[1] = 0;
        sac_world *world = play_create(&def);
        sac_shape_id ball = play_ball(world, 0.1f);
        sac_body_id ids[2];
        sac_step_def step = sac_default_step_def();
        sac_step_report report;
        for (int i = 0; i < 2; i++) {
            float side = i ? 1 : -1;
            sac_body_def body =
                play_body_def(ball, SAC_BODY_DYNAMIC, side * (0.1f + 0.5f * cases[k].gap), 0, 0);
            body.velocity[0] = -side * 0.5f;
            ids[i] = play_make(world, &body);
        }
        step.dt = cases[k].before;
        if (step.dt > 0) assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
        step.dt = cases[k].dt;
        for (float t = 0; t < 1; t += step.dt) {
            assert_int_equal(sac_world_step(world, &step, &report, NULL), SAC_OK);
            float apart = play_state(world, ids[1]).centre[0] - play_state(world, ids[0]).centre[0];
            CHECK_SAY(apart > 0.19f, "case %u: centres %g m apart\n", (unsigned)k, (double)apart);
        }
        sac_world_destroy(&world);
    }
}

static void test_kinematic_pushes(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id wall = play_box(world, 0.1f, 0.5f, 1);
    sac_body_id pusher = play_body(world, wall, SAC_BODY_KINEMATIC, -1, 0.5f, 0);
    sac_body_id box = play_body(world, play_box(world, 0.2f, 0.2f, 0.2f), SAC_BODY_DYNAMIC, -0.6f, 0.2f, 0);
    CHECK(sac_body_set_velocity(world, pusher, (float[3]){1, 0, 0}, play_still, NULL) == SAC_OK);
    play_frames(world, 180);
    sac_body_state p = play_state(world, pusher), b = play_state(world, box);
    CHECK(fabsf(p.centre[0] - 1) < 0.01f && p.centre[1] == 0.5f); /* not pushed back */
    CHECK_SAY(fabsf(b.centre[0] - p.centre[0] - 0.3f) < 0.02f, "pushed to %g, pusher at %g\n",
              (double)b.centre[0], (double)p.centre[0]);
    CHECK(fabsf(b.velocity[0] - 1) < 0.05f);
    sac_world_destroy(&world);
}

/* What only turns moves, too: who sleeps on a turntable is carried along, who sleeps beside a slow paddle is
 * pushed by it. */
static void test_turning_wakes(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_body_def disc = play_body_def(play_box(world, 1, 0.1f, 1), SAC_BODY_KINEMATIC, 0, 0.5f, 0);
        sac_body_def blade = play_body_def(play_box(world, 1, 0.2f, 0.02f), SAC_BODY_KINEMATIC, 5, 0.25f, 0);
        disc.material.friction = 1;
        sac_body_id table = play_make(world, &disc), paddle = play_make(world, &blade);
        sac_shape_id cube = play_box(world, 0.1f, 0.1f, 0.1f);
        sac_body_def on = play_body_def(cube, SAC_BODY_DYNAMIC, 0.5f, 0.7f, 0.3f);
        on.material.friction = 1;
        sac_body_id rider = play_make(world, &on);
        sac_body_id beside = play_body(world, cube, SAC_BODY_DYNAMIC, 5.6f, 0.1f, -0.2f);
        play_frames(world, 180);
        CHECK(!play_state(world, rider).awake && !play_state(world, beside).awake);
        const float pace = 0.4f, round[3] = {0, pace, 0};
        for (int f = 1; f <= 180; f++) {
            float a = 0.5f * pace * (float)f / 90, q[4] = {0, sinf(a), 0, cosf(a)};
            const float at[2][3] = {{0, 0.5f, 0}, {5, 0.25f, 0}};
            for (int k = 0; k < 2; k++) {
                sac_body_id which = k ? paddle : table;
                if (told)
                    CHECK(sac_body_move_to(world, which, at[k], q, NULL) == SAC_OK);
                else if (f == 1)
                    CHECK(sac_body_set_velocity(world, which, play_still, round, NULL) == SAC_OK);
            }
            play_step(world, 0);
        }
        sac_body_state r = play_state(world, rider), b = play_state(world, beside);
        float a = 2 * pace, c = cosf(a), s = sinf(a);
        const float there[3] = {c * 0.5f + s * 0.3f, 0.7f, c * 0.3f - s * 0.5f};
        CHECK_SAY(play_distance(r.centre, there) < 0.03f, "the rider is %g m off\n",
                  (double)play_distance(r.centre, there));
        /* How far its centre is from the paddle's face, on the side it was on. */
        float apart = -s * (b.centre[0] - 5) - c * b.centre[2] - 0.02f;
        CHECK_SAY(apart > 0.09f, "%g m from the paddle\n", (double)apart);
        sac_world_destroy(&world);
    }
}

static void test_move_to_arrives(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(5);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_pen(world, 3, 1);
    sac_shape_id ball = play_ball(world, 0.15f);
    for (int i = 0; i < 60; i++)
        play_body(world, ball, SAC_BODY_DYNAMIC, (float)(i % 8) * 0.33f - 1.2f, 0.5f + 0.05f * (float)i,
                  (float)(i % 7) * 0.33f - 1);
    sac_body_def hand_def = play_body_def(play_box(world, 0.2f, 0.05f, 0.1f), SAC_BODY_KINEMATIC, 0, 1, 0);
    hand_def.centre_given = true, hand_def.centre[0] = 0.1f;
    sac_body_id hand = play_make(world, &hand_def);
    for (int f = 0; f < 200; f++) {
        float at[3], q[4];
        for (int i = 0; i < 3; i++) at[i] = sac_rng_range(&rng, -0.3f, 0.3f) + (i == 1);
        play_turn_randomly(&rng, q);
        CHECK(sac_body_move_to(world, hand, at, q, NULL) == SAC_OK);
        /* Whatever the time: also when there is none. */
        play_step(world, f % 4 == 3 ? 1 : f % 4 == 2 ? 20000 : 0);
        sac_body_state s = play_state(world, hand);
        for (int i = 0; i < 3; i++)
            CHECK_SAY(s.pose.translation[i] == at[i], "frame %d: at %g, told %g\n", f,
                      (double)s.pose.translation[i], (double)at[i]);
        float dot = 0;
        for (int i = 0; i < 4; i++) dot += s.pose.rotation[i] * q[i];
        CHECK(fabsf(dot) > 0.999999f);
    }
    /* Told nothing, it stays. */
    sac_body_state before = play_state(world, hand);
    play_frames(world, 3);
    sac_body_state after = play_state(world, hand);
    CHECK(memcmp(&before.pose, &after.pose, sizeof before.pose) == 0);
    sac_world_destroy(&world);
}

/* ---- sensors, filters, events ---- */

typedef struct tally {
    int begun, ended, hits, open;
    float met, fastest, hardest; /* met: of the last begin */
    bool sensor;
} tally;

static void count_events(const sac_world *world, sac_body_id a, sac_body_id b, tally *t)
{
    const sac_contact_event *events;
    uint32_t count = sac_world_contact_events(world, &events);
    for (uint32_t i = 0; i < count; i++) {
        const sac_contact_event *e = &events[i];
        if (!((e->a.value == a.value && e->b.value == b.value) ||
              (e->a.value == b.value && e->b.value == a.value)))
            continue;
        t->sensor |= e->sensor;
        if (e->kind == SAC_CONTACT_BEGIN) t->begun++, t->open++, t->met = e->speed;
        if (e->kind == SAC_CONTACT_END) t->ended++, t->open--;
        if (e->kind == SAC_CONTACT_HIT) {
            t->hits++;
            CHECK(t->open > 0);
            CHECK(fabsf(glm_vec3_norm((float *)e->normal) - 1) < 1e-3f);
            t->fastest = fmaxf(t->fastest, e->speed);
            t->hardest = fmaxf(t->hardest, e->impulse);
        }
        CHECK(t->open == 0 || t->open == 1); /* ends and begins take turns */
    }
}

static void test_sensor_tells_and_does_not_push(void **state)
{
    (void)state;
    sac_tree *cube = play_sphere_box(0.2f, 3);
    for (int k = 0; k < 3; k++) {
        sac_world_def def = play_def();
        def.policy = k == 2 ? "exhaustive" : "jnd";
        sac_world *world = play_create(&def);
        sac_body_def gate = play_body_def(play_box(world, 1, 0.25f, 1), SAC_BODY_STATIC, 0, 1, 0);
        gate.sensor = true;
        sac_body_id sensor = play_make(world, &gate);
        sac_shape_id shape = k ? play_tree(world, cube) : play_ball(world, 0.2f);
        sac_body_id falling = play_body(world, shape, SAC_BODY_DYNAMIC, 0, 2, 0);
        tally t = {0};
        int first = -1, last = -1;
        for (int f = 0; f < 90; f++) {
            play_frames(world, 1);
            int begun = t.begun, ended = t.ended;
            count_events(world, sensor, falling, &t);
            if (t.begun > begun) first = f;
            if (t.ended > ended) last = f;
        }
        sac_body_state s = play_state(world, falling);
        CHECK(fabsf(s.velocity[1] + 9.81f) < 0.02f);
        CHECK_SAY(t.begun == 1 && t.ended == 1 && t.hits == 0 && t.sensor, "%d begun, %d ended, %d hits\n",
                  t.begun, t.ended, t.hits);
        /* It enters after 0.55 m (30.1 frames) and has left after 1.45 m (48.9). */
        CHECK_SAY(abs(first - 30) <= 2 && abs(last - 49) <= 2, "in at %d, out at %d\n", first, last);
        CHECK_SAY(fabsf(t.met - sqrtf(2 * 9.81f * 0.55f)) < 0.25f, "met at %g m/s\n", (double)t.met);
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&cube);
}

/* A gate that comes to somebody counts like somebody who comes to a gate; one that leaves does not come. */
static void test_sensor_tells_who_comes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        sac_world_def def = play_def();
        memset(def.gravity, 0, sizeof def.gravity);
        sac_world *world = play_create(&def);
        sac_body_def gate =
            play_body_def(play_box(world, 0.5f, 0.5f, 0.5f), SAC_BODY_KINEMATIC, k ? 0.65f : 1, 0, 0);
        gate.sensor = true;
        gate.velocity[0] = k ? 2 : -2;
        sac_body_id sensor = play_make(world, &gate);
        sac_body_def ball = play_body_def(play_ball(world, 0.2f), SAC_BODY_DYNAMIC, 0, 0, 0);
        ball.velocity[0] = 1;
        sac_body_id id = play_make(world, &ball);
        tally t = {0};
        for (int f = 0; f < 30 && !t.begun; f++) play_frames(world, 1), count_events(world, sensor, id, &t);
        CHECK_SAY(t.begun == 1 && fabsf(t.met - (k ? 0 : 3)) < 0.01f, "%d: met at %g m/s\n", k,
                  (double)t.met);
        sac_world_destroy(&world);
    }
}

static void test_filters(void **state)
{
    (void)state;
    struct {
        sac_filter ball, ground;
        bool meets;
    } cases[] = {{{1, UINT32_MAX, 0}, {1, UINT32_MAX, 0}, true},
                 {{2, 1, 0}, {1, 2, 0}, true},
                 {{2, 1, 0}, {1, 1, 0}, false},
                 {{2, 4, 0}, {1, 2, 0}, false},
                 {{2, 0, 7}, {1, 0, 7}, true},
                 {{1, UINT32_MAX, -3}, {1, UINT32_MAX, -3}, false},
                 {{1, UINT32_MAX, 3}, {1, UINT32_MAX, 4}, true}};
    sac_world_def def = play_def();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sac_world *world = play_create(&def);
        sac_body_def ground = play_body_def(play_box(world, 1, 0.5f, 1), SAC_BODY_STATIC, 0, -0.5f, 0);
        ground.filter = cases[i].ground;
        play_make(world, &ground);
        sac_body_def ball = play_body_def(play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 0.3f, 0);
        ball.filter = cases[i].ball;
        sac_body_id id = play_make(world, &ball);
        play_frames(world, 60);
        sac_body_state s = play_state(world, id);
        CHECK((s.centre[1] > 0) == cases[i].meets);
        sac_world_destroy(&world);
    }
    /* Changed on the fly, in both directions. */
    sac_world *world = play_create(&def);
    sac_body_id ground = play_body(world, play_box(world, 1, 0.5f, 1), SAC_BODY_STATIC, 0, -0.5f, 0);
    sac_body_id ball = play_body(world, play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 0.1f, 0);
    tally t = {0};
    for (int f = 0; f < 90; f++) play_frames(world, 1), count_events(world, ground, ball, &t);
    CHECK(!play_state(world, ball).awake && t.begun == 1 && t.ended == 0);
    sac_filter nobody = {1, 0, 0}, all = {1, UINT32_MAX, 0};
    CHECK(sac_body_set_filter(world, ball, &nobody, NULL) == SAC_OK);
    CHECK(play_state(world, ball).awake);
    for (int f = 0; f < 9; f++) play_frames(world, 1), count_events(world, ground, ball, &t);
    sac_body_state s = play_state(world, ball);
    CHECK(s.centre[1] < 0.09f && t.ended == 1);
    CHECK(sac_body_set_filter(world, ball, &all, NULL) == SAC_OK);
    for (int f = 0; f < 90; f++) play_frames(world, 1), count_events(world, ground, ball, &t);
    s = play_state(world, ball);
    CHECK(fabsf(s.centre[1] - 0.1f) < PLAY_SLOP && t.begun == 2 && t.ended == 1);
    sac_world_destroy(&world);
}

static void test_hits_tell_speed_and_impulse(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    sac_body_id ground = play_floor(world);
    sac_body_def body = play_body_def(play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 1.1f, 0);
    body.mass = 2;
    sac_body_id ball = play_make(world, &body);
    tally t = {0};
    for (int f = 0; f < 90; f++) play_frames(world, 1), count_events(world, ground, ball, &t);
    float speed = sqrtf(2 * 9.81f);
    CHECK(t.begun == 1 && t.ended == 0 && t.hits >= 1);
    CHECK_SAY(fabsf(t.fastest - speed) < 0.3f, "met at %g m/s, not %g\n", (double)t.fastest, (double)speed);
    CHECK_SAY(fabsf(t.hardest - 2 * speed) < 0.2f * 2 * speed, "hit with %g N s, not %g\n", (double)t.hardest,
              (double)(2 * speed));
    sac_world_destroy(&world);
}

/* Over a whole busy run: every end has its begin, whoever dies meanwhile. */
static void test_events_balance(void **state)
{
    (void)state;
    enum { BODIES = 60 };
    sac_tree *ring = play_torus(16, 0.2f, 0.08f);
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_pen(world, 1.6f, 2);
    sac_shape_id torus = play_tree(world, ring), ball = play_ball(world, 0.12f);
    sac_rng rng = sac_rng_seed(3);
    sac_body_id bodies[BODIES];
    for (int i = 0; i < BODIES; i++) {
        sac_body_def body =
            play_body_def(i % 2 ? ball : torus, SAC_BODY_DYNAMIC, sac_rng_range(&rng, -0.5f, 0.5f),
                          0.3f + 0.1f * (float)i, sac_rng_range(&rng, -0.5f, 0.5f));
        play_turn_randomly(&rng, body.rotation);
        body.user = (uint64_t)i + 1;
        bodies[i] = play_make(world, &body);
    }
    struct {
        uint64_t a, b;
    } open[4096];
    int open_count = 0, ends = 0;
    for (int f = 0; f < 500; f++) {
        if (f > 300 && f % 3 == 0 && (f - 300) / 3 < BODIES) {
            CHECK(sac_body_destroy(world, bodies[(f - 300) / 3], NULL) == SAC_OK);
            CHECK(!sac_body_exists(world, bodies[(f - 300) / 3]));
        }
        play_step(world, f % 5 == 4 ? 60000 : 0);
        const sac_contact_event *events;
        uint32_t count = sac_world_contact_events(world, &events);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t a = events[i].a.value, b = events[i].b.value;
            if (a > b) a = b, b = events[i].a.value;
            int at = 0;
            while (at < open_count && (open[at].a != a || open[at].b != b)) at++;
            if (events[i].kind == SAC_CONTACT_BEGIN) {
                CHECK_SAY(at == open_count, "frame %d: begins again\n", f);
                CHECK(open_count < 4096);
                open[open_count].a = a, open[open_count++].b = b;
            } else {
                CHECK_SAY(at < open_count, "frame %d: kind %d without a begin\n", f, (int)events[i].kind);
                if (events[i].kind == SAC_CONTACT_END) open[at] = open[--open_count], ends++;
            }
        }
        /* After every step what is still open is what still touches: no end comes late. */
        static sac_pair_view pairs[2048];
        uint32_t touching = 0;
        count = sac_world_pairs(world, pairs, 2048);
        CHECK(count < 2048);
        for (uint32_t i = 0; i < count; i++) touching += pairs[i].touching;
        CHECK_SAY((int)touching == open_count, "frame %d: %u touch, %d are open\n", f, touching, open_count);
    }
    CHECK(ends > 60);
    sac_world_destroy(&world);
    sac_tree_destroy(&ring);
}

/* One that is sent away so fast that their boxes part: the end is told by the step that parts them, whoever
 * notices; what is done between two steps, by the next. */
static void test_ends_come_at_once(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        sac_body_id table = play_body(world, play_box(world, 0.5f, 0.1f, 0.5f), SAC_BODY_STATIC, 0, 0, 0);
        sac_body_id ball = play_body(world, play_ball(world, 0.1f), SAC_BODY_DYNAMIC, 0, 0.2f, 0);
        play_frames(world, 30);
        sac_pair_view pair;
        CHECK(sac_world_pairs(world, &pair, 1) == 1 && pair.touching);
        if (way == 0)
            CHECK(sac_body_set_velocity(world, ball, (float[3]){0, 60, 0}, play_still, NULL) == SAC_OK);
        if (way == 1)
            CHECK(sac_body_set_pose(world, ball, (float[3]){0, 9, 0}, play_upright, NULL) == SAC_OK);
        if (way == 2) CHECK(sac_body_destroy(world, ball, NULL) == SAC_OK);
        bool told = false;
        for (int f = 0; f < 4; f++) {
            tally t = {.open = 1};
            play_frames(world, 1);
            count_events(world, table, ball, &t);
            bool touches = sac_world_pairs(world, &pair, 1) == 1 && pair.touching;
            CHECK_SAY(t.ended == (!told && !touches), "way %d, frame %d: %d ends, touches: %d\n", way, f,
                      t.ended, touches);
            told |= t.ended > 0;
        }
        CHECK(told);
        sac_world_destroy(&world);
    }
}

static void test_move_events(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_body_def body = play_body_def(play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_DYNAMIC, 0, 0.3f, 0);
    body.user = 42;
    sac_body_id box = play_make(world, &body);
    body.position[0] = 3, body.asleep = true;
    sac_body_id sleeper = play_make(world, &body);
    bool slept = false;
    sac_body_state last = play_state(world, box);
    for (int f = 0; f < 200; f++) {
        play_frames(world, 1);
        const sac_move_event *moves;
        uint32_t count = sac_world_move_events(world, &moves);
        sac_body_state now = play_state(world, box);
        CHECK(count <= 1);
        bool changed = memcmp(&now.pose, &last.pose, sizeof now.pose) != 0;
        CHECK(!changed || count == 1);
        if (count) {
            CHECK(moves[0].body.value == box.value && moves[0].user == 42);
            CHECK(memcmp(&moves[0].pose, &now.pose, sizeof now.pose) == 0);
            CHECK(moves[0].fell_asleep == !now.awake);
            slept |= moves[0].fell_asleep;
        }
        last = now;
    }
    CHECK(slept && !play_state(world, sleeper).awake && play_state(world, sleeper).centre[1] == 0.3f);
    sac_world_destroy(&world);
}

/* ---- grabs ---- */

static sac_grab_def grab_at(sac_body_id body, const float at[3])
{
    sac_grab_def def = sac_default_grab_def();
    def.body = body;
    memcpy(def.anchor, at, sizeof def.anchor);
    memcpy(def.target, at, sizeof def.target);
    return def;
}

static void test_grab_reaches_and_holds(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_body_def body = play_body_def(play_box(world, 0.1f, 0.1f, 0.1f), SAC_BODY_DYNAMIC, 0, 0.1f, 0);
    body.mass = 2;
    sac_body_id box = play_make(world, &body);
    CHECK(play_until_asleep(world, 200, 0) < 200);
    float at[3] = {0.05f, 0.15f, 0};
    sac_grab_def hold = grab_at(box, at);
    sac_grab_id grab;
    CHECK(sac_grab_create(world, &hold, &grab, NULL) == SAC_OK);
    CHECK(play_state(world, box).awake && play_state(world, box).held);
    float q[4] = {0, 0.38268343f, 0, 0.92387953f};
    for (int f = 0; f < 90; f++) {
        at[1] += 0.01f;
        CHECK(sac_grab_move(world, grab, at, q, NULL) == SAC_OK);
        play_frames(world, 1);
    }
    play_frames(world, 45);
    sac_grab_state g;
    CHECK(sac_grab_get(world, grab, &g, NULL) == SAC_OK);
    sac_body_state s = play_state(world, box);
    CHECK_SAY(g.distance < 0.02f, "anchor is %g m from the hand\n", (double)g.distance);
    CHECK_SAY(fabsf(g.force - 2 * 9.81f) < 2, "holds with %g N\n", (double)g.force);
    CHECK(s.awake && fabsf(s.pose.rotation[1]) > 0.36f && fabsf(s.pose.rotation[1]) < 0.40f);
    CHECK(sac_grab_destroy(world, grab, NULL) == SAC_OK);
    CHECK(!play_state(world, box).held);
    CHECK(sac_grab_get(world, grab, &g, NULL) == SAC_ERROR_ARGUMENT);
    CHECK(play_until_asleep(world, 400, 0) < 400);
    CHECK(play_state(world, box).centre[1] < 0.2f);
    sac_world_destroy(&world);
}

static void test_grab_has_limits(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_body_def body = play_body_def(play_box(world, 0.2f, 0.2f, 0.2f), SAC_BODY_DYNAMIC, 0, 0.2f, 0);
    body.mass = 50;
    sac_body_id box = play_make(world, &body);
    sac_grab_def hold = grab_at(box, body.position);
    hold.target[1] += 0.3f;
    hold.most_force = 300; /* it weighs 490 N */
    sac_grab_id grab;
    CHECK(sac_grab_create(world, &hold, &grab, NULL) == SAC_OK);
    for (int f = 0; f < 60; f++) {
        play_frames(world, 1);
        sac_grab_state g;
        CHECK(sac_grab_get(world, grab, &g, NULL) == SAC_OK);
        CHECK_SAY(g.force <= 300 * 1.01f, "pulls with %g N\n", (double)g.force);
    }
    CHECK(play_state(world, box).centre[1] < 0.21f);
    /* Torn away. */
    float far[3] = {0, 0.2f + 0.6f, 0};
    CHECK(sac_grab_move(world, grab, far, play_upright, NULL) == SAC_OK);
    play_frames(world, 1);
    sac_grab_state g;
    CHECK(sac_grab_get(world, grab, &g, NULL) == SAC_ERROR_ARGUMENT);
    CHECK(!play_state(world, box).held);
    /* And gone with its body. */
    hold.target[1] = hold.anchor[1];
    CHECK(sac_grab_create(world, &hold, &grab, NULL) == SAC_OK);
    CHECK(sac_body_destroy(world, box, NULL) == SAC_OK);
    CHECK(sac_grab_get(world, grab, &g, NULL) == SAC_ERROR_ARGUMENT);
    sac_counters counters;
    sac_world_counters(world, &counters);
    CHECK(counters.grabs == 0 && counters.bodies == 1);
    sac_world_destroy(&world);
}

/* What the hand holds is served when hardly anything else is. */
static void test_grab_comes_first(void **state)
{
    (void)state;
    sac_tree *ring = play_torus(24, 0.15f, 0.06f);
    sac_world_def def = play_def();
    def.bodies = 512;
    sac_world *world = play_create(&def);
    play_pen(world, 2, 3);
    sac_shape_id torus = play_tree(world, ring);
    sac_rng rng = sac_rng_seed(9);
    sac_body_def body = play_body_def(torus, SAC_BODY_DYNAMIC, 0, 4, 0);
    body.mass = 1;
    sac_body_id held = play_make(world, &body);
    for (int i = 0; i < 300; i++) {
        body.position[0] = sac_rng_range(&rng, -0.8f, 0.8f),
        body.position[2] = sac_rng_range(&rng, -0.8f, 0.8f);
        body.position[1] = 0.3f + 0.008f * (float)i;
        play_turn_randomly(&rng, body.rotation);
        play_make(world, &body);
    }
    sac_grab_def hold = grab_at(held, (float[3]){0, 4, 0});
    sac_grab_id grab;
    CHECK(sac_grab_create(world, &hold, &grab, NULL) == SAC_OK);
    uint64_t late = 0, fewer = 0;
    float worst = 0, at[3] = {0, 4, 0};
    for (int f = 0; f < 120; f++) {
        at[0] = 0.3f * sinf(0.05f * (float)f);
        CHECK(sac_grab_move(world, grab, at, play_upright, NULL) == SAC_OK);
        sac_step_report report = play_step(world, f < 60 ? 250000 : 40000);
        late += report.rungs[SAC_RUNG_BODIES], fewer += report.rungs[SAC_RUNG_ITERATIONS];
        sac_body_state s = play_state(world, held);
        CHECK_SAY(s.staleness == 0, "frame %d: the held body waits %u frames\n", f, s.staleness);
        sac_grab_state g;
        CHECK_SAY(sac_grab_get(world, grab, &g, NULL) == SAC_OK, "frame %d: let go\n", f);
        worst = fmaxf(worst, play_distance(s.centre, at));
    }
    CHECK(late > 0 && fewer > 0); /* time was short indeed */
    CHECK_SAY(worst < 0.05f, "the held body was %g m behind\n", (double)worst);
    sac_world_destroy(&world);
    sac_tree_destroy(&ring);
}

/* ---- ids ---- */

static void test_stale_ids(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id ball = play_ball(world, 0.1f), gone_shape = play_ball(world, 0.2f);
    CHECK(sac_world_remove_shape(world, gone_shape, NULL) == SAC_OK);
    sac_body_id gone = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 1, 0);
    sac_grab_def hold = grab_at(gone, (float[3]){0, 1, 0});
    sac_grab_id gone_grab;
    CHECK(sac_grab_create(world, &hold, &gone_grab, NULL) == SAC_OK);
    CHECK(sac_body_destroy(world, gone, NULL) == SAC_OK);
    sac_body_id reborn = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 1, 0);
    CHECK(reborn.value != gone.value && sac_body_exists(world, reborn));
    CHECK(sac_world_remove_shape(world, ball, NULL) == SAC_ERROR_ARGUMENT);
    uint64_t before = sac_world_hash(world);
    const uint64_t nobodies[] = {
        gone.value, 0, UINT64_MAX, 1, (uint64_t)UINT32_MAX + 5, 12345, reborn.value + (1ull << 32)};
    for (size_t i = 0; i < sizeof nobodies / sizeof *nobodies; i++) {
        sac_body_id id = {nobodies[i]};
        sac_body_state s;
        sac_error e = {0};
        sac_filter filter = {1, 1, 0};
        sac_material material = {0};
        CHECK(!sac_body_exists(world, id));
        CHECK(sac_body_get(world, id, &s, &e) == SAC_ERROR_ARGUMENT && e.message[0]);
        CHECK(sac_body_destroy(world, id, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_pose(world, id, play_still, play_upright, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_velocity(world, id, play_still, play_still, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_move_to(world, id, play_still, play_upright, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_push(world, id, play_still, NULL, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_kind(world, id, SAC_BODY_STATIC, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_filter(world, id, &filter, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_material(world, id, &material, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_set_motion(world, id, 1, 0, 0, 1, 1, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_wake(world, id, &e) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_sleep(world, id, &e) == SAC_ERROR_ARGUMENT);
        hold.body = id;
        CHECK(sac_grab_create(world, &hold, NULL, &e) == SAC_ERROR_ARGUMENT);
    }
    const uint64_t no_grabs[] = {gone_grab.value, 0, UINT64_MAX, 7};
    for (size_t i = 0; i < sizeof no_grabs / sizeof *no_grabs; i++) {
        sac_grab_id id = {no_grabs[i]};
        sac_grab_state s;
        CHECK(sac_grab_get(world, id, &s, NULL) == SAC_ERROR_ARGUMENT);
        CHECK(sac_grab_move(world, id, play_still, play_upright, NULL) == SAC_ERROR_ARGUMENT);
        CHECK(sac_grab_destroy(world, id, NULL) == SAC_ERROR_ARGUMENT);
    }
    const uint64_t no_shapes[] = {gone_shape.value, 0, UINT64_MAX, 99};
    for (size_t i = 0; i < sizeof no_shapes / sizeof *no_shapes; i++) {
        sac_shape_id id = {no_shapes[i]};
        sac_body_def body = play_body_def(id, SAC_BODY_DYNAMIC, 0, 0, 0);
        CHECK(sac_world_shape_form(world, id) == NULL);
        CHECK(sac_world_remove_shape(world, id, NULL) == SAC_ERROR_ARGUMENT);
        CHECK(sac_body_create(world, &body, NULL, NULL) == SAC_ERROR_ARGUMENT);
    }
    CHECK(sac_world_hash(world) == before);
    sac_world_destroy(&world);
}

/* ---- what the log is told ---- */

typedef struct heard {
    int bodies, pairs, recording;
    bool named;
} heard;

static void listen(const char *text, void *user)
{
    heard *h = user;
    h->bodies += strstr(text, "bodies;") != NULL;
    h->pairs += strstr(text, "pairs;") != NULL;
    h->recording += strstr(text, "the recording ends") != NULL;
    h->named |= strstr(text, "/dev/full") != NULL;
}

static void test_log_is_told(void **state)
{
    (void)state;
    heard h = {0};
    sac_world_def def = play_def();
    def.bodies = 16, def.pairs = 8;
    def.log = listen, def.user = &h;
    sac_world *world = play_create(&def);
    bool full = access("/dev/full", W_OK) == 0 && sac_record_start(world, "/dev/full", NULL) == SAC_OK;
    CHECK(h.bodies == 0 && h.pairs == 0); /* what was asked for is no news */
    sac_shape_id ball = play_ball(world, 0.2f);
    for (int i = 0; i < 40; i++) play_body(world, ball, SAC_BODY_DYNAMIC, 0.1f * (float)i, 0, 0);
    CHECK(h.bodies == 2 && h.pairs > 0);
    play_frames(world, 120);
    CHECK(!full || (h.recording == 1 && h.named));
    sac_world_destroy(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falls_rests_and_sleeps),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_bounces_as_told),
        cmocka_unit_test(test_friction_holds_and_lets_go),
        cmocka_unit_test(test_head_on),
        cmocka_unit_test(test_kinematic_pushes),
        cmocka_unit_test(test_turning_wakes),
        cmocka_unit_test(test_move_to_arrives),
        cmocka_unit_test(test_sensor_tells_and_does_not_push),
        cmocka_unit_test(test_sensor_tells_who_comes),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_hits_tell_speed_and_impulse),
        cmocka_unit_test(test_events_balance),
        cmocka_unit_test(test_ends_come_at_once),
        cmocka_unit_test(test_move_events),
        cmocka_unit_test(test_grab_reaches_and_holds),
        cmocka_unit_test(test_grab_has_limits),
        cmocka_unit_test(test_grab_comes_first),
        cmocka_unit_test(test_stale_ids),
        cmocka_unit_test(test_log_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
