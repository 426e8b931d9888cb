/* Boxes and capsules on their way to each other, to planes and to terrain. An axis along which two convex
 * bodies are apart stays one until they have closed their gap along it, at most at the pace of their
 * velocities along it and of their farthest points turning; then the next axis is asked. The axis comes from
 * the distance of cores a little smaller than the bodies, the gap from the bodies themselves. */
#include "spheretree/advance_internal.h"
#include "spheretree/gjk_internal.h"
#include "spheretree/terrain_internal.h"

#define HULLS_COST 1500u
#define SAFE 0.9999f

/* A box's core is smaller by this share of its thinnest half: how deep an overlap still has a direction. */
#define CORE 0.25f

/* Now: core, and by how much the body is larger: a radius all round, or the rest of a box. */
typedef struct shape {
    sac_hull core, whole;
    float radius;
} shape;

static void shape_now(const sac_mover *m, shape *out)
{
    const sac_form *f = m->form;
    out->radius = f->radius * m->scale;
    out->core.count = f->kind == SAC_FORM_CAPSULE ? 2 : 8;
    out->whole.count = out->core.count;
    float shrink =
        f->kind == SAC_FORM_BOX ? CORE * sac_least(f->half[0], sac_least(f->half[1], f->half[2])) : 0;
    for (uint32_t k = 0; k < out->core.count; k++) {
        float inner[3] = {0, 0, 0}, outer[3] = {0, 0, 0};
        if (f->kind == SAC_FORM_CAPSULE) {
            inner[1] = outer[1] = k ? f->half[1] : -f->half[1];
        } else {
            for (int i = 0; i < 3; i++) {
                float sign = k >> i & 1 ? 1.0f : -1.0f;
                inner[i] = sign * (f->half[i] - shrink);
                outer[i] = sign * f->half[i];
            }
        }
        sac_mover_arm(m, inner, out->core.points[k]);
        sac_mover_arm(m, outer, out->whole.points[k]);
        for (int i = 0; i < 3; i++) {
            out->core.points[k][i] += m->at[i];
            out->whole.points[k][i] += m->at[i];
        }
    }
}

static float most_along(const sac_hull *h, const float n[3], float sign)
{
    float most = -FLT_MAX;
    for (uint32_t i = 0; i < h->count; i++) most = sac_most(most, sign * sac_v3_dot(h->points[i], n));
    return most;
}

/* How fast the fastest point of its hull moves by turning, whatever the share: each stays as far from the
 * axis it turns about, and what is round about such a point stays round. A wheel that rolls on comes no
 * nearer by that. */
static float turning_of(const sac_mover *m)
{
    shape now;
    float most = 0, arm[3], pace[3];
    if (m->spin == 0 || m->form->kind >= SAC_FORM_PLANE) return 0;
    shape_now(m, &now);
    for (uint32_t k = 0; k < now.whole.count; k++) {
        sac_v3_sub(now.whole.points[k], m->at, arm);
        sac_v3_cross(m->w, arm, pace);
        most = sac_most(most, sac_v3_length(pace));
    }
    return most;
}

typedef struct pursuit {
    sac_mover *a, *b;
    float allowed, turning; /* turning: fastest that points move by turning, both together */
    float share;            /* found so far, 1: free */
    uint64_t tests, credits;
    /* Terrain: */
    float deepest; /* at the start */
    bool measuring;
    float reach;
} pursuit;

/* A triangle of terrain. */
typedef struct facet {
    sac_hull hull;
    float normal[3];
} facet;

/* Axes from a to b and the gaps along them, negative where the two overlap. The direction between the cores
 * leans where a body lies beside the end of another, and would stop what only slides on to it: the faces'
 * own normals do not lean. */
typedef struct apart {
    float n[7][3], gap[7], widest;
    uint32_t count;
} apart;

static void add_axis(apart *out, const float n[3], float sign, float gap)
{
    if (out->count == 0 || gap > out->widest) out->widest = gap;
    for (int i = 0; i < 3; i++) out->n[out->count][i] = sign * n[i];
    out->gap[out->count++] = gap;
}

static void along(apart *out, const sac_hull *a, const sac_hull *b, float radius, const float n[3])
{
    add_axis(out, n, 1, -most_along(b, n, -1) - most_along(a, n, 1) - radius);
}

/* Of each two faces of a box the one that parts them better. */
static void along_faces(apart *out, const sac_mover *box, const sac_hull *a, const sac_hull *b, float radius)
{
    if (box->form->kind != SAC_FORM_BOX) return;
    for (int k = 0; k < 3; k++) {
        float n[3] = {box->rows[0][k], box->rows[1][k], box->rows[2][k]};
        float ahead = -most_along(b, n, -1) - most_along(a, n, 1);
        float behind = -most_along(b, n, 1) - most_along(a, n, -1);
        add_axis(out, n, ahead >= behind ? 1 : -1, sac_most(ahead, behind) - radius);
    }
}

/* False: too deep to tell. `fixed`: a piece of b instead of its form. */
static bool gaps_now(const pursuit *p, const facet *fixed, apart *out)
{
    shape a, b;
    float n[3];
    shape_now(p->a, &a);
    out->count = 0;
    if (fixed) {
        if (!(sac_hulls_apart(&a.core, &fixed->hull, n) > 0)) return false;
        along(out, &a.whole, &fixed->hull, a.radius, n);
        for (int i = 0; i < 3; i++) n[i] = -fixed->normal[i];
        along(out, &a.whole, &fixed->hull, a.radius, n);
        return true;
    }
    if (p->b->form->kind == SAC_FORM_PLANE) {
        float up[3];
        sac_v3_turn(p->b->rows, p->b->form->normal, up);
        float offset = p->b->form->offset - sac_v3_dot(p->b->form->normal, p->b->centre);
        float ground = sac_v3_dot(up, p->b->at) + offset * p->b->scale;
        add_axis(out, up, -1, -most_along(&a.whole, up, -1) - a.radius - ground);
        return true;
    }
    shape_now(p->b, &b);
    if (!(sac_hulls_apart(&a.core, &b.core, n) > 0)) return false;
    along(out, &a.whole, &b.whole, a.radius + b.radius, n);
    along_faces(out, p->a, &a.whole, &b.whole, a.radius + b.radius);
    along_faces(out, p->b, &a.whole, &b.whole, a.radius + b.radius);
    return true;
}

static void go(pursuit *p, float share)
{
    sac_mover_go(p->a, share);
    sac_mover_go(p->b, share);
}

/* Along the axis that keeps them apart for longest. */
static float free_step(const pursuit *p, const apart *now, const float rel[3], float allowed)
{
    float most = 0;
    for (uint32_t k = 0; k < now->count; k++) {
        float closing = sac_v3_dot(rel, now->n[k]) + p->turning, left = now->gap[k] + allowed;
        /* What comes no nearer stays as it is, however deep. */
        if (closing <= 0 && now->gap[k] == now->widest) return 1;
        if (left > 0) most = closing > 0 ? sac_most(most, left / closing * SAFE) : 1;
    }
    return most;
}

static void pursue(pursuit *p, const facet *fixed)
{
    float share = 0, allowed = p->allowed, rel[3];
    apart now;
    sac_v3_sub(p->a->v, p->b->v, rel);
    for (int round = 0; round < SAC_ADVANCE_ROUNDS; round++) {
        go(p, share);
        p->tests += HULLS_COST;
        if (!gaps_now(p, fixed, &now)) {
            /* Deep inside at the start: on by what is allowed, no more. */
            float pace = sac_v3_length(rel) + p->turning;
            if (round == 0) share = pace > 0 ? allowed / pace : 1;
            break;
        }
        if (round == 0 && -now.widest > allowed) allowed += -now.widest;
        float step = free_step(p, &now, rel, allowed);
        share += step;
        if (share >= p->share || step < 1e-4f || p->tests >= p->credits) break;
    }
    if (share < p->share) p->share = share;
}

static void pursue_triangle(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    pursuit *p = user;
    (void)feature;
    facet triangle = {.hull.count = 3};
    float from[3];
    apart now;
    go(p, 0);
    sac_v3_turn(p->b->rows, normal, triangle.normal);
    for (int k = 0; k < 3; k++) {
        sac_mover_arm(p->b, corner[k], triangle.hull.points[k]);
        for (int i = 0; i < 3; i++) triangle.hull.points[k][i] += p->b->at[i];
    }
    float middle[3];
    sac_mover_arm(p->a, p->a->form->ball, middle);
    for (int i = 0; i < 3; i++) middle[i] += p->a->at[i];
    sac_v3_sub(middle, triangle.hull.points[0], from);
    float height = sac_v3_dot(from, triangle.normal), speed = -sac_v3_dot(p->a->v, triangle.normal);
    p->tests += 20;
    if (height < 0 || height > p->reach + sac_most(speed, 0)) return; /* behind it, or never near */
    if (p->measuring) {
        p->tests += HULLS_COST;
        if (height < p->reach && gaps_now(p, &triangle, &now) && -now.widest > p->deepest)
            p->deepest = -now.widest;
        return;
    }
    if (p->tests >= p->credits) {
        p->share = 0;
        return;
    }
    pursue(p, &triangle);
}

static void pursue_terrain(pursuit *p)
{
    /* Terrain does not turn: its movement, should it have any, is taken into a's. */
    float middle[3], d[3], way[3], local[3], unit = 1 / p->b->scale;
    sac_mover *a = p->a, *b = p->b;
    for (int i = 0; i < 3; i++) a->v[i] -= b->v[i], b->v[i] = b->w[i] = 0;
    b->spin = 0;
    sac_mover_arm(a, a->form->ball, middle);
    p->reach = a->form->ball[3] * a->scale + (a->spin > 0 ? 2 * sac_v3_length(middle) : 0);
    sac_box box = sac_box_empty();
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) d[i] = a->at[i] + middle[i] + (k ? a->v[i] : 0) - b->at[i];
        sac_v3_turn_back(b->rows, d, way);
        for (int i = 0; i < 3; i++) local[i] = way[i] * unit + b->centre[i];
        sac_box_add(&box, local);
    }
    for (int i = 0; i < 3; i++) {
        box.low[i] -= p->reach * unit;
        box.high[i] += p->reach * unit;
    }
    const sac_terrain *t = b->form->terrain;
    p->measuring = true;
    p->tests += sac_terrain_walk(t, &box, NULL, NULL, pursue_triangle, p);
    p->measuring = false;
    if (p->deepest > p->allowed) p->allowed += p->deepest;
    p->tests += sac_terrain_walk(t, &box, NULL, NULL, pursue_triangle, p);
}

float sac_advance_convex(sac_mover *a, sac_mover *b, float allowed, uint64_t credits, uint64_t *tests)
{
    pursuit p = {.a = a, .b = b, .share = 1, .credits = credits, .tests = *tests, .deepest = -FLT_MAX};
    float thin = sac_least(a->form->thickness * a->scale,
                           b->form->thickness < FLT_MAX ? b->form->thickness * b->scale : FLT_MAX);
    if (b->form->kind == SAC_FORM_TERRAIN) thin = a->form->thickness * a->scale;
    p.allowed = sac_least(allowed, CORE * 0.5f * thin);
    p.turning = turning_of(a) + turning_of(b);
    if (b->form->kind == SAC_FORM_TERRAIN)
        pursue_terrain(&p);
    else
        pursue(&p, NULL);
    *tests = p.tests;
    return p.share;
}
