/* Where a simulated viewer looks while a scene runs: at the middle, around in it, as a recording says, or
 * nobody knows.
 *
 *   sac_gaze_trace trace;
 *   sac_gaze_trace_open(&trace, "sweep", &error);          // center, none, sweep, or a CSV file
 *   sac_gaze_trace_at(&trace, seconds, &viewer);            // sets viewer.gaze; its eyes stay
 *   sac_gaze_trace_fini(&trace);
 *
 * A file has a sample a line, "time_s,x,y,z[,valid[,confidence]]"; see docs/files.md.
 *
 * Index: sac_gaze_trace_open  sac_gaze_trace_parse  sac_gaze_trace_at  sac_gaze_trace_now_ns
 * sac_gaze_trace_fini
 */
#ifndef SAC_APPS_GAZE_TRACE_H
#define SAC_APPS_GAZE_TRACE_H

#include "base/memory.h"
#include "runtime/world.h"

typedef enum sac_gaze_trace_kind {
    SAC_TRACE_CENTER,
    SAC_TRACE_NONE,
    SAC_TRACE_SWEEP,
    SAC_TRACE_FILE
} sac_gaze_trace_kind;

typedef struct sac_gaze_trace_sample {
    double time; /* seconds from the start */
    float direction[3];
    float confidence; /* NaN: not given */
    bool valid;
} sac_gaze_trace_sample;

typedef struct sac_gaze_trace {
    sac_gaze_trace_kind kind;
    bool head; /* directions turn with the head: -z ahead, y up; else the world's */
    sac_array(sac_gaze_trace_sample) samples;
} sac_gaze_trace;

/* ERROR_IO and ERROR_FORMAT name file and line. On failure there is nothing to release. */
sac_result sac_gaze_trace_open(sac_gaze_trace *out_trace, const char *name, sac_error *error);
/* The same from memory; `path` is named in errors. */
sac_result sac_gaze_trace_parse(sac_gaze_trace *out_trace, const char *text, size_t size, const char *path,
                                sac_error *error);
void sac_gaze_trace_fini(sac_gaze_trace *trace);

/* The gaze at this time. The head is where the viewer's first eye looks. Without eyes there is no gaze. */
void sac_gaze_trace_at(const sac_gaze_trace *trace, double seconds, sac_viewer *viewer);
/* The same time on the clock of the samples, for sac_step_def.viewer_now_ns. */
uint64_t sac_gaze_trace_now_ns(double seconds);

#endif
