/* A run told on the console: the table for people and the JSON object for machines.
 *
 * Index: sac_run_say  sac_run_json
 */
#ifndef SAC_APPS_RUN_TELL_H
#define SAC_APPS_RUN_TELL_H

#include "apps/console.h"
#include "apps/run.h"

/* `scene` and `gaze` as the user named them. */
void sac_run_say(const char *scene, const char *gaze, const sac_run *run, const sac_run_def *def);
json_t *sac_run_json(const char *scene, const char *gaze, const sac_run *run, const sac_run_def *def);

#endif
