/* saccade view: a scene in a window. The mouse is the eye. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/picture.h"
#include "apps/show_camera.h"
#include "apps/show_options.h"

static const uint32_t INK = 0xfff4efeau, FAINT = 0xffc9bdb2u, GROUND = 0xe8261f1au;

typedef struct view_options {
    sac_show_options show;
    uint32_t width, height, frames;
    const char *screenshot, *device, *press;
    bool stereo, help;
} view_options;

typedef struct viewer {
    view_options *o;
    sac_show *show;
    sac_window *window;
    sac_gaze_source *gaze;
    bool mouse; /* is the gaze */
    sac_show_camera camera, home;
    sac_canvas status, help;
    bool paused, stereo, helping, quit;
    double rate;
    float reach; /* of what the right button holds; 0: nothing */
    float mouse_was[2];
    uint32_t policy, shots;
    uint64_t frames, last_ns;
    double frame_ms; /* running mean */
    char note[160];  /* what the last key did */
    uint64_t note_ns;
} viewer;

static const char *const help_lines[] = {
    "mouse",
    "where you look",
    "left drag",
    "turn the camera; scroll: nearer and farther; middle drag: move it",
    "right button",
    "take hold of what is under the mouse, carry it, throw it",
    "space, .",
    "pause; one step",
    "[  ]",
    "slower, faster: down to a sixteenth",
    "P, shift P",
    "next, previous policy",
    "-  +",
    "budget of a step",
    "up, down",
    "more bodies, fewer",
    "1 2 3 4",
    "colour by material, priority group, level reached, JNDs left",
    "F C G R T",
    "fronts, contacts, gaze, rings, frame-time strip",
    "V",
    "two eyes side by side",
    "K",
    "picture of the window into this folder",
    "N, O",
    "scene from the start; camera where it was",
    "H or F1, Esc",
    "this text; end",
};
enum { HELP_LINES = sizeof help_lines / sizeof *help_lines / 2 };

static void note(viewer *v, const char *format, ...) SAC_PRINTF(2, 3);
static void note(viewer *v, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(v->note, sizeof v->note, format, list);
    va_end(list);
    v->note_ns = sac_time_now_ns();
}

/* ---- keys ---- */

static void change_policy(viewer *v, int by)
{
    uint32_t count = 0;
    sac_error error;
    while (sac_policy_name(count)) count++;
    v->policy = (v->policy + count + (uint32_t)by) % count;
    if (sac_show_set_policy(v->show, sac_policy_name(v->policy), &error) == SAC_OK)
        note(v, "policy %s", sac_policy_name(v->policy));
    else
        note(v, "%s", error.message);
}

static void change_budget(viewer *v, double by)
{
    double us = (double)sac_show_budget(v->show) * 1e-3;
    us = us <= 0 ? 4000 : fmin(fmax(us * by, 50), 50000);
    sac_show_set_budget(v->show, (uint64_t)(us * 1e3));
    note(v, "budget %.0f us", us);
}

static void change_load(viewer *v, double share)
{
    sac_show_stats stats;
    sac_show_stats_get(v->show, &stats);
    int32_t by = (int32_t)(share * stats.bodies / sac_show_worlds(v->show));
    if (by == 0) by = share > 0 ? 1 : -1;
    by = sac_show_load(v->show, by);
    note(v, by ? "%+d bodies" : "no more change that way", by);
}

static void take_picture(viewer *v)
{
    char path[96];
    uint8_t *rgba;
    uint32_t width, height;
    sac_error error;
    do snprintf(path, sizeof path, "saccade-%.40s-%03u.png", sac_show_staging(v->show)->name, ++v->shots);
    while (v->shots < 999 && access(path, F_OK) == 0);
    sac_result result = sac_window_capture(v->window, &rgba, &width, &height, &error);
    if (result == SAC_OK) {
        result = sac_pixels_save(rgba, width, height, path, &error);
        sac_free(rgba, (size_t)width * height, 4);
    }
    if (result == SAC_OK)
        note(v, "%s", path);
    else
        note(v, "no picture: %s", error.message);
}

static void flip(viewer *v, bool *flag, const char *name)
{
    *flag = !*flag;
    note(v, "%s %s", name, *flag ? "on" : "off");
}

static void change_rate(viewer *v, double by)
{
    v->rate = fmin(fmax(v->rate * by, 1.0 / 16), 1);
    note(v, v->rate == 1 ? "full speed" : "1/%.0f of the speed", 1 / v->rate);
}

static sac_result press(viewer *v, int key, bool shift, sac_error *error)
{
    sac_insight *insight = sac_show_insight(v->show);
    switch (key) {
    case SAC_KEY_ESCAPE:
    case 'Q':
        v->quit = true;
        break;
    case 'H':
    case SAC_KEY_F1:
        v->helping = !v->helping;
        break;
    case ' ':
        flip(v, &v->paused, "pause");
        break;
    case '.':
        v->paused = true;
        return sac_show_step(v->show, error);
    case '[':
        change_rate(v, 0.5);
        break;
    case ']':
        change_rate(v, 2);
        break;
    case 'P':
        change_policy(v, shift ? -1 : 1);
        break;
    case '-':
        change_budget(v, 0.8);
        break;
    case '=':
    case '+':
        change_budget(v, 1.25);
        break;
    case SAC_KEY_UP:
        change_load(v, 0.1);
        break;
    case SAC_KEY_DOWN:
        change_load(v, -0.1);
        break;
    case '1':
    case '2':
    case '3':
    case '4':
        insight->paint = (sac_paint)(key - '1');
        note(v, "colour: %s", sac_paint_name(insight->paint));
        break;
    case 'F':
        flip(v, &insight->front, "fronts");
        break;
    case 'C':
        flip(v, &insight->contacts, "contacts");
        break;
    case 'G':
        flip(v, &insight->gaze, "gaze");
        break;
    case 'R':
        flip(v, &insight->rings, "rings");
        break;
    case 'T':
        flip(v, &insight->strip, "strip");
        break;
    case 'V':
        flip(v, &v->stereo, "two eyes");
        break;
    case 'K':
        take_picture(v);
        break;
    case 'O':
        v->camera = v->home;
        break;
    case 'N':
        note(v, "from the start");
        return sac_show_restart(v->show, error);
    default:
        break;
    }
    return SAC_OK;
}

/* Keys by option, one a frame: a view set up by a script, or tried by a test. */
static sac_result press_next(viewer *v, sac_error *error)
{
    const char *next = v->o->press;
    if (!next || !*next) return SAC_OK;
    v->o->press++;
    int key = *next >= 'a' && *next <= 'z' ? *next - 'a' + 'A' : *next;
    return press(v, key == '^' ? SAC_KEY_UP : key == '_' ? SAC_KEY_DOWN : key, false, error);
}

static void move_camera(viewer *v, const sac_window_input *in)
{
    sac_show_camera *c = &v->camera;
    if (in->left) {
        c->yaw -= in->drag[0] * 0.006f;
        c->pitch = fminf(fmaxf(c->pitch - in->drag[1] * 0.006f, -1.5f), 1.5f);
    }
    if (in->middle) {
        float rotation[4], head[3], turned[3];
        sac_transform turn = {.scale = 1};
        sac_show_camera_head(c, head, rotation);
        memcpy(turn.rotation, rotation, sizeof rotation);
        float pace = 0.0016f * c->distance,
              side[3] = {(v->mouse_was[0] - in->mouse[0]) * pace, (v->mouse_was[1] - in->mouse[1]) * pace, 0};
        sac_transform_point(&turn, side, turned);
        for (int k = 0; k < 3; k++) c->target[k] += turned[k];
    }
    memcpy(v->mouse_was, in->mouse, sizeof v->mouse_was);
    if (in->scroll != 0) c->distance = fminf(fmaxf(c->distance * expf(-0.12f * in->scroll), 0.1f), 200);
}

/* ---- gaze and hand ---- */

static void look(viewer *v, const sac_window_input *in, const sac_eye *eyes, uint32_t count, uint64_t now_ns,
                 sac_show_frame *frame)
{
    float head[3], rotation[4];
    sac_gaze_reading reading;
    uint32_t width = in->width / count;
    float x = in->mouse[0];
    sac_show_camera_head(&v->camera, head, rotation);
    if (count == 2 && x >= (float)width) x -= (float)width;
    if (v->mouse) {
        reading = (sac_gaze_reading){.sample_ns = now_ns, .fresh = true};
        sac_gaze_from_pixel(&eyes[0], width, in->height, x, in->mouse[1], &reading.cyclopean);
        sac_gaze_source_give(v->gaze, &reading);
    }
    sac_gaze_source_read(v->gaze, now_ns, &reading);
    frame->viewer = sac_default_viewer();
    frame->viewer.eye_count = count;
    memcpy(frame->viewer.eyes, eyes, count * sizeof *eyes);
    sac_gaze_to_viewer(&reading, head, rotation, &frame->viewer.gaze);
}

/* The right button is a hand at the end of a ray: as long as it was when it closed. */
static void reach_out(viewer *v, const sac_window_input *in, const sac_eye *eye, uint32_t count,
                      sac_show_frame *frame)
{
    sac_gaze_ray ray;
    sac_transform turn = {.scale = 1};
    float direction[3];
    uint32_t width = in->width / count;
    float x = in->mouse[0];
    if (!in->right || !sac_show_hands(v->show)) {
        v->reach = 0;
        return;
    }
    if (count == 2 && x >= (float)width) x -= (float)width;
    sac_gaze_from_pixel(eye, width, in->height, x, in->mouse[1], &ray);
    memcpy(turn.rotation, eye->rotation, sizeof turn.rotation);
    sac_transform_point(&turn, ray.direction, direction);
    if (v->reach == 0) {
        sac_world_hit hit;
        v->reach = -1;
        if (sac_world_ray(sac_show_world_at(v->show, 0), eye->position, direction, 100, 0x7fffffffu, &hit,
                          NULL) == SAC_OK &&
            hit.body.value)
            v->reach = hit.t;
    }
    if (v->reach < 0) return;
    sac_hand_input *hand = &frame->hands[1];
    hand->active = true;
    hand->squeeze = 1;
    for (int k = 0; k < 3; k++) hand->position[k] = eye->position[k] + direction[k] * v->reach;
    memcpy(hand->rotation, eye->rotation, sizeof hand->rotation);
    memcpy(hand->aim_position, hand->position, sizeof hand->aim_position);
    memcpy(hand->aim_rotation, hand->rotation, sizeof hand->aim_rotation);
}

/* ---- panels ---- */

static bool write_help(viewer *v)
{
    const float size = 17, line = 26, left = 26, column = 170, width = 760,
                height = (HELP_LINES + 2.6f) * line;
    sac_canvas_clear(&v->help);
    bool ok = sac_canvas_rect(&v->help, 0, 0, width, height, GROUND) &&
              sac_canvas_text(&v->help, left, height - 1.5f * line, size * 1.25f, INK, "Saccade");
    for (int i = 0; i < HELP_LINES && ok; i++) {
        float y = height - ((float)i + 2.9f) * line;
        ok = sac_canvas_text(&v->help, left, y, size, FAINT, help_lines[2 * i]) &&
             sac_canvas_text(&v->help, left + column, y, size, INK, help_lines[2 * i + 1]);
    }
    return ok;
}

static bool write_status(viewer *v, uint64_t now_ns)
{
    char text[256];
    sac_show_stats stats;
    sac_show_stats_get(v->show, &stats);
    snprintf(text, sizeof text, "%.40s   %s   %.0f us   %u bodies   %.0f Hz%s%s%s   H: help",
             sac_show_staging(v->show)->name, sac_show_policy(v->show, sac_show_worlds(v->show) - 1),
             (double)sac_show_budget(v->show) * 1e-3, stats.bodies, v->frame_ms > 0 ? 1000 / v->frame_ms : 0,
             v->paused     ? "   paused"
             : v->rate < 1 ? "   slow"
                           : "",
             now_ns - v->note_ns < 2500000000u && v->note[0] ? "   |   " : "",
             now_ns - v->note_ns < 2500000000u ? v->note : "");
    float width = sac_canvas_text_width(15, text);
    sac_canvas_clear(&v->status);
    return sac_canvas_rect(&v->status, 0, 0, width + 24, 28, GROUND) &&
           sac_canvas_text(&v->status, 12, 9, 15, INK, text);
}

static sac_result add_panels(viewer *v, const sac_window_input *in, uint64_t now_ns, sac_drawing *drawing,
                             sac_error *error)
{
    if (!write_status(v, now_ns))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the panels");
    sac_panel panel = {.canvas = &v->status, .x = 12, .y = (float)in->height - 40};
    if (drawing->panel_count < SAC_DRAWING_MOST_PANELS) drawing->panels[drawing->panel_count++] = panel;
    if (v->helping && drawing->panel_count < SAC_DRAWING_MOST_PANELS) {
        panel = (sac_panel){.canvas = &v->help,
                            .x = fmaxf(0.5f * (float)(in->width / drawing->view_count) - 380, 4),
                            .y = fmaxf(0.5f * (float)in->height - (HELP_LINES + 2.6f) * 13, 4)};
        drawing->panels[drawing->panel_count++] = panel;
    }
    return SAC_OK;
}

/* ---- the loop ---- */

static sac_result run_frame(viewer *v, sac_error *error)
{
    sac_window_input in;
    sac_eye eyes[2];
    sac_drawing drawing;
    sac_result result = SAC_OK;
    sac_window_poll(v->window, &in);
    if (in.closed) v->quit = true;
    for (uint32_t i = 0; i < in.key_count && result == SAC_OK; i++)
        result = press(v, in.keys[i], in.shift, error);
    if (result == SAC_OK) result = press_next(v, error);
    if (result != SAC_OK || v->quit) return result;
    if (!in.width || !in.height) in.width = 16, in.height = 16;
    move_camera(v, &in);

    uint64_t now = sac_time_now_ns(), budget = sac_show_budget(v->show);
    if (v->last_ns) v->frame_ms += 0.05 * ((double)(now - v->last_ns) * 1e-6 - v->frame_ms);
    v->last_ns = now;
    uint32_t count = sac_show_camera_eyes(&v->camera, in.width, in.height, v->stereo, eyes);
    /* A slow picture may owe many steps; together they get no more than two have. */
    sac_show_frame frame = {.display_ns = (int64_t)now, .now_ns = now};
    if (budget) frame.deadline_ns = now + 2 * budget * sac_show_worlds(v->show);
    look(v, &in, eyes, count, now, &frame);
    reach_out(v, &in, &eyes[0], count, &frame);
    sac_show_ticker(v->show)->rate = v->paused ? 0 : v->rate;
    result = sac_show_advance(v->show, &frame, error);
    const sac_show_look where = {.width = in.width / count, .height = in.height};
    if (result == SAC_OK) result = sac_show_draw(v->show, eyes, count, &where, &drawing, error);
    if (result == SAC_OK) result = add_panels(v, &in, now, &drawing, error);
    if (result == SAC_OK) result = sac_window_draw(v->window, &drawing, NULL, error);
    v->frames++;
    if (v->o->frames && v->frames >= v->o->frames) v->quit = true;
    return result;
}

static sac_result save_last(viewer *v, sac_error *error)
{
    uint8_t *rgba;
    uint32_t width, height;
    sac_result result = sac_window_capture(v->window, &rgba, &width, &height, error);
    if (result != SAC_OK) return result;
    result = sac_pixels_save(rgba, width, height, v->o->screenshot, error);
    sac_free(rgba, (size_t)width * height, 4);
    return result;
}

static sac_result view(viewer *v, const sac_common *common, sac_error *error)
{
    view_options *o = v->o;
    sac_show_def def;
    sac_renderer_def renderer = sac_default_renderer_def();
    char title[96];
    sac_result result = sac_show_options_apply(&o->show, common, &def, error);
    if (result != SAC_OK) return result;
    def.hands = true;
    v->mouse = strcmp(o->show.gaze, "mouse") == 0;
    result = v->mouse ? sac_gaze_source_feed(&v->gaze, error)
                      : sac_gaze_source_open(o->show.gaze, &v->gaze, error);
    if (result == SAC_OK && !sac_window_possible())
        result = sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                               "set DISPLAY or WAYLAND_DISPLAY, or draw without one: saccade render",
                               "there is no display to open a window on");
    if (result == SAC_OK) result = sac_show_open(&def, &v->show, error);
    if (result != SAC_OK) return result;
    sac_show_options_switch(&o->show, sac_show_insight(v->show));
    for (uint32_t i = 0; sac_policy_name(i); i++)
        if (strcmp(sac_policy_name(i), def.policy) == 0) v->policy = i;
    v->camera = v->home = sac_show_camera_of(sac_show_staging(v->show));
    v->stereo = o->stereo, v->helping = o->help;
    renderer.gallery = sac_show_gallery(v->show);
    renderer.device = o->device;
    snprintf(title, sizeof title, "Saccade: %.60s", sac_show_staging(v->show)->name);
    result = sac_window_open(&renderer, title, o->width, o->height, &v->window, error);
    if (result == SAC_OK && !write_help(v))
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the help");
    while (result == SAC_OK && !v->quit) result = run_frame(v, error);
    if (result == SAC_OK && o->screenshot) result = save_last(v, error);
    return result;
}

static int tell(const viewer *v)
{
    sac_show_stats stats;
    sac_show_stats_get(v->show, &stats);
    const sac_insight *insight = sac_show_insight(v->show);
    return sac_console_json(json_pack("{s:o,s:I,s:f,s:s,s:f,s:i,s:I,s:b,s:f,s:s,s:b,s:b,s:b}", "scene",
                                      sac_json_text(v->o->show.scene), "frames", (json_int_t)v->frames,
                                      "frame_ms", v->frame_ms, "policy",
                                      sac_show_policy(v->show, sac_show_worlds(v->show) - 1), "budget_us",
                                      (double)sac_show_budget(v->show) * 1e-3, "bodies", (int)stats.bodies,
                                      "steps", (json_int_t)stats.steps, "paused", v->paused, "rate", v->rate,
                                      "paint", sac_paint_name(insight->paint), "rings", insight->rings,
                                      "strip", insight->strip, "stereo", v->stereo),
                            false, SAC_EXIT_OK);
}

int sac_cmd_view(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    view_options o = {.show = sac_default_show_options(), .width = 1280, .height = 800};
    o.show.gaze = "mouse";
    sac_option options[SAC_SHOW_OPTIONS + 9] = {
        {"width", 0, SAC_OPTION_UINT, &o.width, "PIXELS", "of the window (default 1280)", 64, 8192},
        {"height", 0, SAC_OPTION_UINT, &o.height, "PIXELS", "(default 800)", 64, 8192},
        {"gaze", 'g', SAC_OPTION_TEXT, &o.show.gaze, "WHERE",
         "mouse (default), head, center, sweep, fixation:YAW,PITCH,\npursuit:RADIUS,PERIOD, saccades:SEED, "
         "or a CSV file",
         0, 0},
        {"stereo", 0, SAC_OPTION_FLAG, &o.stereo, NULL, "two eyes side by side", 0, 0},
        {"keys", 0, SAC_OPTION_FLAG, &o.help, NULL, "begin with the help screen", 0, 0},
        {"press", 0, SAC_OPTION_TEXT, &o.press, "KEYS", "press these, one a frame; ^ and _ for up and down",
         0, 0},
        {"frames", 'n', SAC_OPTION_UINT, &o.frames, "N", "end after so many", 1, 100000000},
        {"screenshot", 0, SAC_OPTION_TEXT, &o.screenshot, "FILE", "picture of the last frame (PNG)", 0, 0},
        {"device", 0, SAC_OPTION_TEXT, &o.device, "NAME", "part of the Vulkan device's name", 0, 0},
    };
    size_t count = 9 + sac_show_options_list(&o.show, options + 9);
    char about[1200], keys[1600] = "Keys:\n";
    snprintf(
        about, sizeof about,
        "Watch a scene in a window; physics takes its budget of each frame, and the mouse is the eye.\n%s",
        sac_show_scenes);
    for (int i = 0; i < HELP_LINES; i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, "  %-14s %s\n", help_lines[2 * i], help_lines[2 * i + 1]);
    }
    if (keys[0]) keys[strlen(keys) - 1] = 0;
    const sac_command command = {"view", "SCENE [options]", about, options, count, keys};
    int words, code = sac_options_parse(&command, argc, argv, &common, &o.show.scene, 1, &words);
    if (code >= 0) return code;
    if (!words)
        return sac_options_usage_error("view", "which scene? hailstorm, workshop, billiards, side-by-side, "
                                               "flowers, three-hundred, santas, jelly, "
                                               "one of saccade run, or a file");
    sac_console_init("view", &common);
    sac_error error;
    viewer v = {.o = &o, .rate = 1};
    sac_result result = view(&v, &common, &error);
    code = result == SAC_OK ? tell(&v) : sac_console_fail(&error);
    sac_window_close(&v.window);
    sac_show_close(&v.show);
    sac_gaze_source_close(&v.gaze);
    sac_canvas_fini(&v.status);
    sac_canvas_fini(&v.help);
    return code;
}
