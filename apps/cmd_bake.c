/* saccade bake: a mesh, or a set of spheres, into a sphere-tree file, with the figures of each level. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/quality.h"
#include "apps/whole_file.h"
#include "base/parallel.h"

static const struct {
    const char *name;
    uint32_t bit;
} reducer_names[] = {{"merge", SAC_REDUCER_MERGE},
                     {"burst", SAC_REDUCER_BURST},
                     {"expand", SAC_REDUCER_EXPAND},
                     {"spawn", SAC_REDUCER_SPAWN},
                     {"combined", SAC_REDUCER_COMBINED}};
enum { REDUCERS = sizeof reducer_names / sizeof *reducer_names };

/* "merge,spawn" into bits; -1 to go on. */
static int read_reducers(const char *text, uint32_t *out)
{
    const char *names[REDUCERS + 1] = {0};
    *out = 0;
    for (int i = 0; i < REDUCERS; i++) names[i] = reducer_names[i].name;
    while (*text) {
        char word[32];
        size_t length = strcspn(text, ",+");
        uint32_t bit = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        for (int i = 0; i < REDUCERS; i++)
            if (strcmp(word, reducer_names[i].name) == 0) bit = reducer_names[i].bit;
        if (!bit) {
            const char *meant = sac_options_suggest(word, names);
            return sac_options_usage_error("bake", "unknown reducer '%s'; %s%s", word,
                                           meant ? "did you mean "
                                                 : "reducers: merge, burst, expand, spawn, combined",
                                           meant ? meant : "");
        }
        *out |= bit;
        text += length + (text[length] != 0);
    }
    return *out ? -1 : sac_options_usage_error("bake", "--reducers needs at least one name");
}

/* A file that cannot be made is worth knowing before a long bake, not after. */
static sac_result check_output(const char *path, sac_error *error)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    struct stat status;
    if (slash) snprintf(folder, sizeof folder, "%.*s/.", (int)(slash - path), path);
    if (!*path) return sac_error_set(error, SAC_ERROR_ARGUMENT, "name a file", "--output is empty");
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        sac_error_set(error, SAC_ERROR_IO, "name a file in it", "this is a folder");
    else if (stat(folder, &status) != 0 && errno == ENOENT)
        sac_error_set(error, SAC_ERROR_IO, "make the folder first", "its folder does not exist");
    else if (access(folder, W_OK | X_OK) != 0)
        sac_error_set(error, SAC_ERROR_IO, "choose another, or change its permissions",
                      "nothing can be written into its folder");
    else
        return SAC_OK;
    sac_error_in_file(error, path);
    return SAC_ERROR_IO;
}

static json_t *bake_json(const sac_shape *shape, const sac_baked *baked, const sac_build_def *def,
                         const char *output)
{
    const sac_tree *tree = baked->tree;
    return json_pack("{s:f,s:f,s:f,s:s,s:i,s:i,s:i,s:i,s:i,s:b,s:o,s:o,s:o}", "seconds", baked->seconds,
                     "cpu_seconds", baked->cpu_seconds, "measure_seconds", baked->measure_seconds, "method",
                     sac_method_name(tree->method), "branch", (int)tree->branch, "depth", (int)tree->depth,
                     "nodes", (int)tree->node_count, "leaves", (int)tree->leaf_count, "threads",
                     (int)def->threads, "solid", (tree->flags & SAC_TREE_SOLID) != 0, "shape",
                     sac_shape_json(shape), "file", output ? sac_json_text(output) : json_null(), "levels",
                     sac_quality_json(baked->levels, baked->level_seconds, tree->depth));
}

int sac_cmd_bake(int argc, char **argv)
{
    sac_build_def def = sac_default_build_def();
    sac_measure_def measure = sac_default_measure_def();
    sac_common common = {.threads = sac_parallel_cpus()};
    const char *output = NULL, *method = "medial", *reducers = NULL, *input;
    uint32_t triangles = 0;
    bool quick = false, no_optimise = false;
    const sac_option options[] = {
        {"output", 'o', SAC_OPTION_TEXT, &output, "TREE",
         "file to write; without it the tree is only measured", 0, 0},
        {"method", 'm', SAC_OPTION_TEXT, &method, "NAME",
         "medial (default), hubbard, octree, grid, wrapped;\nspheres: MESH is a list of spheres", 0, 0},
        {"branch", 'b', SAC_OPTION_UINT, &def.branch, "N", "most children of a node, 2 to 16 (default 8)",
         SAC_TREE_LEAST_BRANCH, SAC_TREE_MOST_BRANCH},
        {"depth", 'd', SAC_OPTION_UINT, &def.depth, "N", "levels below the root, 1 to 12 (default 3)", 1,
         SAC_TREE_MOST_DEPTH},
        {"solid", 0, SAC_OPTION_FLAG, &def.solid, NULL, "cover the inside of a closed mesh too", 0, 0},
        {"triangles", 0, SAC_OPTION_UINT, &triangles, "N", "resolution of a built-in mesh", 4, 4000000},
        {"reducers", 0, SAC_OPTION_TEXT, &reducers, "LIST",
         "of the medial method: merge, burst, expand, spawn\n(default combined: the best at each node)", 0,
         0},
        {"no-optimise", 0, SAC_OPTION_FLAG, &no_optimise, NULL, "skip the medial method's local optimiser", 0,
         0},
        {"seed", 0, SAC_OPTION_SEED, &def.seed, "N", "of what is sampled (default 1)", 0, 0},
        {"quick", 0, SAC_OPTION_FLAG, &quick, NULL, "measure with fewer samples", 0, 0},
    };
    const sac_command command = {
        "bake",
        "MESH [-o TREE] [options]",
        "Bake a mesh into a sphere-tree: every level is a set of spheres that covers the whole surface.\n"
        "MESH is a file, a built-in mesh (torus knot l gear star blob spring table chair box sphere;\n"
        "builtin:knot to be explicit), a file of spheres (.spheres, .xyzr) or t24, t100, t500, cube56.",
        options,
        sizeof options / sizeof *options,
        "Gaps are in per cent of the mesh's box diagonal: how far a sphere reaches beyond the object.\n"
        "Seconds are those of building; measuring is not counted."};
    int words, code = sac_options_parse(&command, argc, argv, &common, &input, 1, &words);
    if (code >= 0) return code;
    if (!words) return sac_options_usage_error("bake", "which mesh?");
    if ((code = sac_method_pick("bake", method, &def.method)) >= 0) return code;
    if (reducers && (code = read_reducers(reducers, &def.reducers)) >= 0) return code;
    if (sac_same_file(output, input))
        return sac_options_usage_error("bake", "--output would overwrite '%.200s', which is baked", input);
    sac_console_init("bake", &common);

    sac_error error;
    sac_shape shape;
    sac_baked baked;
    if (output && check_output(output, &error) != SAC_OK) return sac_console_fail(&error);
    if (sac_shape_open(input, triangles, def.method == SAC_METHOD_SPHERES, &shape, &error) != SAC_OK)
        return sac_console_fail(&error);
    sac_shape_say(&shape);

    char doing[96], count[32];
    snprintf(doing, sizeof doing, "baking %s", shape.name);
    def.threads = measure.threads = common.threads;
    def.optimise = !no_optimise;
    def.progress = sac_console_progress;
    def.user = doing;
    if (quick) measure.sphere_points = 162, measure.surface_samples = 20000, measure.volume_samples = 40000;
    if (sac_baked_make(&shape, &def, &measure, &baked, &error) != SAC_OK) {
        sac_shape_close(&shape);
        return sac_console_fail(&error);
    }
    const sac_tree *tree = baked.tree;
    sac_say("%s tree, branch %u, %s nodes: built in %.2f s (%.2f s CPU), measured in %.2f s\n",
            sac_method_name(tree->method), tree->branch, sac_text_count(count, tree->node_count),
            baked.seconds, baked.cpu_seconds, baked.measure_seconds);
    sac_quality_say(baked.levels, baked.level_seconds, tree->depth);
    if (!isfinite(baked.levels[0].coverage))
        sac_say("  too many spheres to measure: the gaps are the bounds stored in the nodes\n");

    code = SAC_EXIT_OK;
    if (output && sac_tree_save(tree, output, &error) != SAC_OK) {
        sac_error_in_file(&error, output);
        code = sac_console_spoilt(bake_json(&shape, &baked, &def, NULL), &error);
    } else {
        if (output)
            sac_say("saved as %s\n", output);
        else
            sac_say("not saved; add -o FILE to keep the tree\n");
        code = sac_console_json(bake_json(&shape, &baked, &def, output), false, code);
    }
    sac_baked_fini(&baked);
    sac_shape_close(&shape);
    return code;
}
