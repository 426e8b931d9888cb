/* saccade xr: a scene in a headset. The session says when a picture is due and how long physics may take; the
 * show does the rest. When the runtime goes away the world runs on, and the session is opened again. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/show_options.h"
#include "apps/whole_file.h"
#include "apps/xr_books.h"
#include "base/clock.h"

enum { PATH = 4400 };
#define EYE_HEIGHT 1.6f          /* of the person a scene's viewer stands for */
#define RETRY_NS 500000000u      /* between two tries to open a lost session */
#define AHEAD_NS 20000000        /* display times when nobody predicts them */
#define BOTH_MENUS_NS 400000000u /* the two buttons pressed within this are pressed together */

typedef struct xr_options {
    sac_show_options show;
    const char *gaze, *gaze_log, *out;
    uint32_t frames, patience, samples, shadow;
    double resolution, hz;
    bool consent, seated, check;
} xr_options;

typedef struct xr_run {
    const xr_options *o;
    sac_show *show;
    sac_session *session;
    sac_gaze_source *gaze; /* NULL: the headset's own, or none */
    sac_gaze_log *log;
    sac_xr_books books;
    sac_screen_stats stats;
    sac_session_info info;
    float stand[3], turn[4]; /* from the runtime's floor to the scene's */
    uint64_t frames, started_ns, focused_ns, lost_since_ns, lost_ns, menu_ns[SAC_HANDS];
    uint64_t gaze_fresh, gaze_duplicate, gaze_lost;
    uint32_t messages;
    bool exiting;
} xr_run;

static volatile sig_atomic_t interrupted;
static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void message(const char *text, void *user)
{
    ((xr_run *)user)->messages++;
    fprintf(stderr, "saccade xr: %s\n", text);
}

/* ---- from the room into the scene ---- */

/* Where the scene's viewer stands, turned to what he looks at: there the wearer is. */
static void find_stand(xr_run *run)
{
    const sac_staging *staging = sac_show_staging(run->show);
    float ahead[3] = {staging->target[0] - staging->eye[0], 0, staging->target[2] - staging->eye[2]};
    memcpy(run->stand, staging->eye, sizeof run->stand);
    run->stand[1] = fabsf(staging->eye[1] - EYE_HEIGHT) < 0.5f ? 0 : staging->eye[1] - EYE_HEIGHT;
    if (ahead[0] * ahead[0] + ahead[2] * ahead[2] < 1e-6f) ahead[2] = -1;
    sac_look_rotation(ahead, run->turn);
}

static void place(const xr_run *run, float position[3], float rotation[4])
{
    sac_transform room = {.scale = 1};
    float moved[3];
    versor turned, own; /* cglm wants them aligned */
    memcpy(room.translation, run->stand, sizeof run->stand);
    memcpy(room.rotation, run->turn, sizeof run->turn);
    sac_transform_point(&room, position, moved);
    memcpy(position, moved, sizeof moved);
    if (!rotation) return;
    memcpy(own, rotation, sizeof own);
    memcpy(turned, run->turn, sizeof turned);
    glm_quat_mul(turned, own, own);
    memcpy(rotation, own, sizeof own);
}

static void place_frame(const xr_run *run, sac_session_frame *f)
{
    for (uint32_t i = 0; i < f->eye_count; i++) place(run, f->eyes[i].position, f->eyes[i].rotation);
    if (f->head_valid) place(run, f->head_position, f->head_rotation);
    for (int h = 0; h < SAC_HANDS; h++) {
        sac_hand_input *hand = &f->hands[h];
        if (hand->active) {
            place(run, hand->position, hand->rotation);
            place(run, hand->aim_position, hand->aim_rotation);
        }
        for (int i = 0; i < SAC_HAND_JOINTS && hand->joints_valid; i++) place(run, hand->joints[i], NULL);
    }
}

/* ---- a frame ---- */

static sac_result read_gaze(xr_run *run, sac_session_frame *f, sac_viewer *viewer, sac_error *error)
{
    sac_gaze_reading *reading = &f->gaze;
    const uint64_t now = sac_time_now_ns();
    if (run->gaze) sac_gaze_source_read(run->gaze, now, reading);
    const bool wanted = run->gaze || f->gaze_supported;
    if (wanted && f->focused) {
        if (!reading->cyclopean.valid)
            run->gaze_lost++;
        else if (reading->fresh)
            run->gaze_fresh++;
        else
            run->gaze_duplicate++;
    }
    if (wanted && f->head_valid)
        sac_gaze_to_viewer(reading, f->head_position, f->head_rotation, &viewer->gaze);
    return run->log ? sac_gaze_log_write(run->log, now, reading, error) : SAC_OK;
}

/* One button shows another paint, the other the rest; both together put the wearer back where the scene wants
 * him. */
static void press_menus(xr_run *run, const sac_session_frame *f)
{
    sac_insight *insight = sac_show_insight(run->show);
    for (int h = 0; h < SAC_HANDS; h++) {
        if (!f->hands[h].menu) continue;
        const uint64_t now = f->stamp.wake_ns, other = run->menu_ns[1 - h];
        run->menu_ns[h] = now;
        if (other && now - other < BOTH_MENUS_NS) {
            sac_error error;
            if (sac_session_recentre(run->session, &error) != SAC_OK) message(error.message, run);
        } else if (h == 0) {
            insight->paint = (insight->paint + 1) % SAC_PAINTS;
        } else {
            insight->strip = !insight->strip;
            insight->gaze = insight->rings = insight->contacts = insight->strip;
        }
    }
}

static void book(xr_run *run, const sac_session_frame *f, const sac_viewer *viewer, uint64_t physics_end)
{
    sac_show_stats show;
    sac_show_stats_get(run->show, &show);
    sac_xr_row *row = sac_xr_books_next(&run->books);
    *row = (sac_xr_row){.frame = run->frames,
                        .wait_begin_ns = f->stamp.wait_begin_ns,
                        .wait_end_ns = f->stamp.wake_ns,
                        .predicted_ns = f->predicted_ns,
                        .predicted_xr = f->stamp.predicted_xr,
                        .period_ns = f->stamp.period_ns,
                        .step_ns = f->verdict.step_ns,
                        .begin_ns = f->begin_ns,
                        .deadline_ns = f->deadline_ns,
                        .physics_end_ns = physics_end,
                        .end_ns = sac_time_now_ns(),
                        .gpu_ns = f->should_render ? run->stats.gpu_ns : 0,
                        .room_ns = f->should_render ? run->stats.prepare_ns + show.own_ns : 0,
                        .physics_ns = show.physics_ns,
                        .gaze_ns = f->gaze.sample_ns,
                        .missed = f->verdict.missed,
                        .steps = show.frame_steps,
                        .bodies = show.bodies,
                        .allocations = show.allocations,
                        .should_render = f->should_render,
                        .strange = f->verdict.strange,
                        .gaze_valid = viewer->gaze.valid,
                        .gaze_fresh = f->gaze.fresh};
    row->late = row->end_ns > row->predicted_ns;
    memcpy(row->head, f->head_position, sizeof f->head_position);
    memcpy(row->head + 3, f->head_rotation, sizeof f->head_rotation);
    memcpy(row->gaze, viewer->gaze.direction, sizeof row->gaze);
    snprintf(row->state, sizeof row->state, "%.15s", f->state);
}

static sac_result make_frame(xr_run *run, sac_session_frame *f, sac_error *error)
{
    sac_viewer viewer = {.eye_count = f->eye_count};
    place_frame(run, f);
    memcpy(viewer.eyes, f->eyes, f->eye_count * sizeof *f->eyes);
    if (f->focused && !run->focused_ns) {
        run->focused_ns = sac_time_now_ns() - run->started_ns;
        fprintf(stderr, "saccade xr: %s, focused after %.0f ms; Ctrl-C ends\n", run->info.system,
                (double)run->focused_ns * 1e-6);
    }
    sac_result result = read_gaze(run, f, &viewer, error);
    sac_show_frame frame = {.display_ns = (int64_t)f->predicted_ns,
                            .deadline_ns = f->deadline_ns,
                            .now_ns = sac_time_now_ns(),
                            .viewer = viewer,
                            .missed = f->verdict.missed};
    memcpy(frame.hands, f->hands, sizeof frame.hands);
    if (result == SAC_OK) result = sac_show_advance(run->show, &frame, error);
    const uint64_t physics_end = sac_time_now_ns();
    const sac_hands *hands = sac_show_hands(run->show);
    for (uint32_t h = 0; h < SAC_HANDS && hands; h++)
        if (hands->hand[h].pulse > 0.02f) sac_session_pulse(run->session, h, hands->hand[h].pulse, 0.02f);
    press_menus(run, f);
    sac_drawing drawing = sac_default_drawing();
    const sac_show_look look = {.wrist = true, .width = run->info.width, .height = run->info.height};
    if (result == SAC_OK && f->should_render)
        result = sac_show_draw(run->show, f->eyes, f->eye_count, &look, &drawing, error);
    if (result == SAC_OK && f->should_render)
        result = sac_session_draw(run->session, &drawing, &run->stats, error);
    else
        sac_session_skip(run->session, NULL);
    if (result == SAC_OK) book(run, f, &viewer, physics_end);
    run->frames++;
    return result;
}

/* Nobody waits for a picture: the world goes on by our own clock. */
static sac_result go_on(xr_run *run, uint64_t until_ns, sac_error *error)
{
    sac_result result = SAC_OK;
    do {
        const uint64_t now = sac_time_now_ns();
        const sac_show_frame frame = {.display_ns = (int64_t)now + AHEAD_NS,
                                      .deadline_ns = now + 4000000,
                                      .now_ns = now,
                                      .viewer = sac_show_viewer(run->show)};
        result = sac_show_advance(run->show, &frame, error);
        if (until_ns > now && result == SAC_OK) nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
    } while (result == SAC_OK && !interrupted && sac_time_now_ns() < until_ns);
    return result;
}

static sac_result come_back(xr_run *run, const sac_error *trouble, sac_error *error)
{
    char text[512];
    const uint64_t now = sac_time_now_ns();
    if (!run->lost_since_ns) {
        run->lost_since_ns = now;
        fprintf(stderr, "saccade xr: %s\n", sac_error_text(trouble, text, sizeof text));
        fprintf(stderr, "saccade xr: the world runs on; trying again for %u s\n", run->o->patience);
    }
    if (now - run->lost_since_ns >= run->o->patience * UINT64_C(1000000000))
        return sac_error_set(error, SAC_ERROR_IO, "start it again, or wait longer with --patience",
                             "the runtime did not come back within %u s", run->o->patience);
    if (sac_session_reopen(run->session, error) == SAC_OK) {
        fprintf(stderr, "saccade xr: back after %.1f s\n", (double)(now - run->lost_since_ns) * 1e-9);
        run->lost_ns += now - run->lost_since_ns;
        run->lost_since_ns = 0;
        return SAC_OK;
    }
    return go_on(run, sac_time_now_ns() + RETRY_NS, error);
}

static sac_result loop(xr_run *run, sac_error *error)
{
    for (;;) {
        sac_session_frame frame;
        sac_error trouble;
        sac_result result = SAC_OK;
        if ((interrupted || (run->o->frames && run->frames >= run->o->frames)) && !run->exiting) {
            run->exiting = true;
            result = sac_session_request_exit(run->session, error);
        }
        if (result != SAC_OK) return result;
        switch (sac_session_wait(run->session, &frame, &trouble)) {
        case SAC_SESSION_FRAME:
            result = make_frame(run, &frame, error);
            break;
        case SAC_SESSION_IDLE:
            result = go_on(run, 0, error);
            break;
        case SAC_SESSION_LOST:
            if (run->exiting) return SAC_OK; /* it was to end anyway */
            result = come_back(run, &trouble, error);
            break;
        case SAC_SESSION_EXIT:
            return SAC_OK;
        }
        if (result != SAC_OK) return result;
    }
}

/* ---- what it came to ---- */

static double room_ms(const sac_xr_row *r) { return r->room_ns ? (double)r->room_ns * 1e-6 : NAN; }
static double gpu_ms(const sac_xr_row *r) { return r->gpu_ns ? (double)r->gpu_ns * 1e-6 : NAN; }
static double physics_ms(const sac_xr_row *r) { return r->steps ? (double)r->physics_ns * 1e-6 : NAN; }
static double over_us(const sac_xr_row *r)
{
    if (!r->steps) return NAN;
    return r->physics_end_ns > r->deadline_ns ? (double)(r->physics_end_ns - r->deadline_ns) * 1e-3 : 0;
}

static json_t *spread_json(const xr_run *run, double (*value)(const sac_xr_row *))
{
    sac_xr_spread s;
    if (!sac_xr_books_spread(&run->books, value, &s) || !s.count) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean", sac_json_number(s.mean), "p50",
                     sac_json_number(s.p50), "p95", sac_json_number(s.p95), "p99", sac_json_number(s.p99),
                     "max", sac_json_number(s.max));
}

static json_t *states_json(const char *states)
{
    json_t *list = json_array();
    for (const char *at = states; *at;) {
        const size_t length = strcspn(at, " ");
        json_array_append_new(list, json_stringn(at, length));
        at += length + (at[length] == ' ');
    }
    return list;
}

static const char *gaze_name(const xr_run *run)
{
    return run->gaze ? sac_gaze_source_name(run->gaze) : run->info.gaze ? "headset" : "none";
}

static json_t *to_json(const xr_run *run)
{
    const sac_ledger *l = &run->info.ledger;
    sac_show_stats show;
    sac_show_stats_get(run->show, &show);
    uint32_t late = 0, allocations = 0;
    for (size_t i = 0; i < sac_xr_books_kept(&run->books); i++) {
        const sac_xr_row *row = sac_xr_books_row(&run->books, i);
        late += row->late;
        if (i >= 60) allocations += row->allocations;
    }
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:i, s:i}", "command", "xr", "scene",
                  run->o->show.scene, "runtime", run->info.runtime, "system", run->info.system, "device",
                  run->stats.device, "multiview", run->info.multiview, "depth", run->info.depth,
                  "hand_joints", run->info.hand_joints, "width", (int)run->info.width, "height",
                  (int)run->info.height, "samples", (int)run->stats.samples);
    json_object_set_new(object, "refresh_hz", sac_json_number((double)run->info.refresh_hz));
    json_object_set_new(object, "frames", json_integer((json_int_t)run->frames));
    json_object_set_new(object, "rendered", json_integer((json_int_t)l->rendered));
    json_object_set_new(object, "missed", json_integer((json_int_t)l->missed));
    json_object_set_new(object, "missed_frames", json_integer((json_int_t)l->missed_frames));
    json_object_set_new(object, "longest_miss", json_integer(l->longest_miss));
    json_object_set_new(object, "strange", json_integer((json_int_t)l->strange));
    json_object_set_new(object, "late", json_integer(late));
    json_object_set_new(object, "states", states_json(run->info.states));
    json_object_set_new(object, "focused_ms",
                        run->focused_ns ? sac_json_number((double)run->focused_ns * 1e-6) : json_null());
    json_object_set_new(object, "reopened", json_integer(run->info.reopened));
    json_object_set_new(object, "lost_ms", sac_json_number((double)run->lost_ns * 1e-6));
    json_object_set_new(object, "wake_mean_ms", sac_json_number(l->wake_mean_ns * 1e-6));
    json_object_set_new(object, "wake_sd_ms", sac_json_number(sac_ledger_wake_sd_ns(l) * 1e-6));
    json_object_set_new(object, "steps", json_integer((json_int_t)show.steps));
    json_object_set_new(object, "bodies", json_integer(show.bodies));
    json_object_set_new(object, "allocations_after_warm_up", json_integer(allocations));
    json_object_set_new(object, "physics_ms", spread_json(run, physics_ms));
    json_object_set_new(object, "physics_over_us", spread_json(run, over_us));
    json_object_set_new(object, "room_ms", spread_json(run, room_ms));
    json_object_set_new(object, "gpu_ms", spread_json(run, gpu_ms));
    json_object_set_new(object, "gaze",
                        json_pack("{s:s, s:b, s:I, s:I, s:I}", "source", gaze_name(run), "headset_has_it",
                                  run->info.gaze, "fresh", (json_int_t)run->gaze_fresh, "duplicate",
                                  (json_int_t)run->gaze_duplicate, "lost", (json_int_t)run->gaze_lost));
    json_object_set_new(object, "validation", json_boolean(run->stats.validation));
    json_object_set_new(object, "messages", json_integer(run->messages));
    return object;
}

static void say_line(const xr_run *run, const char *what, const char *unit,
                     double (*value)(const sac_xr_row *))
{
    sac_xr_spread s;
    if (!sac_xr_books_spread(&run->books, value, &s) || !s.count) return;
    sac_say("  %-24s median %.3g, 95 %% %.3g, 99 %% %.3g, max %.3g %s\n", what, s.p50, s.p95, s.p99, s.max,
            unit);
}

static void say(const xr_run *run)
{
    const sac_ledger *l = &run->info.ledger;
    char a[32], b[32];
    sac_say("%s on %s\n", run->info.system, run->info.runtime);
    sac_say("  %s frames, %s periods missed in %" PRIu64 " gaps (longest %u)%s\n",
            sac_text_count(a, run->frames), sac_text_count(b, l->missed), l->missed_frames, l->longest_miss,
            l->strange ? ", some with times that cannot be" : "");
    if (run->focused_ns) sac_say("  focused after %.0f ms\n", (double)run->focused_ns * 1e-6);
    if (run->info.reopened)
        sac_say("  lost and opened again %u times, away for %.1f s\n", run->info.reopened,
                (double)run->lost_ns * 1e-9);
    say_line(run, "physics", "ms", physics_ms);
    say_line(run, "physics past its slice", "us", over_us);
    say_line(run, "drawing, our CPU time", "ms", room_ms);
    say_line(run, "drawing, on the device", "ms", gpu_ms);
    sac_say("  gaze from %s: %" PRIu64 " samples, %" PRIu64 " seen twice, %" PRIu64 " frames without\n",
            gaze_name(run), run->gaze_fresh, run->gaze_duplicate, run->gaze_lost);
}

static sac_result write_out(const xr_run *run, sac_error *error)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/frames.csv", run->o->out);
    sac_result result = sac_xr_books_csv(&run->books, path, error);
    if (result == SAC_OK) sac_say("  %s\n", path);
    snprintf(path, sizeof path, "%s/mangohud.csv", run->o->out);
    if (result == SAC_OK) result = sac_xr_books_mangohud(&run->books, run->stats.device, path, error);
    return result;
}

/* ---- the command ---- */

static sac_result open_gaze(xr_run *run, sac_error *error)
{
    const xr_options *o = run->o;
    sac_result result = SAC_OK;
    if (strcmp(o->gaze, "headset") != 0) result = sac_gaze_source_open(o->gaze, &run->gaze, error);
    if (result == SAC_OK && o->gaze_log)
        result = sac_gaze_log_open(o->gaze_log, o->consent, &run->log, error);
    return result;
}

static sac_result open_session(xr_run *run, sac_error *error)
{
    sac_session_def def = sac_default_session_def();
    def.renderer.gallery = sac_show_gallery(run->show);
    def.renderer.message = message;
    def.renderer.user = run;
    def.renderer.samples = run->o->samples;
    def.renderer.shadow_size = run->o->shadow;
    def.resolution = (float)run->o->resolution;
    def.refresh_hz = (float)run->o->hz;
    def.seated = run->o->seated;
    /* The budget of a step is the show's; several steps of a slow display share what the frame leaves. */
    def.slice.most_ns = 12000000;
    /* However late: less than this, and thousands of bodies cannot even be moved on. */
    def.slice.least_ns = 1000000;
    sac_result result = sac_session_create(&def, &run->session, error);
    if (result == SAC_OK) sac_session_info_get(run->session, &run->info);
    return result;
}

static sac_result run_it(xr_run *run, const sac_common *common, sac_error *error)
{
    const xr_options *o = run->o;
    sac_show_def def;
    sac_result result = sac_show_options_apply(&o->show, common, &def, error);
    def.hands = true;
    if (result == SAC_OK && o->out) result = sac_folder_create(o->out, error);
    if (result == SAC_OK) result = open_gaze(run, error);
    if (result == SAC_OK) result = sac_xr_books_init(&run->books, o->frames ? o->frames + 64u : 0, error);
    if (result == SAC_OK) result = sac_show_open(&def, &run->show, error);
    /* From here on; baking has a way of its own to be stopped. The second time it ends at once. */
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (result == SAC_OK) {
        sac_show_options_switch(&o->show, sac_show_insight(run->show));
        find_stand(run);
        result = open_session(run, error);
    }
    if (result == SAC_OK) result = loop(run, error);
    if (run->session) sac_session_info_get(run->session, &run->info);
    sac_result closed = run->log ? sac_gaze_log_close(&run->log, result == SAC_OK ? error : NULL) : SAC_OK;
    if (result == SAC_OK) result = closed;
    /* What was measured is worth having even if the end was bad. */
    if (run->frames && o->out) {
        closed = write_out(run, result == SAC_OK ? error : NULL);
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
    xr_options o = {.show = sac_default_show_options(),
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
        return sac_options_usage_error(
            "xr", "which scene? workshop, hailstorm, billiards, side-by-side, or a file");
    if (o.gaze_log && !o.consent)
        return sac_options_usage_error(
            "xr", "gaze is personal: --gaze-log writes it only when the wearer agrees, said with --consent");
    sac_console_init("xr", &common);
    sac_error error;
    xr_run run = {.o = &o, .started_ns = sac_time_now_ns()};
    const sac_result result = run_it(&run, &common, &error);
    code = SAC_EXIT_OK;
    if (result == SAC_OK) {
        say(&run);
        code = sac_console_json(to_json(&run), false, SAC_EXIT_OK);
    } else {
        code = sac_console_fail(&error);
    }
    sac_session_destroy(&run.session);
    sac_show_close(&run.show);
    if (run.gaze) sac_gaze_source_close(&run.gaze);
    sac_xr_books_fini(&run.books);
    return code;
}
