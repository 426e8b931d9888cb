/* saccade tree: facts and conversion; rendering and comparing have files of their own. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/tree_open.h"

enum { MOST_TREES = 256 };

static const struct {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"info", "facts about trees", sac_cmd_tree_info},
    {"export", "to and from the text layout .sph", sac_cmd_tree_export},
    {"render", "a picture of the mesh and each level", sac_cmd_tree_render},
    {"compare", "methods side by side as an HTML page", sac_cmd_tree_compare},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

int sac_cmd_tree(int argc, char **argv)
{
    const char *names[VERBS + 1] = {0};
    bool help = argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
    for (int i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (argc > 0 && strcmp(argv[0], verbs[i].name) == 0) return verbs[i].run(argc - 1, argv + 1);
    }
    if (help) {
        printf("Usage: saccade tree info|export|render|compare [arguments]\n\n");
        for (int i = 0; i < VERBS; i++) printf("  %-8s %s\n", verbs[i].name, verbs[i].about);
        printf("\nEach has --help and --json.\n");
        return SAC_EXIT_OK;
    }
    if (argc < 1 || argv[0][0] == '-')
        return sac_options_usage_error("tree", "what? info, export, render or compare");
    const char *meant = sac_options_suggest(argv[0], names);
    if (meant) return sac_options_usage_error("tree", "no '%s' here; did you mean %s?", argv[0], meant);
    return sac_options_usage_error("tree", "no '%s' here; there are info, export, render and compare",
                                   argv[0]);
}

/* Worst and mean of what the nodes of a level store, as per cent of the box diagonal. */
typedef struct level_facts {
    uint32_t nodes, leaves;
    double worst_gap, mean_gap, least_radius, most_radius;
} level_facts;

static level_facts look_at_level(const sac_tree *tree, uint32_t level)
{
    level_facts facts = {.least_radius = INFINITY};
    double diagonal = sac_box_diagonal(&tree->box), scale = diagonal > 0 ? 100 / diagonal : 0, sum = 0;
    uint32_t end = tree->level_block[level + 1] * SAC_LANES;
    for (uint32_t id = tree->level_block[level] * SAC_LANES; id < end; id++) {
        sac_tree_node_info node;
        if (!sac_tree_node(tree, id, &node)) continue;
        facts.nodes++;
        facts.leaves += node.leaf;
        facts.worst_gap = fmax(facts.worst_gap, node.gap * scale);
        sum += node.gap * scale;
        facts.least_radius = fmin(facts.least_radius, node.radius);
        facts.most_radius = fmax(facts.most_radius, node.radius);
    }
    facts.mean_gap = facts.nodes ? sum / facts.nodes : 0;
    return facts;
}

static json_t *vector_json(const float v[3])
{
    return json_pack("[o,o,o]", sac_json_number(v[0]), sac_json_number(v[1]), sac_json_number(v[2]));
}

static json_t *info_json(const sac_tree *tree, const char *path, uint64_t bytes)
{
    const sac_mass *m = &tree->mass;
    json_t *levels = json_array(), *inertia = json_array();
    for (uint32_t level = 0; level <= tree->depth; level++) {
        level_facts f = look_at_level(tree, level);
        json_array_append_new(
            levels, json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o}", "level", (int)level, "spheres", (int)f.nodes,
                              "leaves", (int)f.leaves, "worst_gap", sac_json_number(f.worst_gap), "mean_gap",
                              sac_json_number(f.mean_gap), "least_radius", sac_json_number(f.least_radius),
                              "most_radius", sac_json_number(f.most_radius)));
    }
    for (int i = 0; i < 6; i++) json_array_append_new(inertia, sac_json_number(m->inertia[i]));
    return json_pack(
        "{s:o,s:o,s:s,s:i,s:i,s:i,s:i,s:b,s:b,s:b,s:I,s:f,s:[o,o],s:{s:o,s:o,s:o},s:o}", "file",
        sac_json_text(path), "name", sac_json_text(tree->name), "method", sac_method_name(tree->method),
        "branch", (int)tree->branch, "depth", (int)tree->depth, "nodes", (int)tree->node_count, "leaves",
        (int)tree->leaf_count, "closed", (tree->flags & SAC_TREE_CLOSED) != 0, "solid",
        (tree->flags & SAC_TREE_SOLID) != 0, "nested", (tree->flags & SAC_TREE_NESTED) != 0, "bytes",
        (json_int_t)bytes, "bytes_per_node", tree->node_count ? (double)bytes / tree->node_count : 0.0, "box",
        vector_json(tree->box.low), vector_json(tree->box.high), "mass", "volume", sac_json_number(m->volume),
        "centre", vector_json(m->centre), "inertia", inertia, "levels", levels);
}

static void say_info(const sac_tree *tree, const char *path, uint64_t bytes)
{
    char a[32], b[32], c[32];
    const sac_box *box = &tree->box;
    sac_say("%s\n  %s, %s method, branch %u, depth %u%s%s%s\n", path, *tree->name ? tree->name : "no name",
            sac_method_name(tree->method), tree->branch, tree->depth,
            tree->flags & SAC_TREE_CLOSED ? ", from a closed mesh" : "",
            tree->flags & SAC_TREE_SOLID ? ", solid" : "", tree->flags & SAC_TREE_NESTED ? ", nested" : "");
    sac_say("  %s nodes, %s leaves; file %s, %.0f bytes a node\n", sac_text_count(a, tree->node_count),
            sac_text_count(b, tree->leaf_count), sac_text_bytes(c, bytes),
            tree->node_count ? (double)bytes / tree->node_count : 0.0);
    sac_say("  box %.4g %.4g %.4g to %.4g %.4g %.4g, diagonal %.4g\n", box->low[0], box->low[1], box->low[2],
            box->high[0], box->high[1], box->high[2], sac_box_diagonal(box));
    sac_say("  volume %.4g, centre of mass %.4g %.4g %.4g\n", tree->mass.volume, tree->mass.centre[0],
            tree->mass.centre[1], tree->mass.centre[2]);
    sac_say("  level  spheres   leaves  worst gap  mean gap  radius\n");
    for (uint32_t level = 0; level <= tree->depth; level++) {
        level_facts f = look_at_level(tree, level);
        sac_say("  %5u  %7s  %7s  %7.2f %%  %6.2f %%  %.3g to %.3g\n", level, sac_text_count(a, f.nodes),
                sac_text_count(b, f.leaves), f.worst_gap, f.mean_gap, f.least_radius, f.most_radius);
    }
}

int sac_cmd_tree_info(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    const char *paths[MOST_TREES];
    const sac_command command = {
        "tree info",
        "TREE...",
        "Facts about baked trees or .sph files: method, nodes, gaps stored in the nodes, mass, size.",
        NULL,
        0,
        "Gaps are the bounds stored in the nodes, in per cent of the box diagonal; bake measures them."};
    int count, code = sac_options_parse(&command, argc, argv, &common, paths, MOST_TREES, &count);
    if (code >= 0) return code;
    if (!count) return sac_options_usage_error("tree info", "which tree?");
    sac_console_init("tree info", &common);

    json_t *trees = json_array();
    code = SAC_EXIT_OK;
    for (int i = 0; i < count && code == SAC_EXIT_OK; i++) {
        sac_error error;
        sac_tree *tree;
        struct stat status;
        if (sac_tree_open(paths[i], &tree, &error) != SAC_OK) {
            code = sac_console_fail(&error);
            continue;
        }
        uint64_t bytes = stat(paths[i], &status) == 0 ? (uint64_t)status.st_size : 0;
        say_info(tree, paths[i], bytes);
        json_array_append_new(trees, info_json(tree, paths[i], bytes));
        sac_tree_destroy(&tree);
    }
    if (code != SAC_EXIT_OK) {
        json_decref(trees);
        return code;
    }
    return sac_console_json(json_pack("{s:o}", "trees", trees), false, code);
}

int sac_cmd_tree_export(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    const char *words[2];
    const sac_command command = {
        "tree export",
        "TREE OUT.sph",
        "Write a tree as .sph text (mesh coordinates), or bake a .sph file: tree export IN.sph OUT.sactree.",
        NULL,
        0,
        "The output is .sph when its name ends in .sph, otherwise a baked tree. The .sph layout has no room\n"
        "for gaps, normals and mass: a tree that went through it has lost them."};
    int count, code = sac_options_parse(&command, argc, argv, &common, words, 2, &count);
    if (code >= 0) return code;
    if (count < 2) return sac_options_usage_error("tree export", "needs a tree and an output file");
    sac_console_init("tree export", &common);

    sac_error error;
    sac_tree *tree;
    if (sac_tree_open(words[0], &tree, &error) != SAC_OK) return sac_console_fail(&error);
    bool text = sac_text_ends_in(words[1], ".sph");
    sac_result result =
        text ? sac_tree_export_sph(tree, words[1], &error) : sac_tree_save(tree, words[1], &error);
    if (result != SAC_OK) {
        sac_error_in_file(&error, words[1]);
        code = sac_console_fail(&error);
    } else {
        char a[32];
        sac_say("%s: %s nodes, branch %u, %u levels below the root, as %s\n", words[1],
                sac_text_count(a, tree->node_count), tree->branch, tree->depth,
                text ? ".sph text" : "baked tree");
        code = sac_console_json(json_pack("{s:o,s:s,s:i,s:i,s:i}", "file", sac_json_text(words[1]), "format",
                                          text ? "sph" : "sactree", "nodes", (int)tree->node_count, "branch",
                                          (int)tree->branch, "depth", (int)tree->depth),
                                false, SAC_EXIT_OK);
    }
    sac_tree_destroy(&tree);
    return code;
}
