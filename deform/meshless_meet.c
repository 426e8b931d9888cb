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

static uint32_t cross_leaves(const sac_meshless *a, const sac_meshless *b, uint32_t na, uint32_t nb,
                             sac_meshless_pair *out, uint32_t room)
{
    const sac_meshless_model *ma = a->model, *mb = b->model;
    const sac_meshless_node *one = &ma->tree[na], *two = &mb->tree[nb];
    uint32_t found = 0;
    bool single = one->count == 1 && two->count == 1; /* then their boxes are known to overlap */
    for (uint32_t i = one->first; i < one->first + one->count; i++) {
        const uint32_t *ca = ma->corners + (size_t)i * 3;
        _Alignas(32) float box[8];
        sac_f8_store(box, box_of(a->now, ca));
        sac_f8 turned = turned_box(box);
        for (uint32_t j = two->first; j < two->first + two->count; j++) {
            const uint32_t *cb = mb->corners + (size_t)j * 3;
            if (!single && !overlap_boxes(box_of(b->now, cb), turned)) continue;
            float p[3][3], q[3][3];
            for (int c = 0; c < 3; c++) {
                memcpy(p[c], a->now[ca[c]], sizeof p[c]);
                memcpy(q[c], b->now[cb[c]], sizeof q[c]);
            }
            if (!sac_triangles_cross((const float(*)[3])p, (const float(*)[3])q)) continue;
            if (found < room) out[found] = (sac_meshless_pair){ma->primitives[i], mb->primitives[j]};
            found++;
        }
    }
    return found;
}

uint32_t sac_meshless_meet(sac_meshless *a, sac_meshless *b, sac_meshless_pair *out, uint32_t room)
{
    enum { MOST = 128 }; /* binary trees of at most 2^24 leaves: three pairs a level wait */
    const sac_meshless_model *ma = a->model, *mb = b->model;
    uint32_t half_k = ma->def.k / 2, top = 0, found = 0;
    size_t wide = SAC_MESHLESS_WIDE(ma->def.k);
    if (!ma->triangle_count || !mb->triangle_count || ma->def.k != mb->def.k || a == b) return 0;
    sac_meshless *bodies[2] = {a, b};
    const sac_meshless_node *trees[2] = {ma->tree, mb->tree};
    uint32_t stack[MOST][2];
    for (int s = 0; s < 2; s++) {
        sac_meshless_begin(bodies[s]);
        bodies[s]->asked[0] = bodies[s]->step;
        sac_meshless_fit_node(bodies[s], 0, true);
    }
    if (!overlap(a->dops, b->dops, half_k)) return 0;
    stack[top][0] = stack[top][1] = 0, top++;
    while (top) {
        uint32_t pair[2], child[2], count[2];
        top--;
        for (int s = 0; s < 2; s++) pair[s] = stack[top][s], child[s] = trees[s][pair[s]].child;
        if (!child[0] && !child[1]) {
            found += cross_leaves(a, b, pair[0], pair[1], out + (found < room ? found : room),
                                  found < room ? room - found : 0);
            continue;
        }
        /* Both are opened, but for a leaf. */
        for (int s = 0; s < 2; s++) {
            count[s] = child[s] ? 2 : 1;
            if (!child[s]) {
                child[s] = pair[s];
            } else if (bodies[s]->asked[child[s]] != bodies[s]->step) {
                bodies[s]->asked[child[s]] = bodies[s]->step;
                sac_meshless_fit_node(bodies[s], child[s], true);
                sac_meshless_fit_node(bodies[s], child[s] + 1, true);
            }
        }
        for (uint32_t i = 0; i < count[0]; i++)
            for (uint32_t k = 0; k < count[1]; k++) { /* written in any case, kept if they meet */
                uint32_t na = child[0] + i, nb = child[1] + k;
                stack[top][0] = na, stack[top][1] = nb;
                bool near = overlap(a->dops + na * wide, b->dops + nb * wide, half_k);
                if (near && sac_meshless_refine(a, na))
                    near = overlap(a->dops + na * wide, b->dops + nb * wide, half_k);
                if (near && sac_meshless_refine(b, nb))
                    near = overlap(a->dops + na * wide, b->dops + nb * wide, half_k);
                top += near;
            }
    }
    return found;
}
