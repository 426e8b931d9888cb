/* Soft bodies in a box, without a world around them: who meets whom, contacts, response, each on its own so
 * that each can be timed.
 *
 *   sac_heap_create(&def, &heap, &error);
 *   sac_heap_detect(heap, set);               // with the hierarchies of this set
 *   sac_heap_pull(heap), sac_heap_respond(heap), sac_heap_move(heap);
 */
#ifndef SAC_BENCH_SOFT_HEAP_H
#define SAC_BENCH_SOFT_HEAP_H

#include "deform/deform.h"

enum { SAC_HEAP_SETS = 6, SAC_HEAP_WALLS = 5 };

typedef struct sac_heap_def {
    const char *mesh;   /* built in; NULL: `points` spread over a ball, without triangles */
    uint32_t triangles; /* of the mesh: its points are the vertices */
    uint32_t points;
    uint32_t bodies, across; /* so many beside each other */
    float width;             /* of the box, in bodies */
    sac_soft_def soft;
    sac_soft_tree_def trees[SAC_HEAP_SETS]; /* normals are filled in */
    uint32_t sets;
    bool fine; /* points and triangles at the leaves; spheres then hold triangles */
} sac_heap_def;

typedef struct sac_heap {
    sac_heap_def def;
    sac_soft_shape *shape;
    sac_soft_shape_parts parts;
    sac_soft_tree *trees[SAC_HEAP_SETS];
    sac_soft **bodies;
    sac_soft_cover **covers; /* sets * bodies */
    sac_form *forms;         /* sets * bodies */
    sac_form walls[SAC_HEAP_WALLS];
    sac_soft_party *parties; /* bodies, and a wall */
    uint32_t *by_x;          /* bodies from left to right, and */
    sac_box *boxes;          /* theirs, side by side */
    sac_soft_contact *contacts;
    uint32_t contact_count, pair_count; /* of the last detection */
    uint32_t sphere_pairs;              /* that overlap */
    uint64_t tests;
    sac_soft_response *response;
    sac_workspace *workspace;
    uint32_t *lists; /* of pairs, six */
    float *velocities, (*normals)[3];
} sac_heap;

sac_result sac_heap_create(const sac_heap_def *def, sac_heap **out_heap, sac_error *error);
void sac_heap_destroy(sac_heap **heap);

/* Broad phase, descent to the leaves of the set's hierarchies, contacts. */
void sac_heap_detect(sac_heap *heap, uint32_t set);
void sac_heap_pull(sac_heap *heap);
sac_result sac_heap_respond(sac_heap *heap, sac_error *error);
void sac_heap_move(sac_heap *heap);
/* Velocities aside and back: the same state is answered on several levels. */
void sac_heap_keep(sac_heap *heap);
void sac_heap_restore(sac_heap *heap);

uint64_t sac_heap_refits(const sac_heap *heap, uint32_t set);

#endif
