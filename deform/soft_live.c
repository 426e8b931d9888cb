/* The hierarchy of a soft body as a tree like any other: a meeting says which nodes it is going to open, and
 * their children are refitted just before its kernel reads them. */
#include "deform/soft_tree_internal.h"

#include <math.h>
#include <string.h>

static void open_nodes(void *owner, const uint32_t *links, uint32_t count)
{
    sac_soft_cover *cover = owner;
    const uint64_t now = cover->soft->step;
    for (uint32_t i = 0; i < count; i++)
        if (!(links[i] & SAC_LINK_LEAF) && cover->step[links[i]] != now)
            sac_soft_cover_block(cover, links[i]);
}

/* Reads only: a block that is out of date is refitted on the side. Those that span clusters never are,
 * because they are renewed with the form. */
static void node_now(const void *owner, uint32_t id, sac_tree_node_info *out)
{
    const sac_soft_cover *cover = owner;
    const sac_soft_tree *tree = cover->tree;
    uint32_t block = id / SAC_LANES, lane = id % SAC_LANES, level = 0;
    *out = (sac_tree_node_info){.radius = NAN, .cone = 4};
    if (block >= tree->block_count || !tree->range[id].count) return;
    const sac_sphere_block *s = &cover->spheres[block];
    uint32_t cluster = tree->lane_cluster[id];
    sac_sphere_block fresh;
    if (cover->step[block] != cover->soft->step && cluster != SAC_SOFT_SPANS) {
        const sac_soft_map *map = &cover->soft->clusters[cluster].map;
        bool quadratic = cover->soft->model->def.mode == SAC_SOFT_QUADRATIC;
        sac_refit_job job = {.map = map,
                             .quadratic = quadratic,
                             .local = tree->def.bound == SAC_SOFT_BOUND_LOCAL,
                             .norm_a = sac_norm_above_f(map->a)};
        if (quadratic)
            job.norm_square = sac_norm_above_f(map->qq), job.norm_mixed = sac_norm_above_f(map->mixed);
        cover->kernel(&job, &tree->rest[block], sac_soft_rim_of(tree, block), &fresh);
        s = &fresh;
    }
    while (block >= tree->level_block[level + 1]) level++;
    uint32_t link = tree->links[block].link[lane];
    *out = (sac_tree_node_info){.centre = {s->x[lane], s->y[lane], s->z[lane]},
                                .radius = s->r[lane],
                                .gap = s->r[lane],
                                .point = {s->x[lane], s->y[lane], s->z[lane]},
                                .cone = 4,
                                .level = level,
                                .leaf = (link & SAC_LINK_LEAF) != 0};
    if (!tree->normal || cluster == SAC_SOFT_SPANS) return;
    sac_soft_turn_normal(cover->soft->clusters[cluster].cofactor, tree->normal[id], out->normal);
    if (out->normal[0] != 0 || out->normal[1] != 0 || out->normal[2] != 0) out->cone = 0;
}

void sac_soft_cover_live(sac_soft_cover *cover)
{
    const sac_soft_tree *tree = cover->tree;
    sac_tree *view = &cover->view;
    cover->live = (sac_live){open_nodes, node_now, cover, 150};
    *view = (sac_tree){.branch = SAC_LANES,
                       .depth = tree->depth,
                       .blocks_per_node = 1,
                       .block_count = tree->block_count,
                       .node_count = tree->node_count,
                       .leaf_count = tree->leaf_count,
                       .method = SAC_METHOD_WRAPPED,
                       .spheres = cover->spheres,
                       .links = tree->links,
                       .parents = tree->parents};
    memcpy(view->level_block, tree->level_block, sizeof view->level_block);
    for (uint32_t level = 0; level <= tree->depth; level++) {
        view->level_fill[level] = 1; /* opened without asking how far children reach */
        for (uint32_t id = tree->level_block[level] * SAC_LANES;
             id < tree->level_block[level + 1] * SAC_LANES; id++)
            view->level_nodes[level] += tree->range[id].count > 0;
    }
}

void sac_soft_cover_renew(sac_soft_cover *cover, sac_form *form)
{
    if (!cover || !form) return;
    const sac_soft_tree *tree = cover->tree;
    /* What spans clusters comes first and is needed by every query. */
    const sac_sphere_block *root = sac_soft_cover_block(cover, 0);
    for (uint32_t block = 1; block < tree->block_count && tree->cluster[block] == SAC_SOFT_SPANS; block++)
        sac_soft_cover_block(cover, block);
    memcpy(form->ball, (float[4]){root->x[0], root->y[0], root->z[0], root->r[0]}, sizeof form->ball);
    form->box = cover->soft->box;
    for (int k = 0; k < 3; k++) form->mass.centre[k] = form->ball[k];
}

void sac_soft_cover_form(sac_soft_cover *cover, sac_form *out_form)
{
    if (!cover || !out_form) return;
    const sac_soft_tree *tree = cover->tree;
    sac_form form = {
        .kind = SAC_FORM_TREE, .levels = tree->depth, .tree = &cover->view, .live = &cover->live};
    for (uint32_t level = 0; level <= SAC_TREE_MOST_DEPTH; level++) {
        uint32_t at = level < tree->depth ? level : tree->depth;
        for (uint32_t id = tree->level_block[at] * SAC_LANES; id < tree->level_block[at + 1] * SAC_LANES;
             id++) {
            float r = tree->thick ? tree->thick[id] : tree->rest[id / SAC_LANES].r[id % SAC_LANES];
            if (r > form.level_gap[level]) form.level_gap[level] = r; /* not of lanes without a node */
        }
    }
    sac_soft_cover_renew(cover, &form);
    if (form.level_gap[0] == 0)
        form.level_gap[0] = form.ball[3]; /* a root that spans clusters has no rest sphere */
    form.thickness = 1e-3f * form.ball[3];
    for (uint32_t level = 1; level <= SAC_TREE_MOST_DEPTH; level++)
        if (form.level_gap[level] == 0) form.level_gap[level] = form.level_gap[level - 1];
    *out_form = form;
}
