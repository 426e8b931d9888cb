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
