/* A run of saccade xr: the show in the session's frames, what is written down of it, what is told at the end.
 *
 *   sac_xr_run run = {.options = &options, .started_ns = sac_time_now_ns()};
 *   ...show, session and books opened...
 *   sac_xr_run_go(&run, &error);              // until the wearer, Ctrl-C or --frames ends it
 *   sac_xr_run_say(&run);
 *
 * Index: sac_xr_run_message  sac_xr_run_go  sac_xr_run_json  sac_xr_run_say  sac_xr_run_write
 */
#ifndef SAC_APPS_XR_RUN_H
#define SAC_APPS_XR_RUN_H

#include <jansson.h>

#include "apps/show_options.h"
#include "apps/xr_books.h"

typedef struct sac_xr_options {
    sac_show_options show;
    const char *gaze, *gaze_log, *out;
    uint32_t frames, patience, samples, shadow;
    double resolution, hz;
    bool consent, seated, check;
} sac_xr_options;

typedef struct sac_xr_run {
    const sac_xr_options *options;
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
} sac_xr_run;

/* For the screens: counted, and on standard error. `user` is the run. */
void sac_xr_run_message(const char *text, void *user);
/* Ctrl-C and SIGTERM end the session in order; the second time at once. */
sac_result sac_xr_run_go(sac_xr_run *run, sac_error *error);

json_t *sac_xr_run_json(const sac_xr_run *run);
void sac_xr_run_say(const sac_xr_run *run);
/* frames.csv and mangohud.csv. */
sac_result sac_xr_run_write(const sac_xr_run *run, const char *folder, sac_error *error);

#endif
