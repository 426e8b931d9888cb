/* Between what is seen where (visibility.c) and how it is lit (light.c). */
#ifndef SAC_APPS_RENDER_INTERNAL_H
#define SAC_APPS_RENDER_INTERNAL_H

#include <math.h>

#include "apps/scene.h"

static inline float dot3(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* fminf and fmaxf are calls, for the sake of NaN; there is none here. */
static inline float lesser(float a, float b) { return a < b ? a : b; }
static inline float greater(float a, float b) { return a > b ? a : b; }

/* Zero stays zero. */
static inline void unit3(float v[3])
{
    float length = sqrtf(dot3(v, v)), inverse = length > 0 ? 1.0f / length : 0;
    for (int k = 0; k < 3; k++) v[k] *= inverse;
}

enum { SAC_BAND_ROWS = 16, SAC_PIXEL_SAMPLES = 4 /* each way */, SAC_GROUND_STEP = 2 /* pixels */ };

typedef enum sac_lit_kind { SAC_LIT_GROUND, SAC_LIT_CLAY, SAC_LIT_BALL } sac_lit_kind;

/* A piece of a pixel that shows one surface. */
typedef struct sac_lit_point {
    float position[3], normal[3], albedo[3];
    float weight;   /* share of the pixel; of the ground: how much of the shadow is shown */
    uint32_t pixel; /* of the ground: node of the coarse grid */
    sac_lit_kind kind;
    /* filled by the lights */
    float diffuse[3], gloss, sky, sky_all;
    float shade, shade_height; /* of the ground: light kept off, and how far up by, weighted by it */
} sac_lit_point;

typedef sac_array(sac_lit_point) sac_lit_list;

/* What lies over the solid things of a pixel: colour times alpha, and alpha. */
typedef struct sac_overlay {
    float colour[3], alpha;
} sac_overlay;

typedef struct sac_render {
    const sac_scene *scene;
    const sac_camera *camera;
    uint32_t width, height, bands, threads;
    float ground;            /* height of the ground along camera->upright */
    float centre[3], radius; /* ball around what casts shadows */
    float key_direction[3];  /* towards the main light */
    sac_lit_list *points;    /* of each band */
    uint32_t ground_columns, ground_rows;
    float (*ground_light)[3]; /* share of its light the ground gets, on a grid of SAC_GROUND_STEP pixels */
    float *ground_soft;       /* of each node of that grid: how wide its shadow blurs, in nodes */
    float *backdrop;          /* share of each pixel that shows the backdrop */
    sac_overlay *bubbles, *marks; /* of each pixel */
    _Atomic bool failed;          /* out of memory */
} sac_render;

/* Fills points, backdrop, bubbles and marks. */
void sac_render_visibility(sac_render *render);
/* Fills the lit part of the points, ground_light and ground_soft. */
void sac_render_light(sac_render *render);
/* Blurs ground_light as wide as ground_soft says. */
void sac_render_soften_ground(sac_render *render);

#endif
