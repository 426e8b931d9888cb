/* A soft shape: everything the bodies of one kind share. Points and how they hold together, the hierarchy
 * over them, and what is drawn.
 *
 *   sac_soft_shape_def def = sac_default_soft_shape_def();
 *   def.points = points, def.point_count = n;               // and triangles over them
 *   sac_soft_shape_create(&def, &shape, &error);            // or sac_soft_shape_from_mesh
 *   sac_form form;
 *   sac_form_from_soft(&form, shape, &error);               // a form like any other: sac_world_add_shape
 *
 * A shape is never written after its creation and must outlive the bodies made of it.
 *
 * Index: sac_default_soft_shape_def  sac_soft_shape_create  sac_soft_shape_from_mesh
 *        sac_soft_shape_destroy  sac_form_from_soft  sac_soft_shape_parts_of  sac_soft_shape_skin
 */
#ifndef SAC_DEFORM_SOFT_SHAPE_H
#define SAC_DEFORM_SOFT_SHAPE_H

#include "meshless.h"
#include "soft_tree.h"

typedef struct sac_soft_shape_def {
    sac_soft_def soft;
    sac_soft_tree_def tree;
    /* The points that are simulated. With `triangles` over them they are a surface: contacts know its
     * normals, and at the leaves triangles are met. Closed triangles that are inside out are turned over. */
    const float (*points)[3];
    const float *masses; /* kg; NULL: alike */
    uint32_t point_count;
    const uint32_t (*triangles)[3];
    uint32_t triangle_count;
    /* A finer surface that follows the points and is what is met and drawn (meshless.h). Not NULL: the points
     * are its simulation nodes, and `triangles` may be 0. */
    const sac_meshless_surface *surface;
    sac_meshless_def meshless;
    float mass;      /* kg, of all points; 0 (default): `masses`, or if there are none `density` times the
                        volume that the triangles enclose; that of the points' box where they do not */
    float density;   /* default 300 */
    float thickness; /* m: contacts keep points this far from what they meet; default 0: a quarter of the
                        mean distance between neighbours, a centimetre where there are none */
    uint32_t cookie;
} sac_soft_shape_def;

sac_soft_shape_def sac_default_soft_shape_def(void);

typedef struct sac_soft_shape sac_soft_shape;
/* Everything is copied. ERROR_ARGUMENT, _EMPTY or _LIMIT with the number at fault and the remedy. */
sac_result sac_soft_shape_create(const sac_soft_shape_def *def, sac_soft_shape **out_shape, sac_error *error);
/* The same of a mesh, which is repaired (a copy is: welded, turned outwards). With more vertices than
 * `most_points` (0: any number) points are spread over it, and the mesh is the finer surface that follows
 * them. Of the definition all counts but points, masses, triangles and surface. */
sac_result sac_soft_shape_from_mesh(const sac_mesh *mesh, const sac_soft_shape_def *def, uint32_t most_points,
                                    sac_soft_shape **out_shape, sac_error *error);
void sac_soft_shape_destroy(sac_soft_shape **shape);

/* As bytes, to be released with sac_free(bytes, 1, size), and back. The same shape comes out, whose bodies
 * move bit for bit alike. */
sac_result sac_soft_shape_save_memory(const sac_soft_shape *shape, void **out_bytes, size_t *out_size,
                                      sac_error *error);
sac_result sac_soft_shape_load_memory(const void *bytes, size_t size, sac_soft_shape **out_shape,
                                      sac_error *error);

/* A form of kind SAC_FORM_SOFT: at rest, in the shape's own frame. */
sac_result sac_form_from_soft(sac_form *out_form, const sac_soft_shape *shape, sac_error *error);

typedef struct sac_soft_shape_parts {
    const sac_soft_model *model;
    const sac_soft_tree *tree;
    const sac_meshless_model *surface; /* NULL: the points are what is met */
    const float (*points)[3];          /* rest */
    uint32_t point_count;
    const float (*normals)[3];      /* of the points at rest, outwards, unit, or zero for a point without
                                       triangles; NULL when there are none */
    const uint32_t (*triangles)[3]; /* over the points */
    uint32_t triangle_count;
    float mass, thickness; /* mass: the sum of the model's points */
} sac_soft_shape_parts;
sac_soft_shape_parts sac_soft_shape_parts_of(const sac_soft_shape *shape);

/* What is drawn: vertices at rest, triangles, and the points each vertex follows. Vertex i follows
 * node[first[i]] up to node[first[i + 1] - 1] with weights that sum to 1; where the points themselves are
 * drawn, each follows itself. */
typedef struct sac_soft_skin {
    const float (*vertices)[3], (*normals)[3]; /* normals as those of the points */
    uint32_t vertex_count;
    const uint32_t (*triangles)[3];
    uint32_t triangle_count;
    const uint32_t *first, *node;
    const float *weight;
} sac_soft_skin;
sac_soft_skin sac_soft_shape_skin(const sac_soft_shape *shape);

#endif
