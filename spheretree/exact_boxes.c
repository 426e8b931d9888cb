/* Two boxes: separating axes, then the face turned to the other is cut to the reference face, or two edges
 * meet in a point. */
#include "spheretree/exact_internal.h"

/* An edge axis must beat the best face by this share of the smaller box, a face of y those of x: a contact
 * over a face has up to four points and does not change its mind from frame to frame. */
#define BIAS 0.01f

typedef struct axis {
    float n[3]; /* unit, from x to y */
    float apart;
    int kind; /* 0 to 2 faces of x, 3 to 5 of y, 6 and more: edges 6 + i * 3 + k */
} axis;

static void column(const float rows[3][3], int k, float out[3])
{
    for (int i = 0; i < 3; i++) out[i] = rows[i][k];
}

static float reach(const sac_placed *p, const float n[3])
{
    float sum = 0, c[3];
    for (int k = 0; k < 3; k++) {
        column(p->rows, k, c);
        sum += fabsf(sac_v3_dot(c, n)) * p->solid.half[k];
    }
    return sum;
}

static axis try_axis(const sac_exact *e, const float n[3], int kind)
{
    axis a = {.kind = kind};
    float d[3];
    sac_v3_sub(e->y.at, e->x.at, d);
    float along = sac_v3_dot(d, n), sign = along < 0 ? -1.0f : 1.0f;
    for (int i = 0; i < 3; i++) a.n[i] = sign * n[i];
    a.apart = fabsf(along) - (reach(&e->x, n) + reach(&e->y, n));
    return a;
}

/* Cut polygon: each corner has a name that lasts, each side the plane or edge it lies on. */
typedef struct polygon {
    float at[12][3];
    uint32_t name[12], side[12]; /* side i runs from corner i to the next */
    int count;
} polygon;

/* Keeps the part with dot(n, x) <= limit. `plane`: 0 to 3. */
static void cut(polygon *p, const float n[3], float limit, uint32_t plane)
{
    polygon out = {.count = 0};
    for (int i = 0; i < p->count; i++) {
        int j = i + 1 == p->count ? 0 : i + 1;
        float here = sac_v3_dot(n, p->at[i]) - limit, there = sac_v3_dot(n, p->at[j]) - limit;
        if (here <= 0) {
            sac_v3_copy(p->at[i], out.at[out.count]);
            out.name[out.count] = p->name[i];
            out.side[out.count] = p->side[i];
            out.count++;
        }
        if ((here <= 0) == (there <= 0)) continue;
        float t = here / (here - there), step[3];
        sac_v3_sub(p->at[j], p->at[i], step);
        sac_v3_along(p->at[i], t, step, out.at[out.count]);
        out.name[out.count] = 4 + p->side[i] * 4 + plane;
        out.side[out.count] = here <= 0 ? 4 + plane : p->side[i];
        out.count++;
    }
    *p = out;
}

static void face_contacts(sac_exact *e, const axis *best)
{
    bool of_x = best->kind < 3;
    const sac_placed *ref = of_x ? &e->x : &e->y, *other = of_x ? &e->y : &e->x;
    int k = best->kind % 3;
    float n[3]; /* out of the reference box, towards the other */
    for (int i = 0; i < 3; i++) n[i] = of_x ? best->n[i] : -best->n[i];

    /* The face of the other box that looks most against n. */
    int face = 0;
    float most = -1, c[3], u[3], v[3];
    for (int i = 0; i < 3; i++) {
        column(other->rows, i, c);
        float turn = fabsf(sac_v3_dot(c, n));
        if (turn > most) most = turn, face = i;
    }
    column(other->rows, face, c);
    bool positive = sac_v3_dot(c, n) < 0;
    column(other->rows, (face + 1) % 3, u);
    column(other->rows, (face + 2) % 3, v);
    polygon p = {.count = 4};
    static const float corners[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int i = 0; i < 4; i++) {
        float hu = corners[i][0] * other->solid.half[(face + 1) % 3],
              hv = corners[i][1] * other->solid.half[(face + 2) % 3];
        float hc = positive ? other->solid.half[face] : -other->solid.half[face];
        for (int a = 0; a < 3; a++)
            p.at[i][a] = other->at[a] - ref->at[a] + c[a] * hc + u[a] * hu + v[a] * hv;
        p.name[i] = p.side[i] = (uint32_t)i;
    }
    for (uint32_t side = 0; side < 4 && p.count; side++) {
        int a = (k + 1 + (int)side / 2) % 3;
        float plane[3];
        column(ref->rows, a, plane);
        if (side & 1)
            for (int i = 0; i < 3; i++) plane[i] = -plane[i];
        cut(&p, plane, ref->solid.half[a], side);
    }
    column(ref->rows, k, c);
    uint32_t ref_face = (uint32_t)k * 2 + (sac_v3_dot(c, n) > 0);
    uint32_t other_face = (uint32_t)face * 2 + positive;
    for (int i = 0; i < p.count; i++) {
        float depth = ref->solid.half[k] - sac_v3_dot(n, p.at[i]), point[3];
        sac_v3_along(p.at[i], 0.5f * depth, n, point);
        for (int a = 0; a < 3; a++) point[a] += ref->at[a];
        uint32_t cut_name = 16 + other_face * 64 + p.name[i];
        sac_exact_push(e, depth, point, best->n, of_x ? ref_face : cut_name, of_x ? cut_name : ref_face);
    }
}

/* The edge along axis `k` of a box that lies farthest along n. */
static uint32_t far_edge(const sac_placed *p, int k, const float n[3], float out[2][3])
{
    uint32_t corner = 0;
    float c[3];
    for (int i = 0; i < 3; i++) {
        column(p->rows, i, c);
        if (i != k && sac_v3_dot(c, n) > 0) corner |= 1u << i;
    }
    sac_placed_corner(p, corner, out[0]);
    sac_placed_corner(p, corner | 1u << k, out[1]);
    return (uint32_t)k * 8 + corner;
}

static void edge_contact(sac_exact *e, const axis *best)
{
    float p[2][3], q[2][3], back[3], on_x[3], on_y[3], d[3], point[3], s, t;
    for (int i = 0; i < 3; i++) back[i] = -best->n[i];
    uint32_t edge_x = far_edge(&e->x, (best->kind - 6) / 3, best->n, p);
    uint32_t edge_y = far_edge(&e->y, (best->kind - 6) % 3, back, q);
    sac_segments_nearest(p, q, &s, &t);
    sac_v3_sub(p[1], p[0], d);
    sac_v3_along(p[0], s, d, on_x);
    sac_v3_sub(q[1], q[0], d);
    sac_v3_along(q[0], t, d, on_y);
    for (int i = 0; i < 3; i++) point[i] = 0.5f * (on_x[i] + on_y[i]);
    sac_exact_push(e, -best->apart, point, best->n, 1024 + edge_x, 1024 + edge_y);
}

void sac_exact_boxes(sac_exact *e)
{
    axis best = {.apart = -FLT_MAX};
    float u[3], v[3], n[3], smallest = FLT_MAX;
    for (int i = 0; i < 3; i++)
        smallest = sac_least(smallest, sac_least(e->x.solid.half[i], e->y.solid.half[i]));
    float bias = BIAS * smallest;
    for (int k = 0; k < 6; k++) {
        column(k < 3 ? e->x.rows : e->y.rows, k % 3, n);
        axis a = try_axis(e, n, k);
        if (a.apart > e->margin) return;
        if (a.apart > best.apart + (k < 3 ? 0 : best.kind < 3 ? bias : 0)) best = a;
    }
    for (int i = 0; i < 3; i++) {
        column(e->x.rows, i, u);
        for (int k = 0; k < 3; k++) {
            column(e->y.rows, k, v);
            sac_v3_cross(u, v, n);
            float length = sac_v3_length(n);
            if (length < 0.05f) continue; /* parallel: the faces know better */
            for (int a = 0; a < 3; a++) n[a] /= length;
            axis a = try_axis(e, n, 6 + i * 3 + k);
            if (a.apart > e->margin) return;
            if (a.apart > best.apart + (best.kind < 6 ? bias : 0)) best = a;
        }
    }
    if (best.kind >= 6)
        edge_contact(e, &best);
    else
        face_contacts(e, &best);
}
