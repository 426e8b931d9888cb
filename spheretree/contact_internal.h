/* What two nodes say about a contact. Private to spheretree/. */
#ifndef SAC_SPHERETREE_CONTACT_INTERNAL_H
#define SAC_SPHERETREE_CONTACT_INTERNAL_H

#include <math.h>
#include <string.h>

#include "spheretree/form.h"

/* A node in any frame and unit. */
typedef struct sac_contact_node {
    float centre[3], radius, gap, normal[3];
    bool tight; /* the normal is good */
} sac_contact_node;

/* In its tree's own frame. All of these stay where they are called from: nodes go through registers. */
static inline sac_contact_node sac_contact_node_of(const sac_tree *tree, uint32_t id)
{
    uint32_t block = id / SAC_LANES, k = id % SAC_LANES;
    const sac_sphere_block *s = &tree->spheres[block];
    const sac_feature_block *f = &tree->features[block];
    return (sac_contact_node){
        .centre = {s->x[k], s->y[k], s->z[k]},
        .radius = s->r[k],
        .gap = f->gap[k],
        .normal = {f->nx[k], f->ny[k], f->nz[k]},
        .tight = f->cone[k] <= SAC_CONTACT_CONE && (f->nx[k] != 0 || f->ny[k] != 0 || f->nz[k] != 0),
    };
}

/* As it is now, when the form's tree changes. */
static inline sac_contact_node sac_contact_node_now(const sac_form *form, uint32_t id)
{
    if (!form->live) return sac_contact_node_of(form->tree, id);
    sac_tree_node_info n;
    form->live->node(form->live->owner, id, &n);
    return (sac_contact_node){
        .centre = {n.centre[0], n.centre[1], n.centre[2]},
        .radius = n.radius,
        .gap = n.gap,
        .normal = {n.normal[0], n.normal[1], n.normal[2]},
        .tight = n.cone <= SAC_CONTACT_CONE && (n.normal[0] != 0 || n.normal[1] != 0 || n.normal[2] != 0),
    };
}

/* The children of these nodes will be read. */
static inline void sac_form_open(const sac_form *form, const uint32_t *links, uint32_t count)
{
    if (form->live) form->live->open(form->live->owner, links, count);
}
static inline uint32_t sac_form_open_cost(const sac_form *form) { return form->live ? form->live->cost : 0; }

/* Scales `v` to length 1; false, and v unchanged, when it is not longer than `least`. */
static inline bool sac_make_unit(float v[3], float least)
{
    float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > least && length <= FLT_MAX)) return false;
    for (int i = 0; i < 3; i++) v[i] /= length;
    return true;
}

/* Point, normal, depth and uncertainty of two nodes in one frame. False: nothing tells the direction, and the
 * normal is not unit. */
static inline bool sac_contact_between(const sac_contact_node *a, const sac_contact_node *b, sac_contact *out)
{
    float line[3] = {b->centre[0] - a->centre[0], b->centre[1] - a->centre[1], b->centre[2] - a->centre[2]};
    float distance = sqrtf(line[0] * line[0] + line[1] * line[1] + line[2] * line[2]);
    float sum = a->radius + b->radius, share = sum > 0 ? a->radius / sum : 0.5f;
    for (int i = 0; i < 3; i++) out->point[i] = a->centre[i] + line[i] * share;
    out->depth = sum - distance;
    out->uncertainty = a->gap + b->gap;

    /* Outward of a, inward of b. Two that oppose each other (deep inside, or a thin part) say nothing. */
    float *n = out->normal;
    for (int i = 0; i < 3; i++) n[i] = (a->tight ? a->normal[i] : 0) - (b->tight ? b->normal[i] : 0);
    if (sac_make_unit(n, 0.5f)) return true;
    memcpy(n, line, sizeof line);
    /* Centres that coincide up to rounding have no direction. */
    return sac_make_unit(n, 1e-6f * sum);
}

#endif
