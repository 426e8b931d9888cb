#include "apps/draw_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"

/* Hues that stay apart for colour-blind eyes, neighbours also apart in lightness. */
static const uint32_t cluster_colours[] = {0x3f74a8, 0xe39a5c, 0x2f8f83, 0xdcc766, 0xa35a86, 0x86c3dd,
                                           0x8a4f57, 0xb7b3a6, 0x5a67a6, 0xd8775c, 0x6a9a4e, 0xe6b8a8,
                                           0x4c4f6b, 0x9fcfb4, 0xc25f77, 0x7d7a52};
enum { COLOURS = sizeof cluster_colours / sizeof *cluster_colours };

void sac_clay_colour(float out[3]) { sac_colour_from_srgb(0xd3a98e, out); }

sac_strip_def sac_default_strip_def(void)
{
    return (sac_strip_def){
        .view = {.azimuth = 32, .elevation = 20}, .width = 1600, .level = SAC_ALL_LEVELS, .threads = 1};
}

/* Which child of its parent a node is. */
static uint32_t child_index(const sac_tree *tree, uint32_t id)
{
    uint32_t parent = tree->parents[id / SAC_LANES];
    return id - tree->links[parent / SAC_LANES].link[parent % SAC_LANES] * SAC_LANES;
}

void sac_cluster_colour(const sac_tree *tree, uint32_t id, float out[3])
{
    uint32_t path[SAC_TREE_MOST_DEPTH + 1], count = 0; /* from the node up, the root left out */
    while (id && count <= SAC_TREE_MOST_DEPTH) {
        path[count++] = id;
        id = tree->parents[id / SAC_LANES];
    }
    if (!count) {
        sac_colour_from_srgb(0xb7b3a6, out);
        return;
    }
    sac_colour_from_srgb(cluster_colours[child_index(tree, path[count - 1]) % COLOURS], out);
    if (count < 2) return;
    float shade = ((float)child_index(tree, path[count - 2]) + 0.5f) / (float)tree->branch * 2 - 1;
    for (int k = 0; k < 3; k++)
        out[k] = shade > 0 ? out[k] + (0.85f - out[k]) * 0.38f * shade : out[k] * (1 + 0.42f * shade);
}

bool sac_scene_add_level(sac_scene *scene, sac_ball_look look, const sac_tree *tree, uint32_t level,
                         const sac_transform *transform, uint32_t *out_count)
{
    uint32_t end = tree->level_block[level + 1] * SAC_LANES;
    for (uint32_t id = 0; id < end; id++) {
        sac_tree_node_info node;
        float albedo[3], centre[3];
        if (!sac_tree_node(tree, id, &node) || (node.level < level && !node.leaf)) continue;
        memcpy(centre, node.centre, sizeof centre);
        if (transform) sac_transform_point(transform, node.centre, centre);
        sac_cluster_colour(tree, id, albedo);
        if (!sac_scene_add_ball(scene, look, centre, node.radius * (transform ? transform->scale : 1),
                                albedo))
            return false;
        if (out_count) ++*out_count;
    }
    return true;
}

/* ---- the strip ---- */

typedef struct panel {
    sac_scene scene;
    char title[SAC_CAPTION_MOST], line[SAC_CAPTION_MOST];
} panel;

enum { MOST_PANELS = SAC_TREE_MOST_DEPTH + 2 };

static double mean_gap(const sac_tree *tree, const sac_strip_def *def, uint32_t level)
{
    double sum = 0, diagonal = sac_box_diagonal(&tree->box);
    if (def->levels) return def->levels[level].mean_gap;
    for (uint32_t id = tree->level_block[level] * SAC_LANES; id < tree->level_block[level + 1] * SAC_LANES;
         id++) {
        sac_tree_node_info node;
        if (sac_tree_node(tree, id, &node)) sum += node.gap;
    }
    return diagonal > 0 ? 100 * sum / diagonal / tree->level_nodes[level] : 0;
}

static bool fill_level_panel(panel *p, const sac_tree *tree, const sac_mesh *mesh, const sac_strip_def *def,
                             uint32_t level)
{
    uint32_t count = 0;
    char text[32];
    float clay[3];
    bool overlay = def->overlay && mesh;
    sac_clay_colour(clay);
    if (overlay && !sac_scene_add_mesh(&p->scene, mesh, NULL, clay)) return false;
    if (!sac_scene_add_level(&p->scene, overlay ? SAC_BALL_BUBBLE : SAC_BALL_SOLID, tree, level, NULL,
                             &count))
        return false;
    snprintf(p->title, sizeof p->title, "level %u", level);
    int n =
        snprintf(p->line, sizeof p->line, "%s sphere%s", sac_text_count(text, count), count == 1 ? "" : "s");
    if (tree->method != SAC_METHOD_FOREIGN || def->levels)
        snprintf(p->line + n, sizeof p->line - (size_t)n, ", mean gap %.2f %%", mean_gap(tree, def, level));
    return true;
}

static bool fill_mesh_panel(panel *p, const sac_tree *tree, const sac_mesh *mesh, const sac_strip_def *def)
{
    char text[32];
    float clay[3];
    sac_clay_colour(clay);
    const char *name = def->title ? def->title : *tree->name ? tree->name : mesh->name;
    snprintf(p->title, sizeof p->title, "%.60s", name);
    snprintf(p->line, sizeof p->line, "%s triangles", sac_text_count(text, mesh->triangle_count));
    return sac_scene_add_mesh(&p->scene, mesh, NULL, clay);
}

static void draw_caption(sac_picture *picture, const panel *p, float middle, float bottom, float size)
{
    float ink[3], pale[3];
    sac_colour_from_srgb(0x33363b, ink);
    sac_colour_from_srgb(0x74777d, pale);
    sac_picture_text(picture, middle, bottom - 2.9f * size, size, 1.25f, SAC_TEXT_MIDDLE, ink, p->title);
    sac_picture_text(picture, middle, bottom - 1.1f * size, 0.82f * size, 1.05f, SAC_TEXT_MIDDLE, pale,
                     p->line);
}

sac_result sac_strip_draw(const sac_tree *tree, const sac_mesh *mesh, const sac_strip_def *def,
                          sac_picture *out, sac_error *error)
{
    panel panels[MOST_PANELS] = {0};
    uint32_t count = 0, first = def->level == SAC_ALL_LEVELS ? 1 : (uint32_t)def->level,
             last = def->level == SAC_ALL_LEVELS ? tree->depth : (uint32_t)def->level;
    bool ok = true;
    *out = (sac_picture){0};
    if (first > last) first = last;
    if (last > tree->depth)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "choose a level the tree has",
                             "there is no level %u; the last one is %u", last, tree->depth);
    if (mesh) ok = fill_mesh_panel(&panels[count++], tree, mesh, def);
    for (uint32_t level = first; level <= last && ok; level++)
        ok = fill_level_panel(&panels[count++], tree, mesh, def, level);

    uint32_t columns = count <= 5 ? count : (count + 1) / 2, rows = (count + columns - 1) / columns;
    uint32_t width = def->width, panel_width = width / columns;
    uint32_t height = def->height ? def->height : (uint32_t)((float)panel_width * 1.08f) * rows;
    uint32_t panel_height = height / rows;
    float size = fminf(14.0f, (float)panel_width / 26.0f);
    uint32_t caption = (uint32_t)(4.7f * size);
    if (panel_width < 16 || panel_height < caption + 16) {
        for (uint32_t i = 0; i < count; i++) sac_scene_fini(&panels[i].scene);
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "make it larger or draw one level",
                             "%ux%u is too small for %u panels", width, height, count);
    }
    const sac_scene *scenes[MOST_PANELS];
    for (uint32_t i = 0; i < count; i++) scenes[i] = &panels[i].scene;
    ok = ok && sac_picture_init(out, width, height);
    if (ok) {
        sac_camera camera = sac_camera_frame(scenes, count, def->view, panel_width, panel_height - caption);
        for (uint32_t i = 0; i < count && ok; i++) {
            uint32_t left = i % columns * panel_width, top = i / columns * panel_height;
            /* The last column and row take what division left over, so nothing stays white. */
            uint32_t w = i % columns == columns - 1 ? width - left : panel_width,
                     h = i / columns == rows - 1 ? height - top : panel_height;
            ok = sac_scene_render(&panels[i].scene, &camera, out, left, top, w, h, def->threads);
            draw_caption(out, &panels[i], (float)left + 0.5f * (float)panel_width,
                         (float)(top + panel_height), size);
        }
    }
    for (uint32_t i = 0; i < count; i++) sac_scene_fini(&panels[i].scene);
    if (ok) return SAC_OK;
    sac_picture_fini(out);
    return sac_error_set(error, SAC_ERROR_MEMORY, "make the picture smaller", "no memory for the picture");
}
