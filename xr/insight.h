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
 *   sac_insight_fini(&insight);
 *
 * Bright is what matters: the first priority group, the finest level, the most visible error left. The scale
 * rises in lightness all the way, so it reads the same to colour-blind eyes and on paper.
 *
 * Index: sac_insight_init  sac_insight_fini  sac_insight_note  sac_insight_colour
 *        sac_insight_build  sac_insight_strip  sac_insight_legend  sac_insight_scale
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
/* Spheres of fronts drawn at once; of more, the nearest to the eye. */
#define SAC_INSIGHT_MOST_BALLS 12000u

typedef struct sac_insight {
    sac_paint paint;
    bool front, contacts, gaze, rings, strip;
    sac_step_report frames[SAC_INSIGHT_FRAMES]; /* a ring */
    uint32_t frame_count, frame_next;
    uint64_t missed; /* display periods, told by the session */
    uint32_t groups; /* there are; from the reports, 8 until then */
    uint32_t levels; /* the deepest there is; grows with what the reports tell, 3 until then */
    /* Private: room that is kept from frame to frame. */
    sac_array(sac_front_view) spheres;
    sac_array(sac_contact_view) touches;
    sac_array(uint64_t) known;
} sac_insight;

typedef sac_array(sac_line) sac_line_array;
typedef sac_array(sac_ball) sac_ball_array;

void sac_insight_init(sac_insight *insight);
void sac_insight_fini(sac_insight *insight);
void sac_insight_note(sac_insight *insight, const sac_step_report *report);
/* Leaves colour and glow alone when the paint is MATERIAL or the body is static. Bodies asleep or in no pair
 * are grey; with fronts or contacts switched on those that move are seen through. */
void sac_insight_colour(const sac_insight *insight, const sac_body_state *state, sac_instance *instance);
/* Front spheres, contacts with impulses, gaze ray and eccentricity rings (5, 10, 20, 30 degrees), as switched
 * on; viewer may be NULL: no rings. Without gaze the rings are dashed, about the head's axis. False when out
 * of memory. */
bool sac_insight_build(sac_insight *insight, const sac_world *world, const sac_viewer *viewer,
                       sac_line_array *lines, sac_ball_array *balls);
/* Budget, reserved, spent, returned of the last frames, in a box of this size with its lower left corner at
 * the canvas's origin. Letters are a twelfth of its height: readable from about 110 on. */
bool sac_insight_strip(const sac_insight *insight, sac_canvas *canvas, float width, float height);
/* What the colours and lines that are switched on mean, upwards from (x, y), letters `size` high; nothing
 * when nothing is. */
bool sac_insight_legend(const sac_insight *insight, sac_canvas *canvas, float x, float y, float size);
/* Colour-blind safe scale, t 0 to 1: dark blue to yellow. */
uint32_t sac_insight_scale(float t);
/* The colour of a value under a paint other than MATERIAL; as sac_insight_colour uses it. */
uint32_t sac_insight_group_colour(const sac_insight *insight, uint32_t group);
uint32_t sac_insight_level_colour(const sac_insight *insight, uint32_t level);
uint32_t sac_insight_jnd_colour(float jnd);

#endif
