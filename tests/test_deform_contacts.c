/* Contacts of soft bodies from the front of a meeting, and what comes of them: they rest, and stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "deform/deform.h"

enum { MOST_BODIES = 4, ROOM = 100000 };
static const sac_transform here = {.rotation = {0, 0, 0, 1}, .scale = 1};

typedef struct stage {
    sac_soft_shape *shape;
    uint32_t count;
    sac_soft *soft[MOST_BODIES];
    sac_soft_cover *cover[MOST_BODIES];
    sac_form form[MOST_BODIES + 1]; /* and a floor */
    sac_soft_party party[MOST_BODIES + 1];
    sac_soft_response *response;
    sac_workspace *workspace;
    uint32_t level; /* most */
    bool fine;
    float half; /* height */
    uint32_t contact_count;
} stage;

static uint32_t storage[6][ROOM + SAC_PAIRS_SLACK];
static sac_soft_contact contacts[ROOM];

static void begin(stage *s, const char *mesh_name, uint32_t triangles, uint32_t count, float apart)
{
    memset(s, 0, sizeof *s);
    sac_mesh *mesh;
    sac_soft_shape_def def = sac_default_soft_shape_def();
    assert_int_equal(sac_mesh_builtin(mesh_name, triangles, &mesh, NULL), SAC_OK);
    def.soft.clusters = 1, def.soft.settle_time = 0.02f, def.soft.mode = SAC_SOFT_LINEAR;
    def.soft.beta = 0.3f;
    assert_int_equal(sac_soft_shape_from_mesh(mesh, &def, 0, &s->shape, NULL), SAC_OK);
    sac_mesh_destroy(&mesh);
    sac_soft_shape_parts parts = sac_soft_shape_parts_of(s->shape);
    s->count = count, s->level = 99, s->fine = true;
    for (uint32_t i = 0; i < parts.point_count; i++)
        s->half = parts.points[i][2] > s->half ? parts.points[i][2] : s->half;
    for (uint32_t i = 0; i < count; i++) {
        sac_transform pose = here;
        pose.translation[2] = s->half + apart + (2 * s->half + apart) * (float)i;
        assert_int_equal(sac_soft_create(parts.model, &pose, &s->soft[i], NULL), SAC_OK);
        assert_int_equal(sac_soft_cover_create(parts.tree, s->soft[i], &s->cover[i], NULL), SAC_OK);
        sac_soft_cover_form(s->cover[i], &s->form[i]);
        s->party[i] = (sac_soft_party){.soft = s->soft[i],
                                       .tree = parts.tree,
                                       .mass_scale = 1,
                                       .thickness = parts.thickness,
                                       .friction = 0.6f};
    }
    assert_int_equal(sac_form_plane(&s->form[count], (float[3]){0, 0, 1}, 0, NULL), SAC_OK);
    s->party[count] = (sac_soft_party){.friction = 0.6f};
    assert_int_equal(sac_soft_response_create(&s->response, NULL), SAC_OK);
    assert_int_equal(sac_workspace_create(&s->workspace, NULL), SAC_OK);
}

static void end(stage *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        sac_soft_cover_destroy(&s->cover[i]), sac_soft_destroy(&s->soft[i]);
    sac_soft_response_destroy(&s->response);
    sac_workspace_destroy(&s->workspace);
    sac_soft_shape_destroy(&s->shape);
}

/* Contacts of two, opened down to the stage's level; added to `contacts`. */
static uint32_t meet(stage *s, uint32_t a, uint32_t b, float margin)
{
    sac_pairs lists[2] = {{storage[0], storage[1], 0, ROOM}, {storage[2], storage[3], 0, ROOM}};
    sac_pairs done = {storage[4], storage[5], 0, ROOM};
    sac_meeting m;
    if (!sac_meeting_begin(&m, &s->form[a], &here, &s->form[b], &here, margin, &lists[0])) return 0;
    uint32_t level = 0;
    for (; level < m.levels && level < s->level; level++) {
        lists[1 - level % 2].count = 0;
        sac_meeting_open(s->workspace, &m, level, &lists[level % 2], UINT64_MAX, &lists[1 - level % 2],
                         &done);
    }
    uint32_t found = sac_soft_contacts(&m, &lists[level % 2], &done, a, b, s->party, s->fine,
                                       contacts + s->contact_count, ROOM - s->contact_count);
    s->contact_count += found;
    return found;
}

static void step(stage *s)
{
    const float dt = 1.0f / 90;
    sac_soft_step_def def = {.dt = dt, .gravity = {0, 0, -9.81f}};
    sac_soft_response_def response = sac_default_soft_response_def();
    response.dt = dt, response.rounds = 8;
    for (uint32_t i = 0; i < s->count; i++) sac_soft_cover_renew(s->cover[i], &s->form[i]);
    s->contact_count = 0;
    for (uint32_t i = 0; i <= s->count; i++)
        for (uint32_t j = 0; j < i; j++) meet(s, j, i, 2 * s->party[0].thickness + 0.02f);
    sac_soft_pull(s->soft, s->count, &def, NULL, NULL);
    assert_int_equal(sac_soft_respond(s->response, s->party, s->count + 1, contacts, s->contact_count,
                                      &response, NULL, NULL),
                     SAC_OK);
    sac_soft_move(s->soft, s->count, &def, NULL, NULL);
}

static void middle(const sac_soft *soft, float out[3], float *lowest)
{
    sac_soft_points p = sac_soft_view(soft);
    double sum[3] = {0};
    *lowest = p.z[0];
    for (uint32_t i = 0; i < p.count; i++) {
        sum[0] += p.x[i], sum[1] += p.y[i], sum[2] += p.z[i];
        *lowest = p.z[i] < *lowest ? p.z[i] : *lowest;
    }
    for (int k = 0; k < 3; k++) out[k] = (float)(sum[k] / p.count);
}

static void a_floor_is_as_far_on_every_level(void **state)
{
    (void)state;
    for (int above = -1; above < 2; above++) {
        stage s;
        float gap = 0.01f * (float)above;
        begin(&s, "box", 600, 1, gap);
        for (uint32_t level = 0; level < 4; level++) {
            s.level = level, s.fine = level == 3, s.contact_count = 0;
            uint32_t found = meet(&s, 0, 1, s.party[0].thickness + 0.02f);
            float deepest = -1;
            assert_true(found > 0);
            for (uint32_t i = 0; i < found; i++) {
                assert_true(fabsf(contacts[i].normal[2] + 1) < 1e-5f);
                deepest = contacts[i].depth > deepest ? contacts[i].depth : deepest;
            }
            float thickness = s.party[0].thickness;
            assert_true(fabsf(deepest - (thickness - gap)) < 1e-4f);
        }
        end(&s);
    }
}

static void two_balls_push_apart_on_every_level(void **state)
{
    (void)state;
    stage s;
    begin(&s, "sphere", 1200, 2, -0.02f);
    for (uint32_t level = 0; level < 5; level++) {
        s.level = level, s.fine = level == 4, s.contact_count = 0;
        uint32_t found = meet(&s, 0, 1, 2 * s.party[0].thickness);
        float deepest = -1, up = 0, weight = 0;
        assert_true(found > 0);
        for (uint32_t i = 0; i < found; i++) {
            deepest = contacts[i].depth > deepest ? contacts[i].depth : deepest;
            up += contacts[i].normal[2] * contacts[i].depth, weight += contacts[i].depth;
        }
        assert_true(deepest > 0.01f && deepest < 0.1f);
        assert_true(up > 0.5f * weight);
    }
    end(&s);
}

static void boxes_stack(void **state)
{
    (void)state;
    for (int coarse = 0; coarse < 2; coarse++) {
        stage s;
        begin(&s, "box", 300, 3, 0.05f);
        if (coarse) s.level = 1, s.fine = false;
        for (int i = 0; i < 270; i++) step(&s);
        for (uint32_t b = 0; b < s.count; b++) {
            float at[3], low;
            middle(s.soft[b], at, &low);
            assert_true(fabsf(at[0]) < 0.1f && fabsf(at[1]) < 0.1f);
            float rest = s.half * (float)(2 * b + 1) + s.party[0].thickness * (float)(2 * b + 1);
            assert_true(fabsf(at[2] / rest - 1) < 0.2f);
            assert_true(b > 0 || low > -0.05f);
        }
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_floor_is_as_far_on_every_level),
        cmocka_unit_test(two_balls_push_apart_on_every_level),
        cmocka_unit_test(boxes_stack),
    };
    return cmocka_run_group_tests_name("deform_contacts", tests, NULL, NULL);
}
