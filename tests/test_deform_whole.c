/* Contacts that act on soft bodies as wholes: a body that falls on a few of its points is stopped by them,
 * momentum and moment of momentum are passed on exactly, and no energy is added. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "deform/deform.h"
#include "spheretree/spheretree.h"

typedef struct pair {
    sac_soft_shape *shape;
    sac_soft *soft[2];
    sac_soft_party party[2];
} pair;

static void pair_init(pair *p)
{
    sac_mesh *mesh;
    sac_error error;
    sac_soft_shape_def def = sac_default_soft_shape_def();
    def.mass = 2;
    assert_int_equal(sac_mesh_builtin("star", 800, &mesh, &error), SAC_OK);
    assert_int_equal(sac_soft_shape_from_mesh(mesh, &def, 0, &p->shape, &error), SAC_OK);
    sac_mesh_destroy(&mesh);
    const sac_soft_shape_parts parts = sac_soft_shape_parts_of(p->shape);
    for (int i = 0; i < 2; i++) {
        sac_transform pose = {.rotation = {0, 0, 0, 1}, .translation = {0, (float)i, 0}, .scale = 1};
        assert_int_equal(sac_soft_create(parts.model, &pose, &p->soft[i], &error), SAC_OK);
        p->party[i] = (sac_soft_party){
            .soft = p->soft[i], .tree = parts.tree, .friction = 0.5f, .thickness = parts.thickness};
        for (uint32_t k = 0; k < parts.point_count; k++) {
            const sac_soft_points v = sac_soft_view(p->soft[i]);
            const uint32_t lies = v.place[k];
            const float at[3] = {v.x[lies], v.y[lies], v.z[lies]},
                        to[3] = {0.3f * (float)(k % 3) - 0.2f, i ? -2 : 0.5f, 0.4f * at[0]};
            assert_int_equal(sac_soft_set_point(p->soft[i], k, at, to, &error), SAC_OK);
        }
    }
}

static void pair_fini(pair *p)
{
    for (int i = 0; i < 2; i++) sac_soft_destroy(&p->soft[i]);
    sac_soft_shape_destroy(&p->shape);
}

/* Momentum, moment about the origin, energy. */
static void sum_up(const pair *p, int count, double out[7])
{
    memset(out, 0, 7 * sizeof *out);
    for (int i = 0; i < count; i++) {
        const sac_soft_points s = sac_soft_view(p->soft[i]);
        for (uint32_t k = 0; k < s.count; k++) {
            const double m = s.mass[k], x[3] = {s.x[k], s.y[k], s.z[k]}, v[3] = {s.vx[k], s.vy[k], s.vz[k]};
            for (int j = 0; j < 3; j++) {
                out[j] += m * v[j];
                out[3 + j] += m * (x[(j + 1) % 3] * v[(j + 2) % 3] - x[(j + 2) % 3] * v[(j + 1) % 3]);
                out[6] += 0.5 * m * v[j] * v[j];
            }
        }
    }
}

static sac_soft_contact contact_at(const pair *p, uint32_t number, float depth)
{
    const sac_soft_points a = sac_soft_view(p->soft[0]);
    const uint32_t point = a.place[number];
    return (sac_soft_contact){.a = 0,
                              .b = 1,
                              .node_a = point | SAC_SOFT_AT_POINT,
                              .node_b = point | SAC_SOFT_AT_POINT,
                              .point = {a.x[point], a.y[point] + 0.5f, a.z[point]},
                              .normal = {0, 1, 0},
                              .depth = depth};
}

static float mean_fall(const sac_soft *soft)
{
    const sac_soft_points s = sac_soft_view(soft);
    double sum = 0, mass = 0;
    for (uint32_t k = 0; k < s.count; k++) sum += s.mass[k] * s.vy[k], mass += s.mass[k];
    return (float)(sum / mass);
}

/* Two bodies that touch in three points, and what answers them. */
static sac_soft_response *meet_in_three(pair *p, sac_soft_contact contacts[3])
{
    static const uint32_t points[3] = {3, 41, 90};
    sac_soft_response *response = NULL;
    pair_init(p);
    for (int i = 0; i < 3; i++) contacts[i] = contact_at(p, points[i], 0);
    assert_int_equal(sac_soft_response_create(&response, NULL), SAC_OK);
    return response;
}

static void nothing_is_lost_or_won(void **state)
{
    (void)state;
    pair p;
    sac_soft_contact contacts[3];
    sac_soft_response *response = meet_in_three(&p, contacts);
    sac_soft_response_def def = sac_default_soft_response_def();
    sac_error error;
    double before[7], after[7];
    sum_up(&p, 2, before);
    def.wholes = true;
    def.rounds = 12;
    assert_int_equal(sac_soft_respond(response, p.party, 2, contacts, 3, &def, NULL, &error), SAC_OK);
    sum_up(&p, 2, after);
    for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k]) < 1e-4);
    assert_true(after[6] < before[6]);
    for (int i = 0; i < 3; i++) assert_true(contacts[i].approach > 0);
    assert_true(contacts[0].impulse + contacts[1].impulse + contacts[2].impulse > 1);
    /* Three points of hundreds have stopped one body from falling into the other. */
    assert_true(mean_fall(p.soft[1]) - mean_fall(p.soft[0]) > -0.5f);
    sac_soft_response_destroy(&response);
    pair_fini(&p);
}

/* The same contacts that act on lumps alone leave the bodies to fall on. */
static void lumps_alone_cannot(void **state)
{
    (void)state;
    pair p;
    pair_init(&p);
    sac_soft_response *response;
    sac_soft_response_def def = sac_default_soft_response_def();
    sac_error error;
    sac_soft_contact contacts[3] = {contact_at(&p, 3, 0), contact_at(&p, 41, 0), contact_at(&p, 90, 0)};
    assert_int_equal(sac_soft_response_create(&response, &error), SAC_OK);
    assert_int_equal(sac_soft_respond(response, p.party, 2, contacts, 3, &def, NULL, &error), SAC_OK);
    assert_true(mean_fall(p.soft[1]) - mean_fall(p.soft[0]) < -2.3f);
    sac_soft_response_destroy(&response);
    pair_fini(&p);
}

/* What is held somewhere, or has no turn, is a wall. */
static void held_bodies_stand(void **state)
{
    (void)state;
    pair p;
    sac_soft_contact contacts[3];
    sac_soft_response *response = meet_in_three(&p, contacts);
    sac_soft_response_def def = sac_default_soft_response_def();
    sac_error error;
    double before[7], after[7];
    p.party[0].still = true;
    sum_up(&p, 1, before);
    def.wholes = true;
    def.rounds = 12;
    assert_int_equal(sac_soft_respond(response, p.party, 2, contacts, 3, &def, NULL, &error), SAC_OK);
    sum_up(&p, 1, after);
    for (int k = 0; k < 7; k++) assert_true(after[k] == before[k]);
    assert_true(mean_fall(p.soft[1]) > -0.5f);
    sac_soft_response_destroy(&response);
    pair_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_won),
        cmocka_unit_test(lumps_alone_cannot),
        cmocka_unit_test(held_bodies_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
