/* All triangles of two meshless surfaces that cross: both trees are descended together. */
#include <float.h>

#include "base/simd.h"
#include "deform/meshless_internal.h"

static void minus(const float a[3], const float b[3], float out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2],
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Heights of a triangle's corners above the plane of another; false when all are on one side. */
static bool heights(const float plane[3][3], const float other[3][3], float normal[3], float out[3])
{
    float u[3], v[3], w[3];
    minus(plane[1], plane[0], u), minus(plane[2], plane[0], v);
    cross(u, v, normal);
    for (int i = 0; i < 3; i++) minus(other[i], plane[0], w), out[i] = dot(normal, w);
    float low = out[0] < out[1] ? out[0] : out[1], high = out[0] > out[1] ? out[0] : out[1];
    low = low < out[2] ? low : out[2], high = high > out[2] ? high : out[2];
    return !(low > 0 || high < 0);
}

/* Does an edge of `t`, whose ends have heights above the plane of `face`, pass through it? */
static bool pierced(const float face[3][3], const float t[3][3], const float h[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if ((h[i] > 0 && h[j] > 0) || (h[i] < 0 && h[j] < 0) || (h[i] == 0 && h[j] == 0)) continue;
        float way[3], arm[3][3], side[3], n[3];
        minus(t[j], t[i], way);
        for (int k = 0; k < 3; k++) minus(face[k], t[i], arm[k]);
        for (int k = 0; k < 3; k++) cross(arm[k], arm[(k + 1) % 3], n), side[k] = dot(n, way);
        if ((side[0] >= 0 && side[1] >= 0 && side[2] >= 0) || (side[0] <= 0 && side[1] <= 0 && side[2] <= 0))
            return true;
    }
    return false;
}

/* Two triangles in one plane are apart if an edge of one, or for flat ones any direction at all, has them on
 * different sides. */
static bool flat_apart(const float a[3][3], const float b[3][3], const float normal[3])
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 6; i++) {
            float edge[3], axis[3], low[2] = {FLT_MAX, FLT_MAX}, high[2] = {-FLT_MAX, -FLT_MAX};
            const float(*t)[3] = s ? b : a;
            minus(t[(i + 1) % 3], t[i % 3], edge);
            if (i < 3)
                cross(edge, normal, axis);
            else
                memcpy(axis, edge, sizeof axis);
            for (int k = 0; k < 3; k++) {
                float x = dot(axis, a[k]), y = dot(axis, b[k]);
                low[0] = x < low[0] ? x : low[0], high[0] = x > high[0] ? x : high[0];
                low[1] = y < low[1] ? y : low[1], high[1] = y > high[1] ? y : high[1];
            }
            if (high[0] < low[1] || high[1] < low[0]) return true;
        }
    return false;
}

bool sac_triangles_cross(const float a[3][3], const float b[3][3])
{
    float p[3][3], q[3][3], np[3], nq[3], hp[3], hq[3];
    for (int i = 0; i < 3; i++) minus(a[i], a[0], p[i]), minus(b[i], a[0], q[i]);
    if (!heights((const float(*)[3])p, (const float(*)[3])q, np, hq)) return false;
    if (!heights((const float(*)[3])q, (const float(*)[3])p, nq, hp)) return false;
    if (hq[0] == 0 && hq[1] == 0 && hq[2] == 0) {
        /* In one plane, or the first is flat: then the second's plane decides. */
        bool flat = np[0] == 0 && np[1] == 0 && np[2] == 0;
        if (!flat || (hp[0] == 0 && hp[1] == 0 && hp[2] == 0))
            return !flat_apart((const float(*)[3])p, (const float(*)[3])q, flat ? nq : np);
    }
    return pierced((const float(*)[3])p, (const float(*)[3])q, hq) ||
           pierced((const float(*)[3])q, (const float(*)[3])p, hp);
}

/* ---- descent ---- */

/* Both are highest values along directions and their opposites: they overlap where the sum of a direction and
 * the opposite of the other is nowhere negative. A box has x y z -x -y -z x y: turned, its lanes are the
 * opposites of another's. */
static bool overlap_boxes(sac_f8 a, sac_f8 turned)
{
    return sac_f8_le(sac_f8_set(0), sac_f8_add(a, turned)) == 0xffu;
}

static sac_f8 turned_box(const float *box)
{
    _Alignas(32) float t[8];
    memcpy(t, box + 3, 4 * sizeof(float)), memcpy(t + 4, box + 1, 4 * sizeof(float));
    return sac_f8_load(t);
}

static bool overlap(const float *a, const float *b, uint32_t half_k)
{
    if (half_k == 3) return overlap_boxes(sac_f8_load(a), turned_box(b));
    for (uint32_t d = 0; d < half_k; d++)
        if (!(a[d] + b[half_k + d] >= 0) || !(b[d] + a[half_k + d] >= 0)) return false;
    return true;
}

static sac_f8 box_of(float (*const now)[8], const uint32_t *corner)
{
    return sac_f8_max(sac_f8_max(sac_f8_load(now[corner[0]]), sac_f8_load(now[corner[1]])),
                      sac_f8_load(now[corner[2]]));
}

/* Pairs of triangles that wait until there are eight. */
typedef struct waiting {
    const float *corner[6][8];
    sac_meshless_pair pair[8];
    uint32_t count, found, room;
    sac_meshless_pair *out;
    uint32_t (*cross)(const float *const corner[6][8], uint32_t *unsure);
} waiting;

static void try_all(waiting *b)
{
    uint32_t unsure;
    if (!b->count) return;
    for (int c = 0; c < 6; c++)
        for (uint32_t i = b->count; i < 8; i++) b->corner[c][i] = b->corner[c][0];
    uint32_t crossing = b->cross((const float *const(*)[8])b->corner, &unsure);
    for (uint32_t i = 0; i < b->count; i++) {
        bool yes = crossing >> i & 1u;
        if (unsure >> i & 1u) {
            float t[6][3];
            for (int c = 0; c < 6; c++) memcpy(t[c], b->corner[c][i], sizeof t[c]);
            yes = sac_triangles_cross((const float(*)[3])t, (const float(*)[3])(t + 3));
        }
        if (yes && b->found < b->room) b->out[b->found] = b->pair[i];
        b->found += yes;
    }
    b->count = 0;
}

static void wait_for(waiting *b, const sac_meshless *a, const sac_meshless *other, uint32_t i, uint32_t j)
{
    const uint32_t *ca = a->model->corners + (size_t)i * 3, *cb = other->model->corners + (size_t)j * 3;
    for (int c = 0; c < 3; c++) {
        b->corner[c][b->count] = a->now[ca[c]];
        b->corner[3 + c][b->count] = other->now[cb[c]];
    }
    b->pair[b->count++] = (sac_meshless_pair){a->model->primitives[i], other->model->primitives[j]};
    if (b->count == 8) try_all(b);
}

static void cross_leaves(waiting *all, const sac_meshless *a, const sac_meshless *b,
                         const sac_meshless_node *one, const sac_meshless_node *two)
{
    if (one->count == 1 && two->count == 1) { /* their boxes are known to overlap */
        wait_for(all, a, b, one->first, two->first);
        return;
    }
    for (uint32_t i = one->first; i < one->first + one->count; i++) {
        _Alignas(32) float box[8];
        sac_f8_store(box, box_of(a->now, a->model->corners + (size_t)i * 3));
        sac_f8 turned = turned_box(box);
        for (uint32_t j = two->first; j < two->first + two->count; j++)
            if (overlap_boxes(box_of(b->now, b->model->corners + (size_t)j * 3), turned))
                wait_for(all, a, b, i, j);
    }
}

/* The children of a node, asked for. */
static void open_node(sac_meshless *body, uint32_t child)
{
    if (body->state[child].asked == body->step) return;
    body->state[child].asked = body->step;
    sac_meshless_fit_node(body, child, true), sac_meshless_fit_node(body, child + 1, true);
}

static bool is_rough(const sac_meshless *body, uint32_t child)
{
    return (body->state[child].fit | body->state[child + 1].fit) != SAC_MESHLESS_FINE && !body->whole;
}

/* Do two nodes meet? Each is made tighter as long as they do. */
static bool meets(sac_meshless *a, sac_meshless *b, uint32_t na, uint32_t nb)
{
    uint32_t half_k = a->model->def.k / 2;
    size_t wide = SAC_MESHLESS_WIDE(a->model->def.k);
    const float *one = a->dops + na * wide, *two = b->dops + nb * wide;
    bool near = overlap(one, two, half_k);
    while (near && sac_meshless_refine(a, na)) near = overlap(one, two, half_k);
    while (near && sac_meshless_refine(b, nb)) near = overlap(one, two, half_k);
    return near;
}

uint32_t sac_meshless_meet(sac_meshless *a, sac_meshless *b, sac_meshless_pair *out, uint32_t room)
{
    if (!a || !b || (room && !out)) return 0;
    enum { MOST = 128 }; /* binary trees of at most 2^24 leaves: three pairs a level wait */
    const sac_meshless_model *ma = a->model, *mb = b->model;
    if (!ma->triangle_count || !mb->triangle_count || ma->def.k != mb->def.k || a == b) return 0;
    const sac_meshless_node *ta = ma->tree, *tb = mb->tree;
    waiting all = {.room = room, .out = out, .cross = sac_bound_kernels_active()->cross};
    uint32_t stack[MOST][2], top = 0;
    sac_meshless *bodies[2] = {a, b};
    for (int s = 0; s < 2; s++) {
        sac_meshless_begin(bodies[s]);
        sac_meshless_note_drift(bodies[s]);
        bodies[s]->state[0].asked = bodies[s]->step;
        sac_meshless_fit_node(bodies[s], 0, true);
    }
    if (!meets(a, b, 0, 0)) return 0;
    stack[top][0] = stack[top][1] = 0, top++;
    while (top) {
        top--;
        uint32_t na = stack[top][0], nb = stack[top][1], ca = ta[na].child, cb = tb[nb].child;
        if (!ca && !cb) {
            cross_leaves(&all, a, b, &ta[na], &tb[nb]);
            continue;
        }
        /* Both are opened, but for a leaf. */
        if (ca) open_node(a, ca);
        if (cb) open_node(b, cb);
        if (ca && cb && ma->def.k == 6 && !is_rough(a, ca) && !is_rough(b, cb)) {
            /* Nothing to make tighter. Pairs are written in any case, and kept if they meet. */
            const float *one = a->dops + (size_t)ca * 8, *two = b->dops + (size_t)cb * 8;
            sac_f8 first = sac_f8_load(one), second = sac_f8_load(one + 8);
            for (uint32_t k = 0; k < 2; k++) {
                sac_f8 turned = turned_box(two + 8 * k);
                stack[top][0] = ca, stack[top][1] = cb + k;
                top += overlap_boxes(first, turned);
                stack[top][0] = ca + 1, stack[top][1] = cb + k;
                top += overlap_boxes(second, turned);
            }
            continue;
        }
        for (uint32_t i = ca ? ca : na, ends = ca ? ca + 2 : na + 1; i < ends; i++)
            for (uint32_t k = cb ? cb : nb, end = cb ? cb + 2 : nb + 1; k < end; k++)
                if (meets(a, b, i, k)) stack[top][0] = i, stack[top][1] = k, top++;
    }
    try_all(&all);
    return all.found;
}
