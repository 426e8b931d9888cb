/* A desktop window: the renderer on a monitor, keys and mouse as input.
 *
 *   sac_window *window;
 *   if (sac_window_open(&renderer_def, "Saccade", 1280, 800, &window, &error) == SAC_OK)
 *       while (sac_window_poll(window, &input), !input.closed) ... sac_window_draw(window, &drawing, &stats,
 * &error);
 *
 * Index: sac_window_possible  sac_window_open  sac_window_poll  sac_window_draw  sac_window_close
 */
#ifndef SAC_XR_WINDOW_H
#define SAC_XR_WINDOW_H

#include "drawing.h"

typedef struct sac_window sac_window;

enum { SAC_WINDOW_MOST_KEYS = 32 };

/* Since the last poll. */
typedef struct sac_window_input {
    bool closed, focused;
    uint32_t width, height; /* pixels */
    float mouse[2];         /* pixels from the lower left corner */
    float drag[2];          /* moved with the left button held, pixels */
    float scroll;
    bool left, right, middle, shift; /* held */
    uint32_t key_count;
    int keys[SAC_WINDOW_MOST_KEYS]; /* pressed (repeats included): ASCII of the US layout, capitals; SAC_KEY_
                                     */
} sac_window_input;

enum {
    SAC_KEY_ESCAPE = 256,
    SAC_KEY_LEFT,
    SAC_KEY_RIGHT,
    SAC_KEY_UP,
    SAC_KEY_DOWN,
    SAC_KEY_ENTER,
    SAC_KEY_TAB,
    SAC_KEY_F1
};

/* Is there a display to open a window on? */
bool sac_window_possible(void);
sac_result sac_window_open(const sac_renderer_def *def, const char *title, uint32_t width, uint32_t height,
                           sac_window **out_window, sac_error *error);
void sac_window_close(sac_window **window);
void sac_window_poll(sac_window *window, sac_window_input *out_input);
/* Minimised or zero-sized: nothing is drawn, SAC_OK. */
sac_result sac_window_draw(sac_window *window, const sac_drawing *drawing, sac_screen_stats *out_stats,
                           sac_error *error);
/* The picture last drawn, rows from the top, RGBA sRGB; released with sac_free(p, w*h, 4). */
sac_result sac_window_capture(sac_window *window, uint8_t **out_rgba, uint32_t *out_width,
                              uint32_t *out_height, sac_error *error);

#endif
