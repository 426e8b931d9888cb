/* What two nodes say about a contact. Private to spheretree/. */
#ifndef SAC_SPHERETREE_CONTACT_INTERNAL_H
#define SAC_SPHERETREE_CONTACT_INTERNAL_H

#include "spheretree/form.h"

/* A node in any frame and unit. */
typedef struct sac_contact_node {
    float centre[3], radius, gap, normal[3];
    bool tight; /* the normal is good */
} sac_contact_node;

/* In its tree's own frame. */
sac_contact_node sac_contact_node_of(const sac_tree *tree, uint32_t id);
/* As it is now, when the form's tree changes. */
sac_contact_node sac_contact_node_now(const sac_form *form, uint32_t id);

/* The children of these nodes will be read. */
static inline void sac_form_open(const sac_form *form, const uint32_t *links, uint32_t count)
{
    if (form->live) form->live->open(form->live->owner, links, count);
}
static inline uint32_t sac_form_open_cost(const sac_form *form) { return form->live ? form->live->cost : 0; }

/* Point, normal, depth and uncertainty of two nodes in one frame. False: nothing tells the direction, and the
 * normal is not unit. */
bool sac_contact_between(const sac_contact_node *a, const sac_contact_node *b, sac_contact *out);

/* Scales `v` to length 1; false, and v unchanged, when it is not longer than `least`. */
bool sac_make_unit(float v[3], float least);

#endif
