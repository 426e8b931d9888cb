#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "spheretree/spheretree.h"

/* Instrumented code is ten times as slow: there a third of the triangles has to show the same. */
#ifdef SACCADE_INSTRUMENTED
enum { SHARE = 3 };
#else
enum { SHARE = 1 };
#endif

static sac_mesh *builtin(const char *name, uint32_t triangles)
{
    sac_mesh *mesh;
    assert_int_equal(sac_mesh_builtin(name, triangles, &mesh, NULL), SAC_OK);
    return mesh;
}

static sac_tree *build(const sac_mesh *mesh, const sac_build_def *def)
{
    sac_tree *tree;
    sac_error error;
    char text[512];
    if (sac_tree_build(mesh, def, &tree, &error) != SAC_OK)
        fail_msg("%s", sac_error_text(&error, text, sizeof text));
    assert_int_equal(sac_tree_validate(tree, NULL), SAC_OK);
    return tree;
}

static bool holds(const sac_tree *tree, uint32_t id, const double p[3])
{
    sac_tree_node_info node;
    assert_true(sac_tree_node(tree, id, &node));
    double x = p[0] - node.centre[0], y = p[1] - node.centre[1], z = p[2] - node.centre[2];
    return x * x + y * y + z * z <= (double)node.radius * node.radius;
}

/* A triangle is proved covered when one chain holds all of it, or when both halves are. */
static bool chained_whole(const sac_tree *tree, uint32_t id, uint32_t level, double t[3][3])
{
    if (!sac_tree_has(tree, id)) return false;
    for (int i = 0; i < 3; i++)
        if (!holds(tree, id, t[i])) return false;
    if (level == tree->depth) return true;
    uint32_t link = tree->links[id / SAC_LANES].link[id % SAC_LANES];
    for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++)
        if (chained_whole(tree, link * SAC_LANES + k, level + 1, t)) return true;
    return false;
}

static bool proved(const sac_tree *tree, double t[3][3], int depth)
{
    if (chained_whole(tree, 0, 0, t)) return true;
    if (depth == 0) return false;
    int longest = 0;
    double most = -1;
    for (int i = 0; i < 3; i++) {
        double d2 = 0;
        for (int k = 0; k < 3; k++) d2 += (t[i][k] - t[(i + 1) % 3][k]) * (t[i][k] - t[(i + 1) % 3][k]);
        if (d2 > most) most = d2, longest = i;
    }
    double half[2][3][3], m[3];
    for (int k = 0; k < 3; k++) m[k] = 0.5 * (t[longest][k] + t[(longest + 1) % 3][k]);
    memcpy(half[0], t, sizeof half[0]);
    memcpy(half[1], t, sizeof half[1]);
    memcpy(half[0][(longest + 1) % 3], m, sizeof m);
    memcpy(half[1][longest], m, sizeof m);
    return proved(tree, half[0], depth - 1) && proved(tree, half[1], depth - 1);
}

static void prove_every_triangle(const sac_tree *tree, const sac_mesh *mesh)
{
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        double t[3][3];
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) t[j][k] = mesh->vertices[mesh->triangles[i][j]][k];
        assert_true(proved(tree, t, 24));
    }
}

static void every_triangle_is_in_chains_of_spheres(void **state)
{
    (void)state;
    static const char *const names[] = {"knot", "blob", "gear", "star", "chair", "spring"};
    /* Not with fewer triangles: larger ones are cut where their pieces are not, and no cut proves them. */
    for (size_t i = 0; i < sizeof names / sizeof *names; i += SHARE) {
        sac_mesh *mesh = builtin(names[i], 800);
        sac_build_def def = sac_default_build_def();
        def.depth = 2;
        sac_tree *tree = build(mesh, &def);
        assert_int_equal(tree->depth, 2);
        assert_true(tree->flags & SAC_TREE_CLOSED);
        prove_every_triangle(tree, mesh);
        sac_tree_destroy(&tree);
        sac_mesh_destroy(&mesh);
    }
}

static void any_branch_and_depth(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{2, 1}, {2, 6}, {3, 4}, {5, 2}, {7, 3}, {9, 2}, {16, 1}, {16, 2}};
    sac_mesh *mesh = builtin("torus", 300);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        sac_build_def def = sac_default_build_def();
        def.branch = shapes[i][0], def.depth = shapes[i][1];
        sac_tree *tree = build(mesh, &def);
        assert_int_equal(tree->branch, def.branch);
        assert_int_equal(tree->depth, def.depth);
        uint32_t most = 1;
        for (uint32_t l = 0; l <= tree->depth; l++, most *= def.branch)
            assert_true(tree->level_nodes[l] <= most);
        prove_every_triangle(tree, mesh);
        sac_tree_destroy(&tree);
    }
    sac_mesh_destroy(&mesh);
}

static void the_evaluator_sees_full_coverage_and_finer_levels(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("blob", 1500);
    sac_build_def def = sac_default_build_def();
    def.threads = 2;
    sac_tree *tree = build(mesh, &def);
    sac_measure_def measure = sac_default_measure_def();
    sac_level_quality q[SAC_TREE_MOST_DEPTH + 1];
    measure.threads = 2;
    assert_int_equal(sac_tree_measure(tree, mesh, &measure, q, NULL), SAC_OK);
    for (uint32_t l = 0; l <= tree->depth; l++) {
        assert_true(q[l].coverage == 1.0f && q[l].path_coverage == 1.0f && q[l].largest_hole == 0.0f);
        assert_int_equal(q[l].spheres, tree->level_nodes[l]);
        if (l > 0)
            assert_true(q[l].mean_gap < 0.9f * q[l - 1].mean_gap &&
                        q[l].outside_volume < q[l - 1].outside_volume);
    }
    assert_true(q[3].mean_gap < 0.7f && q[3].worst_gap < 2.0f);

    /* The stored gap is a bound on what is sampled. */
    for (uint32_t l = 0; l <= tree->depth; l++) {
        float most = 0;
        for (uint32_t b = tree->level_block[l]; b < tree->level_block[l + 1]; b++)
            for (uint32_t k = 0; k < SAC_LANES; k++)
                if (sac_tree_has(tree, b * SAC_LANES + k)) most = fmaxf(most, tree->features[b].gap[k]);
        assert_true(most * 100 / sac_box_diagonal(&tree->box) >= q[l].worst_gap * 0.9999f);
    }

    /* Holes are seen: shrink the leaves a little. */
    for (uint32_t b = tree->level_block[3]; b < tree->block_count; b++)
        for (uint32_t k = 0; k < SAC_LANES; k++)
            ((sac_sphere_block *)(uintptr_t)tree->spheres)[b].r[k] *= 0.97f;
    assert_int_equal(sac_tree_measure(tree, mesh, &measure, q, NULL), SAC_OK);
    assert_true(q[3].path_coverage < 0.99f && q[3].coverage < 0.99f && q[3].largest_hole > 0.0f);
    assert_true(q[2].path_coverage == 1.0f);
    sac_tree_destroy(&tree);
    sac_mesh_destroy(&mesh);
}

static void threads_and_repetition_change_nothing(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("knot", 1000 / SHARE);
    sac_build_def def = sac_default_build_def();
    if (SHARE > 1) def.depth = 2;
    sac_tree *one = build(mesh, &def);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        def.threads = threads;
        sac_tree *many = build(mesh, &def);
        assert_int_equal(many->storage_size, one->storage_size);
        assert_memory_equal(many->storage, one->storage, one->storage_size);
        sac_tree_destroy(&many);
    }
    sac_tree_destroy(&one);
    sac_mesh_destroy(&mesh);
}

static void solid_trees_cover_the_inside(void **state)
{
    (void)state;
    static const char *const names[] = {"l", "torus"};
    for (size_t i = 0; i < 2; i += SHARE) {
        sac_mesh *mesh = builtin(names[i], 400 / SHARE);
        sac_build_def def = sac_default_build_def();
        def.depth = 2, def.solid = true, def.threads = 2;
        sac_tree *tree = build(mesh, &def);
        assert_true(tree->flags & SAC_TREE_SOLID);
        sac_measure_def measure = sac_default_measure_def();
        measure.volume_samples = 400000 / (SHARE * SHARE), measure.threads = 2;
        sac_level_quality q[SAC_TREE_MOST_DEPTH + 1];
        assert_int_equal(sac_tree_measure(tree, mesh, &measure, q, NULL), SAC_OK);
        for (uint32_t l = 0; l <= tree->depth; l++)
            assert_true(q[l].interior_coverage == 1.0f && q[l].path_coverage == 1.0f);
        sac_tree_destroy(&tree);
        sac_mesh_destroy(&mesh);
    }
}

static void features_lie_on_the_surface_and_cones_hold_normals(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("sphere", 2000 / SHARE);
    sac_build_def def = sac_default_build_def();
    def.depth = 2;
    sac_tree *tree = build(mesh, &def);
    double size = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const float *p = mesh->vertices[v];
        size = fmax(size, sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
    }
    for (uint32_t id = 1; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info n;
        if (!sac_tree_node(tree, id, &n)) continue;
        double away = sqrt(n.point[0] * n.point[0] + n.point[1] * n.point[1] + n.point[2] * n.point[2]);
        assert_true(fabs(away - size) < 0.02 * size);
        double along =
            (n.point[0] * n.normal[0] + n.point[1] * n.normal[1] + n.point[2] * n.normal[2]) / away;
        assert_true(along > 0.9); /* outward, within the cone */
        assert_true(n.cone > 0 && n.cone < 1.8f);
        assert_true(acos(fmin(1, along)) <= n.cone + 0.1);
    }
    sac_mass mass;
    assert_int_equal(sac_mesh_mass(mesh, &mass, NULL), SAC_OK);
    assert_true(tree->mass.volume == mass.volume);
    sac_tree_destroy(&tree);
    sac_mesh_destroy(&mesh);
}

static void open_and_broken_meshes_still_get_covered(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("torus", 600), *open;
    /* Every fifth triangle missing, some doubled, some without area, all vertices duplicated. */
    static float v[6000][3];
    static uint32_t t[2000][3];
    uint32_t nv = 0, nt = 0;
    for (uint32_t i = 0; i < mesh->triangle_count && nt < 1500; i++) {
        if (i % 5 == 0) continue;
        for (int j = 0; j < 3; j++) {
            memcpy(v[nv], mesh->vertices[mesh->triangles[i][j]], sizeof v[nv]);
            t[nt][j] = nv++;
        }
        nt++;
        if (i % 7 == 0) memcpy(t[nt], t[nt - 1], sizeof t[nt]), nt++;
        if (i % 11 == 0) t[nt][0] = t[nt][1] = t[nt][2] = nv - 1, nt++;
    }
    assert_int_equal(
        sac_mesh_create((const float(*)[3])v, nv, (const uint32_t(*)[3])t, nt, "open", &open, NULL), SAC_OK);
    sac_build_def def = sac_default_build_def();
    def.depth = 2;
    sac_tree *tree = build(open, &def);
    assert_false(tree->flags & SAC_TREE_CLOSED);
    assert_true(tree->mass.volume > 0);
    prove_every_triangle(tree, open);
    sac_tree_destroy(&tree);

    def.solid = true;
    sac_error error;
    assert_int_equal(sac_tree_build(open, &def, &tree, &error), SAC_ERROR_OPEN_MESH);
    assert_null(tree);
    sac_mesh_destroy(&open);
    sac_mesh_destroy(&mesh);
}

static void one_triangle_and_far_away_and_tiny(void **state)
{
    (void)state;
    sac_build_def def = sac_default_build_def();
    def.depth = 2;
    for (int i = 0; i < 3; i++) {
        float at = i == 1 ? 1e6f : 0, size = i == 2 ? 1e-9f : 1;
        float v[3][3] = {{at, 0, 0}, {at + size, 0, 0}, {at, size, 0}};
        uint32_t t[1][3] = {{0, 1, 2}};
        sac_mesh *mesh;
        assert_int_equal(
            sac_mesh_create((const float(*)[3])v, 3, (const uint32_t(*)[3])t, 1, "one", &mesh, NULL), SAC_OK);
        sac_tree *tree = build(mesh, &def);
        prove_every_triangle(tree, mesh);
        sac_tree_destroy(&tree);
        sac_mesh_destroy(&mesh);
    }
}

static bool stop_half_way(float done, void *user)
{
    *(float *)user = done;
    return done < 0.5f;
}

static void wrong_definitions_are_named(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("box", 0);
    sac_tree *tree = NULL;
    sac_error error;
    sac_build_def def = {0};
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_build_def();
    def.branch = 17;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_build_def();
    def.depth = 0;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_build_def();
    def.branch = 16, def.depth = 12;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_LIMIT);
    def = sac_default_build_def();
    def.method = SAC_METHOD_FOREIGN;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    def = sac_default_build_def();
    def.reducers = 0;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_ARGUMENT);
    float reached = 0;
    def = sac_default_build_def();
    def.progress = stop_half_way, def.user = &reached;
    assert_int_equal(sac_tree_build(mesh, &def, &tree, &error), SAC_ERROR_CANCELLED);
    assert_true(reached >= 0.5f);
    assert_null(tree);
    sac_mesh_destroy(&mesh);
}

static void each_reducer_alone_covers(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("l", 300);
    for (uint32_t reducer = 1; reducer <= SAC_REDUCER_SPAWN; reducer *= 2)
        for (int optimise = 0; optimise < 2; optimise++) {
            sac_build_def def = sac_default_build_def();
            def.depth = 2, def.reducers = reducer, def.optimise = optimise;
            sac_tree *tree = build(mesh, &def);
            prove_every_triangle(tree, mesh);
            sac_tree_destroy(&tree);
        }
    sac_mesh_destroy(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_triangle_is_in_chains_of_spheres),
        cmocka_unit_test(any_branch_and_depth),
        cmocka_unit_test(the_evaluator_sees_full_coverage_and_finer_levels),
        cmocka_unit_test(threads_and_repetition_change_nothing),
        cmocka_unit_test(solid_trees_cover_the_inside),
        cmocka_unit_test(features_lie_on_the_surface_and_cones_hold_normals),
        cmocka_unit_test(open_and_broken_meshes_still_get_covered),
        cmocka_unit_test(one_triangle_and_far_away_and_tiny),
        cmocka_unit_test(wrong_definitions_are_named),
        cmocka_unit_test(each_reducer_alone_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
