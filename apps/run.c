#include "apps/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "apps/console.h"
#include "apps/run_looks.h"

enum { MOST_SPINS = 20000 };

typedef struct runner {
    sac_run *run;
    sac_staging *staging;
    const sac_run_def *def;
    sac_world *world;
    sac_viewer viewer;
    double *step, *cpu, *over, *record, *jnd[3]; /* one a frame */
    sac_noise_floor floor;
    sac_run_looks looks;
} runner;

const char *sac_rung_name(uint32_t rung)
{
    static const char *const names[SAC_RUNGS] = {"levels", "contacts", "iterations", "bodies",
                                                 "held",   "bounds",   "shapes"};
    return rung < SAC_RUNGS ? names[rung] : "";
}

const char *sac_stage_name(uint32_t stage)
{
    static const char *const names[SAC_STAGES] = {"prepare",  "broad", "perceive", "descend",
                                                  "contacts", "solve", "sweep",    "finish"};
    return stage < SAC_STAGES ? names[stage] : "";
}

sac_run_def sac_default_run_def(void)
{
    return (sac_run_def){.frames = 900,
                         .hz = 90,
                         .budget_ns = 2000000,
                         .policy = "jnd",
                         .threads = 1,
                         .substeps = 4,
                         .seed = 1,
                         .log_bytes = SAC_POSE_LOG_BYTES};
}

void sac_run_fini(sac_run *run)
{
    sac_array_fini(&run->rows);
    sac_array_fini(&run->floor_us);
}

static sac_result no_memory(sac_error *error)
{
    return sac_error_set(error, SAC_ERROR_MEMORY, "run fewer frames", "no memory for the figures");
}

/* ---- frames ---- */

static sac_result run_frame(runner *r, uint64_t frame, sac_error *error)
{
    const sac_run_def *def = r->def;
    sac_run *run = r->run;
    double seconds = (double)frame / def->hz;
    sac_step_def step = sac_default_step_def();
    sac_step_report report;
    sac_result result = sac_staging_cue(r->staging, r->world, frame, def->hz, error);
    if (result != SAC_OK) return result;
    sac_gaze_trace_at(def->gaze, seconds, &r->viewer);
    step.dt = (float)(1 / def->hz);
    step.substeps = def->substeps;
    step.budget_ns = def->budget_ns;
    step.viewer = r->viewer.eye_count ? &r->viewer : NULL;
    step.viewer_now_ns = sac_gaze_trace_now_ns(seconds);
    if (!def->quiet_floor && r->floor.wall_us.count < MOST_SPINS &&
        !sac_noise_floor_spin(&r->floor, def->budget_ns ? def->budget_ns : 2000000))
        return no_memory(error);

    uint64_t cpu = sac_time_thread_cpu_ns(), start = sac_time_now_ns();
    result = sac_world_step(r->world, &step, &report, error);
    uint64_t stop = sac_time_now_ns();
    cpu = sac_time_thread_cpu_ns() - cpu;
    if (result != SAC_OK) return result;

    /* Recording comes behind the step and is told beside it. */
    uint64_t record_wall, record_cpu;
    sac_record_cost(r->world, &record_wall, &record_cpu);
    stop -= record_wall, cpu -= record_cpu;
    r->record[frame] = (double)record_cpu * 1e-3;
    double wall_us = (double)(stop - start) * 1e-3, cpu_us = (double)cpu * 1e-3,
           budget_us = (double)def->budget_ns * 1e-3;
    double step_us = def->credits ? (double)report.spent_ns * 1e-3 : wall_us;
    r->step[frame] = step_us, r->cpu[frame] = cpu_us;
    r->over[frame] = def->budget_ns ? step_us - budget_us : NAN;
    r->jnd[0][frame] = report.descent.jnd_p50, r->jnd[1][frame] = report.descent.jnd_p95,
    r->jnd[2][frame] = report.descent.jnd_most;
    if (def->budget_ns) {
        run->misses += (def->credits ? step_us : cpu_us) > budget_us + SAC_MISS_US;
        run->late += step_us > budget_us + SAC_MISS_US;
    }
    run->not_finite += report.not_finite;
    run->contacts_max = report.contacts > run->contacts_max ? report.contacts : run->contacts_max;
    run->returned_us_mean += (double)report.returned_ns * 1e-3;
    for (int i = 0; i < SAC_RUNGS; i++) run->rungs[i] += report.rungs[i];
    run->awake += report.awake, run->simulated += report.simulated;
    if (frame >= def->frames / 2) run->late_allocations += report.allocations;
    run->frames = frame + 1;
    if (def->keep) {
        sac_run_row row = {
            .report = report, .wall_us = wall_us, .cpu_us = cpu_us, .energy_j = sac_world_energy(r->world)};
        if (r->viewer.gaze.valid) memcpy(row.gaze, r->viewer.gaze.direction, sizeof row.gaze);
        if (!sac_array_push(&run->rows, row)) return no_memory(error);
    }
    if (sac_run_looks_due(frame, def->frames))
        result = sac_run_looks_take(&r->looks, r->staging, r->world, run, error);
    if (def->look) def->look(r->staging, r->world, &r->viewer, frame, def->user);
    return result;
}

static sac_result run_frames(runner *r, sac_error *error)
{
    sac_result result = SAC_OK;
    char doing[96];
    snprintf(doing, sizeof doing, "running %.60s", r->staging->name);
    r->run->energy_first = r->run->energy_most = sac_world_energy(r->world);
    for (uint64_t frame = 0; frame < r->def->frames && result == SAC_OK; frame++) {
        if (!sac_console_progress((float)((double)frame / (double)r->def->frames), doing))
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped at frame %llu",
                                   (unsigned long long)frame);
        else
            result = run_frame(r, frame, error);
    }
    if (result != SAC_OK) sac_console_progress_end();
    return result;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_of(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, by_size);
    return sac_percentile(values, count, share);
}

static sac_result summarise(runner *r, sac_error *error)
{
    sac_run *run = r->run;
    size_t n = run->frames;
    struct rusage usage;
    sac_counters counters;
    run->step_us = sac_percentiles_of(r->step, n);
    run->cpu_us = sac_percentiles_of(r->cpu, n);
    run->overshoot_us =
        r->def->budget_ns ? sac_percentiles_of(r->over, n) : (sac_percentiles){NAN, NAN, NAN, NAN, NAN};
    run->record_us =
        r->def->record ? sac_percentiles_of(r->record, n) : (sac_percentiles){NAN, NAN, NAN, NAN, NAN};
    run->jnd_p50 = share_of(r->jnd[0], n, 0.5);
    run->jnd_p95 = share_of(r->jnd[1], n, 0.95);
    run->jnd_max = share_of(r->jnd[2], n, 1);
    run->returned_us_mean /= n ? (double)n : 1;
    for (size_t i = 0; i < r->floor.wall_us.count; i++)
        if (!sac_array_push(&run->floor_us, r->floor.wall_us.data[i])) return no_memory(error);
    run->noise_us = sac_noise_floor_wall_us(&r->floor);
    run->stall_us = sac_noise_floor_stall_us(&r->floor);
    run->state_hash = sac_world_hash(r->world);
    run->bodies = run->census.dynamic;
    sac_world_counters(r->world, &counters);
    run->world_bytes = counters.bytes;
    run->process_bytes = getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
    return SAC_OK;
}

/* A run that was stopped, or that came upon an event that cannot be, has figures too: of the frames until
 * then. */
static sac_result run_and_sum(runner *r, sac_error *error)
{
    sac_result result = run_frames(r, error);
    bool stopped = result != SAC_OK && r->run->frames;
    if (result != SAC_OK && !stopped) return result;
    if (stopped && sac_run_looks_take(&r->looks, r->staging, r->world, r->run, NULL) != SAC_OK) return result;
    sac_result measured = sac_run_looks_measure(&r->looks, r->run, !stopped, stopped ? NULL : error);
    sac_console_progress_end();
    if (result == SAC_OK) result = measured;
    if (measured != SAC_OK && measured != SAC_ERROR_CANCELLED) return result;
    sac_result summed = summarise(r, stopped ? NULL : error);
    r->run->summed = summed == SAC_OK;
    return result == SAC_OK ? summed : result;
}

static sac_result make_world(runner *r, sac_error *error)
{
    const sac_run_def *def = r->def;
    sac_world_def world = sac_default_world_def();
    uint32_t bodies = r->staging->most_bodies;
    if (bodies > world.bodies) world.bodies = bodies;
    if (def->credits) world.clock = sac_clock_credits(500);
    world.policy = def->policy;
    world.tasks.threads = def->threads;
    world.seed = def->seed;
    memcpy(world.gravity, r->staging->gravity, sizeof world.gravity);
    sac_result result = sac_world_create(&world, &r->world, error);
    if (result == SAC_OK && def->record) result = sac_record_start(r->world, def->record, error);
    if (result == SAC_OK) result = sac_staging_raise(r->staging, r->world, error);
    return result;
}

/* All that is filled between two frames, touched now: a page that is touched first there is the kernel's work
 * on the caches of the next step. */
static sac_result make_room(runner *r, sac_error *error)
{
    const sac_run_def *def = r->def;
    sac_run *run = r->run;
    size_t spins = def->quiet_floor ? 0 : def->frames < MOST_SPINS ? def->frames : MOST_SPINS;
    if (!sac_array_reserve(&r->floor.wall_us, spins) || !sac_array_reserve(&r->floor.cpu_us, spins))
        return no_memory(error);
    if (spins) memset(r->floor.wall_us.data, 0, spins * sizeof *r->floor.wall_us.data);
    if (spins) memset(r->floor.cpu_us.data, 0, spins * sizeof *r->floor.cpu_us.data);
    if (def->keep) {
        if (!sac_array_reserve(&run->rows, def->frames)) return no_memory(error);
        memset(run->rows.data, 0, def->frames * sizeof *run->rows.data);
    }
    return sac_run_looks_init(&r->looks, r->staging, def->frames, def->log_bytes, error);
}

sac_result sac_run_go(sac_run *out_run, sac_staging *staging, const sac_run_def *given, sac_error *error)
{
    static const sac_gaze_trace middle = {0};
    sac_run_def def = *given;
    if (!def.gaze) def.gaze = &middle;
    runner r = {.run = out_run, .staging = staging, .def = &def};
    uint64_t begin = sac_time_now_ns();
    *out_run = (sac_run){0};
    double **arrays[] = {&r.step, &r.cpu, &r.over, &r.record, &r.jnd[0], &r.jnd[1], &r.jnd[2]};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    sac_result result = sac_staging_open(staging, def.threads, error);
    /* Zeroed, so that a long run touches its memory at the start and not little by little. */
    for (int i = 0; i < ARRAYS && result == SAC_OK; i++)
        if (!(*arrays[i] = sac_alloc_zero(def.frames, sizeof **arrays[i]))) result = no_memory(error);
    if (result == SAC_OK) result = make_room(&r, error);
    if (result == SAC_OK) result = make_world(&r, error);
    r.viewer = sac_staging_viewer(staging);
    if (result == SAC_OK) result = run_and_sum(&r, error);
    if (def.record && r.world) {
        sac_error late;
        sac_result stopped = sac_record_stop(r.world, &late);
        if (result == SAC_OK && stopped != SAC_OK) {
            result = stopped;
            if (error) *error = late;
        }
    }
    sac_world_destroy(&r.world);
    for (int i = 0; i < ARRAYS; i++) sac_free(*arrays[i], def.frames, sizeof **arrays[i]);
    sac_run_looks_fini(&r.looks);
    sac_noise_floor_fini(&r.floor);
    out_run->seconds = (double)(sac_time_now_ns() - begin) * 1e-9;
    return result;
}
