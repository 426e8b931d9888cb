/* Forms that are not trees: their numbers checked, their balls, boxes and masses; and the world box of any
 * form. */
#include "spheretree/form.h"

#include "spheretree/terrain_internal.h"
#include "spheretree/vector_internal.h"

/* Beyond these a square or an inertia no longer fits a float comfortably. */
#define LEAST 1e-6f
#define MOST 1e6f
#define PI 3.14159265f
/* Of a height field's diagonal: how deep below it things still meet it. */
#define SUNK 0.05f

static bool is_size(float x) { return x >= LEAST && x <= MOST; }

static sac_result bad_size(sac_error *error, const char *what, float value)
{
    return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a number from 1e-6 to 1e6", "%s is %g", what,
                         (double)value);
}

static sac_form empty_form(sac_form_kind kind)
{
    sac_form form = {.kind = kind};
    return form;
}

/* However thin a box or a capsule is, no thinner than this of its size: what may pass through something must
 * not take all the steps there are to look at. */
static const float THINNEST = 1e-5f;

static void set_box(sac_form *form, float x, float y, float z)
{
    form->box = (sac_box){{-x, -y, -z}, {x, y, z}};
}

sac_result sac_form_sphere(sac_form *out_form, float radius, sac_error *error)
{
    SAC_NEED(error, out_form);
    if (!is_size(radius)) return bad_size(error, "radius of the sphere", radius);
    sac_form form = empty_form(SAC_FORM_SPHERE);
    form.radius = form.ball[3] = form.thickness = radius;
    set_box(&form, radius, radius, radius);
    form.mass.volume = 4.0f / 3.0f * PI * radius * radius * radius;
    for (int i = 0; i < 3; i++) form.mass.inertia[i] = 0.4f * form.mass.volume * radius * radius;
    *out_form = form;
    return SAC_OK;
}

sac_result sac_form_capsule(sac_form *out_form, float radius, float half_length, sac_error *error)
{
    SAC_NEED(error, out_form);
    if (!is_size(radius)) return bad_size(error, "radius of the capsule", radius);
    if (!(half_length >= 0 && half_length <= MOST))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a number from 0 to 1e6",
                             "half length of the capsule is %g", (double)half_length);
    sac_form form = empty_form(SAC_FORM_CAPSULE);
    form.radius = form.thickness = radius;
    form.half[1] = half_length;
    form.ball[3] = half_length + radius;
    form.thickness = fmaxf(radius, THINNEST * form.ball[3]);
    set_box(&form, radius, half_length + radius, radius);
    /* A cylinder and two half balls, whose own centres are 3/8 r beyond its ends. */
    float r2 = radius * radius, length = 2 * half_length;
    float tube = PI * r2 * length, ends = 4.0f / 3.0f * PI * r2 * radius;
    form.mass.volume = tube + ends;
    form.mass.inertia[1] = tube * r2 * 0.5f + ends * r2 * 0.4f;
    form.mass.inertia[0] = tube * (length * length / 12 + r2 * 0.25f) +
                           ends * (r2 * 0.4f + half_length * half_length + 0.75f * half_length * radius);
    form.mass.inertia[2] = form.mass.inertia[0];
    *out_form = form;
    return SAC_OK;
}

sac_result sac_form_box(sac_form *out_form, const float half[3], sac_error *error)
{
    SAC_NEED(error, out_form, half);
    for (int i = 0; i < 3; i++)
        if (!is_size(half[i])) return bad_size(error, "half a side of the box", half[i]);
    sac_form form = empty_form(SAC_FORM_BOX);
    sac_v3_copy(half, form.half);
    form.ball[3] = sac_v3_length(half);
    form.thickness = fmaxf(fminf(half[0], fminf(half[1], half[2])), THINNEST * form.ball[3]);
    set_box(&form, half[0], half[1], half[2]);
    form.mass.volume = 8 * half[0] * half[1] * half[2];
    for (int i = 0; i < 3; i++) {
        float p = half[(i + 1) % 3], q = half[(i + 2) % 3];
        form.mass.inertia[i] = form.mass.volume * (p * p + q * q) / 3;
    }
    *out_form = form;
    return SAC_OK;
}

sac_result sac_form_plane(sac_form *out_form, const float normal[3], float offset, sac_error *error)
{
    SAC_NEED(error, out_form, normal);
    float length = sac_v3_length(normal);
    if (!sac_vec3_is_finite(normal) || !is_size(length))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a finite direction, best of length 1",
                             "normal of the plane has length %g", (double)length);
    if (!(fabsf(offset) <= MOST * length))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "give a number within 1e6 of 0",
                             "offset of the plane is %g", (double)offset);
    sac_form form = empty_form(SAC_FORM_PLANE);
    for (int i = 0; i < 3; i++) form.normal[i] = normal[i] / length;
    form.offset = offset / length;
    form.ball[3] = form.thickness = FLT_MAX;
    set_box(&form, FLT_MAX, FLT_MAX, FLT_MAX);
    *out_form = form;
    return SAC_OK;
}

sac_result sac_form_from_terrain(sac_form *out_form, const sac_terrain *terrain, sac_error *error)
{
    SAC_NEED(error, out_form, terrain);
    sac_form form = empty_form(SAC_FORM_TERRAIN);
    form.terrain = terrain;
    form.box = sac_terrain_box(terrain);
    /* Heights are solid below: what sank under the lowest of them is still found. */
    if (terrain->posts) form.box.low[1] -= SUNK * sac_box_diagonal(&form.box);
    for (int i = 0; i < 3; i++) form.ball[i] = 0.5f * form.box.low[i] + 0.5f * form.box.high[i];
    form.ball[3] = 0.5f * sac_box_diagonal(&form.box) * 1.000001f;
    form.thickness = 1e-3f * form.ball[3];
    *out_form = form;
    return SAC_OK;
}

/* A floor whose normal is an axis of the world ends there; any other plane is everywhere. */
static void plane_bounds(const sac_form *form, const sac_transform *pose, const float rows[3][3],
                         sac_box *out)
{
    *out = form->box;
    float n[3];
    sac_v3_turn(rows, form->normal, n);
    for (int i = 0; i < 3; i++) {
        if (n[(i + 1) % 3] != 0 || n[(i + 2) % 3] != 0) continue;
        float at = n[i] * form->offset * pose->scale + pose->translation[i];
        if (n[i] > 0)
            out->high[i] = at;
        else
            out->low[i] = at;
    }
}

void sac_form_bounds(const sac_form *form, const sac_transform *pose, sac_box *out)
{
    if (!form || !pose || !out) return;
    float rows[3][3], s = pose->scale;
    const float *t = pose->translation;
    if (form->kind == SAC_FORM_SPHERE) {
        float r = form->radius * s;
        for (int i = 0; i < 3; i++) out->low[i] = t[i] - r, out->high[i] = t[i] + r;
        return;
    }
    sac_transform_rows(pose, rows);
    switch (form->kind) {
    case SAC_FORM_CAPSULE:
        for (int i = 0; i < 3; i++) {
            float reach = (fabsf(rows[i][1]) * form->half[1] + form->radius) * s;
            out->low[i] = t[i] - reach, out->high[i] = t[i] + reach;
        }
        return;
    case SAC_FORM_BOX:
        for (int i = 0; i < 3; i++) {
            float reach = (fabsf(rows[i][0]) * form->half[0] + fabsf(rows[i][1]) * form->half[1] +
                           fabsf(rows[i][2]) * form->half[2]) *
                          s;
            out->low[i] = t[i] - reach, out->high[i] = t[i] + reach;
        }
        return;
    case SAC_FORM_PLANE:
        plane_bounds(form, pose, rows, out);
        return;
    default:
        break;
    }
    float middle[3], half[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = (form->box.low[k] + form->box.high[k]) * 0.5f;
        half[k] = (form->box.high[k] - form->box.low[k]) * 0.5f;
    }
    for (int i = 0; i < 3; i++) {
        const float *row = rows[i];
        float centre = (row[0] * middle[0] + row[1] * middle[1] + row[2] * middle[2]) * s + t[i];
        float reach = (fabsf(row[0]) * half[0] + fabsf(row[1]) * half[1] + fabsf(row[2]) * half[2]) * s;
        float ball = (row[0] * form->ball[0] + row[1] * form->ball[1] + row[2] * form->ball[2]) * s + t[i];
        float radius = form->ball[3] * s;
        out->low[i] = sac_most(centre - reach, ball - radius);
        out->high[i] = sac_least(centre + reach, ball + radius);
    }
}
