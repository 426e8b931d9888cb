/* What the scheduler decided, as colours, spheres and lines. */
#include "xr/insight_internal.h"

#include <string.h>

static const float RINGS[4] = {5, 10, 20, 30};
enum { SEGMENTS = 96 };

void sac_insight_init(sac_insight *insight)
{
    memset(insight, 0, sizeof *insight);
    insight->groups = 8;
    insight->levels = 3;
}

void sac_insight_fini(sac_insight *insight)
{
    sac_array_fini(&insight->spheres);
    sac_array_fini(&insight->touches);
    sac_array_fini(&insight->known);
}

void sac_insight_note(sac_insight *insight, const sac_step_report *report)
{
    insight->frames[insight->frame_next] = *report;
    insight->frame_next = (insight->frame_next + 1) % SAC_INSIGHT_FRAMES;
    if (insight->frame_count < SAC_INSIGHT_FRAMES) insight->frame_count++;
    if (report->descent.groups >= 2) insight->groups = report->descent.groups;
    for (uint32_t l = insight->levels + 1; l <= SAC_TREE_MOST_DEPTH; l++)
        if (report->descent.pairs_at_level[l]) insight->levels = l;
}

/* ---- colours ---- */

/* Lightness rises by even steps (CIE L* 30 to 91), hue goes from indigo over teal to yellow. */
static const uint8_t SCALE[9][3] = {{55, 63, 140},   {52, 86, 159},   {44, 110, 172},
                                    {38, 135, 177},  {52, 159, 170},  {94, 181, 151},
                                    {146, 200, 125}, {201, 215, 102}, {252, 229, 94}};

uint32_t sac_insight_scale(float t)
{
    t = t > 0 ? (t < 1 ? t : 1) * 8 : 0; /* not a number: dark */
    int i = t < 8 ? (int)t : 7;
    uint32_t out = 0xFF000000u;
    for (int k = 0; k < 3; k++) {
        float c = (float)SCALE[i][k] + (t - (float)i) * ((float)SCALE[i + 1][k] - (float)SCALE[i][k]);
        out |= (uint32_t)(c + 0.5f) << 8 * k;
    }
    return out;
}

uint32_t sac_insight_group_colour(const sac_insight *insight, uint32_t group)
{
    return sac_insight_scale(1 - (float)group / (float)(insight->groups > 1 ? insight->groups - 1 : 1));
}

uint32_t sac_insight_level_colour(const sac_insight *insight, uint32_t level)
{
    return sac_insight_scale((float)level / (float)(insight->levels ? insight->levels : 1));
}

uint32_t sac_insight_jnd_colour(float jnd)
{
    return sac_insight_scale(log2f(1 + (jnd > 0 ? jnd : 0)) / log2f(1 + SAC_INSIGHT_JND_MOST));
}

static uint32_t with_alpha(uint32_t colour, uint32_t alpha) { return (colour & 0x00FFFFFFu) | alpha << 24; }

void sac_insight_colour(const sac_insight *insight, const sac_body_state *state, sac_instance *instance)
{
    if (state->kind == SAC_BODY_STATIC) return;
    /* What lies where they touch is seen through them. */
    if (insight->front || insight->contacts) instance->colour = with_alpha(instance->colour, 0x58);
    if (insight->paint == SAC_PAINT_MATERIAL) return;
    uint32_t alpha = instance->colour & 0xFF000000u, colour;
    if (!state->awake)
        colour = SAC_INSIGHT_ASLEEP;
    else if (state->group == SAC_BODY_ALONE ||
             (insight->paint == SAC_PAINT_LEVEL && state->level == SAC_BODY_ALONE))
        colour = SAC_INSIGHT_ALONE;
    else if (insight->paint == SAC_PAINT_GROUP)
        colour = sac_insight_group_colour(insight, state->group);
    else if (insight->paint == SAC_PAINT_LEVEL)
        colour = sac_insight_level_colour(insight, state->level);
    else
        colour = sac_insight_jnd_colour(state->jnd);
    instance->colour = alpha | (colour & 0x00FFFFFFu);
    instance->gloss = 0.1f;
    instance->glow = 0.35f; /* shade must not be taken for a darker value */
}

/* ---- fronts ---- */

/* True the first time; the table has a free place. */
static bool is_new(uint64_t *table, size_t mask, uint64_t key)
{
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 40) & mask; /* bits all of the key has a say in */
    for (; table[at]; at = (at + 1) & mask)
        if (table[at] == key) return false;
    table[at] = key;
    return true;
}

static float distance2(const float a[3], const float b[3])
{
    float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* How far from the eye spheres are still drawn when there are too many: squared, by a count in log-spaced
 * rings. */
static float reach2(const sac_insight *insight, size_t count, const float eye[3])
{
    uint32_t rings[64] = {0};
    size_t sum = 0;
    if (count <= SAC_INSIGHT_MOST_BALLS) return FLT_MAX;
    for (size_t i = 0; i < count; i++) {
        int e;
        frexpf(distance2(insight->spheres.data[i].centre, eye), &e);
        rings[e < -32 ? 0 : e > 31 ? 63 : e + 32]++;
    }
    int r = 0;
    while (r < 63 && sum + rings[r] <= SAC_INSIGHT_MOST_BALLS) sum += rings[r++];
    return ldexpf(1, r - 32);
}

/* Each node once, whatever number of pairs it stands in. */
static size_t distinct(sac_insight *insight, size_t count)
{
    size_t room = 64, kept = 0;
    while (room < 2 * count) room *= 2;
    if (!sac_array_reserve(&insight->known, room)) return SIZE_MAX;
    memset(insight->known.data, 0, room * sizeof *insight->known.data);
    for (size_t i = 0; i < count; i++) {
        const sac_front_view *s = &insight->spheres.data[i];
        uint64_t key = (s->body.value & UINT32_MAX) << 32 | (uint64_t)(s->node + 1u);
        if (is_new(insight->known.data, room - 1, key)) insight->spheres.data[kept++] = *s;
    }
    return kept;
}

/* Its twelve edges. */
static bool build_box(const sac_box *box, uint32_t colour, sac_line_array *lines)
{
    for (int axis = 0; axis < 3; axis++)
        for (int corner = 0; corner < 4; corner++) {
            sac_line line = {.colour = with_alpha(colour, 190), .width = 1};
            for (int k = 0; k < 3; k++) line.from[k] = line.to[k] = box->low[k];
            line.to[axis] = box->high[axis];
            for (int side = 0; side < 2; side++) {
                int k = (axis + 1 + side) % 3;
                if (corner >> side & 1) line.from[k] = line.to[k] = box->high[k];
            }
            if (!sac_array_push(lines, line)) return false;
        }
    return true;
}

static bool build_front(sac_insight *insight, const sac_world *world, const float eye[3],
                        sac_line_array *lines, sac_ball_array *balls)
{
    enum { MOST = 1 << 18 };
    size_t room = insight->spheres.capacity < MOST ? insight->spheres.capacity : MOST;
    size_t count = sac_world_front(world, insight->spheres.data, (uint32_t)room);
    if (count > room && room < MOST) {
        /* A quarter more, so that a pile that grows by a few does not ask each frame. */
        room = count + count / 4 < MOST ? count + count / 4 : MOST;
        if (!sac_array_reserve(&insight->spheres, room)) return false;
        count = sac_world_front(world, insight->spheres.data, (uint32_t)room);
    }
    count = distinct(insight, count < room ? count : room);
    if (count == SIZE_MAX) return false;
    float most2 = reach2(insight, count, eye);
    for (size_t i = 0, drawn = 0; i < count && drawn < SAC_INSIGHT_MOST_BALLS; i++) {
        const sac_front_view *s = &insight->spheres.data[i];
        if (!(distance2(s->centre, eye) <= most2)) continue;
        if (s->box.low[0] <= s->box.high[0]) {
            if (!build_box(&s->box, sac_insight_level_colour(insight, s->level), lines)) return false;
            drawn++;
            continue;
        }
        /* A ball is exact: as fine as it gets. */
        uint32_t level = s->levels ? s->level : insight->levels;
        sac_ball ball = {.radius = s->radius,
                         .colour = with_alpha(sac_insight_level_colour(insight, level), 110)};
        memcpy(ball.centre, s->centre, sizeof ball.centre);
        if (!sac_array_push(balls, ball)) return false;
        drawn++;
    }
    return true;
}

/* ---- contacts ---- */

/* Length of an impulse's line: a resting cup and a thrown wrench on the same scale. */
static float impulse_length(float impulse)
{
    return 0.015f + 0.04f * log2f(1 + (impulse > 0 ? impulse : 0) / 0.01f);
}

static bool build_contacts(sac_insight *insight, const sac_world *world, sac_line_array *lines,
                           sac_ball_array *balls)
{
    size_t room = insight->touches.capacity;
    size_t count = sac_world_contacts(world, insight->touches.data, (uint32_t)room);
    if (count > room) {
        if (!sac_array_reserve(&insight->touches, count + count / 4)) return false;
        count = sac_world_contacts(world, insight->touches.data, (uint32_t)insight->touches.capacity);
    }
    for (size_t i = 0; i < count; i++) {
        const sac_contact_view *c = &insight->touches.data[i];
        bool presses = c->impulse > 0;
        sac_ball ball = {.radius = presses ? 0.006f : 0.003f,
                         .colour = presses ? SAC_INSIGHT_IMPULSE : SAC_INSIGHT_NEAR};
        memcpy(ball.centre, c->point, sizeof ball.centre);
        if (!sac_array_push(balls, ball)) return false;
        if (!presses) continue;
        sac_line line = {.colour = SAC_INSIGHT_IMPULSE, .width = 3};
        float length = impulse_length(c->impulse);
        for (int k = 0; k < 3; k++) {
            line.from[k] = c->point[k];
            line.to[k] = c->point[k] + length * c->normal[k];
        }
        if (!sac_array_push(lines, line)) return false;
    }
    return true;
}

/* ---- gaze ---- */

typedef struct sight {
    float origin[3], axis[3], right[3], up[3];
    bool gaze;
} sight;

static void turned(const float q[4], const float v[3], float out[3])
{
    sac_transform t = {.scale = 1};
    memcpy(t.rotation, q, sizeof t.rotation);
    sac_transform_point(&t, v, out);
}

static void cross3(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static bool make_unit(float v[3])
{
    float n = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(n > 0 && n <= FLT_MAX)) return false;
    for (int k = 0; k < 3; k++) v[k] /= n;
    return true;
}

/* Where one looks from and to: gaze, or the middle of the eyes along the head's axis. */
static bool find_sight(const sac_viewer *viewer, sight *out)
{
    if (!viewer || viewer->eye_count == 0) return false;
    float head_up[3], sum[3] = {0};
    uint32_t eyes = viewer->eye_count;
    if (eyes > SAC_VIEWER_OWN_EYES && !viewer->more_eyes) eyes = SAC_VIEWER_OWN_EYES;
    turned(viewer->eyes[0].rotation, (float[3]){0, 1, 0}, head_up);
    turned(viewer->eyes[0].rotation, (float[3]){0, 0, -1}, out->axis);
    for (uint32_t i = 0; i < eyes; i++)
        for (int k = 0; k < 3; k++) sum[k] += sac_viewer_eye(viewer, i)->position[k] / (float)eyes;
    memcpy(out->origin, sum, sizeof sum);
    out->gaze = viewer->gaze.valid && sac_vec3_is_finite(viewer->gaze.origin) &&
                sac_vec3_is_finite(viewer->gaze.direction);
    if (out->gaze) {
        float axis[3];
        memcpy(axis, viewer->gaze.direction, sizeof axis);
        out->gaze = make_unit(axis);
        if (out->gaze) {
            memcpy(out->axis, axis, sizeof axis);
            memcpy(out->origin, viewer->gaze.origin, sizeof out->origin);
        }
    }
    cross3(out->axis, head_up, out->right);
    if (!make_unit(out->axis) || !make_unit(out->right) || !sac_vec3_is_finite(out->origin)) return false;
    cross3(out->right, out->axis, out->up);
    return true;
}

static bool build_gaze(const sight *s, float hit, sac_line_array *lines, sac_ball_array *balls)
{
    /* Begins below the eye, or it would be seen end on. */
    sac_line line = {.colour = SAC_INSIGHT_GAZE, .width = 3};
    sac_ball ball = {.radius = 0.008f * (hit < 4 ? 1 + hit : 5), .colour = SAC_INSIGHT_GAZE};
    for (int k = 0; k < 3; k++) {
        line.from[k] = s->origin[k] + 0.25f * s->axis[k] - 0.12f * s->up[k] + 0.04f * s->right[k];
        line.to[k] = ball.centre[k] = s->origin[k] + hit * s->axis[k];
    }
    return sac_array_push(lines, line) && sac_array_push(balls, ball);
}

/* A point `distance` from the eye, `angle` off the axis, `round` about it. */
static void at_angle(const sight *s, float distance, float angle, float round, float out[3])
{
    float c = distance * cosf(angle), side = distance * sinf(angle);
    for (int k = 0; k < 3; k++)
        out[k] = s->origin[k] + c * s->axis[k] + side * (cosf(round) * s->right[k] + sinf(round) * s->up[k]);
}

/* Digits as strokes on a grid of 2 by 4. */
static const struct {
    char letter;
    uint8_t count, at[6][2];
} GLYPHS[] = {{'0', 5, {{0, 0}, {2, 0}, {2, 4}, {0, 4}, {0, 0}}},
              {'1', 2, {{1, 0}, {1, 4}}},
              {'2', 6, {{0, 4}, {2, 4}, {2, 2}, {0, 2}, {0, 0}, {2, 0}}},
              {'3', 6, {{0, 4}, {2, 4}, {1, 2}, {2, 2}, {2, 0}, {0, 0}}},
              {'5', 6, {{2, 4}, {0, 4}, {0, 2}, {2, 2}, {2, 0}, {0, 0}}},
              {'o', 5, {{0, 3}, {1, 3}, {1, 4}, {0, 4}, {0, 3}}}}; /* the degree sign */

static bool label(const sight *s, const float at[3], float unit, const char *text, uint32_t colour,
                  float width, sac_line_array *lines)
{
    for (float x = 0; *text; text++, x += 3) {
        for (size_t g = 0; g < sizeof GLYPHS / sizeof *GLYPHS; g++) {
            if (GLYPHS[g].letter != *text) continue;
            for (int i = 0; i + 1 < GLYPHS[g].count; i++) {
                const uint8_t *p = GLYPHS[g].at[i], *q = GLYPHS[g].at[i + 1];
                sac_line line = {.colour = colour, .width = width};
                for (int k = 0; k < 3; k++) {
                    line.from[k] = at[k] + unit * ((x + (float)p[0]) * s->right[k] + (float)p[1] * s->up[k]);
                    line.to[k] = at[k] + unit * ((x + (float)q[0]) * s->right[k] + (float)q[1] * s->up[k]);
                }
                if (!sac_array_push(lines, line)) return false;
            }
        }
    }
    return true;
}

static bool ring(const sight *s, float distance, int r, uint32_t colour, float width, sac_line_array *lines)
{
    static const char *const NAMES[] = {"5o", "10o", "20o", "30o"};
    const float turn = 6.2831853f, angle = RINGS[r] * turn / 360;
    sac_line line = {.colour = colour, .width = width};
    for (int i = 0; i < SEGMENTS; i++) {
        if (!s->gaze && i % 2) continue;
        at_angle(s, distance, angle, turn * (float)i / SEGMENTS, line.from);
        at_angle(s, distance, angle, turn * (float)(i + 1) / SEGMENTS, line.to);
        if (!sac_array_push(lines, line)) return false;
    }
    float at[3];
    at_angle(s, distance, angle + 0.007f, turn / 8, at);
    return label(s, at, 0.008f * distance, NAMES[r], colour, 0.7f * width, lines);
}

/* Cones about the axis, cut where they can be read: a metre away, or before what is nearer. Each dark line
 * has a light one behind it, so that it is seen on anything. */
static bool build_rings(const sight *s, float hit, sac_line_array *lines)
{
    float distance = hit * 0.9f < 1 ? hit * 0.9f : 1;
    if (distance < 0.3f) distance = 0.3f;
    for (int r = 0; r < 4; r++)
        if (!ring(s, 1.01f * distance, r, SAC_INSIGHT_HALO, -4, lines) ||
            !ring(s, distance, r, s->gaze ? SAC_INSIGHT_RING : SAC_INSIGHT_ASLEEP, -2, lines))
            return false;
    return true;
}

bool sac_insight_build(sac_insight *insight, const sac_world *world, const sac_viewer *viewer,
                       sac_line_array *lines, sac_ball_array *balls)
{
    sight s = {0};
    bool seen = find_sight(viewer, &s);
    if (insight->front && !build_front(insight, world, s.origin, lines, balls)) return false;
    if (insight->contacts && !build_contacts(insight, world, lines, balls)) return false;
    if (!seen || !(insight->gaze || insight->rings)) return true;
    sac_world_hit hit = {0};
    const float far = 20;
    if (sac_world_ray(world, s.origin, s.axis, far, UINT32_MAX, &hit, NULL) != SAC_OK || !hit.body.value)
        hit.t = far;
    if (insight->gaze && s.gaze && !build_gaze(&s, hit.t, lines, balls)) return false;
    return !insight->rings || build_rings(&s, hit.t, lines);
}
