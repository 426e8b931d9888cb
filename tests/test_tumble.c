/* What flies alone keeps its energy and its angular momentum, however it tumbles. */
#include "tests/world_play.h"

typedef struct spinning {
    double energy, momentum[3], size;
} spinning;

/* By the definition of the body, not by what the world says: sides a, b, c of a box of one kilogram. */
static spinning spin_of(const sac_body_state *b, const float half[3])
{
    double inertia[3], local[3], r[3][3], q[4];
    spinning out = {0};
    for (int i = 0; i < 4; i++) q[i] = b->pose.rotation[i];
    const double rows[3][3] = {{1 - 2 * (q[1] * q[1] + q[2] * q[2]), 2 * (q[0] * q[1] - q[2] * q[3]),
                                2 * (q[0] * q[2] + q[1] * q[3])},
                               {2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[0] * q[0] + q[2] * q[2]),
                                2 * (q[1] * q[2] - q[0] * q[3])},
                               {2 * (q[0] * q[2] - q[1] * q[3]), 2 * (q[1] * q[2] + q[0] * q[3]),
                                1 - 2 * (q[0] * q[0] + q[1] * q[1])}};
    memcpy(r, rows, sizeof r);
    for (int i = 0; i < 3; i++) {
        const float y = half[(i + 1) % 3], z = half[(i + 2) % 3];
        inertia[i] = ((double)y * y + (double)z * z) / 3;
        local[i] = 0;
        for (int k = 0; k < 3; k++) local[i] += r[k][i] * b->spin[k];
        out.energy += 0.5 * inertia[i] * local[i] * local[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out.momentum[i] += r[i][k] * inertia[k] * local[k];
        out.size += out.momentum[i] * out.momentum[i];
    }
    out.size = sqrt(out.size);
    return out;
}

static void test_flies_alone(void **state)
{
    (void)state;
    static const float half[3] = {0.3f, 0.2f, 0.05f};
    static const float spins[][3] = {{4, 0.1f, 0.1f}, {0.1f, 4, 0.1f}, {0.1f, 0.1f, 4},
                                     {3, 3, 3},       {0.5f, -6, 2},   {8, 8, -1}};
    for (uint32_t s = 0; s < sizeof spins / sizeof *spins; s++) {
        sac_world_def def = play_def();
        memset(def.gravity, 0, sizeof def.gravity);
        sac_world *world = play_create(&def);
        sac_shape_id box = play_box(world, half[0], half[1], half[2]);
        sac_body_def body = play_body_def(box, SAC_BODY_DYNAMIC, 0, 5, 0);
        body.mass = 1, body.linear_damping = body.angular_damping = 0;
        memcpy(body.spin, spins[s], sizeof body.spin);
        sac_body_id id = play_make(world, &body);
        sac_body_state b = play_state(world, id);
        const spinning first = spin_of(&b, half);
        double most = 0, least = 1e9, away = 0, turned = 0;
        for (int f = 0; f < 1800; f++) {
            sac_step_def step = sac_default_step_def();
            CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
            b = play_state(world, id);
            const spinning now = spin_of(&b, half);
            double apart = 0, change = 0;
            for (int i = 0; i < 3; i++) {
                apart += (now.momentum[i] - first.momentum[i]) * (now.momentum[i] - first.momentum[i]);
                change += (b.spin[i] - spins[s][i]) * (b.spin[i] - spins[s][i]);
            }
            most = fmax(most, now.energy), least = fmin(least, now.energy);
            away = fmax(away, sqrt(apart) / first.size);
            turned = fmax(turned, sqrt(change));
        }
        CHECK_SAY(most < 1.001 * first.energy && least > 0.999 * first.energy,
                  "spin %u: energy from %g to %g, was %g\n", s, least, most, first.energy);
        CHECK_SAY(away < 0.05, "spin %u: momentum off by %g of itself\n", s, away);
        CHECK_SAY(turned > 0.05, "spin %u: it does not tumble\n", s);
        sac_world_destroy(&world);
    }
}

/* About the middle one of its axes a body turns over, again and again. */
static void test_turns_over(void **state)
{
    (void)state;
    static const float half[3] = {0.3f, 0.2f, 0.05f};
    sac_world_def def = play_def();
    memset(def.gravity, 0, sizeof def.gravity);
    sac_world *world = play_create(&def);
    sac_body_def body = play_body_def(play_box(world, half[0], half[1], half[2]), SAC_BODY_DYNAMIC, 0, 5, 0);
    body.linear_damping = body.angular_damping = 0;
    body.spin[1] = 6, body.spin[0] = 0.05f;
    sac_body_id id = play_make(world, &body);
    int flips = 0;
    bool up = true;
    for (int f = 0; f < 1800; f++) {
        sac_step_def step = sac_default_step_def();
        CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
        sac_body_state b = play_state(world, id);
        const float *q = b.pose.rotation;
        float along = 1 - 2 * (q[0] * q[0] + q[2] * q[2]); /* its own y against the world's */
        if ((up && along < -0.8f) || (!up && along > 0.8f)) flips++, up = !up;
    }
    CHECK_SAY(flips >= 3, "%d times\n", flips);
    sac_world_destroy(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flies_alone), cmocka_unit_test(test_turns_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
