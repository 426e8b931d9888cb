/* saccade bench schedule: what deciding costs. Perception alone, perception and an order by groups, by what
 * the next level gains and by a heap, against a sort by libc, for frames of 100 to 20,000 pairs. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "apps/shape.h"
#include "base/clock.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "scheduler/scheduler.h"

enum { SIZES = 6, REPEATS = 41, WAYS = 5, BODIES = 512 };

static const uint32_t sizes[SIZES] = {100, 500, 1000, 2000, 5000, 20000};
static const char *const ways[WAYS] = {"perception", "groups:8", "jnd", "sort", "libc"};

typedef struct schedule_bench {
    sac_tree *tree;
    sac_form form;
    sac_transform poses[BODIES];
    sac_agenda *agenda;
    sac_sights sights; /* over the agenda's arrays */
    sac_focus focus;
    uint32_t eyes;
    struct keyed {
        float key;
        uint32_t entry;
    } * keyed;
} schedule_bench;

static void scatter(schedule_bench *bench, uint32_t count, uint64_t seed)
{
    sac_agenda *agenda = bench->agenda;
    sac_rng rng = sac_rng_seed(seed);
    sac_agenda_clear(agenda);
    for (uint32_t n = 0; n < count; n++) {
        const sac_transform *a = &bench->poses[sac_rng_below(&rng, BODIES)];
        const sac_transform *b = &bench->poses[sac_rng_below(&rng, BODIES)];
        uint32_t i = sac_agenda_add(agenda, &bench->form, a, &bench->form, b, 0.01f);
        agenda->x[i] = a->translation[0], agenda->y[i] = a->translation[1], agenda->z[i] = a->translation[2];
        agenda->vx[i] = sac_rng_range(&rng, -1, 1);
        agenda->vy[i] = sac_rng_range(&rng, -1, 1);
        agenda->extent[i] = 0.8f;
        /* A pair in ten is new, the others are remembered more or less well. */
        if (sac_rng_below(&rng, 10)) agenda->known[i] = 0.05f * sac_rng_float(&rng) * sac_rng_float(&rng);
        agenda->similar[i] = 3;
    }
}

static int greater_first(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Microseconds of one frame's decisions. The stop is over before it begins, so that nothing is descended. */
static double run_once(schedule_bench *bench, uint32_t way)
{
    sac_agenda *agenda = bench->agenda;
    sac_perception_def def = sac_default_perception_def();
    sac_agenda_report report;
    sac_clock clock = sac_clock_monotonic();
    sac_stop stop;
    sac_stop_after(&stop, &clock, 0);
    const sac_policy *policy = way >= 1 && way <= 3 ? sac_policy_find(ways[way], NULL) : NULL;
    bench->sights.count = (agenda->count + 7) / 8 * 8;
    uint64_t start = sac_time_now_ns();
    if (policy) {
        sac_agenda_work(agenda, policy, &def, &bench->focus, &stop, NULL, &report);
    } else {
        sac_perceive(&def, &bench->focus, &bench->sights);
        if (way == 4) {
            for (uint32_t i = 0; i < agenda->count; i++)
                bench->keyed[i] = (struct keyed){agenda->priority[i], i};
            qsort(bench->keyed, agenda->count, sizeof *bench->keyed, greater_first);
        }
    }
    return (double)(sac_time_now_ns() - start) * 1e-3;
}

static sac_result prepare(schedule_bench *bench, sac_error *error)
{
    sac_shape shape;
    sac_build_def build = sac_default_build_def();
    sac_result result = sac_shape_open("t100", 0, false, &shape, error);
    if (result != SAC_OK) return result;
    result = sac_shape_build(&shape, &build, &bench->tree, error);
    sac_shape_close(&shape);
    if (result == SAC_OK) result = sac_form_from_tree(&bench->form, bench->tree, error);
    sac_agenda_def def = sac_default_agenda_def();
    def.pairs = sizes[SIZES - 1];
    if (result == SAC_OK) result = sac_agenda_create(&def, &bench->agenda, error);
    if (result != SAC_OK) return result;
    bench->keyed = sac_alloc(sizes[SIZES - 1], sizeof *bench->keyed);
    if (!bench->keyed) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the sort");
    sac_rng rng = sac_rng_seed(1);
    for (uint32_t i = 0; i < BODIES; i++) {
        bench->poses[i] = sac_transform_identity();
        for (int k = 0; k < 3; k++) bench->poses[i].translation[k] = sac_rng_range(&rng, -3, 3);
        bench->poses[i].translation[2] -= 4;
    }
    sac_agenda *a = bench->agenda;
    bench->sights = (sac_sights){.x = a->x,
                                 .y = a->y,
                                 .z = a->z,
                                 .uncertainty = a->known,
                                 .extent = a->extent,
                                 .vx = a->vx,
                                 .vy = a->vy,
                                 .vz = a->vz,
                                 .weight = a->weight,
                                 .similar = a->similar,
                                 .jnd = a->jnd,
                                 .priority = a->priority};
    sac_viewer viewer = sac_default_viewer();
    sac_gaze_filter filter;
    sac_gaze_init(&filter, NULL);
    viewer.eye_count = bench->eyes;
    for (uint32_t e = 1; e < bench->eyes; e++) {
        viewer.eyes[e] = viewer.eyes[0];
        viewer.eyes[e].position[0] = 0.064f * (float)e;
    }
    viewer.gaze = (sac_gaze_sample){.valid = true, .direction = {0.1f, 0, -1}, .confidence = 1};
    sac_gaze_update(&filter, &viewer, 1, &bench->focus);
    return SAC_OK;
}

static json_t *run_size(schedule_bench *bench, uint32_t count)
{
    double us[WAYS][REPEATS], mean[WAYS];
    char text[32];
    for (uint32_t r = 0; r < REPEATS; r++) {
        scatter(bench, count, r);
        for (uint32_t way = 0; way < WAYS; way++) us[way][r] = run_once(bench, way);
    }
    json_t *object = json_pack("{s:i}", "pairs", (int)count);
    sac_say("%7s", sac_text_count(text, count));
    for (uint32_t way = 0; way < WAYS; way++) {
        mean[way] = sac_bench_median(us[way], REPEATS);
        char key[32];
        snprintf(key, sizeof key, "%s_us", ways[way]);
        json_object_set_new(object, key, sac_json_number(mean[way]));
        sac_say("  %10.2f", mean[way]);
    }
    sac_say("  %10.2f\n", 1000 * mean[0] / count);
    json_object_set_new(object, "perception_ns_per_pair", sac_json_number(1000 * mean[0] / count));
    return object;
}

int sac_bench_schedule(int argc, char **argv)
{
    schedule_bench bench = {.eyes = 2};
    sac_common common = {.threads = 1};
    const sac_option options[] = {
        {"eyes", 0, SAC_OPTION_UINT, &bench.eyes, "N", "that look (default 2)", 0, SAC_VIEWER_OWN_EYES},
    };
    const sac_command command = {
        "bench schedule",
        "[options]",
        "What deciding costs, microseconds a frame, medians: perception alone; perception, an order of all "
        "pairs\nand the report, by groups, by jnd and by a heap; perception and a sort by libc.",
        options,
        sizeof options / sizeof *options,
        "One thread. The last line is JSON with the same numbers."};
    int words, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &words);
    if (code >= 0) return code;
    sac_console_init("bench schedule", &common);
    sac_error error;
    sac_result result = prepare(&bench, &error);
    json_t *cases = json_array();
    if (result == SAC_OK) {
        sac_say("  pairs");
        for (uint32_t way = 0; way < WAYS; way++) sac_say("  %10s", ways[way]);
        sac_say("     ns/pair\n");
        for (uint32_t k = 0; k < SIZES; k++) json_array_append_new(cases, run_size(&bench, sizes[k]));
    }
    sac_agenda_destroy(&bench.agenda);
    sac_tree_destroy(&bench.tree);
    sac_free(bench.keyed, sizes[SIZES - 1], sizeof *bench.keyed);
    if (result != SAC_OK) {
        json_decref(cases);
        return sac_console_fail(&error);
    }
    return sac_console_json(json_pack("{s:i,s:o}", "eyes", (int)bench.eyes, "cases", cases), true,
                            SAC_EXIT_OK);
}
