#include "apps/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "base/clock.h"

/* Notes when each level was done, and passes progress on. */
typedef struct stopwatch {
    const sac_build_def *def;
    uint64_t done_ns[SAC_TREE_MOST_DEPTH + 1];
} stopwatch;

static bool note_level(float done, void *user)
{
    stopwatch *w = user;
    float level = done * (float)w->def->depth;
    uint32_t whole = (uint32_t)(level + 0.5f);
    if (fabsf(level - (float)whole) < 1e-4f && whole <= w->def->depth) w->done_ns[whole] = sac_time_now_ns();
    return !w->def->progress || w->def->progress(done, w->def->user);
}

static void level_seconds(const stopwatch *w, uint64_t start, sac_baked *out)
{
    for (uint32_t level = 0; level <= out->tree->depth; level++) {
        uint64_t before = level ? w->done_ns[level - 1] : start, after = w->done_ns[level];
        out->level_seconds[level] = before && after ? (double)(after - before) * 1e-9 : NAN;
    }
}

sac_result sac_baked_make(const sac_shape *shape, const sac_build_def *def, const sac_measure_def *measure,
                          sac_baked *out, sac_error *error)
{
    *out = (sac_baked){0};
    double cpu = sac_console_cpu_seconds();
    uint64_t start = sac_time_now_ns();
    stopwatch watch = {.def = def};
    sac_build_def timed = *def;
    timed.progress = note_level, timed.user = &watch;
    sac_result result = sac_shape_build(shape, &timed, &out->tree, error);
    out->seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    out->cpu_seconds = sac_console_cpu_seconds() - cpu;
    sac_console_progress_end();
    if (result == SAC_OK) level_seconds(&watch, start, out);
    if (result != SAC_OK || !measure) return result;
    start = sac_time_now_ns();
    result = sac_shape_measure(shape, out->tree, measure, out->levels, error);
    out->measure_seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    if (result != SAC_OK) sac_baked_fini(out);
    return result;
}

void sac_baked_fini(sac_baked *baked) { sac_tree_destroy(&baked->tree); }

/* A share as per cent that never rounds up to 100. */
static const char *share_text(char out[16], double share)
{
    if (!isfinite(share)) return "–";
    if (share >= 1) return "100 %";
    snprintf(out, 16, "%.2f %%", fmin(floor(share * 10000) / 100, 99.99));
    return out;
}

static const char *ratio_text(char out[16], double ratio)
{
    if (!isfinite(ratio)) return "–";
    snprintf(out, 16, "%.3f", ratio);
    return out;
}

/* printf pads bytes; the dash above is three of them. */
static int width(const char *text, int columns) { return strcmp(text, "–") == 0 ? columns + 2 : columns; }

void sac_quality_say(const sac_level_quality *levels, const double *seconds, uint32_t depth)
{
    /* Some methods make all levels at once and report nothing in between. */
    for (uint32_t i = 0; seconds && i <= depth; i++)
        if (!isfinite(seconds[i])) seconds = NULL;
    sac_say("  level  spheres  worst gap  mean gap  coverage  on path  outside/volume%s\n",
            seconds ? "  seconds" : "");
    for (uint32_t i = 0; i <= depth; i++) {
        const sac_level_quality *q = &levels[i];
        char count[32], a[16], b[16], c[16];
        const char *on = share_text(a, q->coverage), *path = share_text(b, q->path_coverage),
                   *outside = ratio_text(c, q->outside_volume);
        sac_say("  %5u  %7s  %7.2f %%  %6.2f %%  %*s  %*s  %*s", q->level, sac_text_count(count, q->spheres),
                q->worst_gap, q->mean_gap, width(on, 8), on, width(path, 7), path, width(outside, 14),
                outside);
        if (seconds) sac_say("  %7.2f", seconds[i]);
        sac_say("\n");
    }
}

json_t *sac_quality_json(const sac_level_quality *levels, const double *seconds, uint32_t depth)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i <= depth; i++) {
        const sac_level_quality *q = &levels[i];
        json_t *level = json_pack(
            "{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "level", (int)q->level, "spheres", (int)q->spheres,
            "worst_gap", sac_json_number(q->worst_gap), "mean_gap", sac_json_number(q->mean_gap), "coverage",
            sac_json_number(q->coverage), "path_coverage", sac_json_number(q->path_coverage),
            "outside_volume", sac_json_number(q->outside_volume), "worst_union_gap",
            sac_json_number(q->worst_union_gap), "largest_hole", sac_json_number(q->largest_hole),
            "interior_coverage", sac_json_number(q->interior_coverage));
        if (seconds) json_object_set_new(level, "seconds", sac_json_number(seconds[i]));
        json_array_append_new(list, level);
    }
    return list;
}

void sac_quality_stored(const sac_tree *tree, sac_level_quality *levels)
{
    double diagonal = sac_box_diagonal(&tree->box), scale = diagonal > 0 ? 100 / diagonal : 0;
    for (uint32_t level = 0; level <= tree->depth; level++) {
        sac_level_quality q = {.level = level, .spheres = tree->level_nodes[level]};
        double sum = 0, worst = 0;
        for (uint32_t id = tree->level_block[level] * SAC_LANES;
             id < tree->level_block[level + 1] * SAC_LANES; id++) {
            sac_tree_node_info node;
            if (!sac_tree_node(tree, id, &node)) continue;
            sum += node.gap * scale;
            worst = fmax(worst, node.gap * scale);
        }
        q.worst_gap = (float)worst;
        q.mean_gap = q.spheres ? (float)(sum / q.spheres) : 0;
        q.coverage = q.path_coverage = q.outside_volume = q.worst_union_gap = q.largest_hole =
            q.interior_coverage = NAN;
        levels[level] = q;
    }
}

int sac_method_pick(const char *command, const char *name, sac_method *out)
{
    const char *names[SAC_METHOD_COUNT + 1];
    size_t count = 0;
    for (int i = 0; i < SAC_METHOD_COUNT; i++)
        if (i != SAC_METHOD_FOREIGN) names[count++] = sac_method_name((sac_method)i);
    names[count] = NULL;
    if (sac_method_from_name(name, out) && *out != SAC_METHOD_FOREIGN) return -1;
    const char *meant = sac_options_suggest(name, names);
    if (meant) return sac_options_usage_error(command, "unknown method '%s'; did you mean %s?", name, meant);
    char list[128];
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    return sac_options_usage_error(command, "unknown method '%s'; methods: %s", name, list);
}
