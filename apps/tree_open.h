/* A TREE argument: a baked file, or a ".sph" text file of another tool.
 *
 * Index: sac_tree_open  sac_text_ends_in
 */
#ifndef SAC_APPS_TREE_OPEN_H
#define SAC_APPS_TREE_OPEN_H

#include "spheretree/spheretree.h"

sac_result sac_tree_open(const char *path, sac_tree **out_tree, sac_error *error);
bool sac_text_ends_in(const char *text, const char *end);

#endif
