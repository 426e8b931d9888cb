#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "response/response.h"

static sac_contact contact_at(float x, float y, float z, uint32_t a, uint32_t b)
{
    return (sac_contact){.point = {x, y, z},
                         .normal = {0, 1, 0},
                         .depth = 0.01f,
                         .uncertainty = 0.004f,
                         .node_a = a,
                         .node_b = b};
}

/* What is likely stops; only what is sure pushes. */
static void test_correct(void **state)
{
    (void)state;
    for (int d = -20; d <= 20; d++)
        for (int u = 0; u <= 20; u++) {
            float depth = 0.001f * (float)d, unsure = 0.001f * (float)u;
            float told = sac_manifold_correct(depth, unsure, 0.5f);
            assert_true(told <= depth - 0.5f * unsure + 1e-9f && told >= depth - unsure - 1e-9f);
            assert_true(told <= 0 || fabsf(told - (depth - unsure)) < 1e-9f);
            assert_true(sac_manifold_correct(depth, 0, 0.5f) == depth);
            assert_true(sac_manifold_correct(depth, unsure, 0) == depth);
        }
}

static void test_same_nodes(void **state)
{
    (void)state;
    sac_manifold m = {0};
    const sac_transform still = sac_transform_identity();
    sac_contact contacts[2] = {contact_at(0, 0, 0, 1, 2), contact_at(1, 0, 0, 3, 4)};
    sac_manifold_merge(&m, contacts, 2, &still, &still, 0.5f, 0.1f);
    assert_int_equal(m.count, 2);
    assert_true(fabsf(m.points[0].depth - 0.006f) < 1e-7f && m.uncertainty == 0.004f && !m.final);
    assert_true(m.points[0].impulse == 0);
    m.points[0].impulse = 3, m.points[1].impulse = 5, m.points[1].friction_impulse[2] = 1;
    m.rolling_impulse[0] = 2;
    /* In another order, and one has wandered farther than anybody reaches: nodes count, not places. */
    sac_contact swapped[2] = {contact_at(1.5f, 0, 0, 3, 4), contact_at(0, 0, 0, 1, 2)};
    swapped[0].final = swapped[1].final = true;
    sac_manifold_merge(&m, swapped, 2, &still, &still, 0.5f, 0.1f);
    assert_true(m.points[0].impulse == 5 && m.points[0].friction_impulse[2] == 1 && m.points[1].impulse == 3);
    assert_true(m.final && m.rolling_impulse[0] == 2);
    sac_manifold_merge(&m, NULL, 0, &still, &still, 0.5f, 0.1f);
    assert_true(m.count == 0 && m.rolling_impulse[0] == 0);
}

/* Another level: one old point becomes three near it and one out of reach. */
static void test_heirs(void **state)
{
    (void)state;
    sac_manifold m = {0};
    sac_transform pose = sac_transform_identity();
    pose.scale = 2;
    const sac_contact one = contact_at(0, 0, 0, 1, 2);
    sac_manifold_merge(&m, &one, 1, &pose, &pose, 0, 0.1f);
    m.points[0].impulse = 9;
    sac_contact finer[4] = {contact_at(0.1f, 0, 0, 11, 2), contact_at(0, 0, 0.1f, 12, 2),
                            contact_at(-0.1f, 0, 0, 13, 2), contact_at(0.5f, 0, 0, 14, 2)};
    sac_manifold_merge(&m, finer, 4, &pose, &pose, 0, 0.1f);
    for (int i = 0; i < 3; i++) assert_true(fabsf(m.points[i].impulse - 3) < 1e-6f);
    assert_true(m.points[3].impulse == 0);
    assert_true(fabsf(m.points[3].local_a[0] - 0.25f) < 1e-6f);
    /* A contact from the other side must not be kicked. */
    sac_contact other = contact_at(0.1f, 0, 0, 50, 51);
    other.normal[1] = -1;
    sac_manifold_merge(&m, &other, 1, &pose, &pose, 0, 1);
    assert_true(m.points[0].impulse == 0);
}

static void random_pose(sac_rng *rng, sac_transform *pose)
{
    float length = 0;
    for (int k = 0; k < 3; k++) pose->translation[k] = sac_rng_range(rng, -2, 2);
    for (int k = 0; k < 4; k++) {
        pose->rotation[k] = sac_rng_range(rng, -1, 1);
        length += pose->rotation[k] * pose->rotation[k];
    }
    for (int k = 0; k < 4; k++) pose->rotation[k] /= sqrtf(length);
    pose->scale = sac_rng_range(rng, 0.5f, 2);
}

static void test_sum_never_grows(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(2);
    sac_manifold m = {0};
    for (int round = 0; round < 3000; round++) {
        sac_transform a, b;
        random_pose(&rng, &a), random_pose(&rng, &b);
        sac_contact contacts[6];
        uint32_t count = sac_rng_below(&rng, 7);
        for (uint32_t i = 0; i < count; i++) {
            contacts[i] =
                contact_at(sac_rng_range(&rng, -1, 1), sac_rng_range(&rng, -1, 1), sac_rng_range(&rng, -1, 1),
                           sac_rng_below(&rng, 3), sac_rng_below(&rng, 2));
            sac_rng_unit_vector(&rng, contacts[i].normal);
            if (sac_rng_below(&rng, 2))
                contacts[i].normal[0] = 0, contacts[i].normal[1] = 1, contacts[i].normal[2] = 0;
        }
        double before = 0, after = 0;
        for (uint32_t i = 0; i < m.count; i++) before += m.points[i].impulse;
        sac_manifold_merge(&m, contacts, count, &a, &b, 0.5f, sac_rng_range(&rng, 0, 3));
        assert_true(m.count == (count < 4 ? count : 4));
        for (uint32_t i = 0; i < m.count; i++) {
            after += m.points[i].impulse;
            float back[3];
            for (int side = 0; side < 2; side++) {
                sac_transform_point(side ? &b : &a, side ? m.points[i].local_b : m.points[i].local_a, back);
                for (int k = 0; k < 3; k++) assert_true(fabsf(back[k] - contacts[i].point[k]) < 1e-5f);
            }
        }
        assert_true(after <= before * (1 + 1e-5) && after >= 0);
        for (uint32_t i = 0; i < m.count; i++) m.points[i].impulse += sac_rng_float(&rng);
    }
}

static void test_chance(void **state)
{
    (void)state;
    const float cases[][4] = {
        {0.5f, 0.5f, 0, 0.25f}, {1, 1, 0, 1}, {0, 1, 0.3f, 0.3f}, {0.8f, 0.5f, 0.5f, 0.7f}, {0, 0, 0, 0}};
    for (int c = 0; c < 5; c++) {
        uint32_t hits = 0, changes = 0;
        enum { TRIES = 40000 };
        for (uint32_t i = 0; i < TRIES; i++) {
            bool hit =
                sac_chance_collides(cases[c][0], cases[c][1], cases[c][2], 99, i / 200, i % 20, i % 200 / 20);
            assert_true(hit == sac_chance_collides(cases[c][0], cases[c][1], cases[c][2], 99, i / 200, i % 20,
                                                   i % 200 / 20));
            hits += hit;
            changes += hit != sac_chance_collides(cases[c][0], cases[c][1], cases[c][2], 98, i / 200, i % 20,
                                                  i % 200 / 20);
        }
        double share = (double)hits / TRIES, expected = cases[c][3];
        assert_true(fabs(share - expected) < 0.012);
        /* Another seed draws anew. */
        assert_true(fabs((double)changes / TRIES - 2 * expected * (1 - expected)) < 0.015);
    }
    assert_true(sac_chance_collides(NAN, 1, 0, 1, 1, 1, 1) && !sac_chance_collides(-5, 1, -3, 1, 1, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_correct), cmocka_unit_test(test_same_nodes),
                                       cmocka_unit_test(test_heirs), cmocka_unit_test(test_sum_never_grows),
                                       cmocka_unit_test(test_chance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
