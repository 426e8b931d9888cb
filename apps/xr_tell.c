/* What a run of saccade xr came to: as text, as JSON, as files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/console.h"
#include "apps/xr_run.h"

enum { PATH = 4400 };

static double room_ms(const sac_xr_row *r) { return r->room_ns ? (double)r->room_ns * 1e-6 : NAN; }
static double gpu_ms(const sac_xr_row *r) { return r->gpu_ns ? (double)r->gpu_ns * 1e-6 : NAN; }
static double physics_ms(const sac_xr_row *r) { return r->steps ? (double)r->physics_ns * 1e-6 : NAN; }
static double over_us(const sac_xr_row *r)
{
    if (!r->steps) return NAN;
    return r->physics_end_ns > r->deadline_ns ? (double)(r->physics_end_ns - r->deadline_ns) * 1e-3 : 0;
}

static json_t *spread_json(const sac_xr_run *run, double (*value)(const sac_xr_row *))
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

static const char *gaze_name(const sac_xr_run *run)
{
    return run->gaze ? sac_gaze_source_name(run->gaze) : run->info.gaze ? "headset" : "none";
}

json_t *sac_xr_run_json(const sac_xr_run *run)
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
        json_pack("{s:s, s:o, s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:i, s:i}", "command", "xr", "scene",
                  sac_json_text(run->options->show.scene), "runtime", run->info.runtime, "system",
                  run->info.system, "device", run->stats.device, "multiview", run->info.multiview, "depth",
                  run->info.depth, "hand_joints", run->info.hand_joints, "width", (int)run->info.width,
                  "height", (int)run->info.height, "samples", (int)run->stats.samples);
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

static void say_line(const sac_xr_run *run, const char *what, const char *unit,
                     double (*value)(const sac_xr_row *))
{
    sac_xr_spread s;
    if (!sac_xr_books_spread(&run->books, value, &s) || !s.count) return;
    sac_say("  %-24s median %.3g, 95 %% %.3g, 99 %% %.3g, max %.3g %s\n", what, s.p50, s.p95, s.p99, s.max,
            unit);
}

void sac_xr_run_say(const sac_xr_run *run)
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

sac_result sac_xr_run_write(const sac_xr_run *run, const char *folder, sac_error *error)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/frames.csv", folder);
    sac_result result = sac_xr_books_csv(&run->books, path, error);
    if (result == SAC_OK) sac_say("  %s\n", path);
    snprintf(path, sizeof path, "%s/mangohud.csv", folder);
    if (result == SAC_OK) result = sac_xr_books_mangohud(&run->books, run->stats.device, path, error);
    return result;
}
