/* A staging run headless for so many frames: stepped, timed and looked at, with the machine's noise floor
 * measured in turn with the steps.
 *
 *   sac_run_def def = sac_default_run_def();
 *   sac_run run;
 *   if (sac_run_go(&run, &staging, &def, &error) == SAC_OK) printf("%.1f us\n", run.step_us.p999);
 *   sac_run_fini(&run);
 *
 * Index: sac_default_run_def  sac_run_go  sac_run_fini  sac_rung_name  sac_stage_name
 */
#ifndef SAC_APPS_RUN_H
#define SAC_APPS_RUN_H

#include "apps/gaze_trace.h"
#include "apps/staging.h"
#include "bench/noise_floor.h"
#include "bench/penetration.h"

/* A step misses when its own CPU time is so far beyond the budget: more than reading clocks and a cold cache
 * explain. */
#define SAC_MISS_US 250.0

/* After a frame; the world may be looked at, not changed. */
typedef void sac_run_look(const sac_staging *staging, const sac_world *world, const sac_viewer *viewer,
                          uint64_t frame, void *user);

typedef struct sac_run_def {
    uint64_t frames;            /* default 900 */
    double hz;                  /* default 90 */
    uint64_t budget_ns;         /* default 2,000,000; 0: no limit */
    const char *policy;         /* default "jnd" */
    uint32_t threads, substeps; /* default 1, 4 */
    uint64_t seed;
    bool credits;               /* work credits instead of the clock: the same frames on every machine */
    const char *record;         /* file, or NULL */
    const sac_gaze_trace *gaze; /* NULL: at the middle */
    bool keep;                  /* every frame's report, for telemetry; costs about 1 kB a frame */
    bool quiet_floor;           /* do not measure the noise floor */
    size_t log_bytes;           /* default 64 MB: poses kept for measuring overlaps after the run */
    sac_run_look *look;         /* may be NULL */
    void *user;
} sac_run_def;

/* What is kept of a frame. */
typedef struct sac_run_row {
    sac_step_report report;
    double wall_us, cpu_us;
    double energy_j; /* kinetic and potential of all dynamic bodies after the step */
    float gaze[3];   /* direction, world; zero: none */
} sac_run_row;

typedef struct sac_run {
    uint64_t frames; /* done */
    uint32_t bodies; /* dynamic, at the end */
    /* Microseconds; in credits mode steps and overshoot are those of the credit clock. */
    sac_percentiles step_us, cpu_us, overshoot_us, noise_us, stall_us;
    sac_percentiles record_us; /* CPU time of recording, behind each step and in none of the above; or NaN */
    uint64_t misses;           /* steps whose own CPU time was more than 250 us beyond the budget */
    uint64_t late;             /* steps whose wall time was: misses, and stolen cores */
    sac_census census;         /* at the end */
    uint32_t lost_most;        /* at any of the looks */
    uint64_t not_finite;       /* bodies the world had to put back, all frames */
    uint32_t contacts_max;
    double penetration_mean_mm, penetration_p99_mm,
        penetration_max_mm; /* of all looks, every 45 frames; NaN: no body that moves is made of rigid spheres
                             */
    uint32_t measured, movers; /* at the last look: bodies whose overlaps are measured, and that move */
    sac_penetration last_penetration;
    uint32_t drains; /* times the poses filled their room and were measured in mid-run: the next frame may be
                        late for it */
    double floor_mm; /* deepest into the floor of a glass box, at any look */
    double jnd_p50, jnd_p95, jnd_max; /* median of the frames' medians, 95 % of their 95 %, most of all */
    double returned_us_mean;
    uint64_t rungs[SAC_RUNGS];
    uint64_t awake, simulated; /* bodies, summed over frames */
    uint64_t state_hash;
    double energy_first, energy_most, energy_last; /* J, at the looks */
    uint64_t late_allocations;                     /* in the second half of the run */
    size_t world_bytes, process_bytes;             /* at the end; the process' is its greatest */
    double seconds;                                /* all of it, wall */
    bool summed;                                   /* the figures above are there */
    sac_array(sac_run_row) rows;                   /* when kept */
    sac_array(double) floor_us;                    /* overshoot of the spin loop, in order */
} sac_run;

sac_run_def sac_default_run_def(void);
/* Opens the staging if that has not been done, makes a world, runs it and lets it go. What was measured is
 * not lost with what went wrong later: after Ctrl-C (ERROR_CANCELLED) and when the recording failed
 * (ERROR_IO, with its file) `out_run->summed` says whether there are figures, of all frames done.
 * sac_run_fini whatever the result. */
sac_result sac_run_go(sac_run *out_run, sac_staging *staging, const sac_run_def *def, sac_error *error);
void sac_run_fini(sac_run *run);

const char *sac_rung_name(uint32_t rung);   /* "levels", ... */
const char *sac_stage_name(uint32_t stage); /* "descend", ... */

#endif
