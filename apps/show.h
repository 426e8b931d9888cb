/* A show: a staging on its feet, stepped against display time and turned into drawings. What saccade xr, view
 * and render have in common; they differ in where time, eyes, gaze and hands come from and where pictures go.
 *
 *   sac_show_def def = sac_default_show_def();
 *   def.scene = "hailstorm";
 *   sac_show *show;
 *   sac_show_open(&def, &show, &error);                       // reads, bakes, makes the gallery
 *   renderer_def.gallery = sac_show_gallery(show);
 *   ...
 *   sac_show_frame frame = {.display_ns = predicted, .deadline_ns = slice, .viewer = viewer};
 *   sac_show_advance(show, &frame, &error);                   // so many fixed steps, perhaps none
 *   sac_show_draw(show, eyes, eye_count, &look, &drawing, &error);   // valid until the next call
 *   ...
 *   sac_show_close(&show);                                    // after the screen that has its gallery
 *
 * The picture lies between the last two states, so that the motion is the same at any refresh rate. After
 * warm-up a frame allocates nothing.
 *
 * Index: sac_default_show_def  sac_show_open  sac_show_close  sac_show_gallery  sac_show_advance
 *        sac_show_draw  sac_show_insight  sac_show_hands  sac_show_world_at  sac_show_staging sac_show_ticker
 *        sac_show_viewer  sac_show_policy  sac_show_set_policy  sac_show_set_budget  sac_show_load
 *        sac_show_stats_get
 */
#ifndef SAC_APPS_SHOW_H
#define SAC_APPS_SHOW_H

#include "apps/staging.h"
#include "xr/xr.h"

enum { SAC_SHOW_MOST_WORLDS = 2 };

typedef struct sac_show sac_show;

typedef struct sac_show_def {
    const char *scene; /* built-in, or a scene file: a name with a dot or slash in it */
    sac_staging_def staging;
    const char *policy;         /* default "jnd"; a scene of two worlds brings its own */
    uint64_t budget_ns;         /* most for one step of one world; 0: no limit; default 2 ms */
    double hz;                  /* steps a second; default 90 */
    uint32_t substeps, threads; /* default 4, 1 */
    uint64_t seed;              /* default 1 */
    bool credits;               /* count work instead of time: deadlines are left out of account */
    bool hands;                 /* default false; two worlds have no hands */
    const char *record;         /* of the first world; NULL: none */
} sac_show_def;
sac_show_def sac_default_show_def(void);

/* Errors name scene, file and remedy. */
sac_result sac_show_open(const sac_show_def *def, sac_show **out_show, sac_error *error);
void sac_show_close(sac_show **show);
const sac_gallery *sac_show_gallery(const sac_show *show);

/* ---- a frame ---- */

typedef struct sac_show_frame {
    int64_t display_ns;   /* when the picture is to be seen, on any clock that does not jump */
    uint64_t deadline_ns; /* for physics, monotonic clock; 0: the budget alone. Steps and worlds share it. */
    uint64_t now_ns;      /* on the clock of the gaze samples; 0: the display time */
    sac_viewer viewer;    /* eyes and gaze, world; its hands are filled in. Used by this frame's steps. */
    sac_hand_input hands[SAC_HANDS];
    uint32_t missed; /* display periods before this frame, for the strip */
} sac_show_frame;

/* Takes the steps that are due. Zero steps are a frame too. */
sac_result sac_show_advance(sac_show *show, const sac_show_frame *frame, sac_error *error);
/* One step whatever the time: a paused show moved on by hand. */
sac_result sac_show_step(sac_show *show, sac_error *error);

/* Where panels go. */
typedef struct sac_show_look {
    bool wrist;             /* strip and legend near the left wrist, or before the head; else in a corner */
    uint32_t width, height; /* of a view in pixels, for the corner */
    bool no_strip;          /* not this once, whatever the insight says */
} sac_show_look;

/* Fills the drawing: sky, instances, lines, balls, panels. It points into the show and into `eyes`, and is
 * good until the next call of the show. More panels may be added. */
sac_result sac_show_draw(sac_show *show, const sac_eye *eyes, uint32_t eye_count, const sac_show_look *look,
                         sac_drawing *out_drawing, sac_error *error);

/* ---- looking at it, changing it ---- */

sac_insight *sac_show_insight(sac_show *show); /* its switches are the caller's */
/* NULL without hands. `pulse` tells the haptic strength after an advance: the most of its steps. */
const sac_hands *sac_show_hands(const sac_show *show);
uint32_t sac_show_worlds(const sac_show *show);
const sac_world *sac_show_world_at(const sac_show *show, uint32_t index);
const sac_staging *sac_show_staging(const sac_show *show);
/* rate: slow motion, pause. */
sac_ticker *sac_show_ticker(sac_show *show);
/* The scene's own viewer, no gaze. */
sac_viewer sac_show_viewer(const sac_show *show);
const char *sac_show_policy(const sac_show *show, uint32_t world);
sac_result sac_show_set_policy(sac_show *show, const char *policy, sac_error *error);
uint64_t sac_show_budget(const sac_show *show);
void sac_show_set_budget(sac_show *show, uint64_t budget_ns);
/* More bodies from above, or (negative) fewer, the latest first. Returns by how many it changed. */
int32_t sac_show_load(sac_show *show, int32_t bodies);
/* Back to the first frame. */
sac_result sac_show_restart(sac_show *show, sac_error *error);

typedef struct sac_show_stats {
    uint64_t frames, steps;
    uint32_t frame_steps; /* of the last frame, in each world */
    uint32_t bodies;      /* dynamic, drawn last */
    uint64_t physics_ns;  /* of the last frame, wall: all steps of all worlds */
    uint64_t own_ns;      /* of the last frame, CPU: events, interpolation, colours, lines; no physics */
    uint32_t allocations; /* of the last frame, inside steps */
    sac_step_report report[SAC_SHOW_MOST_WORLDS]; /* of the last step */
} sac_show_stats;
void sac_show_stats_get(const sac_show *show, sac_show_stats *out_stats);

#endif
