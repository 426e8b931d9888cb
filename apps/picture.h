/* Pictures: pixels, lettering, PNG.
 *
 *   sac_picture picture;
 *   sac_picture_init(&picture, 640, 480);
 *   sac_picture_text(&picture, 320, 460, 16, SAC_TEXT_MIDDLE, ink, "level 1");
 *   sac_picture_save(&picture, "knot.png", &error);
 *   sac_picture_fini(&picture);
 *
 * Index: sac_picture_init  sac_picture_fini  sac_picture_text  sac_picture_text_width  sac_picture_png
 *        sac_picture_save  sac_pixels_save
 */
#ifndef SAC_APPS_PICTURE_H
#define SAC_APPS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct sac_picture {
    uint32_t width, height;
    float (*pixels)[3]; /* linear light, rows from the top */
} sac_picture;

typedef enum sac_text_place { SAC_TEXT_LEFT, SAC_TEXT_MIDDLE, SAC_TEXT_RIGHT } sac_text_place;

/* Linear light from an sRGB colour 0xrrggbb. */
void sac_colour_from_srgb(uint32_t srgb, float out[3]);

/* White. False when out of memory. */
bool sac_picture_init(sac_picture *picture, uint32_t width, uint32_t height);
void sac_picture_fini(sac_picture *picture);

/* One line in the program's own lettering; (x, y) is on the baseline, `size` the height of capitals in
 * pixels, `weight` 1 for plain. Characters without a letter form are left blank. */
void sac_picture_text(sac_picture *picture, float x, float y, float size, float weight, sac_text_place place,
                      const float colour[3], const char *text);
float sac_picture_text_width(float size, const char *text);

/* The bytes of a PNG file; release with free(). NULL when out of memory. */
uint8_t *sac_picture_png(const sac_picture *picture, size_t *out_size);
sac_result sac_picture_save(const sac_picture *picture, const char *path, sac_error *error);
/* Pixels as they are, RGBA in sRGB, rows from the top, as PNG; alpha is left out. */
sac_result sac_pixels_save(const uint8_t *rgba, uint32_t width, uint32_t height, const char *path,
                           sac_error *error);

#endif
