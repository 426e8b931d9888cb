/* The scheduler made visible: bodies coloured by what was decided about them, fronts, contacts, gaze, and a
 * strip of frame times. Appends to the arrays of a frame.
 *
 *   sac_insight insight;
 *   sac_insight_init(&insight);
 *   insight.paint = SAC_PAINT_JND, insight.rings = true;
 *   sac_insight_note(&insight, &report);                             // after each step
 *   sac_insight_colour(&insight, &state, &instance);                 // for each body
 *   sac_insight_build(&insight, world, &viewer, &lines, &balls);     // once a frame
 *   sac_insight_strip(&insight, &canvas, width, height);
 *
 * Index: sac_insight_init  sac_insight_note  sac_insight_colour  sac_insight_build  sac_insight_strip
 * sac_insight_legend
 */
#ifndef SAC_XR_INSIGHT_H
#define SAC_XR_INSIGHT_H

#include "drawing.h"

typedef enum sac_paint {
    SAC_PAINT_MATERIAL, /* as they are */
    SAC_PAINT_GROUP,    /* priority group of the most visible pair */
    SAC_PAINT_LEVEL,    /* level its contacts were read at */
    SAC_PAINT_JND,      /* visible error left */
    SAC_PAINTS
} sac_paint;

enum { SAC_INSIGHT_FRAMES = 240 };

typedef struct sac_insight {
    sac_paint paint;
    bool front, contacts, gaze, rings, strip;
    sac_step_report frames[SAC_INSIGHT_FRAMES]; /* a ring */
    uint32_t frame_count, frame_next;
    uint64_t missed; /* display periods, told by the session */
} sac_insight;

typedef sac_array(sac_line) sac_line_array;
typedef sac_array(sac_ball) sac_ball_array;

void sac_insight_init(sac_insight *insight);
void sac_insight_note(sac_insight *insight, const sac_step_report *report);
/* Leaves colour and glow alone when the paint is MATERIAL or the body is static. */
void sac_insight_colour(const sac_insight *insight, const sac_body_state *state, sac_instance *instance);
/* Front spheres, contacts with impulses, gaze ray and eccentricity rings (5, 10, 20, 30 degrees), as switched
 * on. False when out of memory. */
bool sac_insight_build(const sac_insight *insight, const sac_world *world, const sac_viewer *viewer,
                       sac_line_array *lines, sac_ball_array *balls);
/* Budget, reserved, spent, returned of the last frames, in a box of this size. */
bool sac_insight_strip(const sac_insight *insight, sac_canvas *canvas, float width, float height);
/* What the colours mean. */
bool sac_insight_legend(const sac_insight *insight, sac_canvas *canvas, float x, float y, float size);
/* Colour-blind safe scale, t 0 to 1: dark blue to yellow. */
uint32_t sac_insight_scale(float t);

#endif
