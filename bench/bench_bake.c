/* saccade bench bake: the bake table. Built-in meshes and given ones, methods side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/console.h"
#include "apps/quality.h"
#include "bench/bench.h"

enum { MOST_MESHES = 64, MOST_REPEATS = 99 };

typedef struct bake_bench {
    sac_build_def def;
    sac_measure_def measure;
    sac_method methods[SAC_METHOD_COUNT];
    uint32_t method_count, repeats;
    json_t *cases;
} bake_bench;

static void say_heading(void)
{
    sac_say("                                                 level 2           level 3\n"
            "mesh          triangles  method    CPU s   worst    mean   worst    mean  covered  outside\n");
}

static void say_case(const sac_shape *shape, const sac_baked *baked, double cpu)
{
    char count[32], outside[16] = "-";
    const sac_tree *tree = baked->tree;
    double covered = 1;
    for (uint32_t i = 0; i <= tree->depth; i++) covered = fmin(covered, baked->levels[i].path_coverage);
    sac_say("%-13s %9s  %-8s %6.2f", shape->name,
            sac_text_count(count, shape->mesh ? shape->mesh->triangle_count : shape->sphere_count),
            sac_method_name(tree->method), cpu);
    for (uint32_t level = 2; level <= 3; level++) {
        if (level <= tree->depth)
            sac_say("  %6.2f  %6.2f", baked->levels[level].worst_gap, baked->levels[level].mean_gap);
        else
            sac_say("       -       -");
    }
    if (isfinite(baked->levels[tree->depth].outside_volume))
        snprintf(outside, sizeof outside, "%.3f", baked->levels[tree->depth].outside_volume);
    if (covered >= 1)
        sac_say("    100 %%  %7s\n", outside);
    else
        sac_say("  %5.2f %%  %7s\n", fmin(floor(covered * 1e4) / 1e2, 99.99), outside);
}

/* One mesh by one method: built `repeats` times, measured once. */
static sac_result run_case(bake_bench *bench, const sac_shape *shape, sac_method method, sac_error *error)
{
    double seconds[MOST_REPEATS], cpu[MOST_REPEATS];
    sac_baked baked;
    bench->def.method = method;
    for (uint32_t i = 0; i < bench->repeats; i++) {
        bool last = i + 1 == bench->repeats;
        sac_result result = sac_baked_make(shape, &bench->def, last ? &bench->measure : NULL, &baked, error);
        if (result != SAC_OK) return result;
        seconds[i] = baked.seconds, cpu[i] = baked.cpu_seconds;
        if (!last) sac_baked_fini(&baked);
    }
    double wall = sac_bench_median(seconds, bench->repeats), work = sac_bench_median(cpu, bench->repeats);
    say_case(shape, &baked, work);
    json_array_append_new(bench->cases,
                          json_pack("{s:s,s:i,s:s,s:f,s:f,s:i,s:o}", "mesh", shape->name, "triangles",
                                    shape->mesh ? (int)shape->mesh->triangle_count : 0, "method",
                                    sac_method_name(baked.tree->method), "seconds", wall, "cpu_seconds", work,
                                    "nodes", (int)baked.tree->node_count, "levels",
                                    sac_quality_json(baked.levels, baked.level_seconds, baked.tree->depth)));
    sac_baked_fini(&baked);
    return SAC_OK;
}

static sac_result run_mesh(bake_bench *bench, const char *name, uint32_t triangles, sac_error *error)
{
    sac_shape shape;
    sac_result result = sac_shape_open(name, triangles, false, &shape, error);
    if (result != SAC_OK) return result;
    if (!shape.mesh) result = run_case(bench, &shape, SAC_METHOD_SPHERES, error);
    for (uint32_t i = 0; shape.mesh && i < bench->method_count && result == SAC_OK; i++)
        result = run_case(bench, &shape, bench->methods[i], error);
    sac_shape_close(&shape);
    return result;
}

static int read_methods(const char *text, bake_bench *bench)
{
    while (*text && bench->method_count < SAC_METHOD_COUNT) {
        char word[32];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int code = sac_method_pick("bench bake", word, &bench->methods[bench->method_count++]);
        if (code >= 0) return code;
        text += length + (text[length] != 0);
    }
    return bench->method_count ? -1 : sac_options_usage_error("bench bake", "--methods needs a name");
}

int sac_bench_bake(int argc, char **argv)
{
    bake_bench bench = {.def = sac_default_build_def(), .measure = sac_default_measure_def(), .repeats = 1};
    sac_common common = {.threads = 1};
    const char *meshes[MOST_MESHES], *methods = "medial,hubbard,octree,grid";
    bool no_builtins = false, quick = false, large = false;
    uint32_t triangles = 0;
    const sac_option options[] = {
        {"methods", 0, SAC_OPTION_TEXT, &methods, "LIST", "default medial,hubbard,octree,grid", 0, 0},
        {"no-builtins", 0, SAC_OPTION_FLAG, &no_builtins, NULL, "only the meshes given", 0, 0},
        {"large", 0, SAC_OPTION_FLAG, &large, NULL, "also a blob of 100,000 triangles, medial only", 0, 0},
        {"triangles", 0, SAC_OPTION_UINT, &triangles, "N", "resolution of the built-in meshes", 4, 4000000},
        {"branch", 'b', SAC_OPTION_UINT, &bench.def.branch, "N", "most children of a node (default 8)",
         SAC_TREE_LEAST_BRANCH, SAC_TREE_MOST_BRANCH},
        {"depth", 'd', SAC_OPTION_UINT, &bench.def.depth, "N", "levels below the root (default 3)", 1,
         SAC_TREE_MOST_DEPTH},
        {"repeats", 0, SAC_OPTION_UINT, &bench.repeats, "N", "builds of each, the median counts (default 1)",
         1, MOST_REPEATS},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "measure with fewer samples", 0, 0},
    };
    const sac_command command = {
        "bench bake",
        "[MESH...] [options]",
        "The bake table: CPU seconds to build, gaps in per cent of the box diagonal, least share of the "
        "surface\n"
        "that is covered on a path from the root, volume of the last level outside the mesh over the mesh's.",
        options,
        sizeof options / sizeof *options,
        "One thread unless --threads says otherwise. The last line is JSON with the same numbers."};
    int count, code = sac_options_parse(&command, argc, argv, &common, meshes, MOST_MESHES, &count);
    if (code >= 0) return code;
    if ((code = read_methods(methods, &bench)) >= 0) return code;
    if (no_builtins && !count && !large)
        return sac_options_usage_error("bench bake", "--no-builtins leaves nothing; give a mesh");
    sac_console_init("bench bake", &common);
    bench.def.threads = bench.measure.threads = common.threads;
    if (quick)
        bench.measure.sphere_points = 162, bench.measure.surface_samples = 20000,
        bench.measure.volume_samples = 40000;
    bench.cases = json_array();

    sac_error error;
    sac_result result = SAC_OK;
    say_heading();
    for (int i = 0; i < count && result == SAC_OK; i++)
        result = run_mesh(&bench, meshes[i], triangles, &error);
    for (uint32_t i = 0; !no_builtins && sac_mesh_builtin_name(i) && result == SAC_OK; i++) {
        char name[80];
        snprintf(name, sizeof name, "builtin:%s", sac_mesh_builtin_name(i));
        result = run_mesh(&bench, name, triangles, &error);
    }
    if (large && result == SAC_OK) {
        bench.methods[0] = SAC_METHOD_MEDIAL, bench.method_count = 1;
        result = run_mesh(&bench, "builtin:blob", 100000, &error);
    }
    if (result != SAC_OK) {
        json_decref(bench.cases);
        return sac_console_fail(&error);
    }
    return sac_console_json(json_pack("{s:i,s:i,s:i,s:o}", "threads", (int)common.threads, "branch",
                                      (int)bench.def.branch, "depth", (int)bench.def.depth, "cases",
                                      bench.cases),
                            true, SAC_EXIT_OK);
}
