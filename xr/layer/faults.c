/* Faults a runtime may have and an application should survive, from the environment. */
#include "xr/layer/layer_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sac_fault_frames_have(const sac_fault_frames *frames, uint64_t frame)
{
    for (uint32_t i = 0; i < frames->count; i++)
        if (frame >= frames->range[i].first && frame <= frames->range[i].last) return true;
    return false;
}

static sac_result refuse(sac_error *error, const char *name, const char *text, const char *remedy)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, remedy, "%s is '%.60s', which cannot be read", name,
                         text);
}

/* A whole number from 1 at *text, which moves behind it. */
static bool take_number(const char **text, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)**text)) return false;
    *out = strtoull(*text, &end, 10);
    *text = end;
    return *out > 0;
}

/* "5", "5-9", "5-9,20-" and so on. */
static bool read_frames(const char *text, sac_fault_frames *out)
{
    out->count = 0;
    for (;;) {
        if (out->count == SAC_FAULT_RANGES) return false;
        uint64_t first, last;
        if (!take_number(&text, &first)) return false;
        last = first;
        if (*text == '-') {
            text++;
            last = UINT64_MAX; /* without an end: for ever */
            if (*text && *text != ',' && !take_number(&text, &last)) return false;
        }
        if (last < first) return false;
        out->range[out->count].first = first;
        out->range[out->count++].last = last;
        if (!*text) return true;
        if (*text++ != ',') return false;
    }
}

static sac_result frames_of(const char *name, sac_fault_frames *out, sac_error *error)
{
    const char *text = getenv(name);
    if (!text || !*text || read_frames(text, out)) return SAC_OK;
    return refuse(error, name, text, "write frames from 1, as in 5 or 5-9 or 5-9,20-22 or 30-");
}

static sac_result frame_of(const char *name, uint64_t *out, sac_error *error)
{
    const char *text = getenv(name), *end = text;
    if (!text || !*text || (take_number(&end, out) && !*end)) return SAC_OK;
    return refuse(error, name, text, "write the number of a frame, from 1");
}

/* "80/40": 80 ms late every 40 frames; "80@5,9-11": at these. */
static sac_result read_stall(sac_faults *faults, sac_error *error)
{
    const char *name = "SACCADE_FAULT_STALL", *text = getenv(name), *end = text;
    uint64_t ms;
    if (!text || !*text) return SAC_OK;
    bool good = take_number(&end, &ms) && ms <= 60000;
    if (good && *end == '/') {
        end++;
        good = take_number(&end, &faults->stall_every) && !*end;
    } else if (good) {
        good = *end == '@' && read_frames(end + 1, &faults->stall_at);
    }
    if (!good)
        return refuse(error, name, text,
                      "write milliseconds and how often, as in 80/40 for every 40th frame or 80@5,9-11");
    faults->stall_ns = ms * 1000000;
    return SAC_OK;
}

sac_result sac_faults_from_environment(sac_faults *out_faults, sac_error *error)
{
    memset(out_faults, 0, sizeof *out_faults);
    const struct {
        const char *name;
        sac_fault_frames *frames;
    } lists[] = {{"SACCADE_FAULT_NO_RENDER", &out_faults->should_render},
                 {"SACCADE_FAULT_GAZE_LOST", &out_faults->gaze_lost},
                 {"SACCADE_FAULT_NEGATIVE_TIME", &out_faults->negative_time},
                 {"SACCADE_FAULT_ABSURD_TIME", &out_faults->absurd_time},
                 {"SACCADE_FAULT_ABSURD_PERIOD", &out_faults->absurd_period}};
    sac_result result = read_stall(out_faults, error);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && result == SAC_OK; i++)
        result = frames_of(lists[i].name, lists[i].frames, error);
    if (result == SAC_OK) result = frame_of("SACCADE_FAULT_SESSION_LOSS", &out_faults->session_loss, error);
    if (result == SAC_OK) result = frame_of("SACCADE_FAULT_INSTANCE_LOSS", &out_faults->instance_loss, error);
    return result;
}
