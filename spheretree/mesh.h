/* Triangle meshes: what trees are built from. Built-in shapes, import, repair, mass.
 *
 * Index: sac_mesh_create  sac_mesh_destroy  sac_mesh_builtin  sac_mesh_builtin_name  sac_mesh_import
 *        sac_mesh_repair  sac_mesh_mass
 */
#ifndef SAC_SPHERETREE_MESH_H
#define SAC_SPHERETREE_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/geometry.h"

/* Limits that keep every squared distance inside a float. */
#define SAC_MESH_MOST_TRIANGLES (64u * 1024 * 1024)
#define SAC_MESH_MOST_COORDINATE 1e12f

typedef struct sac_mesh {
    float (*vertices)[3];
    uint32_t (*triangles)[3]; /* counter-clockwise seen from outside */
    uint32_t vertex_count, triangle_count;
    char name[64];
} sac_mesh;

/* What repair found and did; all zero for a mesh that was fine. */
typedef struct sac_mesh_report {
    uint32_t welded_vertices;      /* exact duplicates merged */
    uint32_t unused_vertices;      /* not in any triangle, dropped */
    uint32_t degenerate_triangles; /* no area, dropped */
    uint32_t duplicate_triangles;  /* same three vertices as an earlier one, dropped */
    uint32_t boundary_edges;       /* in one triangle only */
    uint32_t nonmanifold_edges;    /* in three or more, or twice in one direction */
    bool closed;                   /* every edge in exactly two triangles, in opposite directions */
    bool flipped;                  /* was closed but inside out; all triangles were turned */
} sac_mesh_report;

/* Mass properties at density 1. */
typedef struct sac_mass {
    float volume;
    float centre[3];
    float inertia[6]; /* about the centre: xx yy zz xy yz zx, the off-diagonals as in the tensor (negative
                         products) */
} sac_mass;

/* Copies both arrays. ERROR_ARGUMENT for an index out of range, a coordinate that is not finite;
 * ERROR_LIMIT beyond the limits above; ERROR_EMPTY for no triangles. */
sac_result sac_mesh_create(const float (*vertices)[3], uint32_t vertex_count, const uint32_t (*triangles)[3],
                           uint32_t triangle_count, const char *name, sac_mesh **out_mesh, sac_error *error);
void sac_mesh_destroy(sac_mesh **mesh);

/* A closed procedural mesh by name (torus, knot, l, gear, star, blob, spring, table, chair, box, sphere) of
 * about `triangles` triangles (0: a default that looks good; at least 4, at most 4 million). Size about 1. */
sac_result sac_mesh_builtin(const char *name, uint32_t triangles, sac_mesh **out_mesh, sac_error *error);
/* The i-th name, NULL past the last. */
const char *sac_mesh_builtin_name(uint32_t index);

/* Weld, drop what has no area, orient; in place. ERROR_EMPTY when nothing is left. Report may be NULL. */
sac_result sac_mesh_repair(sac_mesh *mesh, sac_mesh_report *out_report, sac_error *error);

/* Exact polyhedral integrals over a closed mesh; ERROR_OPEN_MESH when it is not closed. */
sac_result sac_mesh_mass(const sac_mesh *mesh, sac_mass *out_mass, sac_error *error);

/* Any format Assimp reads (OBJ, PLY, STL, OFF, glTF, ...), all parts as one mesh, not repaired. Lives in the
 * library saccade::import, built with -DSACCADE_IMPORT=ON. */
sac_result sac_mesh_import(const char *path, sac_mesh **out_mesh, sac_error *error);
/* The same from memory; `hint` is the file name extension ("obj"). */
sac_result sac_mesh_import_memory(const void *bytes, size_t size, const char *hint, sac_mesh **out_mesh,
                                  sac_error *error);

#endif
