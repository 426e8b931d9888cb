/* Small trees out of a seed, for tests and fuzzers: ragged (leaves on every level, missing children), with
 * children that may reach out of their parents. */
#ifndef SAC_TESTS_RANDOM_TREE_H
#define SAC_TESTS_RANDOM_TREE_H

#include <stdio.h>

#include "base/rng.h"
#include "spheretree/build_internal.h"

static inline sac_draft_node random_tree_node(sac_rng *rng, uint32_t parent, const sac_draft_node *above)
{
    sac_draft_node node = {.parent = parent, .cone = sac_rng_range(rng, 0, 3.14f)};
    node.radius = above ? above->radius * sac_rng_range(rng, 0.2f, 0.6f) : 1.0f;
    node.gap = node.radius * sac_rng_float(rng);
    float way[3];
    sac_rng_unit_vector(rng, way);
    sac_rng_unit_vector(rng, node.normal);
    for (int k = 0; k < 3; k++) {
        node.centre[k] = above ? above->centre[k] + way[k] * above->radius * 0.7f : way[k];
        node.point[k] = node.centre[k] + 0.5f * node.radius * node.normal[k];
    }
    return node;
}

/* NULL only when out of memory. `full`: every node has `branch` children down to `depth`. */
static inline sac_tree *random_tree(uint64_t seed, uint32_t branch, uint32_t depth, bool full)
{
    sac_rng rng = sac_rng_seed(seed);
    sac_draft draft = {0};
    sac_tree *tree = NULL;
    bool good = sac_array_push(&draft.nodes, random_tree_node(&rng, SAC_DRAFT_ROOT, NULL));
    size_t begin = 0;
    for (uint32_t level = 0; good && level < depth; level++) {
        size_t end = draft.nodes.count;
        for (size_t i = begin; good && i < end; i++) {
            uint32_t children = full ? branch : sac_rng_below(&rng, branch + 1);
            if (i == begin && children == 0) children = 1; /* reach the depth */
            for (uint32_t k = 0; good && k < children; k++) {
                sac_draft_node node = random_tree_node(&rng, (uint32_t)i, &draft.nodes.data[i]);
                good = sac_array_push(&draft.nodes, node);
            }
        }
        begin = end;
    }
    sac_tree like = {.branch = branch,
                     .method = SAC_METHOD_WRAPPED,
                     .flags = SAC_TREE_CLOSED,
                     .box = {{-2, -2, -2}, {2, 2, 2}},
                     .mass = {.volume = 1, .centre = {0.5f, 0, 0}, .inertia = {1, 2, 3, 0.1f, 0.2f, 0.3f}}};
    snprintf(like.name, sizeof like.name, "random %u", (unsigned)seed);
    if (good) sac_draft_assemble(&draft, &like, &tree, NULL);
    sac_array_fini(&draft.nodes);
    return tree;
}

#endif
