/* What two nodes say about a contact. Private to spheretree/. */
#ifndef SAC_SPHERETREE_CONTACT_INTERNAL_H
#define SAC_SPHERETREE_CONTACT_INTERNAL_H

#include "spheretree/descent.h"

/* A node in any frame and unit. */
typedef struct sac_contact_node {
    float centre[3], radius, gap, normal[3];
    bool tight; /* the normal is good */
} sac_contact_node;

/* In its tree's own frame. */
sac_contact_node sac_contact_node_of(const sac_tree *tree, uint32_t id);

/* Point, normal, depth and uncertainty of two nodes in one frame. False: nothing tells the direction, and the
 * normal is not unit. */
bool sac_contact_between(const sac_contact_node *a, const sac_contact_node *b, sac_contact *out);

/* Scales `v` to length 1; false, and v unchanged, when it is not longer than `least`. */
bool sac_make_unit(float v[3], float least);

#endif
