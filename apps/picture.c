#include "apps/picture.h"

#include <math.h>
#include <stdlib.h>

#include "apps/whole_file.h"
#include "base/memory.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

void sac_colour_from_srgb(uint32_t srgb, float out[3])
{
    for (int i = 0; i < 3; i++) {
        float c = (float)((srgb >> (16 - 8 * i)) & 255u) / 255.0f;
        out[i] = c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
    }
}

static uint8_t to_srgb(float x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 255;
    float c = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
    return (uint8_t)(c * 255.0f + 0.5f);
}

bool sac_picture_init(sac_picture *picture, uint32_t width, uint32_t height)
{
    *picture = (sac_picture){width, height, sac_alloc((size_t)width * height, sizeof *picture->pixels)};
    if (!picture->pixels) return false;
    for (size_t i = 0; i < (size_t)width * height; i++)
        picture->pixels[i][0] = picture->pixels[i][1] = picture->pixels[i][2] = 1;
    return true;
}

void sac_picture_fini(sac_picture *picture)
{
    sac_free(picture->pixels, (size_t)picture->width * picture->height, sizeof *picture->pixels);
    picture->pixels = NULL;
}

typedef struct png_bytes {
    uint8_t *data;
    size_t size;
    bool failed;
} png_bytes;

static void keep_bytes(void *context, void *data, int size)
{
    png_bytes *bytes = context;
    uint8_t *grown = realloc(bytes->data, bytes->size + (size_t)size);
    if (!grown) {
        bytes->failed = true;
        return;
    }
    bytes->data = grown;
    memcpy(bytes->data + bytes->size, data, (size_t)size);
    bytes->size += (size_t)size;
}

/* Takes the memory of `rgb`: NULL when out of memory. */
static uint8_t *png_of(uint8_t *rgb, uint32_t width, uint32_t height, size_t *out_size)
{
    png_bytes bytes = {0};
    *out_size = 0;
    if (!rgb) return NULL;
    int ok = stbi_write_png_to_func(keep_bytes, &bytes, (int)width, (int)height, 3, rgb, (int)width * 3);
    sac_free(rgb, (size_t)width * height, 3);
    if (!ok || bytes.failed) {
        free(bytes.data);
        return NULL;
    }
    *out_size = bytes.size;
    return bytes.data;
}

uint8_t *sac_picture_png(const sac_picture *picture, size_t *out_size)
{
    size_t count = (size_t)picture->width * picture->height;
    uint8_t *rgb = sac_alloc(count, 3);
    for (size_t i = 0; rgb && i < count; i++)
        for (int k = 0; k < 3; k++) rgb[3 * i + (size_t)k] = to_srgb(picture->pixels[i][k]);
    return png_of(rgb, picture->width, picture->height, out_size);
}

static sac_result save(uint8_t *png, size_t size, const char *path, sac_error *error)
{
    if (!png) return sac_error_set(error, SAC_ERROR_MEMORY, "make it smaller", "no memory for the picture");
    sac_result result = sac_whole_file_write(path, png, size, error);
    free(png);
    return result;
}

sac_result sac_picture_save(const sac_picture *picture, const char *path, sac_error *error)
{
    size_t size;
    uint8_t *png = sac_picture_png(picture, &size);
    return save(png, size, path, error);
}

sac_result sac_pixels_save(const uint8_t *rgba, uint32_t width, uint32_t height, const char *path,
                           sac_error *error)
{
    size_t count = (size_t)width * height, size;
    uint8_t *rgb = sac_alloc(count, 3);
    for (size_t i = 0; rgb && i < count; i++) memcpy(rgb + 3 * i, rgba + 4 * i, 3);
    uint8_t *png = png_of(rgb, width, height, &size);
    return save(png, size, path, error);
}
