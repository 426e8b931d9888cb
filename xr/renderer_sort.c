/* Instances in the order they are drawn: level by projected size, out of sight dropped, then a counting sort
 * by model and level straight into the stream, so that a model's level is one draw. Linear in the instances,
 * and nothing is allocated once the arrays have grown to the scene. */
#include "xr/renderer_parts_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { NOWHERE = 0xFFFFFFFFu };
/* A shadow may be off by this much: its edge is soft over five texels. */
static const float SHADOW_TEXELS = 1.5f;

/* What does not depend on the instance. */
typedef struct sight {
    uint32_t views;
    float eye[2][3], planes[2][4][3]; /* planes through the eye, normals inward */
    float pixels;                     /* a unit tangent */
    float near_plane;
    float shadow[3][4]; /* rows: world to -1..1 across the shadow map */
    float texels;       /* of the shadow map, a metre; 0: none */
    float reach;        /* metres a unit of those rows */
} sight;

void sac_sort_fini(sac_sort *sort)
{
    sac_array_fini(&sort->keys);
    sac_array_fini(&sort->counts);
    sac_array_fini(&sort->order);
    sac_array_fini(&sort->distances);
    for (int i = 0; i < SAC_SORT_KINDS; i++) sac_array_fini(&sort->runs[i]);
}

static void sight_fill(sight *s, const sac_shader_frame *frame, const sac_drawing *drawing)
{
    *s = (sight){.views = drawing->view_count, .near_plane = drawing->near_plane};
    for (uint32_t v = 0; v < s->views; v++) {
        glm_vec3_copy((float *)frame->eye[v], s->eye[v]);
        s->pixels = fmaxf(s->pixels, frame->eye[v][3]);
        /* w + x, w - x, w + y, w - y of clip space are positive inside. */
        for (int p = 0; p < 4; p++) {
            for (int i = 0; i < 3; i++)
                s->planes[v][p][i] =
                    frame->clip[v][i * 4 + 3] + (p & 1 ? -1.0f : 1.0f) * frame->clip[v][i * 4 + p / 2];
            glm_vec3_normalize(s->planes[v][p]);
        }
    }
    if (frame->sun[3] > 0) {
        s->texels = 1 / frame->size[3];
        s->reach = drawing->sky.shadow_reach;
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < 4; i++) s->shadow[r][i] = 2 * frame->shadow[i * 4 + r] - (i == 3);
    }
}

/* The coarsest whose surface is off by no more than `most` pixels, or whose triangles are too small to tell.
 */
static uint32_t level_for(const sac_gallery_model *model, float pixels_a_metre, float most)
{
    uint32_t l = model->level_count - 1;
    while (l > 0 && model->levels[l].error * pixels_a_metre > most &&
           model->levels[l].edge * pixels_a_metre > 1.3f * most)
        l--;
    return l;
}

/* Distance of the nearest eye that sees it, or negative. */
static float seen_from(const sight *s, const float centre[3], float radius)
{
    float nearest = -1;
    for (uint32_t v = 0; v < s->views; v++) {
        const float x = centre[0] - s->eye[v][0], y = centre[1] - s->eye[v][1], z = centre[2] - s->eye[v][2];
        bool inside = true;
        for (int p = 0; p < 4; p++) {
            const float *n = s->planes[v][p];
            inside &= n[0] * x + n[1] * y + n[2] * z >= -radius;
        }
        float d = sqrtf(x * x + y * y + z * z);
        if (inside && (nearest < 0 || d < nearest)) nearest = d;
    }
    return nearest;
}

static bool shadow_meets(const sight *s, const float centre[3], float radius)
{
    if (!(s->texels > 0)) return false;
    const float most = 1 + radius / s->reach;
    for (int r = 0; r < 2; r++) {
        const float *m = s->shadow[r];
        if (fabsf(m[0] * centre[0] + m[1] * centre[1] + m[2] * centre[2] + m[3]) > most) return false;
    }
    return true;
}

/* A step a twelfth of an octave or so: sign is clear, so the bits of a float order like its value. */
static uint8_t distance_step(float d)
{
    uint32_t bits;
    memcpy(&bits, &d, sizeof bits);
    int32_t step = (int32_t)(bits >> 20) - (117 << 3);
    return (uint8_t)(step < 0 ? 0 : step > 255 ? 255 : step);
}

static bool is_finite_instance(const sac_instance *in)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += in->rotation[i] * 0;
    for (int i = 0; i < 3; i++) sum += in->position[i] * 0;
    return sum + in->scale * 0 + in->gloss * 0 + in->glow * 0 == 0;
}

/* Puts sort->order in order of sort->distances, near to far, stable. */
static bool near_to_far(sac_sort *sort)
{
    size_t count = sort->order.count;
    if (!count) return true;
    if (!sac_array_reserve(&sort->order, 2 * count)) return false;
    uint32_t starts[257] = {0};
    for (size_t i = 0; i < count; i++) starts[sort->distances.data[i] + 1]++;
    for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
    uint32_t *from = sort->order.data, *to = sort->order.data + count;
    for (size_t i = 0; i < count; i++) to[starts[sort->distances.data[i]]++] = from[i];
    memcpy(from, to, count * sizeof *from);
    return true;
}

static bool build_runs(sac_sort *sort, const sac_gallery *gallery)
{
    const size_t buckets = gallery->models.count * SAC_GALLERY_LEVELS;
    uint32_t at = 0;
    for (int kind = 0; kind < SAC_SORT_KINDS; kind++) {
        sort->runs[kind].count = 0;
        for (size_t b = 0; b < buckets; b++) {
            uint32_t *slot = &sort->counts.data[(size_t)kind * buckets + b];
            uint32_t count = *slot;
            *slot = at;
            if (!count) continue;
            const sac_gallery_level *level =
                &gallery->models.data[b / SAC_GALLERY_LEVELS].levels[b % SAC_GALLERY_LEVELS];
            sac_sort_run run = {level->first_index, level->index_count, at, count,
                                gallery->models.data[b / SAC_GALLERY_LEVELS].joint_count > 0};
            if (!sac_array_push(&sort->runs[kind], run)) return false;
            if (kind != SAC_SORT_SHADOW) {
                sort->shown += count;
                sort->triangles += level->index_count / 3 * count;
            }
            at += count;
        }
    }
    sort->total = at;
    return true;
}

/* An instance or a skinned one, as far as sorting goes. */
typedef struct thing {
    uint32_t model;
    float centre[3], radius, scale;
    bool ghost, casts;
} thing;

static sac_result look_at_instance(const sac_gallery *gallery, const sac_drawing *drawing, uint32_t i,
                                   thing *out, sac_error *error)
{
    const sac_instance *in = &drawing->instances[i];
    if (in->model >= gallery->models.count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL,
                             "instance %u is of model %u; the gallery has %zu", i, in->model,
                             gallery->models.count);
    if (!is_finite_instance(in))
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "instance %u is not finite", i);
    const sac_gallery_model *model = &gallery->models.data[in->model];
    if (model->joint_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, "draw it with `skinned`",
                             "instance %u is of model %u, which bends", i, in->model);
    const float *c = model->centre, *q = in->rotation, k = in->scale;
    /* v + w t + q x t, t = 2 q x v */
    const float tx = 2 * (q[1] * c[2] - q[2] * c[1]), ty = 2 * (q[2] * c[0] - q[0] * c[2]),
                tz = 2 * (q[0] * c[1] - q[1] * c[0]);
    out->model = in->model;
    out->centre[0] = in->position[0] + k * (c[0] + q[3] * tx + q[1] * tz - q[2] * ty);
    out->centre[1] = in->position[1] + k * (c[1] + q[3] * ty + q[2] * tx - q[0] * tz);
    out->centre[2] = in->position[2] + k * (c[2] + q[3] * tz + q[0] * ty - q[1] * tx);
    out->scale = fabsf(k);
    out->radius = out->scale * model->radius;
    out->ghost = in->colour < 0xFF000000u;
    out->casts = !out->ghost && in->glow < 1;
    return SAC_OK;
}

static sac_result look_at_skinned(const sac_gallery *gallery, const sac_drawing *drawing, uint32_t i,
                                  thing *out, sac_error *error)
{
    const sac_skinned *in = &drawing->skinned[i];
    if (in->model >= gallery->models.count || !gallery->models.data[in->model].joint_count)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "skinned %u is of model %u, which is no skin",
                             i, in->model);
    float sum = in->radius * 0 + in->gloss * 0 + in->glow * 0;
    for (int k = 0; k < 3; k++) sum += in->centre[k] * 0 + in->origin[k] * 0;
    if (sum != 0) return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "skinned %u is not finite", i);
    const uint32_t joints = gallery->models.data[in->model].joint_count;
    if (in->first_joint > drawing->joint_count || joints > drawing->joint_count - in->first_joint)
        return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL,
                             "skinned %u follows %u joints from %u on; the drawing has %u", i, joints,
                             in->first_joint, drawing->joint_count);
    *out = (thing){.model = in->model, .radius = in->radius, .scale = 1};
    memcpy(out->centre, in->centre, sizeof out->centre);
    out->ghost = in->colour < 0xFF000000u;
    out->casts = !out->ghost && in->glow < 1;
    return SAC_OK;
}

sac_result sac_sort_plan(sac_sort *sort, const sac_gallery *gallery, float level_pixels,
                         const sac_shader_frame *frame, const sac_drawing *drawing, sac_error *error)
{
    const uint32_t stiff = drawing->instance_count, count = stiff + drawing->skinned_count;
    const size_t buckets = gallery->models.count * SAC_GALLERY_LEVELS;
    sort->order.count = sort->distances.count = 0;
    sort->shown = sort->triangles = sort->total = 0;
    if (!sac_array_reserve(&sort->keys, 2 * (size_t)count) ||
        !sac_array_reserve(&sort->order, 2 * (size_t)count) || !sac_array_reserve(&sort->distances, count) ||
        !sac_array_reserve(&sort->counts, SAC_SORT_KINDS * buckets))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    uint32_t *counts = sort->counts.data, *keys = sort->keys.data;
    sort->counts.count = SAC_SORT_KINDS * buckets;
    if (buckets) memset(counts, 0, SAC_SORT_KINDS * buckets * sizeof *counts);

    sight s;
    sight_fill(&s, frame, drawing);
    for (uint32_t i = 0; i < count; i++) {
        thing it = {0};
        keys[2 * i] = keys[2 * i + 1] = NOWHERE;
        sac_result result = i < stiff ? look_at_instance(gallery, drawing, i, &it, error)
                                      : look_at_skinned(gallery, drawing, i - stiff, &it, error);
        if (result != SAC_OK) return result;
        const sac_gallery_model *model = &gallery->models.data[it.model];
        const float distance = seen_from(&s, it.centre, it.radius);
        if (distance >= 0) {
            const float size = it.scale * s.pixels / fmaxf(distance - it.radius, s.near_plane);
            uint32_t bucket = it.model * SAC_GALLERY_LEVELS + level_for(model, size, level_pixels / 6);
            if (it.ghost) bucket += (uint32_t)buckets;
            sort->order.data[sort->order.count++] = i;
            sort->distances.data[sort->distances.count++] = distance_step(distance);
            keys[2 * i] = bucket;
            counts[bucket]++;
        }
        if (it.casts && shadow_meets(&s, it.centre, it.radius)) {
            uint32_t bucket = (uint32_t)(2 * buckets) + it.model * SAC_GALLERY_LEVELS +
                              level_for(model, it.scale * s.texels, SHADOW_TEXELS);
            keys[2 * i + 1] = bucket;
            counts[bucket]++;
        }
    }
    if (!near_to_far(sort) || !build_runs(sort, gallery))
        return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    return SAC_OK;
}

/* Both are streamed as they are. */
static_assert(sizeof(sac_instance) == sizeof(sac_skinned), "one place holds either");

static void write_one(const sac_drawing *drawing, uint32_t i, sac_instance *out)
{
    if (i < drawing->instance_count)
        *out = drawing->instances[i];
    else
        memcpy(out, &drawing->skinned[i - drawing->instance_count], sizeof *out);
}

void sac_sort_write(sac_sort *sort, const sac_drawing *drawing, sac_instance *out)
{
    uint32_t *starts = sort->counts.data;
    const uint32_t *keys = sort->keys.data;
    const uint32_t ghosts = (uint32_t)(sort->counts.count / SAC_SORT_KINDS);
    const size_t seen = sort->order.count;
    /* Solid ones near to far, to hide what is behind before it is lit; ghosts far to near, to be seen
     * through. */
    for (size_t n = 0; n < seen; n++) {
        const uint32_t i = sort->order.data[n];
        if (keys[2 * i] < ghosts) write_one(drawing, i, &out[starts[keys[2 * i]]++]);
    }
    for (size_t n = seen; n-- > 0;) {
        const uint32_t i = sort->order.data[n];
        if (keys[2 * i] >= ghosts) write_one(drawing, i, &out[starts[keys[2 * i]]++]);
    }
    const uint32_t count = drawing->instance_count + drawing->skinned_count;
    for (uint32_t i = 0; i < count; i++)
        if (keys[2 * i + 1] != NOWHERE) write_one(drawing, i, &out[starts[keys[2 * i + 1]]++]);
}

sac_result sac_sort_balls(sac_sort *sort, const sac_drawing *drawing, sac_ball *out, uint32_t *out_solid,
                          sac_error *error)
{
    const float *eye = drawing->views[0].position;
    uint32_t solid = 0;
    sort->order.count = sort->distances.count = 0;
    for (uint32_t i = 0; i < drawing->ball_count; i++) {
        const sac_ball *ball = &drawing->balls[i];
        const float x = ball->centre[0] - eye[0], y = ball->centre[1] - eye[1], z = ball->centre[2] - eye[2];
        const float d2 = x * x + y * y + z * z;
        if (!isfinite(d2) || !isfinite(ball->radius))
            return sac_error_set(error, SAC_ERROR_ARGUMENT, NULL, "ball %u is not finite", i);
        if (ball->colour >= 0xFF000000u)
            out[solid++] = *ball;
        else if (!sac_array_push(&sort->order, i) ||
                 !sac_array_push(&sort->distances, distance_step(sqrtf(d2))))
            return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    }
    if (!near_to_far(sort)) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "out of memory");
    for (size_t n = sort->order.count, i = solid; n-- > 0; i++) out[i] = drawing->balls[sort->order.data[n]];
    *out_solid = solid;
    return SAC_OK;
}
