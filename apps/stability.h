/* Frame-rate stability: the largest load each engine holds without a missed frame, at each refresh rate and
 * budget, found by ramp and bisection; and what it looks like when all are given the same load.
 *
 *   sac_stability stability = {.def = &def};
 *   sac_stability_search(&stability, &error);
 *   sac_stability_save(&stability, "out", &error);       // index.html, trials.csv, frames.csv,
 * stability.json sac_stability_fini(&stability);
 *
 * Index: sac_stability_search  sac_stability_held  sac_stability_json  sac_stability_save  sac_stability_fini
 */
#ifndef SAC_APPS_STABILITY_H
#define SAC_APPS_STABILITY_H

#include <jansson.h>

#include "bench/trial.h"

#define SAC_STABILITY_MOST 16u /* contenders, rates and budgets, each */

typedef struct sac_contender {
    const char *name; /* a policy of ours, or another engine */
    const sac_peer_engine *engine;
    const char *policy; /* NULL for other engines */
    bool unlimited;     /* knows no budget: takes as long as it takes */
} sac_contender;

typedef struct sac_stability_def {
    const char *scene, *shape;
    uint64_t seed;
    sac_contender contenders[SAC_STABILITY_MOST];
    uint32_t contender_count;
    double hz[SAC_STABILITY_MOST], budget_us[SAC_STABILITY_MOST];
    uint32_t hz_count, budget_count;
    double seconds;     /* of simulated time in a trial */
    double precision;   /* bisection ends when first failure / largest held is within 1 + this */
    uint32_t most;      /* no more bodies than this */
    uint32_t most_same; /* no more in the load that all are given */
    uint32_t spin_every;
} sac_stability_def;

/* The answer to one question. */
typedef struct sac_held {
    uint32_t contender;
    double hz, budget_us;
    uint32_t bodies;           /* 0: not even one */
    uint32_t fails_at;         /* the smallest load seen to fail; 0: none did, the limit was reached */
    sac_percentiles cpu, wall; /* us, at `bodies` */
    uint32_t misses_machine;   /* frames late at `bodies` that the noise floor explains */
    sac_penetration overlap;   /* at `bodies`, at the end */
    double waiting;            /* and how many of them stood still in mid-motion: share, mean of all frames */
} sac_held;

/* A trial that was run, without its frames. */
typedef struct sac_load {
    uint32_t contender, bodies, frames;
    double hz, budget_us;
    bool complete, held;
    sac_percentiles cpu, wall; /* us */
    uint32_t misses, misses_own;
    sac_penetration overlap; /* at the end */
    double waiting;
} sac_load;

typedef struct sac_stability {
    const sac_stability_def *def;
    sac_array(sac_held) held;
    sac_array(sac_load) loads;
    /* The same load for all: one trial each, in order of contenders. */
    sac_trial same[SAC_STABILITY_MOST];
    uint32_t same_count, same_bodies;
    double same_hz, same_budget_us;
    sac_noise_floor floor;
    double seconds; /* it took */
} sac_stability;

/* Shows progress on the console. What was found before an error stays in place. */
sac_result sac_stability_search(sac_stability *stability, sac_error *error);
/* NULL when that was not asked. */
const sac_held *sac_stability_held(const sac_stability *stability, uint32_t contender, double hz,
                                   double budget_us);
/* NULL for want of memory. Sorts the noise floor. */
json_t *sac_stability_json(sac_stability *stability);
sac_result sac_stability_save(sac_stability *stability, const char *folder, sac_error *error);
void sac_stability_fini(sac_stability *stability);

#endif
