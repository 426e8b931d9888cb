/* Spheres, capsules and boxes on terrain. Balls and corners are probed; ridges and rims, which a corner may
 * pass by, are cut with the body. In the terrain's own frame. */
#include "spheretree/exact_internal.h"
#include "spheretree/terrain_internal.h"

/* Credits, measured: a probe, and each box or triangle it looks at. */
#define PROBE_COST 60u
#define LOOK_COST 16u

/* Of a ridge's name, against those of corners. */
#define RIDGE 0x40000000u

/* A ball of x. `reach` beyond its radius: how far under a surface it is still pushed up. */
static void ball_on_terrain(sac_exact *e, const float centre[3], float radius, float reach, uint32_t feature)
{
    sac_terrain_touch touches[SAC_CONTACT_MOST];
    uint64_t looks = 0;
    /* Over heights, high corners are many and quickly told. */
    if (e->terrain->posts && reach > 0 &&
        !sac_terrain_meets(e->terrain, centre, radius + e->margin, &looks)) {
        e->tests += looks * LOOK_COST;
        return;
    }
    uint32_t count =
        sac_terrain_probe(e->terrain, centre, radius + e->margin + reach, touches, SAC_CONTACT_MOST, &looks);
    e->tests += PROBE_COST + looks * LOOK_COST;
    for (uint32_t i = 0; i < count; i++) {
        float point[3], normal[3];
        const sac_terrain_touch *t = &touches[i];
        sac_v3_along(centre, -0.5f * (t->distance + radius), t->normal, point);
        for (int k = 0; k < 3; k++) normal[k] = -t->normal[k];
        sac_exact_push(e, radius - t->distance, point, normal, feature, t->feature);
    }
}

/* Ridges near the body, handed to `touch` with the direction that leads out between their two sides. */
typedef struct ridges {
    sac_exact *e;
    void (*touch)(sac_exact *e, const float edge[2][3], const float out[3], uint32_t name);
} ridges;

static void visit_ridges(uint32_t feature, const float (*corner)[3], const float normal[3], void *user)
{
    (void)corner, (void)normal;
    ridges *r = user;
    sac_facet f;
    if (!sac_terrain_facet(r->e->terrain, feature, &f)) return;
    for (int k = 0; k < 3; k++) {
        if (!sac_facet_sharp(&f, k)) continue;
        const float *p = f.corner[k], *q = f.corner[(k + 1) % 3];
        /* Both sides of a ridge see it; the one with the lower corner first takes it. */
        if (!f.rim[k]) {
            bool mine = p[0] != q[0] ? p[0] < q[0] : p[1] != q[1] ? p[1] < q[1] : p[2] < q[2];
            if (!mine) continue;
        }
        float edge[2][3], out[3];
        sac_v3_copy(p, edge[0]);
        sac_v3_copy(q, edge[1]);
        for (int i = 0; i < 3; i++) out[i] = f.normal[i] + f.across[k][i];
        if (sac_v3_unit(out) < 1e-3f) sac_v3_copy(f.normal, out);
        r->touch(r->e, edge, out, feature * 3 + (uint32_t)k);
    }
}

/* A capsule over a ridge: where its axis passes the ridge, when that is between its ends. */
static void ridge_under_capsule(sac_exact *e, const float edge[2][3], const float out[3], uint32_t name)
{
    float axis[2][3], u[3], v[3], p[3], q[3], n[3], point[3], s, t;
    sac_placed_axis(&e->x, axis);
    sac_segments_nearest(axis, edge, &s, &t);
    if (s <= 0 || s >= 1) return; /* the ends are probed */
    sac_v3_sub(axis[1], axis[0], u);
    sac_v3_sub(edge[1], edge[0], v);
    sac_v3_along(axis[0], s, u, p);
    sac_v3_along(edge[0], t, v, q);
    sac_v3_sub(p, q, n);
    float distance = sac_v3_length(n), radius = e->x.solid.radius;
    /* An axis that has sunk below the ridge is pushed out all the same. */
    if (sac_v3_dot(n, out) < 0 || distance < 1e-6f * radius) {
        distance = -distance;
        sac_v3_copy(out, n);
    } else {
        for (int i = 0; i < 3; i++) n[i] /= distance;
    }
    if (distance < -radius) return;
    sac_v3_along(q, 0.5f * (distance - radius), n, point);
    for (int i = 0; i < 3; i++) n[i] = -n[i];
    sac_exact_push(e, radius - distance, point, n, 2, RIDGE | name);
}

/* A ridge in a box: both ends of the part inside, each as deep as the box must rise to clear it. */
static void ridge_under_box(sac_exact *e, const float edge[2][3], const float out[3], uint32_t name)
{
    const float *half = e->x.solid.half;
    float p[2][3], d[3], u[3], local_out[3], enter = 0, leave = 1;
    for (int k = 0; k < 2; k++) {
        sac_v3_sub(edge[k], e->x.at, d);
        sac_v3_turn_back(e->x.rows, d, p[k]);
    }
    sac_v3_sub(p[1], p[0], u);
    sac_v3_turn_back(e->x.rows, out, local_out);
    for (int i = 0; i < 3; i++) {
        float reach = half[i] + e->margin;
        if (fabsf(u[i]) < 1e-12f) {
            if (fabsf(p[0][i]) > reach) return;
            continue;
        }
        float a = (-reach - p[0][i]) / u[i], b = (reach - p[0][i]) / u[i];
        enter = sac_most(enter, sac_least(a, b));
        leave = sac_least(leave, sac_most(a, b));
    }
    if (!(enter <= leave)) return;
    for (uint32_t k = 0; k < 2; k++) {
        float at[3], point[3], normal[3], depth = FLT_MAX;
        sac_v3_along(p[0], k ? leave : enter, u, at);
        /* From the ridge against `out` to where the box ends; it may end before, within the margin. */
        for (int i = 0; i < 3; i++) {
            float slope = -local_out[i];
            if (fabsf(slope) < 1e-6f) continue;
            depth = sac_least(depth, ((slope > 0 ? half[i] : -half[i]) - at[i]) / slope);
        }
        float limit = sac_least(half[0], sac_least(half[1], half[2])) + e->margin;
        if (depth > 2 * limit) continue; /* through its middle: other touches know better */
        sac_v3_along(at, -0.5f * depth, local_out, d);
        sac_v3_turn(e->x.rows, d, point);
        for (int i = 0; i < 3; i++) point[i] += e->x.at[i], normal[i] = -out[i];
        sac_exact_push(e, depth, point, normal, 8 + k, RIDGE | name);
    }
}

static void add_ridges(sac_exact *e, void (*touch)(sac_exact *, const float[2][3], const float[3], uint32_t))
{
    sac_box box = sac_box_empty();
    float ends[2][3], grow = e->margin;
    if (e->x.solid.kind == SAC_FORM_CAPSULE) {
        sac_placed_axis(&e->x, ends);
        sac_box_add(&box, ends[0]);
        sac_box_add(&box, ends[1]);
        grow += e->x.solid.radius;
    } else {
        for (uint32_t k = 0; k < 8; k++) {
            sac_placed_corner(&e->x, k, ends[0]);
            sac_box_add(&box, ends[0]);
        }
    }
    for (int i = 0; i < 3; i++) box.low[i] -= grow, box.high[i] += grow;
    ridges r = {e, touch};
    e->tests += LOOK_COST * sac_terrain_walk(e->terrain, &box, NULL, NULL, visit_ridges, &r);
}

void sac_exact_terrain(sac_exact *e)
{
    const sac_solid *s = &e->x.solid;
    if (s->kind == SAC_FORM_SPHERE) {
        ball_on_terrain(e, e->x.at, s->radius, 0, 0);
        return;
    }
    if (s->kind == SAC_FORM_CAPSULE) {
        float ends[2][3];
        sac_placed_axis(&e->x, ends);
        for (uint32_t k = 0; k < 2; k++) ball_on_terrain(e, ends[k], s->radius, 0, k);
        add_ridges(e, ridge_under_capsule);
        return;
    }
    float reach = sac_least(s->half[0], sac_least(s->half[1], s->half[2]));
    for (uint32_t k = 0; k < 8; k++) {
        float corner[3];
        sac_placed_corner(&e->x, k, corner);
        ball_on_terrain(e, corner, 0, reach, k);
    }
    add_ridges(e, ridge_under_box);
}
