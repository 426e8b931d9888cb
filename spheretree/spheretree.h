/* The door of spheretree/: what a rigid shape looks like to a collision.
 *
 *   #include <saccade/spheretree/spheretree.h>
 *
 *   sac_mesh *mesh;
 *   sac_tree *tree;
 *   sac_build_def def = sac_default_build_def();
 *   sac_mesh_builtin("knot", 0, &mesh, NULL);
 *   sac_tree_build(mesh, &def, &tree, NULL);
 *   sac_tree_save(tree, "knot.sactree", NULL);
 *   sac_tree_destroy(&tree);
 *   sac_mesh_destroy(&mesh);
 */
#ifndef SAC_SPHERETREE_SPHERETREE_H
#define SAC_SPHERETREE_SPHERETREE_H

#include "mesh.h"
#include "tree.h"
#include "build.h"
#include "measure.h"
#include "treefile.h"
#include "descent.h"
#include "terrain.h"
#include "form.h"
#include "meeting.h"

#endif
