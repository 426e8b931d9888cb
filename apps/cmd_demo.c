/* saccade demo: a hailstorm on the first page (demo_storm.c); beside it a pile of tori within two
 * milliseconds a frame while a gaze wanders over it, what that looks like and what it cost; and the page
 * about trees. */
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/demo_storm.h"
#include "apps/demo_trees.h"
#include "apps/run_page.h"
#include "apps/run_tell.h"
#include "apps/telemetry.h"
#include "apps/whole_file.h"
#include "base/cpu.h"
#include "base/parallel.h"

enum { PATH = 4400 };

typedef struct pile_demo {
    sac_demo_def def;
    uint32_t bodies, frames, pictures;
    sac_staging staging;
    sac_gaze_trace gaze;
    sac_run run;
    sac_run_def run_def;
    sac_run_album album;
    sac_page page;
} pile_demo;

static sac_result run_pile(pile_demo *d, sac_error *error)
{
    const sac_staging_def staging = {.bodies = d->bodies};
    sac_result result = sac_staging_builtin(&d->staging, "pile", &staging, error);
    if (result == SAC_OK) result = sac_gaze_trace_open(&d->gaze, "sweep", error);
    if (result != SAC_OK) return result;
    d->run_def = sac_default_run_def(); /* 90 Hz, 2 ms, jnd, one thread */
    d->run_def.frames = d->frames;
    d->run_def.gaze = &d->gaze;
    d->run_def.keep = true;
    d->run_def.look = sac_run_album_look;
    d->run_def.user = &d->album;
    sac_run_album_init(&d->album, d->frames, d->pictures);
    result = sac_run_go(&d->run, &d->staging, &d->run_def, error);
    if (result == SAC_OK) sac_run_say("pile", "sweep", &d->run, &d->run_def);
    return result;
}

static sac_result write_page(pile_demo *d, sac_error *error)
{
    char path[PATH], text[512], count[32];
    const char *folder = d->def.folder;
    sac_page *page = &d->page;
    snprintf(path, sizeof path, "%s/frames.csv", folder);
    sac_result result = sac_telemetry_csv(d->run.rows.data, d->run.rows.count, path, error);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    if (result == SAC_OK)
        result = sac_telemetry_trace(d->run.rows.data, d->run.rows.count, "pile", path, error);
    snprintf(text, sizeof text,
             "In virtual reality a frame has to be finished on time. Here %s rings fall into a glass box, 90 "
             "frames a second, "
             "and every step of their physics is done within two milliseconds. The time goes to the "
             "collisions a person can "
             "see: where the eye rests, errors are worked out; where it does not, they may wait.",
             sac_text_count(count, d->run.bodies));
    sac_page_begin(page, "A pile of rings", text);
    sac_run_page_figures(page, &d->run, &d->run_def);
    sac_page_add(page, "<h2>What the viewer sees</h2>\n<p>Each ring has the colour of the error that is left "
                       "in its collisions, in "
                       "just-noticeable differences (JND): how much larger it is than the smallest thing an "
                       "eye could see at that "
                       "distance from where it looks.</p>\n");
    if (result == SAC_OK)
        result = sac_run_page_album(page, &d->album, &d->staging, &d->run_def, folder,
                                    d->def.width < 1040 ? d->def.width : 1040, d->def.threads, error);
    sac_page_add(page, "<h2>Frame by frame</h2>\n");
    if (result == SAC_OK) result = sac_run_page_charts(page, &d->run, &d->run_def, error);
    sac_page_add(
        page,
        "<h2>How it can stop at any time</h2>\n<p>Every object is a tree of spheres, coarse to fine. Two "
        "trees are walked down "
        "together, and at any moment what is known is a safe answer with a known uncertainty. <a "
        "href=\"trees.html\">The page "
        "about trees</a> shows it, stop by stop. <a href=\"index.html\">Back to the storm.</a></p>\n<h2>Try "
        "it</h2>\n<pre><code>saccade run pile --bodies "
        "2000 --gaze sweep --out report\n"
        "saccade run wake --budget-us 1000 --policy round-robin\nsaccade run avalanche --shape gear --out "
        "slope\n"
        "saccade stability</code></pre>\n<footer>Made by <code>saccade demo</code> %s on this machine (%s, "
        "one thread for the physics). All "
        "numbers are in <code>frames.csv</code>; <code>trace.json</code> opens in Perfetto.</footer>\n",
        SACCADE_VERSION, sac_simd_name(sac_simd_active()));
    sac_page_end(page);
    snprintf(path, sizeof path, "%s/pile.html", folder);
    if (result == SAC_OK) result = sac_page_save(page, path, error);
    return result;
}

static void close_demo(pile_demo *d)
{
    sac_page_fini(&d->page);
    sac_run_album_fini(&d->album);
    sac_run_fini(&d->run);
    sac_gaze_trace_fini(&d->gaze);
    sac_staging_fini(&d->staging);
}

int sac_cmd_demo(int argc, char **argv)
{
    static pile_demo d; /* large */
    sac_common common = {.threads = sac_parallel_cpus()};
    bool no_trees = false;
    const char *books = NULL;
    d.def = (sac_demo_def){.folder = "out", .width = 1280};
    const sac_option options[] = {
        {"out", 'o', SAC_OPTION_TEXT, &d.def.folder, "DIR", "folder to write to (default out)", 0, 0},
        {"width", 0, SAC_OPTION_UINT, &d.def.width, "PIXELS", "of the pictures (default 1280)", 256, 8192},
        {"bodies", 0, SAC_OPTION_UINT, &d.bodies, "N", "in the pile (default 1000)", 1, 20000},
        {"no-trees", 0, SAC_OPTION_FLAG, &no_trees, NULL, "storm and pile only", 0, 0},
        {"quick", 0, SAC_OPTION_FLAG, &d.def.quick, NULL, "fewer bodies, coarser meshes, fewer samples", 0,
         0},
        {"books", 0, SAC_OPTION_TEXT, &books, "FILE",
         "frames.csv of saccade xr hailstorm --out, for the first page", 0, 0},
    };
    const sac_command command = {
        "demo",
        "[--out DIR]",
        "Film a hailstorm under a scripted gaze and compare it with the same storm without a scheduler "
        "(index.html);\n"
        "run a pile with a wandering gaze at 90 Hz within 2 ms and write a report with pictures "
        "(pile.html);\n"
        "bake three meshes, collide them with a descent that is interrupted, and show that too (trees.html).",
        options,
        sizeof options / sizeof *options,
        NULL};
    int words, code = sac_options_parse(&command, argc, argv, &common, NULL, 0, &words);
    if (code >= 0) return code;
    sac_console_init("demo", &common);
    d.def.threads = common.threads;
    if (!d.bodies) d.bodies = d.def.quick ? 60 : 1000;
    d.frames = d.def.quick ? 120 : 900;
    d.pictures = d.def.quick ? 2 : 3;

    sac_error error;
    json_t *trees = NULL, *storm = NULL;
    uint64_t start = sac_time_now_ns();
    sac_result result = sac_folder_create(d.def.folder, &error);
    if (result == SAC_OK) result = sac_demo_storm(&d.def, books, &storm, &error);
    if (result == SAC_OK) result = run_pile(&d, &error);
    if (result == SAC_OK) result = write_page(&d, &error);
    if (result == SAC_OK && !no_trees) result = sac_demo_trees(&d.def, &trees, &error);
    double seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    if (result == SAC_OK) {
        sac_say("%s/index.html, after %.1f s in all\n", d.def.folder, seconds);
        json_t *object = json_pack("{s:o,s:f,s:o}", "folder", sac_json_text(d.def.folder), "seconds", seconds,
                                   "pile", sac_run_json("pile", "sweep", &d.run, &d.run_def));
        if (object && trees) json_object_update(object, trees);
        if (object && storm) json_object_set(object, "storm", storm);
        code = sac_console_json(object, false, SAC_EXIT_OK);
    } else {
        code = sac_console_fail(&error);
    }
    json_decref(trees);
    json_decref(storm);
    close_demo(&d);
    return code;
}
