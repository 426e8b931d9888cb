/* Crossing triangles of surfaces by spatial hashing: every step all triangles that may matter go into the
 * cells they overlap, and those that share a cell are tried. For comparison.
 *
 * Index: sac_surface_hash_create  sac_surface_hash_destroy  sac_surface_hash_meet
 */
#ifndef SAC_BENCH_SURFACE_HASH_H
#define SAC_BENCH_SURFACE_HASH_H

#include "deform/deform.h"

typedef struct sac_surface_hash sac_surface_hash;
/* For `count` bodies with this many triangles each; cells of `cell` m. */
sac_result sac_surface_hash_create(uint32_t count, uint32_t triangles, float cell,
                                   sac_surface_hash **out_hash, sac_error *error);
void sac_surface_hash_destroy(sac_surface_hash **hash);
/* How many triangles of each body cross those of the next (the last one's next is the first). Vertices of all
 * are moved. UINT32_MAX when memory ran out. */
uint32_t sac_surface_hash_meet(sac_surface_hash *hash, sac_meshless *const *bodies);

#endif
