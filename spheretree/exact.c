/* Spheres, capsules, boxes and planes against each other: all contacts at once. */
#include "spheretree/exact_internal.h"

/* Credits for a pair, of half a nanosecond each, measured. */
#define ROUND_COST 300u
#define CLIPS_COST 900u /* box with box, plane or capsule */

void sac_segments_nearest(const float p[2][3], const float q[2][3], float *out_s, float *out_t)
{
    float u[3], v[3], w[3];
    sac_v3_sub(p[1], p[0], u);
    sac_v3_sub(q[1], q[0], v);
    sac_v3_sub(p[0], q[0], w);
    float uu = sac_v3_dot(u, u), vv = sac_v3_dot(v, v), uv = sac_v3_dot(u, v), uw = sac_v3_dot(u, w),
          vw = sac_v3_dot(v, w), s = 0, t = 0;
    /* Lines first, then one clamped and the other drawn after it. */
    float det = uu * vv - uv * uv;
    if (det > 1e-7f * uu * vv) s = sac_clamp((uv * vw - vv * uw) / det, 0, 1);
    if (vv > 0) t = (uv * s + vw) / vv;
    if (t < 0 || t > 1 || !(det > 1e-7f * uu * vv)) {
        t = sac_clamp(t, 0, 1);
        if (uu > 0) s = sac_clamp((uv * t - uw) / uu, 0, 1);
    }
    *out_s = s;
    *out_t = t;
}

/* A ball of x against the whole of y. */
static void ball_against(sac_exact *e, const float centre[3], float radius, uint32_t feature)
{
    float n[3], point[3], normal[3];
    float d = sac_placed_distance(&e->y, centre, n);
    sac_v3_along(centre, -0.5f * (d + radius), n, point);
    for (int i = 0; i < 3; i++) normal[i] = -n[i];
    sac_exact_push(e, radius - d, point, normal, feature, 0);
}

/* A ball of x against a ball of y. `spare`: a direction for centres that coincide. */
static void ball_against_ball(sac_exact *e, const float p[3], const float q[3], const float spare[3],
                              uint32_t feature_x, uint32_t feature_y)
{
    float n[3], point[3], rx = e->x.solid.radius, ry = e->y.solid.radius;
    sac_v3_sub(q, p, n);
    float d = sac_v3_length(n);
    if (d > 1e-6f * (rx + ry))
        for (int i = 0; i < 3; i++) n[i] /= d;
    else
        sac_v3_copy(spare, n);
    sac_v3_along(p, 0.5f * (rx + d - ry), n, point);
    sac_exact_push(e, rx + ry - d, point, n, feature_x, feature_y);
}

/* Ends against the other's axis both ways, and where the axes pass each other. Two capsules side by side
 * touch at both ends of the stretch they share. Features: 0 and 1 ends, 2 and 3 opposite the other's ends, 4
 * the pass. */
static void capsules(sac_exact *e)
{
    float p[2][3], q[2][3], on[3], spare[3], u[3], v[3], s, t;
    sac_placed_axis(&e->x, p);
    sac_placed_axis(&e->y, q);
    sac_v3_sub(p[1], p[0], u);
    sac_v3_sub(q[1], q[0], v);
    sac_v3_cross(u, v, spare);
    sac_v3_unit(spare);
    sac_segments_nearest(p, q, &s, &t);
    if (s > 0 && s < 1 && t > 0 && t < 1) {
        float at[3];
        sac_v3_along(p[0], s, u, at);
        sac_v3_along(q[0], t, v, on);
        ball_against_ball(e, at, on, spare, 4, 4);
    }
    float uu = sac_v3_dot(u, u), vv = sac_v3_dot(v, v);
    for (uint32_t k = 0; k < 2; k++) {
        float d[3];
        sac_v3_sub(p[k], q[0], d);
        t = vv > 0 ? sac_clamp(sac_v3_dot(d, v) / vv, 0, 1) : 0;
        sac_v3_along(q[0], t, v, on);
        ball_against_ball(e, p[k], on, spare, k, 2 + k);
        sac_v3_sub(q[k], p[0], d);
        s = uu > 0 ? sac_clamp(sac_v3_dot(d, u) / uu, 0, 1) : 0;
        sac_v3_along(p[0], s, u, on);
        ball_against_ball(e, on, q[k], spare, 2 + k, k);
    }
}

/* The lowest point of the box's distance along the axis; it is convex there. */
static float lowest(const sac_solid *box, const float p[3], const float u[3])
{
    float low = 0, high = 1, n[3], at[3];
    for (int i = 0; i < 24; i++) {
        float middle = 0.5f * (low + high);
        sac_v3_along(p, middle, u, at);
        sac_solid_distance(box, at, n);
        if (sac_v3_dot(n, u) > 0)
            high = middle;
        else
            low = middle;
    }
    return 0.5f * (low + high);
}

/* A ball of the capsule at a point of the box's space. */
static void capsule_touch(sac_exact *e, const float at[3], float distance, const float n[3], uint32_t feature)
{
    float d[3], point[3], normal[3], radius = e->x.solid.radius;
    sac_v3_along(at, -0.5f * (distance + radius), n, d);
    sac_v3_turn(e->y.rows, d, point);
    sac_v3_turn(e->y.rows, n, normal);
    for (int i = 0; i < 3; i++) point[i] += e->y.at[i], normal[i] = -normal[i];
    sac_exact_push(e, radius - distance, point, normal, feature, 0);
}

/* In the box's space. Over a face the capsule touches at both ends of its stretch above the face; at an edge
 * or corner in one point. */
static void capsule_against_box(sac_exact *e)
{
    const sac_solid *box = &e->y.solid;
    float axis[2][3], p[2][3], u[3], n[3], at[3], d[3];
    sac_placed_axis(&e->x, axis);
    for (int k = 0; k < 2; k++) {
        sac_v3_sub(axis[k], e->y.at, d);
        sac_v3_turn_back(e->y.rows, d, p[k]);
    }
    sac_v3_sub(p[1], p[0], u);
    float t = lowest(box, p[0], u), radius = e->x.solid.radius, ends[2] = {0, 1};
    sac_v3_along(p[0], t, u, at);
    float distance = sac_solid_distance(box, at, n);
    if (distance > radius + e->margin) return;
    int face = -1;
    for (int i = 0; i < 3; i++)
        if (fabsf(n[i]) > 0.98f) face = i;
    for (int i = 0; face >= 0 && i < 3; i++) {
        if (i == face) continue;
        if (fabsf(u[i]) < 1e-12f) {
            if (fabsf(p[0][i]) > box->half[i]) face = -1;
            continue;
        }
        float enter = (-box->half[i] - p[0][i]) / u[i], leave = (box->half[i] - p[0][i]) / u[i];
        if (enter > leave) {
            float swap = enter;
            enter = leave, leave = swap;
        }
        ends[0] = sac_most(ends[0], enter);
        ends[1] = sac_least(ends[1], leave);
    }
    bool flat = face >= 0 && ends[0] <= ends[1];
    float shallowest = FLT_MAX;
    for (uint32_t k = 0; k < 2 && flat; k++) {
        float on_face[3], out[3] = {0, 0, 0};
        sac_v3_along(p[0], ends[k], u, on_face);
        out[face] = n[face] < 0 ? -1.0f : 1.0f;
        float above = out[face] * on_face[face] - box->half[face];
        shallowest = sac_least(shallowest, above);
        capsule_touch(e, on_face, above, out, k);
    }
    /* Past the border of the face it may reach a little lower. */
    if (!flat || distance < shallowest - 0.01f * radius) capsule_touch(e, at, distance, n, 2);
}

static void box_against_plane(sac_exact *e)
{
    for (uint32_t k = 0; k < 8; k++) {
        float corner[3], n[3], point[3], normal[3];
        sac_placed_corner(&e->x, k, corner);
        float d = sac_placed_distance(&e->y, corner, n);
        sac_v3_along(corner, -0.5f * d, n, point);
        for (int i = 0; i < 3; i++) normal[i] = -n[i];
        sac_exact_push(e, -d, point, normal, k, 0);
    }
}

static void place(sac_placed *out, const sac_form *form, const sac_transform *pose, const sac_exact *e)
{
    if (e->terrain) {
        float m[3][4], scale = sac_transform_between(&e->frame, pose, m);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) out->rows[i][k] = m[i][k] / scale;
            out->at[i] = m[i][3];
        }
        out->solid = sac_solid_of(form, scale);
        return;
    }
    sac_transform_rows(pose, out->rows);
    for (int i = 0; i < 3; i++)
        out->at[i] = (float)((double)pose->translation[i] - (double)e->frame.translation[i]);
    out->solid = sac_solid_of(form, pose->scale);
}

static void set_up(sac_exact *e, const sac_meeting *m)
{
    const sac_form *x = m->swapped ? m->b : m->a, *y = m->swapped ? m->a : m->b;
    const sac_transform *pose_x = m->swapped ? m->pose_b : m->pose_a;
    const sac_transform *pose_y = m->swapped ? m->pose_a : m->pose_b;
    e->flipped = m->swapped;
    e->terrain = y->kind == SAC_FORM_TERRAIN ? y->terrain : NULL;
    e->frame = sac_transform_identity();
    if (e->terrain)
        e->frame = *pose_y;
    else
        sac_v3_copy(pose_x->translation, e->frame.translation);
    e->margin = m->margin / e->frame.scale;
    e->tests = 0;
    e->list.count = 0;
    e->list.margin = e->margin;
    place(&e->x, x, pose_x, e);
    if (!e->terrain) place(&e->y, y, pose_y, e);
    float size_x = x->ball[3] * pose_x->scale,
          size_y = y->ball[3] < FLT_MAX ? y->ball[3] * pose_y->scale : size_x;
    e->list.size = sac_least(size_x, size_y) / e->frame.scale;
}

bool sac_exact_begin(sac_meeting *m)
{
    m->levels = 0;
    m->swapped = m->a->kind > m->b->kind;
    sac_form_kind x = m->swapped ? m->b->kind : m->a->kind, y = m->swapped ? m->a->kind : m->b->kind;
    m->scale = sac_transform_between(m->pose_a, m->pose_b, m->m);
    if (x >= SAC_FORM_PLANE) return false; /* neither moves */
    return y == SAC_FORM_PLANE || !sac_meeting_balls_apart(m);
}

uint32_t sac_exact_contacts(const sac_meeting *m, uint32_t most, sac_contact *out, uint64_t *tests)
{
    sac_exact e;
    set_up(&e, m);
    sac_form_kind x = e.x.solid.kind, y = m->swapped ? m->a->kind : m->b->kind;
    e.tests += x >= SAC_FORM_CAPSULE && (x == SAC_FORM_BOX || y == SAC_FORM_BOX) ? CLIPS_COST : ROUND_COST;
    if (y == SAC_FORM_TERRAIN) {
        sac_exact_terrain(&e);
    } else if (x == SAC_FORM_SPHERE) {
        ball_against(&e, e.x.at, e.x.solid.radius, 0);
    } else if (x == SAC_FORM_CAPSULE && y == SAC_FORM_PLANE) {
        float ends[2][3];
        sac_placed_axis(&e.x, ends);
        for (uint32_t k = 0; k < 2; k++) ball_against(&e, ends[k], e.x.solid.radius, k);
    } else if (x == SAC_FORM_CAPSULE && y == SAC_FORM_CAPSULE) {
        capsules(&e);
    } else if (x == SAC_FORM_CAPSULE) {
        capsule_against_box(&e);
    } else if (y == SAC_FORM_PLANE) {
        box_against_plane(&e);
    } else {
        sac_exact_boxes(&e);
    }
    uint32_t chosen[SAC_CONTACT_MOST], count = sac_touch_choose(&e.list, most, chosen);
    float rows[3][3];
    sac_transform_rows(&e.frame, rows);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = chosen[i];
        sac_contact *c = &out[i];
        c->node_a = e.list.a[t], c->node_b = e.list.b[t];
        c->final = true;
        c->depth = e.list.depth[t] * e.frame.scale;
        c->uncertainty = 0;
        sac_transform_point(&e.frame, (float[3]){e.list.x[t], e.list.y[t], e.list.z[t]}, c->point);
        sac_v3_turn(rows, (float[3]){e.list.nx[t], e.list.ny[t], e.list.nz[t]}, c->normal);
    }
    *tests += e.tests;
    return count;
}
