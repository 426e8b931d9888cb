/* Six figures that hang from a ring and swing into each other, after the scene of Steinemann, Otaduy and
 * Gross 2008: a fine surface carried by few simulation nodes.
 *
 * Index: sac_figure_ring_begin  sac_figure_ring_end  sac_figure_ring_pose  sac_figure_bend
 */
#ifndef SAC_BENCH_FIGURE_RING_H
#define SAC_BENCH_FIGURE_RING_H

#include "deform/deform.h"

enum { SAC_FIGURES = 6 };

typedef struct sac_figure_ring {
    uint32_t vertex_count, triangle_count, node_count;
    float (*vertices)[3], (*nodes)[3];
    uint32_t (*triangles)[3];
    sac_meshless_model *model;
    sac_meshless *bodies[SAC_FIGURES], *others[SAC_FIGURES]; /* the same twice, for two ways to meet */
    float radius;
} sac_figure_ring;

/* A figure of about 2 + rings * segments vertices, nodes spread inside. `radius` of the ring in widths of a
 * figure: neighbours are that far apart. After a failure, end it too. */
sac_result sac_figure_ring_begin(sac_figure_ring *ring, uint32_t vertices, uint32_t nodes, float radius,
                                 const sac_meshless_def *def, sac_error *error);
void sac_figure_ring_end(sac_figure_ring *ring);
/* All nodes of a set of bodies as they are at a time, s. */
void sac_figure_ring_pose(const sac_figure_ring *ring, sac_meshless *const *bodies, double time);
/* One figure, bent along its depth. */
void sac_figure_bend(const sac_figure_ring *ring, sac_meshless *body, double much);

#endif
