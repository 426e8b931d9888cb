/* The noise floor of the machine: a spin loop that only reads the clock and tries to stop at a deadline, run
 * in turn with the steps that are measured. What it overshoots, no program on this machine could have kept.
 * It stops in time unless it stalls at its end; work stalls anywhere, so the longest stall of each spin is
 * kept beside.
 *
 *   sac_noise_floor floor = {0};
 *   sac_noise_floor_spin(&floor, 2000000);
 *   sac_percentiles us = sac_noise_floor_wall_us(&floor);
 *   sac_noise_floor_fini(&floor);
 *
 * Index: sac_noise_floor_spin  sac_noise_floor_wall_us  sac_noise_floor_cpu_us
 *        sac_noise_floor_stall_us  sac_noise_floor_allowance_ns  sac_noise_floor_clear
 *        sac_noise_floor_fini
 */
#ifndef SAC_BENCH_NOISE_FLOOR_H
#define SAC_BENCH_NOISE_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "bench/percentile.h"

typedef struct sac_noise_floor {
    sac_array(double) wall_us;  /* overshoot of each spin */
    sac_array(double) cpu_us;   /* CPU time of the thread beyond the budget; negative while it was away */
    sac_array(double) stall_us; /* longest time between two looks at the clock */
} sac_noise_floor;

/* False when there is no memory to keep it. */
bool sac_noise_floor_spin(sac_noise_floor *floor, uint64_t budget_ns);
/* These sort what was kept. */
sac_percentiles sac_noise_floor_wall_us(sac_noise_floor *floor);
sac_percentiles sac_noise_floor_cpu_us(sac_noise_floor *floor);
sac_percentiles sac_noise_floor_stall_us(sac_noise_floor *floor);
/* How far CPU time may lie beyond a budget that is held all the same: 50 microseconds more than the most seen
 * of the spin loop from spin `first` on, 250 at the most. Ask before sorting. */
uint64_t sac_noise_floor_allowance_ns(const sac_noise_floor *floor, size_t first);
/* Forgets what was kept, keeps the memory. */
void sac_noise_floor_clear(sac_noise_floor *floor);
void sac_noise_floor_fini(sac_noise_floor *floor);

#endif
