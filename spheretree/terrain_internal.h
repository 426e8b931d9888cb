/* Terrain from inside: its storage, single triangles and their neighbours. Private to spheretree/. */
#ifndef SAC_SPHERETREE_TERRAIN_INTERNAL_H
#define SAC_SPHERETREE_TERRAIN_INTERNAL_H

#include "spheretree/terrain.h"

#define SAC_NO_TRIANGLE UINT32_MAX
#define SAC_TERRAIN_MOST (1u << 24) /* triangles, or posts */
#define SAC_TERRAIN_STACK 96u       /* of a walk down the tree of boxes or the pyramid */

typedef struct sac_terrain_triangle {
    float corner[3][3], normal[3];
    uint32_t beyond[3]; /* stored triangle beyond edge k (corner k to k + 1), or SAC_NO_TRIANGLE */
    uint32_t source;    /* its number in the mesh */
} sac_terrain_triangle;

/* Depth-first order: the first child follows its parent. */
typedef struct sac_terrain_node {
    float low[3], high[3];
    uint32_t second; /* inner: the second child; leaf: its first triangle */
    uint32_t count;  /* of triangles; 0: inner */
} sac_terrain_node;

typedef struct sac_terrain_range {
    float low, high;
} sac_terrain_range;

struct sac_terrain {
    sac_box box;
    float thickness; /* how deep below a triangle, beyond its own radius, a ball still belongs to it */
    /* Triangles of a mesh. */
    sac_terrain_triangle *triangles;
    sac_terrain_node *nodes;
    uint32_t *where; /* stored triangle of each of the mesh */
    uint32_t triangle_count, node_count, source_count;
    /* Or heights, and a pyramid of their ranges: level 0 holds blocks of 2 x 2 cells, and so on. */
    float *posts;
    sac_terrain_range *ranges;
    uint32_t columns, rows, levels;
    float spacing, corner[2];            /* x and z of post 0 */
    size_t level_first[26], range_count; /* where a level begins in `ranges` */
    uint32_t level_columns[26], level_rows[26];
};

/* A triangle with all a contact asks of it. Edge k runs from corner k to corner k + 1. */
typedef struct sac_facet {
    float corner[3][3];
    float normal[3];    /* unit, towards the open side */
    float across[3][3]; /* normal of the neighbour beyond edge k; own normal where there is none */
    bool rim[3];        /* there is none */
} sac_facet;

/* False when there is no such triangle. */
bool sac_terrain_facet(const sac_terrain *terrain, uint32_t feature, sac_facet *out_facet);

/* Corners and normal alone, of a cell's half. False for one without area. */
void sac_terrain_half_cell(const sac_terrain *terrain, uint32_t feature, float corner[3][3], float normal[3]);

/* As a probe, of one triangle. False when it is farther than `radius`, or behind and farther than `below`, or
 * when its neighbour is nearer and speaks for itself. `known`: the neighbour will not be asked; over a flat
 * edge the triangle then counts as going on. */
bool sac_facet_touch(const sac_facet *facet, const float centre[3], float radius, float below, bool known,
                     sac_terrain_touch *out_touch);

/* Would a probe of this ball find anything? May say yes when it would not, never no when it would; cheaper.
 */
bool sac_terrain_meets(const sac_terrain *terrain, const float centre[3], float radius, uint64_t *out_tests);

/* Closest point of a triangle. Returns where it is: 0 inside, 1 to 3 on edge k - 1, 4 to 6 at corner k - 4.
 */
int sac_triangle_closest(const float (*corner)[3], const float point[3], float out[3]);

/* Is edge k one a body can catch on: a rim, or a ridge of more than ten degrees? */
bool sac_facet_sharp(const sac_facet *facet, int k);

/* How deep below a triangle a ball's centre still belongs to it. */
float sac_terrain_below(const sac_terrain *terrain, float radius);

/* All triangles whose box comes within *reach of a point, or, with point NULL, overlaps `box`. `visit` gets
 * corners and unit normal and may lower *reach. Returns the boxes and triangles looked at. */
typedef void sac_triangle_visit(uint32_t feature, const float (*corner)[3], const float normal[3],
                                void *user);
uint64_t sac_terrain_walk(const sac_terrain *terrain, const sac_box *box, const float *point, float *reach,
                          sac_triangle_visit *visit, void *user);

/* The nearest point of the terrain, no farther than `most`: its distance, negative when the point is below;
 * FLT_MAX when there is none. */
float sac_terrain_nearest(const sac_terrain *terrain, const float point[3], float most, float out_closest[3],
                          float out_normal[3]);

#endif
