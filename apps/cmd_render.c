/* saccade render: a scene as pictures, without a display. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/picture.h"
#include "apps/show_camera.h"
#include "apps/show_options.h"
#include "apps/tree_open.h"
#include "apps/whole_file.h"
#include "bench/percentile.h"

enum { PATH = 4400, MOST_SIDE = 8192 };

typedef struct render_options {
    sac_show_options show;
    uint32_t frames, every, first, samples;
    double hz, fov, orbit, pan;
    const char *size, *output, *raw, *csv, *eye, *target, *device;
    bool stereo;
} render_options;

/* What was measured of a frame. */
typedef struct row {
    uint32_t steps, bodies;
    double physics_us, own_us, prepare_us, submit_us, spent_us, budget_us, returned_us;
} row;

typedef struct renderer {
    const render_options *o;
    uint32_t width, height;
    sac_show *show;
    sac_offscreen *screen;
    sac_gaze_source *gaze;
    sac_show_camera camera;
    sac_screen_stats stats;
    FILE *raw;
    sac_array(row) rows;
    uint32_t pictures;
    uint64_t hash; /* of the pixels of all pictures */
} renderer;

/* ---- options ---- */

static bool parse_size(const char *text, uint32_t *width, uint32_t *height)
{
    char *end;
    unsigned long w = strtoul(text, &end, 10), h = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    if (*end || text[0] < '0' || text[0] > '9' || w < 16 || h < 16 || w > MOST_SIDE || h > MOST_SIDE)
        return false;
    *width = (uint32_t)w, *height = (uint32_t)h;
    return true;
}

static bool parse_point(const char *text, float out[3])
{
    for (int k = 0; k < 3; k++) {
        char *end;
        out[k] = strtof(text, &end);
        if (end == text || !isfinite(out[k]) || fabsf(out[k]) > 1e5f || *end != (k < 2 ? ',' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

/* ---- a frame ---- */

static void aim(renderer *r, double seconds, sac_viewer *viewer, sac_eye eyes[2], uint32_t *eye_count,
                uint64_t now_ns)
{
    static const float degree = 0.01745329252f;
    sac_show_camera camera = r->camera;
    float head[3], rotation[4];
    camera.yaw += (float)(r->o->orbit * seconds) * degree;
    camera.turn += (float)(r->o->pan * seconds) * degree;
    *eye_count = sac_show_camera_eyes(&camera, r->width, r->height, r->o->stereo, eyes);
    sac_show_camera_head(&camera, head, rotation);
    *viewer = sac_default_viewer();
    viewer->eye_count = *eye_count;
    memcpy(viewer->eyes, eyes, *eye_count * sizeof *eyes);
    sac_gaze_reading reading;
    sac_gaze_source_read(r->gaze, now_ns, &reading);
    sac_gaze_to_viewer(&reading, head, rotation, &viewer->gaze);
}

static sac_result keep(renderer *r, uint32_t frame, sac_error *error)
{
    const render_options *o = r->o;
    const uint8_t *rgba = sac_offscreen_pixels(r->screen);
    size_t bytes = (size_t)r->width * r->height * 4;
    char path[PATH];
    for (size_t i = 0; i < bytes; i++) r->hash = (r->hash ^ rgba[i]) * 0x100000001b3u;
    r->pictures++;
    if (r->raw && fwrite(rgba, 1, bytes, r->raw) != bytes) {
        sac_error_set(error, SAC_ERROR_IO, "is there room on the disk, and is the reader still there?",
                      "frame %u could not be written", frame);
        sac_error_in_file(error, o->raw);
        return SAC_ERROR_IO;
    }
    if (!o->output) return SAC_OK;
    bool one = sac_text_ends_in(o->output, ".png");
    snprintf(path, sizeof path, one ? "%s" : "%s/frame-%05u.png", o->output, frame);
    return sac_pixels_save(rgba, r->width, r->height, path, error);
}

/* Physics runs in every frame; only those that are kept are drawn. */
static sac_result run_frame(renderer *r, uint32_t frame, sac_error *error)
{
    const render_options *o = r->o;
    double seconds = frame / o->hz;
    sac_eye eyes[2];
    uint32_t eye_count;
    sac_drawing drawing;
    sac_show_frame f = {.display_ns = (int64_t)(seconds * 1e9) + 1, .now_ns = (uint64_t)(seconds * 1e9) + 1};
    bool last = frame + 1 == o->frames,
         drawn = frame >= o->first && (o->every ? (frame - o->first) % o->every == 0 : last || r->raw);
    aim(r, seconds, &f.viewer, eyes, &eye_count, f.now_ns);
    sac_result result = sac_show_advance(r->show, &f, error);
    if (result != SAC_OK) return result;
    const sac_show_look look = {.width = r->width / (o->stereo ? 2 : 1), .height = r->height};
    result = sac_show_draw(r->show, eyes, eye_count, &look, &drawing, error);
    if (result == SAC_OK && drawn) result = sac_offscreen_draw(r->screen, &drawing, &r->stats, error);
    if (result == SAC_OK && drawn) result = keep(r, frame, error);
    sac_show_stats stats;
    sac_show_stats_get(r->show, &stats);
    row line = {.steps = stats.frame_steps,
                .bodies = stats.bodies,
                .physics_us = (double)stats.physics_ns * 1e-3,
                .own_us = (double)stats.own_ns * 1e-3,
                .prepare_us = drawn ? (double)r->stats.prepare_ns * 1e-3 : NAN,
                .submit_us = drawn ? (double)r->stats.submit_ns * 1e-3 : NAN,
                .spent_us = (double)stats.report[sac_show_worlds(r->show) - 1].spent_ns * 1e-3,
                .budget_us = (double)stats.report[sac_show_worlds(r->show) - 1].budget_ns * 1e-3,
                .returned_us = (double)stats.report[sac_show_worlds(r->show) - 1].returned_ns * 1e-3};
    if (result == SAC_OK && !sac_array_push(&r->rows, line))
        result = sac_error_set(error, SAC_ERROR_MEMORY, "fewer frames", "no memory for the figures");
    return result;
}

/* ---- before and after ---- */

static sac_result open_all(renderer *r, const sac_common *common, sac_error *error)
{
    const render_options *o = r->o;
    sac_show_def def;
    sac_renderer_def renderer_def = sac_default_renderer_def();
    sac_result result = sac_show_options_apply(&o->show, common, &def, error);
    if (result == SAC_OK && o->output && !sac_text_ends_in(o->output, ".png"))
        result = sac_folder_create(o->output, error);
    if (result == SAC_OK) result = sac_gaze_source_open(o->show.gaze, &r->gaze, error);
    if (result == SAC_OK) result = sac_show_open(&def, &r->show, error);
    if (result != SAC_OK) return result;
    sac_show_options_switch(&o->show, sac_show_insight(r->show));
    r->camera = sac_show_camera_of(sac_show_staging(r->show));
    float eye[3], target[3], rotation[4];
    sac_show_camera_head(&r->camera, eye, rotation);
    memcpy(target, r->camera.target, sizeof target);
    if (o->eye) parse_point(o->eye, eye);
    if (o->target) parse_point(o->target, target);
    if (o->eye || o->target) sac_show_camera_look(&r->camera, eye, target);
    if (o->fov > 0) r->camera.fov = (float)o->fov * 0.01745329252f;
    renderer_def.gallery = sac_show_gallery(r->show);
    renderer_def.samples = o->samples;
    renderer_def.device = o->device;
    result = sac_offscreen_create(&renderer_def, r->width, r->height, &r->screen, error);
    if (result == SAC_OK && o->raw) {
        r->raw = strcmp(o->raw, "-") == 0 ? stdout : fopen(o->raw, "wb");
        if (!r->raw) {
            sac_error_set(error, SAC_ERROR_IO, "check the folder and its rights", "cannot be written");
            sac_error_in_file(error, o->raw);
            return SAC_ERROR_IO;
        }
    }
    return result;
}

static sac_result write_csv(const renderer *r, sac_error *error)
{
    sac_array(char) text = {0};
    char line[256];
    sac_result result = SAC_OK;
    int n =
        snprintf(line, sizeof line,
                 "frame,display_ms,steps,bodies,physics_us,own_us,prepare_us,submit_us,spent_us,budget_us,"
                 "returned_us\n");
    for (size_t i = 0; i <= r->rows.count && result == SAC_OK; i++) {
        if (!sac_array_reserve(&text, text.count + (size_t)n)) {
            result = sac_error_set(error, SAC_ERROR_MEMORY, "fewer frames", "no memory for the table");
            break;
        }
        memcpy(text.data + text.count, line, (size_t)n);
        text.count += (size_t)n;
        if (i == r->rows.count) break;
        const row *x = &r->rows.data[i];
        char prepare[32] = "", submit[32] = "";
        if (!isnan(x->prepare_us)) {
            snprintf(prepare, sizeof prepare, "%.1f", x->prepare_us);
            snprintf(submit, sizeof submit, "%.1f", x->submit_us);
        }
        n = snprintf(line, sizeof line, "%zu,%.4f,%u,%u,%.1f,%.1f,%s,%s,%.1f,%.1f,%.1f\n", i,
                     (double)i / r->o->hz * 1e3, x->steps, x->bodies, x->physics_us, x->own_us, prepare,
                     submit, x->spent_us, x->budget_us, x->returned_us);
    }
    if (result == SAC_OK) result = sac_whole_file_write(r->o->csv, text.data, text.count, error);
    sac_array_fini(&text);
    return result;
}

static sac_percentiles share(const renderer *r, size_t offset, bool drawn_only)
{
    sac_percentiles p = {NAN, NAN, NAN, NAN, NAN};
    double *values = sac_alloc(r->rows.count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; values && i < r->rows.count; i++) {
        double value;
        memcpy(&value, (const char *)&r->rows.data[i] + offset, sizeof value);
        if (!isnan(value) && (!drawn_only || i)) values[count++] = value;
    }
    if (count) p = sac_percentiles_of(values, count);
    sac_free(values, r->rows.count + 1, sizeof *values);
    return p;
}

static int tell(const renderer *r, double seconds)
{
    sac_percentiles physics = share(r, offsetof(row, physics_us), false),
                    own = share(r, offsetof(row, own_us), false),
                    prepare = share(r, offsetof(row, prepare_us), true);
    sac_show_stats stats;
    char a[32];
    sac_show_stats_get(r->show, &stats);
    const sac_world *world = sac_show_world_at(r->show, sac_show_worlds(r->show) - 1);
    sac_say("%s: %s bodies, %u frames, %u picture%s of %ux%u on %s, %.1f s\n", r->o->show.scene,
            sac_text_count(a, stats.bodies), r->o->frames, r->pictures, r->pictures == 1 ? "" : "s", r->width,
            r->height, r->stats.device, seconds);
    sac_say("  a frame, microseconds              p50        p99        max\n"
            "  physics                     %10.1f %10.1f %10.1f\n"
            "  show, CPU                   %10.1f %10.1f %10.1f\n"
            "  renderer, CPU               %10.1f %10.1f %10.1f\n",
            physics.p50, physics.p99, physics.max, own.p50, own.p99, own.max, prepare.p50, prepare.p99,
            prepare.max);
    return sac_console_json(
        json_pack("{s:o,s:i,s:i,s:i,s:i,s:i,s:s,s:{s:o,s:o,s:o},s:{s:o,s:o,s:o},s:{s:o,s:o,s:o},s:o,s:o,s:f}",
                  "scene", sac_json_text(r->o->show.scene), "bodies", (int)stats.bodies, "frames",
                  (int)r->o->frames, "pictures", (int)r->pictures, "width", (int)r->width, "height",
                  (int)r->height, "device", r->stats.device, "physics_us", "p50",
                  sac_json_number(physics.p50), "p99", sac_json_number(physics.p99), "max",
                  sac_json_number(physics.max), "show_us", "p50", sac_json_number(own.p50), "p99",
                  sac_json_number(own.p99), "max", sac_json_number(own.max), "renderer_us", "p50",
                  sac_json_number(prepare.p50), "p99", sac_json_number(prepare.p99), "max",
                  sac_json_number(prepare.max), "state_hash",
                  json_sprintf("%016llx", (unsigned long long)sac_world_hash(world)), "pixel_hash",
                  json_sprintf("%016llx", (unsigned long long)r->hash), "seconds", seconds),
        false, SAC_EXIT_OK);
}

static sac_result render(renderer *r, const sac_common *common, sac_error *error)
{
    char doing[96];
    sac_result result = open_all(r, common, error);
    snprintf(doing, sizeof doing, "drawing %.60s", r->o->show.scene);
    for (uint32_t i = 0; i < r->o->frames && result == SAC_OK; i++) {
        if (!sac_console_progress((float)i / (float)r->o->frames, doing))
            result = sac_error_set(error, SAC_ERROR_CANCELLED, NULL, "stopped at frame %u", i);
        else
            result = run_frame(r, i, error);
    }
    sac_console_progress_end();
    if (r->raw && (r->raw == stdout ? fflush(r->raw) : fclose(r->raw)) != 0 && result == SAC_OK) {
        sac_error_set(error, SAC_ERROR_IO, "is there room on the disk?", "the frames did not reach the disk");
        sac_error_in_file(error, r->o->raw);
        result = SAC_ERROR_IO;
    }
    if (result == SAC_OK && r->o->csv) result = write_csv(r, error);
    return result;
}

static int check(const render_options *o, uint32_t *width, uint32_t *height)
{
    float point[3];
    if (!o->show.scene)
        return sac_options_usage_error("render", "which scene? hailstorm, workshop, billiards, side-by-side, "
                                                 "flowers, three-hundred, santas, jelly, "
                                                 "one of saccade run, or a file");
    if (!parse_size(o->size, width, height))
        return sac_options_usage_error("render", "--size wants WIDTHxHEIGHT, 16x16 to %dx%d, not '%.40s'",
                                       MOST_SIDE, MOST_SIDE, o->size);
    if (o->stereo && *width % 2)
        return sac_options_usage_error("render", "--stereo shares the width between two eyes: make it even");
    if (o->eye && !parse_point(o->eye, point))
        return sac_options_usage_error("render", "--eye wants X,Y,Z in metres, not '%.40s'", o->eye);
    if (o->target && !parse_point(o->target, point))
        return sac_options_usage_error("render", "--target wants X,Y,Z in metres, not '%.40s'", o->target);
    if (!o->output && !o->raw)
        return sac_options_usage_error("render", "where to? -o PICTURE.png, -o FOLDER or --raw FILE");
    if (o->output && sac_text_ends_in(o->output, ".png") && o->every)
        return sac_options_usage_error("render", "--every makes many pictures: give -o a folder");
    if (o->first >= o->frames)
        return sac_options_usage_error("render", "--from %u is not before the end, --frames %u", o->first,
                                       o->frames);
    return -1;
}

int sac_cmd_render(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    render_options o = {
        .show = sac_default_show_options(), .frames = 120, .hz = 60, .size = "1280x720", .samples = 4};
    sac_option options[SAC_SHOW_OPTIONS + 17] = {
        {"output", 'o', SAC_OPTION_TEXT, &o.output, "PATH",
         "picture of the last frame (.png), or folder for\nframe-00000.png and so on", 0, 0},
        {"frames", 'n', SAC_OPTION_UINT, &o.frames, "N", "how many to run (default 120)", 1, 1000000},
        {"every", 0, SAC_OPTION_UINT, &o.every, "N", "keep every Nth frame, not only the last", 1, 1000000},
        {"from", 0, SAC_OPTION_UINT, &o.first, "N", "the first frame that is kept (default 0)", 0, 1000000},
        {"hz", 0, SAC_OPTION_NUMBER, &o.hz, "RATE", "pictures a second of the scene (default 60)", 1, 1000},
        {"size", 's', SAC_OPTION_TEXT, &o.size, "WxH", "pixels (default 1280x720)", 0, 0},
        {"raw", 0, SAC_OPTION_TEXT, &o.raw, "FILE",
         "RGBA frames one after the other, for ffmpeg; - for\nstandard output", 0, 0},
        {"stereo", 0, SAC_OPTION_FLAG, &o.stereo, NULL, "two eyes side by side", 0, 0},
        {"eye", 0, SAC_OPTION_TEXT, &o.eye, "X,Y,Z", "where the camera stands (default: the scene's viewer)",
         0, 0},
        {"target", 0, SAC_OPTION_TEXT, &o.target, "X,Y,Z", "what it looks at", 0, 0},
        {"fov", 0, SAC_OPTION_NUMBER, &o.fov, "DEGREES", "up and down, 5 to 150 (default 58)", 5, 150},
        {"orbit", 0, SAC_OPTION_NUMBER, &o.orbit, "DEG/S", "circle the target", -720, 720},
        {"pan", 0, SAC_OPTION_NUMBER, &o.pan, "DEG/S", "turn the head to the left", -720, 720},
        {"gaze", 'g', SAC_OPTION_TEXT, &o.show.gaze, "WHERE",
         "center (default), head, sweep, fixation:YAW,PITCH,\npursuit:RADIUS,PERIOD, saccades:SEED, or a CSV "
         "file",
         0, 0},
        {"csv", 0, SAC_OPTION_TEXT, &o.csv, "FILE", "times of every frame", 0, 0},
        {"samples", 0, SAC_OPTION_UINT, &o.samples, "N", "of a pixel, 1 to 8 (default 4)", 1, 8},
        {"device", 0, SAC_OPTION_TEXT, &o.device, "NAME", "part of the Vulkan device's name", 0, 0},
    };
    size_t count = 17 + sac_show_options_list(&o.show, options + 17);
    char about[1200];
    snprintf(about, sizeof about,
             "Draw a scene without a display: pictures, or frames for a video. Every frame is run, those "
             "that are\nkept are drawn.\n%s",
             sac_show_scenes);
    const sac_command command = {
        "render",
        "SCENE -o PATH [options]",
        about,
        options,
        count,
        "A video:\n"
        "  saccade render hailstorm --frames 600 --raw - | ffmpeg -f rawvideo -pix_fmt rgba -s 1280x720 -r "
        "60 \\\n    -i - -c:v libx264 -pix_fmt yuv420p hailstorm.mp4\n"
        "With --credits the same command makes the same pictures again on the same device."};
    int words, code = sac_options_parse(&command, argc, argv, &common, &o.show.scene, 1, &words);
    if (code >= 0) return code;
    renderer r = {.o = &o, .hash = 0xcbf29ce484222325u};
    code = check(&o, &r.width, &r.height);
    if (code >= 0) return code;
    if (o.raw && strcmp(o.raw, "-") == 0) common.quiet = true, common.json = false; /* frames go there */
    sac_console_init("render", &common);
    sac_error error;
    uint64_t start = sac_time_now_ns();
    sac_result result = render(&r, &common, &error);
    code = result == SAC_OK ? tell(&r, (double)(sac_time_now_ns() - start) * 1e-9) : sac_console_fail(&error);
    sac_offscreen_destroy(&r.screen);
    sac_show_close(&r.show);
    sac_gaze_source_close(&r.gaze);
    sac_array_fini(&r.rows);
    return code;
}
