/* A sphere-tree as the form of a body. */
#include "spheretree/faces_internal.h"

#include <math.h>
#include <string.h>

/* Thickest ball of one leaf that is inside the object. Given spheres are the object; others stick out of it
 * by their gap. */
static float ball_inside(const sac_tree *tree, float radius, float gap)
{
    return tree->method == SAC_METHOD_SPHERES ? radius : radius - gap;
}

sac_result sac_form_from_tree(sac_form *out_form, const sac_tree *tree, sac_error *error)
{
    SAC_NEED(error, out_form, tree);
    if (tree->block_count == 0 || !sac_tree_has(tree, 0))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "build or load one first", "no tree for the form");
    sac_form form = {.kind = SAC_FORM_TREE, .levels = tree->depth, .tree = tree, .mass = tree->mass};
    const sac_sphere_block *root = tree->spheres;
    memcpy(form.ball, (float[4]){root->x[0], root->y[0], root->z[0], root->r[0]}, sizeof form.ball);
    form.box = sac_box_empty();
    for (uint32_t level = 0, id = 0; level <= tree->depth; level++) {
        for (; id < tree->level_block[level + 1] * SAC_LANES; id++) {
            if (!sac_tree_has(tree, id)) continue;
            uint32_t block = id / SAC_LANES, k = id % SAC_LANES;
            const sac_sphere_block *s = &tree->spheres[block];
            float r = s->r[k], gap = tree->features[block].gap[k];
            form.level_gap[level] = fmaxf(form.level_gap[level], gap);
            if (!(tree->links[block].link[k] & SAC_LINK_LEAF)) continue;
            /* A leaf stands for itself on deeper levels. */
            for (uint32_t below = level + 1; below <= SAC_TREE_MOST_DEPTH; below++)
                form.level_gap[below] = fmaxf(form.level_gap[below], gap);
            form.thickness = fmaxf(form.thickness, ball_inside(tree, r, gap));
            sac_box_add(&form.box, (float[3]){s->x[k] - r, s->y[k] - r, s->z[k] - r});
            sac_box_add(&form.box, (float[3]){s->x[k] + r, s->y[k] + r, s->z[k] + r});
        }
    }
    form.thickness = fmaxf(form.thickness, 1e-3f * form.ball[3]);
    sac_faces_find(&form);
    *out_form = form;
    return SAC_OK;
}
