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

/* Lanes to a group whose highest b is kept; picks from the fill before it goes over to selection. */
enum { GROUP = SAC_MESHLESS_GROUP, ROUNDS = 24 };

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

/* The transformations of eight nodes, entry by entry: from the blocks where the eight are one, else row by
 * row. */
SAC_ALWAYS_INLINE void load_rows(const sac_bound_job *job, uint32_t i, sac_f8 m[16])
{
    const uint32_t *node = job->node + i;
    if (node[0] % 8 == 0 && node[7] == node[0] + 7) { /* they ascend, so all between are there */
        const float *block = job->blocks + (size_t)node[0] * SAC_MESHLESS_ENTRIES;
        for (uint32_t e = 0; e < SAC_MESHLESS_ENTRIES; e++) m[e] = sac_f8_load(block + (size_t)e * 8);
        return;
    }
    const float *rows[8];
    for (int k = 0; k < 8; k++) rows[k] = job->rows + (size_t)node[k] * SAC_MESHLESS_ROW;
    sac_f8_rows_load(rows, m);
    for (int k = 0; k < 8; k++) rows[k] += 8;
    sac_f8_rows_load(rows, m + 8);
}

/* b of eight nodes in all directions, high and (negated) low. */
SAC_ALWAYS_INLINE void project(const sac_bound_job *job, uint32_t i, const uint32_t half_k, sac_f8 *lows,
                               sac_f8 *tops, sac_f8 most[3])
{
    sac_f8 m[16], centre[3], low = sac_f8_load(job->low + i), limit = sac_f8_load(job->high + i);
    sac_f8 zero = SET(0), none = SET(-FLT_MAX);
    load_rows(job, i, m);
    for (int r = 0; r < 3; r++)
        centre[r] = ADD(ADD(MUL(m[r * 4], SET(job->centre[0])), MUL(m[r * 4 + 1], SET(job->centre[1]))),
                        ADD(MUL(m[r * 4 + 2], SET(job->centre[2])), m[r * 4 + 3]));
    for (uint32_t d = 0; d < half_k; d++) {
        sac_f8 middle, way[3];
        if (d < 3) {
            middle = centre[d];
            for (uint32_t a = 0; a < 3; a++) way[a] = m[d * 4 + a];
        } else {
            const signed char *g = direction(half_k, d);
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
        if (d < 3) most[d] = sac_f8_max(ADD(size_of(middle), reach), most[d]);
        lows[d] = ADD(lows[d], MUL(low, high));
        lows[half_k + d] = ADD(lows[half_k + d], MUL(low, down));
        /* Lanes beyond the last node may take nothing, and nodes that nobody follows need not be asked. */
        high = sac_f8_pick_less(zero, limit, high, none);
        down = sac_f8_pick_less(zero, limit, down, none);
        sac_f8_store(job->scratch + (size_t)d * job->lanes + i, high);
        sac_f8_store(job->scratch + (size_t)(half_k + d) * job->lanes + i, down);
        tops[d] = sac_f8_max(high, tops[d]);
        tops[half_k + d] = sac_f8_max(down, tops[half_k + d]);
    }
}

/* Where `top` is among the b of a group of lanes; it is taken out, and the group's highest are found again.
 */
SAC_ALWAYS_INLINE uint32_t take_out(float *b, uint32_t lanes, uint32_t group, float top, float *group_top)
{
    uint32_t first = group * GROUP, end = lanes - first < GROUP ? lanes : first + GROUP, at = first;
    sac_f8 wanted = SET(top), most = SET(-FLT_MAX);
    for (uint32_t i = first; i < end; i += 8) {
        uint32_t mask = sac_f8_le(wanted, sac_f8_load(b + i));
        if (!mask) continue;
        at = i + (uint32_t)__builtin_ctz(mask);
        break;
    }
    b[at] = -FLT_MAX;
    for (uint32_t i = first; i < end; i += 8) most = sac_f8_max(sac_f8_load(b + i), most);
    sac_f8_store(group_top, most);
    return at;
}

/* What is left of 1 to the highest b first, up to h each. */
SAC_ALWAYS_INLINE double fill(const sac_bound_job *job, float *b, float *group_tops)
{
    uint32_t groups = (job->lanes + GROUP - 1) / GROUP;
    double left = 1 - (double)job->low_sum, sum = 0;
    for (int round = 0; left > 0; round++) {
        sac_f8 most = sac_f8_load(group_tops);
        for (uint32_t g = 1; g < groups; g++)
            most = sac_f8_max(sac_f8_load(group_tops + (size_t)g * 8), most);
        float top = most_across(most);
        if (top == -FLT_MAX) break; /* all full: what is left is rounding, and the slack covers it */
        if (round == ROUNDS) {
            /* Many small weights: select among all. The room of each goes behind the directions. */
            float *room = job->scratch + (size_t)job->k * job->lanes;
            for (uint32_t i = 0; i < job->lanes; i += 8)
                sac_f8_store(room + i, SUB(sac_f8_load(job->high + i), sac_f8_load(job->low + i)));
            uint32_t count = 0;
            for (uint32_t i = 0; i < job->count; i++)
                if (b[i] != -FLT_MAX) b[count] = b[i], room[count++] = room[i];
            return sum + sac_bound_fill(b, room, count, left);
        }
        uint32_t group = 0;
        while (!sac_f8_le(SET(top), sac_f8_load(group_tops + (size_t)group * 8))) group++;
        uint32_t at = take_out(b, job->lanes, group, top, group_tops + (size_t)group * 8);
        double room = job->high[at] - job->low[at], take = room < left ? room : left;
        if (!job->exact && round == 1) take = left;
        sum += take * top, left -= take;
    }
    return sum;
}

SAC_ALWAYS_INLINE void bound(const sac_bound_job *job, const uint32_t half_k, float *out)
{
    sac_f8 lows[SAC_MESHLESS_MOST_K], tops[SAC_MESHLESS_MOST_K], most[3];
    float size[3], *group_tops = job->scratch + (size_t)(job->k + 1) * job->lanes;
    size_t stride = (size_t)(job->lanes + GROUP - 1) / GROUP * 8;
    for (uint32_t d = 0; d < 2 * half_k; d++) lows[d] = SET(0);
    for (int r = 0; r < 3; r++) most[r] = SET(0);
    for (uint32_t first = 0; first < job->lanes; first += GROUP) {
        uint32_t end = job->lanes - first < GROUP ? job->lanes : first + GROUP;
        for (uint32_t d = 0; d < 2 * half_k; d++) tops[d] = SET(-FLT_MAX);
        for (uint32_t i = first; i < end; i += 8) project(job, i, half_k, lows, tops, most);
        for (uint32_t d = 0; d < 2 * half_k; d++)
            sac_f8_store(group_tops + d * stride + first / GROUP * 8, tops[d]);
    }
    for (int r = 0; r < 3; r++) size[r] = most_across(most[r]);
    for (uint32_t d = 0; d < 2 * half_k; d++) {
        double value =
            sum_across(lows[d]) + fill(job, job->scratch + (size_t)d * job->lanes, group_tops + d * stride);
        /* Vertices are float sums of up to 32 products, and their weights sum to 1 but for rounding. Along a
         * diagonal large coordinates may cancel, their rounding does not. */
        const signed char *g = direction(half_k, d % half_k);
        double along = 0;
        for (int r = 0; r < 3; r++) along += g[r] ? size[r] : 0;
        value += 4e-6 * along;
        out[d] = d < half_k ? (float)value : -(float)value;
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
