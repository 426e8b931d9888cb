/* What there is to draw. A gallery holds the meshes, on the CPU side, and outlives every device; a drawing is
 * one frame: plain arrays of instances, lines, balls and panels that a screen (session, window, offscreen)
 * streams to the GPU and forgets.
 *
 *   sac_gallery *gallery;
 *   sac_gallery_create(&gallery, &error);
 *   uint32_t knot;
 *   sac_gallery_add_mesh(gallery, mesh, &knot, &error);
 *   ...
 *   sac_drawing drawing = sac_default_drawing();
 *   drawing.views = eyes, drawing.view_count = 2;
 *   drawing.instances = instances, drawing.instance_count = count;
 *   sac_offscreen_draw(offscreen, &drawing, &stats, &error);
 *
 * Colours are sRGB, 0xAABBGGRR in a word (red in the lowest byte), as people write them; the renderer works
 * in linear light.
 *
 * Index: sac_gallery_create  sac_gallery_destroy  sac_gallery_add_mesh  sac_gallery_add_spheres
 *        sac_gallery_add_skin  sac_default_drawing  sac_default_renderer_def  sac_canvas_clear
 *        sac_canvas_rect  sac_canvas_line  sac_canvas_text  sac_canvas_text_width
 */
#ifndef SAC_XR_DRAWING_H
#define SAC_XR_DRAWING_H

#include "../runtime/world.h"

/* ---- the gallery ---- */

enum { SAC_GALLERY_LEVELS = 4 }; /* render levels of a mesh, by distance */

typedef struct sac_gallery sac_gallery;

sac_result sac_gallery_create(sac_gallery **out_gallery, sac_error *error);
void sac_gallery_destroy(sac_gallery **gallery);
/* Simplified into up to SAC_GALLERY_LEVELS levels; creases sharper than 40 degrees stay sharp. The mesh is
 * copied. */
sac_result sac_gallery_add_mesh(sac_gallery *gallery, const sac_mesh *mesh, uint32_t *out_model,
                                sac_error *error);
/* The visible surface of a union of spheres (x, y, z, r). */
sac_result sac_gallery_add_spheres(sac_gallery *gallery, const float (*spheres)[4], uint32_t count,
                                   uint32_t *out_model, sac_error *error);
/* A mesh that bends: vertex i follows joint[first[i]] up to joint[first[i + 1] - 1], as in soft_shape.h. Of
 * more than SAC_GALLERY_INFLUENCES the heaviest count, scaled to sum 1. Creases over 80 degrees stay sharp.
 */
enum { SAC_GALLERY_INFLUENCES = 8 };
typedef struct sac_gallery_skin {
    const uint32_t *first, *joint;
    const float *weight;
    uint32_t joint_count;
    const uint32_t *colours; /* of each vertex, alpha: how much of it, the rest is the body's; NULL: none */
} sac_gallery_skin;
sac_result sac_gallery_add_skin(sac_gallery *gallery, const sac_mesh *mesh, const sac_gallery_skin *skin,
                                uint32_t *out_model, sac_error *error);

/* ---- one frame ---- */

/* 48 bytes, streamed as they are. */
typedef struct sac_instance {
    float rotation[4]; /* x, y, z, w */
    float position[3], scale;
    uint32_t model;  /* of the gallery */
    uint32_t colour; /* alpha below 255: a ghost, drawn after the rest without shadow */
    float gloss;     /* 0 chalk to 1 lacquer */
    float glow;      /* 0 lit by the light, 1 shines by itself */
} sac_instance;

/* What bends, 48 bytes too: a vertex x goes to origin + sum of weight times joint (x, 1), its normal along.
 */
typedef struct sac_skinned {
    float origin[3]; /* of the world the joints are in */
    uint32_t model;  /* a skin of the gallery */
    uint32_t first_joint;
    uint32_t colour;
    float gloss, glow;       /* what shines shines in its own colour, not in its vertices' */
    float centre[3], radius; /* a ball it is in now, origin included: whose ball nobody sees is not drawn */
} sac_skinned;
/* Rows of the matrix that takes rest positions where they are now. */
typedef float sac_joint[3][4];

typedef struct sac_line {
    float from[3];
    uint32_t colour;
    float to[3];
    float width; /* pixels at arm's length (0.7 m), constant on screen when negative */
} sac_line;

/* A sphere drawn exactly (an impostor, not a mesh). */
typedef struct sac_ball {
    float centre[3], radius;
    uint32_t colour; /* alpha below 255: a soap bubble, rim brighter than the middle */
} sac_ball;

/* Rectangles, lines and text in the plane. */
typedef struct sac_canvas_quad {
    float x, y, w, h;   /* lower left corner, size */
    float u, v, uw, vh; /* in the letters' texture; uw 0: plain colour */
    float ax, ay;       /* direction of the width, unit: (1, 0) unless it is a line */
    uint32_t colour;
} sac_canvas_quad;
typedef struct sac_canvas {
    sac_array(sac_canvas_quad) quads;
} sac_canvas;
void sac_canvas_clear(sac_canvas *canvas);
void sac_canvas_fini(sac_canvas *canvas);
/* False when out of memory; nothing is drawn then. */
bool sac_canvas_rect(sac_canvas *canvas, float x, float y, float w, float h, uint32_t colour);
bool sac_canvas_line(sac_canvas *canvas, float x0, float y0, float x1, float y1, float width,
                     uint32_t colour);
/* Baseline at y, letters `size` high (capitals 0.7 of it). UTF-8; what the letters lack is shown as a box. */
bool sac_canvas_text(sac_canvas *canvas, float x, float y, float size, uint32_t colour, const char *text);
float sac_canvas_text_width(float size, const char *text);

/* A canvas somewhere: on the screen (units are pixels, origin at the lower left), or in the world. */
typedef struct sac_panel {
    const sac_canvas *canvas;
    bool in_world;     /* else in screen space: view 0 and 1 alike, over everything */
    float position[3]; /* in_world: of the canvas's origin */
    float rotation[4]; /* x right, y up on the canvas, z towards the reader */
    float unit;        /* in_world: metres a canvas unit */
    float x, y;        /* on screen: pixels from the lower left corner; negative: from the other side */
} sac_panel;

typedef struct sac_sky {
    float sun[3]; /* direction to the light, need not be unit */
    uint32_t horizon, zenith, ground;
    bool grid; /* a ground grid at ground_height */
    float ground_height;
    float shadow_reach; /* metres around the focus that get the shadow map */
    float focus[3];     /* what the shadow map is centred on */
} sac_sky;

enum { SAC_DRAWING_MOST_VIEWS = 2, SAC_DRAWING_MOST_PANELS = 8 };

typedef struct sac_drawing {
    const sac_eye *views; /* pose and fov, as in viewer.h. XR: what xrLocateViews said */
    uint32_t view_count;  /* 1 or 2; 2 side by side offscreen and in a window */
    const sac_instance *instances;
    uint32_t instance_count;
    const sac_skinned *skinned;
    uint32_t skinned_count;
    /* Of all skinned ones, one after another. With joints_before the picture lies between: `blend` 0 is
     * before, 1 is now. */
    const sac_joint *joints, *joints_before;
    uint32_t joint_count;
    float blend;
    const sac_line *lines;
    uint32_t line_count;
    const sac_ball *balls;
    uint32_t ball_count;
    sac_panel panels[SAC_DRAWING_MOST_PANELS];
    uint32_t panel_count;
    sac_sky sky;
    float near_plane; /* default 0.05 m; the far plane is at infinity */
} sac_drawing;
sac_drawing sac_default_drawing(void);

/* ---- how it is drawn ---- */

typedef void sac_screen_message(const char *text, void *user);

typedef struct sac_renderer_def {
    const sac_gallery *gallery; /* must outlive the screen; nothing is added once a screen has it */
    uint32_t samples;           /* of MSAA: 1, 2, 4, 8; the most the device has up to this; default 4 */
    bool multiview;             /* both eyes in one pass where the device can; default true */
    uint32_t shadow_size;       /* texels, default 2048, up to 1024 in software; 0: no shadow */
    float level_pixels;         /* coarser levels are taken while they are off by less than a sixth of
                                   this; 0: always the finest; default 6 */
    bool validation;    /* Vulkan's validation layer; default: environment SACCADE_VALIDATION is set */
    const char *device; /* part of the device's name; NULL: the best */
    sac_screen_message *message; /* warnings and validation text; NULL: standard error */
    void *user;
} sac_renderer_def;
sac_renderer_def sac_default_renderer_def(void);

typedef struct sac_screen_stats {
    char device[128];
    bool multiview, validation;
    uint32_t samples;
    uint32_t width, height;               /* of a view */
    uint32_t instances, triangles, draws; /* of the last frame */
    uint64_t prepare_ns; /* CPU time of this room: sorting and streaming instances, recording commands; the
                            driver's submit and waits excluded */
    uint64_t submit_ns;  /* wall: in the driver's submit and waits */
    uint64_t gpu_ns;     /* of the last frame that has come back; 0: unknown */
    uint32_t messages;   /* of the validation layer so far */
} sac_screen_stats;

#endif
