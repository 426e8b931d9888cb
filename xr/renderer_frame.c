/* The frame as the shaders want it: eye-relative clip matrices with the far plane at infinity and depth
 * reversed (most of a float's precision lies near 0), a shadow box that moves in whole texels, linear
 * colours. */
#include "xr/renderer_parts_internal.h"

#include <math.h>

static float linear(uint32_t byte)
{
    float c = (float)byte / 255.0f;
    return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

static void colour(uint32_t srgb, float w, float out[4])
{
    for (int i = 0; i < 3; i++) out[i] = linear(srgb >> (8 * i) & 0xFF);
    out[3] = w;
}

static void view_fill(const sac_eye *eye, const sac_renderer_format *format, float near_plane, float clip[16],
                      float place[4], float ray[3][4])
{
    const float l = tanf(eye->fov_left), r = tanf(eye->fov_right), u = tanf(eye->fov_up),
                d = tanf(eye->fov_down);
    float rows[3][3]; /* columns are the eye's axes in the world */
    sac_transform t = sac_transform_identity();
    float length = 0;
    for (int i = 0; i < 4; i++) length += eye->rotation[i] * eye->rotation[i];
    for (int i = 0; i < 4; i++) t.rotation[i] = eye->rotation[i] / sqrtf(length);
    sac_transform_rows(&t, rows);
    for (int i = 0; i < 3; i++) {
        const float x = rows[i][0], y = rows[i][1], z = rows[i][2]; /* the world's axis i as the eye has it */
        clip[i * 4 + 0] = (2 * x + (r + l) * z) / (r - l);
        clip[i * 4 + 1] = -(2 * y + (u + d) * z) / (u - d);
        clip[i * 4 + 2] = 0;
        clip[i * 4 + 3] = -z;
        /* At (-1, -1), the upper left, to (1, 1). */
        ray[0][i] = 0.5f * (l + r) * x + 0.5f * (u + d) * y - z;
        ray[1][i] = 0.5f * (r - l) * x;
        ray[2][i] = -0.5f * (u - d) * y;
        place[i] = eye->position[i];
    }
    clip[12] = clip[13] = clip[15] = 0;
    clip[14] = near_plane;
    for (int k = 0; k < 3; k++) ray[k][3] = 0;
    place[3] = (float)format->width / (r - l);
}

static void shadow_fill(const sac_sky *sky, const float sun[3], uint32_t size, sac_shader_frame *out)
{
    const float reach = fmaxf(sky->shadow_reach, 0.01f);
    const float texel = 2 * reach / (float)(size ? size : 1);
    float side[3], up[3], axis[3] = {0, 0, 1}, away[3] = {sun[0], sun[1], sun[2]};
    if (fabsf(sun[2]) > 0.9f) axis[0] = 1, axis[2] = 0;
    glm_vec3_crossn(axis, away, side);
    glm_vec3_cross(away, side, up);
    float focus[3] = {sky->focus[0], sky->focus[1], sky->focus[2]};
    /* Whole texels, or edges would crawl when the focus moves. */
    const float u = floorf(glm_vec3_dot(side, focus) / texel) * texel;
    const float v = floorf(glm_vec3_dot(up, focus) / texel) * texel;
    const float w = floorf(glm_vec3_dot(away, focus) / texel) * texel;
    float *m = out->shadow;
    for (int i = 0; i < 3; i++) {
        m[i * 4 + 0] = side[i] / (2 * reach);
        m[i * 4 + 1] = up[i] / (2 * reach);
        m[i * 4 + 2] = -away[i] / (4 * reach);
        m[i * 4 + 3] = 0;
    }
    m[12] = 0.5f - u / (2 * reach);
    m[13] = 0.5f - v / (2 * reach);
    m[14] = 0.5f + w / (4 * reach);
    m[15] = 1;
    out->size[3] = texel;
    out->level[1] = size ? 1.0f / (float)size : 1;
}

static void panel_fill(const sac_panel *panel, const sac_renderer_format *format, sac_shader_panel *out)
{
    *out = (sac_shader_panel){0};
    if (!panel->in_world) {
        out->origin[0] = panel->x < 0 ? (float)format->width + panel->x : panel->x;
        out->origin[1] = panel->y < 0 ? (float)format->height + panel->y : panel->y;
        return;
    }
    float rows[3][3];
    sac_transform t = sac_transform_identity();
    memcpy(t.rotation, panel->rotation, sizeof t.rotation);
    sac_transform_rows(&t, rows);
    for (int i = 0; i < 3; i++) {
        out->origin[i] = panel->position[i];
        out->x[i] = rows[i][0] * panel->unit;
        out->y[i] = rows[i][1] * panel->unit;
    }
    out->origin[3] = 1;
}

void sac_shader_frame_fill(const sac_renderer_format *format, const sac_drawing *drawing,
                           uint32_t shadow_size, sac_shader_frame *out)
{
    *out = (sac_shader_frame){0};
    const sac_sky *sky = &drawing->sky;
    for (uint32_t i = 0; i < drawing->view_count; i++)
        view_fill(&drawing->views[i], format, drawing->near_plane, out->clip[i], out->eye[i], out->ray[i]);
    float sun[3] = {sky->sun[0], sky->sun[1], sky->sun[2]};
    glm_vec3_normalize(sun);
    glm_vec3_copy(sun, out->sun);
    out->sun[3] = shadow_size && sky->shadow_reach > 0;
    colour(sky->horizon, 0, out->horizon);
    colour(sky->zenith, 0, out->zenith);
    colour(sky->ground, sky->grid, out->ground);
    out->size[0] = (float)format->width;
    out->size[1] = (float)format->height;
    out->size[2] = drawing->near_plane;
    out->level[0] = sky->ground_height;
    shadow_fill(sky, sun, shadow_size, out);
    for (uint32_t i = 0; i < drawing->panel_count; i++)
        panel_fill(&drawing->panels[i], format, &out->panels[i]);
}
