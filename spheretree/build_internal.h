/* What the builders share: a draft of the tree, the repaired surface with its closest-point hierarchy, and
 * the pieces of surface that must be covered. Private to spheretree/. */
#ifndef SAC_SPHERETREE_BUILD_INTERNAL_H
#define SAC_SPHERETREE_BUILD_INTERNAL_H

#include "spheretree/build.h"

/* ---- draft: a tree while it is being built, nodes in any order that has parents first ---- */

#define SAC_DRAFT_ROOT UINT32_MAX

typedef struct sac_draft_node {
    float centre[3], radius;
    float gap, point[3], normal[3], cone;
    uint32_t parent; /* index of an earlier node, SAC_DRAFT_ROOT for the first */
} sac_draft_node;

typedef struct sac_draft {
    sac_array(sac_draft_node) nodes;
} sac_draft;

/* Lays the draft out in blocks, computes bounds and NESTED, copies the rest from `like` (branch, flags,
 * method, box, mass, name). Children keep their order. ERROR_LIMIT when a node has more than `branch`
 * children or the tree is deeper than the limit. */
sac_result sac_draft_assemble(const sac_draft *draft, const sac_tree *like, sac_tree **out_tree,
                              sac_error *error);

/* ---- surface: distance to a mesh ---- */

typedef struct sac_surface sac_surface;

typedef struct sac_surface_hit {
    double point[3];
    double distance; /* >= 0 */
    uint32_t triangle;
    bool inside; /* of a closed mesh; false for an open one */
} sac_surface_hit;

sac_result sac_surface_create(const sac_mesh *mesh, bool closed, sac_surface **out_surface, sac_error *error);
void sac_surface_destroy(sac_surface **surface);
/* The closest point to `p`. `hint` is a triangle that is probably near (UINT32_MAX: none): it only saves
 * time. */
void sac_surface_closest(const sac_surface *surface, const double p[3], uint32_t hint,
                         sac_surface_hit *out_hit);

#endif
