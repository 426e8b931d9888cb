/* How well bodies are kept apart, told from their poses alone and so the same for every engine: overlap
 * between leaf spheres of different bodies, depth into the floor, bodies that got out of the box.
 *
 *   sac_penetration_room room = {0};
 *   sac_penetration p;
 *   sac_penetration_measure(&room, &scene, poses, NULL, &p, &error);
 *   sac_penetration_room_fini(&room);
 *
 * Index: sac_penetration_measure  sac_penetration_measure_cast  sac_penetration_room_fini
 */
#ifndef SAC_BENCH_PENETRATION_H
#define SAC_BENCH_PENETRATION_H

#include "base/memory.h"
#include "bench/peer.h"

typedef struct sac_penetration {
    uint64_t pairs;                 /* of spheres that overlap */
    double mean_mm, p99_mm, max_mm; /* over these pairs; 0 for none */
    double floor_mm;                /* deepest sphere into the floor */
    uint32_t outside;               /* bodies whose centre is beyond a wall or below the floor */
    uint32_t not_finite;            /* bodies with a pose that is no pose; left out of all else */
} sac_penetration;

/* Look only where somebody looks: pairs that overlap within `degrees` of the direction. */
typedef struct sac_penetration_view {
    float eye[3], direction[3]; /* direction: unit */
    float degrees;
} sac_penetration_view;

/* Bodies of several shapes and sizes. */
typedef struct sac_penetration_shape {
    float (*spheres)[4]; /* local: centre, radius */
    uint32_t count;
} sac_penetration_shape;
typedef struct sac_penetration_wear {
    uint32_t shape;
    float scale;
} sac_penetration_wear;
typedef struct sac_penetration_cast {
    const sac_penetration_shape *shapes;
    const sac_penetration_wear *wear; /* of each body; NULL: all the first shape, as it is */
    uint32_t body_count;
    float side; /* between the walls of an open box about the origin, its floor at y = 0; 0: there is none */
} sac_penetration_cast;

/* Memory kept from one call to the next; start with zeros. */
typedef struct sac_penetration_room {
    sac_array(float) balls;   /* four a body */
    sac_array(float) reach;   /* of each shape */
    sac_array(uint32_t) near; /* bodies or spheres */
    sac_array(float) spheres; /* four a sphere, world */
    sac_array(uint32_t) owner;
    sac_array(uint32_t) order;
    sac_array(uint32_t) first;
    sac_array(double) depths;
} sac_penetration_room;

/* `view` NULL: everywhere. Fails for want of memory only. */
sac_result sac_penetration_measure(sac_penetration_room *room, const sac_shared_scene *scene,
                                   const sac_peer_pose *poses, const sac_penetration_view *view,
                                   sac_penetration *out_penetration, sac_error *error);
sac_result sac_penetration_measure_cast(sac_penetration_room *room, const sac_penetration_cast *cast,
                                        const sac_peer_pose *poses, const sac_penetration_view *view,
                                        sac_penetration *out_penetration, sac_error *error);
void sac_penetration_room_fini(sac_penetration_room *room);

#endif
