/* What the mesh files share: bare allocation, the edge table, and the soup that built-in shapes are made of.
 * Private to spheretree/. */
#ifndef SAC_SPHERETREE_MESH_INTERNAL_H
#define SAC_SPHERETREE_MESH_INTERNAL_H

#include "base/memory.h"
#include "spheretree/mesh.h"

#define SAC_NO_MATE UINT32_MAX

/* Uninitialised arrays of these lengths. ERROR_LIMIT, ERROR_EMPTY and ERROR_MEMORY as sac_mesh_create. */
sac_result sac_mesh_allocate(uint32_t vertex_count, uint32_t triangle_count, const char *name,
                             sac_mesh **out_mesh, sac_error *error);
/* Indices in range, coordinates finite and within the limit. */
sac_result sac_mesh_check(const sac_mesh *mesh, sac_error *error);

/* ---- edges ---- */

typedef struct sac_edge_counts {
    uint32_t boundary; /* one triangle */
    uint32_t clashing; /* two triangles, same direction */
    uint32_t crowded;  /* three or more triangles */
    bool balanced;     /* as many one way as the other, on every edge */
} sac_edge_counts;

/* Half-edge 3t + i runs from corner i of triangle t to corner i + 1. `mates` (3 * triangle_count, may be
 * NULL) gets the other half-edge of every edge with exactly two, SAC_NO_MATE elsewhere. Linear time. */
sac_result sac_mesh_edges(const sac_mesh *mesh, uint32_t *mates, sac_edge_counts *out_counts,
                          sac_error *error);

/* Second half of repair, on a mesh without degenerate triangles: counts edges, makes neighbours agree, turns
 * closed parts outward. Fills the report's fields from turned_triangles on. */
sac_result sac_mesh_orient(sac_mesh *mesh, sac_mesh_report *report, sac_error *error);

/* Ascending, without memory; short runs are what it expects. */
void sac_keys_sort(uint64_t *keys, size_t count);

/* ---- soup: vertices and triangles while a shape is being made ---- */

typedef struct sac_soup_point {
    double at[3];
} sac_soup_point;
typedef struct sac_soup_triangle {
    uint32_t corners[3];
} sac_soup_triangle;

/* Running out of memory sets `failed`; the adders then do nothing, and sac_soup_finish reports it. */
typedef struct sac_soup {
    sac_array(sac_soup_point) points;
    sac_array(sac_soup_triangle) triangles;
    bool failed;
} sac_soup;

uint32_t sac_soup_add_point(sac_soup *soup, double x, double y, double z);
void sac_soup_add_triangle(sac_soup *soup, uint32_t a, uint32_t b, uint32_t c);
/* Two triangles, cut along the shorter diagonal. */
void sac_soup_add_quad(sac_soup *soup, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
void sac_soup_fini(sac_soup *soup);
/* Centres, scales to largest extent 1, welds and checks that the shape is a closed manifold. Ends the soup
 * in any case. */
sac_result sac_soup_finish(sac_soup *soup, const char *name, sac_mesh **out_mesh, sac_error *error);

/* How many triangles a shape has when its quads are `size` wide; falls, in steps, as the size grows. */
typedef double sac_shape_count(const void *shape, double size);
/* The size whose count is nearest to `triangles`. */
double sac_shape_size(sac_shape_count *count, const void *shape, uint32_t triangles);

/* Below zero inside, nearly a distance; the gradient is about 1 long. */
typedef double sac_implicit(const double p[3], double out_gradient[3]);
/* Even out a closed manifold soup on the surface where `value` is zero, and thin it out to `triangles` when
 * it has more. */
void sac_soup_remesh(sac_soup *soup, sac_implicit *value, uint32_t triangles);

/* The shapes; each fills the soup with about `triangles` triangles. */
typedef void sac_shape_maker(sac_soup *soup, uint32_t triangles);
sac_shape_maker sac_shape_torus, sac_shape_knot, sac_shape_spring, sac_shape_box, sac_shape_l,
    sac_shape_table, sac_shape_chair, sac_shape_sphere, sac_shape_star, sac_shape_gear, sac_shape_blob;

#endif
