/* Where a simulated viewer looks while a scene runs: at the middle, around in it, as a script or a recording
 * says, or nobody knows.
 *
 *   sac_gaze_trace trace;
 *   sac_gaze_trace_open(&trace, "sweep", &error);          // center, none, a script, or a CSV file
 *   sac_gaze_trace_at(&trace, seconds, &viewer);            // sets viewer.gaze; its eyes stay
 *   sac_gaze_trace_fini(&trace);
 *
 * Scripts and files are those of xr/gaze_source.h; here time starts with the scene.
 *
 * Index: sac_gaze_trace_open  sac_gaze_trace_at  sac_gaze_trace_now_ns  sac_gaze_trace_fini
 */
#ifndef SAC_APPS_GAZE_TRACE_H
#define SAC_APPS_GAZE_TRACE_H

#include "xr/xr.h"

/* Zeroed it looks at the middle. */
typedef struct sac_gaze_trace {
    sac_gaze_source *source;
} sac_gaze_trace;

/* Errors name file, line and remedy. On failure there is nothing to release. */
sac_result sac_gaze_trace_open(sac_gaze_trace *out_trace, const char *name, sac_error *error);
void sac_gaze_trace_fini(sac_gaze_trace *trace);

/* The gaze at this time. The head is where the viewer's first eye looks. Without eyes there is no gaze. */
void sac_gaze_trace_at(const sac_gaze_trace *trace, double seconds, sac_viewer *viewer);
/* The same time on the clock of the samples, for sac_step_def.viewer_now_ns. */
uint64_t sac_gaze_trace_now_ns(double seconds);

#endif
