#include "bench/straightforward.h"

#include <stdlib.h>

plain_tree plain_tree_of(const sac_tree *tree)
{
    plain_tree out = {malloc(tree->node_count * sizeof *out.nodes), tree->node_count};
    uint32_t slots = tree->block_count * SAC_LANES, n = 0;
    uint32_t *place = malloc(slots * sizeof *place);
    if (!out.nodes || !place) {
        free(place);
        plain_tree_fini(&out);
        return out;
    }
    /* Ids are breadth first already; only the empty lanes go. */
    for (uint32_t id = 0; id < slots; id++)
        if (sac_tree_has(tree, id)) place[id] = n++;
    for (uint32_t id = 0; id < slots; id++) {
        if (!sac_tree_has(tree, id)) continue;
        const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
        uint32_t k = id % SAC_LANES, link = tree->links[id / SAC_LANES].link[k];
        plain_node *node = &out.nodes[place[id]];
        *node = (plain_node){s->x[k], s->y[k], s->z[k], s->r[k], 0, 0, id};
        if (link & SAC_LINK_LEAF) continue;
        node->first_child = place[link * SAC_LANES];
        for (uint32_t i = 0; i < tree->blocks_per_node * SAC_LANES; i++)
            node->child_count += sac_tree_has(tree, link * SAC_LANES + i);
    }
    free(place);
    return out;
}

void plain_tree_fini(plain_tree *tree)
{
    free(tree->nodes);
    tree->nodes = NULL;
}

static plain_node moved(const plain_query *q, const plain_node *b)
{
    plain_node out = *b;
    out.x = (b->x * q->m[0][0] + b->y * q->m[0][1]) + (b->z * q->m[0][2] + q->m[0][3]);
    out.y = (b->x * q->m[1][0] + b->y * q->m[1][1]) + (b->z * q->m[1][2] + q->m[1][3]);
    out.z = (b->x * q->m[2][0] + b->y * q->m[2][1]) + (b->z * q->m[2][2] + q->m[2][3]);
    out.r = b->r * q->scale;
    return out;
}

static inline int touching(const plain_node *a, const plain_node *b)
{
    float x = b->x - a->x, y = b->y - a->y, z = b->z - a->z, r = a->r + b->r;
    return (x * x + y * y) + z * z <= r * r;
}

/* The children of a node, or itself when it has none. */
typedef struct family {
    const plain_node *first;
    uint32_t count;
} family;

static inline family family_of(const plain_node *nodes, const plain_node *node)
{
    return node->child_count ? (family){nodes + node->first_child, node->child_count} : (family){node, 1};
}

/* True when both are leaves, which are then written down. */
static inline bool finished(plain_query *q, const plain_node *a, const plain_node *b)
{
    if (a->child_count || b->child_count) return false;
    if (q->count < q->capacity) q->out_a[q->count] = a->id, q->out_b[q->count] = b->id;
    q->count++;
    return true;
}

static void descend(plain_query *q, const plain_node *a, const plain_node *b)
{
    plain_node there = moved(q, b);
    q->tests++;
    if (!touching(a, &there) || finished(q, a, b)) return;
    family as = family_of(q->a, a), bs = family_of(q->b, b);
    for (uint32_t i = 0; i < as.count; i++)
        for (uint32_t k = 0; k < bs.count; k++) descend(q, &as.first[i], &bs.first[k]);
}

/* The spheres of a and b touch. */
static void descend_hoisted(plain_query *q, const plain_node *a, const plain_node *b)
{
    if (finished(q, a, b)) return;
    family as = family_of(q->a, a), bs = family_of(q->b, b);
    plain_node there[SAC_TREE_MOST_BRANCH];
    q->tests += as.count * bs.count;
    for (uint32_t k = 0; k < bs.count; k++) there[k] = moved(q, &bs.first[k]);
    for (uint32_t i = 0; i < as.count; i++)
        for (uint32_t k = 0; k < bs.count; k++)
            if (touching(&as.first[i], &there[k])) descend_hoisted(q, &as.first[i], &bs.first[k]);
}

static plain_query query_of(const plain_tree *a, const sac_transform *pose_a, const plain_tree *b,
                            const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity)
{
    plain_query q = {.a = a->nodes, .b = b->nodes, .out_a = out_a, .out_b = out_b, .capacity = capacity};
    q.scale = sac_transform_between(pose_a, pose_b, q.m);
    return q;
}

size_t plain_collide(const plain_tree *a, const sac_transform *pose_a, const plain_tree *b,
                     const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                     uint64_t *tests)
{
    plain_query q = query_of(a, pose_a, b, pose_b, out_a, out_b, capacity);
    descend(&q, a->nodes, b->nodes);
    *tests += q.tests;
    return q.count;
}

size_t plain_collide_hoisted(const plain_tree *a, const sac_transform *pose_a, const plain_tree *b,
                             const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                             uint64_t *tests)
{
    plain_query q = query_of(a, pose_a, b, pose_b, out_a, out_b, capacity);
    plain_node root = moved(&q, b->nodes);
    q.tests = 1;
    if (touching(a->nodes, &root)) descend_hoisted(&q, a->nodes, b->nodes);
    *tests += q.tests;
    return q.count;
}
