#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "spheretree/build_internal.h"

#define MOST 6000
static float cloud[MOST][3];

static uint32_t scatter(uint32_t count, uint64_t seed)
{
    sac_rng rng = sac_rng_seed(seed);
    for (uint32_t i = 0; i < count; i++) {
        sac_rng_unit_vector(&rng, cloud[i]);
        cloud[i][1] *= 0.3f;
        if (i % 17 == 3) memcpy(cloud[i], cloud[i / 2], sizeof cloud[i]);
    }
    return count;
}

static sac_tree *build(uint32_t count, uint32_t branch, uint32_t depth, uint32_t threads)
{
    sac_build_def def = sac_default_build_def();
    sac_tree *tree;
    sac_error error = {0};
    def.branch = branch;
    def.depth = depth;
    def.threads = threads;
    sac_result result = sac_tree_build_points((const float(*)[3])cloud, count, &def, &tree, &error);
    if (result != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(sac_tree_validate(tree, &error), SAC_OK);
    return tree;
}

static bool holds(const sac_tree_node_info *node, const float p[3])
{
    double x = (double)p[0] - node->centre[0], y = (double)p[1] - node->centre[1],
           z = (double)p[2] - node->centre[2];
    return sqrt(x * x + y * y + z * z) <= node->radius;
}

/* Is `p` inside a chain of spheres from `id` down to a leaf? */
static bool held_by_chain(const sac_tree *tree, uint32_t id, const float p[3])
{
    sac_tree_node_info node;
    if (!sac_tree_node(tree, id, &node) || !holds(&node, p)) return false;
    if (node.leaf) return true;
    uint32_t first = tree->links[id / SAC_LANES].link[id % SAC_LANES] * SAC_LANES;
    for (uint32_t k = 0; k < node.child_count; k++)
        if (held_by_chain(tree, first + k, p)) return true;
    return false;
}

static void every_point_is_held_at_every_level(void **state)
{
    (void)state;
    const uint32_t branches[] = {2, 3, 5, 8, 9, 16}, counts[] = {1, 2, 7, 9, 63, 300, 900};
    for (uint32_t b = 0; b < 6; b++)
        for (uint32_t c = 0; c < 7; c++)
            for (uint32_t depth = 1; depth <= 4; depth++) {
                uint32_t count = scatter(counts[c], b * 10 + c);
                sac_tree *tree = build(count, branches[b], depth, 1);
                assert_true(tree->depth <= depth);
                for (uint32_t i = 0; i < count; i++) assert_true(held_by_chain(tree, 0, cloud[i]));
                sac_tree_destroy(&tree);
            }
}

static void leaves_are_balanced(void **state)
{
    (void)state;
    /* Enough points: all leaves on the last level, full fans everywhere. */
    const uint32_t branches[] = {2, 3, 5, 8, 9, 16};
    for (uint32_t b = 0; b < 6; b++)
        for (uint32_t depth = 1; depth <= 3; depth++) {
            uint32_t leaves = 1;
            for (uint32_t i = 0; i < depth; i++) leaves *= branches[b];
            sac_tree *tree = build(scatter(leaves + leaves / 3 + 1, 5), branches[b], depth, 1);
            assert_int_equal(tree->leaf_count, leaves);
            assert_int_equal(tree->level_nodes[depth], leaves);
            sac_tree_destroy(&tree);
        }
    /* Too few: one leaf for each point, within one level. */
    sac_tree *tree = build(scatter(100, 6), 8, 6, 1);
    assert_int_equal(tree->leaf_count, 100);
    assert_int_equal(tree->depth, 3);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
        assert_true(node.radius == 0 && node.gap == 0 && node.level >= 2);
        assert_memory_equal(node.point, node.centre, sizeof node.point);
    }
    sac_tree_destroy(&tree);
}

static void the_root_is_the_smallest_ball(void **state)
{
    (void)state;
    uint32_t count = scatter(3000, 12);
    static double points[3000][3];
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) points[i][k] = cloud[i][k];
    double centre[3], radius;
    sac_ball_of_points((const double(*)[3])points, count, centre, &radius);
    sac_tree *tree = build(count, 8, 3, 1);
    sac_tree_node_info root;
    sac_tree_node(tree, 0, &root);
    assert_true(fabs(root.radius - radius) < 1e-6);
    /* Sixty-four groups of a shell cover it with much smaller balls, and their gaps are honest. */
    double mean = 0;
    for (uint32_t id = tree->level_block[2] * SAC_LANES; id < tree->level_block[3] * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node)) continue;
        mean += node.radius / 64;
        assert_true(node.gap >= node.radius * 0.1f && node.gap <= 2 * node.radius);
        assert_true(holds(&node, node.point));
    }
    if (mean >= 0.225) fail_msg("mean radius %g", mean);
    sac_tree_destroy(&tree);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uint32_t count = scatter(MOST, 8);
    sac_tree *one = build(count, 8, 4, 1), *three = build(count, 8, 4, 3);
    assert_int_equal(one->storage_size, three->storage_size);
    assert_memory_equal(one->storage, three->storage, one->storage_size);
    sac_tree_destroy(&one);
    sac_tree_destroy(&three);
}

static void degenerate_clouds_work(void **state)
{
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        for (uint32_t i = 0; i < 500; i++)
            for (int k = 0; k < 3; k++) {
                float v = 3; /* all the same */
                if (kind == 1) v = (float)i * (float)(k + 1);
                if (kind == 2) v = k == 2 ? 0 : (float)(k == 0 ? i % 20 : i / 20);
                if (kind == 3) v = ((i * 7919u) >> k & 1) ? 1e12f : -1e12f;
                if (kind == 4) v = 1e12f - (float)(i % 5) * 65536.0f * (float)k;
                cloud[i][k] = v;
            }
        sac_tree *tree = build(500, 8, 3, 1);
        for (uint32_t i = 0; i < 500; i++) assert_true(held_by_chain(tree, 0, cloud[i]));
        sac_tree_destroy(&tree);
    }
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    sac_build_def def = sac_default_build_def();
    sac_tree *tree = (sac_tree *)&def;
    sac_error error;
    assert_int_equal(sac_tree_build_points((const float(*)[3])cloud, 0, &def, &tree, &error),
                     SAC_ERROR_EMPTY);
    assert_null(tree);
    const float bad[] = {NAN, INFINITY, -2e12f};
    for (int i = 0; i < 3; i++) {
        scatter(50, 1);
        cloud[31][i] = bad[i];
        assert_int_equal(sac_tree_build_points((const float(*)[3])cloud, 50, &def, &tree, &error),
                         SAC_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "31"));
    }
    scatter(50, 1);
    def.depth = 13;
    assert_int_equal(sac_tree_build_points((const float(*)[3])cloud, 50, &def, &tree, &error),
                     SAC_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_is_held_at_every_level),
        cmocka_unit_test(leaves_are_balanced),
        cmocka_unit_test(the_root_is_the_smallest_ball),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(degenerate_clouds_work),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests_name("build_points", tests, NULL, NULL);
}
