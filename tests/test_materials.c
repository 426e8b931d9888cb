/* Materials against what paper says: who rolls down a slope is where it should be, who bounces keeps its
 * momentum. */
#include "tests/world_play.h"

/* ---- grounds: level, seen from a world whose gravity is turned ---- */

enum { GROUNDS = 4, POSTS = 41 };

static sac_terrain *level_heights(void)
{
    static const float posts[POSTS * POSTS];
    sac_terrain *terrain = NULL;
    CHECK(sac_terrain_from_heights(posts, POSTS, POSTS, 0.25f, &terrain, NULL) == SAC_OK);
    return terrain;
}

static sac_terrain *level_triangles(void)
{
    enum { N = 21 };
    static float vertices[N * N][3];
    static uint32_t triangles[2 * (N - 1) * (N - 1)][3];
    uint32_t count = 0;
    for (uint32_t i = 0; i < N * N; i++)
        vertices[i][0] = 0.5f * (float)(i % N) - 5, vertices[i][2] = 0.5f * (float)(i / N) - 5;
    for (uint32_t i = 0; i < N * (N - 1); i++) {
        if (i % N == N - 1) continue;
        const uint32_t two[2][3] = {{i, i + N, i + 1}, {i + 1, i + N, i + N + 1}};
        memcpy(triangles[count], two, sizeof two);
        count += 2;
    }
    sac_mesh *mesh = NULL;
    sac_terrain *terrain = NULL;
    CHECK(sac_mesh_create((const float(*)[3])vertices, N * N, (const uint32_t(*)[3])triangles, count, "level",
                          &mesh, NULL) == SAC_OK);
    CHECK(sac_terrain_from_mesh(mesh, &terrain, NULL) == SAC_OK);
    sac_mesh_destroy(&mesh);
    return terrain;
}

/* Its top at y = 0. */
static sac_body_def ground_def(sac_world *world, int ground, const sac_terrain *terrain)
{
    sac_form form;
    if (ground == 0) return play_body_def(play_plane(world), SAC_BODY_STATIC, 0, 0, 0);
    if (ground == 1) return play_body_def(play_box(world, 5, 1, 5), SAC_BODY_STATIC, 0, -1, 0);
    CHECK(sac_form_from_terrain(&form, terrain, NULL) == SAC_OK);
    return play_body_def(play_shape(world, &form), SAC_BODY_STATIC, 0, 0, 0);
}

/* ---- rolling ---- */

/* A ball on a slope: a = (g sin - lever / r g cos) / (1 + 2 / 5), on whatever the slope is made of and
 * wherever on it the ball begins. */
static void test_balls_roll_down_slopes(void **state)
{
    (void)state;
    sac_terrain *terrains[GROUNDS] = {NULL, NULL, level_heights(), level_triangles()};
    const float sine = 0.1736482f, cosine = 0.9848078f, g = 9.81f, radius = 0.1f, seconds = 1.5f;
    for (int ground = 0; ground < GROUNDS; ground++)
        for (int lever = 0; lever < 2; lever++) {
            sac_world_def def = play_def();
            def.gravity[0] = g * sine, def.gravity[1] = -g * cosine;
            sac_world *world = play_create(&def);
            sac_body_def body = ground_def(world, ground, terrains[ground]);
            body.material.rolling = lever ? 0.01f : 0;
            play_make(world, &body);
            sac_shape_id ball = play_ball(world, radius);
            sac_body_id ids[3];
            for (int i = 0; i < 3; i++) {
                body = play_body_def(ball, SAC_BODY_DYNAMIC, -3, radius, 0.5f * (float)i + 0.03f * (float)i);
                body.angular_damping = 0;
                ids[i] = play_make(world, &body);
            }
            play_frames(world, (int)(90 * seconds));
            float a = (g * sine - (lever ? 0.01f / radius * g * cosine : 0)) / 1.4f;
            for (int i = 0; i < 3; i++) {
                sac_body_state s = play_state(world, ids[i]);
                float way = s.centre[0] + 3, right = 0.5f * a * seconds * seconds;
                CHECK_SAY(fabsf(way - right) < 0.02f * right, "ground %d lever %d ball %d: %g m, not %g\n",
                          ground, lever, i, (double)way, (double)right);
                CHECK_SAY(fabsf(s.velocity[0] + s.spin[2] * radius) < 0.01f, "ground %d ball %d slips\n",
                          ground, i);
                CHECK_SAY(fabsf(s.centre[1] - radius) < PLAY_SLOP, "ground %d ball %d is at %g\n", ground, i,
                          (double)s.centre[1]);
            }
            sac_world_destroy(&world);
        }
    for (int ground = 0; ground < GROUNDS; ground++) sac_terrain_destroy(&terrains[ground]);
}

/* However slowly: at a walk of a millimetre a frame nothing sinks where one triangle ends. */
static void test_nobody_sinks_between_triangles(void **state)
{
    (void)state;
    sac_terrain *terrains[GROUNDS] = {NULL, NULL, level_heights(), level_triangles()};
    for (int ground = 2; ground < GROUNDS; ground++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        sac_body_def body = ground_def(world, ground, terrains[ground]);
        body.material.friction = 0;
        play_make(world, &body);
        sac_shape_id shapes[3] = {play_ball(world, 0.1f), play_capsule(world, 0.1f, 0.2f),
                                  play_box(world, 0.1f, 0.1f, 0.1f)};
        sac_body_id ids[3];
        for (int i = 0; i < 3; i++) {
            body = play_body_def(shapes[i], SAC_BODY_DYNAMIC, -0.33f, 0.1f, (float)i);
            if (i == 1) body.rotation[0] = body.rotation[3] = 0.70710678f; /* lies along z */
            body.velocity[0] = 0.09f;
            body.material.friction = 0;
            ids[i] = play_make(world, &body);
        }
        for (int frame = 0; frame < 600; frame++) {
            play_step(world, 0);
            for (int i = 0; i < 3; i++) {
                float height = play_state(world, ids[i]).centre[1];
                CHECK_SAY(fabsf(height - 0.1f) < PLAY_SLOP, "ground %d shape %d frame %d: at %g\n", ground, i,
                          frame, (double)height);
            }
        }
        for (int i = 0; i < 3; i++) CHECK(fabsf(play_state(world, ids[i]).centre[0] - 0.27f) < 0.01f);
        sac_world_destroy(&world);
    }
    for (int ground = 0; ground < GROUNDS; ground++) sac_terrain_destroy(&terrains[ground]);
}

/* What slides without friction goes as far as its speed says, whatever the ground is made of: to look ahead
 * for what is fast must not stop it where the next triangle begins. */
static void test_boxes_slide_over_seams(void **state)
{
    (void)state;
    sac_terrain *terrains[GROUNDS] = {NULL, NULL, level_heights(), level_triangles()};
    for (int ground = 0; ground < GROUNDS; ground++)
        for (int k = 0; k < 4; k++) {
            const float speed = (const float[]){1, 3, 10, 30}[k];
            sac_world_def def = play_def();
            sac_world *world = play_create(&def);
            sac_body_def body = ground_def(world, ground, terrains[ground]);
            body.material.friction = 0;
            play_make(world, &body);
            sac_shape_id shapes[2] = {play_box(world, 0.1f, 0.1f, 0.1f), play_box(world, 0.3f, 0.1f, 0.2f)};
            sac_body_id ids[2];
            for (int i = 0; i < 2; i++) {
                body = play_body_def(shapes[i], SAC_BODY_DYNAMIC, -4, 0.1f, (float)i + 0.03f);
                body.rotation[1] = i ? 0.3826834f : 0, body.rotation[3] = i ? 0.9238795f : 1;
                body.velocity[0] = speed;
                body.material.friction = 0;
                ids[i] = play_make(world, &body);
            }
            int frames = (int)(90 * 7 / speed);
            play_frames(world, frames < 180 ? frames : 180);
            float right = speed * (float)(frames < 180 ? frames : 180) / 90;
            for (int i = 0; i < 2; i++) {
                sac_body_state s = play_state(world, ids[i]);
                CHECK_SAY(fabsf(s.centre[0] + 4 - right) < 0.01f * right &&
                              fabsf(s.centre[1] - 0.1f) < PLAY_SLOP,
                          "ground %d box %d at %g m/s: %g m, not %g\n", ground, i, (double)speed,
                          (double)(s.centre[0] + 4), (double)right);
            }
            sac_world_destroy(&world);
        }
    for (int ground = 0; ground < GROUNDS; ground++) sac_terrain_destroy(&terrains[ground]);
}

/* What falls over does so at one pace, whatever it falls onto: also on a small table of triangles, which are
 * never as thick as a body is fast. */
static void test_trees_fall_over(void **state)
{
    (void)state;
    sac_terrain *terrains[GROUNDS] = {NULL, NULL, NULL, NULL};
    float posts[25] = {0};
    sac_mesh *mesh = NULL;
    sac_tree *tree = NULL;
    sac_build_def build = sac_default_build_def();
    build.depth = 2;
    const float vertices[4][3] = {{-1, 0, -1}, {-1, 0, 1}, {1, 0, 1}, {1, 0, -1}};
    const uint32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    CHECK(sac_terrain_from_heights(posts, 5, 5, 0.5f, &terrains[2], NULL) == SAC_OK);
    CHECK(sac_mesh_create(vertices, 4, triangles, 2, "table", &mesh, NULL) == SAC_OK);
    CHECK(sac_terrain_from_mesh(mesh, &terrains[3], NULL) == SAC_OK);
    sac_mesh_destroy(&mesh);
    CHECK(sac_mesh_builtin("l", 300, &mesh, NULL) == SAC_OK);
    CHECK(sac_tree_build(mesh, &build, &tree, NULL) == SAC_OK);
    sac_mesh_destroy(&mesh);
    sac_form form;
    CHECK(sac_form_from_tree(&form, tree, NULL) == SAC_OK);
    enum { FRAMES = 60 };
    float height[GROUNDS][FRAMES];
    for (int ground = 0; ground < GROUNDS; ground++) {
        sac_world_def def = play_def();
        sac_world *world = play_create(&def);
        sac_body_def body = ground_def(world, ground, terrains[ground]);
        play_make(world, &body);
        body = play_body_def(play_shape(world, &form), SAC_BODY_DYNAMIC, 0, 0.3f - form.box.low[1], 0);
        body.rotation[0] = 0.3f, body.rotation[3] = 0.9539392f;
        body.spin[0] = 2;
        sac_body_id id = play_make(world, &body);
        for (int f = 0; f < FRAMES; f++) {
            play_step(world, 0);
            height[ground][f] = play_state(world, id).centre[1];
            float off = height[ground][f] - height[0][f];
            CHECK_SAY(fabsf(off) < 0.02f, "ground %d frame %d: %g m off\n", ground, f, (double)off);
        }
        sac_world_destroy(&world);
    }
    CHECK(height[0][FRAMES - 1] < height[0][0] - 0.3f);
    for (int ground = 0; ground < GROUNDS; ground++) sac_terrain_destroy(&terrains[ground]);
    sac_tree_destroy(&tree);
}

/* ---- floors of pieces ---- */

enum { ROLLERS = 3 };
static const char *const roller_names[ROLLERS] = {"ball", "capsule", "box"};

/* Rolls or slides along x, on the floor at height 0. */
static sac_body_id roller(sac_world *world, int kind, float x, float speed)
{
    sac_shape_id shape = kind == 0   ? play_ball(world, 0.1f)
                         : kind == 1 ? play_capsule(world, 0.1f, 0.2f)
                                     : play_box(world, 0.1f, 0.1f, 0.1f);
    sac_body_def body = play_body_def(shape, SAC_BODY_DYNAMIC, x, 0.1f, 0);
    if (kind == 1) body.rotation[0] = body.rotation[3] = 0.70710678f; /* lies along z */
    body.velocity[0] = speed;
    if (kind < 2) body.spin[2] = -speed / 0.1f;
    body.material.friction = kind < 2 ? 0.5f : 0;
    body.angular_damping = 0;
    return play_make(world, &body);
}

static void lay(sac_world *world, float x, float half, float top, float thick)
{
    sac_body_def body =
        play_body_def(play_box(world, half, 0.5f * thick, 1), SAC_BODY_STATIC, x, top - 0.5f * thick, 0);
    play_make(world, &body);
}

/* Nobody feels where one piece of a level floor ends and the next begins, thick or thin, slow or fast. */
static void test_seams_are_not_felt(void **state)
{
    (void)state;
    static const float thick[] = {0.01f, 0.5f}, speeds[] = {1, 3, 10};
    for (int kind = 0; kind < ROLLERS; kind++)
        for (int t = 0; t < 2; t++)
            for (int s = 0; s < 3; s++) {
                sac_world_def def = play_def();
                sac_world *world = play_create(&def);
                for (int i = 0; i < 20; i++) lay(world, 0.5f * (float)i, 0.25f, 0, thick[t]);
                sac_body_id id = roller(world, kind, 0.1f, speeds[s]);
                float high = 0;
                int frames = (int)(7 / speeds[s] * 90);
                for (int f = 0; f < frames; f++) {
                    play_step(world, 0);
                    high = fmaxf(high, play_state(world, id).centre[1]);
                }
                sac_body_state at = play_state(world, id);
                CHECK_SAY(fabsf(at.centre[0] - 7.1f) < 0.15f && high < 0.101f,
                          "%s at %g m/s on pieces %g m thick: at %g m, not 7.1, and up to %g\n",
                          roller_names[kind], (double)speeds[s], (double)thick[t], (double)at.centre[0],
                          (double)high);
                sac_world_destroy(&world);
            }
}

/* What rises above the floor stops them: a low step, and a wall whose foot a box leans on with its edge. */
static void test_steps_are_felt(void **state)
{
    (void)state;
    for (int kind = 0; kind < ROLLERS; kind++)
        for (int leans = 0; leans < 2; leans++) {
            sac_world_def def = play_def();
            sac_world *world = play_create(&def);
            lay(world, 0, 0.5f, 0, 0.5f);
            lay(world, 1, 0.5f, leans ? 2.0f : 0.02f, 2.5f);
            sac_body_id id = roller(world, kind, -0.2f, 0.5f);
            if (leans) {
                /* On its edge, pushed against the foot of the wall. */
                const float turn[4] = {0, 0, 0.38268343f, 0.92387953f}, v[3] = {0.5f, 0, 0};
                const float place[3] = {0.3f, kind == 2 ? 0.14142f : 0.1f, 0};
                if (kind == 2) sac_body_set_pose(world, id, place, turn, NULL);
                sac_body_set_velocity(world, id, v, play_still, NULL);
            }
            float far = -1;
            for (int f = 0; f < 270; f++) {
                play_step(world, 0);
                far = fmaxf(far, play_state(world, id).centre[0]);
            }
            float reach = 0.4f;
            if (leans && kind == 2) reach = 0.5f - 0.14142f;
            /* A round one climbs, too slow to come over the edge. */
            if (!leans && kind < 2) reach = 0.49f;
            CHECK_SAY(far < reach + 0.005f, "%s %s: at %g m, not %g\n", roller_names[kind],
                      leans ? "at a wall" : "at a step", (double)far, (double)reach);
            sac_world_destroy(&world);
        }
}

/* ---- bouncing ---- */

/* Two that meet nearly head-on, in one place or in several, and bounce fully: they part as fast as they met,
 * nothing of what they had together is lost. */
static void test_bounces_keep_momentum(void **state)
{
    (void)state;
    static const char *const names[] = {"balls", "boxes", "capsules"};
    for (int kind = 0; kind < 3; kind++)
        for (int heavy = 0; heavy < 2; heavy++) {
            sac_world_def def = play_def();
            def.gravity[1] = 0;
            sac_world *world = play_create(&def);
            sac_shape_id shape = kind == 0   ? play_ball(world, 0.1f)
                                 : kind == 1 ? play_box(world, 0.1f, 0.1f, 0.1f)
                                             : play_capsule(world, 0.1f, 0.1f);
            float mass[2] = {1, heavy ? 10 : 1};
            sac_body_id ids[2];
            for (int i = 0; i < 2; i++) {
                sac_body_def body =
                    play_body_def(shape, SAC_BODY_DYNAMIC, (float)i - 1, i ? 0 : 0.013f, i ? 0 : 0.007f);
                body.mass = mass[i];
                body.velocity[0] = i ? 0 : 3;
                body.angular_damping = 0;
                body.material = (sac_material){.restitution = 1};
                ids[i] = play_make(world, &body);
            }
            double energy = sac_world_energy(world);
            play_frames(world, 60);
            sac_body_state a = play_state(world, ids[0]), b = play_state(world, ids[1]);
            float momentum = mass[0] * a.velocity[0] + mass[1] * b.velocity[0];
            CHECK_SAY(fabsf(momentum - 3) < 0.02f, "%s of %g kg: %g N s, not 3\n", names[kind],
                      (double)mass[1], (double)momentum);
            CHECK_SAY(fabsf(b.velocity[0] - a.velocity[0] - 3) < 0.05f, "%s of %g kg part with %g m/s\n",
                      names[kind], (double)mass[1], (double)(b.velocity[0] - a.velocity[0]));
            double now = sac_world_energy(world);
            CHECK_SAY(now > 0.98 * energy && now < 1.0001 * energy, "%s of %g kg: %g J of %g\n", names[kind],
                      (double)mass[1], now, energy);
            sac_world_destroy(&world);
        }
}

/* However they are turned and turn: two that meet in several places at once and bounce fully pass momentum on
 * to each other and keep it all, also where the bounce gave them more energy than they had. */
static void test_tumbling_bounces_keep_momentum(void **state)
{
    (void)state;
    enum { MEETINGS = 400 };
    uint32_t met = 0;
    for (uint32_t seed = 0; seed < MEETINGS; seed++) {
        sac_rng rng = sac_rng_seed(seed);
        sac_world_def def = play_small_def();
        def.gravity[1] = 0;
        sac_world *world = play_create(&def);
        sac_shape_id shapes[3] = {play_box(world, 0.1f, 0.06f, 0.15f), play_capsule(world, 0.06f, 0.12f),
                                  play_ball(world, 0.1f)};
        double before[3] = {0}, after[3] = {0}, mass[2];
        sac_body_id ids[2];
        for (int i = 0; i < 2; i++) {
            float side = i ? 1 : -1, turn[4], length = 0;
            sac_body_def body =
                play_body_def(shapes[sac_rng_below(&rng, 3)], SAC_BODY_DYNAMIC, 0.3f * side,
                              sac_rng_range(&rng, -0.05f, 0.05f), sac_rng_range(&rng, -0.05f, 0.05f));
            for (int k = 0; k < 4; k++) turn[k] = sac_rng_range(&rng, -1, 1), length += turn[k] * turn[k];
            for (int k = 0; k < 4; k++) body.rotation[k] = turn[k] / sqrtf(length);
            for (int k = 0; k < 3; k++) {
                body.velocity[k] = (k == 0 ? -3 * side : 0) + sac_rng_range(&rng, -0.5f, 0.5f);
                body.spin[k] = sac_rng_range(&rng, -8, 8);
            }
            body.mass = 1 + sac_rng_range(&rng, 0, 2);
            body.angular_damping = 0;
            body.material.restitution = 1;
            mass[i] = body.mass;
            for (int k = 0; k < 3; k++) before[k] += mass[i] * body.velocity[k];
            ids[i] = play_make(world, &body);
        }
        double energy = sac_world_energy(world);
        for (int frame = 0; frame < 60; frame++) {
            const sac_contact_event *events;
            play_step(world, 0);
            met += sac_world_contact_events(world, &events) > 0;
        }
        for (int i = 0; i < 2; i++) {
            sac_body_state body = play_state(world, ids[i]);
            for (int k = 0; k < 3; k++) after[k] += mass[i] * body.velocity[k];
        }
        for (int k = 0; k < 3; k++)
            CHECK_SAY(fabs(after[k] - before[k]) < 1e-3, "meeting %u: %g N s along %d, not %g\n", seed,
                      after[k], k, before[k]);
        CHECK_SAY(sac_world_energy(world) < 1.0001 * energy, "meeting %u: %g J of %g\n", seed,
                  sac_world_energy(world), energy);
        sac_world_destroy(&world);
    }
    CHECK(met >= MEETINGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balls_roll_down_slopes), cmocka_unit_test(test_nobody_sinks_between_triangles),
        cmocka_unit_test(test_boxes_slide_over_seams), cmocka_unit_test(test_trees_fall_over),
        cmocka_unit_test(test_seams_are_not_felt),     cmocka_unit_test(test_steps_are_felt),
        cmocka_unit_test(test_bounces_keep_momentum),  cmocka_unit_test(test_tumbling_bounces_keep_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
