/* Storage of a tree: the arrays in one piece, in the order they have in the baked file. Private. */
#ifndef SAC_SPHERETREE_TREE_INTERNAL_H
#define SAC_SPHERETREE_TREE_INTERNAL_H

#include "spheretree/tree.h"

/* Bytes of the four arrays for this many blocks; each starts on a cache line. */
size_t sac_tree_storage_size(uint32_t block_count);
/* Point the tree's arrays into `storage`. */
void sac_tree_storage_bind(sac_tree *tree, void *storage);
/* A tree with zeroed storage for tree->block_count blocks, other fields copied from `like`; NULL: no memory.
 */
sac_tree *sac_tree_allocate(const sac_tree *like);

#define SAC_NO_NODE UINT32_MAX
/* sac_tree_validate, and which node is at fault (SAC_NO_NODE: no single one). */
sac_result sac_tree_find_fault(const sac_tree *tree, uint32_t *out_node, sac_error *error);

/* A child may stick out of its parent by this factor, rounding, and still count as nested. */
#define SAC_NESTED_SLACK 1.000001f

/* Find level_fill, for a tree that is valid. */
void sac_tree_find_fill(sac_tree *tree);

/* Smallest float radius about `centre` that surely holds `child` whole. */
float sac_sphere_reach(const float centre[3], const float child_centre[3], float child_radius);

#endif
