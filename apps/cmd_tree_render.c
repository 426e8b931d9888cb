/* saccade tree render: a picture of the mesh and each level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/draw_tree.h"
#include "apps/shape.h"
#include "apps/tree_open.h"
#include "base/clock.h"
#include "base/parallel.h"

static bool read_size(const char *text, uint32_t *width, uint32_t *height)
{
    char *end;
    unsigned long w = strtoul(text, &end, 10), h = 0;
    if (end == text) return false;
    if (*end == 'x') {
        const char *second = end + 1;
        h = strtoul(second, &end, 10);
        if (end == second || h < 64 || h > 8192) return false;
    }
    if (*end || w < 64 || w > 8192) return false;
    *width = (uint32_t)w, *height = (uint32_t)h;
    return true;
}

/* Built-in meshes have z up; most files have y up. Without a mesh the tree's name tells. */
static bool stands_on_z(const sac_tree *tree, const sac_shape *shape)
{
    if (shape->mesh) return shape->builtin;
    for (uint32_t i = 0; sac_mesh_builtin_name(i); i++)
        if (strcmp(tree->name, sac_mesh_builtin_name(i)) == 0) return true;
    return false;
}

int sac_cmd_tree_render(int argc, char **argv)
{
    sac_common common = {.threads = sac_parallel_cpus()};
    sac_strip_def def = sac_default_strip_def();
    const char *input, *output = NULL, *mesh_name = NULL, *level = "all", *size = "1600", *up = "auto";
    uint32_t triangles = 0;
    const sac_option options[] = {
        {"output", 'o', SAC_OPTION_TEXT, &output, "PNG", "picture to write", 0, 0},
        {"mesh", 'm', SAC_OPTION_TEXT, &mesh_name, "MESH", "show the mesh first (file or built-in)", 0, 0},
        {"triangles", 0, SAC_OPTION_UINT, &triangles, "N", "resolution of a built-in mesh", 4, 4000000},
        {"level", 'l', SAC_OPTION_TEXT, &level, "L", "one level, or all (default: 1 to the last)", 0, 0},
        {"overlay", 0, SAC_OPTION_FLAG, &def.overlay, NULL, "translucent spheres over the mesh", 0, 0},
        {"size", 's', SAC_OPTION_TEXT, &size, "WxH", "pixels; W alone chooses H (default 1600)", 0, 0},
        {"azimuth", 0, SAC_OPTION_NUMBER, &def.view.azimuth, "DEG", "camera around the object (default 32)",
         -360, 360},
        {"elevation", 0, SAC_OPTION_NUMBER, &def.view.elevation, "DEG",
         "camera above the horizon (default 20)", -85, 85},
        {"up", 0, SAC_OPTION_TEXT, &up, "AXIS", "upright axis: y, z, auto (z for built-in meshes)", 0, 0},
    };
    const sac_command command = {
        "tree render",
        "TREE [--mesh MESH] -o OUT.png [options]",
        "Draw a tree: the mesh and its levels side by side. Spheres of one hue share "
        "an ancestor on level 1,\nof one shade on level 2.",
        options,
        sizeof options / sizeof *options,
        NULL};
    int words, code = sac_options_parse(&command, argc, argv, &common, &input, 1, &words);
    if (code >= 0) return code;
    if (!words) return sac_options_usage_error("tree render", "which tree?");
    if (!output) return sac_options_usage_error("tree render", "where to? add -o OUT.png");
    if (!read_size(size, &def.width, &def.height))
        return sac_options_usage_error("tree render", "--size takes W or WxH from 64 to 8192, not '%s'",
                                       size);
    if (strcmp(up, "y") != 0 && strcmp(up, "z") != 0 && strcmp(up, "auto") != 0)
        return sac_options_usage_error("tree render", "--up is y, z or auto, not '%s'", up);
    if (strcmp(level, "all") != 0) {
        char *end;
        def.level = (int)strtol(level, &end, 10);
        if (end == level || *end || def.level < 0 || def.level > (int)SAC_TREE_MOST_DEPTH)
            return sac_options_usage_error("tree render", "--level takes a level or all, not '%s'", level);
    }
    def.threads = common.threads;
    sac_console_init("tree render", &common);

    sac_error error;
    sac_tree *tree = NULL;
    sac_shape shape = {0};
    sac_picture picture = {0};
    uint64_t start = sac_time_now_ns();
    sac_result result = sac_tree_open(input, &tree, &error);
    if (result == SAC_OK && mesh_name) result = sac_shape_open(mesh_name, triangles, false, &shape, &error);
    if (result == SAC_OK) def.view.z_up = *up == 'z' || (*up == 'a' && stands_on_z(tree, &shape));
    if (result == SAC_OK) result = sac_strip_draw(tree, shape.mesh, &def, &picture, &error);
    if (result == SAC_OK) result = sac_picture_save(&picture, output, &error);
    double seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    if (result != SAC_OK) {
        code = sac_console_fail(&error);
    } else {
        sac_say("%s: %ux%u pixels, drawn in %.2f s\n", output, picture.width, picture.height, seconds);
        code =
            sac_console_json(json_pack("{s:o,s:i,s:i,s:f}", "file", sac_json_text(output), "width",
                                       (int)picture.width, "height", (int)picture.height, "seconds", seconds),
                             false, SAC_EXIT_OK);
    }
    sac_picture_fini(&picture);
    sac_shape_close(&shape);
    sac_tree_destroy(&tree);
    return code;
}
