/* The figures of a baked tree, level by level: bake it, measure it, print it.
 *
 * Index: sac_baked_make  sac_baked_fini  sac_quality_stored  sac_quality_say  sac_quality_json
 *        sac_method_pick
 */
#ifndef SAC_APPS_QUALITY_H
#define SAC_APPS_QUALITY_H

#include "apps/shape.h"

typedef struct sac_baked {
    sac_tree *tree;
    double seconds, cpu_seconds; /* building only */
    double measure_seconds;      /* 0 when it was not measured */
    sac_level_quality levels[SAC_TREE_MOST_DEPTH + 1];
    double level_seconds[SAC_TREE_MOST_DEPTH +
                         1]; /* to make each level; NaN where the method makes all at once */
} sac_baked;

/* Build the shape's tree and, when `measure` is given, measure it. On failure there is nothing to release. */
sac_result sac_baked_make(const sac_shape *shape, const sac_build_def *def, const sac_measure_def *measure,
                          sac_baked *out_baked, sac_error *error);
void sac_baked_fini(sac_baked *baked);

/* Gaps from what the nodes store, when there is nothing to measure against; the rest is NaN. */
void sac_quality_stored(const sac_tree *tree, sac_level_quality *levels);

/* The table of levels 0..depth, indented, with a heading. `seconds` of each level may be NULL. */
void sac_quality_say(const sac_level_quality *levels, const double *seconds, uint32_t depth);
/* The array "levels". */
json_t *sac_quality_json(const sac_level_quality *levels, const double *seconds, uint32_t depth);

/* A method a mesh or spheres can be baked with, by name. -1 to go on, else the exit code after a message. */
int sac_method_pick(const char *command, const char *name, sac_method *out_method);

#endif
