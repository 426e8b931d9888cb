/* Whatever the world is given: a result that names the field, and a world that is as it was. */
#include "tests/world_play.h"

#include <stdlib.h>

static const float bad[] = {NAN, INFINITY, -INFINITY};
enum { BAD = sizeof bad / sizeof *bad };

static void refused(sac_result result, const sac_error *error, const char *name)
{
    CHECK_SAY(result == SAC_ERROR_ARGUMENT || result == SAC_ERROR_LIMIT, "%s: %s\n", name,
              sac_result_name(result));
    CHECK_SAY(error->message[0] != 0, "%s: no message\n", name);
}

static void names(const sac_error *error, const char *field)
{
    CHECK_SAY(error->remedy[0] != 0, "'%s' says nothing about what to do\n", error->message);
    CHECK_SAY(strstr(error->message, field) != NULL || strstr(error->remedy, field) != NULL,
              "'%s; %s' does not name %s\n", error->message, error->remedy, field);
}

typedef struct scene {
    sac_world *world;
    sac_shape_id ball;
    sac_body_id floor, lying, kinematic;
    sac_grab_id grab;
} scene;

static scene make_scene(void)
{
    sac_world_def def = play_def();
    scene s = {.world = play_create(&def)};
    s.floor = play_floor(s.world);
    s.ball = play_ball(s.world, 0.1f);
    s.lying = play_body(s.world, s.ball, SAC_BODY_DYNAMIC, 0, 0.12f, 0);
    s.kinematic = play_body(s.world, s.ball, SAC_BODY_KINEMATIC, 2, 1, 0);
    sac_grab_def hold = sac_default_grab_def();
    hold.body = play_body(s.world, s.ball, SAC_BODY_DYNAMIC, -2, 1, 0);
    hold.anchor[0] = hold.target[0] = -2, hold.anchor[1] = hold.target[1] = 1;
    CHECK(sac_grab_create(s.world, &hold, &s.grab, NULL) == SAC_OK);
    play_frames(s.world, 5);
    return s;
}

/* ---- definitions ---- */

static void test_world_def(void **state)
{
    (void)state;
    typedef struct field {
        const char *name;
        size_t at;
    } field;
#define F(name)                              \
    {                                        \
#name, offsetof(sac_world_def, name) \
    }
    const field fields[] = {F(gravity[0]),
                            F(gravity[1]),
                            F(gravity[2]),
                            F(margin),
                            F(gap_bias),
                            F(sleep_speed),
                            F(sleep_seconds),
                            F(far),
                            F(agenda.share),
                            F(agenda.stop_jnd),
                            F(solver.contact_hertz),
                            F(solver.contact_damping),
                            F(solver.push_speed),
                            F(solver.restitution_speed),
                            F(solver.slop),
                            F(perception.out_of_view),
                            F(perception.speed_weight),
                            F(perception.speed_ref),
                            F(perception.distractor_weight),
                            F(perception.most_jnd),
                            F(gaze.saccade_degrees_s),
                            F(gaze.saccade_end_degrees_s),
                            F(gaze.tracker_error_degrees),
                            F(gaze.photon_latency_s),
                            F(gaze.lost_after_s),
                            F(gaze.return_s),
                            F(gaze.flat_zone_degrees),
                            F(gaze.least_confidence)};
#undef F
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int k = 0; k < BAD; k++) {
            sac_world_def def = play_def();
            sac_world *world = (sac_world *)&def;
            sac_error error = {0};
            memcpy((char *)&def + fields[i].at, &bad[k], sizeof(float));
            refused(sac_world_create(&def, &world, &error), &error, fields[i].name);
            assert_null(world);
            const char *last = strrchr(fields[i].name, '.');
            char name[64];
            snprintf(name, sizeof name, "%s", last ? last + 1 : fields[i].name);
            if (strchr(name, '[')) *strchr(name, '[') = 0;
            names(&error, strncmp(name, "sleep", 5) == 0 ? "sleep" : name);
        }
    sac_world *world;
    sac_error error = {0};
    sac_world_def def = play_def();
    def.policy = "no such policy";
    refused(sac_world_create(&def, &world, &error), &error, "policy");
    names(&error, "no such policy");
    def = play_def(), def.cookie = 0;
    refused(sac_world_create(&def, &world, &error), &error, "cookie");
    names(&error, "sac_default_world_def");
    sac_world_def zero;
    memset(&zero, 0, sizeof zero);
    refused(sac_world_create(&zero, &world, &error), &error, "zeroed");
    def = play_def(), def.agenda.cookie = 0;
    refused(sac_world_create(&def, &world, &error), &error, "agenda cookie");
    def = play_def(), def.solver.cookie = 0;
    refused(sac_world_create(&def, &world, &error), &error, "solver cookie");
    def = play_def(), def.bodies = UINT32_MAX;
    refused(sac_world_create(&def, &world, &error), &error, "bodies");
    def = play_def(), def.pairs = UINT32_MAX;
    refused(sac_world_create(&def, &world, &error), &error, "pairs");
    def = play_def(), def.clock.kind = SAC_CLOCK_CALLER, def.clock.now = NULL;
    refused(sac_world_create(&def, &world, &error), &error, "clock");
    def = play_def(), def.tasks.threads = 1000;
    refused(sac_world_create(&def, &world, &error), &error, "threads");
    /* Little is fine. */
    def = play_def(), def.bodies = 0, def.pairs = 0, def.policy = NULL;
    CHECK(sac_world_create(&def, &world, NULL) == SAC_OK);
    sac_world_destroy(&world);
    sac_world_destroy(&world);
}

static void test_shapes(void **state)
{
    (void)state;
    scene s = make_scene();
    uint64_t before = sac_world_hash(s.world);
    sac_form form, empty;
    sac_shape_id id;
    sac_error error = {0};
    memset(&empty, 0, sizeof empty);
    refused(sac_world_add_shape(s.world, &empty, &id, &error), &error, "zeroed form");
    CHECK(sac_form_sphere(&form, 0.1f, NULL) == SAC_OK);
    form.kind = (sac_form_kind)77;
    refused(sac_world_add_shape(s.world, &form, &id, &error), &error, "form of no kind");
    CHECK(sac_form_sphere(&form, 0.1f, NULL) == SAC_OK);
    form.ball[3] = NAN;
    refused(sac_world_add_shape(s.world, &form, &id, &error), &error, "NaN form");
    const float sizes[] = {NAN, INFINITY, -INFINITY, 0, -1};
    for (int i = 0; i < 5; i++) {
        float x = sizes[i];
        CHECK(sac_form_sphere(&form, x, &error) == SAC_ERROR_ARGUMENT);
        CHECK(sac_form_capsule(&form, x, 1, &error) == SAC_ERROR_ARGUMENT);
        CHECK(x == 0 || sac_form_capsule(&form, 1, x, &error) == SAC_ERROR_ARGUMENT);
        for (int k = 0; k < 3; k++) {
            float half[3] = {1, 1, 1}, normal[3] = {0, 1, 0};
            half[k] = x;
            CHECK(sac_form_box(&form, half, &error) == SAC_ERROR_ARGUMENT);
            normal[k] = x;
            if (!isfinite(x)) CHECK(sac_form_plane(&form, normal, 0, &error) == SAC_ERROR_ARGUMENT);
        }
        if (!isfinite(x)) CHECK(sac_form_plane(&form, (float[3]){0, 1, 0}, x, &error) == SAC_ERROR_ARGUMENT);
    }
    CHECK(sac_form_plane(&form, play_still, 0, &error) == SAC_ERROR_ARGUMENT);
    CHECK(sac_world_hash(s.world) == before);
    sac_world_destroy(&s.world);
}

static void test_body_def(void **state)
{
    (void)state;
    typedef struct field {
        const char *name, *said;
        size_t at;
        float extra[4]; /* more that is wrong; NaN: no more */
    } field;
#define F(name, said, ...)                                         \
    {                                                              \
#name, said, offsetof(sac_body_def, name), { __VA_ARGS__ } \
    }
    const field fields[] = {
        F(scale, "scale", 0, -1, 1e-9f, 1e9f),
        F(position[0], "position", 1e7f, -1e7f, NAN, NAN),
        F(position[1], "position", 1e7f, -1e7f, NAN, NAN),
        F(position[2], "position", 1e7f, -1e7f, NAN, NAN),
        F(rotation[0], "rotation", 2, -2, NAN, NAN),
        F(rotation[1], "rotation", 2, -2, NAN, NAN),
        F(rotation[2], "rotation", 2, -2, NAN, NAN),
        F(rotation[3], "rotation", 0, 0.9f, 1.1f, NAN),
        F(velocity[0], "velocity", 1e5f, -1e5f, 1e30f, NAN),
        F(velocity[1], "velocity", 1e5f, -1e5f, 1e30f, NAN),
        F(velocity[2], "velocity", 1e5f, -1e5f, 1e30f, NAN),
        F(spin[0], "spin", 1e5f, -1e5f, 1e30f, NAN),
        F(spin[1], "spin", 1e5f, -1e5f, 1e30f, NAN),
        F(spin[2], "spin", 1e5f, -1e5f, 1e30f, NAN),
        F(density, "density", 0, -1, 1e9f, NAN),
        F(mass, "mass", -1, -1e-9f, 1e12f, 1e-12f),
        F(inertia[0], "inertia", -1, 1e9f, 3, NAN),
        F(inertia[1], "inertia", -1, 1e9f, 3, NAN),
        F(inertia[2], "inertia", -1, 1e9f, 3, NAN),
        F(inertia[3], "inertia", 5, -5, NAN, NAN),
        F(inertia[4], "inertia", 5, -5, NAN, NAN),
        F(inertia[5], "inertia", 5, -5, NAN, NAN),
        F(centre[0], "centre", 100, -100, NAN, NAN),
        F(centre[1], "centre", 100, -100, NAN, NAN),
        F(centre[2], "centre", 100, -100, NAN, NAN),
        F(material.friction, "friction", -0.1f, 11, NAN, NAN),
        F(material.restitution, "restitution", -0.1f, 1.1f, NAN, NAN),
        F(material.rolling, "rolling", -0.1f, 1e9f, NAN, NAN),
        F(gravity_scale, "gravity_scale", 1e4f, -1e4f, NAN, NAN),
        F(linear_damping, "linear_damping", -1, 1e9f, NAN, NAN),
        F(angular_damping, "angular_damping", -1, 1e9f, NAN, NAN),
        F(most_speed, "most_speed", 0, -1, 1e9f, NAN),
        F(most_spin, "most_spin", 0, -1, 1e9f, NAN),
    };
#undef F
    scene s = make_scene();
    uint64_t before = sac_world_hash(s.world);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int k = 0; k < BAD + 4; k++) {
            float value = k < BAD ? bad[k] : fields[i].extra[k - BAD];
            if (k >= BAD && isnan(value)) continue;
            sac_body_def def = play_body_def(s.ball, SAC_BODY_DYNAMIC, 0, 3, 0);
            def.centre_given = true;
            def.mass = 1;
            def.inertia[0] = def.inertia[1] = def.inertia[2] = 1;
            if (strcmp(fields[i].name, "density") == 0) def.mass = 0;
            memcpy((char *)&def + fields[i].at, &value, sizeof value);
            sac_error error = {0};
            sac_body_id id = {77};
            char what[64];
            snprintf(what, sizeof what, "%s = %g", fields[i].name, (double)value);
            refused(sac_body_create(s.world, &def, &id, &error), &error, what);
            names(&error, fields[i].said);
            CHECK(id.value == 0);
            /* Numbers that are none are refused of every kind: it may become another. */
            def.kind = SAC_BODY_STATIC;
            if (k < BAD) refused(sac_body_create(s.world, &def, NULL, &error), &error, what);
        }
    sac_error error = {0};
    sac_body_def def = play_body_def(s.ball, SAC_BODY_DYNAMIC, 0, 3, 0);
    def.cookie = 0;
    refused(sac_body_create(s.world, &def, NULL, &error), &error, "cookie");
    names(&error, "sac_default_body_def");
    def = play_body_def(s.ball, (sac_body_kind)9, 0, 3, 0);
    refused(sac_body_create(s.world, &def, NULL, &error), &error, "kind");
    names(&error, "kind");
    def = play_body_def(play_plane(s.world), SAC_BODY_DYNAMIC, 0, 3, 0);
    refused(sac_body_create(s.world, &def, NULL, &error), &error, "a plane that falls");
    CHECK(sac_world_hash(s.world) == before);
    sac_world_destroy(&s.world);
}

static void test_grab_def(void **state)
{
    (void)state;
    scene s = make_scene();
    typedef struct field {
        const char *name;
        size_t at;
        float extra[2];
    } field;
#define F(name, ...)                                         \
    {                                                        \
#name, offsetof(sac_grab_def, name), { __VA_ARGS__ } \
    }
    const field fields[] = {F(anchor[0], NAN, NAN),  F(anchor[2], NAN, NAN), F(target[0], NAN, NAN),
                            F(target[1], NAN, NAN),  F(rotation[0], 2, NAN), F(rotation[3], 0, 1.2f),
                            F(hertz, 0, -1),         F(damping, -1, 1e9f),   F(most_force, -1, NAN),
                            F(most_torque, -1, NAN), F(most_distance, 0, -1)};
#undef F
    uint64_t before = sac_world_hash(s.world);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int k = 0; k < BAD + 2; k++) {
            float value = k < BAD ? bad[k] : fields[i].extra[k - BAD];
            if (k >= BAD && isnan(value)) continue;
            sac_grab_def def = sac_default_grab_def();
            def.body = s.lying;
            memcpy((char *)&def + fields[i].at, &value, sizeof value);
            sac_error error = {0};
            sac_grab_id id = {5};
            char what[64], name[32];
            snprintf(what, sizeof what, "%s = %g", fields[i].name, (double)value);
            snprintf(name, sizeof name, "%s", fields[i].name);
            if (strchr(name, '[')) *strchr(name, '[') = 0;
            refused(sac_grab_create(s.world, &def, &id, &error), &error, what);
            names(&error, name);
            CHECK(id.value == 0);
        }
    sac_grab_def def = sac_default_grab_def();
    sac_error error = {0};
    def.body = s.floor;
    refused(sac_grab_create(s.world, &def, NULL, &error), &error, "the floor");
    def.body = s.lying, def.cookie = 1;
    refused(sac_grab_create(s.world, &def, NULL, &error), &error, "cookie");
    for (int k = 0; k < BAD; k++)
        for (int i = 0; i < 7; i++) {
            float at[3] = {-2, 1, 0}, q[4] = {0, 0, 0, 1};
            if (i < 3)
                at[i] = bad[k];
            else
                q[i - 3] = bad[k];
            refused(sac_grab_move(s.world, s.grab, at, q, &error), &error, "grab_move");
        }
    CHECK(sac_world_hash(s.world) == before);
    /* More than fit are told; one that is no longer dynamic is let go. */
    def = sac_default_grab_def(), def.body = s.lying;
    uint32_t held = 1;
    while (held <= 1000 && sac_grab_create(s.world, &def, NULL, &error) == SAC_OK) held++;
    CHECK(held == 64 && error.code == SAC_ERROR_LIMIT);
    play_frames(s.world, 10);
    sac_grab_state grab;
    CHECK(sac_grab_get(s.world, s.grab, &grab, NULL) == SAC_OK);
    for (int i = 0; i < 2; i++)
        CHECK(sac_body_set_kind(s.world, i ? s.lying : grab.body, SAC_BODY_STATIC, NULL) == SAC_OK);
    CHECK(sac_grab_get(s.world, s.grab, &grab, NULL) == SAC_ERROR_ARGUMENT);
    play_frames(s.world, 10);
    sac_world_destroy(&s.world);
}

/* ---- calls ---- */

static void test_calls(void **state)
{
    (void)state;
    scene s = make_scene();
    uint64_t before = sac_world_hash(s.world);
    for (int k = 0; k < BAD + 2; k++) {
        float x = k < BAD ? bad[k] : k == BAD ? 1e7f : -1e30f;
        sac_error e = {0};
        for (int i = 0; i < 7; i++) {
            float at[3] = {1, 1, 1}, q[4] = {0, 0, 0, 1};
            if (i < 3)
                at[i] = x;
            else
                q[i - 3] = x;
            refused(sac_body_set_pose(s.world, s.lying, at, q, &e), &e, "set_pose");
            names(&e, i < 3 ? "position" : "rotation");
            refused(sac_body_move_to(s.world, s.kinematic, at, q, &e), &e, "move_to");
        }
        for (int i = 0; i < 6; i++) {
            float v[6] = {0};
            v[i] = x;
            refused(sac_body_set_velocity(s.world, s.lying, v, v + 3, &e), &e, "set_velocity");
            names(&e, i < 3 ? "velocity" : "spin");
            if (i >= 3) continue;
            refused(sac_body_push(s.world, s.lying, v, NULL, &e), &e, "push");
            names(&e, "impulse");
            refused(sac_body_push(s.world, s.lying, (float[3]){1, 0, 0}, v, &e), &e, "push at");
            if (k != BAD) refused(sac_world_set_gravity(s.world, v, &e), &e, "gravity"), names(&e, "gravity");
        }
        for (int i = 0; i < 5; i++) {
            float m[5] = {1, 0, 0, 10, 10};
            m[i] = x;
            refused(sac_body_set_motion(s.world, s.lying, m[0], m[1], m[2], m[3], m[4], &e), &e,
                    "set_motion");
        }
        for (int i = 0; i < 3; i++) {
            float m[3] = {0.5f, 0, 0};
            m[i] = x;
            refused(sac_body_set_material(s.world, s.lying, &(sac_material){m[0], m[1], m[2]}, &e), &e,
                    "set_material");
        }
        sac_world_hit hit;
        sac_body_id ids[4];
        uint32_t count;
        for (int i = 0; i < 3 && k < BAD; i++) {
            float at[3] = {0, 1, 0}, down[3] = {0, -1, 0};
            at[i] = x;
            refused(sac_world_ray(s.world, at, down, 10, 1, &hit, &e), &e, "ray from");
            refused(sac_world_overlap(s.world, at, 1, 1, ids, 4, &count, &e), &e, "overlap at");
            refused(sac_world_closest(s.world, at, 10, 1, &hit, &e), &e, "closest to");
            at[i] = 0, down[i] = x;
            refused(sac_world_ray(s.world, at, down, 10, 1, &hit, &e), &e, "ray along");
        }
        if (k < BAD && !(x > 0)) {
            refused(sac_world_ray(s.world, play_still, (float[3]){0, -1, 0}, x, 1, &hit, &e), &e, "ray to");
            refused(sac_world_overlap(s.world, play_still, x, 1, ids, 4, &count, &e), &e, "overlap of");
            refused(sac_world_closest(s.world, play_still, x, 1, &hit, &e), &e, "closest within");
        }
    }
    sac_error e = {0};
    refused(sac_body_set_kind(s.world, s.lying, (sac_body_kind)5, &e), &e, "set_kind");
    refused(sac_body_set_kind(s.world, s.floor, SAC_BODY_DYNAMIC, &e), &e, "a floor that falls");
    refused(sac_body_push(s.world, s.kinematic, (float[3]){1, 0, 0}, NULL, &e), &e, "push of a kinematic");
    refused(sac_body_move_to(s.world, s.lying, play_still, play_upright, &e), &e, "move_to of a dynamic");
    refused(sac_world_set_policy(s.world, "", &e), &e, "policy");
    refused(sac_world_set_policy(s.world, "groups:99", &e), &e, "policy");
    refused(sac_body_push(s.world, s.lying, (float[3]){1e30f, 0, 0}, NULL, &e), &e, "push");
    CHECK(sac_world_hash(s.world) == before);
    sac_world_destroy(&s.world);
}

static void test_steps(void **state)
{
    (void)state;
    scene s = make_scene();
    uint64_t before = sac_world_hash(s.world);
    sac_error e = {0};
    const float times[] = {0, -1, -0.01f, 10, NAN, INFINITY, -INFINITY, 1e-9f, 0.2f};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        sac_step_def step = sac_default_step_def();
        step.dt = times[i];
        refused(sac_world_step(s.world, &step, NULL, &e), &e, "dt");
        names(&e, "dt");
    }
    sac_step_def step = sac_default_step_def();
    step.substeps = 0;
    refused(sac_world_step(s.world, &step, NULL, &e), &e, "substeps");
    step.substeps = UINT32_MAX;
    refused(sac_world_step(s.world, &step, NULL, &e), &e, "substeps");
    step = sac_default_step_def(), step.cookie = 0;
    refused(sac_world_step(s.world, &step, NULL, &e), &e, "cookie");
    names(&e, "sac_default_step_def");
    sac_step_def zero;
    memset(&zero, 0, sizeof zero);
    refused(sac_world_step(s.world, &zero, NULL, &e), &e, "zeroed");
    /* The viewer, field by field. */
    for (int k = 0; k < BAD; k++)
        for (int i = 0; i < 17; i++) {
            sac_viewer viewer = sac_default_viewer();
            viewer.gaze.valid = true;
            viewer.gaze.direction[2] = -1;
            viewer.hands[1].valid = true, viewer.hands[1].radius = 0.1f;
            float *fields[17] = {
                &viewer.eyes[0].position[0],  &viewer.eyes[0].position[2], &viewer.eyes[0].rotation[0],
                &viewer.eyes[0].rotation[3],  &viewer.eyes[0].fov_left,    &viewer.eyes[0].fov_right,
                &viewer.eyes[0].fov_up,       &viewer.eyes[0].fov_down,    &viewer.gaze.origin[0],
                &viewer.gaze.origin[2],       &viewer.gaze.direction[0],   &viewer.gaze.direction[1],
                &viewer.gaze.direction[2],    &viewer.gaze.error_degrees,  &viewer.hands[1].position[0],
                &viewer.hands[1].position[1], &viewer.hands[1].radius};
            *fields[i] = bad[k];
            step = sac_default_step_def();
            step.viewer = &viewer;
            char what[32];
            snprintf(what, sizeof what, "viewer field %d", i);
            refused(sac_world_step(s.world, &step, NULL, &e), &e, what);
        }
    sac_viewer viewer = sac_default_viewer();
    viewer.eye_count = 99;
    step = sac_default_step_def();
    step.viewer = &viewer;
    refused(sac_world_step(s.world, &step, NULL, &e), &e, "eye_count");
    CHECK(sac_world_hash(s.world) == before);
    /* A frame is a frame after all that. */
    step = sac_default_step_def();
    CHECK(sac_world_step(s.world, &step, NULL, NULL) == SAC_OK);
    sac_world_destroy(&s.world);
}

/* ---- time that is none ---- */

static void test_deadline_passed(void **state)
{
    (void)state;
    scene s = make_scene();
    sac_body_id falling = play_body(s.world, s.ball, SAC_BODY_DYNAMIC, 4, 3, 0);
    for (int f = 0; f < 60; f++) {
        sac_step_def step = sac_default_step_def();
        sac_step_report report;
        step.deadline_ns = 1; /* long ago */
        CHECK(sac_world_step(s.world, &step, &report, NULL) == SAC_OK);
        CHECK(report.budget_ns == 0);
        CHECK(report.simulated + report.rungs[SAC_RUNG_BODIES] + report.rungs[SAC_RUNG_BOUNDS] > 0);
        sac_body_state b = play_state(s.world, falling);
        CHECK(play_finite(&b) && b.centre[1] > 0);
    }
    for (int f = 0; f < 300; f++) play_step(s.world, UINT64_MAX); /* as long as it likes */
    sac_body_state b = play_state(s.world, falling);
    CHECK(fabsf(b.centre[1] - 0.1f) < 0.002f);
    sac_world_destroy(&s.world);
}

typedef struct jumpy {
    sac_rng rng;
    uint64_t now;
    bool jumps;
} jumpy;

static uint64_t jumpy_now(void *user)
{
    jumpy *j = user;
    j->now += 300;
    if (j->jumps && sac_rng_below(&j->rng, 10) == 0) {
        uint32_t how = sac_rng_below(&j->rng, 5);
        if (how == 0) j->now = 0;
        if (how == 1) j->now = UINT64_MAX - 1000;
        if (how == 2) j->now -= 10000000;
        if (how == 3) j->now += 3600000000000u;
        if (how == 4) j->now = 1000000000;
    }
    return j->now;
}

static uint64_t last_of_all(void *user)
{
    (void)user;
    return UINT64_MAX;
}

/* One that knows no other number than its last: steps without a limit have none. */
static void test_clock_at_its_end(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    def.clock = sac_clock_caller(last_of_all, NULL);
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id cube = play_box(world, 0.1f, 0.1f, 0.1f);
    for (int i = 0; i < 60; i++)
        play_body(world, cube, SAC_BODY_DYNAMIC, 0.25f * (float)(i % 5), 0.15f + 0.22f * (float)(i / 25),
                  0.25f * (float)(i / 5 % 5));
    for (int f = 0; f < 30; f++) CHECK(play_step(world, 0).simulated == 60);
    CHECK(play_until_asleep(world, 600, 0) < 600);
    sac_world_destroy(&world);
}

static void test_clock_that_jumps(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        jumpy clock = {.rng = sac_rng_seed(seed), .now = 1000000000, .jumps = true};
        sac_world_def def = play_def();
        def.clock = sac_clock_caller(jumpy_now, &clock);
        sac_world *world = play_create(&def);
        play_pen(world, 1.5f, 2);
        sac_shape_id ball = play_ball(world, 0.1f);
        sac_body_id ids[60];
        for (int i = 0; i < 60; i++)
            ids[i] = play_body(world, ball, SAC_BODY_DYNAMIC, 0.25f * (float)(i % 4) - 0.4f,
                               0.2f + 0.25f * (float)(i / 16), 0.25f * (float)(i / 4 % 4) - 0.4f);
        for (int f = 0; f < 200; f++) {
            sac_step_def step = sac_default_step_def();
            if (f % 9 == 0) step.deadline_ns = clock.now + 1000000;
            CHECK(sac_world_step(world, &step, NULL, NULL) == SAC_OK);
        }
        /* Once it runs as it should, everybody comes to rest within seconds. */
        clock.jumps = false;
        clock.now = 5000000000;
        int frames = play_until_asleep(world, 900, 20000000);
        CHECK_SAY(frames < 900, "seed %d: still awake\n", (int)seed);
        for (int i = 0; i < 60; i++) {
            sac_body_state b = play_state(world, ids[i]);
            CHECK(play_finite(&b) && b.centre[1] > 0.05f && fabsf(b.centre[0]) < 0.75f);
        }
        sac_world_destroy(&world);
    }
}

/* ---- crowds and distances ---- */

static void test_thousand_in_one_place(void **state)
{
    (void)state;
    enum { BODIES = 1000 };
    static sac_body_id ids[BODIES];
    sac_tree *ring = play_torus(12, 0.1f, 0.04f);
    for (int k = 0; k < 3; k++) {
        sac_world_def def = play_def();
        def.bodies = 1024;
        sac_world *world = play_create(&def);
        play_floor(world);
        sac_shape_id shape = k == 0   ? play_ball(world, 0.05f)
                             : k == 1 ? play_tree(world, ring)
                                      : play_box(world, 0.05f, 0.05f, 0.05f);
        for (int i = 0; i < BODIES; i++) ids[i] = play_body(world, shape, SAC_BODY_DYNAMIC, 0, 1, 0);
        float fastest = 0, spread = 0;
        for (int f = 0; f < 10; f++) {
            sac_step_report report = play_step(world, 2000000);
            CHECK(report.not_finite == 0);
            for (int i = 0; i < BODIES; i++) {
                sac_body_state b = play_state(world, ids[i]);
                CHECK(play_finite(&b));
                fastest = fmaxf(fastest, play_speed(&b));
                spread = fmaxf(spread, play_distance(b.centre, (float[3]){0, 1, 0}));
            }
        }
        CHECK_SAY(fastest < 20, "shape %d: %g m/s\n", k, (double)fastest);
        CHECK_SAY(spread < 8, "shape %d: flew %g m\n", k, (double)spread);
        sac_counters counters;
        sac_world_counters(world, &counters);
        CHECK(counters.bodies == BODIES + 1);
        sac_world_destroy(&world);
    }
    sac_tree_destroy(&ring);
}

/* Ten balls in exactly one place come apart. */
static void test_come_apart(void **state)
{
    (void)state;
    sac_world_def def = play_def();
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id ball = play_ball(world, 0.1f);
    sac_body_id ids[10];
    for (int i = 0; i < 10; i++) ids[i] = play_body(world, ball, SAC_BODY_DYNAMIC, 0, 0.5f, 0);
    play_frames(world, 270);
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < i; j++) {
            sac_body_state a = play_state(world, ids[i]), b = play_state(world, ids[j]);
            float d = play_distance(a.centre, b.centre);
            CHECK_SAY(d > 0.19f, "%d and %d are %g m apart\n", i, j, (double)d);
        }
    sac_world_destroy(&world);
}

/* Least distance of two of them. */
static float nearest_two(const sac_world *world, const sac_body_id *ids, int count)
{
    static float centre[1000][3];
    float least = FLT_MAX;
    for (int i = 0; i < count; i++) {
        sac_body_state b = play_state(world, ids[i]);
        memcpy(centre[i], b.centre, sizeof centre[i]);
        for (int j = 0; j < i; j++) least = fminf(least, play_distance(centre[i], centre[j]));
    }
    return least;
}

/* A crowd spawned into itself comes apart within seconds and in time, and nothing is gained by it but what it
 * falls. Returns the state it ends in. */
static uint64_t come_apart(int bodies, const sac_tree *ring, uint32_t threads, float apart, int most_frames)
{
    static sac_body_id ids[1000];
    sac_world_def def = play_def();
    def.bodies = 1024;
    def.tasks.threads = threads;
    sac_world *world = play_create(&def);
    play_floor(world);
    sac_shape_id shape = ring ? play_tree(world, ring) : play_ball(world, 0.05f);
    for (int i = 0; i < bodies; i++) ids[i] = play_body(world, shape, SAC_BODY_DYNAMIC, 0, 1, 0);
    double energy = sac_world_energy(world);
    float least = 0;
    int frame = 0;
    for (; frame < most_frames && least < apart; frame++) {
        sac_step_report report = play_step(world, 2000000);
        CHECK(report.not_finite == 0);
        CHECK_SAY(report.overshoot_ns < 250000, "frame %d: %g us late\n", frame,
                  (double)report.overshoot_ns * 1e-3);
        CHECK_SAY(sac_world_energy(world) < 1.1 * energy, "frame %d: %g J of %g\n", frame,
                  sac_world_energy(world), energy);
        for (int i = 0; i < bodies; i++) {
            sac_body_state b = play_state(world, ids[i]);
            CHECK(play_finite(&b) && b.centre[1] > 0);
            CHECK_SAY(play_speed(&b) < 9, "frame %d: %g m/s\n", frame, (double)play_speed(&b));
        }
        if (frame % 30 == 29) least = nearest_two(world, ids, bodies);
    }
    CHECK_SAY(least >= apart, "%d of them: %g m apart after %d frames\n", bodies, (double)least, frame);
    uint64_t hash = sac_world_hash(world);
    sac_world_destroy(&world);
    return hash;
}

static void test_crowds_come_apart(void **state)
{
    (void)state;
    sac_tree *ring = play_torus(24, 0.1f, 0.04f);
#if defined(SACCADE_INSTRUMENTED)
    const int balls = 200, rings = 60;
#else
    const int balls = 1000, rings = 200;
#endif
    come_apart(balls, NULL, 1, 0.05f, 1350);
    uint64_t one = come_apart(rings, ring, 1, 0.02f, 900), two = come_apart(rings, ring, 2, 0.02f, 900);
    CHECK(one == two);
    sac_tree_destroy(&ring);
}

static void test_far_away(void **state)
{
    (void)state;
    scene s = make_scene();
    sac_body_def def = play_body_def(s.ball, SAC_BODY_DYNAMIC, 1e7f, 0, 0);
    sac_error e = {0};
    refused(sac_body_create(s.world, &def, NULL, &e), &e, "1e7 m away");
    /* One that flies off is held at the end of the world, and costs nothing else. */
    def = play_body_def(s.ball, SAC_BODY_DYNAMIC, 99999, 5, 0);
    def.velocity[0] = 100;
    def.gravity_scale = 0;
    sac_body_id id = play_make(s.world, &def);
    play_frames(s.world, 200);
    sac_body_state b = play_state(s.world, id);
    CHECK(play_finite(&b) && b.centre[0] <= 1e5f);
    sac_world_destroy(&s.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world_def),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_body_def),
        cmocka_unit_test(test_grab_def),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_deadline_passed),
        cmocka_unit_test(test_clock_at_its_end),
        cmocka_unit_test(test_clock_that_jumps),
        cmocka_unit_test(test_come_apart),
        cmocka_unit_test(test_thousand_in_one_place),
        cmocka_unit_test(test_crowds_come_apart),
        cmocka_unit_test(test_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
