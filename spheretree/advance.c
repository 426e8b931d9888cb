/* How far two forms can move before they run into each other. The times at which two balls on straight lines
 * meet are exact; a turning body's balls leave their lines by no more than half the square of the angle times
 * the arm, so a ball that grows at that pace meets no later than the real one. The earliest such time over
 * the trees, nearest pairs first, is safe to go to; from there it is asked again until nothing is gained.
 *
 * A pair of leaves that is too deep at the start would stop everything. It may go deeper by `allowed` once
 * more: bodies at rest on each other can slide, nothing passes through. */
#include "spheretree/advance_internal.h"
#include "spheretree/field_internal.h"
#include "spheretree/terrain_internal.h"

/* Pairs that wait: each opening replaces one by at most 16 of the level below. */
#define WAITING (2 * SAC_TREE_MOST_DEPTH * SAC_TREE_MOST_BRANCH + 1)

/* Credits of half a nanosecond, measured: two balls; a ball and a field. */
#define BALLS_COST 50u
#define FIELD_COST 120u

/* Keeps rounding on the safe side. */
#define SAFE 0.9999f

typedef struct waiting {
    float time;
    uint32_t a, b;
} waiting;

typedef struct advance {
    sac_mover *a, *b;
    sac_mover first_a, first_b; /* at the start of the step */
    float allowed, horizon;
    bool field;      /* b answers at once; else both are balls or trees of them */
    sac_solid solid; /* b's, in world units */
    uint64_t tests, credits;
} advance;

void sac_mover_go(sac_mover *m, float share)
{
    for (int i = 0; i < 3; i++) m->at[i] = m->start[i] + m->v[i] * share;
    /* exp(w share / 2): a short polynomial of a small part of the angle, squared as often as it was halved.
     */
    float half[3] = {0.5f * share * m->w[0], 0.5f * share * m->w[1], 0.5f * share * m->w[2]};
    int halvings = 0;
    float angle = 0.5f * share * m->spin, s = 1;
    for (; angle > 0.25f && halvings < 24; halvings++) angle *= 0.5f, s *= 0.5f;
    float x2 = angle * angle;
    float sine = 1 - x2 / 6 * (1 - x2 / 20), cosine = 1 - x2 / 2 * (1 - x2 / 12 * (1 - x2 / 30));
    float q[4] = {half[0] * s * sine, half[1] * s * sine, half[2] * s * sine, cosine};
    for (; halvings > 0; halvings--) {
        float w = q[3], real = w * w - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        for (int i = 0; i < 3; i++) q[i] *= 2 * w;
        q[3] = real;
    }
    const float *r = m->turn;
    sac_transform turned = {.scale = 1,
                            .rotation = {q[3] * r[0] + q[0] * r[3] + q[1] * r[2] - q[2] * r[1],
                                         q[3] * r[1] - q[0] * r[2] + q[1] * r[3] + q[2] * r[0],
                                         q[3] * r[2] + q[0] * r[1] - q[1] * r[0] + q[2] * r[3],
                                         q[3] * r[3] - q[0] * r[0] - q[1] * r[1] - q[2] * r[2]}};
    sac_pose_normalise(&turned);
    sac_transform_rows(&turned, m->rows);
}

static void mover_init(sac_mover *m, const sac_form *form, const sac_transform *pose, const sac_sweep *sweep)
{
    float rows[3][3], c[3];
    m->form = form;
    m->scale = pose->scale;
    memcpy(m->turn, pose->rotation, sizeof m->turn);
    sac_v3_copy(sweep->centre, m->centre);
    sac_v3_copy(sweep->v, m->v);
    sac_v3_copy(sweep->w, m->w);
    m->spin = sac_v3_length(m->w);
    sac_transform_rows(pose, rows);
    for (int i = 0; i < 3; i++) c[i] = m->centre[i] * m->scale;
    sac_v3_turn(rows, c, m->start);
}

/* ---- balls ---- */

typedef struct ball {
    float arm[3], at[3], v[3], radius, reach; /* reach: length of arm */
} ball;

/* Node of a tree, or the one ball of a sphere. */
static ball ball_now(const sac_mover *m, uint32_t id)
{
    ball out;
    float local[3] = {0, 0, 0};
    out.radius = m->form->radius;
    if (m->form->tree) {
        sac_ball s = sac_ball_of(m->form->tree, id);
        local[0] = s.x, local[1] = s.y, local[2] = s.z;
        out.radius = s.r;
    }
    out.radius *= m->scale;
    sac_mover_arm(m, local, out.arm);
    out.reach = sac_v3_length(out.arm);
    for (int i = 0; i < 3; i++) out.at[i] = m->at[i] + out.arm[i];
    sac_mover_velocity(m, out.arm, out.v);
    return out;
}

static bool is_leaf(const sac_mover *m, uint32_t id)
{
    return !m->form->tree || sac_node_link(m->form->tree, id) & SAC_LINK_LEAF;
}

/* First t with |d + v t| <= r + g t, at most `most`. */
static float balls_meet(const float d[3], const float v[3], float r, float g, float most)
{
    double dd = 0, dv = 0, vv = 0;
    for (int i = 0; i < 3; i++) {
        dd += (double)d[i] * d[i];
        dv += (double)d[i] * v[i];
        vv += (double)v[i] * v[i];
    }
    double a = vv - (double)g * g, b = dv - (double)r * g, c = dd - (double)r * r;
    if (c <= 0) return 0;
    double under = b * b - a * c;
    if (under < 0) return most;
    double down = sqrt(under) - b;
    if (!(down > 0)) return most;
    double t = c / down * SAFE;
    return t < most ? (float)t : most;
}

/* Two leaves this close at the start may come this close. */
static float leaf_limit(float r, float distance, float allowed)
{
    float limit = sac_most(r - allowed, 0.5f * r);
    if (distance >= limit) return limit;
    return sac_most(distance - allowed, 0.5f * distance);
}

static float balls_time(advance *s, uint32_t id_a, const ball *known_a, uint32_t id_b, const ball *known_b)
{
    ball a = known_a ? *known_a : ball_now(s->a, id_a), b = known_b ? *known_b : ball_now(s->b, id_b);
    float d[3], v[3], r = a.radius + b.radius;
    sac_v3_sub(b.at, a.at, d);
    sac_v3_sub(b.v, a.v, v);
    float g = 0.5f * s->horizon * (s->a->spin * s->a->spin * a.reach + s->b->spin * s->b->spin * b.reach);
    s->tests += BALLS_COST;
    if (is_leaf(s->a, id_a) && is_leaf(s->b, id_b)) {
        float distance = sac_v3_length(d), limit = leaf_limit(r, distance, s->allowed);
        if (distance < sac_most(r - s->allowed, 0.5f * r)) {
            ball a0 = ball_now(&s->first_a, id_a), b0 = ball_now(&s->first_b, id_b);
            limit = leaf_limit(r, glm_vec3_distance(a0.at, b0.at), s->allowed);
            if (sac_v3_dot(d, v) >= g * distance) return s->horizon; /* parting */
        }
        return balls_meet(d, v, limit, g, s->horizon);
    }
    return balls_meet(d, v, r, g, s->horizon);
}

/* ---- fields ---- */

typedef struct facing {
    const float *p, *v;
    float limit, g, time;
} facing;

/* Along a line the distance to a triangle is convex: its tangent runs below it, so where the tangent meets
 * the limit is never too late. */
static void triangle_time(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    (void)feature;
    facing *f = user;
    float from[3], q[3], n[3], at[3], t = 0;
    sac_v3_sub(f->p, corner[0], from);
    if (sac_v3_dot(from, normal) < 0) return; /* from behind nothing holds it */
    for (int i = 0; i < 8 && t < f->time; i++) {
        sac_v3_along(f->p, t, f->v, at);
        sac_triangle_closest(corner, at, q);
        sac_v3_sub(at, q, n);
        float distance = sac_v3_unit(n), left = distance - f->limit - f->g * t;
        float closing = f->g - sac_v3_dot(n, f->v);
        if (distance == 0) break;
        if (closing <= 0) {
            t = f->time;
            break;
        }
        if (left <= 0) break;
        float step = left / closing * SAFE;
        t += step;
        if (step < 1e-4f) break;
    }
    if (t < f->time) f->time = t;
}

static float terrain_time(advance *s, const float p[3], const float v[3], float r, float limit, float g,
                          bool leaf)
{
    float unit = 1 / s->b->scale, local_p[3], local_v[3], closest[3], n[3];
    for (int i = 0; i < 3; i++) local_p[i] = p[i] * unit, local_v[i] = v[i] * unit;
    float way = sac_v3_length(local_v) * s->horizon;
    const sac_terrain *terrain = s->b->form->terrain;
    if (!leaf) {
        float reach = r * unit + way + g * unit * s->horizon;
        float d = fabsf(sac_terrain_nearest(terrain, local_p, reach, closest, n));
        s->tests += 400;
        if (d >= reach) return s->horizon;
        float speed = sac_v3_length(local_v) + g * unit;
        if (d <= r * unit) return 0;
        return sac_least(s->horizon, (d - r * unit) / speed * SAFE);
    }
    sac_box box = sac_box_empty();
    float end[3], grow = fabsf(r) * unit + g * unit * s->horizon;
    sac_v3_along(local_p, s->horizon, local_v, end);
    sac_box_add(&box, local_p);
    sac_box_add(&box, end);
    for (int i = 0; i < 3; i++) box.low[i] -= grow, box.high[i] += grow;
    facing f = {local_p, local_v, limit * unit, g * unit, s->horizon};
    s->tests += 60 + 20 * sac_terrain_walk(terrain, &box, NULL, NULL, triangle_time, &f);
    return f.time;
}

/* A ball of a in b's own space (world units), where b stands still: position, velocity, and a bound of half
 * its acceleration times the horizon, with the forces of a turning frame. */
static float field_ball(const advance *s, const sac_mover *ma, const sac_mover *mb, uint32_t id, float p[3],
                        float v[3], float *g)
{
    ball a = ball_now(ma, id);
    float x[3], drag[3], rel[3];
    sac_v3_sub(a.at, mb->at, x);
    sac_v3_cross(mb->w, x, drag);
    for (int i = 0; i < 3; i++) rel[i] = a.v[i] - mb->v[i] - drag[i];
    sac_v3_turn_back(mb->rows, x, p);
    sac_v3_turn_back(mb->rows, rel, v);
    for (int i = 0; i < 3; i++) p[i] += mb->centre[i] * mb->scale;
    float dv[3];
    sac_v3_sub(ma->v, mb->v, dv);
    float speed = sac_v3_length(dv) + ma->spin * a.reach, far = sac_v3_length(x) + speed * s->horizon;
    *g = 0.5f * s->horizon *
         (ma->spin * ma->spin * a.reach + 2 * mb->spin * speed + mb->spin * mb->spin * far);
    return a.radius;
}

static float field_time(advance *s, uint32_t id)
{
    float p[3], v[3], n[3], at[3], g;
    float r = field_ball(s, s->a, s->b, id, p, v, &g), limit = r;
    bool leaf = is_leaf(s->a, id);
    s->tests += FIELD_COST;
    if (leaf) limit = sac_most(r - s->allowed, 0.5f * r);
    if (s->b->form->kind == SAC_FORM_TERRAIN) {
        if (leaf) {
            /* What is nearer than that at the start sets its own limit. */
            float p0[3], v0[3], g0, closest[3], local[3];
            field_ball(s, &s->first_a, &s->first_b, id, p0, v0, &g0);
            for (int i = 0; i < 3; i++) local[i] = p0[i] / s->b->scale;
            float d0 =
                fabsf(sac_terrain_nearest(s->b->form->terrain, local, limit / s->b->scale, closest, n));
            s->tests += 200;
            if (d0 < FLT_MAX) limit = leaf_limit(r, d0 * s->b->scale, s->allowed);
        }
        return terrain_time(s, p, v, r, limit, g, leaf);
    }
    float distance = sac_solid_distance(&s->solid, p, n);
    if (leaf && distance < limit) {
        float p0[3], v0[3], g0, n0[3];
        field_ball(s, &s->first_a, &s->first_b, id, p0, v0, &g0);
        float d0 = sac_solid_distance(&s->solid, p0, n0);
        if (d0 < limit) limit = d0 - s->allowed;
    }
    float t = 0;
    for (int i = 0; i < 8; i++) {
        float left = distance - limit - g * t, closing = g - sac_v3_dot(n, v);
        if (closing <= 0) return s->horizon;
        if (left <= 0) return t;
        float step = left / closing * SAFE;
        t += step;
        if (t >= s->horizon) return s->horizon;
        if (step < 1e-4f) break;
        sac_v3_along(p, t, v, at);
        distance = sac_solid_distance(&s->solid, at, n);
    }
    return t;
}

/* ---- the search ---- */

/* Balls that are known need not be found again. */
static float time_of(advance *s, uint32_t id_a, const ball *a, uint32_t id_b, const ball *b)
{
    return s->field ? field_time(s, id_a) : balls_time(s, id_a, a, id_b, b);
}

/* The earliest time within the horizon at which leaves get too close, or earlier when credits run out. */
static float earliest(advance *s)
{
    waiting stack[WAITING];
    uint32_t count = 0;
    float best = s->horizon;
    stack[count++] = (waiting){time_of(s, 0, NULL, 0, NULL), 0, 0};
    while (count) {
        waiting top = stack[--count];
        if (top.time >= best) continue;
        if (s->tests >= s->credits) {
            best = top.time; /* the others that wait */
            for (uint32_t i = 0; i < count; i++) best = sac_least(best, stack[i].time);
            break;
        }
        bool leaf_a = is_leaf(s->a, top.a), leaf_b = s->field || is_leaf(s->b, top.b);
        if (leaf_a && leaf_b) {
            best = top.time;
            if (best <= 0) break;
            continue;
        }
        /* Open the larger. */
        bool open_a = leaf_b;
        if (!leaf_a && !leaf_b)
            open_a = sac_ball_of(s->a->form->tree, top.a).r * s->a->scale >=
                     sac_ball_of(s->b->form->tree, top.b).r * s->b->scale;
        const sac_tree *tree = open_a ? s->a->form->tree : s->b->form->tree;
        uint32_t link = sac_node_link(tree, open_a ? top.a : top.b), begin = count;
        ball stays;
        if (!s->field) stays = open_a ? ball_now(s->b, top.b) : ball_now(s->a, top.a);
        for (uint32_t k = 0; k < tree->blocks_per_node * SAC_LANES; k++) {
            uint32_t id = link * SAC_LANES + k;
            if (!sac_tree_has(tree, id)) continue;
            waiting child = {0, open_a ? id : top.a, open_a ? top.b : id};
            child.time = sac_most(
                top.time, time_of(s, child.a, open_a ? NULL : &stays, child.b, open_a ? &stays : NULL));
            if (child.time >= best) continue;
            /* Earliest last, so that it is looked at first. */
            uint32_t at = count++;
            for (; at > begin && stack[at - 1].time <= child.time; at--) stack[at] = stack[at - 1];
            stack[at] = child;
        }
    }
    return best;
}

static bool is_round(const sac_form *form)
{
    return form->kind == SAC_FORM_TREE || form->kind == SAC_FORM_SPHERE;
}

/* Balls around the whole forms; true when they cannot meet in this step. */
static bool roots_miss(const sac_mover *a, const sac_mover *b)
{
    if (b->form->ball[3] >= FLT_MAX || a->form->ball[3] >= FLT_MAX) return false;
    /* Turning, a form stays inside the ball about its turning point. */
    float arm_a[3], arm_b[3], d[3], v[3];
    sac_mover_arm(a, a->form->ball, arm_a);
    sac_mover_arm(b, b->form->ball, arm_b);
    float ra = a->form->ball[3] * a->scale, rb = b->form->ball[3] * b->scale;
    for (int i = 0; i < 3; i++) {
        d[i] = b->at[i] - a->at[i];
        if (a->spin == 0) d[i] -= arm_a[i];
        if (b->spin == 0) d[i] += arm_b[i];
    }
    if (a->spin != 0) ra += sac_v3_length(arm_a);
    if (b->spin != 0) rb += sac_v3_length(arm_b);
    sac_v3_sub(b->v, a->v, v);
    return balls_meet(d, v, ra + rb, 0, 2) >= 1;
}

float sac_meeting_advance(const sac_form *form_a, const sac_transform *pose_a, const sac_sweep *sweep_a,
                          const sac_form *form_b, const sac_transform *pose_b, const sac_sweep *sweep_b,
                          float allowed, uint64_t credits, uint64_t *out_tests)
{
    if (!form_a || !pose_a || !sweep_a || !form_b || !pose_b || !sweep_b) return 0;
    sac_mover a, b;
    uint64_t tests = 2 * BALLS_COST;
    mover_init(&a, form_a, pose_a, sweep_a);
    mover_init(&b, form_b, pose_b, sweep_b);
    for (int i = 0; i < 3; i++) {
        double apart = (double)pose_b->translation[i] - (double)pose_a->translation[i];
        b.start[i] = (float)(apart + (double)b.start[i] - (double)a.start[i]);
        a.start[i] = 0;
    }
    sac_mover_go(&a, 0);
    sac_mover_go(&b, 0);
    float share = 1;
    bool still = form_a->kind >= SAC_FORM_PLANE && form_b->kind >= SAC_FORM_PLANE;
    if (still || roots_miss(&a, &b)) {
        share = 1;
    } else if (!is_round(form_a) && !is_round(form_b)) {
        bool flip = form_a->kind > form_b->kind;
        share = sac_advance_convex(flip ? &b : &a, flip ? &a : &b, allowed, credits, &tests);
    } else {
        advance s = {.a = &a, .b = &b, .first_a = a, .first_b = b, .allowed = allowed, .credits = credits};
        if (!is_round(form_a)) {
            s.a = &b, s.b = &a;
            s.first_a = b, s.first_b = a;
        }
        s.tests = tests;
        s.field = !is_round(s.b->form);
        if (s.field && s.b->form->kind != SAC_FORM_TERRAIN) s.solid = sac_solid_of(s.b->form, s.b->scale);
        float spin = sac_most(a.spin, b.spin), turn = spin > 0 ? SAC_ADVANCE_TURN / spin : 2;
        float rel[3], pace, close = 0.25f * sac_most(allowed, 1e-3f);
        sac_v3_sub(b.v, a.v, rel);
        pace = sac_v3_length(rel);
        share = 0;
        float next = 1;
        for (int round = 0; round < SAC_ADVANCE_ROUNDS; round++) {
            s.horizon = sac_least(sac_least(1 - share, turn), next);
            float t = earliest(&s);
            share += t;
            if (share >= 1) {
                share = 1;
                break;
            }
            /* Straight lines tell all at once; arcs are looked at again from nearer. */
            if (t < s.horizon && (spin == 0 || t < 1e-3f || t * pace < close)) break;
            if (s.tests >= s.credits) break;
            next = t < s.horizon ? sac_most(2 * t, 0.01f) : 1;
            sac_mover_go(&a, share);
            sac_mover_go(&b, share);
        }
        tests = s.tests;
    }
    if (out_tests) *out_tests += tests;
    return share;
}
