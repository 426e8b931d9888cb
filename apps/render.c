/* From a scene to pixels: what is seen, how it is lit, and the colours that makes. */
#include "apps/render_internal.h"

#include <string.h>

/* The backdrop at height y of the whole picture, 0 at the top: panels side by side join without a seam. */
static void backdrop_colour(float y, float out[3])
{
    float top[3], bottom[3];
    sac_colour_from_srgb(0xf6f5f2, top);
    sac_colour_from_srgb(0xe9e7e2, bottom);
    for (int k = 0; k < 3; k++) out[k] = top[k] + (bottom[k] - top[k]) * y * y;
}

/* Straight up to 0.7, then ever flatter: highlights keep their colour. */
static float soft_clip(float x) { return x < 0.7f ? x : 0.7f + 0.3f * (1 - expf(-(x - 0.7f) / 0.3f)); }

static void point_colour(const sac_render *render, const sac_lit_point *p, float out[3])
{
    const float *up = render->camera->upright;
    float v[3], length = 0, open = p->sky_all > 0 ? p->sky / p->sky_all : 0.5f;
    for (int k = 0; k < 3; k++) v[k] = render->camera->eye[k] - p->position[k], length += v[k] * v[k];
    length = sqrtf(length);
    for (int k = 0; k < 3; k++) v[k] /= length;
    float facing = fmaxf(0, dot3(p->normal, v)), upward = dot3(p->normal, up);
    /* What a surface reflects of the room: sky above, ground below, more at the rim. */
    float mirror = 2 * facing * upward - dot3(v, up), room = 0.55f + 0.45f * fmaxf(-1, fminf(1, mirror));
    float edge = powf(1 - facing, 5),
          fresnel = p->kind == SAC_LIT_BALL ? 0.035f + 0.50f * edge : 0.12f * edge;
    float gloss = p->kind == SAC_LIT_BALL ? 0.85f : 0.10f;
    static const float bounce[3] = {0.93f, 0.91f, 0.88f};
    /* Light that came off the ground; near the ground there is less of it. */
    float height = (dot3(p->position, up) - render->ground) / fmaxf(render->radius, 1e-9f);
    float below =
        0.26f * (0.5f - 0.5f * upward) * (0.45f + 0.55f * fminf(1, height)) * (0.35f + 0.65f * open);
    for (int k = 0; k < 3; k++) {
        float e = p->diffuse[k] + below * bounce[k];
        out[k] =
            soft_clip(p->albedo[k] * e * 1.12f + fresnel * room * (0.3f + 0.7f * open) + gloss * p->gloss);
    }
}

static void put_over(float pixel[3], const sac_overlay *over)
{
    for (int k = 0; k < 3; k++) pixel[k] = pixel[k] * (1 - fminf(1, over->alpha)) + over->colour[k];
}

/* The ground's light between the nodes of its grid. The faintest shade is left out and shadows fade towards
 * the sides, where the next panel begins. */
static void ground_at(const sac_render *render, uint32_t x, uint32_t y, float out[3])
{
    float gx = ((float)x + 0.5f) / SAC_GROUND_STEP, gy = ((float)y + 0.5f) / SAC_GROUND_STEP;
    uint32_t ix = (uint32_t)gx, iy = (uint32_t)gy;
    float fx = gx - (float)ix, fy = gy - (float)iy;
    const float(*g)[3] = (const float(*)[3])render->ground_light + (size_t)iy * render->ground_columns + ix;
    const float(*below)[3] = g + render->ground_columns;
    float side = fminf((float)x, (float)(render->width - 1 - x)) / (0.16f * (float)render->width);
    float show = render->scene->framed || side >= 1 ? 1 : side * side * (3 - 2 * side);
    for (int k = 0; k < 3; k++) {
        float light =
            (g[0][k] * (1 - fx) + g[1][k] * fx) * (1 - fy) + (below[0][k] * (1 - fx) + below[1][k] * fx) * fy;
        out[k] = 1 - show * 1.04f * greater(0, 1 - light - 0.07f);
    }
}

static void compose(const sac_render *render, sac_picture *picture, uint32_t left, uint32_t top)
{
    for (uint32_t y = 0; y < render->height; y++) {
        float backdrop[3], ground[3];
        backdrop_colour((float)(top + y) / (float)picture->height, backdrop);
        for (uint32_t x = 0; x < render->width; x++) {
            float *out = picture->pixels[(size_t)(top + y) * picture->width + left + x],
                  share = render->backdrop[y * render->width + x];
            ground_at(render, x, y, ground);
            for (int k = 0; k < 3; k++) out[k] = backdrop[k] * ground[k] * share;
        }
    }
    for (uint32_t b = 0; b < render->bands; b++)
        for (size_t i = 0; i < render->points[b].count; i++) {
            const sac_lit_point *p = &render->points[b].data[i];
            if (p->kind == SAC_LIT_GROUND) continue;
            uint32_t x = p->pixel % render->width, y = p->pixel / render->width;
            float *out = picture->pixels[(size_t)(top + y) * picture->width + left + x], c[3];
            point_colour(render, p, c);
            for (int k = 0; k < 3; k++) out[k] += c[k] * p->weight;
        }
    for (uint32_t i = 0; i < render->width * render->height; i++) {
        float *out =
            picture->pixels[(size_t)(top + i / render->width) * picture->width + left + i % render->width];
        put_over(out, &render->bubbles[i]);
        put_over(out, &render->marks[i]);
    }
}

/* Ball around the shadow casters, and the height of the ground under everything. */
static void bound_scene(sac_render *render)
{
    const sac_scene *scene = render->scene;
    const float *up = render->camera->upright;
    sac_box box = sac_box_empty();
    render->ground = FLT_MAX;
    for (size_t i = 0; i < scene->triangles.count; i++)
        for (int k = 0; k < 3; k++) {
            sac_box_add(&box, scene->triangles.data[i].corner[k]);
            render->ground = fminf(render->ground, dot3(scene->triangles.data[i].corner[k], up));
        }
    for (size_t i = 0; i < scene->balls[SAC_BALL_SOLID].count; i++) {
        const sac_scene_ball *b = &scene->balls[SAC_BALL_SOLID].data[i];
        float low[3], high[3];
        for (int k = 0; k < 3; k++) low[k] = b->centre[k] - b->radius, high[k] = b->centre[k] + b->radius;
        sac_box_add(&box, low);
        sac_box_add(&box, high);
        render->ground = fminf(render->ground, dot3(b->centre, up) - b->radius);
    }
    if (render->ground == FLT_MAX) {
        render->radius = 1, render->ground = -1;
        return;
    }
    for (int k = 0; k < 3; k++) render->centre[k] = 0.5f * (box.low[k] + box.high[k]);
    for (size_t i = 0; i < scene->triangles.count; i++)
        for (int k = 0; k < 3; k++) {
            const float *c = scene->triangles.data[i].corner[k];
            float d[3] = {c[0] - render->centre[0], c[1] - render->centre[1], c[2] - render->centre[2]};
            render->radius = fmaxf(render->radius, sqrtf(dot3(d, d)));
        }
    for (size_t i = 0; i < scene->balls[SAC_BALL_SOLID].count; i++) {
        const sac_scene_ball *b = &scene->balls[SAC_BALL_SOLID].data[i];
        float d[3] = {b->centre[0] - render->centre[0], b->centre[1] - render->centre[1],
                      b->centre[2] - render->centre[2]};
        render->radius = fmaxf(render->radius, sqrtf(dot3(d, d)) + b->radius);
    }
    render->radius = fmaxf(render->radius, 1e-6f);
}

bool sac_scene_render(const sac_scene *scene, const sac_camera *camera, sac_picture *picture, uint32_t left,
                      uint32_t top, uint32_t width, uint32_t height, uint32_t threads)
{
    sac_render render = {.scene = scene, .camera = camera, .width = width, .height = height};
    size_t pixels = (size_t)width * height;
    if (left + width > picture->width || top + height > picture->height || !pixels) return false;
    render.threads = threads < 1 ? 1 : threads;
    render.bands = (height + SAC_BAND_ROWS - 1) / SAC_BAND_ROWS;
    render.points = sac_alloc_zero(render.bands, sizeof *render.points);
    render.backdrop = sac_alloc_zero(pixels, sizeof *render.backdrop);
    render.bubbles = sac_alloc_zero(pixels, sizeof *render.bubbles);
    render.marks = sac_alloc_zero(pixels, sizeof *render.marks);
    render.ground_columns = width / SAC_GROUND_STEP + 2;
    render.ground_rows = height / SAC_GROUND_STEP + 2;
    size_t nodes = (size_t)render.ground_columns * render.ground_rows;
    render.ground_light = sac_alloc(nodes, sizeof *render.ground_light);
    render.ground_soft = sac_alloc_zero(nodes, sizeof *render.ground_soft);
    for (size_t i = 0; render.ground_light && i < nodes; i++)
        render.ground_light[i][0] = render.ground_light[i][1] = render.ground_light[i][2] = 1;
    render.failed = !render.points || !render.backdrop || !render.bubbles || !render.marks ||
                    !render.ground_light || !render.ground_soft;
    for (int k = 0; k < 3; k++)
        render.key_direction[k] =
            -0.48f * camera->right[k] + 0.77f * camera->upright[k] - 0.42f * camera->forward[k];
    if (!render.failed) {
        bound_scene(&render);
        sac_render_visibility(&render);
    }
    if (!render.failed) sac_render_light(&render);
    if (!render.failed) sac_render_soften_ground(&render);
    if (!render.failed) compose(&render, picture, left, top);
    for (uint32_t b = 0; render.points && b < render.bands; b++) sac_array_fini(&render.points[b]);
    sac_free(render.points, render.bands, sizeof *render.points);
    sac_free(render.ground_soft, nodes, sizeof *render.ground_soft);
    sac_free(render.ground_light, nodes, sizeof *render.ground_light);
    sac_free(render.backdrop, pixels, sizeof *render.backdrop);
    sac_free(render.bubbles, pixels, sizeof *render.bubbles);
    sac_free(render.marks, pixels, sizeof *render.marks);
    return !render.failed;
}
