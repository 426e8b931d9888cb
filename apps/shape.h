/* What a MESH argument names: a mesh file, a built-in mesh, a built-in set of spheres or a file of spheres.
 *
 *   knot, builtin:knot      a built-in mesh
 *   bunny.obj               any file the importer reads
 *   t24, t100, t500         the torus as 24, 100 or 500 spheres
 *   cube56                  a cube as 56 spheres
 *   hand.spheres, *.xyzr    spheres, "x y z r" a line
 *
 * Index: sac_shape_open  sac_shape_close  sac_shape_build  sac_shape_measure  sac_shape_say  sac_shape_json
 *        sac_spheres_builtin  sac_spheres_read  sac_spheres_measure
 */
#ifndef SAC_APPS_SHAPE_H
#define SAC_APPS_SHAPE_H

#include <jansson.h>

#include "spheretree/spheretree.h"

typedef struct sac_shape {
    sac_mesh *mesh; /* repaired; NULL for spheres */
    sac_mesh_report report;
    float (*spheres)[4]; /* NULL for a mesh */
    uint32_t sphere_count;
    bool builtin;
    char name[64];
} sac_shape;

/* `triangles`: of a built-in mesh, 0 = its default. `as_spheres`: read any file as a list of spheres. */
sac_result sac_shape_open(const char *argument, uint32_t triangles, bool as_spheres, sac_shape *out_shape,
                          sac_error *error);
void sac_shape_close(sac_shape *shape);

/* The tree of the shape; spheres are always built by the method for spheres. */
sac_result sac_shape_build(const sac_shape *shape, const sac_build_def *def, sac_tree **out_tree,
                           sac_error *error);
/* Measured against the mesh or the spheres; out_levels has depth + 1 entries. */
sac_result sac_shape_measure(const sac_shape *shape, const sac_tree *tree, const sac_measure_def *def,
                             sac_level_quality *out_levels, sac_error *error);

/* Facts about the shape and what repair did, as text on the console and as JSON. */
void sac_shape_say(const sac_shape *shape);
json_t *sac_shape_json(const sac_shape *shape);

/* ---- sets of spheres ---- */

/* One torus, major radius 0.3, tube 0.1, axis y, as spheres: t24, t100, t500; a cube of side 1: cube56. False
 * for another name. Release with sac_free(spheres, count, sizeof *spheres). */
bool sac_spheres_builtin(const char *name, float (**out_spheres)[4], uint32_t *out_count);
const char *sac_spheres_builtin_name(uint32_t index);

/* "x y z r" a line, '#' starts a comment. Errors name the line. */
sac_result sac_spheres_read(const char *path, float (**out_spheres)[4], uint32_t *out_count,
                            sac_error *error);

/* As sac_tree_measure with the union of the spheres as the object. */
sac_result sac_spheres_measure(const sac_tree *tree, const float (*spheres)[4], uint32_t count,
                               const sac_measure_def *def, sac_level_quality *out_levels, sac_error *error);

#endif
