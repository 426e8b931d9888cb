/* The k-DOP of a set of vertices from the simulation nodes they follow. Compiled once for each SIMD path by
 * bound_*.c.
 *
 * Node j alone would carry the rest box to a parallelepiped with the highest value b_j along a direction. A
 * vertex has weights w with l <= w <= h and sum 1, so it is no higher than the largest sum of w_j b_j under
 * these limits: every node gets its l, and what is left of 1 goes to the highest b first, up to h each. That
 * fill is the exact optimum of this linear program; equation 12 limits the first alone. */
#ifndef SAC_DEFORM_BOUND_KERNEL_INTERNAL_H
#define SAC_DEFORM_BOUND_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "deform/meshless_internal.h"

#define ADD sac_f8_add
#define SUB sac_f8_sub
#define MUL sac_f8_mul
#define SET sac_f8_set

enum { ROUNDS = 24 };

SAC_ALWAYS_INLINE sac_f8 size_of(sac_f8 v) { return sac_f8_max(v, SUB(SET(0), v)); }

SAC_ALWAYS_INLINE float sum_across(sac_f8 v)
{
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

SAC_ALWAYS_INLINE float most_across(sac_f8 v)
{
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    for (int k = 0; k < 4; k++) l[k] = l[k] > l[k + 4] ? l[k] : l[k + 4];
    for (int k = 0; k < 2; k++) l[k] = l[k] > l[k + 2] ? l[k] : l[k + 2];
    return l[0] > l[1] ? l[0] : l[1];
}

SAC_ALWAYS_INLINE const signed char *direction(uint32_t half_k, uint32_t d)
{
    return sac_meshless_directions[half_k == 9 && d >= 3 ? d + 4 : d]; /* 18: no corners */
}

/* b of eight nodes in all directions, high and (negated) low. */
SAC_ALWAYS_INLINE void project(const sac_bound_job *job, uint32_t i, const uint32_t half_k, sac_f8 *lows,
                               sac_f8 *most)
{
    const float *rows[8];
    sac_f8 m[16], centre[3], low = sac_f8_load(job->low + i);
    for (int k = 0; k < 8; k++) rows[k] = job->rows + (size_t)job->node[i + k] * SAC_MESHLESS_ROW;
    sac_f8_rows_load(rows, m);
    for (int k = 0; k < 8; k++) rows[k] += 8;
    sac_f8_rows_load(rows, m + 8);
    for (int r = 0; r < 3; r++)
        centre[r] = ADD(ADD(MUL(m[r * 4], SET(job->centre[0])), MUL(m[r * 4 + 1], SET(job->centre[1]))),
                        ADD(MUL(m[r * 4 + 2], SET(job->centre[2])), m[r * 4 + 3]));
    for (uint32_t d = 0; d < half_k; d++) {
        sac_f8 middle, way[3];
        if (d < 3) {
            middle = centre[d];
            for (int a = 0; a < 3; a++) way[a] = m[d * 4 + (uint32_t)a];
        } else {
            const signed char *g = direction(half_k, d);
            /* The first of the three is 0 or 1. */
            middle = MUL(SET(g[0]), centre[0]);
            for (int a = 0; a < 3; a++) way[a] = MUL(SET(g[0]), m[a]);
            for (int r = 1; r < 3; r++) {
                sac_f8 sign = SET(g[r]);
                middle = ADD(middle, MUL(sign, centre[r]));
                for (int a = 0; a < 3; a++) way[a] = ADD(way[a], MUL(sign, m[r * 4 + a]));
            }
        }
        sac_f8 reach =
            ADD(ADD(MUL(size_of(way[0]), SET(job->half[0])), MUL(size_of(way[1]), SET(job->half[1]))),
                MUL(size_of(way[2]), SET(job->half[2])));
        sac_f8 high = ADD(middle, reach), down = SUB(reach, middle);
        sac_f8_store(job->scratch + (size_t)d * job->lanes + i, high);
        sac_f8_store(job->scratch + (size_t)(half_k + d) * job->lanes + i, down);
        if (d < 3) most[d] = sac_f8_max(ADD(size_of(middle), reach), most[d]);
        lows[d] = ADD(lows[d], MUL(low, high));
        lows[half_k + d] = ADD(lows[half_k + d], MUL(low, down));
    }
}

/* The highest b and where it is. */
SAC_ALWAYS_INLINE uint32_t highest(const float *b, uint32_t lanes, float *out)
{
    sac_f8 most = sac_f8_load(b);
    for (uint32_t i = 8; i < lanes; i += 8) most = sac_f8_max(sac_f8_load(b + i), most);
    float top = most_across(most);
    sac_f8 at = SET(top);
    *out = top;
    for (uint32_t i = 0; i < lanes; i += 8) {
        uint32_t mask = sac_f8_le(at, sac_f8_load(b + i));
        if (mask) return i + (uint32_t)__builtin_ctz(mask);
    }
    return 0;
}

SAC_ALWAYS_INLINE float fill(const sac_bound_job *job, float *b, float lows, float most)
{
    double left = 1 - (double)job->low_sum, value = lows;
    for (uint32_t i = job->count; i < job->lanes; i++) b[i] = -FLT_MAX;
    for (int round = 0; left > 0; round++) {
        float top;
        uint32_t at = highest(b, job->lanes, &top);
        if (top == -FLT_MAX) break; /* all full: what is left is rounding, and the slack covers it */
        double room = (double)job->high[at] - job->low[at], take = room < left ? room : left;
        if (!job->exact && round == 1) take = left;
        value += take * top, left -= take;
        b[at] = -FLT_MAX;
        if (round == ROUNDS && left > 0) {
            /* Many small weights: select instead of searching again and again. The limits are read into the
             * part of the scratch behind the directions. */
            float *room_of = job->scratch + (size_t)job->k * job->lanes;
            for (uint32_t i = 0; i < job->count; i++)
                room_of[i] = b[i] == -FLT_MAX ? 0 : job->high[i] - job->low[i];
            value += sac_bound_fill(b, room_of, job->count, left);
            break;
        }
    }
    /* Vertices are float sums of up to 32 products, weights sum to 1 but for rounding, and so do we. */
    return (float)(value + 4e-6 * most);
}

SAC_ALWAYS_INLINE void bound(const sac_bound_job *job, const uint32_t half_k, float *out)
{
    sac_f8 lows[SAC_MESHLESS_MOST_K], most[3];
    for (uint32_t d = 0; d < 2 * half_k; d++) lows[d] = SET(0);
    for (int r = 0; r < 3; r++) most[r] = SET(0);
    for (uint32_t i = 0; i < job->lanes; i += 8) project(job, i, half_k, lows, most);
    float size[3];
    for (int r = 0; r < 3; r++) size[r] = most_across(most[r]);
    for (uint32_t d = 0; d < 2 * half_k; d++) {
        /* Along a diagonal large coordinates may cancel, their rounding does not. */
        const signed char *g = direction(half_k, d % half_k);
        float along = 0;
        for (int r = 0; r < 3; r++) along += g[r] ? size[r] : 0;
        float value = fill(job, job->scratch + (size_t)d * job->lanes, sum_across(lows[d]), along);
        out[d] = d < half_k ? value : -value;
    }
}

#define BOUND_OF(path) sac_bound_kernel_##path
#define BOUND(path) BOUND_OF(path)
void BOUND(SAC_SIMD_PATH)(const sac_bound_job *job, float *out)
{
    if (job->k == 6)
        bound(job, 3, out);
    else
        bound(job, job->k / 2, out);
}

#endif
