/* saccade tree compare: methods, or given trees, side by side on an HTML page with pictures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/draw_tree.h"
#include "apps/page.h"
#include "apps/quality.h"
#include "apps/tree_open.h"
#include "apps/whole_file.h"
#include "base/parallel.h"

enum { MOST_ENTRIES = 16 };

typedef struct entry {
    char name[96], picture[128]; /* what it is called, file name of its picture */
    sac_baked baked;
    bool built, measured;
} entry;

typedef struct comparison {
    entry entries[MOST_ENTRIES];
    uint32_t count, depth; /* deepest of all */
    sac_shape shape;
    bool has_shape;
} comparison;

static sac_result add_method(comparison *c, sac_method method, const sac_build_def *like,
                             const sac_measure_def *measure, sac_error *error)
{
    entry *e = &c->entries[c->count];
    sac_build_def def = *like;
    char doing[64];
    snprintf(doing, sizeof doing, "baking %s", sac_method_name(method));
    def.method = method;
    def.progress = sac_console_progress;
    def.user = doing;
    sac_result result = sac_baked_make(&c->shape, &def, measure, &e->baked, error);
    if (result != SAC_OK) return result;
    snprintf(e->name, sizeof e->name, "%s", sac_method_name(e->baked.tree->method));
    e->built = e->measured = true;
    c->count++;
    sac_say("%-8s %.2f s\n", e->name, e->baked.seconds);
    return SAC_OK;
}

static sac_result add_tree(comparison *c, const char *path, const sac_measure_def *measure, sac_error *error)
{
    entry *e = &c->entries[c->count];
    const char *slash = strrchr(path, '/');
    sac_result result = sac_tree_open(path, &e->baked.tree, error);
    if (result != SAC_OK) return result;
    c->count++;
    snprintf(e->name, sizeof e->name, "%.90s", slash ? slash + 1 : path);
    sac_quality_stored(e->baked.tree, e->baked.levels);
    if (c->has_shape) {
        result = sac_shape_measure(&c->shape, e->baked.tree, measure, e->baked.levels, error);
        e->measured = result == SAC_OK;
    }
    return result;
}

/* Which entry is best in a column; all columns are better when smaller. */
static double column_value(const entry *e, uint32_t column)
{
    uint32_t depth = e->baked.tree->depth, level = column / 2;
    if (column == 0) return e->built ? e->baked.seconds : NAN;
    if (level > depth || level < 1) return NAN;
    return column % 2 ? e->baked.levels[level].worst_gap : e->baked.levels[level].mean_gap;
}

static void add_summary(sac_page *page, const comparison *c)
{
    sac_page_add(page, "<div class=\"scroll\"><table><tr><th>method</th><th>build</th><th>spheres</th>");
    for (uint32_t level = 1; level <= c->depth; level++)
        sac_page_add(page, "<th>level %u mean</th><th>worst</th>", level);
    sac_page_add(page, "<th>least coverage</th></tr>\n");
    for (uint32_t i = 0; i < c->count; i++) {
        const entry *e = &c->entries[i];
        char count[32];
        double least = 1;
        sac_page_add(page, "<tr><td>");
        sac_page_text(page, e->name);
        sac_page_add(page, "</td>");
        if (e->built)
            sac_page_add(page, "<td>%.2f s</td>", e->baked.seconds);
        else
            sac_page_add(page, "<td>–</td>");
        sac_page_add(page, "<td>%s</td>", sac_text_count(count, e->baked.tree->node_count));
        for (uint32_t column = 2; column < 2 * c->depth + 2; column++) {
            double value = column_value(e, column), best = INFINITY;
            for (uint32_t j = 0; j < c->count; j++) best = fmin(best, column_value(&c->entries[j], column));
            if (isfinite(value))
                sac_page_add(page, "<td%s>%.2f %%</td>", value <= best ? " class=\"best\"" : "", value);
            else
                sac_page_add(page, "<td>–</td>");
        }
        for (uint32_t level = 0; level <= e->baked.tree->depth; level++)
            least = fmin(least, e->baked.levels[level].path_coverage);
        if (!e->measured)
            sac_page_add(page, "<td>–</td></tr>\n");
        else if (least >= 1)
            sac_page_add(page, "<td>100 %%</td></tr>\n");
        else
            sac_page_add(page, "<td>%.2f %%</td></tr>\n", floor(least * 1e4) / 1e2);
    }
    sac_page_add(page, "</table></div>\n");
}

static void add_charts(sac_page *page, const comparison *c)
{
    sac_chart_line mean[MOST_ENTRIES] = {0}, worst[MOST_ENTRIES] = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const entry *e = &c->entries[i];
        mean[i].name = worst[i].name = e->name;
        mean[i].count = worst[i].count = e->baked.tree->depth + 1;
        for (uint32_t level = 0; level <= e->baked.tree->depth; level++) {
            mean[i].values[level] = e->baked.levels[level].mean_gap;
            worst[i].values[level] = e->baked.levels[level].worst_gap;
        }
    }
    sac_page_add(page, "<div class=\"charts\">");
    sac_page_chart(page, "Mean gap", mean, c->count);
    sac_page_chart(page, "Worst gap", worst, c->count);
    sac_page_add(page, "</div>\n");
}

static sac_result add_entry(sac_page *page, entry *e, const comparison *c, const sac_strip_def *like,
                            const char *folder, sac_error *error)
{
    sac_picture picture;
    sac_strip_def def = *like;
    char path[4400], safe[96], caption[256];
    size_t n = 0;
    for (const char *p = e->name; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                     *p == '-' || *p == '_';
        safe[n++] = plain ? *p : '-';
    }
    safe[n] = 0;
    def.levels = e->baked.levels;
    def.title = c->has_shape ? c->shape.name : NULL;
    sac_result result =
        sac_strip_draw(e->baked.tree, c->has_shape ? c->shape.mesh : NULL, &def, &picture, error);
    if (result != SAC_OK) return result;
    snprintf(e->picture, sizeof e->picture, "%s.png", safe);
    snprintf(path, sizeof path, "%s/%s", folder, e->picture);
    result = sac_picture_save(&picture, path, error);
    sac_page_add(page, "<h2>");
    sac_page_text(page, e->name);
    sac_page_add(page, "</h2>\n");
    if (e->built)
        snprintf(caption, sizeof caption, "Built in %.2f s (%.2f s of CPU time), branch %u.",
                 e->baked.seconds, e->baked.cpu_seconds, e->baked.tree->branch);
    else
        snprintf(caption, sizeof caption, "%s method, branch %u.", sac_method_name(e->baked.tree->method),
                 e->baked.tree->branch);
    sac_page_picture(page, &picture, e->name, caption);
    sac_page_levels(page, e->baked.levels, e->baked.tree->depth);
    sac_picture_fini(&picture);
    return result;
}

static sac_result write_page(comparison *c, const sac_strip_def *strip, const char *folder, sac_error *error)
{
    sac_page page = {0};
    char title[160], path[4400];
    if (!c->has_shape)
        snprintf(title, sizeof title, "%u sphere-trees side by side", c->count);
    else if (c->count == 1)
        snprintf(title, sizeof title, "%s as a sphere-tree", c->shape.name);
    else
        snprintf(title, sizeof title, "%s: %u ways to build its sphere-tree", c->shape.name, c->count);
    sac_page_begin(
        &page, title,
        "Each level of a sphere-tree stands for the whole object, more closely from level to level. "
        "The gap is how far a sphere reaches beyond the object, in per cent of the box diagonal: "
        "the uncertainty that is left when a collision query has to stop at that level. "
        "Smaller is better.");
    add_summary(&page, c);
    add_charts(&page, c);
    sac_page_add(&page,
                 "<p>In the pictures, spheres of one hue have the same ancestor on level 1, and of one "
                 "shade on level 2. Covered on a path means: inside a sphere whose ancestors all hold "
                 "the same point, so a descent from the root reaches it.</p>\n");
    sac_result result = SAC_OK;
    for (uint32_t i = 0; i < c->count && result == SAC_OK; i++) {
        sac_say("drawing %s\n", c->entries[i].name);
        result = add_entry(&page, &c->entries[i], c, strip, folder, error);
    }
    sac_page_add(&page, "<footer>Made by <code>saccade tree compare</code>.</footer>\n");
    sac_page_end(&page);
    snprintf(path, sizeof path, "%s/index.html", folder);
    if (result == SAC_OK) result = sac_page_save(&page, path, error);
    sac_page_fini(&page);
    return result;
}

static json_t *compare_json(const comparison *c, const char *folder)
{
    json_t *list = json_array();
    char page[4400];
    snprintf(page, sizeof page, "%s/index.html", folder);
    for (uint32_t i = 0; i < c->count; i++) {
        const entry *e = &c->entries[i];
        json_array_append_new(
            list, json_pack("{s:o,s:s,s:o,s:o,s:i,s:o,s:o}", "name", sac_json_text(e->name), "method",
                            sac_method_name(e->baked.tree->method), "seconds",
                            sac_json_number(e->built ? e->baked.seconds : NAN), "cpu_seconds",
                            sac_json_number(e->built ? e->baked.cpu_seconds : NAN), "nodes",
                            (int)e->baked.tree->node_count, "picture", sac_json_text(e->picture), "levels",
                            sac_quality_json(e->baked.levels, NULL, e->baked.tree->depth)));
    }
    return json_pack("{s:o,s:o}", "page", sac_json_text(page), "trees", list);
}

static int pick_methods(const char *text, sac_method *out, uint32_t *count)
{
    *count = 0;
    while (*text && *count < MOST_ENTRIES) {
        char word[32];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int code = sac_method_pick("tree compare", word, &out[(*count)++]);
        if (code >= 0) return code;
        text += length + (text[length] != 0);
    }
    return *count ? -1 : sac_options_usage_error("tree compare", "--methods needs at least one name");
}

int sac_cmd_tree_compare(int argc, char **argv)
{
    static comparison c; /* large */
    sac_common common = {.threads = sac_parallel_cpus()};
    sac_build_def def = sac_default_build_def();
    sac_measure_def measure = sac_default_measure_def();
    sac_strip_def strip = sac_default_strip_def();
    const char *words[MOST_ENTRIES], *folder = "compare", *mesh = NULL,
                                     *methods = "medial,hubbard,octree,grid,wrapped", *up = "auto";
    uint32_t triangles = 0, method_count;
    sac_method method_list[MOST_ENTRIES];
    const sac_option options[] = {
        {"output", 'o', SAC_OPTION_TEXT, &folder, "DIR",
         "folder for index.html and the pictures (default compare)", 0, 0},
        {"methods", 0, SAC_OPTION_TEXT, &methods, "LIST", "default medial,hubbard,octree,grid,wrapped", 0, 0},
        {"mesh", 'm', SAC_OPTION_TEXT, &mesh, "MESH", "with trees: the mesh to measure them against", 0, 0},
        {"branch", 'b', SAC_OPTION_UINT, &def.branch, "N", "most children of a node (default 8)",
         SAC_TREE_LEAST_BRANCH, SAC_TREE_MOST_BRANCH},
        {"depth", 'd', SAC_OPTION_UINT, &def.depth, "N", "levels below the root (default 3)", 1,
         SAC_TREE_MOST_DEPTH},
        {"triangles", 0, SAC_OPTION_UINT, &triangles, "N", "resolution of a built-in mesh", 4, 4000000},
        {"width", 0, SAC_OPTION_UINT, &strip.width, "PIXELS", "of the pictures (default 1600)", 128, 8192},
        {"up", 0, SAC_OPTION_TEXT, &up, "AXIS", "upright axis: y, z, auto (z for built-in meshes)", 0, 0},
    };
    const sac_command command = {"tree compare",
                                 "MESH [-o DIR] | TREE... [--mesh MESH] [-o DIR]",
                                 "Methods side by side, or given trees (.sactree, .sph), as an HTML page.",
                                 options,
                                 sizeof options / sizeof *options,
                                 NULL};
    int count, code = sac_options_parse(&command, argc, argv, &common, words, MOST_ENTRIES, &count);
    if (code >= 0) return code;
    if (!count) return sac_options_usage_error("tree compare", "which mesh or trees?");
    if (strcmp(up, "y") != 0 && strcmp(up, "z") != 0 && strcmp(up, "auto") != 0)
        return sac_options_usage_error("tree compare", "--up is y, z or auto, not '%s'", up);
    bool trees = count > 1 || sac_text_ends_in(words[0], ".sactree") || sac_text_ends_in(words[0], ".sph");
    if (mesh && !trees)
        return sac_options_usage_error("tree compare", "--mesh is for trees; '%.80s' is the mesh here",
                                       words[0]);
    if ((code = pick_methods(methods, method_list, &method_count)) >= 0) return code;
    sac_console_init("tree compare", &common);
    def.threads = measure.threads = strip.threads = common.threads;

    sac_error error;
    sac_result result = SAC_OK;
    if (!trees || mesh) {
        result = sac_shape_open(trees ? mesh : words[0], triangles, false, &c.shape, &error);
        c.has_shape = result == SAC_OK;
    }
    if (result == SAC_OK) result = sac_folder_create(folder, &error);
    if (result == SAC_OK && c.has_shape) sac_shape_say(&c.shape);
    if (c.has_shape && !c.shape.mesh) method_count = 1; /* spheres have one method */
    for (int i = 0; trees && i < count && result == SAC_OK; i++)
        result = add_tree(&c, words[i], &measure, &error);
    for (uint32_t i = 0; !trees && i < method_count && result == SAC_OK; i++)
        result = add_method(&c, method_list[i], &def, &measure, &error);
    for (uint32_t i = 0; i < c.count; i++)
        if (c.entries[i].baked.tree->depth > c.depth) c.depth = c.entries[i].baked.tree->depth;
    strip.view.z_up = *up == 'z' || (*up == 'a' && c.has_shape && c.shape.builtin && c.shape.mesh);
    if (result == SAC_OK) result = write_page(&c, &strip, folder, &error);
    if (result == SAC_OK) {
        sac_say("%s/index.html\n", folder);
        code = sac_console_json(compare_json(&c, folder), false, SAC_EXIT_OK);
    } else {
        code = sac_console_fail(&error);
    }
    for (uint32_t i = 0; i < c.count; i++) sac_baked_fini(&c.entries[i].baked);
    sac_shape_close(&c.shape);
    return code;
}
