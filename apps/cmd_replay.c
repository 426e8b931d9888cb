/* saccade replay: a recording run again, frame by frame, compared with what it was, and timed on request. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "apps/replay_time.h"
#include "base/clock.h"
#include "runtime/world.h"

typedef struct outcome {
    uint64_t frames, verified, first_other; /* first_other: first frame that differs, 0: none */
    uint64_t hash;
    uint32_t bodies;
    double seconds;
    bool complete; /* the recording has its end */
    bool damaged;  /* it stops before, and all frames until there were replayed */
    sac_error error;
} outcome;

/* From the first frame to the end, the damage or Ctrl-C. `times` may be NULL; `passes`: of how many this one
 * is. */
static sac_result run(const char *path, uint32_t threads, sac_replay_times *times, uint32_t passes,
                      outcome *out)
{
    sac_replay *replay;
    sac_replay_frame frame;
    sac_counters counters;
    char about[128];
    snprintf(about, sizeof about, times ? "timing" : "replaying");
    sac_result result = sac_replay_open(path, threads, &replay, &out->error), noted = SAC_OK;
    if (result != SAC_OK) return result;
    uint64_t start = sac_time_now_ns();
    uint32_t before = times ? times->passes : 0;
    bool stopped = false;
    while ((result = sac_replay_step(replay, &frame, &out->error)) == SAC_OK && !frame.end) {
        out->frames++;
        out->hash = frame.hash;
        out->verified += frame.same;
        if (!frame.same && !out->first_other) out->first_other = frame.frame;
        if (times) noted = sac_replay_times_add(times, &frame, &out->error);
        double done = (before + sac_replay_progress(replay)) / passes;
        stopped = !sac_console_progress((float)done, about);
        if (stopped || noted != SAC_OK) break;
    }
    out->damaged = result != SAC_OK;
    out->complete = result == SAC_OK && noted == SAC_OK && !stopped;
    if (result == SAC_OK) result = noted;
    if (times && (out->complete || out->damaged)) {
        noted = sac_replay_times_close(times, out->damaged ? NULL : &out->error);
        if (noted != SAC_OK) out->damaged = false, result = noted;
    }
    out->seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    sac_world_counters(sac_replay_world(replay), &counters);
    out->bodies = counters.bodies;
    sac_replay_close(&replay);
    if (stopped)
        result = sac_error_set(&out->error, SAC_ERROR_CANCELLED, NULL, "stopped after %" PRIu64 " frames",
                               out->frames);
    return result;
}

/* As many passes as were asked for, or as there was time for. */
static sac_result run_timed(const char *path, uint32_t passes, sac_replay_times *times, outcome *out)
{
    sac_result result = run(path, 1, times, passes, out);
    while (times->passes && times->passes < passes && (result == SAC_OK || out->damaged)) {
        outcome pass = {0};
        sac_result again = run(path, 1, times, passes, &pass);
        out->seconds += pass.seconds;
        if (again != SAC_OK) result = again, out->error = pass.error, out->damaged = pass.damaged;
        if (pass.first_other && !out->first_other)
            out->first_other = pass.first_other, out->verified = pass.verified;
    }
    sac_error late;
    if (sac_replay_times_judge(times, out->first_other, &late) != SAC_OK && result == SAC_OK)
        result = late.code, out->error = late;
    return result;
}

static void tell(const char *path, const outcome *out, bool verify)
{
    char a[32], b[32];
    sac_say("%s: %s frames in %.2f s, %u bodies at the end, state %016" PRIx64 "\n", path,
            sac_text_count(a, out->frames), out->seconds, out->bodies, out->hash);
    if (out->verified == out->frames) {
        if (verify) sac_say("every frame is the same, bit for bit\n");
        return;
    }
    sac_say("%s of %s frames differ, the first is frame %" PRIu64 "\n",
            sac_text_count(a, out->frames - out->verified), sac_text_count(b, out->frames), out->first_other);
}

static json_t *json_of(const char *path, const outcome *out, const sac_replay_times *times)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, out->hash);
    json_t *object = json_pack("{s:o,s:I,s:I,s:s,s:b,s:i,s:o}", "file", sac_json_text(path), "frames",
                               (json_int_t)out->frames, "verified", (json_int_t)out->verified, "state_hash",
                               hash, "complete", out->complete, "bodies", (int)out->bodies, "seconds",
                               sac_json_number(out->seconds));
    json_object_set_new(object, "first_difference",
                        out->first_other ? json_integer((json_int_t)out->first_other) : json_null());
    if (times->passes) json_object_set_new(object, "time", sac_replay_times_json(times));
    return object;
}

int sac_cmd_replay(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    const char *path = NULL;
    bool verify = false;
    sac_maybe time = {.number = 5};
    const sac_option options[] = {
        {"verify", 0, SAC_OPTION_FLAG, &verify, NULL, "say whether every frame is the same as it was", 0, 0},
        {"time", 0, SAC_OPTION_MAYBE, &time, "[PASSES]",
         "verify, and time every step in so many passes (default 5):\nwhether misses were the step's own", 1,
         SAC_MOST_PASSES}};
    const sac_command command = {
        "replay",
        "FILE [--verify] [--time [PASSES]] [--threads N]",
        "Run a recording again and compare the state after every frame, bit for bit.",
        options,
        sizeof options / sizeof *options,
        "Threads and the SIMD path (SACCADE_SIMD) change nothing but the time. A damaged file, or one whose\n"
        "writer was killed, is replayed up to the damage. Exit code 0 only when the file is whole and all\n"
        "frames agree.\n"
        "\n"
        "--time replays on one thread. A miss is a step whose own CPU time was more than 250 us over the\n"
        "budget when it was recorded. The same work now, median of the passes, tells whose it was: host, at\n"
        "most 50 us over; own work, more than 250 us over; not decided, between."};
    int count, code = sac_options_parse(&command, argc, argv, &common, &path, 1, &count);
    if (code >= 0) return code;
    if (!count) return sac_options_usage_error("replay", "which recording?");
    if (time.given && common.threads != 1)
        return sac_options_usage_error("replay", "--time replays on one thread; leave out --threads");
    sac_console_init("replay", &common);

    outcome out = {0};
    sac_replay_times times = {0};
    sac_result result =
        time.given ? run_timed(path, time.number, &times, &out) : run(path, common.threads, NULL, 1, &out);
    sac_console_progress_end();
    if (result != SAC_OK && out.frames == 0) {
        code = sac_console_fail(&out.error);
    } else {
        tell(path, &out, verify || time.given);
        if (times.passes) sac_replay_times_say(&times);
        json_t *json = json_of(path, &out, &times);
        bool same = out.verified == out.frames;
        code = result == SAC_OK ? sac_console_json(json, false, same ? SAC_EXIT_OK : SAC_EXIT_FAILED)
                                : sac_console_spoilt(json, &out.error);
    }
    sac_replay_times_fini(&times);
    return code;
}
