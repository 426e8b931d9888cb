/* Trees in files: the baked binary and the text layout other tools use.
 *
 * Index: sac_tree_save  sac_tree_load  sac_tree_load_memory  sac_tree_export_sph  sac_tree_import_sph
 *        sac_tree_import_sph_memory
 */
#ifndef SAC_SPHERETREE_TREEFILE_H
#define SAC_SPHERETREE_TREEFILE_H

#include "tree.h"

/* Written beside `path` and renamed over it, so a failure leaves the old file as it was. */
sac_result sac_tree_save(const sac_tree *tree, const char *path, sac_error *error);
/* Maps the file; validated before it is handed out. */
sac_result sac_tree_load(const char *path, sac_tree **out_tree, sac_error *error);
/* The same over bytes; copies them. */
sac_result sac_tree_load_memory(const void *bytes, size_t size, sac_tree **out_tree, sac_error *error);

/* ".sph": first line "levels branch", then the full array of branch-ary nodes, "x y z r" a line, children of
 * node N at N * branch + 1 and following, negative radius = no node. */
sac_result sac_tree_export_sph(const sac_tree *tree, const char *path, sac_error *error);
sac_result sac_tree_import_sph(const char *path, sac_tree **out_tree, sac_error *error);
sac_result sac_tree_import_sph_memory(const char *text, size_t size, sac_tree **out_tree, sac_error *error);

#endif
