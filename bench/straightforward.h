/* The descent as one would write it first: nodes in an array of structs, plain recursion. What the kernel is
 * measured against. */
#ifndef SAC_BENCH_STRAIGHTFORWARD_H
#define SAC_BENCH_STRAIGHTFORWARD_H

#include "spheretree/spheretree.h"

typedef struct plain_node {
    float x, y, z, r;
    uint32_t first_child, child_count; /* siblings are neighbours; no children: a leaf */
    uint32_t id;                       /* in the sac_tree */
} plain_node;

typedef struct plain_tree {
    plain_node *nodes; /* breadth first, the root first */
    uint32_t count;
} plain_tree;

/* nodes is NULL when out of memory. */
plain_tree plain_tree_of(const sac_tree *tree);
void plain_tree_fini(plain_tree *tree);

typedef struct plain_query {
    const plain_node *a, *b;
    float m[3][4], scale; /* b in a's frame */
    uint32_t *out_a, *out_b;
    size_t count, capacity;
    uint64_t tests;
} plain_query;

/* All colliding leaf pairs; returns how many. Adds its sphere tests to *tests. Every test moves b's sphere
 * and compares it, every overlap is a call. */
size_t plain_collide(const plain_tree *a, const sac_transform *pose_a, const plain_tree *b,
                     const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                     uint64_t *tests);
/* The same with the obvious improvement: the children of b are moved once for all children of a. */
size_t plain_collide_hoisted(const plain_tree *a, const sac_transform *pose_a, const plain_tree *b,
                             const sac_transform *pose_b, uint32_t *out_a, uint32_t *out_b, size_t capacity,
                             uint64_t *tests);

#endif
