/* What the builders share: a draft of the tree, the repaired surface with its closest-point hierarchy, and
 * the pieces of surface that must be covered. Private to spheretree/. */
#ifndef SAC_SPHERETREE_BUILD_INTERNAL_H
#define SAC_SPHERETREE_BUILD_INTERNAL_H

#include "spheretree/build.h"

/* ---- draft: a tree while it is being built, nodes in any order that has parents first ---- */

#define SAC_DRAFT_ROOT UINT32_MAX

typedef struct sac_draft_node {
    float centre[3], radius;
    float gap, point[3], normal[3], cone;
    uint32_t parent; /* index of an earlier node, SAC_DRAFT_ROOT for the first */
} sac_draft_node;

typedef struct sac_draft {
    sac_array(sac_draft_node) nodes;
} sac_draft;

/* Lays the draft out in blocks, computes bounds and NESTED, copies the rest from `like` (branch, flags,
 * method, box, mass, name). Children keep their order. ERROR_LIMIT when a node has more than `branch`
 * children or the tree is deeper than the limit. */
sac_result sac_draft_assemble(const sac_draft *draft, const sac_tree *like, sac_tree **out_tree,
                              sac_error *error);

#define SAC_CONE_UNKNOWN 3.14159265f

/* ---- surface: distance to a mesh ---- */

typedef struct sac_surface sac_surface;

typedef struct sac_surface_hit {
    double point[3];
    double distance; /* >= 0 */
    uint32_t triangle;
    bool inside; /* of a closed mesh; false for an open one */
    bool sure;   /* false: the mesh folds over itself somewhere, so ask sac_surface_encloses before relying on
                    `inside` */
} sac_surface_hit;

sac_result sac_surface_create(const sac_mesh *mesh, bool closed, sac_surface **out_surface, sac_error *error);
void sac_surface_destroy(sac_surface **surface);
/* The closest point to `p`. `hint` is a triangle that is probably near (UINT32_MAX: none): it only saves
 * time. */
void sac_surface_closest(const sac_surface *surface, const double p[3], uint32_t hint,
                         sac_surface_hit *out_hit);

/* Inside by the generalised winding number: right also where a mesh cuts through itself, several times
 * dearer. */
bool sac_surface_encloses(const sac_surface *surface, const double p[3]);

/* ---- cover: the pieces of object that every level must hold ---- */

/* A piece is the convex hull of its corners, so a sphere that holds the corners holds the piece: surface
 * triangles cut small (3 to 6 corners) and, for solid trees, cells of the interior (8 corners). */
typedef struct sac_cover {
    double (*points)[3]; /* shared corners, mesh coordinates */
    uint32_t point_count;
    uint32_t piece_count, surface_count; /* pieces [0, surface_count) are surface */
    uint32_t corner_count, cell_corner_count;
    uint32_t *corners; /* piece i: corners[first_corner[i]] up to first_corner[i + 1] */
    uint32_t *first_corner;
    double (*middles)[3]; /* mean of the corners */
    float (*normals)[3];  /* unit, surface pieces only */
    float *areas;         /* surface pieces only */
    uint32_t *triangles;  /* the mesh triangle a surface piece lies on: a hint for sac_surface_closest */
} sac_cover;

/* Cells of the interior, eight corners each; together with the surface pieces they cover the solid. */
typedef struct sac_cells {
    double (*corners)[3];
    uint32_t (*cells)[8];
    uint32_t corner_count, count;
} sac_cells;

sac_result sac_cells_init(sac_cells *cells, const sac_surface *surface, const double low[3],
                          const double high[3], double cell_size, sac_error *error);
void sac_cells_fini(sac_cells *cells);

/* Cut the mesh into pieces no longer than `piece_size`, and take the cells as they are. */
sac_result sac_cover_init(sac_cover *cover, const sac_mesh *mesh, double piece_size, const sac_cells *cells,
                          sac_error *error);
void sac_cover_fini(sac_cover *cover);
/* Cut the surface pieces further, or `only` those marked (NULL: all). *out_from, to be freed by the caller
 * (one uint32_t for each new piece), tells which old piece each new one is part of. False, with the cover as
 * it was, when out of memory. */
bool sac_cover_refine(sac_cover *cover, double piece_size, const bool *only, const sac_cells *cells,
                      uint32_t **out_from);

/* Everything a method may look at; read-only while nodes are split. */
typedef struct sac_build {
    const sac_mesh *mesh;
    const sac_build_def *def;
    const sac_surface *surface;
    const sac_cover *cover;           /* grows finer from level to level, never while nodes are split */
    double low[3], high[3], diagonal; /* box of the mesh */
    double area;
    bool closed;
    const void *method; /* what the method's prepare made */
} sac_build;

/* A node about to be split: the pieces it stands for, and its own sphere. */
typedef struct sac_region {
    const uint32_t *pieces;
    uint32_t piece_count;
    uint32_t level;        /* of the node; its children are level + 1 */
    uint32_t levels_below; /* levels still to be made under the node, at least 1 */
    double centre[3], radius;
    double cell_low[3], cell_high[3]; /* regular subdivision: the node's box */
    uint64_t seed;                    /* its own, independent of threads */
} sac_region;

/* The answer: a group for each piece and a centre for each group. Radii follow from the pieces. Groups that
 * get no piece are dropped. */
typedef struct sac_split {
    uint32_t group_count; /* 1 .. branch */
    uint8_t *group_of;    /* one for each piece of the region; room is provided */
    double centre[SAC_TREE_MOST_BRANCH][3];
    double cell_low[SAC_TREE_MOST_BRANCH][3], cell_high[SAC_TREE_MOST_BRANCH][3];
} sac_split;

/* The levels made so far, while the next is being made. Nodes are the draft's; children of a node are
 * neighbours. */
typedef struct sac_growth {
    const sac_build *build;
    sac_cover *cover; /* build->cover */
    const sac_cells *cells;
    sac_draft *draft;
    sac_array(uint32_t) first_child; /* by draft node; child_count 0: none yet */
    sac_array(uint32_t) child_count;
    uint32_t level_first[SAC_TREE_MOST_DEPTH + 2]; /* first draft node of each level */
    uint32_t level;                                /* the deepest level made */
    sac_array(uint32_t) node_of; /* by piece: the node of the deepest level that stands for it */
    sac_array(uint32_t)
        pieces; /* sorted by node_of: the level's n-th node has those from starts[n] to starts[n + 1] */
    sac_array(uint32_t) starts;
    sac_arena *arenas; /* by worker */
} sac_growth;

/* A way of building: what to prepare once, how a node is split, and how a level is improved as a whole.
 * `split` runs on several threads at once and may use `arena` (its thread's own, reset after each node). They
 * return false when out of memory. */
typedef struct sac_splitter {
    sac_result (*prepare)(const sac_build *build, sac_arena *arena, void **out_method,
                          sac_error *error); /* or NULL */
    bool (*split)(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *out);
    bool (*relax)(sac_growth *growth); /* or NULL; may move pieces between nodes and centres of nodes */
} sac_splitter;

/* Sort the pieces again after node_of changed; false when out of memory. */
bool sac_growth_sort(sac_growth *growth);
/* Which pieces may lie on a border between the level's nodes; `owner` is scratch, one for each point. */
void sac_growth_find_borders(const sac_growth *growth, uint32_t *owner, bool *at_border);
/* Cut the pieces along the borders between the level's nodes to half their size; false when out of memory. */
bool sac_growth_sharpen(sac_growth *growth, double piece_size);
/* Grow all levels of the draft; `cover` is build->cover, which is cut finer before each level. */
sac_result sac_grow(const sac_build *build, sac_cover *cover, const sac_cells *cells,
                    const sac_splitter *splitter, sac_draft *draft, sac_error *error);
/* Edge length of pieces for the nodes of a level. */
double sac_piece_size(const sac_build *build, uint32_t level);

extern const sac_splitter sac_splitter_medial, sac_splitter_hubbard, sac_splitter_octree, sac_splitter_grid,
    sac_splitter_wrapped;

/* Mass of the leaf spheres {x, y, z, r} as solid balls, overlaps counted as often as they occur: an upper
 * estimate for objects without a closed mesh. Values beyond a float become the largest float. */
void sac_mass_of_leaf_spheres(const float (*spheres)[4], uint32_t count, sac_mass *out_mass);

/* Smallest ball around points, exact up to rounding; `count` >= 1. */
void sac_ball_of_points(const double (*points)[3], uint32_t count, double out_centre[3], double *out_radius);
/* The same around balls {x, y, z, r}, r >= 0. */
void sac_ball_of_balls(const double (*balls)[4], uint32_t count, double out_centre[3], double *out_radius);
/* A float sphere about ball's centre that surely holds all `balls`, `slack` more than it must. */
void sac_ball_round(const double ball[4], const double (*balls)[4], uint32_t count, double slack,
                    float out_centre[3], float *out_radius);

/* Cookie, branching factor and depth are in range. */
sac_result sac_build_def_check(const sac_build_def *def, sac_error *error);

#endif
