/* The touches of a front, eight at a time: measured from pairs of nodes, and chosen from for contacts.
 * Compiled once for each SIMD path with the rest of the kernel. Private to spheretree/. */
#ifndef SAC_SPHERETREE_TOUCH_KERNEL_INTERNAL_H
#define SAC_SPHERETREE_TOUCH_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "spheretree/meeting_internal.h"

/* Pairs gathered before they are measured: stores that vectors read back at once would stall. */
#define GATHER 64u

typedef struct gathered {
    _Alignas(32) float x[GATHER];
    float y[GATHER], z[GATHER], r[GATHER];
} gathered;

static inline void gather_node(gathered *to, uint32_t i, const sac_tree *tree, uint32_t id)
{
    const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
    uint32_t k = id % SAC_LANES;
    to->x[i] = s->x[k], to->y[i] = s->y[k], to->z[i] = s->z[k], to->r[i] = s->r[k];
}

static void measure_touches(const sac_descent *d, const uint32_t *a, const uint32_t *b, uint32_t count,
                            sac_touch_list *list)
{
    gathered own, other;
    sac_f8 m[3][4];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) m[i][k] = sac_f8_set(d->m[i][k]);
    const sac_f8 scale = sac_f8_set(d->scale), tiny = sac_f8_set(FLT_MIN);
    for (uint32_t first = 0; first < count; first += GATHER) {
        uint32_t n = count - first < GATHER ? count - first : GATHER, i = 0, at = list->count + first;
        for (; i < n; i++) {
            gather_node(&own, i, d->a, a[first + i]);
            gather_node(&other, i, d->b, b[first + i]);
        }
        for (; i % SAC_LANES; i++) {
            own.x[i] = own.y[i] = own.z[i] = own.r[i] = 0;
            other.x[i] = other.y[i] = other.z[i] = other.r[i] = 0;
        }
        for (i = 0; i < n; i += SAC_LANES) {
            sac_f8 x = sac_f8_load(other.x + i), y = sac_f8_load(other.y + i), z = sac_f8_load(other.z + i);
            sac_f8 line[3],
                centre[3] = {sac_f8_load(own.x + i), sac_f8_load(own.y + i), sac_f8_load(own.z + i)};
            for (int k = 0; k < 3; k++) {
                sac_f8 moved = sac_f8_add(sac_f8_add(sac_f8_mul(x, m[k][0]), sac_f8_mul(y, m[k][1])),
                                          sac_f8_add(sac_f8_mul(z, m[k][2]), m[k][3]));
                line[k] = sac_f8_sub(moved, centre[k]);
            }
            sac_f8 ra = sac_f8_load(own.r + i);
            sac_f8 sum = sac_f8_add(ra, sac_f8_mul(sac_f8_load(other.r + i), scale));
            sac_f8 distance =
                sac_f8_sqrt(sac_f8_add(sac_f8_add(sac_f8_mul(line[0], line[0]), sac_f8_mul(line[1], line[1])),
                                       sac_f8_mul(line[2], line[2])));
            sac_f8 share = sac_f8_div(ra, sac_f8_max(sum, tiny));
            sac_f8 inverse = sac_f8_div(sac_f8_set(1), sac_f8_max(distance, tiny));
            sac_f8_store(list->depth + at + i, sac_f8_sub(sum, distance));
            sac_f8_store(list->x + at + i, sac_f8_add(centre[0], sac_f8_mul(line[0], share)));
            sac_f8_store(list->y + at + i, sac_f8_add(centre[1], sac_f8_mul(line[1], share)));
            sac_f8_store(list->z + at + i, sac_f8_add(centre[2], sac_f8_mul(line[2], share)));
            sac_f8_store(list->nx + at + i, sac_f8_mul(line[0], inverse));
            sac_f8_store(list->ny + at + i, sac_f8_mul(line[1], inverse));
            sac_f8_store(list->nz + at + i, sac_f8_mul(line[2], inverse));
        }
    }
    memcpy(list->a + list->count, a, count * sizeof *a);
    memcpy(list->b + list->count, b, count * sizeof *b);
    list->count += count;
}

/* The greatest of the scores, which are stored from 0 to `count`; ties by a, then b. NaN is never the
 * greatest. */
static uint32_t greatest(const sac_touch_list *list, const float *scores, sac_f8 most)
{
    _Alignas(32) float lanes[SAC_LANES];
    sac_f8_store(lanes, most);
    float top = lanes[0];
    for (uint32_t k = 1; k < SAC_LANES; k++) top = lanes[k] > top ? lanes[k] : top;
    const sac_f8 tops = sac_f8_set(top);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < list->count; i += SAC_LANES)
        for (uint32_t hits = sac_f8_le(tops, sac_f8_load(scores + i)); hits; hits &= hits - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(hits);
            if (at >= list->count) break;
            if (best == UINT32_MAX || list->a[at] < list->a[best] ||
                (list->a[at] == list->a[best] && list->b[at] < list->b[best]))
                best = at;
        }
    return best;
}

/* How much a touch counts by its depth, against the deepest: apart from 0 at the margin to 0.02, then quickly
 * to a half at a tenth of the deepest, and to 1. Continuous, so that a small change of depth changes little.
 */
static inline sac_f8 weight_of(sac_f8 depth, sac_f8 per_deepest, sac_f8 per_margin)
{
    const sac_f8 zero = sac_f8_set(0), one = sac_f8_set(1);
    sac_f8 inside = sac_f8_mul(sac_f8_max(depth, zero), per_deepest);
    sac_f8 apart = sac_f8_add(sac_f8_set(1.05f), sac_f8_mul(sac_f8_min(depth, zero), per_margin));
    sac_f8 ramp = sac_f8_min(sac_f8_mul(inside, sac_f8_set(10)), one);
    sac_f8 touching = sac_f8_mul(sac_f8_add(ramp, inside), sac_f8_set(0.49f));
    return sac_f8_max(sac_f8_add(touching, sac_f8_mul(apart, sac_f8_set(0.02f))), zero);
}

/* Touches nearer to a chosen one than this share of the size add nothing. */
#define SAME 0.01f

static uint32_t choose_touches(sac_touch_list *list, uint32_t most, uint32_t *out)
{
    const uint32_t count = list->count;
    if (count == 0 || most == 0) return 0;
    for (uint32_t i = count; i % SAC_LANES; i++) {
        list->depth[i] = -INFINITY;
        list->x[i] = list->y[i] = list->z[i] = list->nx[i] = list->ny[i] = list->nz[i] = 0;
    }
    sac_f8 top = sac_f8_set(-INFINITY);
    for (uint32_t i = 0; i < count; i += SAC_LANES) top = sac_f8_max(sac_f8_load(list->depth + i), top);
    uint32_t last = greatest(list, list->depth, top), n = 0;
    if (last == UINT32_MAX) return 0;
    const float deepest = list->depth[last], size2 = list->size * list->size;
    if (deepest < -(list->margin * 1.05f) - 1e-5f * list->size) return 0;
    out[n++] = last;

    const sac_f8 per_deepest = sac_f8_set(deepest > 0 ? 1 / deepest : 0);
    const sac_f8 per_margin = sac_f8_set(list->margin > 0 ? 1 / list->margin : 0);
    const sac_f8 turned = sac_f8_set(-size2), zero = sac_f8_set(0);
    _Alignas(32) float scores[SAC_TOUCH_ROOM];
    while (n < most && n < count) {
        const sac_f8 px = sac_f8_set(list->x[last]), py = sac_f8_set(list->y[last]),
                     pz = sac_f8_set(list->z[last]);
        const sac_f8 qx = sac_f8_set(list->nx[last]), qy = sac_f8_set(list->ny[last]),
                     qz = sac_f8_set(list->nz[last]);
        top = sac_f8_set(-INFINITY);
        for (uint32_t i = 0; i < count; i += SAC_LANES) {
            sac_f8 x = sac_f8_sub(sac_f8_load(list->x + i), px), y = sac_f8_sub(sac_f8_load(list->y + i), py),
                   z = sac_f8_sub(sac_f8_load(list->z + i), pz);
            sac_f8 apart = sac_f8_add(sac_f8_add(sac_f8_mul(x, x), sac_f8_mul(y, y)), sac_f8_mul(z, z));
            sac_f8 cosine = sac_f8_add(sac_f8_add(sac_f8_mul(sac_f8_load(list->nx + i), qx),
                                                  sac_f8_mul(sac_f8_load(list->ny + i), qy)),
                                       sac_f8_mul(sac_f8_load(list->nz + i), qz));
            sac_f8 differs = sac_f8_add(apart, sac_f8_mul(sac_f8_min(cosine, zero), turned));
            if (n > 1) differs = sac_f8_min(differs, sac_f8_load(list->near + i));
            sac_f8_store(list->near + i, differs);
            sac_f8 score =
                sac_f8_mul(differs, weight_of(sac_f8_load(list->depth + i), per_deepest, per_margin));
            sac_f8_store(scores + i, score);
            top = sac_f8_max(score, top);
        }
        last = greatest(list, scores, top);
        if (last == UINT32_MAX || !(scores[last] > 0) || list->near[last] < SAME * SAME * size2) break;
        out[n++] = last;
    }
    return n;
}

#endif
