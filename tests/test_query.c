/* Spheres, rays and distances against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tree_garden.h"

static sac_tree *random_tree(sac_rng *rng)
{
    garden_def def = {.points_per_leaf = 4, .seed = sac_rng_next(rng)};
    def.shape = (garden_shape)sac_rng_below(rng, GARDEN_SHAPE_COUNT);
    def.branch = 2 + sac_rng_below(rng, 15);
    def.depth = sac_rng_below(rng, 3);
    def.nested = sac_rng_below(rng, 2);
    def.uneven = sac_rng_below(rng, 2) ? 0.15f : 0;
    sac_tree *tree = garden_grow(&def);
    assert_non_null(tree);
    return tree;
}

/* A node and its ancestors, up to the root; returns how many. */
static int chain_of(const sac_tree *tree, uint32_t id, uint32_t out[SAC_TREE_MOST_DEPTH + 1])
{
    int n = 0;
    out[n++] = id;
    while (id >= SAC_LANES) out[n++] = id = tree->parents[id / SAC_LANES];
    return n;
}

static void world_sphere(const sac_tree *tree, const sac_transform *pose, uint32_t id, float centre[3],
                         float *radius)
{
    sac_tree_node_info node;
    assert_true(sac_tree_node(tree, id, &node));
    sac_transform_point(pose, node.centre, centre);
    *radius = node.radius * pose->scale;
}

static void spheres_find_what_brute_force_finds(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(21);
    size_t found_in_all = 0;
    for (int t = 0; t < 120; t++) {
        sac_tree *tree = random_tree(&rng);
        for (int p = 0; p < 10; p++) {
            sac_transform pose = garden_pose(&rng, 50);
            float centre[3], radius = sac_rng_range(&rng, 0, 0.7f);
            sac_rng_unit_vector(&rng, centre);
            for (int i = 0; i < 3; i++)
                centre[i] = pose.translation[i] + centre[i] * sac_rng_range(&rng, 0, 2.0f);
            uint32_t *got = malloc(tree->leaf_count * sizeof *got);
            size_t count, again;
            assert_int_equal(
                sac_sphere_query(tree, &pose, centre, radius, got, tree->leaf_count, &count, NULL), SAC_OK);
            assert_int_equal(sac_sphere_query(tree, &pose, centre, radius, NULL, 0, &again, NULL), SAC_OK);
            assert_int_equal(again, count);
            assert_true(count <= tree->leaf_count);
            /* Rounding may decide a touch either way: what is surely in must be found, surely out not. */
            for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
                sac_tree_node_info node;
                if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
                uint32_t chain[SAC_TREE_MOST_DEPTH + 1];
                int n = chain_of(tree, id, chain);
                float least = INFINITY;
                for (int i = 0; i < n; i++) {
                    float c[3], r;
                    world_sphere(tree, &pose, chain[i], c, &r);
                    least = fminf(least, r + radius - glm_vec3_distance(c, centre));
                }
                bool is_in = false;
                for (size_t i = 0; i < count; i++) is_in |= got[i] == id;
                if (least > 1e-4f) assert_true(is_in);
                if (least < -1e-4f) assert_false(is_in);
            }
            found_in_all += count;
            free(got);
        }
        sac_tree_destroy(&tree);
    }
    assert_true(found_in_all > 1500);
}

/* Stretch of the ray inside a sphere; false when it misses. */
static bool stretch_of(const float c[3], double r, const float o[3], const float d[3], double *enter,
                       double *leave)
{
    double a = 0, b = 0, k = -r * r;
    for (int i = 0; i < 3; i++) {
        double to = (double)c[i] - o[i];
        a += (double)d[i] * d[i], b += to * d[i], k += to * to;
    }
    double root = b * b - a * k;
    if (root < 0) return false;
    *enter = (b - sqrt(root)) / a, *leave = (b + sqrt(root)) / a;
    return true;
}

static void rays_hit_the_first_leaf(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(22);
    int hits = 0, misses = 0, grazing = 0;
    for (int t = 0; t < 80; t++) {
        sac_tree *tree = random_tree(&rng);
        for (int p = 0; p < 10; p++) {
            sac_transform pose = garden_pose(&rng, 5);
            float origin[3], target[3], direction[3], most = sac_rng_range(&rng, 0.2f, 3.0f);
            sac_rng_unit_vector(&rng, origin);
            sac_rng_unit_vector(&rng, target);
            for (int i = 0; i < 3; i++) {
                origin[i] = pose.translation[i] + origin[i] * sac_rng_range(&rng, 0, 4);
                target[i] = pose.translation[i] + target[i] * sac_rng_range(&rng, 0, 1.5f);
                direction[i] = target[i] - origin[i];
            }
            sac_ray_hit hit;
            assert_int_equal(sac_ray_query(tree, &pose, origin, direction, most, &hit, NULL), SAC_OK);
            double best = INFINITY;
            for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
                sac_tree_node_info node;
                if (!sac_tree_node(tree, id, &node) || !node.leaf) continue;
                uint32_t chain[SAC_TREE_MOST_DEPTH + 1];
                int n = chain_of(tree, id, chain);
                double enter = 0, leave = most;
                for (int i = 0; i < n && enter <= leave; i++) {
                    float c[3], r;
                    double from, to;
                    world_sphere(tree, &pose, chain[i], c, &r);
                    if (!stretch_of(c, r, origin, direction, &from, &to))
                        enter = 1, leave = 0;
                    else
                        enter = fmax(enter, from), leave = fmin(leave, to);
                }
                if (enter <= leave && enter < best) best = enter;
            }
            if (hit.hit && isfinite(best)) {
                assert_true(fabs(hit.t - best) < 2e-3);
                assert_true(hit.t >= 0 && hit.t <= most);
                for (int i = 0; i < 3; i++)
                    assert_float_equal(hit.point[i], origin[i] + hit.t * direction[i], 1e-4f);
                assert_float_equal(glm_vec3_norm(hit.normal), 1.0f, 1e-4f);
                sac_tree_node_info node;
                assert_true(sac_tree_node(tree, hit.node, &node) && node.leaf);
                hits++;
            } else {
                misses++;
                /* Rounding may decide a grazing ray either way, rarely. */
                grazing += hit.hit != (bool)isfinite(best);
            }
        }
        sac_tree_destroy(&tree);
    }
    assert_true(hits > 150 && misses > 150 && grazing <= 2);
}

static void distances_bracket_and_tighten(void **state)
{
    (void)state;
    sac_rng rng = sac_rng_seed(23);
    static sac_distance s;
    int apart = 0, finished = 0;
    for (int t = 0; t < 120; t++) {
        sac_tree *a = random_tree(&rng), *b = random_tree(&rng);
        sac_transform pose_a = garden_pose(&rng, 10), pose_b = garden_pose(&rng, 1);
        float way = sac_rng_range(&rng, 0, 6);
        for (int i = 0; i < 3; i++)
            pose_b.translation[i] = pose_a.translation[i] + pose_b.translation[i] * way;
        /* The stored points are points of the surface, and each lies in all spheres above it. */
        double least = INFINITY, spheres = INFINITY;
        for (uint32_t i = 0; i < a->block_count * SAC_LANES; i++)
            for (uint32_t k = 0; k < b->block_count * SAC_LANES; k++) {
                sac_tree_node_info x, y;
                if (!sac_tree_node(a, i, &x) || !sac_tree_node(b, k, &y)) continue;
                float p[3], q[3];
                sac_transform_point(&pose_a, x.point, p);
                sac_transform_point(&pose_b, y.point, q);
                least = fmin(least, glm_vec3_distance(p, q));
                if (!x.leaf || !y.leaf) continue;
                sac_transform_point(&pose_a, x.centre, p);
                sac_transform_point(&pose_b, y.centre, q);
                spheres = fmin(spheres,
                               glm_vec3_distance(p, q) - x.radius * pose_a.scale - y.radius * pose_b.scale);
            }
        assert_int_equal(sac_distance_begin(&s, a, &pose_a, b, &pose_b, NULL), SAC_OK);
        float lower = 0, upper = INFINITY;
        uint64_t before = s.tests;
        for (int step = 0; step < 2000; step++) {
            assert_true(s.lower >= lower && s.upper <= upper);
            assert_true(s.lower <= s.upper);
            assert_true(s.lower <= least + 1e-4);
            assert_true(s.upper >= least - 1e-4);
            assert_float_equal(glm_vec3_distance(s.point_a, s.point_b), s.upper, 1e-4f);
            lower = s.lower, upper = s.upper;
            if (s.done) break;
            uint64_t credits = sac_rng_below(&rng, 1000);
            assert_true(sac_distance_step(&s, credits) <= credits);
        }
        assert_true(s.tests >= before);
        finished += s.done;
        /* At the end the lower bound is as good as the leaves can make it, unless the table was full. */
        if (s.done && spheres > 0.05) {
            assert_true(s.lower > 0);
            apart++;
        }
        assert_int_equal(sac_distance_step(&s, s.done ? 1000 : 0), 0);
        sac_tree_destroy(&a), sac_tree_destroy(&b);
    }
    assert_true(apart > 40);
    assert_true(finished > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_find_what_brute_force_finds),
        cmocka_unit_test(rays_hit_the_first_leaf),
        cmocka_unit_test(distances_bracket_and_tighten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
