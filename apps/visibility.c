/* Which surface each of a pixel's samples sees. Bands of rows, each with a depth buffer of its own; triangles
 * by edge functions, balls by their exact intersection with the sample's ray. */
#include "apps/render_internal.h"

#include <string.h>

#include "base/parallel.h"

enum {
    S = SAC_PIXEL_SAMPLES,
    SAMPLES = S * S,
    MOST_PARTS = 8, /* surfaces told apart in one pixel */
    NOTHING = 0
};
static const uint32_t BALL_BIT = 0x80000000u;

typedef struct seen_triangle {
    float x[3], y[3], w[3]; /* sample coordinates, 1 / depth; w[0] = 0: not drawn */
} seen_triangle;

typedef struct seen_ball {
    float c[3], r2;        /* camera space */
    float low[2], high[2]; /* sample coordinates */
} seen_ball;

typedef struct seeing {
    sac_render *render;
    seen_triangle *triangles;
    seen_ball *balls[SAC_BALL_LOOKS];
    /* One of each for every worker: 1 / depth and what, for solids, bubbles and marks. */
    float *depth;
    uint32_t *what;
    size_t plane; /* samples in a band */
} seeing;

static void to_camera(const sac_camera *camera, const float p[3], float out[3])
{
    float d[3] = {p[0] - camera->eye[0], p[1] - camera->eye[1], p[2] - camera->eye[2]};
    out[0] = dot3(d, camera->right), out[1] = dot3(d, camera->up), out[2] = dot3(d, camera->forward);
}

static void see_triangle(const sac_camera *camera, const sac_scene_triangle *t, seen_triangle *out)
{
    for (int k = 0; k < 3; k++) {
        float c[3];
        to_camera(camera, t->corner[k], c);
        if (!(c[2] > 1e-6f)) {
            out->w[0] = 0;
            return;
        }
        out->w[k] = 1.0f / c[2];
        out->x[k] = (camera->middle_x + camera->focal * c[0] * out->w[k]) * S;
        out->y[k] = (camera->middle_y - camera->focal * c[1] * out->w[k]) * S;
    }
}

/* Tangents of the two lines from the eye that touch the ball, in the plane of one axis and the view. */
static void ball_reach(float a, float z, float r, float out[2])
{
    float d = z * z - r * r, root = sqrtf(fmaxf(0, a * a + d));
    out[0] = (a * z - r * root) / d;
    out[1] = (a * z + r * root) / d;
}

static void see_ball(const sac_camera *camera, const sac_scene_ball *ball, seen_ball *out)
{
    float x[2], y[2];
    to_camera(camera, ball->centre, out->c);
    out->r2 = ball->radius * ball->radius;
    out->low[0] = out->low[1] = 1, out->high[0] = out->high[1] = 0;
    if (!(out->c[2] > ball->radius * 1.001f) || !(ball->radius > 0)) return;
    ball_reach(out->c[0], out->c[2], ball->radius, x);
    ball_reach(out->c[1], out->c[2], ball->radius, y);
    out->low[0] = (camera->middle_x + camera->focal * x[0]) * S;
    out->high[0] = (camera->middle_x + camera->focal * x[1]) * S;
    out->low[1] = (camera->middle_y - camera->focal * y[1]) * S;
    out->high[1] = (camera->middle_y - camera->focal * y[0]) * S;
}

typedef struct band {
    uint32_t first_row, rows; /* in samples */
    uint32_t columns;
    float *depth;
    uint32_t *what;
} band;

static bool clip_range(float low, float high, uint32_t first, uint32_t count, int *out_first, int *out_last)
{
    float end = (float)(first + count);
    if (!(high >= (float)first) || !(low <= end)) return false;
    int a = (int)ceilf(fmaxf(low, (float)first) - 0.5f), b = (int)floorf(fminf(high, end) - 0.5f);
    if (a < (int)first) a = (int)first;
    if (b > (int)(first + count) - 1) b = (int)(first + count) - 1;
    *out_first = a, *out_last = b;
    return a <= b;
}

static void draw_triangle(band *b, const seen_triangle *t, uint32_t what)
{
    if (!(t->w[0] > 0)) return;
    int x0, x1, y0, y1;
    float low_y = fminf(t->y[0], fminf(t->y[1], t->y[2])), high_y = fmaxf(t->y[0], fmaxf(t->y[1], t->y[2]));
    if (!clip_range(low_y, high_y, b->first_row, b->rows, &y0, &y1)) return;
    float low_x = fminf(t->x[0], fminf(t->x[1], t->x[2])), high_x = fmaxf(t->x[0], fmaxf(t->x[1], t->x[2]));
    if (!clip_range(low_x, high_x, 0, b->columns, &x0, &x1)) return;
    float area = (t->x[1] - t->x[0]) * (t->y[2] - t->y[0]) - (t->x[2] - t->x[0]) * (t->y[1] - t->y[0]);
    if (area == 0 || !isfinite(area)) return;
    float inverse = 1.0f / area, step[3], value[3];
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        step[k] = -(t->y[q] - t->y[p]) * inverse;
    }
    for (int y = y0; y <= y1; y++) {
        float px = (float)x0 + 0.5f, py = (float)y + 0.5f;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            value[k] =
                ((t->x[q] - t->x[p]) * (py - t->y[p]) - (t->y[q] - t->y[p]) * (px - t->x[p])) * inverse;
        }
        size_t row = (size_t)(y - (int)b->first_row) * b->columns;
        for (int x = x0; x <= x1; x++) {
            if (value[0] >= 0 && value[1] >= 0 && value[2] >= 0) {
                float w = value[0] * t->w[0] + value[1] * t->w[1] + value[2] * t->w[2];
                size_t at = row + (size_t)x;
                if (w > b->depth[at]) b->depth[at] = w, b->what[at] = what;
            }
            for (int k = 0; k < 3; k++) value[k] += step[k];
        }
    }
}

static void draw_ball(const sac_camera *camera, band *b, const seen_ball *ball, uint32_t what)
{
    int x0, x1, y0, y1;
    if (!clip_range(ball->low[1], ball->high[1], b->first_row, b->rows, &y0, &y1)) return;
    if (!clip_range(ball->low[0], ball->high[0], 0, b->columns, &x0, &x1)) return;
    const float *c = ball->c;
    float scale = 1.0f / (S * camera->focal), rest = dot3(c, c) - ball->r2;
    for (int y = y0; y <= y1; y++) {
        float dy = (camera->middle_y * S - ((float)y + 0.5f)) * scale;
        size_t row = (size_t)(y - (int)b->first_row) * b->columns;
        for (int x = x0; x <= x1; x++) {
            float dx = (((float)x + 0.5f) - camera->middle_x * S) * scale;
            float a = dx * dx + dy * dy + 1, half = dx * c[0] + dy * c[1] + c[2];
            float root = half * half - a * rest;
            if (root < 0) continue;
            float w = a / (half - sqrtf(root));
            size_t at = row + (size_t)x;
            if (w > b->depth[at]) b->depth[at] = w, b->what[at] = what;
        }
    }
}

/* The point at 1 / depth `w` under a sample. */
static void point_at(const sac_camera *camera, float sx, float sy, float w, float out[3])
{
    float scale = 1.0f / camera->focal, z = 1.0f / w;
    float x = (sx - camera->middle_x) * scale * z, y = (camera->middle_y - sy) * scale * z;
    for (int k = 0; k < 3; k++)
        out[k] = camera->eye[k] + camera->right[k] * x + camera->up[k] * y + camera->forward[k] * z;
}

/* The interpolated normal where the sample's ray meets the triangle, turned towards the eye. */
static void triangle_normal(const sac_camera *camera, const sac_scene_triangle *t, const float p[3],
                            float out[3])
{
    float e[3], f[3], q[3];
    for (int k = 0; k < 3; k++) {
        e[k] = t->corner[1][k] - t->corner[0][k];
        f[k] = t->corner[2][k] - t->corner[0][k];
        q[k] = p[k] - t->corner[0][k];
    }
    float ee = dot3(e, e), ef = dot3(e, f), ff = dot3(f, f), qe = dot3(q, e), qf = dot3(q, f);
    float d = ee * ff - ef * ef;
    float u = d > 0 ? (ff * qe - ef * qf) / d : 0, v = d > 0 ? (ee * qf - ef * qe) / d : 0;
    u = fminf(1, fmaxf(0, u)), v = fminf(1 - u, fmaxf(0, v));
    float to_eye[3];
    for (int k = 0; k < 3; k++) {
        out[k] = (1 - u - v) * t->normal[0][k] + u * t->normal[1][k] + v * t->normal[2][k];
        to_eye[k] = camera->eye[k] - p[k];
    }
    unit3(out);
    /* An open mesh shows its inside too. */
    if (dot3(out, to_eye) < 0) {
        float face[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
        if (dot3(face, to_eye) < 0)
            for (int k = 0; k < 3; k++) out[k] = -out[k];
    }
}

typedef struct part {
    uint32_t what;
    float x, y, w, normal[3];
    int count;
} part;

static void resolve_solids(seeing *s, const band *b, uint32_t px, uint32_t py, sac_lit_list *list)
{
    sac_render *render = s->render;
    const sac_camera *camera = render->camera;
    const sac_scene *scene = render->scene;
    part parts[MOST_PARTS];
    int part_count = 0, empty = 0;
    uint32_t pixel = py * render->width + px;
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t sx = px * S + (uint32_t)(i % S), sy = py * S + (uint32_t)(i / S);
        size_t at = (size_t)(sy - b->first_row) * b->columns + sx;
        uint32_t what = b->what[at];
        float x = ((float)sx + 0.5f) / S, y = ((float)sy + 0.5f) / S, w = b->depth[at], normal[3] = {0, 0, 0};
        if (what == NOTHING) {
            empty++;
            continue;
        }
        part *found = NULL;
        for (int j = 0; j < part_count && !found; j++)
            if (parts[j].what == what) found = &parts[j];
        if (!found && !(what & BALL_BIT)) {
            float p[3];
            point_at(camera, x, y, w, p);
            triangle_normal(camera, &scene->triangles.data[what - 1], p, normal);
            for (int j = 0; j < part_count && !found; j++)
                if (!(parts[j].what & BALL_BIT) && dot3(parts[j].normal, normal) > 0.95f &&
                    fabsf(parts[j].w / (float)parts[j].count - w) < 0.01f * w)
                    found = &parts[j];
        }
        if (!found && part_count == MOST_PARTS) found = &parts[MOST_PARTS - 1];
        if (!found) {
            found = &parts[part_count++];
            *found = (part){.what = what};
            memcpy(found->normal, normal, sizeof normal);
        }
        found->x += x, found->y += y, found->w += w, found->count++;
    }
    for (int j = 0; j < part_count; j++) {
        part *p = &parts[j];
        float inverse = 1.0f / (float)p->count;
        sac_lit_point point = {.weight = (float)p->count / SAMPLES, .pixel = pixel};
        point_at(camera, p->x * inverse, p->y * inverse, p->w * inverse, point.position);
        if (p->what & BALL_BIT) {
            const sac_scene_ball *ball = &scene->balls[SAC_BALL_SOLID].data[p->what & ~BALL_BIT];
            point.kind = SAC_LIT_BALL;
            for (int k = 0; k < 3; k++) point.normal[k] = point.position[k] - ball->centre[k];
            unit3(point.normal);
            memcpy(point.albedo, ball->albedo, sizeof point.albedo);
        } else {
            const sac_scene_triangle *t = &scene->triangles.data[p->what - 1];
            point.kind = SAC_LIT_CLAY;
            triangle_normal(camera, t, point.position, point.normal);
            memcpy(point.albedo, t->albedo, sizeof point.albedo);
        }
        if (!sac_array_push(list, point)) render->failed = true;
    }
    render->backdrop[pixel] = (float)empty / SAMPLES;
}

/* The ground under one node of the coarse grid, when shadows can fall there. */
static void see_ground(sac_render *render, uint32_t column, uint32_t row, sac_lit_list *list)
{
    const sac_camera *camera = render->camera;
    float dx = ((float)(column * SAC_GROUND_STEP) - camera->middle_x) / camera->focal,
          dy = (camera->middle_y - (float)(row * SAC_GROUND_STEP)) / camera->focal;
    float direction[3], away = 0;
    for (int k = 0; k < 3; k++)
        direction[k] = camera->forward[k] + camera->right[k] * dx + camera->up[k] * dy;
    float fall = dot3(direction, camera->upright);
    if (fall >= 0) return;
    float t = (render->ground - dot3(camera->eye, camera->upright)) / fall;
    sac_lit_point point = {
        .weight = 1, .pixel = row * render->ground_columns + column, .kind = SAC_LIT_GROUND};
    for (int k = 0; k < 3; k++) {
        point.position[k] = camera->eye[k] + direction[k] * t;
        point.normal[k] = camera->upright[k];
        float d = point.position[k] - render->centre[k];
        away += d * d;
    }
    /* Far shadows are faint, so they fade out before they are cut off. */
    float fade = 1 - (sqrtf(away) / render->radius - 1.1f) / 1.3f;
    point.weight = fminf(1, fade);
    if (t > 0 && fade > 0 && !sac_array_push(list, point)) render->failed = true;
}

/* Bubbles are clear in the middle and denser towards the rim, as thin shells are. */
static void add_bubble(const seeing *s, const sac_scene_ball *ball, float x, float y, float w,
                       sac_overlay *out)
{
    const sac_render *render = s->render;
    float p[3], n[3], v[3], h[3];
    point_at(render->camera, x, y, w, p);
    for (int k = 0; k < 3; k++) n[k] = p[k] - ball->centre[k], v[k] = render->camera->eye[k] - p[k];
    unit3(n);
    unit3(v);
    for (int k = 0; k < 3; k++) h[k] = v[k] + render->key_direction[k];
    unit3(h);
    float facing = fmaxf(0, dot3(n, v)), edge = 1 - facing;
    float alpha = 0.16f + 0.62f * edge * edge * edge;
    float light =
        0.55f + 0.45f * fmaxf(0, dot3(n, render->key_direction)) + 0.12f * dot3(n, render->camera->upright);
    float shine = 0.5f * powf(fmaxf(0, dot3(n, h)), 90);
    for (int k = 0; k < 3; k++) out->colour[k] += (ball->albedo[k] * light * alpha + shine * 0.6f) / SAMPLES;
    out->alpha += fminf(1, alpha + shine * 0.6f) / SAMPLES;
}

static void add_mark(const seeing *s, const sac_scene_ball *ball, float x, float y, float w, bool hidden,
                     sac_overlay *out)
{
    const sac_render *render = s->render;
    float p[3], n[3];
    point_at(render->camera, x, y, w, p);
    for (int k = 0; k < 3; k++) n[k] = p[k] - ball->centre[k];
    unit3(n);
    float light = 0.8f + 0.25f * fmaxf(0, dot3(n, render->key_direction)), alpha = hidden ? 0.72f : 1;
    for (int k = 0; k < 3; k++) out->colour[k] += ball->albedo[k] * light * alpha / SAMPLES;
    out->alpha += alpha / SAMPLES;
}

static void resolve_overlays(seeing *s, const band *planes, uint32_t px, uint32_t py)
{
    sac_render *render = s->render;
    uint32_t pixel = py * render->width + px;
    const sac_scene *scene = render->scene;
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t sx = px * S + (uint32_t)(i % S), sy = py * S + (uint32_t)(i / S);
        size_t at = (size_t)(sy - planes[0].first_row) * planes[0].columns + sx;
        float x = ((float)sx + 0.5f) / S, y = ((float)sy + 0.5f) / S,
              solid = planes[SAC_BALL_SOLID].depth[at];
        uint32_t bubble = planes[SAC_BALL_BUBBLE].what[at], mark = planes[SAC_BALL_MARK].what[at];
        if (bubble && planes[SAC_BALL_BUBBLE].depth[at] > solid)
            add_bubble(s, &scene->balls[SAC_BALL_BUBBLE].data[bubble & ~BALL_BIT], x, y,
                       planes[SAC_BALL_BUBBLE].depth[at], &render->bubbles[pixel]);
        if (mark)
            add_mark(s, &scene->balls[SAC_BALL_MARK].data[mark & ~BALL_BIT], x, y,
                     planes[SAC_BALL_MARK].depth[at], planes[SAC_BALL_MARK].depth[at] < solid,
                     &render->marks[pixel]);
    }
}

static void see_band(uint32_t item, uint32_t worker, void *context)
{
    seeing *s = context;
    sac_render *render = s->render;
    const sac_scene *scene = render->scene;
    uint32_t first = item * SAC_BAND_ROWS, rows = SAC_BAND_ROWS;
    band planes[SAC_BALL_LOOKS];
    bool over = scene->balls[SAC_BALL_BUBBLE].count || scene->balls[SAC_BALL_MARK].count;
    if (first + rows > render->height) rows = render->height - first;
    for (int look = 0; look < SAC_BALL_LOOKS; look++) {
        size_t offset = ((size_t)worker * SAC_BALL_LOOKS + (size_t)look) * s->plane;
        planes[look] = (band){first * S, rows * S, render->width * S, s->depth + offset, s->what + offset};
        if (look && !over) continue;
        memset(planes[look].depth, 0, s->plane * sizeof *s->depth);
        memset(planes[look].what, 0, s->plane * sizeof *s->what);
    }
    for (size_t i = 0; i < scene->triangles.count; i++)
        draw_triangle(&planes[0], &s->triangles[i], (uint32_t)i + 1);
    for (int look = 0; look < SAC_BALL_LOOKS; look++)
        for (size_t i = 0; i < scene->balls[look].count; i++)
            draw_ball(render->camera, &planes[look], &s->balls[look][i], (uint32_t)i | BALL_BIT);
    for (uint32_t y = first; y < first + rows; y++)
        for (uint32_t x = 0; x < render->width; x++) {
            resolve_solids(s, &planes[0], x, y, &render->points[item]);
            if (over) resolve_overlays(s, planes, x, y);
        }
    for (uint32_t row = item; row < render->ground_rows; row += render->bands)
        for (uint32_t column = 0; column < render->ground_columns; column++)
            see_ground(render, column, row, &render->points[item]);
}

void sac_render_visibility(sac_render *render)
{
    const sac_scene *scene = render->scene;
    seeing s = {.render = render};
    s.plane = (size_t)render->width * S * SAC_BAND_ROWS * S;
    size_t samples = s.plane * SAC_BALL_LOOKS * render->threads;
    s.depth = sac_alloc(samples, sizeof *s.depth);
    s.what = sac_alloc(samples, sizeof *s.what);
    s.triangles = sac_alloc(scene->triangles.count + 1, sizeof *s.triangles);
    bool ok = s.depth && s.what && s.triangles;
    for (int look = 0; look < SAC_BALL_LOOKS; look++) {
        s.balls[look] = sac_alloc(scene->balls[look].count + 1, sizeof *s.balls[look]);
        ok = ok && s.balls[look];
    }
    if (ok) {
        for (size_t i = 0; i < scene->triangles.count; i++)
            see_triangle(render->camera, &scene->triangles.data[i], &s.triangles[i]);
        for (int look = 0; look < SAC_BALL_LOOKS; look++)
            for (size_t i = 0; i < scene->balls[look].count; i++)
                see_ball(render->camera, &scene->balls[look].data[i], &s.balls[look][i]);
        sac_parallel_for(render->bands, render->threads, see_band, &s);
    }
    if (!ok) render->failed = true;
    sac_free(s.depth, samples, sizeof *s.depth);
    sac_free(s.what, samples, sizeof *s.what);
    sac_free(s.triangles, scene->triangles.count + 1, sizeof *s.triangles);
    for (int look = 0; look < SAC_BALL_LOOKS; look++)
        sac_free(s.balls[look], scene->balls[look].count + 1, sizeof *s.balls[look]);
}
