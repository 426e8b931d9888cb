/* Trees in files: the baked binary (".sactree") and the text layout other tools use (".sph").
 *
 *   sac_tree *tree;
 *   sac_error error;
 *   if (sac_tree_load("knot.sactree", &tree, &error) != SAC_OK) ...   // error names file, byte and remedy
 *   sac_tree_export_sph(tree, "knot.sph", &error);
 *   sac_tree_destroy(&tree);
 *
 * No bytes can crash or mislead: a baked file carries checksums of all it holds, every number is checked
 * against the others, and no byte is ignored, so the same tree is the same file. Both kinds are written
 * beside their place and renamed over it: a failure leaves the old file as it was.
 *
 * All functions may be called from several threads at once, on different trees or on one tree for reading.
 * Trees given out belong to the caller (sac_tree_destroy); on failure *out_tree is NULL.
 *
 * Index: sac_tree_save  sac_tree_save_memory  sac_tree_load  sac_tree_load_memory  sac_tree_map
 *        sac_tree_export_sph  sac_tree_import_sph  sac_tree_import_sph_memory
 */
#ifndef SAC_SPHERETREE_TREEFILE_H
#define SAC_SPHERETREE_TREEFILE_H

#include "tree.h"

/* Bake `tree` into `path`. A tree that would not load again is refused (ERROR_CORRUPT) before anything is
 * written. Needs memory for one copy of the tree. */
sac_result sac_tree_save(const sac_tree *tree, const char *path, sac_error *error);
/* The bytes of that file; release them with sac_free(bytes, 1, size). */
sac_result sac_tree_save_memory(const sac_tree *tree, void **out_bytes, size_t *out_size, sac_error *error);

/* Read a baked file into memory of our own and validate it: nothing that happens to the file afterwards
 * matters. ERROR_FORMAT: another kind of file; ERROR_VERSION: from another version; ERROR_CORRUPT: damaged,
 * at the byte named. */
sac_result sac_tree_load(const char *path, sac_tree **out_tree, sac_error *error);
/* The same over bytes; copies them. */
sac_result sac_tree_load_memory(const void *bytes, size_t size, sac_tree **out_tree, sac_error *error);
/* The same without a copy: the tree is the mapped file, shared with other processes that map it. For files
 * nobody writes into or shortens while the tree lives: that would end the process. Saving over the file or
 * deleting it is fine, the tree keeps the old one. */
sac_result sac_tree_map(const char *path, sac_tree **out_tree, sac_error *error);

/* ".sph": first line "levels branch", then the full array of branch-ary nodes, "x y z r" a line, children of
 * node N at N * branch + 1 and following, negative radius = no node. Numbers are written so that they read
 * back as the same floats. ERROR_LIMIT when the full array would be longer than 64 million lines. */
sac_result sac_tree_export_sph(const sac_tree *tree, const char *path, sac_error *error);
/* Read one. Further columns and what follows the last node are skipped, as other tools leave notes there.
 * Children may reach out of their parents. The file says nothing about the surface, so gap is twice the
 * radius (no point of a sphere that touches the object is farther), cones are open, the representative point
 * is the centre of the nearest leaf below, the box and the mass are those of the leaf spheres, and the name
 * is the file's. A node below
 * an unused one is an error. 2 to 16 children, 1 to 13 levels, else ERROR_LIMIT; errors name the line. */
sac_result sac_tree_import_sph(const char *path, sac_tree **out_tree, sac_error *error);
/* The same over text, which need not be terminated. */
sac_result sac_tree_import_sph_memory(const char *text, size_t size, sac_tree **out_tree, sac_error *error);

#endif
