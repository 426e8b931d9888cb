/* The first page of saccade demo: a hailstorm watched by a scripted eye, as a video where ffmpeg is there and
 * as a strip of pictures where not; its frame times, those inside an OpenXR frame loop when there are any,
 * and the same storm without a scheduler.
 *
 * Index: sac_demo_storm
 */
#ifndef SAC_APPS_DEMO_STORM_H
#define SAC_APPS_DEMO_STORM_H

#include "apps/demo_trees.h"

/* Writes index.html and what it shows to the folder. `books`: frames.csv of saccade xr, NULL: none. The page
 * links to pile.html and trees.html. *out_json has "compare", "video" and "books". */
sac_result sac_demo_storm(const sac_demo_def *def, const char *books, json_t **out_json, sac_error *error);

#endif
