/* Options that saccade xr, view and render have in common, and what becomes of them.
 *
 *   sac_show_options o = sac_default_show_options();
 *   sac_option options[SAC_SHOW_OPTIONS + 2] = {{"frames", ...}, {"size", ...}};
 *   size_t count = 2 + sac_show_options_list(&o, options + 2);
 *   ...sac_options_parse...
 *   sac_show_options_apply(&o, &common, &def, &error);      // checks policy, paint
 *   sac_show_options_switch(&o, sac_show_insight(show));
 *
 * Index: sac_default_show_options  sac_show_options_list  sac_show_options_apply  sac_show_options_switch
 *        sac_paint_named  sac_paint_name
 */
#ifndef SAC_APPS_SHOW_OPTIONS_H
#define SAC_APPS_SHOW_OPTIONS_H

#include "apps/options.h"
#include "apps/show.h"

enum { SAC_SHOW_OPTIONS = 15 };

typedef struct sac_show_options {
    const char *scene, *policy, *gaze, *shape, *paint, *record;
    uint32_t bodies, substeps;
    double budget_us, step_hz;
    sac_reseed seed; /* instead of the scene's own */
    bool credits, front, contacts, ray, rings, strip;
} sac_show_options;

/* Budget 4 ms, gaze at the middle. */
sac_show_options sac_default_show_options(void);
/* Fills SAC_SHOW_OPTIONS entries and returns that number. */
size_t sac_show_options_list(sac_show_options *options, sac_option *out);
/* ERROR_ARGUMENT names what is wrong, and what may be meant. */
sac_result sac_show_options_apply(const sac_show_options *options, const sac_common *common,
                                  sac_show_def *out_def, sac_error *error);
void sac_show_options_switch(const sac_show_options *options, sac_insight *insight);
/* "group", ...; SAC_PAINTS when there is none of this name. */
sac_paint sac_paint_named(const char *name);
const char *sac_paint_name(sac_paint paint);

/* For the help: what SCENE may be. */
extern const char sac_show_scenes[];

#endif
