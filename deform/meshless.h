/* A fine surface carried by few simulation nodes, and its bounds at the cost of the nodes (Steinemann,
 * Otaduy, Gross 2008).
 *
 *   sac_meshless_def def = sac_default_meshless_def();
 *   sac_meshless_model_create(&surface, nodes, node_count, NULL, &def, &model, &error);
 *   sac_meshless_create(model, &body, &error);
 *   sac_meshless_follow(body, soft, &error);            // nodes are the points of a soft body
 *   const float *root = sac_meshless_dop(body, 0);      // k numbers: how high along k / 2 directions, and
 *                                                     // along their opposites
 *
 * Each vertex is a convex combination of affine transformations of its rest position, one of each node. A
 * node of the tree knows the box of its vertices at rest and, for each simulation node, the least and the
 * greatest weight it has on them; that bounds the deformed vertices without looking at any. Leaves look at
 * theirs.
 *
 * A body is written by queries: one thread at a time. Nothing is allocated after its creation.
 *
 * Index: sac_default_meshless_def  sac_meshless_model_create  sac_meshless_model_destroy  sac_meshless_create
 *        sac_meshless_destroy  sac_meshless_set_node  sac_meshless_follow  sac_meshless_vertex
 *        sac_meshless_view_of
 *        sac_meshless_dop  sac_meshless_bound  sac_meshless_refit  sac_meshless_meet  sac_triangles_cross
 *        sac_meshless_lump_of  sac_meshless_cover_create  sac_meshless_cover_destroy  sac_meshless_cover_form
 *        sac_meshless_cover_renew  sac_meshless_cover_node  sac_meshless_children  sac_meshless_primitives
 *        sac_meshless_node_count  sac_meshless_direction  sac_meshless_refits
 */
#ifndef SAC_DEFORM_MESHLESS_H
#define SAC_DEFORM_MESHLESS_H

#include "../spheretree/spheretree.h"
#include "shape_matching.h"

#define SAC_MESHLESS_MOST_K 26u
#define SAC_MESHLESS_MOST_INFLUENCES 32u

typedef enum sac_meshless_fit {
    SAC_MESHLESS_EXACT, /* the optimum over all weights within their limits that sum to 1 (default) */
    SAC_MESHLESS_EQ12,  /* only the largest weight is limited from above: equation 12 of the paper */
} sac_meshless_fit;

typedef enum sac_meshless_box {
    SAC_MESHLESS_AABB, /* along the axes (default): cheapest, and best where few collide */
    SAC_MESHLESS_OBB,  /* along the spread of the vertices: tighter about thin slanting parts */
} sac_meshless_box;

typedef struct sac_meshless_def {
    uint32_t k; /* 6 (boxes, default), 14, 18 or 26 sides */
    sac_meshless_fit fit;
    sac_meshless_box box; /* of a tree node's vertices at rest */
    uint32_t influences;  /* nodes a vertex follows when weights are not given, 1 to 32; default 8 */
    uint32_t leaf;        /* most primitives in a leaf; default 2 */
} sac_meshless_def;

sac_meshless_def sac_default_meshless_def(void);

typedef struct sac_meshless_surface {
    const float (*vertices)[3];
    uint32_t vertex_count;
    const uint32_t (*triangles)[3]; /* NULL: a point cloud, vertices are the primitives */
    uint32_t triangle_count;
} sac_meshless_surface;

/* Vertex i follows node[first[i]] .. node[first[i + 1] - 1]; weights of a vertex are not negative and are
 * scaled to sum 1. */
typedef struct sac_meshless_weights {
    const uint32_t *first, *node;
    const float *weight;
} sac_meshless_weights;

typedef struct sac_meshless_model sac_meshless_model;
typedef struct sac_meshless sac_meshless;

/* `weights` may be NULL: the nearest nodes, falling off smoothly with distance. */
sac_result sac_meshless_model_create(const sac_meshless_surface *surface, const float (*nodes)[3],
                                     uint32_t node_count, const sac_meshless_weights *weights,
                                     const sac_meshless_def *def, sac_meshless_model **out_model,
                                     sac_error *error);
void sac_meshless_model_destroy(sac_meshless_model **model);

/* At rest. The model must outlive the body. */
sac_result sac_meshless_create(const sac_meshless_model *model, sac_meshless **out_body, sac_error *error);
void sac_meshless_destroy(sac_meshless **body);

/* Node j takes rest positions x to rows * (x, 1). Entries must be finite and at most 1e6. */
sac_result sac_meshless_set_node(sac_meshless *body, uint32_t node, const float rows[3][4], sac_error *error);
/* All nodes from a soft body whose points they are, in the same order: displacement of the point, gradient by
 * least squares over its nearest neighbours at rest. */
sac_result sac_meshless_follow(sac_meshless *body, const sac_soft *soft, sac_error *error);

/* Where a vertex is now. */
void sac_meshless_vertex(const sac_meshless *body, uint32_t vertex, float out[3]);

/* All vertices where they are now, moved if they were not: x y z at the start of each eight, in an order of
 * their own; triangle i (as given) has the corners corner[i]. For who wants them all. */
typedef struct sac_meshless_view {
    const float (*now)[8];
    const uint32_t (*corner)[3]; /* NULL for a point cloud */
    uint32_t vertex_count, triangle_count;
} sac_meshless_view;
sac_meshless_view sac_meshless_view_of(sac_meshless *body);

/* Bounds of a tree node as the body is now, refitted if they are not: out[d] is the highest value along
 * direction d, out[k / 2 + d] the highest along its opposite (so the lowest is -out[k / 2 + d]). The root is
 * node 0. Ask from the root down: a child is never wider than its parent, and where the last query went
 * deeper, bounds are made there and merged upwards (its front). */
const float *sac_meshless_dop(sac_meshless *body, uint32_t node);
/* The bound of one node alone by `fit`, from the simulation nodes even for a leaf; for experiments. `out` has
 * room for k numbers rounded up to eights. */
void sac_meshless_bound(sac_meshless *body, uint32_t node, sac_meshless_fit fit, float *out);
/* All of it from the vertices, bottom up, in time linear in them; bounds are as tight as can be until a node
 * moves. For comparison, and for who will look at most of the surface anyway. */
void sac_meshless_refit(sac_meshless *body);

/* Two triangles that cross, as they were given. */
typedef struct sac_meshless_pair {
    uint32_t a, b;
} sac_meshless_pair;
/* All triangles of one surface that cross a triangle of the other, descending both trees and refitting on the
 * way. Writes at most `room` pairs and returns how many there are; point clouds have none. Both surfaces have
 * the same k. */
uint32_t sac_meshless_meet(sac_meshless *a, sac_meshless *b, sac_meshless_pair *out, uint32_t room);
/* Do two triangles have a point in common? Touching counts; flat ones in one plane do. */
bool sac_triangles_cross(const float a[3][3], const float b[3][3]);

/* The simulation nodes that move the vertices of a tree node, with their mean weights on them (sum 1): where
 * an impulse on the node goes. */
typedef struct sac_meshless_lump {
    uint32_t count;
    const uint32_t *node;
    const float *weight;
} sac_meshless_lump;
sac_meshless_lump sac_meshless_lump_of(const sac_meshless_model *model, uint32_t node);

/* The surface as a form for meetings: its hierarchy eight-wide in world space (the pose is the identity),
 * with spheres about the bounds, made when a meeting opens their parent; leaves have the ball of their
 * vertices. The body must outlive the cover. Nodes of the form are numbered as in spheretree/tree.h;
 * sac_meshless_cover_node gives the node of the tree, for its lump and its primitives (UINT32_MAX: none).
 * Form fills in all but mass; renew, after the simulation nodes moved, what changes: ball and box. */
typedef struct sac_meshless_cover sac_meshless_cover;
sac_result sac_meshless_cover_create(sac_meshless *body, sac_meshless_cover **out_cover, sac_error *error);
void sac_meshless_cover_destroy(sac_meshless_cover **cover);
void sac_meshless_cover_form(sac_meshless_cover *cover, sac_form *out_form);
void sac_meshless_cover_renew(sac_meshless_cover *cover, sac_form *form);
uint32_t sac_meshless_cover_node(const sac_meshless_cover *cover, uint32_t id);
/* The box of a form's node, for people who look; nothing a query relies on changes. False: there is no such
 * node. */
bool sac_meshless_cover_box(sac_meshless_cover *cover, uint32_t id, sac_box *out_box);
sac_meshless_lump sac_meshless_cover_lump(const sac_meshless_cover *cover,
                                          uint32_t id); /* of a form's node */

/* False for a leaf. The two children are *out_first and *out_first + 1. */
bool sac_meshless_children(const sac_meshless_model *model, uint32_t node, uint32_t *out_first);
/* The primitives of a node: `count` numbers of triangles (or vertices). */
const uint32_t *sac_meshless_primitives(const sac_meshless_model *model, uint32_t node, uint32_t *out_count);
uint32_t sac_meshless_node_count(const sac_meshless_model *model); /* of the tree */
/* Direction d < 13; the first k / 2 belong to a k-DOP of 6, 14, 18 or 26 sides. Not of unit length. */
void sac_meshless_direction(uint32_t k, uint32_t d, float out[3]);
/* Tree nodes refitted since the body was made. */
uint64_t sac_meshless_refits(const sac_meshless *body);

#endif
