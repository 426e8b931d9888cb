/* Uses a tree the way queries do; for a valid tree nothing may go wrong. */
#ifndef SAC_TESTS_FUZZ_EXERCISE_H
#define SAC_TESTS_FUZZ_EXERCISE_H

#include "fuzz.h"
#include "spheretree/sph_internal.h"
#include "spheretree/spheretree.h"

static inline void exercise_tree(const sac_tree *tree)
{
    HOLDS(sac_tree_validate(tree, NULL) == SAC_OK);
    uint32_t nodes = 0, leaves = 0, children = 0;
    for (uint32_t id = 0; id < tree->block_count * SAC_LANES; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node)) continue;
        nodes++;
        leaves += node.leaf;
        children += node.child_count;
        HOLDS(node.level <= tree->depth && node.child_count <= tree->branch);
        HOLDS(node.leaf == (node.child_count == 0));
    }
    sac_tree_node_info beyond;
    HOLDS(!sac_tree_node(tree, tree->block_count * SAC_LANES, &beyond));
    HOLDS(!sac_tree_node(tree, UINT32_MAX, &beyond));
    HOLDS(nodes == tree->node_count && leaves == tree->leaf_count && children == nodes - 1);
    HOLDS(memchr(tree->name, '\0', sizeof tree->name));
    if (sac_sph_nodes(tree->depth + 1, tree->branch) < 5000)
        HOLDS(sac_tree_export_sph(tree, "/dev/null", NULL) == SAC_OK);
}

/* Against itself in a few poses, complete and in small steps, which must agree. */
static inline void exercise_descent(const sac_tree *tree)
{
    static sac_front_pool *pool; /* lives as long as the process */
    static uint32_t found_a[4096], found_b[4096];
    static sac_contact contacts[256];
    if (!pool) {
        sac_front_pool_def def = sac_default_front_pool_def();
        HOLDS(sac_front_pool_create(&def, &pool, NULL) == SAC_OK);
    }
    const sac_transform still = sac_transform_identity();
    const sac_transform poses[] = {
        still, {{0.3f, -0.2f, 0.1f}, 1.5f, {0.5f, 0.5f, -0.5f, 0.5f}}, {{1e9f, 0, 0}, 1e-6f, {0, 1, 0, 0}}};
    for (int i = 0; i < 3; i++) {
        sac_descend_result all;
        sac_error error;
        sac_result result =
            sac_descend_all(tree, &still, tree, &poses[i], found_a, found_b, 4096, &all, &error);
        sac_front *front = NULL;
        HOLDS(sac_front_acquire(pool, tree, &still, tree, &poses[i], &front, NULL) == result);
        if (result != SAC_OK) {
            HOLDS(!front && error.code == result && error.message[0]);
            continue;
        }
        if (i == 0) HOLDS(all.pairs >= tree->leaf_count); /* each leaf meets itself */
        for (size_t k = 0; k < all.pairs && k < 4096; k++) {
            sac_tree_node_info node;
            HOLDS(sac_tree_node(tree, found_a[k], &node) && node.leaf);
            HOLDS(sac_tree_node(tree, found_b[k], &node) && node.leaf);
        }
        for (uint64_t credits = 1; !sac_front_done(front); credits += 7) {
            uint64_t spent = sac_front_step(front, credits);
            HOLDS(spent <= credits);
            sac_front_contacts(front, contacts, 256);
        }
        sac_front_summary end = sac_front_report(front);
        HOLDS(end.pending == 0 && (end.coarse > 0 || end.finished == all.pairs));
        sac_front_release(front);

        size_t count;
        sac_ray_hit hit;
        sac_sphere_query(tree, &poses[i], poses[i].translation, 0.5f, found_a, 4096, &count, NULL);
        sac_ray_query(tree, &poses[i], (float[3]){-9, 0.1f, 0}, (float[3]){1, 0.01f, 0}, 100, &hit, NULL);
        sac_distance distance;
        if (sac_distance_begin(&distance, tree, &still, tree, &poses[i], NULL) != SAC_OK) continue;
        for (int step = 0; !distance.done && step < 64; step++) sac_distance_step(&distance, 512);
        /* A hostile tree keeps its points where it likes, so the bounds may cross; they stay numbers. */
        HOLDS(distance.lower == distance.lower && distance.upper == distance.upper);
    }
}

/* What was loaded saves to bytes that load to the same bytes. */
static inline void exercise_saving(const sac_tree *tree)
{
    void *bytes, *again;
    size_t size, again_size;
    sac_tree *back;
    HOLDS(sac_tree_save_memory(tree, &bytes, &size, NULL) == SAC_OK);
    HOLDS(sac_tree_load_memory(bytes, size, &back, NULL) == SAC_OK);
    HOLDS(sac_tree_save_memory(back, &again, &again_size, NULL) == SAC_OK);
    HOLDS(size == again_size && memcmp(bytes, again, size) == 0);
    sac_free(bytes, 1, size);
    sac_free(again, 1, again_size);
    sac_tree_destroy(&back);
}

/* What import promises of a mesh, before any repair. */
static inline void exercise_mesh(const sac_mesh *mesh)
{
    HOLDS(mesh->vertex_count > 0 && mesh->vertex_count <= SAC_MESH_MOST_VERTICES);
    HOLDS(mesh->triangle_count > 0 && mesh->triangle_count <= SAC_MESH_MOST_TRIANGLES);
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++) HOLDS(fabsf(mesh->vertices[v][i]) <= SAC_MESH_MOST_COORDINATE);
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int i = 0; i < 3; i++) HOLDS(mesh->triangles[t][i] < mesh->vertex_count);
}

/* A repaired mesh builds, or there is an error; the tree is sound. For a dozen triangles and a few spheres:
 * building is careful work, and thirty times slower here than in earnest. */
static inline void exercise_build(const sac_mesh *mesh, const sac_build_def *def)
{
    sac_tree *tree;
    sac_error error;
    sac_result result = sac_tree_build(mesh, def, &tree, &error);
    HOLDS(result == SAC_OK || (!tree && error.code == result && error.message[0]));
    if (result != SAC_OK) return;
    exercise_tree(tree);
    exercise_saving(tree);
    sac_tree_destroy(&tree);
}

#endif
