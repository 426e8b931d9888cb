/* One engine under one load at one frame rate: does it keep its budget, and if not, was it the engine or the
 * machine? Steps and spins of the noise floor take turns.
 *
 *   sac_trial_def def = {.engine = engine, .scene = "pile", .shape = "t24", .bodies = 200, .hz = 90,
 *                        .budget_ns = 2000000, .frames = 540, .spin_every = 4};
 *   sac_trial trial;
 *   sac_trial_run(&def, &floor, &trial, &error);
 *   sac_trial_fini(&trial);
 *
 * Index: sac_trial_run  sac_trial_held  sac_trial_lost  sac_trial_fini
 */
#ifndef SAC_BENCH_TRIAL_H
#define SAC_BENCH_TRIAL_H

#include "bench/noise_floor.h"
#include "bench/peer.h"
#include "bench/penetration.h"

typedef struct sac_trial_def {
    const sac_peer_engine *engine;
    const char *policy; /* of an engine with budgets */
    const char *scene, *shape;
    uint32_t bodies;
    uint64_t seed;
    double hz;
    uint64_t budget_ns;
    uint64_t give_up_ns; /* the third step with more CPU time than this ends the trial; 0: none does */
    uint32_t frames;
    uint32_t spin_every;                      /* frames from spin to spin; 0: none */
    bool unlimited;                           /* the engine is not told the budget, only judged by it */
    bool (*progress)(float done, void *user); /* of this trial, false ends it; may be NULL */
    void *user;
} sac_trial_def;

typedef struct sac_trial {
    uint32_t bodies, frames;  /* frames run */
    bool complete;            /* not given up */
    double *wall_us, *cpu_us; /* each step */
    uint32_t room;            /* of these two */
    sac_percentiles wall, cpu;
    uint64_t budget_ns, allowance_ns;
    uint32_t misses;         /* steps longer than the budget by the wall clock */
    uint32_t misses_own;     /* of those, with more CPU time than budget and allowance: the engine's own */
    sac_penetration overlap; /* at the end */
    double waiting;          /* share of bodies that stood still in mid-motion, mean of all frames */
} sac_trial;

/* `floor` collects the spins of this trial beside earlier ones. ERROR_CANCELLED when `progress` says so. */
sac_result sac_trial_run(const sac_trial_def *def, sac_noise_floor *floor, sac_trial *out_trial,
                         sac_error *error);
/* Whether every step kept `budget_ns`, but for what the machine took, and no body was lost on the way (out of
 * the box, or nowhere at all); false for a trial that was given up. */
bool sac_trial_held(const sac_trial *trial, uint64_t budget_ns);
/* Bodies out of the box or without a pose at the end. */
uint32_t sac_trial_lost(const sac_trial *trial);
void sac_trial_fini(sac_trial *trial);

#endif
