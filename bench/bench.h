/* The benchmarks, each a command: arguments after its name in, exit code out (0 done, 1 failed, 2 wrong
 * usage). Every one prints a table for people and, as its last line, one JSON object with the same numbers.
 */
#ifndef SAC_BENCH_BENCH_H
#define SAC_BENCH_BENCH_H

#include <stdint.h>

/* The dual-tree descent against the straightforward version. */
int sac_bench_descent(int argc, char **argv);
/* Building trees: seconds and quality, methods side by side. */
int sac_bench_bake(int argc, char **argv);
/* Who could meet: pairs of boxes, against sort and sweep. */
int sac_bench_broad(int argc, char **argv);
/* Our engine beside Bullet and ODE on the same scenes. */
int sac_bench_peers(int argc, char **argv);
/* What deciding costs: perception, groups, a heap, a sort. */
int sac_bench_schedule(int argc, char **argv);

/* The contact solver: nanoseconds a contact and pass, by set size, SIMD path and threads. */
int sac_bench_solve(int argc, char **argv);
/* Soft bodies: deformation, spheres and boxes that follow it, against refitting everything. */
int sac_bench_soft(int argc, char **argv);

/* Sorts the values. */
double sac_bench_median(double *values, uint32_t count);

#endif
