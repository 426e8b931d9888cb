/* Step reports for other tools: a CSV with a row a frame, and a trace that chrome://tracing and Perfetto
 * open.
 *
 *   sac_telemetry_csv(run.rows.data, run.rows.count, "out/frames.csv", &error);
 *   sac_telemetry_trace(run.rows.data, run.rows.count, "pile", "out/trace.json", &error);
 *
 * Both files are written whole or not at all. docs/files.md lists the columns.
 *
 * Index: sac_telemetry_csv  sac_telemetry_trace  sac_telemetry_column
 */
#ifndef SAC_APPS_TELEMETRY_H
#define SAC_APPS_TELEMETRY_H

#include "apps/run.h"

sac_result sac_telemetry_csv(const sac_run_row *rows, size_t count, const char *path, sac_error *error);
sac_result sac_telemetry_trace(const sac_run_row *rows, size_t count, const char *name, const char *path,
                               sac_error *error);
/* Name of the i-th column of the CSV into `out`; false past the last. */
bool sac_telemetry_column(uint32_t index, char out[48]);

#endif
