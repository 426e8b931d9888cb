/* The demo's page about trees: bakes three built-in meshes, collides them with an interruptible descent, and
 * shows what is known at each stop. */
#include "apps/demo_trees.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "apps/draw_tree.h"
#include "apps/meeting.h"
#include "apps/page.h"
#include "apps/quality.h"
#include "apps/whole_file.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/parallel.h"

enum { SHAPES = 3, STOPS = 4, PATH = 4400, PANEL_SPACE = 6 };
static const char *const shape_names[SHAPES] = {"blob", "knot", "gear"};

typedef struct demo_pair {
    int a, b;
    sac_transform pose_a, pose_b;
    sac_meeting_stop stops[STOPS];
    char file[64];
} demo_pair;

typedef struct demo {
    const char *folder;
    uint32_t threads, width;
    bool quick;
    sac_shape shapes[SHAPES];
    sac_baked baked[SHAPES];
    demo_pair pairs[SHAPES];
    sac_page page;
    uint64_t last_ns;
    double seconds;
} demo;

/* "  what ... 1.23 s" */
static void tell_step(demo *d, const char *what)
{
    uint64_t now = sac_time_now_ns();
    double seconds = (double)(now - d->last_ns) * 1e-9;
    sac_say("  %-44s %6.2f s\n", what, seconds);
    d->seconds += seconds;
    d->last_ns = now;
}

/* ---- one: baking ---- */

static sac_result bake_shape(demo *d, int i, sac_error *error)
{
    char path[PATH], text[128], count[32];
    sac_build_def def = sac_default_build_def();
    sac_measure_def measure = sac_default_measure_def();
    def.threads = measure.threads = d->threads;
    if (d->quick)
        measure.sphere_points = 162, measure.surface_samples = 20000, measure.volume_samples = 40000;
    sac_result result = sac_shape_open(shape_names[i], d->quick ? 800 : 0, false, &d->shapes[i], error);
    if (result == SAC_OK) result = sac_baked_make(&d->shapes[i], &def, &measure, &d->baked[i], error);
    if (result != SAC_OK) return result;
    snprintf(path, sizeof path, "%s/%s.sactree", d->folder, shape_names[i]);
    result = sac_tree_save(d->baked[i].tree, path, error);
    snprintf(text, sizeof text, "bake %s: %s triangles, %u spheres", shape_names[i],
             sac_text_count(count, d->shapes[i].mesh->triangle_count), d->baked[i].tree->node_count);
    tell_step(d, text);
    return result;
}

static sac_result draw_shape(demo *d, int i, sac_error *error)
{
    sac_picture picture;
    sac_strip_def def = sac_default_strip_def();
    char path[PATH], text[320];
    const sac_level_quality *last = &d->baked[i].levels[d->baked[i].tree->depth];
    def.threads = d->threads;
    def.width = d->width;
    def.view.z_up = true;
    def.levels = d->baked[i].levels;
    sac_result result = sac_strip_draw(d->baked[i].tree, d->shapes[i].mesh, &def, &picture, error);
    if (result != SAC_OK) return result;
    snprintf(path, sizeof path, "%s/%s.png", d->folder, shape_names[i]);
    result = sac_picture_save(&picture, path, error);
    snprintf(text, sizeof text,
             "%s, baked in %.2f s. The finest level reaches %.2f %% of the object's diagonal beyond it on "
             "average, %.2f %% at worst, and covers all of the surface.",
             shape_names[i], d->baked[i].seconds, last->mean_gap, last->worst_gap);
    sac_page_picture(&d->page, &picture, shape_names[i], text);
    sac_page_levels(&d->page, d->baked[i].levels, d->baked[i].tree->depth);
    sac_picture_fini(&picture);
    snprintf(text, sizeof text, "draw %s and its levels", shape_names[i]);
    tell_step(d, text);
    return result;
}

/* ---- two: colliding ---- */

/* The nearest of 1, 2, 5, 10, 20, 50, ... */
static uint64_t round_number(double x)
{
    uint64_t best = 1, step = 1;
    for (int i = 0; i < 30; i++, step = i % 3 == 2 ? step / 2 * 5 : step * 2)
        if (fabs(log((double)step / x)) < fabs(log((double)best / x))) best = step;
    return best;
}

static sac_result collide_pair(demo *d, demo_pair *pair, sac_error *error)
{
    static const float directions[SHAPES][3] = {
        {0.94f, -0.2f, 0.28f}, {0.9f, -0.3f, 0.31f}, {0.96f, 0.15f, 0.24f}};
    const float *v = directions[pair->a];
    float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    float direction[3] = {v[0] / length, v[1] / length, v[2] / length};
    char text[128], count[32];
    /* b is turned about the upright axis and tipped a little, so that no symmetry helps. */
    const float turn = 0.35f, tip = 0.25f;
    pair->pose_a = pair->pose_b = sac_transform_identity();
    pair->pose_b.rotation[0] = sinf(tip / 2) * cosf(turn / 2);
    pair->pose_b.rotation[1] = sinf(tip / 2) * sinf(turn / 2);
    pair->pose_b.rotation[2] = cosf(tip / 2) * sinf(turn / 2);
    pair->pose_b.rotation[3] = cosf(tip / 2) * cosf(turn / 2);
    const sac_tree *a = d->baked[pair->a].tree, *b = d->baked[pair->b].tree;
    sac_result result = sac_meeting_place(a, &pair->pose_a, b, direction, 0.05f, &pair->pose_b, error);
    sac_meeting_stop *last = &pair->stops[STOPS - 1];
    if (result == SAC_OK)
        result = sac_meeting_run(a, &pair->pose_a, b, &pair->pose_b, SAC_MEETING_COMPLETE, last, error);
    static const double shares[STOPS - 1] = {0.04, 0.18, 0.5};
    for (int i = 0; i < STOPS - 1 && result == SAC_OK; i++)
        result = sac_meeting_run(a, &pair->pose_a, b, &pair->pose_b,
                                 round_number(shares[i] * (double)last->tests), &pair->stops[i], error);
    if (result != SAC_OK) return result;
    snprintf(text, sizeof text, "collide %s and %s: %s contacts", shape_names[pair->a], shape_names[pair->b],
             sac_text_count(count, pair->stops[STOPS - 1].contacts.count));
    tell_step(d, text);
    return result;
}

/* The spheres of the front's nodes on one side, each once. */
static bool add_front_spheres(sac_scene *scene, const sac_tree *tree, const sac_transform *pose,
                              const sac_meeting_stop *stop, bool second, uint32_t srgb)
{
    size_t size = (size_t)tree->block_count * SAC_LANES;
    uint8_t *drawn = sac_alloc_zero(size, 1);
    float colour[3];
    bool ok = drawn != NULL;
    sac_colour_from_srgb(srgb, colour);
    for (size_t i = 0; ok && i < stop->contacts.count; i++) {
        uint32_t id = second ? stop->contacts.data[i].node_b : stop->contacts.data[i].node_a;
        sac_tree_node_info node;
        float centre[3];
        if (id >= size || drawn[id] || !sac_tree_node(tree, id, &node)) continue;
        drawn[id] = 1;
        sac_transform_point(pose, node.centre, centre);
        ok = sac_scene_add_ball(scene, SAC_BALL_BUBBLE, centre, node.radius * pose->scale, colour);
    }
    sac_free(drawn, size, 1);
    return ok;
}

/* Contacts as dots with needles along the normals; of many, an even selection. */
static bool add_contacts(sac_scene *scene, const sac_meeting_stop *stop, float size)
{
    enum { MOST_DRAWN = 72 };
    size_t step = stop->contacts.count / MOST_DRAWN + 1;
    float dot[3], needle[3];
    bool ok = true;
    sac_colour_from_srgb(0xff2f6d, dot);
    sac_colour_from_srgb(0xc4124f, needle);
    for (size_t i = 0; ok && i < stop->contacts.count; i += step) {
        const sac_contact *c = &stop->contacts.data[i];
        ok = sac_scene_add_ball(scene, SAC_BALL_MARK, c->point, 0.014f * size, dot) &&
             sac_scene_add_arrow(scene, c->point, c->normal, 0.085f * size, 0.0055f * size, needle);
    }
    return ok;
}

static bool fill_stop(demo *d, const demo_pair *pair, int stop, sac_scene *scene)
{
    float clay[3], stone[3];
    const sac_tree *a = d->baked[pair->a].tree, *b = d->baked[pair->b].tree;
    sac_clay_colour(clay);
    sac_colour_from_srgb(0xaeb4bd, stone);
    return sac_scene_add_mesh(scene, d->shapes[pair->a].mesh, &pair->pose_a, clay) &&
           sac_scene_add_mesh(scene, d->shapes[pair->b].mesh, &pair->pose_b, stone) &&
           add_front_spheres(scene, a, &pair->pose_a, &pair->stops[stop], false, 0xe07b39) &&
           add_front_spheres(scene, b, &pair->pose_b, &pair->stops[stop], true, 0x2f76b5) &&
           add_contacts(scene, &pair->stops[stop], sac_box_diagonal(&a->box) * (stop < 2 ? 0.5f : 0.36f));
}

/* A close look at the place where they touch: the ball around the contacts, with some of the objects. */
static sac_camera close_up(const demo *d, const demo_pair *pair, uint32_t width, uint32_t height)
{
    const sac_meeting_stop *last = &pair->stops[STOPS - 1];
    sac_scene around = {0};
    const sac_scene *list = &around;
    sac_view view = {.azimuth = 24, .elevation = 22, .z_up = true};
    float middle[3] = {0, 0, 0}, grey[3] = {0.5f, 0.5f, 0.5f};
    for (size_t i = 0; i < last->contacts.count; i++)
        for (int k = 0; k < 3; k++)
            middle[k] += last->contacts.data[i].point[k] / (float)last->contacts.count;
    sac_scene_add_ball(&around, SAC_BALL_SOLID, middle,
                       0.39f * sac_box_diagonal(&d->baked[pair->a].tree->box), grey);
    sac_camera camera = sac_camera_frame(&list, 1, view, width, height);
    sac_scene_fini(&around);
    return camera;
}

static void draw_stop_caption(sac_picture *picture, const sac_meeting_stop *stop, float middle, float size)
{
    float ink[3], pale[3], bottom = (float)picture->height;
    char title[64], line[96], count[32];
    sac_colour_from_srgb(0x33363b, ink);
    sac_colour_from_srgb(0x74777d, pale);
    snprintf(title, sizeof title, stop->complete ? "complete: %s tests" : "stopped after %s tests",
             sac_text_count(count, stop->tests));
    snprintf(line, sizeof line, "%s contact%s, %.2f us", sac_text_count(count, stop->contacts.count),
             stop->contacts.count == 1 ? "" : "s", stop->microseconds);
    sac_picture_text(picture, middle, bottom - 2.9f * size, size, 1.25f, SAC_TEXT_MIDDLE, ink, title);
    sac_picture_text(picture, middle, bottom - 1.1f * size, 0.82f * size, 1.05f, SAC_TEXT_MIDDLE, pale, line);
}

static bool draw_stops(demo *d, const demo_pair *pair, sac_picture *picture)
{
    uint32_t panel = (d->width - PANEL_SPACE * (STOPS - 1)) / STOPS, height = d->width / STOPS * 11 / 10;
    float size = fminf(14.0f, (float)panel / 26.0f);
    uint32_t caption = (uint32_t)(4.7f * size);
    bool ok = sac_picture_init(picture, d->width, height);
    sac_camera camera = close_up(d, pair, panel, height - caption);
    for (int i = 0; i < STOPS && ok; i++) {
        sac_scene scene = {.framed = true};
        uint32_t left = (uint32_t)i * (panel + PANEL_SPACE), w = i == STOPS - 1 ? d->width - left : panel;
        ok = fill_stop(d, pair, i, &scene) &&
             sac_scene_render(&scene, &camera, picture, left, 0, w, height - caption, d->threads);
        sac_scene_fini(&scene);
        draw_stop_caption(picture, &pair->stops[i], (float)left + 0.5f * (float)panel, size);
    }
    return ok;
}

static sac_result draw_pair(demo *d, demo_pair *pair, sac_error *error)
{
    sac_picture picture = {0};
    char path[PATH], text[128];
    sac_result result = SAC_OK;
    const char *a = shape_names[pair->a], *b = shape_names[pair->b];
    if (!draw_stops(d, pair, &picture))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the picture");
    snprintf(pair->file, sizeof pair->file, "%s-%s.png", a, b);
    snprintf(path, sizeof path, "%s/%s", d->folder, pair->file);
    if (result == SAC_OK) result = sac_picture_save(&picture, path, error);
    if (result == SAC_OK) {
        snprintf(text, sizeof text, "%s and %s in one pose, stopped three times and once not.", a, b);
        sac_page_picture(&d->page, &picture, text, text);
        snprintf(text, sizeof text, "draw %s and %s at four stops", a, b);
        tell_step(d, text);
    }
    sac_picture_fini(&picture);
    return result;
}

static void add_stop_table(demo *d, const demo_pair *pair)
{
    float diagonal = sac_box_diagonal(&d->baked[pair->a].tree->box);
    sac_page_add(&d->page, "<div class=\"scroll\"><table><tr><th>stopped</th><th>node tests</th><th>time</th>"
                           "<th>contacts</th><th>mean uncertainty</th><th>worst uncertainty</th></tr>\n");
    for (int i = 0; i < STOPS; i++) {
        const sac_meeting_stop *s = &pair->stops[i];
        char a[32], b[32], c[32];
        if (s->allowed == SAC_MEETING_COMPLETE)
            snprintf(c, sizeof c, "never");
        else
            sac_text_count(c, s->allowed);
        sac_page_add(&d->page,
                     "<tr><td>%s%s</td><td>%s</td><td>%.2f µs</td><td>%s</td><td>%.2f %%</td><td>%.2f %%</td>"
                     "</tr>\n",
                     s->allowed == SAC_MEETING_COMPLETE ? "" : "at ", c, sac_text_count(a, s->tests),
                     s->microseconds, sac_text_count(b, s->contacts.count),
                     100 * s->mean_uncertainty / diagonal, 100 * s->worst_uncertainty / diagonal);
    }
    sac_page_add(&d->page, "</table></div>\n");
}

/* ---- the page ---- */

static sac_result write_demo(demo *d, sac_error *error)
{
    sac_result result = SAC_OK;
    char path[PATH];
    sac_page_begin(
        &d->page, "Trees of spheres, and stopping at any time",
        "Saccade gives every object a tree of spheres and walks two trees down together, from coarse to "
        "fine. "
        "It can be stopped at any moment and still knows where the objects touch, and how sure it is.");
    sac_page_add(
        &d->page,
        "<h2>1. Objects become trees of spheres</h2>\n<p>From left to right: the object, then the "
        "levels of its tree. Each level covers the whole surface, with more and smaller spheres. Spheres "
        "of one hue belong to the same sphere of level 1. The <em>gap</em> is how far a sphere reaches "
        "beyond the object, in per cent of the diagonal of its box: the error that is left if a query "
        "stops there.</p>\n");
    for (int i = 0; i < SHAPES && result == SAC_OK; i++) result = draw_shape(d, i, error);
    sac_page_add(
        &d->page,
        "<h2>2. Two trees meet, and may be stopped at any time</h2>\n<p>Each pair is pushed a little "
        "into one another and collided four times: stopped early three times, after a number of tests of two "
        "spheres, and once not stopped. The translucent spheres are all that is still in question "
        "(orange on the first object, blue on the second); everything else is known to be apart. The "
        "red dots are the contacts as they are known at that moment, with their normals. No true "
        "contact is ever missing: with more time the same answer gets sharper. Times are for one core, from "
        "the "
        "two poses to the stop; a stop in the middle of a pair of nodes is reached test by test, which is "
        "slower "
        "than opening the pair at once.</p>\n");
    for (int i = 0; i < SHAPES && result == SAC_OK; i++) {
        result = draw_pair(d, &d->pairs[i], error);
        add_stop_table(d, &d->pairs[i]);
    }
    sac_page_add(
        &d->page,
        "<h2>3. Try it</h2>\n<pre><code>saccade bake bunny.obj -o bunny.sactree\n"
        "saccade tree render bunny.sactree --mesh bunny.obj -o bunny.png\n"
        "saccade tree compare bunny.obj -o compare\nsaccade bench descent</code></pre>\n"
        "<footer>Made by <code>saccade demo</code> %s on this machine (%s, %u threads for baking and "
        "drawing, one for colliding). Times are medians.</footer>\n",
        SACCADE_VERSION, sac_simd_name(sac_simd_active()), d->threads);
    sac_page_end(&d->page);
    snprintf(path, sizeof path, "%s/trees.html", d->folder);
    if (result == SAC_OK) result = sac_page_save(&d->page, path, error);
    return result;
}

static json_t *demo_json(const demo *d)
{
    json_t *shapes = json_array(), *pairs = json_array();
    for (int i = 0; i < SHAPES; i++)
        json_array_append_new(
            shapes, json_pack("{s:s,s:f,s:i,s:o}", "name", shape_names[i], "seconds", d->baked[i].seconds,
                              "nodes", (int)d->baked[i].tree->node_count, "levels",
                              sac_quality_json(d->baked[i].levels, d->baked[i].level_seconds,
                                               d->baked[i].tree->depth)));
    for (int i = 0; i < SHAPES; i++) {
        const demo_pair *pair = &d->pairs[i];
        json_t *stops = json_array();
        for (int k = 0; k < STOPS; k++)
            json_array_append_new(
                stops, json_pack("{s:I,s:b,s:f,s:i,s:o,s:o}", "tests", (json_int_t)pair->stops[k].tests,
                                 "complete", pair->stops[k].complete, "microseconds",
                                 pair->stops[k].microseconds, "contacts", (int)pair->stops[k].contacts.count,
                                 "deepest", sac_json_number(pair->stops[k].deepest), "worst_uncertainty",
                                 sac_json_number(pair->stops[k].worst_uncertainty)));
        json_array_append_new(pairs, json_pack("{s:s,s:s,s:s,s:o}", "a", shape_names[pair->a], "b",
                                               shape_names[pair->b], "picture", pair->file, "stops", stops));
    }
    return json_pack("{s:o,s:o}", "shapes", shapes, "pairs", pairs);
}

sac_result sac_demo_trees(const sac_demo_def *def, json_t **out_json, sac_error *error)
{
    static demo d; /* large */
    memset(&d, 0, sizeof d);
    d.folder = def->folder;
    d.width = def->width;
    d.quick = def->quick;
    d.threads = def->threads;
    d.last_ns = sac_time_now_ns();
    *out_json = NULL;
    sac_result result = SAC_OK;
    for (int i = 0; i < SHAPES && result == SAC_OK; i++) result = bake_shape(&d, i, error);
    for (int i = 0; i < SHAPES && result == SAC_OK; i++) {
        d.pairs[i].a = i, d.pairs[i].b = (i + 1) % SHAPES;
        result = collide_pair(&d, &d.pairs[i], error);
    }
    if (result == SAC_OK) result = write_demo(&d, error);
    if (result == SAC_OK) *out_json = demo_json(&d);
    sac_page_fini(&d.page);
    for (int i = 0; i < SHAPES; i++) {
        for (int k = 0; k < STOPS; k++) sac_meeting_stop_fini(&d.pairs[i].stops[k]);
        sac_baked_fini(&d.baked[i]);
        sac_shape_close(&d.shapes[i]);
    }
    return result;
}
