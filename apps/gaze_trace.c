#include "apps/gaze_trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/options.h"

/* Zero is "unknown" to the gaze filter, so time starts at one second. */
uint64_t sac_gaze_trace_now_ns(double seconds) { return 1000000000u + (uint64_t)(seconds * 1e9 + 0.5); }

sac_result sac_gaze_trace_open(sac_gaze_trace *out, const char *name, sac_error *error)
{
    static const char *const names[] = {
        "center", "none", "sweep", "fixation:", "pursuit:", "saccades:", NULL};
    sac_result result = sac_gaze_source_open(strcmp(name, "none") == 0 ? "head" : name, &out->source, error);
    if (result == SAC_OK) {
        sac_gaze_source_start(out->source, sac_gaze_trace_now_ns(0));
        return SAC_OK;
    }
    /* A script with a mistake in its numbers has said so itself. */
    bool unknown = result == SAC_ERROR_IO || (result == SAC_ERROR_ARGUMENT && !strpbrk(name, ":@"));
    const char *meant = unknown ? sac_options_suggest(name, names) : NULL;
    if (!meant) {
        if (unknown && error)
            snprintf(
                error->remedy, sizeof error->remedy,
                "give center, none, sweep, fixation:YAW,PITCH, pursuit:RADIUS,PERIOD, saccades:SEED or a "
                "CSV file");
        return result;
    }
    char remedy[64];
    snprintf(remedy, sizeof remedy, "did you mean %s?", meant);
    sac_error_set(error, result, remedy, "'%.100s' is neither a way to look nor a file", name);
    if (result == SAC_ERROR_IO) sac_error_in_file(error, name);
    return result;
}

void sac_gaze_trace_fini(sac_gaze_trace *trace) { sac_gaze_source_close(&trace->source); }

void sac_gaze_trace_at(const sac_gaze_trace *trace, double seconds, sac_viewer *viewer)
{
    sac_gaze_reading reading = {
        .sample_ns = sac_gaze_trace_now_ns(seconds),
        .cyclopean = {.valid = true, .direction = {0, 0, -1}, .confidence = NAN, .pupil_mm = NAN}};
    if (trace->source) sac_gaze_source_read(trace->source, reading.sample_ns, &reading);
    if (!viewer->eye_count) reading.cyclopean.valid = false;
    const sac_eye *eye = &viewer->eyes[0];
    sac_gaze_to_viewer(&reading, eye->position, eye->rotation, &viewer->gaze);
}
