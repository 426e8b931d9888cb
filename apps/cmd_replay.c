/* saccade replay: a recording run again, frame by frame, and compared with what it was. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/commands.h"
#include "apps/console.h"
#include "base/clock.h"
#include "runtime/world.h"

typedef struct outcome {
    uint64_t frames, verified, first_other; /* first_other: first frame that differs, 0: none */
    uint64_t hash;
    uint32_t bodies;
    double seconds;
    bool complete; /* the recording has its end */
    sac_error error;
} outcome;

static sac_result run(const char *path, uint32_t threads, outcome *out)
{
    sac_replay *replay;
    sac_replay_frame frame;
    sac_counters counters;
    char about[128];
    snprintf(about, sizeof about, "replaying");
    sac_result result = sac_replay_open(path, threads, &replay, &out->error);
    if (result != SAC_OK) return result;
    uint64_t start = sac_time_now_ns();
    bool stopped = false;
    while ((result = sac_replay_step(replay, &frame, &out->error)) == SAC_OK && !frame.end) {
        out->frames++;
        out->hash = frame.hash;
        out->verified += frame.same;
        if (!frame.same && !out->first_other) out->first_other = frame.frame;
        if (!sac_console_progress((float)sac_replay_progress(replay), about)) {
            stopped = true;
            break;
        }
    }
    sac_console_progress_end();
    out->seconds = (double)(sac_time_now_ns() - start) * 1e-9;
    out->complete = result == SAC_OK && !stopped;
    sac_world_counters(sac_replay_world(replay), &counters);
    out->bodies = counters.bodies;
    sac_replay_close(&replay);
    if (stopped)
        result = sac_error_set(&out->error, SAC_ERROR_CANCELLED, NULL, "stopped after %" PRIu64 " frames",
                               out->frames);
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

static json_t *json_of(const char *path, const outcome *out)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, out->hash);
    json_t *object = json_pack("{s:o,s:I,s:I,s:s,s:b,s:i,s:o}", "file", sac_json_text(path), "frames",
                               (json_int_t)out->frames, "verified", (json_int_t)out->verified, "state_hash",
                               hash, "complete", out->complete, "bodies", (int)out->bodies, "seconds",
                               sac_json_number(out->seconds));
    json_object_set_new(object, "first_difference",
                        out->first_other ? json_integer((json_int_t)out->first_other) : json_null());
    return object;
}

int sac_cmd_replay(int argc, char **argv)
{
    sac_common common = {.threads = 1};
    const char *path = NULL;
    bool verify = false;
    const sac_option options[] = {
        {"verify", 0, SAC_OPTION_FLAG, &verify, NULL, "say whether every frame is the same as it was", 0, 0}};
    const sac_command command = {
        "replay",
        "FILE [--verify] [--threads N]",
        "Run a recording again and compare the state after every frame, bit for bit.",
        options,
        1,
        "Threads and the SIMD path (SACCADE_SIMD) change nothing but the time. A damaged file, or one whose\n"
        "writer was killed, is replayed up to the damage. Exit code 0 only when the file is whole and all\n"
        "frames agree."};
    int count, code = sac_options_parse(&command, argc, argv, &common, &path, 1, &count);
    if (code >= 0) return code;
    if (!count) return sac_options_usage_error("replay", "which recording?");
    sac_console_init("replay", &common);

    outcome out = {0};
    sac_result result = run(path, common.threads, &out);
    if (result != SAC_OK && out.frames == 0) return sac_console_fail(&out.error);
    tell(path, &out, verify);
    if (result != SAC_OK) return sac_console_spoilt(json_of(path, &out), &out.error);
    code = out.verified == out.frames ? SAC_EXIT_OK : SAC_EXIT_FAILED;
    return sac_console_json(json_of(path, &out), false, code);
}
