#include "apps/show_options.h"

#include <stdio.h>
#include <string.h>

const char sac_show_scenes[] =
    "SCENE is a scene file (docs/files.md), one of the scenes made to be stood in\n"
    "  workshop      a table full of things to grab, stack and throw\n"
    "  hailstorm     knots, gears and springs rain into a courtyard\n"
    "  billiards     a few collisions that matter, seen closely\n"
    "  side-by-side  the same pile at the same budget, left round-robin, right jnd\n"
    "of bodies that bend\n"
    "  flowers       three soft flowers in pots, to be pushed and pulled by hand\n"
    "  three-hundred 300 soft toys of 131,000 points, dropped together\n"
    "  santas        a ring of hanging figures whose fine surfaces follow a few nodes\n"
    "  jelly         soft toys, and rigid knots, gears and springs, in one pile\n"
    "or one of pile burst wake rain stack avalanche orrery (saccade run --help)";

static const char *const paints[SAC_PAINTS + 1] = {"material", "group", "level", "jnd", NULL};

sac_show_options sac_default_show_options(void)
{
    return (sac_show_options){.policy = "jnd",
                              .gaze = "center",
                              .paint = "material",
                              .budget_us = 4000,
                              .step_hz = 90,
                              .substeps = 4};
}

size_t sac_show_options_list(sac_show_options *o, sac_option *out)
{
    const sac_option list[SAC_SHOW_OPTIONS] = {
        {"bodies", 0, SAC_OPTION_UINT, &o->bodies, "N", "of a built-in scene", 1, SAC_STAGING_MOST_BODIES},
        {"shape", 0, SAC_OPTION_TEXT, &o->shape, "NAME", "of a built-in scene's bodies: a mesh, or t24", 0,
         0},
        {"seed", 0, SAC_OPTION_RESEED, &o->seed, "N", "of what is random (default: the scene's own)", 0, 0},
        {"policy", 'p', SAC_OPTION_TEXT, &o->policy, "NAME",
         "exhaustive fifo random round-robin distance sort groups:N\nprobability jnd (default)", 0, 0},
        {"budget-us", 'b', SAC_OPTION_NUMBER, &o->budget_us, "US",
         "the most for a step; 0: no limit (default 4000)", 0, 1e6},
        {"step-hz", 0, SAC_OPTION_NUMBER, &o->step_hz, "RATE", "steps a second, 20 to 1000 (default 90)", 20,
         1000},
        {"substeps", 0, SAC_OPTION_UINT, &o->substeps, "N", "of a step, 1 to 16 (default 4)", 1, 16},
        {"credits", 0, SAC_OPTION_FLAG, &o->credits, NULL,
         "count work instead of time: the same on every machine", 0, 0},
        {"record", 'r', SAC_OPTION_TEXT, &o->record, "FILE", "record for saccade replay", 0, 0},
        {"paint", 0, SAC_OPTION_TEXT, &o->paint, "WHAT",
         "colour bodies by group, level or jnd instead of material", 0, 0},
        {"front", 0, SAC_OPTION_FLAG, &o->front, NULL, "draw the spheres contacts were read from", 0, 0},
        {"contacts", 0, SAC_OPTION_FLAG, &o->contacts, NULL, "draw contacts and impulses", 0, 0},
        {"gaze-ray", 0, SAC_OPTION_FLAG, &o->ray, NULL, "draw the gaze", 0, 0},
        {"rings", 0, SAC_OPTION_FLAG, &o->rings, NULL, "draw rings of 5, 10, 20 and 30 degrees about it", 0,
         0},
        {"strip", 0, SAC_OPTION_FLAG, &o->strip, NULL,
         "draw the strip of frame times: budget, reserved, spent", 0, 0},
    };
    memcpy(out, list, sizeof list);
    return SAC_SHOW_OPTIONS;
}

sac_paint sac_paint_named(const char *name)
{
    for (int i = 0; i < SAC_PAINTS; i++)
        if (strcmp(paints[i], name) == 0) return (sac_paint)i;
    return SAC_PAINTS;
}

const char *sac_paint_name(sac_paint paint) { return paint < SAC_PAINTS ? paints[paint] : ""; }

static sac_result meant(const char *what, const char *word, const char *const *names, const char *otherwise,
                        sac_error *error)
{
    char remedy[96];
    const char *close = sac_options_suggest(word, names);
    snprintf(remedy, sizeof remedy, "did you mean %s?", close ? close : "");
    return sac_error_set(error, SAC_ERROR_ARGUMENT, close ? remedy : otherwise, "there is no %s '%.60s'",
                         what, word);
}

sac_result sac_show_options_apply(const sac_show_options *o, const sac_common *common, sac_show_def *out,
                                  sac_error *error)
{
    const char *names[33] = {0};
    for (uint32_t i = 0; i < 32 && sac_policy_name(i); i++) names[i] = sac_policy_name(i);
    if (!sac_policy_find(o->policy, error))
        return meant(
            "policy", o->policy, names,
            "use exhaustive, fifo, random, round-robin, distance, sort, groups:N, probability or jnd", error);
    if (sac_paint_named(o->paint) == SAC_PAINTS)
        return meant("paint", o->paint, paints, "use material, group, level or jnd", error);
    *out = sac_default_show_def();
    out->scene = o->scene;
    out->staging = (sac_staging_def){
        .bodies = o->bodies, .shape = o->shape, .seed = o->seed.seed, .seed_given = o->seed.given};
    if (o->seed.given) out->seed = o->seed.seed;
    out->policy = o->policy;
    out->budget_ns = (uint64_t)(o->budget_us * 1e3 + 0.5);
    out->hz = o->step_hz;
    out->substeps = o->substeps;
    out->threads = common->threads;
    out->credits = o->credits;
    out->record = o->record;
    return SAC_OK;
}

void sac_show_options_switch(const sac_show_options *o, sac_insight *insight)
{
    insight->paint = sac_paint_named(o->paint);
    insight->front = o->front;
    insight->contacts = o->contacts;
    insight->gaze = o->ray;
    insight->rings = o->rings;
    insight->strip = o->strip;
}
