/* The parts of `saccade bench soft`, a file each: they say their table and add rows to their arrays. */
#ifndef SAC_BENCH_BENCH_SOFT_H
#define SAC_BENCH_BENCH_SOFT_H

#include "apps/console.h"
#include "base/error.h"
#include "deform/deform.h"

enum { SAC_BENCH_SOFT_REPEATS = 99 }; /* most */

/* Meshless surfaces: boxes from nodes (`aabb`), two surfaces against complete refits (`refit`). */
sac_result sac_bench_soft_surface(uint32_t repeats, json_t *aabb, json_t *refit, sac_error *error);

/* The ladder of levels (Spillmann's table 1), and a frame of three large bodies. */
sac_result sac_bench_soft_ladder(uint32_t repeats, json_t *out, sac_error *error);
sac_result sac_bench_soft_frame(uint32_t repeats, json_t **out, sac_error *error);

/* The ladder as a page with one chart: cost against level, the paper's beside ours. */
sac_result sac_bench_soft_chart(const json_t *ladder, const char *path, sac_error *error);
/* Refits and time by number of points at equal contact, and visits against smallest spheres. */
sac_result sac_bench_soft_sense(uint32_t repeats, json_t *sizes, json_t *visited, sac_error *error);

/* CPU time of this thread, microseconds. */
double sac_bench_soft_us(void);

#endif
