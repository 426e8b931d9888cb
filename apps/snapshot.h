/* A moment of a running world, kept to be drawn later: what the viewer sees, bodies in the colour of what is
 * still wrong with them or of the group they were put in.
 *
 *   sac_snapshot moment;
 *   sac_snapshot_take(&moment, &staging, world, &viewer, frame);
 *   ...
 *   sac_snapshot_draw(&moment, &staging, SAC_COLOUR_JND, 1200, 700, threads, &picture, &error);
 *   sac_snapshot_fini(&moment);
 *
 * Index: sac_snapshot_take  sac_snapshot_fini  sac_snapshot_draw  sac_snapshot_legend
 */
#ifndef SAC_APPS_SNAPSHOT_H
#define SAC_APPS_SNAPSHOT_H

#include "apps/page.h"
#include "apps/staging.h"

typedef struct sac_snapshot_body {
    uint32_t prop;
    sac_transform pose;
    float jnd;
    uint8_t group;
    bool awake, dynamic;
    uint32_t first_vertex, vertex_count; /* of what bends, where they are; 0: stiff */
} sac_snapshot_body;

typedef struct sac_snapshot_vertex {
    float at[3];
} sac_snapshot_vertex;

typedef struct sac_snapshot {
    uint64_t frame;
    sac_viewer viewer;
    sac_array(sac_snapshot_body) bodies;
    sac_array(sac_snapshot_vertex) vertices;
} sac_snapshot;

typedef enum sac_snapshot_colouring {
    SAC_COLOUR_JND,  /* visible error left: calm below 1 JND, then yellow to red */
    SAC_COLOUR_GROUP /* priority group of its most visible pair */
} sac_snapshot_colouring;

/* False when out of memory. */
bool sac_snapshot_take(sac_snapshot *out_snapshot, const sac_staging *staging, const sac_world *world,
                       const sac_viewer *viewer, uint64_t frame);
void sac_snapshot_fini(sac_snapshot *snapshot);

/* What the viewer sees, with a ring 5 degrees about the gaze. `out_picture` is initialised and must be
 * released. */
sac_result sac_snapshot_draw(const sac_snapshot *snapshot, const sac_staging *staging,
                             sac_snapshot_colouring colouring, uint32_t width, uint32_t height,
                             uint32_t threads, sac_picture *out_picture, sac_error *error);
/* What the colours mean, as a line of swatches. */
void sac_snapshot_legend(sac_page *page, sac_snapshot_colouring colouring);

#endif
