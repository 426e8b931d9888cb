/* Our engine beside others on the same bodies, frame by frame in turn, so that whatever slows the machine
 * slows all of them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/penetration.h"
#include "bench/percentile.h"
#include "bench/pose_log.h"

enum { MOST_ENGINES = 8, MOST_ROWS = 16, LOOK_EVERY = 45 };
static const float VIEW_DEGREES = 10; /* around the gaze */

typedef struct row {
    const char *scene, *shape;
    uint32_t bodies;
    bool quick;
} row;

static const row standard_rows[] = {
    {"pile", "t24", 100, true},   {"pile", "t24", 500, true},    {"pile", "t24", 1000, false},
    {"pile", "t24", 2000, false}, {"pile", "t100", 500, false},  {"pile", "t500", 500, false},
    {"burst", "t24", 500, true},  {"burst", "t500", 500, false}, {"wake", "t24", 500, false},
};
enum { STANDARD_ROWS = sizeof standard_rows / sizeof *standard_rows };

/* One engine in one row. */
typedef struct contender {
    const sac_peer_engine *engine;
    char name[32];
    bool budgeted; /* ours, within its budget */
    sac_peer *peer;
    double *cpu_ms, *wall_ms;
    sac_percentiles cpu, wall;
    sac_penetration last;      /* at the end */
    sac_array(double) seen_mm; /* overlaps near the gaze, of all looks */
    sac_percentiles seen;
    double worst_mm, worst_floor_mm;
    uint32_t most_outside, most_not_finite;
} contender;

typedef struct contest {
    sac_shared_scene scene;
    contender contenders[MOST_ENGINES];
    uint32_t count, frames;
    sac_pose_log log; /* what all of them looked like, measured when no clock runs */
    sac_penetration_room room;
    sac_penetration_view view;
} contest;

static void step_once(contender *c, float dt, uint32_t frame)
{
    uint64_t wall = sac_time_now_ns(), cpu = sac_time_thread_cpu_ns();
    c->engine->step(c->peer, dt);
    c->cpu_ms[frame] = (double)(sac_time_thread_cpu_ns() - cpu) * 1e-6;
    c->wall_ms[frame] = (double)(sac_time_now_ns() - wall) * 1e-6;
}

static sac_result measure_one(contest *t, contender *c, const sac_peer_pose *poses, sac_error *error)
{
    sac_result result = sac_penetration_measure(&t->room, &t->scene, poses, NULL, &c->last, error);
    c->worst_mm = fmax(c->worst_mm, c->last.max_mm);
    c->worst_floor_mm = fmax(c->worst_floor_mm, c->last.floor_mm);
    if (c->last.outside > c->most_outside) c->most_outside = c->last.outside;
    if (c->last.not_finite > c->most_not_finite) c->most_not_finite = c->last.not_finite;
    sac_penetration near;
    if (result == SAC_OK)
        result = sac_penetration_measure(&t->room, &t->scene, poses, &t->view, &near, error);
    for (size_t i = 0; i < t->room.depths.count && result == SAC_OK; i++)
        if (!sac_array_push(&c->seen_mm, t->room.depths.data[i]))
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the overlaps");
    return result;
}

/* The overlaps of all looks that are in the log, in their order. */
static sac_result measure(contest *t, sac_error *error)
{
    sac_result result = SAC_OK;
    char doing[] = "measuring overlaps";
    for (size_t i = 0; i < t->log.count && result == SAC_OK; i++) {
        result = measure_one(t, &t->contenders[t->log.looks[i].who], sac_pose_log_at(&t->log, i), error);
        if (!sac_console_progress((float)(i + 1) / (float)t->log.count, doing) && result == SAC_OK)
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped");
    }
    sac_pose_log_clear(&t->log);
    return result;
}

/* Between two steps poses are only put aside; a log that is full is measured then, and whoever comes next
 * pays for it, which is another one each time. */
static sac_result look(contest *t, contender *c, sac_error *error)
{
    sac_peer_pose *poses = sac_pose_log_next(&t->log);
    if (!poses) {
        sac_result result = measure(t, error);
        if (result != SAC_OK) return result;
        poses = sac_pose_log_next(&t->log);
    }
    c->engine->read(c->peer, poses);
    sac_pose_log_keep(&t->log, t->scene.body_count, (uint32_t)(c - t->contenders));
    return SAC_OK;
}

static sac_result run_frames(contest *t, const char *what, sac_error *error)
{
    const float dt = 1.0f / 90.0f;
    sac_result result = SAC_OK;
    for (uint32_t f = 0; f < t->frames && result == SAC_OK; f++) {
        for (uint32_t k = 0; k < t->count && result == SAC_OK; k++) {
            contender *c = &t->contenders[(f + k) % t->count];
            if (f == t->scene.throw_frame)
                c->engine->throw_body(c->peer, t->scene.thrown, t->scene.throw_velocity);
            step_once(c, dt, f);
            if (f % LOOK_EVERY == LOOK_EVERY - 1 || f + 1 == t->frames) result = look(t, c, error);
        }
        if (!sac_console_progress((float)(f + 1) / (float)t->frames, (void *)what))
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped");
    }
    if (result == SAC_OK) result = measure(t, error);
    sac_console_progress_end();
    return result;
}

static void contest_fini(contest *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        contender *c = &t->contenders[i];
        c->engine->destroy(c->peer);
        free(c->cpu_ms), free(c->wall_ms);
        sac_array_fini(&c->seen_mm);
    }
    sac_pose_log_fini(&t->log);
    sac_penetration_room_fini(&t->room);
    sac_shared_scene_destroy(&t->scene);
}

static sac_result add_contender(contest *t, const sac_peer_engine *engine, uint64_t budget_ns,
                                sac_error *error)
{
    contender *c = &t->contenders[t->count++];
    c->engine = engine;
    c->budgeted = budget_ns > 0;
    snprintf(c->name, sizeof c->name, "%s", engine->name);
    if (c->budgeted) snprintf(c->name, sizeof c->name, "in %.3g ms", (double)budget_ns * 1e-6);
    c->cpu_ms = calloc(t->frames, sizeof *c->cpu_ms);
    c->wall_ms = calloc(t->frames, sizeof *c->wall_ms);
    if (!c->cpu_ms || !c->wall_ms)
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u frames", t->frames);
    const sac_peer_def within = {.policy = "jnd", .budget_ns = budget_ns};
    return engine->create(&t->scene, c->budgeted ? &within : NULL, &c->peer, error);
}

static sac_result contest_init(contest *t, const row *r, uint64_t seed, uint32_t frames, const char *only,
                               uint64_t budget_ns, sac_error *error)
{
    memset(t, 0, sizeof *t);
    sac_result result = sac_shared_scene_create(&t->scene, r->scene, r->shape, r->bodies, seed, error);
    if (result != SAC_OK) return result;
    t->frames = frames ? frames : t->scene.frames;
    sac_peer_viewpoint(&t->scene, t->view.eye, t->view.direction);
    t->view.degrees = VIEW_DEGREES;
    const sac_peer_engine *engine;
    for (uint32_t i = 0; (engine = sac_peer_engine_at(i)) && t->count + 1 < MOST_ENGINES && result == SAC_OK;
         i++) {
        if (only && !strstr(only, engine->name)) continue;
        result = add_contender(t, engine, 0, error);
        if (result == SAC_OK && engine->budgeted && budget_ns)
            result = add_contender(t, engine, budget_ns, error);
    }
    uint64_t looks = (uint64_t)t->count * (t->frames / LOOK_EVERY + 1);
    if (result == SAC_OK && !sac_pose_log_init(&t->log, t->scene.body_count, looks, SAC_POSE_LOG_BYTES))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for %u frames", t->frames);
    return result;
}

/* ---- report ---- */

static json_t *numbers(const sac_percentiles *p)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "mean", sac_json_number(p->mean), "p50",
                     sac_json_number(p->p50), "p99", sac_json_number(p->p99), "p999",
                     sac_json_number(p->p999), "max", sac_json_number(p->max));
}

static json_t *report(contest *t)
{
    json_t *engines = json_array();
    double ours = NAN, best = INFINITY;
    for (uint32_t i = 0; i < t->count; i++) {
        contender *c = &t->contenders[i];
        c->cpu = sac_percentiles_of(c->cpu_ms, t->frames);
        c->wall = sac_percentiles_of(c->wall_ms, t->frames);
        c->seen = sac_percentiles_of(c->seen_mm.data, (uint32_t)c->seen_mm.count);
        if (c->engine->budgeted && !c->budgeted) ours = c->cpu.p99;
        if (!c->engine->budgeted) best = fmin(best, c->cpu.p99);
    }
    char title[64];
    snprintf(title, sizeof title, "%s %s %u", t->scene.name, t->scene.shape, t->scene.body_count);
    for (uint32_t i = 0; i < t->count; i++) {
        const contender *c = &t->contenders[i];
        sac_say("%-16s %-8s %8.3f %8.3f %8.3f  %8.3f   %6.2f %6.2f %7.1f   %6.2f %6.2f  %7.1f %5u %4u",
                i ? "" : title, c->name, c->cpu.p50, c->cpu.p99, c->cpu.max, c->wall.p99, c->last.mean_mm,
                c->last.p99_mm, c->worst_mm, c->seen.mean, c->seen.p99, c->worst_floor_mm, c->most_outside,
                c->most_not_finite);
        if (c->engine->budgeted && !c->budgeted && isfinite(best)) sac_say("  %.2f x best peer", ours / best);
        sac_say("\n");
        json_array_append_new(
            engines,
            json_pack("{s:s,s:s,s:b,s:o,s:o,s:{s:f,s:f,s:f,s:f},s:{s:o,s:o,s:o},s:f,s:i,s:i}", "engine",
                      c->engine->name, "version", c->engine->version, "budgeted", c->budgeted, "cpu_ms",
                      numbers(&c->cpu), "wall_ms", numbers(&c->wall), "penetration_mm", "mean",
                      c->last.mean_mm, "p99", c->last.p99_mm, "max", c->last.max_mm, "worst", c->worst_mm,
                      "near_gaze_mm", "mean", sac_json_number(c->seen.mean), "p99",
                      sac_json_number(c->seen.p99), "max", sac_json_number(c->seen.max), "floor_mm",
                      c->worst_floor_mm, "outside", (int)c->most_outside, "nan", (int)c->most_not_finite));
    }
    return json_pack("{s:s,s:s,s:i,s:i,s:o,s:o}", "scene", t->scene.name, "shape", t->scene.shape, "bodies",
                     (int)t->scene.body_count, "frames", (int)t->frames, "engines", engines,
                     "ratio_to_best_peer", sac_json_number(isfinite(best) ? ours / best : NAN));
}

static sac_result run_row(const row *r, uint64_t seed, uint32_t frames, const char *only, uint64_t budget_ns,
                          json_t *rows, sac_error *error)
{
    contest t;
    char what[64];
    snprintf(what, sizeof what, "%s %s %u", r->scene, r->shape, r->bodies);
    sac_result result = contest_init(&t, r, seed, frames, only, budget_ns, error);
    if (result == SAC_OK) result = run_frames(&t, what, error);
    if (result == SAC_OK) json_array_append_new(rows, report(&t));
    contest_fini(&t);
    return result;
}

int sac_bench_peers(int argc, char **argv)
{
    const char *scene = NULL, *shape = NULL, *only = NULL;
    uint32_t bodies = 0, frames = 0, budget_us = 0;
    uint64_t seed = SAC_SHARED_SEED;
    bool quick = false;
    sac_common common = {.threads = 1};
    const sac_option options[] = {
        {"scene", 0, SAC_OPTION_TEXT, &scene, "NAME", "only rows of pile, burst or wake", 0, 0},
        {"shape", 0, SAC_OPTION_TEXT, &shape, "NAME", "only rows of t24, t100 or t500", 0, 0},
        {"bodies", 0, SAC_OPTION_UINT, &bodies, "N",
         "only rows of N bodies; with --scene and --shape, any number", 1, SAC_SHARED_MOST_BODIES},
        {"engines", 0, SAC_OPTION_TEXT, &only, "LIST", "of saccade,bullet,ode (default: all in this build)",
         0, 0},
        {"frames", 0, SAC_OPTION_UINT, &frames, "N", "frames of 1/90 s (default: 900, burst 360)", 1,
         1000000},
        {"budget-us", 'b', SAC_OPTION_UINT, &budget_us, "US",
         "ours a second time, within this budget, eyes on the heap", 1, 1000000},
        {"seed", 0, SAC_OPTION_SEED, &seed, "S", "of the scene (default 12345)", 0, 0},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "the three rows that take seconds, 360 frames", 0, 0},
    };
    const sac_command command = {
        "bench peers",
        "[options]",
        "Our engine, every pair to its end, beside Bullet and ODE on the same bodies, in turn frame by "
        "frame.\n"
        "CPU milliseconds a step of one thread; overlap between leaf spheres of different bodies, seen "
        "every\n"
        "45 frames from the poses alone; near gaze: within 10 degrees of where our viewer looks, all looks.",
        options,
        sizeof options / sizeof *options,
        "The full table takes half an hour. The last line is JSON with the same numbers and more."};
    int count, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &count);
    if (code >= 0) return code;
    sac_console_init("bench peers", &common);
    row rows[MOST_ROWS];
    uint32_t row_count = 0;
    for (int i = 0; i < STANDARD_ROWS; i++) {
        const row *r = &standard_rows[i];
        if ((scene && strcmp(scene, r->scene) != 0) || (shape && strcmp(shape, r->shape) != 0) ||
            (bodies && bodies != r->bodies) || (quick && !r->quick && !scene))
            continue;
        rows[row_count++] = *r;
    }
    if (scene && shape && bodies) rows[0] = (row){scene, shape, bodies, true}, row_count = 1;
    if (!row_count)
        return sac_options_usage_error("bench peers",
                                       "no such row; give --scene, --shape and --bodies for one of your own");
    if (only) {
        bool any = false;
        for (uint32_t i = 0; sac_peer_engine_at(i); i++) any |= !!strstr(only, sac_peer_engine_at(i)->name);
        if (!any)
            return sac_options_usage_error("bench peers", "no engine of '%s' is in this build; %s", only,
                                           sac_peer_missing() ? sac_peer_missing()
                                                              : "there are saccade, bullet and ode");
    }
    if (quick && !frames) frames = 360;
    if (sac_peer_missing()) sac_say("%s.\n\n", sac_peer_missing());
    sac_say("                                cpu ms a step            wall ms   overlap mm (end)   worst    "
            "near gaze"
            "       floor   out  nan\n"
            "scene            engine        p50      p99      max       p99     mean    p99      mm     mean "
            "   p99"
            "       mm\n");
    json_t *list = json_array();
    sac_error error;
    sac_result result = SAC_OK;
    for (uint32_t i = 0; i < row_count && result == SAC_OK; i++)
        result = run_row(&rows[i], seed, frames, only, budget_us * 1000ull, list, &error);
    if (result != SAC_OK) {
        json_decref(list);
        return sac_console_fail(&error);
    }
    return sac_console_json(
        json_pack("{s:o,s:s}", "rows", list, "missing", sac_peer_missing() ? sac_peer_missing() : ""), true,
        SAC_EXIT_OK);
}
