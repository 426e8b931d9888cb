/* saccade run: a scene, headless, within a budget; figures, and on request telemetry, charts and pictures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/run_page.h"
#include "apps/run_tell.h"
#include "apps/scene_file.h"
#include "apps/telemetry.h"
#include "apps/tree_open.h"
#include "apps/whole_file.h"
#include "base/parallel.h"

enum { PATH = 4400 };
#define MOST_KEPT 200000u /* frames with --out: about 1 kB each */

typedef struct run_options {
    const char *scene, *policy, *gaze, *record, *out, *shape;
    uint32_t frames, bodies, pictures, width, substeps;
    double hz, budget_us;
    sac_reseed seed;
    bool credits;
} run_options;

/* ---- what is written ---- */

enum { FRAMES, TRACE, PAGE, WRITTEN };

/* Where a run writes one of its files; pictures have numbers. */
static void path_of(const run_options *o, int file, char path[PATH])
{
    static const char *const names[WRITTEN] = {"frames.csv", "trace.json", "index.html"};
    snprintf(path, PATH, "%s/%s", o->out, names[file]);
}

static sac_result write_out(const run_options *o, const sac_staging *staging, const sac_run *run,
                            const sac_run_def *def, const sac_run_album *album, sac_error *error)
{
    char path[PATH], title[160], lead[400], a[32];
    sac_page page = {0};
    path_of(o, FRAMES, path);
    sac_result result = sac_telemetry_csv(run->rows.data, run->rows.count, path, error);
    path_of(o, TRACE, path);
    if (result == SAC_OK)
        result = sac_telemetry_trace(run->rows.data, run->rows.count, staging->name, path, error);
    if (def->budget_ns)
        snprintf(title, sizeof title, "%.60s: %s %s in %.6g ms a frame", staging->name,
                 sac_text_count(a, run->bodies), run->bodies == 1 ? "body" : "bodies",
                 (double)def->budget_ns * 1e-6);
    else
        snprintf(title, sizeof title, "%.60s: %s %s, no budget", staging->name,
                 sac_text_count(a, run->bodies), run->bodies == 1 ? "body" : "bodies");
    snprintf(lead, sizeof lead, "%s frame%s at %.6g Hz, policy %s, gaze %.80s, %u thread%s%s.",
             sac_text_count(a, run->frames), run->frames == 1 ? "" : "s", def->hz, def->policy, o->gaze,
             def->threads, def->threads == 1 ? "" : "s", def->credits ? ", timed in work credits" : "");
    sac_page_begin(&page, title, lead);
    sac_run_page_figures(&page, run, def);
    if (album->taken) sac_page_add(&page, "<h2>What the viewer sees</h2>\n");
    if (result == SAC_OK)
        result = sac_run_page_album(&page, album, staging, def, o->out, o->width, sac_parallel_cpus(), error);
    sac_page_add(&page, "<h2>Frame by frame</h2>\n");
    if (result == SAC_OK) result = sac_run_page_charts(&page, run, def, error);
    sac_page_add(&page,
                 "<footer>Made by <code>saccade run</code> %s. All numbers are in <code>frames.csv</code>; "
                 "open <code>trace.json</code> in Perfetto or chrome://tracing. State at the end: "
                 "<code>%016llx</code>.</footer>\n",
                 SACCADE_VERSION, (unsigned long long)run->state_hash);
    sac_page_end(&page);
    path_of(o, PAGE, path);
    if (result == SAC_OK) result = sac_page_save(&page, path, error);
    sac_page_fini(&page);
    return result;
}

/* ---- the command ---- */

static bool is_scene_file(const char *scene) { return strchr(scene, '.') || strchr(scene, '/'); }

static sac_result find_policy(const char *name, sac_error *error)
{
    const char *names[33] = {0};
    char remedy[96];
    if (sac_policy_find(name, error)) return SAC_OK;
    if (strncmp(name, "groups:", 7) == 0)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "groups:N takes 2 to 32",
                             "there is no policy '%.60s'", name);
    for (uint32_t i = 0; i < 32 && sac_policy_name(i); i++) names[i] = sac_policy_name(i);
    const char *meant = sac_options_suggest(name, names);
    snprintf(remedy, sizeof remedy, "did you mean %s?", meant ? meant : "");
    return sac_error_set(
        error, SAC_ERROR_ARGUMENT,
        meant ? remedy
              : "use exhaustive, fifo, random, round-robin, distance, sort, groups:N, probability or jnd",
        "there is no policy '%.60s'", name);
}

static sac_result stage_scene(const run_options *o, sac_staging *staging, sac_error *error)
{
    const sac_staging_def def = {
        .bodies = o->bodies, .shape = o->shape, .seed = o->seed.seed, .seed_given = o->seed.given};
    if (is_scene_file(o->scene)) return sac_scene_file_read(staging, o->scene, error);
    return sac_staging_builtin(staging, o->scene, &def, error);
}

/* Is `path` one of the files a run writes into its folder? By name too: the folder need not be there yet. */
static bool is_written(const run_options *o, const char *path)
{
    char own[PATH];
    if (!o->out || !path) return false;
    for (int i = 0; i < WRITTEN; i++) {
        path_of(o, i, own);
        if (strcmp(own, path) == 0 || sac_same_file(own, path)) return true;
    }
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (strncmp(base, "frame-", 6) != 0 || !sac_text_ends_in(base, ".png")) return false;
    snprintf(own, sizeof own, "%s/%s", o->out, base);
    return strcmp(own, path) == 0 || sac_same_file(own, path);
}

/* Nor are the meshes and trees that a scene file names written over. */
static sac_result spare_sources(const run_options *o, const sac_staging *staging, sac_error *error)
{
    for (size_t i = 0; i < staging->props.count; i++) {
        const sac_prop *prop = &staging->props.data[i];
        if (!prop->source || prop->builtin || prop->figure) continue;
        bool recorded = sac_same_file(o->record, prop->source);
        if (recorded || is_written(o, prop->source))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, "write somewhere else",
                                 "%s would overwrite '%.160s', which the scene needs",
                                 recorded ? "--record" : "--out", prop->source);
    }
    return SAC_OK;
}

/* The figures, and what went wrong beside them: a full disk must not cost what was measured. */
static int tell(const run_options *o, const sac_staging *staging, const sac_run *run, const sac_run_def *def,
                const sac_run_album *album, sac_result result, sac_error *error)
{
    sac_error late;
    sac_run_say(o->scene, o->gaze, run, def);
    if (o->out) {
        sac_result written = write_out(o, staging, run, def, album, &late);
        if (written == SAC_OK) sac_say("  %s/index.html\n", o->out);
        if (written != SAC_OK && result == SAC_OK) result = written, *error = late;
    }
    json_t *json = sac_run_json(o->scene, o->gaze, run, def);
    return result == SAC_OK ? sac_console_json(json, false, SAC_EXIT_OK) : sac_console_spoilt(json, error);
}

static sac_result run_it(const run_options *o, const sac_common *common, int *out_code, sac_error *error)
{
    sac_staging staging;
    sac_gaze_trace gaze;
    sac_run run;
    sac_run_album album;
    sac_run_def def = sac_default_run_def();
    sac_result result = find_policy(o->policy, error);
    if (result == SAC_OK && o->out) result = sac_folder_create(o->out, error);
    if (result == SAC_OK) result = sac_gaze_trace_open(&gaze, o->gaze, error);
    if (result != SAC_OK) return result;
    result = stage_scene(o, &staging, error);
    if (result != SAC_OK) {
        sac_gaze_trace_fini(&gaze);
        return result;
    }
    result = spare_sources(o, &staging, error);
    def.frames = o->frames ? o->frames : staging.frames;
    def.hz = o->hz;
    /* However little, it is not none. */
    def.budget_ns = o->budget_us > 0 ? (uint64_t)fmax(1, ceil(o->budget_us * 1e3 - 1e-3)) : 0;
    def.policy = o->policy;
    def.threads = common->threads;
    def.substeps = o->substeps;
    if (o->seed.given) def.seed = o->seed.seed;
    def.credits = def.quiet_floor = o->credits;
    def.record = o->record;
    def.gaze = &gaze;
    def.keep = o->out != NULL;
    sac_run_album_init(&album, def.frames, o->out ? o->pictures : 0);
    def.look = sac_run_album_look, def.user = &album;
    if (result == SAC_OK && def.keep && def.frames > MOST_KEPT)
        result = sac_error_set(error, SAC_ERROR_ARGUMENT, "leave out --out, or run fewer frames",
                               "--out keeps every frame, %llu are too many", (unsigned long long)def.frames);
    if (result == SAC_OK) {
        result = sac_run_go(&run, &staging, &def, error);
        if (run.summed) {
            *out_code = tell(o, &staging, &run, &def, &album, result, error);
            result = SAC_OK;
        }
        sac_run_fini(&run);
    }
    sac_run_album_fini(&album);
    sac_staging_fini(&staging);
    sac_gaze_trace_fini(&gaze);
    return result;
}

/* Nothing a run reads is written over, nor its recording. -1: all is well. */
static int check_outputs(const run_options *o)
{
    const char *inputs[] = {o->scene, o->gaze, o->shape};
    for (int i = 0; i < 3; i++) {
        if (sac_same_file(o->record, inputs[i]))
            return sac_options_usage_error("run", "--record would overwrite '%.200s', which the run needs",
                                           inputs[i]);
        if (is_written(o, inputs[i]))
            return sac_options_usage_error(
                "run", "--out %.200s would overwrite '%.200s', which the run needs", o->out, inputs[i]);
    }
    if (is_written(o, o->record))
        return sac_options_usage_error("run", "--record and --out would both write '%.200s'", o->record);
    return -1;
}

int sac_cmd_run(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    run_options o = {.policy = "jnd",
                     .gaze = "center",
                     .hz = 90,
                     .budget_us = 2000,
                     .pictures = 4,
                     .width = 1200,
                     .substeps = 4};
    const sac_option options[] = {
        {"frames", 'n', SAC_OPTION_UINT, &o.frames, "N",
         "how many (default: the scene's own, 900 for a pile)", 1, 100000000},
        {"hz", 0, SAC_OPTION_NUMBER, &o.hz, "RATE", "frames a second, 20 to 1000 (default 90)", 20, 1000},
        {"budget-us", 'b', SAC_OPTION_NUMBER, &o.budget_us, "US",
         "for a whole step; 0: no limit (default 2000)", 0, 1e6},
        {"policy", 'p', SAC_OPTION_TEXT, &o.policy, "NAME",
         "exhaustive fifo random round-robin distance sort groups:N\nprobability jnd (default)", 0, 0},
        {"gaze", 'g', SAC_OPTION_TEXT, &o.gaze, "WHERE",
         "center (default), none, head, sweep, fixation:YAW,PITCH,\npursuit:RADIUS,PERIOD, saccades:SEED, or "
         "a CSV file",
         0, 0},
        {"bodies", 0, SAC_OPTION_UINT, &o.bodies, "N", "of a built-in scene", 1, SAC_STAGING_MOST_BODIES},
        {"shape", 0, SAC_OPTION_TEXT, &o.shape, "NAME",
         "of a built-in scene's bodies: t24 t100 t500, a built-in\nmesh, or a file: a mesh, or a baked "
         ".sactree",
         0, 0},
        {"seed", 0, SAC_OPTION_RESEED, &o.seed, "N", "of what is random (default: the scene's own)", 0, 0},
        {"substeps", 0, SAC_OPTION_UINT, &o.substeps, "N", "of a step, 1 to 16 (default 4)", 1, 16},
        {"credits", 0, SAC_OPTION_FLAG, &o.credits, NULL,
         "count work instead of time: the same on every machine", 0, 0},
        {"record", 'r', SAC_OPTION_TEXT, &o.record, "FILE", "record for saccade replay", 0, 0},
        {"out", 'o', SAC_OPTION_TEXT, &o.out, "DIR", "write frames.csv, trace.json, pictures and index.html",
         0, 0},
        {"pictures", 0, SAC_OPTION_UINT, &o.pictures, "N", "on the page, 0 to 8 (default 4)", 0,
         SAC_ALBUM_MOST},
        {"width", 0, SAC_OPTION_UINT, &o.width, "PIXELS", "of the pictures (default 1200)", 64, 4096},
    };
    const sac_command command = {
        "run",
        "SCENE [options]",
        "Run a scene without a display, each step within its budget, and tell what that cost and what is "
        "left to see.\n"
        "SCENE is a scene file (docs/files.md) or one of\n"
        "  pile       bodies fall into an open-topped box and come to rest\n"
        "  burst      bodies fly together from all sides and meet in the same few frames\n"
        "  wake       a pile sleeps until, after 8 s, one of its bodies is thrown\n"
        "  rain       bodies keep falling in, and the oldest leave\n"
        "  stack      a tower of ten and a pyramid\n"
        "  avalanche  bodies slide down a rough slope\n"
        "  orrery     bodies circle a sun, rarely meeting\n"
        "and of the scenes made for VR\n"
        "  workshop   a table full of things to grab, stack and throw\n"
        "  hailstorm  knots, gears and springs rain into a courtyard\n"
        "  billiards  a few collisions that matter, seen closely\n"
        "  side-by-side  a pile; in saccade view, render and xr two of it, round-robin and jnd\n"
        "and of bodies that bend\n"
        "  flowers    three soft flowers in pots, to be pushed and pulled by hand\n"
        "  three-hundred  300 soft toys of 131,000 points, dropped together\n"
        "  santas     a ring of hanging figures whose fine surfaces follow a few nodes\n"
        "  jelly      soft toys, and rigid knots, gears and springs, in one pile",
        options,
        sizeof options / sizeof *options,
        "A miss is a step whose own CPU time is more than 250 us over the budget. The noise floor is the\n"
        "overshoot of a loop that only watches the clock, run in turn with the steps; where that loop was\n"
        "stopped for longer than a step has to spare, so were steps, and a miss may be the machine's:\n"
        "record the run and ask saccade replay --time."};
    int words, code = sac_options_parse(&command, argc, argv, &common, &o.scene, 1, &words);
    if (code >= 0) return code;
    if (!words)
        return sac_options_usage_error("run",
                                       "which scene? pile, burst, wake, rain, stack, avalanche, orrery, "
                                       "workshop, hailstorm, billiards, side-by-side, flowers, "
                                       "three-hundred, santas, jelly, or a file");
    if (is_scene_file(o.scene) && (o.bodies || o.shape))
        return sac_options_usage_error(
            "run", "--bodies and --shape are for built-in scenes; %s says itself what is in it", o.scene);
    if (o.record && !*o.record) return sac_options_usage_error("run", "--record needs the name of a file");
    code = check_outputs(&o);
    if (code >= 0) return code;
    sac_console_init("run", &common);
    sac_error error;
    code = SAC_EXIT_OK;
    return run_it(&o, &common, &code, &error) == SAC_OK ? code : sac_console_fail(&error);
}
