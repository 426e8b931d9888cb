/* What the parts of the medial builder pass to each other. Private to spheretree/.
 *
 * Words: the depth of a centre is its signed distance to the surface, positive inside. A sphere that must
 * hold certain points has a stand-off: its radius minus the depth of its centre, which bounds how far it
 * sticks out of the object. The builder looks for groups of pieces and centres with small stand-offs. */
#ifndef SAC_SPHERETREE_MEDIAL_INTERNAL_H
#define SAC_SPHERETREE_MEDIAL_INTERNAL_H

#include "spheretree/build_internal.h"

/* A region's corners, each once, as floats about the region's centre; lanes are padded by repetition. */
typedef struct sac_patch {
    const sac_build *build;
    const sac_region *region;
    double origin[3];
    float *x, *y, *z;
    uint32_t point_count, padded_count;
    uint32_t *corners, *first_corner; /* of each piece of the region: indices into x, y, z */
} sac_patch;

/* A sphere's centre in patch coordinates. */
typedef struct sac_seat {
    double centre[3];
    double depth;
    double anchor[3]; /* mean of the pieces it holds */
    uint32_t hint;    /* closest triangle, to find it again quickly */
    bool sure;        /* depth has the right sign for certain */
} sac_seat;

/* A set of spheres for a patch, with the pieces dealt out. */
typedef struct sac_seating {
    sac_seat seats[SAC_TREE_MOST_BRANCH];
    double standoff[SAC_TREE_MOST_BRANCH];
    double bias[SAC_TREE_MOST_BRANCH]; /* added to what the seat needs, so that it gets fewer pieces */
    uint32_t count;
    uint8_t *group_of; /* by piece */
    double cost;
    bool seated; /* there is a seating to speak of */
} sac_seating;

/* Among seats that need about the same stand-off the one whose pieces are near wins, or spheres about one
 * centre (those of a ball) would hold scattered pieces. In stand-off for each unit of distance to the anchor.
 */
#define SAC_SEAT_NEARNESS 0.005

bool sac_patch_init(sac_patch *patch, const sac_build *build, const sac_region *region, sac_arena *arena);
/* Depth and closest triangle of a centre given in patch coordinates. */
void sac_seat_update(const sac_patch *patch, sac_seat *seat);
/* Make the sign of the depth certain. */
void sac_seat_verify(const sac_patch *patch, sac_seat *seat);

/* The largest ball inside the object that touches the surface at a piece (shrinking ball). For an open mesh a
 * ball of no size on the surface. */
sac_seat sac_medial_ball(const sac_patch *patch, uint32_t piece);

/* Reducers: from many candidate seats to `count` of them; `chosen` gets indices. Each works on the matrix
 * need[i * m + j]: the stand-off seat i needs to hold all points of cell j, the points nearest to seat j. */
typedef struct sac_reduction {
    const float *need;
    const float *weight; /* points in cell j */
    uint32_t m;          /* candidates */
} sac_reduction;

bool sac_reduce_merge(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen);
bool sac_reduce_burst(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen);
bool sac_reduce_expand(const sac_reduction *in, uint32_t count, sac_arena *arena, uint32_t *chosen);

/* Deal the pieces out to the seats that need the least stand-off, refit the seats, and again; after two
 * rounds give up when the cost is still above `hopeless`. */
bool sac_seating_settle(const sac_patch *patch, sac_seating *seating, uint32_t rounds, uint32_t effort,
                        double hopeless, sac_arena *arena);

/* Improve the level just made across its parents. */
bool sac_medial_relax(sac_growth *growth);

#endif
