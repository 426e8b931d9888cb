/* saccade xr: a scene in a headset. */
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/whole_file.h"
#include "apps/xr_run.h"
#include "base/clock.h"

static sac_result open_gaze(sac_xr_run *run, sac_error *error)
{
    const sac_xr_options *o = run->options;
    sac_result result = SAC_OK;
    if (strcmp(o->gaze, "headset") != 0) result = sac_gaze_source_open(o->gaze, &run->gaze, error);
    if (result == SAC_OK && o->gaze_log)
        result = sac_gaze_log_open(o->gaze_log, o->consent, &run->log, error);
    return result;
}

static sac_result open_session(sac_xr_run *run, sac_error *error)
{
    sac_session_def def = sac_default_session_def();
    def.renderer.gallery = sac_show_gallery(run->show);
    def.renderer.message = sac_xr_run_message;
    def.renderer.user = run;
    def.renderer.samples = run->options->samples;
    def.renderer.shadow_size = run->options->shadow;
    def.resolution = (float)run->options->resolution;
    def.refresh_hz = (float)run->options->hz;
    def.seated = run->options->seated;
    /* The budget of a step is the show's; several steps of a slow display share what the frame leaves. */
    def.slice.most_ns = 12000000;
    /* However late: less than this, and thousands of bodies cannot even be moved on. */
    def.slice.least_ns = 1000000;
    sac_result result = sac_session_create(&def, &run->session, error);
    if (result == SAC_OK) sac_session_info_get(run->session, &run->info);
    return result;
}

static sac_result run_it(sac_xr_run *run, const sac_common *common, sac_error *error)
{
    const sac_xr_options *o = run->options;
    sac_show_def def;
    sac_result result = sac_show_options_apply(&o->show, common, &def, error);
    def.hands = true;
    if (result == SAC_OK && o->out) result = sac_folder_create(o->out, error);
    if (result == SAC_OK) result = open_gaze(run, error);
    if (result == SAC_OK) result = sac_xr_books_init(&run->books, o->frames ? o->frames + 64u : 0, error);
    if (result == SAC_OK) result = sac_show_open(&def, &run->show, error);
    if (result == SAC_OK) {
        sac_show_options_switch(&o->show, sac_show_insight(run->show));
        result = open_session(run, error);
    }
    if (result == SAC_OK) result = sac_xr_run_go(run, error);
    if (run->session) sac_session_info_get(run->session, &run->info);
    sac_result closed = run->log ? sac_gaze_log_close(&run->log, result == SAC_OK ? error : NULL) : SAC_OK;
    if (result == SAC_OK) result = closed;
    /* What was measured is worth having even if the end was bad. */
    if (run->frames && o->out) {
        closed = sac_xr_run_write(run, o->out, result == SAC_OK ? error : NULL);
        if (result == SAC_OK) result = closed;
    }
    return result;
}

static int check(const sac_common *common)
{
    char text[600];
    static const char *const names[] = {"no runtime", "no headset", "headset"};
    const sac_session_presence presence = sac_session_probe(text, sizeof text);
    sac_console_init("xr", common);
    sac_say("%s\n", text);
    return sac_console_json(
        json_pack("{s:s, s:s, s:s}", "command", "xr", "presence", names[presence], "text", text), false,
        presence == SAC_PRESENCE_HEADSET ? SAC_EXIT_OK : SAC_EXIT_FAILED);
}

int sac_cmd_xr(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    sac_xr_options o = {.show = sac_default_show_options(),
                        .gaze = "headset",
                        .patience = 60,
                        .samples = 4,
                        .shadow = 2048,
                        .resolution = 1};
    sac_option options[SAC_SHOW_OPTIONS + 12] = {
        {"frames", 'n', SAC_OPTION_UINT, &o.frames, "N",
         "end after so many (default: when the wearer or Ctrl-C says)", 1, 100000000},
        {"gaze", 'g', SAC_OPTION_TEXT, &o.gaze, "WHERE",
         "headset (default), head, center, a script (saccades:7@120,\nsweep), or a CSV file", 0, 0},
        {"gaze-log", 0, SAC_OPTION_TEXT, &o.gaze_log, "FILE", "write the wearer's gaze down; needs --consent",
         0, 0},
        {"consent", 0, SAC_OPTION_FLAG, &o.consent, NULL, "the wearer agrees to that", 0, 0},
        {"out", 'o', SAC_OPTION_TEXT, &o.out, "DIR", "write frames.csv and mangohud.csv", 0, 0},
        {"resolution", 0, SAC_OPTION_NUMBER, &o.resolution, "TIMES",
         "the recommended size, 0.1 to 4 (default 1)", 0.1, 4},
        {"samples", 0, SAC_OPTION_UINT, &o.samples, "N", "of a pixel, 1 to 8 (default 4)", 1, 8},
        {"shadow", 0, SAC_OPTION_UINT, &o.shadow, "TEXELS", "of the shadow's side; 0: none (default 2048)", 0,
         8192},
        {"hz", 0, SAC_OPTION_NUMBER, &o.hz, "RATE", "of the display, where the runtime lets us choose", 0,
         1000},
        {"seated", 0, SAC_OPTION_FLAG, &o.seated, NULL, "the wearer sits", 0, 0},
        {"patience", 0, SAC_OPTION_UINT, &o.patience, "S",
         "how long to wait for a runtime that went away (default 60)", 0, 86400},
        {"check", 0, SAC_OPTION_FLAG, &o.check, NULL, "only say whether there is a headset", 0, 0},
    };
    const size_t count = 12 + sac_show_options_list(&o.show, options + 12);
    char about[1400];
    snprintf(
        about, sizeof about,
        "Show a scene in a headset, on whatever OpenXR runtime is active: both eyes drawn, hands that grab,\n"
        "physics within its slice of the frame and spent where the wearer looks.\n%s",
        sac_show_scenes);
    const sac_command command = {
        "xr",
        "SCENE [options]",
        about,
        options,
        count,
        "Controllers: squeeze to grab, let go to throw; left menu changes the colours, right menu shows "
        "gaze, contacts\n"
        "and frame times, both together bring you back to where you started. Ctrl-C ends the session.\n"
        "Display times are the runtime's predictions; nobody knows when a picture was presented."};
    int words, code = sac_options_parse(&command, argc, argv, &common, &o.show.scene, 1, &words);
    if (code >= 0) return code;
    if (o.check) return check(&common);
    if (!words)
        return sac_options_usage_error("xr", "which scene? workshop, hailstorm, billiards, side-by-side, "
                                             "flowers, three-hundred, santas, jelly, or a file");
    if (o.gaze_log && !o.consent)
        return sac_options_usage_error(
            "xr", "gaze is personal: --gaze-log writes it only when the wearer agrees, said with --consent");
    sac_console_init("xr", &common);
    sac_error error;
    sac_xr_run run = {.options = &o, .started_ns = sac_time_now_ns()};
    const sac_result result = run_it(&run, &common, &error);
    code = SAC_EXIT_OK;
    if (result == SAC_OK) {
        sac_xr_run_say(&run);
        code = sac_console_json(sac_xr_run_json(&run), false, SAC_EXIT_OK);
    } else {
        code = sac_console_fail(&error);
    }
    sac_session_destroy(&run.session);
    sac_show_close(&run.show);
    if (run.gaze) sac_gaze_source_close(&run.gaze);
    sac_xr_books_fini(&run.books);
    return code;
}
