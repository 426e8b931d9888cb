/* Triangle meshes: what trees are built from. Built-in shapes, import, repair, mass.
 *
 *   sac_mesh *mesh;
 *   sac_mesh_report report;
 *   if (sac_mesh_import("chair.obj", &mesh, &error) != SAC_OK) return complain(&error);
 *   if (sac_mesh_repair(mesh, &report, &error) == SAC_OK && report.closed) sac_mesh_mass(mesh, &mass,
 * &error); sac_mesh_destroy(&mesh);
 *
 * Index: sac_mesh_create  sac_mesh_destroy  sac_mesh_builtin  sac_mesh_builtin_name  sac_mesh_import
 *        sac_mesh_import_memory  sac_mesh_repair  sac_mesh_mass
 */
#ifndef SAC_SPHERETREE_MESH_H
#define SAC_SPHERETREE_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/geometry.h"

/* Limits that keep every squared distance inside a float and every index inside 32 bits. */
#define SAC_MESH_MOST_TRIANGLES (64u * 1024 * 1024)
#define SAC_MESH_MOST_VERTICES (3u * SAC_MESH_MOST_TRIANGLES)
#define SAC_MESH_MOST_COORDINATE 1e12f

/* The arrays are exactly as long as their counts say. */
typedef struct sac_mesh {
    float (*vertices)[3];
    uint32_t (*triangles)[3]; /* counter-clockwise seen from outside */
    uint32_t vertex_count, triangle_count;
    char name[64];
} sac_mesh;

/* What repair found and did. Of a mesh that was fine only `closed` is not zero. */
typedef struct sac_mesh_report {
    uint32_t welded_vertices;      /* exact duplicates merged; -0 is 0 */
    uint32_t unused_vertices;      /* not in any triangle, dropped */
    uint32_t degenerate_triangles; /* no area, dropped */
    uint32_t reshaped_triangles;   /* no area but three corners; the edge to its neighbour was swapped */
    uint32_t duplicate_triangles;  /* same three vertices as an earlier one, dropped */
    uint32_t turned_triangles;     /* orientation reversed, to agree with neighbours or to face outward */
    uint32_t boundary_edges;       /* in one triangle only */
    uint32_t nonmanifold_edges;    /* in three or more, or twice in one direction */
    bool closed;  /* every edge is used as often in one direction as in the other: inside and volume have a
                     meaning; with no nonmanifold_edges it is a two-manifold */
    bool flipped; /* was closed but inside out; all triangles were turned */
} sac_mesh_report;

/* Mass properties at density 1. */
typedef struct sac_mass {
    float volume;
    float centre[3];
    float inertia[6]; /* about the centre: xx yy zz xy yz zx, the off-diagonals as in the tensor (negative
                         products) */
} sac_mass;

/* Copies both arrays; `name` may be NULL and is cut to 63 bytes. ERROR_ARGUMENT for an index out of range or
 * a coordinate that is not finite, ERROR_LIMIT beyond the limits above, ERROR_EMPTY for no triangles. */
sac_result sac_mesh_create(const float (*vertices)[3], uint32_t vertex_count, const uint32_t (*triangles)[3],
                           uint32_t triangle_count, const char *name, sac_mesh **out_mesh, sac_error *error);
/* Frees the mesh and nulls the pointer; NULL and pointer to NULL are fine. */
void sac_mesh_destroy(sac_mesh **mesh);

/* A closed, outward, manifold procedural mesh by name (torus, knot, l, gear, star, blob, spring, table,
 * chair, box, sphere) of about `triangles` triangles (0: a default that looks good; at most 4 million; a
 * request below what the shape needs gives its coarsest form). Centred, largest extent 1, z up. The same
 * arguments give the same mesh. ERROR_ARGUMENT for an unknown name or too many triangles. */
sac_result sac_mesh_builtin(const char *name, uint32_t triangles, sac_mesh **out_mesh, sac_error *error);
/* The i-th name, NULL past the last. */
const char *sac_mesh_builtin_name(uint32_t index);

/* Weld, drop what has no area, orient; in place. Vertices and triangles that stay keep their order. A closed
 * mesh comes out facing outward, cavities inward; an open one keeps its directions. ERROR_EMPTY when nothing
 * would be left, ERROR_ARGUMENT for bad indices or coordinates; the mesh is then unchanged. Report may be
 * NULL. */
sac_result sac_mesh_repair(sac_mesh *mesh, sac_mesh_report *out_report, sac_error *error);

/* Exact polyhedral integrals over a closed outward mesh; sac_mesh_repair first. ERROR_OPEN_MESH when it is
 * not closed, ERROR_EMPTY when it encloses nothing, ERROR_ARGUMENT when it is inside out, ERROR_LIMIT when
 * the inertia does not fit a float. */
sac_result sac_mesh_mass(const sac_mesh *mesh, sac_mass *out_mass, sac_error *error);

/* Any format Assimp reads (OBJ, PLY, STL, OFF, glTF, ...), all parts as one mesh with their placement
 * applied, not repaired. Errors name the file, and the line where Assimp tells it; ERROR_IO, _UNSUPPORTED
 * (its extension), _FORMAT, _EMPTY (no triangles), _CORRUPT (NaN, bad indices), _LIMIT. Lives in the library
 * saccade::import, built with -DSACCADE_IMPORT=ON. Thread safe; imports wait for one another. */
sac_result sac_mesh_import(const char *path, sac_mesh **out_mesh, sac_error *error);
/* The same from memory; `hint` is the file name extension ("obj", may be NULL). Other files it refers to are
 * not opened. */
sac_result sac_mesh_import_memory(const void *bytes, size_t size, const char *hint, sac_mesh **out_mesh,
                                  sac_error *error);

#endif
