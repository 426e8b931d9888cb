/* A form: the geometry of a body, whatever kind it is. Sphere-trees are descended level by level; spheres,
 * capsules, boxes and planes answer exactly at once; terrain is triangles or a height field in a tree of
 * boxes.
 *
 *   sac_form form;
 *   sac_form_from_tree(&form, tree, NULL);
 *   sac_form_sphere(&form, 0.5f, NULL);
 *
 * A form is plain memory and owns nothing: the tree or terrain it points to must outlive it.
 *
 * Index: sac_form_from_tree  sac_form_sphere  sac_form_capsule  sac_form_box  sac_form_plane
 *        sac_form_from_terrain  sac_form_bounds  sac_form_ray  sac_form_distance
 */
#ifndef SAC_SPHERETREE_FORM_H
#define SAC_SPHERETREE_FORM_H

#include "descent.h"
#include "terrain.h"
#include "tree.h"

typedef enum sac_form_kind {
    SAC_FORM_TREE,
    SAC_FORM_SPHERE,
    SAC_FORM_CAPSULE, /* along local y */
    SAC_FORM_BOX,
    SAC_FORM_PLANE,   /* solid below; never moves */
    SAC_FORM_TERRAIN, /* triangles or heights; never moves */
    SAC_FORM_SOFT,    /* changes its shape: deform/soft_shape.h. What is met is a tree made for each body. */
    SAC_FORM_KINDS
} sac_form_kind;

/* A tree whose spheres change from step to step, in world space: who reads them asks first. */
typedef struct sac_live {
    /* The children of these nodes (links as in tree.h; leaves have none) will be read. One thread at a time.
     */
    void (*open)(void *owner, const uint32_t *links, uint32_t count);
    /* One node as it is now, whether it was asked for or not. Any thread. */
    void (*node)(const void *owner, uint32_t node, sac_tree_node_info *out);
    void *owner;
    uint32_t cost; /* of the children of one node, in credits as in meeting.h */
} sac_live;

/* A flat part of a tree's surface, where things can lie against each other without rocking on spheres. */
#define SAC_FORM_FACES 16u
typedef struct sac_face {
    float normal[3], offset; /* outward: normal . x = offset; local */
    float low[3], high[3];   /* a box that holds it */
    bool outer;              /* the whole object lies behind its plane */
} sac_face;

typedef struct sac_form {
    sac_form_kind kind;
    uint32_t levels; /* below the root: a tree's depth, else 0 */
    const sac_tree *tree;
    const sac_live *live; /* of the tree; NULL: it never changes */
    const sac_terrain *terrain;
    const struct sac_soft_shape *soft;
    float radius;    /* sphere, capsule */
    float half[3];   /* box: half its sides; capsule: half[1] is half the length of its axis */
    float normal[3]; /* plane: unit */
    float offset;    /* plane: normal . x = offset */
    float ball[4];   /* centre and radius of a ball that holds all of it; a plane's radius is FLT_MAX */
    sac_box box;     /* local; a plane's reaches to FLT_MAX */
    /* Largest distance from a sphere of this level to the object: what a contact on this level may be off by.
     * 0 for forms that are exact. */
    float level_gap[SAC_TREE_MOST_DEPTH + 1];
    /* A body that moves less than this in a step passes through nothing: the radius of the thickest ball
     * inside; at least a thousandth of ball[3]. */
    float thickness;
    uint32_t face_count; /* of a tree made from a mesh: its largest flat parts; 0 where there are none */
    sac_face faces[SAC_FORM_FACES];
    sac_mass mass; /* of density 1; zero for planes and terrain */
} sac_form;

/* Each checks its numbers and returns ERROR_ARGUMENT with the reason; *out_form is then unchanged. */
sac_result sac_form_from_tree(sac_form *out_form, const sac_tree *tree, sac_error *error);
sac_result sac_form_sphere(sac_form *out_form, float radius, sac_error *error);
sac_result sac_form_capsule(sac_form *out_form, float radius, float half_length, sac_error *error);
sac_result sac_form_box(sac_form *out_form, const float half[3], sac_error *error);
sac_result sac_form_plane(sac_form *out_form, const float normal[3], float offset, sac_error *error);
sac_result sac_form_from_terrain(sac_form *out_form, const sac_terrain *terrain, sac_error *error);

/* World box of a form in a pose: tight for primitives, for trees and terrain the turned local box or ball,
 * whichever is smaller on each side. */
void sac_form_bounds(const sac_form *form, const sac_transform *pose, sac_box *out_box);

/* The first hit along origin + t * direction, t in [0, most]; out_hit->hit is false when there is none. */
sac_result sac_form_ray(const sac_form *form, const sac_transform *pose, const float origin[3],
                        const float direction[3], float most, sac_ray_hit *out_hit, sac_error *error);

/* Distance from a world point to the form's surface, negative inside where the form knows its inside; for
 * trees a distance to leaf spheres that is never more than the true one. `most`: farther is as good as
 * FLT_MAX. The closest point and the direction from it to the point (unit) may be NULL. */
float sac_form_distance(const sac_form *form, const sac_transform *pose, const float point[3], float most,
                        float out_closest[3], float out_normal[3]);

#endif
