/* The studio: a dome of sky, a soft key light and a rim light, cut into some two hundred directions. Each has
 * an orthographic shadow map of the whole scene, so what a point gets from each is exact up to the map's
 * texels, and soft shadows and ambient occlusion come out of the sum. */
#include "apps/render_internal.h"

#include <string.h>

#include "base/parallel.h"

enum { SKY_LIGHTS = 144, KEY_LIGHTS = 40, RIM_LIGHTS = 14, BATCH = 8 };
enum { KEY_MAP = 420, SKY_MAP = 232 }; /* texels each way, at most: sharp enough for a panel of 400 pixels */
enum { LIGHTS = SKY_LIGHTS + KEY_LIGHTS + RIM_LIGHTS };

typedef struct studio_light {
    float direction[3], across[3], along[3]; /* towards the light, and the map's axes */
    float colour[3];
    bool sky;
    float gloss;
    int size;     /* of its map */
    float texels; /* of its map, a unit */
} studio_light;

typedef struct lighting {
    sac_render *render;
    studio_light lights[LIGHTS];
    int sky, key, rim;
    uint32_t count; /* of them all */
    float *maps;    /* BATCH of them: height along the direction of what is nearest to the light */
    uint32_t first;
    float ground_total[3];
} lighting;

static void axes_of(const float d[3], float across[3], float along[3])
{
    float other[3] = {fabsf(d[0]) < 0.7f, fabsf(d[0]) >= 0.7f, 0};
    cross3(d, other, across);
    unit3(across);
    cross3(d, across, along);
}

static void set_light(studio_light *light, const float direction[3], const float colour[3], float share,
                      bool sky, float gloss)
{
    memcpy(light->direction, direction, sizeof light->direction);
    unit3(light->direction);
    axes_of(light->direction, light->across, light->along);
    for (int k = 0; k < 3; k++) light->colour[k] = colour[k] * share;
    light->sky = sky;
    light->gloss = gloss * share;
}

/* A disc of lights around a direction: a softbox. */
static void set_softbox(studio_light *lights, int count, const float middle[3], float spread,
                        const float colour[3], float strength, float gloss)
{
    float across[3], along[3], d[3] = {middle[0], middle[1], middle[2]};
    unit3(d);
    axes_of(d, across, along);
    for (int i = 0; i < count; i++) {
        float ring = spread * sqrtf(((float)i + 0.5f) / (float)count), angle = (float)i * 2.39996323f, v[3];
        for (int k = 0; k < 3; k++) v[k] = d[k] + ring * (cosf(angle) * across[k] + sinf(angle) * along[k]);
        set_light(&lights[i], v, colour, strength / (float)count, false, gloss);
    }
}

static void set_studio(lighting *l)
{
    const sac_camera *camera = l->render->camera;
    const float *up = camera->upright, *right = camera->right;
    const float sky_colour[3] = {0.94f, 0.97f, 1.0f}, key_colour[3] = {1.0f, 0.955f, 0.88f},
                rim_colour[3] = {0.95f, 0.98f, 1.0f};
    float back[3], key[3], rim[3];
    /* Many small things hide the seams between few lights. */
    bool busy = l->render->scene->busy;
    l->sky = busy ? SKY_LIGHTS / 3 : SKY_LIGHTS;
    l->key = busy ? KEY_LIGHTS / 3 : KEY_LIGHTS;
    l->rim = busy ? RIM_LIGHTS / 3 : RIM_LIGHTS;
    l->count = (uint32_t)(l->sky + l->key + l->rim);
    cross3(right, up, back); /* level, towards the camera */
    for (int k = 0; k < 3; k++) {
        key[k] = -0.62f * right[k] + 1.0f * up[k] + 0.55f * back[k];
        rim[k] = 0.75f * right[k] + 0.55f * up[k] - 0.85f * back[k];
    }
    for (int i = 0; i < l->sky; i++) {
        float height = ((float)i + 0.5f) / (float)l->sky, ring = sqrtf(1 - height * height),
              angle = (float)i * 2.39996323f, v[3];
        /* Brighter from the camera's right front, so that the shadow side is filled. */
        float fill = 1 + 0.35f * ring * cosf(angle - 0.6f);
        for (int k = 0; k < 3; k++)
            v[k] = height * up[k] + ring * (cosf(angle) * right[k] + sinf(angle) * back[k]);
        set_light(&l->lights[i], v, sky_colour, 0.92f * fill / (float)l->sky, true, 0);
    }
    set_softbox(l->lights + l->sky, l->key, key, 0.20f, key_colour, 0.72f, 1);
    set_softbox(l->lights + l->sky + l->key, l->rim, rim, 0.16f, rim_colour, 0.30f, 0.55f);
    /* Small pictures need no larger maps than themselves. */
    float pixels = (float)(l->render->width < l->render->height ? l->render->width : l->render->height),
          share = lesser(1, greater(0.25f, pixels / 380.0f));
    for (uint32_t i = 0; i < l->count; i++) {
        studio_light *light = &l->lights[i];
        light->size = (int)((float)(light->sky ? SKY_MAP : KEY_MAP) * share);
        light->texels = (float)(light->size - 4) / (2 * l->render->radius);
    }
    for (uint32_t i = 0; i < l->count; i++)
        for (int k = 0; k < 3; k++)
            l->ground_total[k] += l->lights[i].colour[k] * fmaxf(0, dot3(l->lights[i].direction, up));
}

/* ---- shadow maps ---- */

static inline void to_map(const lighting *l, const studio_light *light, const float p[3], float out[3])
{
    float d[3], half = 0.5f * (float)light->size;
    for (int k = 0; k < 3; k++) d[k] = p[k] - l->render->centre[k];
    out[0] = dot3(d, light->across) * light->texels + half;
    out[1] = dot3(d, light->along) * light->texels + half;
    out[2] = dot3(d, light->direction);
}

static int clamp_texel(float x, int size) { return x < 0 ? 0 : x > (float)(size - 1) ? size - 1 : (int)x; }

static void shade_triangle(float *map, int size, const float c[3][3])
{
    int x0 = clamp_texel(lesser(c[0][0], lesser(c[1][0], c[2][0])) - 0.5f, size),
        x1 = clamp_texel(greater(c[0][0], greater(c[1][0], c[2][0])) + 0.5f, size),
        y0 = clamp_texel(lesser(c[0][1], lesser(c[1][1], c[2][1])) - 0.5f, size),
        y1 = clamp_texel(greater(c[0][1], greater(c[1][1], c[2][1])) + 0.5f, size);
    float ex = c[1][0] - c[0][0], ey = c[1][1] - c[0][1], fx = c[2][0] - c[0][0], fy = c[2][1] - c[0][1];
    float area = ex * fy - fx * ey;
    if (area == 0) return;
    float inverse = 1 / area, eh = c[1][2] - c[0][2], fh = c[2][2] - c[0][2];
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            float px = (float)x + 0.5f - c[0][0], py = (float)y + 0.5f - c[0][1];
            float u = (px * fy - fx * py) * inverse, v = (ex * py - px * ey) * inverse;
            if (u < 0 || v < 0 || u + v > 1) continue;
            float height = c[0][2] + u * eh + v * fh, *texel = &map[y * size + x];
            if (height > *texel) *texel = height;
        }
}

static void shade_ball(const studio_light *light, float *map, const float c[3], float radius)
{
    float r = radius * light->texels, r2 = r * r, unit = 1 / light->texels;
    int x0 = clamp_texel(c[0] - r, light->size), x1 = clamp_texel(c[0] + r, light->size),
        y0 = clamp_texel(c[1] - r, light->size), y1 = clamp_texel(c[1] + r, light->size);
    for (int y = y0; y <= y1; y++) {
        float *row = map + y * light->size, dy = (float)y + 0.5f - c[1], left = r2 - dy * dy;
        /* No branch, so that four texels go at a time. */
        for (int x = x0; x <= x1; x++) {
            float dx = (float)x + 0.5f - c[0], rest = left - dx * dx;
            float height = c[2] + sqrtf(greater(rest, 0)) * unit;
            height = rest > 0 ? height : -1e30f;
            row[x] = greater(height, row[x]);
        }
    }
}

static void draw_map(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    lighting *l = context;
    const sac_scene *scene = l->render->scene;
    const studio_light *light = &l->lights[l->first + item];
    float *map = l->maps + (size_t)item * KEY_MAP * KEY_MAP;
    for (int i = 0; i < light->size * light->size; i++) map[i] = -1e30f;
    for (size_t i = 0; i < scene->triangles.count; i++) {
        float c[3][3];
        for (int k = 0; k < 3; k++) to_map(l, light, scene->triangles.data[i].corner[k], c[k]);
        shade_triangle(map, light->size, (const float(*)[3])c);
    }
    for (size_t i = 0; i < scene->balls[SAC_BALL_SOLID].count; i++) {
        const sac_scene_ball *ball = &scene->balls[SAC_BALL_SOLID].data[i];
        float c[3];
        to_map(l, light, ball->centre, c);
        shade_ball(light, map, c, ball->radius);
    }
}

/* How much of the light arrives: four texels, weighted by nearness. What is in the way is *over above p. */
static inline float arrives(const lighting *l, const studio_light *light, const float *map, const float p[3],
                            float *over)
{
    float c[3], edge = (float)(light->size - 1);
    to_map(l, light, p, c);
    float x = c[0] - 0.5f, y = c[1] - 0.5f;
    *over = 0;
    if (!(x >= 0 && y >= 0 && x < edge && y < edge)) return 1;
    int ix = (int)x, iy = (int)y;
    const float *t = map + iy * light->size + ix, *u = t + light->size;
    float fx = x - (float)ix, fy = y - (float)iy;
    float top = (t[0] <= c[2] ? 1 - fx : 0) + (t[1] <= c[2] ? fx : 0);
    float bottom = (u[0] <= c[2] ? 1 - fx : 0) + (u[1] <= c[2] ? fx : 0);
    *over = greater(0, greater(t[0], u[1]) - c[2]);
    return top * (1 - fy) + bottom * fy;
}

/* Blinn's highlight, narrow on balls (cos^64) and wide on clay (cos^14). */
static float highlight(const float v[3], const float light[3], const float normal[3], bool narrow)
{
    float h[3] = {v[0] + light[0], v[1] + light[1], v[2] + light[2]}, along = dot3(h, normal);
    if (along <= 0) return 0;
    float c2 = along * along / dot3(h, h), c4 = c2 * c2, c8 = c4 * c4;
    if (!narrow) return c8 * c4 * c2;
    float c16 = c8 * c8, c32 = c16 * c16;
    return c32 * c32;
}

static void light_point(const lighting *l, const studio_light *light, const float *map, sac_lit_point *point)
{
    const float *n = point->normal, facing = dot3(n, light->direction);
    if (facing <= 0) return;
    /* Away from the surface's own texels; one seen edge-on spans more height inside a texel. */
    bool solid = point->kind != SAC_LIT_GROUND;
    float texel = 1 / light->texels, away = texel * (solid ? 1.5f : 0.5f),
          lift = texel * (0.3f + 2.2f * (1 - facing)), q[3], over;
    for (int k = 0; k < 3; k++) q[k] = point->position[k] + n[k] * away + light->direction[k] * lift;
    float part = arrives(l, light, map, q, &over) * facing;
    point->shade += facing - part, point->shade_height += (facing - part) * over;
    if (light->sky) point->sky_all += facing, point->sky += part;
    for (int k = 0; k < 3; k++) point->diffuse[k] += light->colour[k] * part;
    if (light->gloss <= 0 || !solid || part <= 0) return;
    float v[3];
    for (int k = 0; k < 3; k++) v[k] = l->render->camera->eye[k] - point->position[k];
    unit3(v);
    point->gloss += light->gloss * part * highlight(v, light->direction, n, point->kind == SAC_LIT_BALL);
}

/* Light by light: neighbouring points look at neighbouring texels. */
static void light_band(uint32_t item, uint32_t worker, void *context)
{
    (void)worker;
    lighting *l = context;
    sac_lit_list *list = &l->render->points[item];
    uint32_t last = l->first + BATCH < l->count ? l->first + BATCH : l->count;
    for (uint32_t j = l->first; j < last; j++) {
        const float *map = l->maps + (size_t)(j - l->first) * KEY_MAP * KEY_MAP;
        for (size_t i = 0; i < list->count; i++) light_point(l, &l->lights[j], map, &list->data[i]);
    }
}

void sac_render_light(sac_render *render)
{
    lighting l = {.render = render};
    l.maps = sac_alloc((size_t)BATCH * KEY_MAP * KEY_MAP, sizeof *l.maps);
    if (!l.maps) {
        render->failed = true;
        return;
    }
    set_studio(&l);
    for (l.first = 0; l.first < l.count; l.first += BATCH) {
        uint32_t count = l.count - l.first < BATCH ? l.count - l.first : BATCH;
        sac_parallel_for(count, render->threads, draw_map, &l);
        sac_parallel_for(render->bands, render->threads, light_band, &l);
    }
    sac_free(l.maps, (size_t)BATCH * KEY_MAP * KEY_MAP, sizeof *l.maps);
    /* The ground shows how much of its light is left. Shadows of what is high above it come apart into those
     * of the single lights, a fifth of a radian from one another, so they are blurred about as wide. */
    const sac_camera *camera = render->camera;
    for (uint32_t b = 0; b < render->bands; b++)
        for (size_t i = 0; i < render->points[b].count; i++) {
            const sac_lit_point *point = &render->points[b].data[i];
            if (point->kind != SAC_LIT_GROUND) continue;
            float to[3];
            for (int k = 0; k < 3; k++) to[k] = point->position[k] - camera->eye[k];
            float pixels = camera->focal / greater(1e-6f, dot3(to, camera->forward));
            if (point->shade > 0)
                render->ground_soft[point->pixel] =
                    0.2f * point->shade_height / point->shade * pixels / SAC_GROUND_STEP;
            for (int k = 0; k < 3; k++)
                render->ground_light[point->pixel][k] =
                    1 - point->weight * (1 - fminf(1, point->diffuse[k] / l.ground_total[k]));
        }
}
