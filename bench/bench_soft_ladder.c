/* Level-of-detail response on the levels of Spillmann's table 1: 300 bodies of 437 points in a box, and what
 * detection and response cost with 4, 8, 16, 32 and 64 spheres a body. And one complete frame of three large
 * bodies, as in the same paper. */
#include <stdlib.h>
#include <string.h>

#include "apps/charts.h"
#include "bench/bench.h"
#include "bench/bench_soft.h"
#include "bench/soft_heap.h"

enum { FIRST = 2, LEVELS = 5, SETTLE = 200 };

static const struct {
    uint32_t contacts;
    double detect, respond;
} paper[LEVELS] = {{1031, 18.41, 24.11},
                   {1650, 22.19, 27.01},
                   {7511, 30.24, 32.03},
                   {27195, 58.61, 45.35},
                   {42635, 93.97, 52.88}};
static const double reach_ms[LEVELS] = {1.5, 2, 3, 6, 10};

static void bars(double ms)
{
    char bar[42];
    int n = (int)(ms * 4 + 0.5);
    n = n > 40 ? 40 : n;
    memset(bar, '#', (size_t)n), bar[n] = 0;
    sac_say("%s\n", bar);
}

sac_result sac_bench_soft_ladder(uint32_t repeats, json_t *out, sac_error *error)
{
    static const uint8_t fans[LEVELS][2] = {{4}, {8}, {4, 4}, {8, 4}, {8, 8}};
    static double detect[LEVELS][SAC_BENCH_SOFT_REPEATS], respond[LEVELS][SAC_BENCH_SOFT_REPEATS],
        count[LEVELS][SAC_BENCH_SOFT_REPEATS], pairs[LEVELS][SAC_BENCH_SOFT_REPEATS],
        refits[LEVELS][SAC_BENCH_SOFT_REPEATS];
    sac_heap_def def = {.points = 437, .bodies = 300, .across = 5, .width = 5.4f};
    def.soft = sac_default_soft_def();
    def.soft.mode = SAC_SOFT_LINEAR, def.soft.clusters = 1, def.soft.beta = 0.2f;
    def.soft.settle_time = 0;
    def.sets = LEVELS;
    for (int i = 0; i < LEVELS; i++) {
        def.trees[i] = sac_default_soft_tree_def();
        memcpy(def.trees[i].fan, fans[i], 2);
        def.trees[i].most_depth = fans[i][1] ? 2 : 1;
    }
    sac_heap *heap;
    sac_result result = sac_heap_create(&def, &heap, error);
    for (uint32_t i = 0; i < SETTLE && result == SAC_OK; i++) {
        sac_heap_detect(heap, 2);
        sac_heap_pull(heap);
        result = sac_heap_respond(heap, error);
        sac_heap_move(heap);
    }
    for (uint32_t r = 0; r < repeats && result == SAC_OK; r++) {
        /* Every level answers the same state; the answer of the third is the one that counts. */
        sac_heap_pull(heap);
        sac_heap_keep(heap);
        for (uint32_t turn = 0; turn < LEVELS && result == SAC_OK; turn++) {
            uint32_t level = (turn + 3) % LEVELS;
            sac_heap_restore(heap);
            uint64_t before = sac_heap_refits(heap, level);
            double start = sac_bench_soft_us();
            sac_heap_detect(heap, level);
            double middle = sac_bench_soft_us();
            result = sac_heap_respond(heap, error);
            double end = sac_bench_soft_us();
            detect[level][r] = (middle - start) * 1e-3, respond[level][r] = (end - middle) * 1e-3;
            count[level][r] = heap->contact_count, pairs[level][r] = heap->sphere_pairs;
            refits[level][r] = (double)(sac_heap_refits(heap, level) - before);
        }
        sac_heap_move(heap);
    }
    if (result == SAC_OK)
        sac_say(
            "level of detail: %u bodies, %u points in a heap; CPU ms of one thread (the paper's: Xeon 3.8 "
            "GHz)\n  level spheres    pairs contacts   detect  respond    total  reach   refits |  paper: "
            "contacts "
            "  total\n",
            def.bodies, def.bodies * heap->parts.point_count);
    for (uint32_t i = 0; i < LEVELS && result == SAC_OK; i++) {
        double d = sac_bench_median(detect[i], repeats), p = sac_bench_median(respond[i], repeats),
               n = sac_bench_median(count[i], repeats), q = sac_bench_median(pairs[i], repeats),
               f = sac_bench_median(refits[i], repeats);
        sac_say("  %5u %7u %8.0f %8.0f %8.3f %8.3f %8.3f  %5.1f %8.0f | %16u %7.2f  ", i + FIRST, 4u << i, q,
                n, d, p, d + p, reach_ms[i], f, paper[i].contacts, paper[i].detect + paper[i].respond);
        bars(d + p);
        json_array_append_new(
            out, json_pack("{s:i,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:i,s:o}", "level", (int)(i + FIRST), "spheres",
                           4 << i, "contacts", (int)n, "pairs", (int)q, "detect_ms", sac_json_number(d),
                           "response_ms", sac_json_number(p), "total_ms", sac_json_number(d + p), "refits",
                           sac_json_number(f), "paper_contacts", (int)paper[i].contacts, "paper_total_ms",
                           sac_json_number(paper[i].detect + paper[i].respond)));
    }
    sac_heap_destroy(&heap);
    return result;
}

sac_result sac_bench_soft_frame(uint32_t repeats, json_t **out, sac_error *error)
{
    static double times[4][SAC_BENCH_SOFT_REPEATS], count[SAC_BENCH_SOFT_REPEATS];
    sac_heap_def def = {.mesh = "sphere",
                        .triangles = 12664,
                        .bodies = 3,
                        .across = 3,
                        .width = 2.97f,
                        .sets = 1,
                        .fine = true};
    def.soft = sac_default_soft_def();
    def.soft.clusters = 8, def.soft.settle_time = 0, def.soft.beta = 0.3f;
    def.trees[0] = sac_default_soft_tree_def();
    sac_heap *heap;
    sac_result result = sac_heap_create(&def, &heap, error);
    for (uint32_t r = 0; r < SETTLE + repeats && result == SAC_OK; r++) {
        uint32_t at = r < SETTLE ? 0 : r - SETTLE;
        double start = sac_bench_soft_us();
        sac_heap_detect(heap, 0);
        double detected = sac_bench_soft_us();
        sac_heap_pull(heap);
        double pulled = sac_bench_soft_us();
        result = sac_heap_respond(heap, error);
        double responded = sac_bench_soft_us();
        sac_heap_move(heap);
        double end = sac_bench_soft_us();
        times[0][at] = (pulled - detected + end - responded) * 1e-3;
        times[1][at] = (detected - start) * 1e-3, times[2][at] = (responded - pulled) * 1e-3;
        times[3][at] = (end - start) * 1e-3, count[at] = heap->contact_count;
    }
    if (result == SAC_OK) {
        double ms[4], n = sac_bench_median(count, repeats);
        for (int k = 0; k < 4; k++) ms[k] = sac_bench_median(times[k], repeats);
        sac_say("a frame of three bodies side by side in a box, %u points, %.0f contacts of points and "
                "triangles: "
                "deformation %.3f, detection %.3f, response %.3f, all %.3f ms (the paper: 39.4 ms)\n",
                3 * heap->parts.point_count, n, ms[0], ms[1], ms[2], ms[3]);
        *out =
            json_pack("{s:i,s:i,s:o,s:o,s:o,s:o}", "points", (int)(3 * heap->parts.point_count), "contacts",
                      (int)n, "deform_ms", sac_json_number(ms[0]), "detect_ms", sac_json_number(ms[1]),
                      "response_ms", sac_json_number(ms[2]), "total_ms", sac_json_number(ms[3]));
    }
    sac_heap_destroy(&heap);
    return result;
}

sac_result sac_bench_soft_chart(const json_t *ladder, const char *path, sac_error *error)
{
    static const char *const names[4] = {"ours", "our detection", "our response", "the paper's"};
    static const char *const keys[4] = {"total_ms", "detect_ms", "response_ms", "paper_total_ms"};
    double x[LEVELS], y[4][LEVELS];
    sac_chart_series series[4];
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < LEVELS; i++) {
            x[i] = (double)(i + FIRST);
            y[k][i] = json_number_value(json_object_get(json_array_get(ladder, i), keys[k]));
        }
        series[k] =
            (sac_chart_series){.name = names[k], .x = x, .y = y[k], .count = LEVELS, .dashed = k == 3};
    }
    sac_chart_def def = {.title = "Collision handling by level of the hierarchy",
                         .note = "300 bodies, 131,100 points in a heap. A level more is twice the spheres.",
                         .x_label = "level",
                         .y_label = "ms",
                         .logarithmic = true,
                         .wide = true};
    sac_page page = {0};
    sac_page_begin(&page, "Level of detail of soft bodies",
                   "What detection and response cost when contacts are taken on a level of the hierarchy, "
                   "beside table 1 of Spillmann, Becker and Teschner (Xeon 3.8 GHz, 2007).");
    sac_charts_begin(&page);
    sac_chart_lines(&page, &def, series, 4);
    sac_charts_end(&page);
    sac_page_end(&page);
    sac_result result = sac_page_save(&page, path, error);
    sac_page_fini(&page);
    return result;
}
