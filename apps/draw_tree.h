/* Pictures of trees: the mesh and each level side by side.
 *
 * Index: sac_default_strip_def  sac_strip_draw  sac_scene_add_level  sac_cluster_colour  sac_clay_colour
 */
#ifndef SAC_APPS_DRAW_TREE_H
#define SAC_APPS_DRAW_TREE_H

#include "apps/scene.h"

enum { SAC_ALL_LEVELS = -1, SAC_CAPTION_MOST = 96 };

typedef struct sac_strip_def {
    sac_view view;
    uint32_t width, height; /* height 0: follows from the number of panels */
    int level;              /* one level, or SAC_ALL_LEVELS: 1 to the last */
    bool overlay;           /* translucent spheres over the mesh instead of solid ones */
    uint32_t threads;
    const char *title;               /* under the mesh; NULL: the tree's name */
    const sac_level_quality *levels; /* for the captions; NULL: the gaps stored in the tree */
} sac_strip_def;

sac_strip_def sac_default_strip_def(void);

/* Mesh (NULL: none) and levels; `picture` is initialised and must be released. */
sac_result sac_strip_draw(const sac_tree *tree, const sac_mesh *mesh, const sac_strip_def *def,
                          sac_picture *out_picture, sac_error *error);

/* The spheres of one level, and the leaves that ended above it, in colours of their clusters. Adds to
 * *out_count (may be NULL). False when out of memory. */
bool sac_scene_add_level(sac_scene *scene, sac_ball_look look, const sac_tree *tree, uint32_t level,
                         const sac_transform *transform, uint32_t *out_count);

/* A node's colour: hue by its ancestor on level 1, shade by the one on level 2. */
void sac_cluster_colour(const sac_tree *tree, uint32_t id, float out[3]);
void sac_clay_colour(float out[3]);

#endif
