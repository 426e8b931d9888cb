/* A picture in memory: the renderer without a display.
 *
 *   sac_offscreen *offscreen;
 *   sac_offscreen_create(&renderer_def, 1280, 720, &offscreen, &error);
 *   sac_offscreen_draw(offscreen, &drawing, &stats, &error);
 *   const uint8_t *rgba = sac_offscreen_pixels(offscreen);   // rows from the top, sRGB, until the next draw
 *
 * Index: sac_offscreen_create  sac_offscreen_draw  sac_offscreen_pixels  sac_offscreen_destroy
 */
#ifndef SAC_XR_OFFSCREEN_H
#define SAC_XR_OFFSCREEN_H

#include "drawing.h"

typedef struct sac_offscreen sac_offscreen;

/* Width and height of the whole picture; two views share it side by side. */
sac_result sac_offscreen_create(const sac_renderer_def *def, uint32_t width, uint32_t height,
                                sac_offscreen **out_offscreen, sac_error *error);
void sac_offscreen_destroy(sac_offscreen **offscreen);
/* Draws and waits for the picture. stats may be NULL. */
sac_result sac_offscreen_draw(sac_offscreen *offscreen, const sac_drawing *drawing,
                              sac_screen_stats *out_stats, sac_error *error);
const uint8_t *sac_offscreen_pixels(const sac_offscreen *offscreen);

#endif
