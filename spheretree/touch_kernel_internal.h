/* The touches of a front, eight at a time: measured from pairs of nodes, and chosen from for contacts.
 * Compiled once for each SIMD path with the rest of the kernel. A depth that is not a number marks a lane
 * without a touch: it is never chosen. Private to spheretree/. */
#ifndef SAC_SPHERETREE_TOUCH_KERNEL_INTERNAL_H
#define SAC_SPHERETREE_TOUCH_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "spheretree/meeting_internal.h"

/* Pairs gathered before they are measured: a vector that reads what was just stored in pieces waits. */
#define GATHER 64u

typedef struct gathered {
    _Alignas(32) float x[GATHER];
    float y[GATHER], z[GATHER], r[GATHER];
} gathered;

static inline void gather_none(gathered *to, uint32_t i)
{
    const sac_f8 none = sac_f8_set(NAN);
    sac_f8_store(to->x + i, none);
    sac_f8_store(to->y + i, none);
    sac_f8_store(to->z + i, none);
    sac_f8_store(to->r + i, none);
}

static inline void gather_node(gathered *to, uint32_t i, const sac_tree *tree, uint32_t id)
{
    const sac_sphere_block *s = &tree->spheres[id / SAC_LANES];
    uint32_t k = id % SAC_LANES;
    to->x[i] = s->x[k];
    to->y[i] = s->y[k];
    to->z[i] = s->z[k];
    to->r[i] = s->r[k];
}

static inline sac_f8 dot_of(sac_f8 ax, sac_f8 ay, sac_f8 az, sac_f8 bx, sac_f8 by, sac_f8 bz)
{
    return sac_f8_add(sac_f8_add(sac_f8_mul(ax, bx), sac_f8_mul(ay, by)), sac_f8_mul(az, bz));
}

static void measure_touches(const sac_descent *d, const uint32_t *a, const uint32_t *b, uint32_t count,
                            sac_touch_list *list)
{
    gathered own, other;
#define CONSTANT(i, k) const sac_f8 m##i##k = sac_f8_set(d->m[i][k])
    CONSTANT(0, 0);
    CONSTANT(0, 1);
    CONSTANT(0, 2);
    CONSTANT(0, 3);
    CONSTANT(1, 0);
    CONSTANT(1, 1);
    CONSTANT(1, 2);
    CONSTANT(1, 3);
    CONSTANT(2, 0);
    CONSTANT(2, 1);
    CONSTANT(2, 2);
    CONSTANT(2, 3);
#undef CONSTANT
    const sac_f8 scale = sac_f8_set(d->scale), tiny = sac_f8_set(FLT_MIN), one = sac_f8_set(1);
    for (uint32_t first = 0; first < count; first += GATHER) {
        uint32_t n = count - first < GATHER ? count - first : GATHER, at = list->count + first;
        gather_none(&own, (n - 1) / SAC_LANES * SAC_LANES);
        gather_none(&other, (n - 1) / SAC_LANES * SAC_LANES);
        for (uint32_t i = 0; i < n; i++) {
            gather_node(&own, i, d->a, a[first + i]);
            gather_node(&other, i, d->b, b[first + i]);
        }
        for (uint32_t i = 0; i < n; i += SAC_LANES) {
            sac_f8 x = sac_f8_load(other.x + i), y = sac_f8_load(other.y + i), z = sac_f8_load(other.z + i);
            sac_f8 cx = sac_f8_load(own.x + i), cy = sac_f8_load(own.y + i), cz = sac_f8_load(own.z + i);
            sac_f8 ra = sac_f8_load(own.r + i), rb = sac_f8_mul(sac_f8_load(other.r + i), scale);
#define ROW(i)                                                             \
    sac_f8_add(sac_f8_add(sac_f8_mul(x, m##i##0), sac_f8_mul(y, m##i##1)), \
               sac_f8_add(sac_f8_mul(z, m##i##2), m##i##3))
            sac_f8 lx = sac_f8_sub(ROW(0), cx), ly = sac_f8_sub(ROW(1), cy), lz = sac_f8_sub(ROW(2), cz);
#undef ROW
            sac_f8 distance = sac_f8_sqrt(dot_of(lx, ly, lz, lx, ly, lz)), sum = sac_f8_add(ra, rb);
            sac_f8 share = sac_f8_div(ra, sac_f8_max(sum, tiny));
            sac_f8 inverse = sac_f8_div(one, sac_f8_max(distance, tiny));
            sac_f8_store(list->depth + at + i, sac_f8_sub(sum, distance));
            sac_f8_store(list->x + at + i, sac_f8_add(cx, sac_f8_mul(lx, share)));
            sac_f8_store(list->y + at + i, sac_f8_add(cy, sac_f8_mul(ly, share)));
            sac_f8_store(list->z + at + i, sac_f8_add(cz, sac_f8_mul(lz, share)));
            sac_f8_store(list->nx + at + i, sac_f8_mul(lx, inverse));
            sac_f8_store(list->ny + at + i, sac_f8_mul(ly, inverse));
            sac_f8_store(list->nz + at + i, sac_f8_mul(lz, inverse));
        }
    }
    memcpy(list->a + list->count, a, count * sizeof *a);
    memcpy(list->b + list->count, b, count * sizeof *b);
    bool aligned = list->count % SAC_LANES == 0;
    list->count += count;
    list->padded = aligned ? list->count : UINT32_MAX;
}

/* A list that was added to piece by piece has anything beyond its last touch. */
static void pad_touches(sac_touch_list *list)
{
    for (uint32_t i = list->count; i % SAC_LANES; i++) {
        list->depth[i] = NAN;
        list->x[i] = list->y[i] = list->z[i] = list->nx[i] = list->ny[i] = list->nz[i] = 0;
    }
    list->padded = list->count;
}

/* The greatest of the scores, given the greatest of each lane; ties by a, then b. UINT32_MAX: none. */
static uint32_t greatest(const sac_touch_list *list, const float *scores, sac_f8 most)
{
    _Alignas(32) float lanes[SAC_LANES];
    sac_f8_store(lanes, most);
    for (uint32_t half = SAC_LANES / 2; half; half /= 2)
        for (uint32_t k = 0; k < half; k++)
            lanes[k] = lanes[k] > lanes[k + half] ? lanes[k] : lanes[k + half];
    const sac_f8 top = sac_f8_set(lanes[0]);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < list->count; i += SAC_LANES)
        for (uint32_t hits = sac_f8_le(top, sac_f8_load(scores + i)); hits; hits &= hits - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctz(hits);
            if (at >= list->count) break;
            if (best == UINT32_MAX || list->a[at] < list->a[best] ||
                (list->a[at] == list->a[best] && list->b[at] < list->b[best]))
                best = at;
        }
    return best;
}

/* How much a touch counts by its depth: apart from 0 beyond the margin to 0.02, then quickly to a half at a
 * tenth of the deepest, and to 1. Continuous, so that a small change of depth changes little. NaN counts
 * nothing. */
static inline sac_f8 weight_of(sac_f8 depth, sac_f8 per_deepest, sac_f8 per_margin)
{
    const sac_f8 zero = sac_f8_set(0), one = sac_f8_set(1);
    sac_f8 inside = sac_f8_mul(sac_f8_max(zero, depth), per_deepest);
    sac_f8 apart = sac_f8_add(sac_f8_set(SAC_TOUCH_SLACK), sac_f8_mul(sac_f8_min(zero, depth), per_margin));
    sac_f8 ramp = sac_f8_min(sac_f8_mul(inside, sac_f8_set(10)), one);
    sac_f8 touching = sac_f8_mul(sac_f8_add(ramp, inside), sac_f8_set(0.49f));
    return sac_f8_max(sac_f8_add(touching, sac_f8_mul(apart, sac_f8_set(0.02f))), zero);
}

static uint32_t choose_touches(sac_touch_list *list, uint32_t most, uint32_t *out)
{
    const uint32_t count = list->count;
    if (count == 0 || most == 0) return 0;
    if (list->padded != count) pad_touches(list);
    sac_f8 top = sac_f8_set(-INFINITY);
    for (uint32_t i = 0; i < count; i += SAC_LANES) top = sac_f8_max(sac_f8_load(list->depth + i), top);
    uint32_t last = greatest(list, list->depth, top), n = 0;
    if (last == UINT32_MAX || !sac_touch_counts(list->depth[last], list->margin, list->size)) return 0;
    const float deepest = list->depth[last], size2 = list->size * list->size;
    out[n++] = last;

    const sac_f8 per_deepest = sac_f8_set(deepest > 0 ? 1 / deepest : 0);
    const sac_f8 per_margin = sac_f8_set(list->margin > 0 ? 1 / list->margin : 0);
    const sac_f8 turned = sac_f8_set(-size2), zero = sac_f8_set(0);
    _Alignas(32) float scores[SAC_TOUCH_ROOM], weights[SAC_TOUCH_ROOM];
    for (uint32_t i = 0; i < count; i += SAC_LANES) {
        sac_f8_store(weights + i, weight_of(sac_f8_load(list->depth + i), per_deepest, per_margin));
        sac_f8_store(list->near + i, sac_f8_set(FLT_MAX));
    }
    while (n < most && n < count) {
        const sac_f8 px = sac_f8_set(list->x[last]), py = sac_f8_set(list->y[last]),
                     pz = sac_f8_set(list->z[last]), qx = sac_f8_set(list->nx[last]),
                     qy = sac_f8_set(list->ny[last]), qz = sac_f8_set(list->nz[last]);
        top = sac_f8_set(-INFINITY);
        for (uint32_t i = 0; i < count; i += SAC_LANES) {
            sac_f8 x = sac_f8_sub(sac_f8_load(list->x + i), px), y = sac_f8_sub(sac_f8_load(list->y + i), py),
                   z = sac_f8_sub(sac_f8_load(list->z + i), pz);
            sac_f8 cosine = dot_of(sac_f8_load(list->nx + i), sac_f8_load(list->ny + i),
                                   sac_f8_load(list->nz + i), qx, qy, qz);
            sac_f8 differs =
                sac_f8_add(dot_of(x, y, z, x, y, z), sac_f8_mul(sac_f8_min(cosine, zero), turned));
            differs = sac_f8_min(differs, sac_f8_load(list->near + i));
            sac_f8_store(list->near + i, differs);
            sac_f8 score = sac_f8_mul(differs, sac_f8_load(weights + i));
            sac_f8_store(scores + i, score);
            top = sac_f8_max(score, top);
        }
        last = greatest(list, scores, top);
        if (last == UINT32_MAX || !(scores[last] > 0) || list->near[last] < SAC_TOUCH_SAME * size2) break;
        out[n++] = last;
    }
    return n;
}

#endif
