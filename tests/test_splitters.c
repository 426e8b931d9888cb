/* The mesh builders octree, grid, wrapped and Hubbard, through the door: whatever the shape, the branching
 * factor and the depth, every bit of surface is inside a chain of spheres from the root to a leaf. */
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

static const sac_method methods[] = {SAC_METHOD_OCTREE, SAC_METHOD_GRID, SAC_METHOD_WRAPPED,
                                     SAC_METHOD_HUBBARD};
enum { METHODS = 4 };

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
    assert_int_equal(sac_mesh_repair(mesh, NULL, NULL), SAC_OK);
    return mesh;
}

static sac_tree *build(const sac_mesh *mesh, sac_build_def def)
{
    sac_tree *tree;
    sac_error error = {0};
    sac_result result = sac_tree_build(mesh, &def, &tree, &error);
    if (result != SAC_OK) fail_msg("%s: %s", sac_method_name(def.method), error.message);
    assert_int_equal(sac_tree_validate(tree, NULL), SAC_OK);
    assert_int_equal(tree->method, def.method);
    assert_int_equal(tree->branch, def.branch);
    return tree;
}

static bool held_by_chain(const sac_tree *tree, uint32_t id, const float p[3])
{
    sac_tree_node_info node;
    if (!sac_tree_node(tree, id, &node)) return false;
    double x = (double)p[0] - node.centre[0], y = (double)p[1] - node.centre[1],
           z = (double)p[2] - node.centre[2];
    if (sqrt(x * x + y * y + z * z) > node.radius) return false;
    if (node.leaf) return node.level == tree->depth;
    uint32_t first = tree->links[id / SAC_LANES].link[id % SAC_LANES] * SAC_LANES;
    for (uint32_t k = 0; k < node.child_count; k++)
        if (held_by_chain(tree, first + k, p)) return true;
    return false;
}

/* Corners, edges and insides of the triangles. */
static void check_surface(const sac_tree *tree, const sac_mesh *mesh, uint32_t samples)
{
    sac_rng rng = sac_rng_seed(17);
    for (uint32_t i = 0; i < samples; i++) {
        const uint32_t *t = mesh->triangles[sac_rng_below(&rng, mesh->triangle_count)];
        float a = sac_rng_float(&rng), b = sac_rng_float(&rng), p[3];
        if (a + b > 1) a = 1 - a, b = 1 - b;
        if (i % 4 == 0) b = 0;
        if (i % 8 == 0) a = 0;
        for (int k = 0; k < 3; k++) {
            float o = mesh->vertices[t[0]][k];
            p[k] = o + a * (mesh->vertices[t[1]][k] - o) + b * (mesh->vertices[t[2]][k] - o);
        }
        assert_true(held_by_chain(tree, 0, p));
    }
}

static void all_surface_is_held(void **state)
{
    (void)state;
    const uint32_t branches[] = {2, 3, 5, 8, 9, 16}, depths[] = {4, 3, 3, 3, 2, 2};
    const char *names[] = {"knot", "l", "gear", "table"};
    for (uint32_t n = 0; n < 4; n++) {
        sac_mesh *mesh = builtin(names[n], 400);
        for (uint32_t b = 0; b < 6; b++)
            for (uint32_t m = 0; m < METHODS; m++) {
                if ((n + b + m) % 3) continue; /* a third of the combinations shows it all */
                sac_build_def def = sac_default_build_def();
                def.method = methods[m];
                def.branch = branches[b];
                def.depth = (n + b) % 3 == 0 ? depths[b] : 1 + (n + b) % 3;
                sac_tree *tree = build(mesh, def);
                assert_int_equal(tree->depth, def.depth);
                check_surface(tree, mesh, 1500);
                sac_tree_destroy(&tree);
            }
        sac_mesh_destroy(&mesh);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("star", 600 / SHARE);
    for (uint32_t m = 0; m < METHODS; m++) {
        sac_build_def def = sac_default_build_def();
        def.method = methods[m];
        sac_tree *one = build(mesh, def);
        def.threads = 3;
        sac_tree *three = build(mesh, def);
        assert_int_equal(one->storage_size, three->storage_size);
        assert_memory_equal(one->storage, three->storage, one->storage_size);
        sac_tree_destroy(&one);
        sac_tree_destroy(&three);
    }
    sac_mesh_destroy(&mesh);
}

static void the_interior_is_held_when_solid(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("box", 300 / SHARE);
    sac_box box = sac_box_empty();
    for (uint32_t i = 0; i < mesh->vertex_count; i++) sac_box_add(&box, mesh->vertices[i]);
    for (uint32_t m = 1; m < METHODS; m += 2) {
        sac_build_def def = sac_default_build_def();
        def.method = methods[m];
        def.depth = 2;
        def.solid = true;
        sac_tree *tree = build(mesh, def);
        assert_true(tree->flags & SAC_TREE_SOLID);
        check_surface(tree, mesh, 1000);
        sac_rng rng = sac_rng_seed(5);
        for (int i = 0; i < 3000; i++) {
            float p[3];
            for (int k = 0; k < 3; k++) p[k] = sac_rng_range(&rng, box.low[k], box.high[k]);
            assert_true(held_by_chain(tree, 0, p));
        }
        sac_tree_destroy(&tree);
    }
    sac_mesh_destroy(&mesh);
}

/* Half a knot, one triangle, a flat strip, a needle at huge coordinates. */
static void odd_meshes_work(void **state)
{
    (void)state;
    sac_mesh *knot = builtin("knot", 400);
    static float strip[22][3], needle[22][3];
    static uint32_t faces[20][3];
    for (uint32_t i = 0; i < 22; i++) {
        strip[i][0] = (float)(i / 2), strip[i][1] = (float)(i % 2), strip[i][2] = 0;
        for (int k = 0; k < 3; k++) needle[i][k] = 9e11f + 65536.0f * (float)i * (k == 0 ? 100 : i % 2);
    }
    for (uint32_t i = 0; i < 20; i++)
        faces[i][0] = i, faces[i][1] = i + 1 + i % 2, faces[i][2] = i + 2 - i % 2;
    sac_mesh *meshes[4];
    assert_int_equal(sac_mesh_create((const float(*)[3])knot->vertices, knot->vertex_count,
                                     (const uint32_t(*)[3])knot->triangles, knot->triangle_count / 2, "half",
                                     &meshes[0], NULL),
                     SAC_OK);
    assert_int_equal(sac_mesh_create((const float(*)[3])strip, 22, (const uint32_t(*)[3])faces, 1, "one",
                                     &meshes[1], NULL),
                     SAC_OK);
    assert_int_equal(sac_mesh_create((const float(*)[3])strip, 22, (const uint32_t(*)[3])faces, 20, "strip",
                                     &meshes[2], NULL),
                     SAC_OK);
    assert_int_equal(sac_mesh_create((const float(*)[3])needle, 22, (const uint32_t(*)[3])faces, 20, "needle",
                                     &meshes[3], NULL),
                     SAC_OK);
    for (int i = 0; i < 4; i++) {
        for (uint32_t m = 0; m < METHODS; m++) {
            sac_build_def def = sac_default_build_def();
            def.method = methods[m];
            def.depth = 2;
            sac_tree *tree = build(meshes[i], def);
            assert_false(tree->flags & SAC_TREE_CLOSED);
            check_surface(tree, meshes[i], 800);
            sac_tree_destroy(&tree);
        }
        sac_mesh_destroy(&meshes[i]);
    }
    sac_mesh_destroy(&knot);
}

static double mean_leaf_gap(const sac_mesh *mesh, sac_method method)
{
    sac_build_def def = sac_default_build_def();
    def.method = method;
    sac_tree *tree = build(mesh, def);
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t id = tree->level_block[3] * SAC_LANES; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (sac_tree_node(tree, id, &node)) sum += node.gap, count++;
    }
    if (method == SAC_METHOD_WRAPPED) assert_int_equal(count, 512);
    assert_in_range(count, 1, 512);
    double diagonal = sac_box_diagonal(&tree->box);
    sac_tree_destroy(&tree);
    return 100 * sum / count / diagonal;
}

/* The order everybody finds: medial balls beat cells that follow the shape, which beat fixed cells. */
static void better_methods_are_better(void **state)
{
    (void)state;
    sac_mesh *mesh = builtin("knot", 1500);
    double octree = mean_leaf_gap(mesh, SAC_METHOD_OCTREE), grid = mean_leaf_gap(mesh, SAC_METHOD_GRID),
           hubbard = mean_leaf_gap(mesh, SAC_METHOD_HUBBARD);
    assert_true(grid < octree);
    assert_true(hubbard < 0.4 * grid);
    assert_true(hubbard < 0.9);
    sac_mesh_destroy(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_surface_is_held),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_interior_is_held_when_solid),
        cmocka_unit_test(odd_meshes_work),
        cmocka_unit_test(better_methods_are_better),
    };
    return cmocka_run_group_tests_name("splitters", tests, NULL, NULL);
}
