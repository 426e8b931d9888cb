#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "spheretree/spheretree.h"

#define MOST 5000
static float set[MOST][4];

/* The torus of the physics scenes: ring 0.30, tube 0.10, as 24, 100 or 500 spheres. */
static uint32_t torus(uint32_t which)
{
    const double pi = 3.14159265358979, ring = 0.30;
    uint32_t around = which == 24 ? 24 : which == 100 ? 20 : 50, tube = which / around, n = 0;
    double off = which == 24    ? 0
                 : which == 100 ? 0.045
                                : 0.07,
           r = which == 24    ? 0.1
               : which == 100 ? 0.055
                              : 0.03;
    for (uint32_t i = 0; i < around; i++)
        for (uint32_t j = 0; j < tube; j++) {
            double a = 2 * pi * i / around, b = 2 * pi * (j + 0.5 * (i % 2)) / tube;
            double out = ring + off * cos(b);
            set[n][0] = (float)(out * cos(a)), set[n][1] = (float)(off * sin(b));
            set[n][2] = (float)(out * sin(a)), set[n][3] = (float)r;
            n++;
        }
    return n;
}

static uint32_t scatter(uint32_t count, uint64_t seed)
{
    sac_rng rng = sac_rng_seed(seed);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) set[i][k] = sac_rng_range(&rng, -1, 1);
        set[i][3] = sac_rng_range(&rng, 0, 0.1f);
        if (i % 9 == 0) set[i][3] = 0;
        if (i % 13 == 5) memcpy(set[i], set[i / 2], sizeof set[i]);
    }
    return count;
}

static sac_tree *build(uint32_t count, uint32_t branch, uint32_t threads)
{
    sac_build_def def = sac_default_build_def();
    sac_tree *tree;
    sac_error error = {0};
    def.branch = branch;
    def.threads = threads;
    sac_result result = sac_tree_build_spheres((const float(*)[4])set, count, &def, &tree, &error);
    if (result != SAC_OK) fail_msg("%s", error.message);
    assert_int_equal(sac_tree_validate(tree, &error), SAC_OK);
    return tree;
}

static int compare(const void *a, const void *b) { return memcmp(a, b, 4 * sizeof(float)); }

static double reach(const sac_tree_node_info *node, const float *sphere)
{
    double x = (double)sphere[0] - node->centre[0], y = (double)sphere[1] - node->centre[1],
           z = (double)sphere[2] - node->centre[2];
    return sqrt(x * x + y * y + z * z) + sphere[3];
}

/* Leaves are the given spheres, each inside all its ancestors; leaf levels differ by one at most. */
static void check_tree(const sac_tree *tree, uint32_t count)
{
    float(*leaves)[4] = malloc(count * sizeof *leaves), (*given)[4] = malloc(count * sizeof *given);
    uint32_t found = 0, shallow = UINT32_MAX;
    assert_int_equal(tree->leaf_count, count);
    assert_int_equal(tree->method, SAC_METHOD_SPHERES);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node, above;
        if (!sac_tree_node(tree, id, &node)) continue;
        if (!node.leaf) {
            assert_in_range(node.child_count, 2, tree->branch);
            continue;
        }
        float sphere[4] = {node.centre[0], node.centre[1], node.centre[2], node.radius};
        memcpy(leaves[found++], sphere, sizeof sphere);
        if (node.level < shallow) shallow = node.level;
        assert_true(node.gap == 0);
        for (uint32_t up = id; up != 0;) {
            up = tree->parents[up / SAC_LANES];
            assert_true(sac_tree_node(tree, up, &above));
            assert_true(reach(&above, sphere) <= above.radius);
        }
    }
    assert_int_equal(found, count);
    assert_true(tree->depth - shallow <= 1);
    memcpy(given, set, count * sizeof *given);
    qsort(leaves, count, sizeof *leaves, compare);
    qsort(given, count, sizeof *given, compare);
    assert_memory_equal(leaves, given, count * sizeof *leaves);
    free(leaves);
    free(given);
}

static void every_sphere_is_a_leaf_inside_its_ancestors(void **state)
{
    (void)state;
    const uint32_t branches[] = {2, 3, 5, 8, 9, 16}, counts[] = {1, 2, 3, 8, 9, 17, 64, 65, 150};
    for (uint32_t b = 0; b < 6; b++)
        for (uint32_t c = 0; c < 9; c++) {
            sac_tree *tree = build(scatter(counts[c], b * 100 + c), branches[b], 1);
            check_tree(tree, counts[c]);
            sac_tree_destroy(&tree);
        }
}

static void depth_is_the_least(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 8, 9, 64, 65, 512, 513}, depths[] = {0, 1, 2, 2, 3, 3, 4};
    for (uint32_t i = 0; i < 7; i++) {
        sac_tree *tree = build(scatter(counts[i], i), 8, 1);
        assert_int_equal(tree->depth, depths[i]);
        check_tree(tree, counts[i]);
        sac_tree_destroy(&tree);
    }
}

/* Mean radius of the nodes of level 1, against what is good for these shapes (an eighth of the ring needs
 * 0.153 for its tube alone). */
static void tori_are_held_tightly(void **state)
{
    (void)state;
    const uint32_t which[] = {24, 100, 500};
    const double limit[] = {0.178, 0.146, 0.165};
    for (int i = 0; i < 3; i++) {
        uint32_t count = torus(which[i]);
        assert_int_equal(count, which[i]);
        sac_tree *tree = build(count, 8, 1);
        check_tree(tree, count);
        sac_tree_node_info node;
        sac_tree_node(tree, 0, &node);
        assert_true(node.radius < 0.4001f);
        double sum = 0;
        uint32_t inner = 0;
        for (uint32_t k = 0; k < SAC_LANES; k++)
            if (sac_tree_node(tree, SAC_LANES + k, &node)) sum += node.radius, inner++;
        assert_int_equal(inner, 8);
        assert_true(sum / inner < limit[i]);
        assert_true(fabsf(tree->box.high[0] - 0.4f) < 1e-3f && fabsf(tree->box.high[1] - 0.1f) < 6e-3f);
        assert_true(tree->mass.volume > 0 && fabsf(tree->mass.centre[0]) < 1e-4f);
        sac_tree_destroy(&tree);
    }
}

/* Plain radii, floats, both nodes opened: what a query does. */
static uint32_t descend(const sac_tree *t, uint32_t a, uint32_t b, const float shift[3])
{
    const sac_sphere_block *x = &t->spheres[a / SAC_LANES], *y = &t->spheres[b / SAC_LANES];
    uint32_t i = a % SAC_LANES, j = b % SAC_LANES, found = 0, wide = t->blocks_per_node * SAC_LANES;
    float dx = y->x[j] + shift[0] - x->x[i], dy = y->y[j] + shift[1] - x->y[i],
          dz = y->z[j] + shift[2] - x->z[i];
    float r = x->r[i] + y->r[j];
    if (!(dx * dx + dy * dy + dz * dz <= r * r)) return 0;
    uint32_t la = t->links[a / SAC_LANES].link[i], lb = t->links[b / SAC_LANES].link[j];
    if (la & lb & SAC_LINK_LEAF) return 1;
    for (uint32_t p = 0; p < (la & SAC_LINK_LEAF ? 1 : wide); p++)
        for (uint32_t q = 0; q < (lb & SAC_LINK_LEAF ? 1 : wide); q++)
            found += descend(t, la & SAC_LINK_LEAF ? a : la * SAC_LANES + p,
                             lb & SAC_LINK_LEAF ? b : lb * SAC_LANES + q, shift);
    return found;
}

static void a_descent_equals_comparing_all_leaves(void **state)
{
    (void)state;
    const uint32_t branches[] = {3, 8, 16};
    sac_rng rng = sac_rng_seed(99);
    for (uint32_t b = 0; b < 3; b++) {
        uint32_t count = b == 0 ? torus(100) : scatter(200, b);
        sac_tree *tree = build(count, branches[b], 1);
        for (int round = 0; round < 40; round++) {
            float shift[3], far = sac_rng_range(&rng, 0, b == 0 ? 0.9f : 2.0f);
            sac_rng_unit_vector(&rng, shift);
            /* On the lattice of the torus itself many leaves touch exactly. */
            for (int k = 0; k < 3; k++) shift[k] *= round == 0 ? 0 : far;
            if (round == 1) shift[0] = 0, shift[1] = 0.11f, shift[2] = 0;
            uint32_t plain = 0;
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t j = 0; j < count; j++) {
                    float dx = set[j][0] + shift[0] - set[i][0], dy = set[j][1] + shift[1] - set[i][1],
                          dz = set[j][2] + shift[2] - set[i][2], r = set[i][3] + set[j][3];
                    plain += dx * dx + dy * dy + dz * dz <= r * r;
                }
            assert_int_equal(descend(tree, 0, 0, shift), plain);
        }
        sac_tree_destroy(&tree);
    }
}

/* Sampled over each inner ball: the gap is never less than what is found, and not far above it. */
static void gaps_bound_the_distance_to_the_union(void **state)
{
    (void)state;
    uint32_t count = torus(100);
    sac_tree *tree = build(count, 8, 1);
    sac_rng rng = sac_rng_seed(4);
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node) || node.leaf) continue;
        double most = 0;
        for (int i = 0; i < 3000; i++) {
            float p[3], far = i % 2 ? 1 : cbrtf(sac_rng_float(&rng));
            sac_rng_unit_vector(&rng, p);
            double least = INFINITY;
            for (uint32_t j = 0; j < count; j++) {
                double d2 = 0;
                for (int k = 0; k < 3; k++) {
                    double d = (double)node.centre[k] + (double)p[k] * far * node.radius - set[j][k];
                    d2 += d * d;
                }
                least = fmin(least, sqrt(d2) - set[j][3]);
            }
            most = fmax(most, least);
        }
        assert_true(node.gap >= most);
        if (id == 0) assert_true(node.gap < most + 0.03 * node.radius);
        assert_true(node.gap <= 2 * node.radius);
    }
    sac_tree_destroy(&tree);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uint32_t count = scatter(1500, 8);
    sac_tree *one = build(count, 8, 1), *three = build(count, 8, 3);
    assert_int_equal(one->storage_size, three->storage_size);
    assert_memory_equal(one->storage, three->storage, one->storage_size);
    check_tree(one, count);
    sac_tree_destroy(&one);
    sac_tree_destroy(&three);
}

static bool stop(float done, void *user)
{
    (void)done;
    return ++*(int *)user < 2;
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    sac_build_def def = sac_default_build_def(), forgotten = {.branch = 8, .depth = 3};
    sac_tree *tree = (sac_tree *)&def;
    sac_error error;
    const float(*spheres)[4] = (const float(*)[4])set;
    scatter(5000, 1);
    assert_int_equal(sac_tree_build_spheres(spheres, 0, &def, &tree, &error), SAC_ERROR_EMPTY);
    assert_null(tree);
    assert_int_equal(sac_tree_build_spheres(spheres, 8, &forgotten, &tree, &error), SAC_ERROR_ARGUMENT);
    def.branch = 17;
    assert_int_equal(sac_tree_build_spheres(spheres, 8, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    def.branch = 2;
    assert_int_equal(sac_tree_build_spheres(spheres, 5000, &def, &tree, &error), SAC_ERROR_LIMIT);
    assert_int_equal(sac_tree_build_spheres(spheres, 4096, &def, &tree, &error), SAC_OK);
    assert_int_equal(tree->depth, 12);
    sac_tree_destroy(&tree);
    def.branch = 8;
    const float bad[] = {NAN, INFINITY, -INFINITY, 2e12f};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            scatter(20, 1);
            set[13][k] = bad[i];
            assert_int_equal(sac_tree_build_spheres(spheres, 20, &def, &tree, &error), SAC_ERROR_ARGUMENT);
            assert_non_null(strstr(error.message, "13"));
        }
    set[13][0] = set[13][1] = set[13][2] = 0, set[13][3] = -1;
    assert_int_equal(sac_tree_build_spheres(spheres, 20, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    int calls = 0;
    def.progress = stop;
    def.user = &calls;
    scatter(100, 1);
    assert_int_equal(sac_tree_build_spheres(spheres, 100, &def, &tree, &error), SAC_ERROR_CANCELLED);
    assert_null(tree);
}

static void extremes_work(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; i++) set[i][0] = set[i][1] = set[i][2] = 1, set[i][3] = 0.5f;
    sac_tree *tree = build(300, 8, 1);
    check_tree(tree, 300);
    sac_tree_destroy(&tree);
    for (uint32_t i = 0; i < 300; i++)
        for (int k = 0; k < 4; k++)
            set[i][k] = (k == 3 ? 1e11f : (i >> k & 1) ? 1e12f : -1e12f) * (float)(i + 1) / 301;
    tree = build(300, 8, 1);
    check_tree(tree, 300);
    sac_tree_destroy(&tree);
    for (uint32_t i = 0; i < 300; i++) set[i][0] = (float)i, set[i][1] = set[i][2] = set[i][3] = 0;
    tree = build(300, 5, 1);
    check_tree(tree, 300);
    sac_tree_destroy(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sphere_is_a_leaf_inside_its_ancestors),
        cmocka_unit_test(depth_is_the_least),
        cmocka_unit_test(tori_are_held_tightly),
        cmocka_unit_test(a_descent_equals_comparing_all_leaves),
        cmocka_unit_test(gaps_bound_the_distance_to_the_union),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(extremes_work),
    };
    return cmocka_run_group_tests_name("build_spheres", tests, NULL, NULL);
}
