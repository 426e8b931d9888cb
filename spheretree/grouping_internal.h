/* Dividing balls into tight groups, and growing a hierarchy level by level from such divisions. Private to
 * spheretree/. */
#ifndef SAC_SPHERETREE_GROUPING_INTERNAL_H
#define SAC_SPHERETREE_GROUPING_INTERNAL_H

#include "spheretree/build_internal.h"

/* Permutes `items` (indices into `balls`) so that the groups lie one after the other, of equal size up to
 * one, by cutting across good axes. False: no memory. */
bool sac_group_balanced(const double (*balls)[4], uint32_t *items, uint32_t count, uint32_t groups,
                        sac_arena *arena, uint32_t *out_sizes);

typedef struct sac_grouping {
    const double (*balls)[4];
    uint32_t *items, count; /* permuted as above */
    uint32_t groups;        /* 1 to 16, at most count */
    uint32_t least, most;   /* sizes allowed; groups * least <= count <= groups * most */
    uint32_t starts;        /* tries besides the balanced division */
    bool lone_free;         /* a group of one costs nothing: it is never opened */
} sac_grouping;

/* As balanced, then improved by moving and swapping balls; the best of several starts. */
bool sac_group_tight(const sac_grouping *grouping, sac_arena *arena, uint32_t *out_sizes, double *out_cost);

/* A node of a growing hierarchy stands for items order[first .. first + count). */
typedef struct sac_cluster {
    uint32_t first, count;
    uint32_t parent; /* SAC_DRAFT_ROOT for the first */
    uint32_t level;
    bool leaf;
} sac_cluster;

/* Divides the `count` items of a node in place, sizes into `out_sizes`; *out_groups = 0 makes it a leaf.
 * Runs on several threads at once. False: no memory. */
typedef bool sac_cluster_split(const void *context, const sac_cluster *cluster, uint32_t *items,
                               sac_arena *arena, uint32_t *out_groups, uint32_t *out_sizes);

typedef struct sac_hierarchy {
    uint32_t *order, count;
    sac_array(sac_cluster) clusters; /* breadth first, children of a node together */
} sac_hierarchy;

/* Grows from one node that holds all items until `split` makes leaves only, or cancelled by def->progress
 * (which sees 0 to 0.9). */
sac_result sac_hierarchy_grow(sac_hierarchy *hierarchy, uint32_t count, const sac_build_def *def,
                              sac_cluster_split *split, const void *context, sac_error *error);
void sac_hierarchy_fini(sac_hierarchy *hierarchy);

/* No point of `ball` is farther than this from the union of `balls`; `count` >= 1. The more balls the whole
 * tree is `of`, the less effort goes into a close bound. */
double sac_union_gap(const double ball[4], const double (*balls)[4], uint32_t count, uint32_t of);

/* A ball about the piece's middle that holds it. */
void sac_piece_ball(const sac_cover *cover, uint32_t piece, double ball[4]);
/* Centre every group on the smallest ball of its pieces; false: no memory. */
bool sac_split_centre(const sac_build *build, const sac_region *region, sac_arena *arena, sac_split *split);

#endif
