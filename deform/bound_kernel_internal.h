/* The k-DOP of a set of vertices from the simulation nodes they follow. Compiled once for each SIMD path by
 * bound_*.c.
 *
 * Node j alone would carry the rest box to a parallelepiped with the highest value b_j along a direction. A
 * vertex has weights w with l <= w <= h and sum 1, so it is no higher than the largest sum of w_j b_j under
 * these limits: every node gets its l, and what is left of 1 goes to the highest b first, up to h each. That
 * fill is the exact optimum of this linear program; equation 12 limits the first alone.
 *
 * Few nodes: a vector is the directions, one node after the other. Many: a vector is eight nodes, one
 * direction after the other. */
#ifndef SAC_DEFORM_BOUND_KERNEL_INTERNAL_H
#define SAC_DEFORM_BOUND_KERNEL_INTERNAL_H

#include <float.h>

#include "base/simd.h"
#include "deform/meshless_internal.h"

#define ADD sac_f8_add
#define SUB sac_f8_sub
#define MUL sac_f8_mul
#define SET sac_f8_set

#define size_of sac_f8_abs

SAC_ALWAYS_INLINE float most_across(sac_f8 v)
{
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    for (int k = 0; k < 4; k++) l[k] = l[k] > l[k + 4] ? l[k] : l[k + 4];
    for (int k = 0; k < 2; k++) l[k] = l[k] > l[k + 2] ? l[k] : l[k + 2];
    return l[0] > l[1] ? l[0] : l[1];
}

SAC_ALWAYS_INLINE float sum_across(sac_f8 v)
{
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

SAC_ALWAYS_INLINE const signed char *direction(uint32_t half_k, uint32_t d)
{
    return sac_meshless_directions[half_k == 9 && d >= 3 ? d + 4 : d]; /* 18: no corners */
}

/* Vertices are float sums of up to 32 products, their weights sum to 1 but for rounding, and so do the takes
 * of a fill. Along a diagonal large coordinates may cancel, their rounding does not. `tops`: the highest b
 * along each direction. */
SAC_ALWAYS_INLINE void add_slack(float *out, const float *tops, const uint32_t half_k)
{
    float size[3];
    for (uint32_t r = 0; r < 3; r++) {
        size[r] = tops[r] > tops[half_k + r] ? tops[r] : tops[half_k + r];
        out[r] += 6e-6f * size[r];
        out[half_k + r] += 6e-6f * size[r];
    }
    for (uint32_t d = 3; d < half_k; d++) {
        const signed char *g = direction(half_k, d);
        float along = 0;
        for (int r = 0; r < 3; r++) along += g[r] ? size[r] : 0;
        out[d] += 6e-6f * along;
        out[half_k + d] += 6e-6f * along;
    }
    if (half_k == 3) out[6] = out[0], out[7] = out[1]; /* a box fills its vector */
}

/* The highest so far with its room, and the second. */
typedef struct leaders {
    sac_f8 first, room, second;
} leaders;

SAC_ALWAYS_INLINE void lead(leaders *l, sac_f8 b, sac_f8 room)
{
    l->second = sac_f8_max(sac_f8_min(b, l->first), l->second);
    l->room = sac_f8_pick_less(l->first, b, room, l->room);
    l->first = sac_f8_max(b, l->first);
}

/* The same with the room of the second, and the third. */
typedef struct runners {
    leaders lead;
    sac_f8 second_room, third;
} runners;

SAC_ALWAYS_INLINE void run(runners *r, sac_f8 b, sac_f8 room)
{
    sac_f8 behind = sac_f8_pick_less(r->lead.second, b, room, r->second_room);
    r->second_room = sac_f8_pick_less(r->lead.first, b, r->lead.room, behind);
    r->third = sac_f8_max(sac_f8_min(b, r->lead.second), r->third);
    lead(&r->lead, b, room);
}

/* Equation 12, one direction to a lane. A single node has no second. */
SAC_ALWAYS_INLINE sac_f8 share_out(const leaders *l, sac_f8 lows, sac_f8 left)
{
    sac_f8 take = sac_f8_min(l->room, left);
    sac_f8 second = sac_f8_pick_less(SET(-FLT_MAX), l->second, l->second, l->first);
    return ADD(ADD(lows, MUL(take, l->first)), MUL(SUB(left, take), second));
}

/* ---- few nodes: a vector is eight directions ---- */

SAC_ALWAYS_INLINE sac_f8 reach_along(const float *columns, const sac_meshless_rest *rest, size_t wide,
                                     bool oriented)
{
    sac_f8 m[3], reach;
    for (size_t c = 0; c < 3; c++) m[c] = sac_f8_load(columns + c * wide);
    if (!oriented)
        return ADD(ADD(MUL(size_of(m[0]), SET(rest->half[0])), MUL(size_of(m[1]), SET(rest->half[1]))),
                   MUL(size_of(m[2]), SET(rest->half[2])));
    for (int a = 0; a < 3; a++) {
        const float *axis = rest->axes[a];
        sac_f8 one =
            size_of(ADD(ADD(MUL(m[0], SET(axis[0])), MUL(m[1], SET(axis[1]))), MUL(m[2], SET(axis[2]))));
        reach = a ? ADD(reach, one) : one;
    }
    return reach;
}

/* b of node j along eight directions. */
SAC_ALWAYS_INLINE sac_f8 along_eight(const sac_bound_job *job, uint32_t j, size_t wide, size_t at,
                                     bool oriented)
{
    const sac_meshless_rest *rest = job->rest;
    const float *columns = job->wide + (size_t)job->node[j] * 4 * wide + at;
    sac_f8 middle =
        ADD(ADD(MUL(sac_f8_load(columns), SET(rest->centre[0])),
                MUL(sac_f8_load(columns + wide), SET(rest->centre[1]))),
            ADD(MUL(sac_f8_load(columns + 2 * wide), SET(rest->centre[2])), sac_f8_load(columns + 3 * wide)));
    return ADD(middle, reach_along(columns, rest, wide, oriented));
}

/* What goes before a node is the room of all that are higher: each is compared with each. */
SAC_ALWAYS_INLINE sac_f8 fill_paired(const sac_bound_job *job, const sac_f8 *b, sac_f8 left, sac_f8 value)
{
    sac_f8 before[SAC_MESHLESS_PAIRED], zero = SET(0);
    for (uint32_t j = 0; j < job->count; j++) {
        sac_f8 room = SET(job->room[j]), mine = zero;
        for (uint32_t i = 0; i < j; i++) {
            before[i] = ADD(before[i], sac_f8_pick_less(b[i], b[j], room, zero));
            mine = ADD(mine, sac_f8_pick_less(b[i], b[j], zero, SET(job->room[i])));
        }
        before[j] = mine;
    }
    for (uint32_t j = 0; j < job->count; j++) {
        sac_f8 take = sac_f8_min(sac_f8_max(SUB(left, before[j]), zero), SET(job->room[j]));
        value = ADD(value, MUL(take, b[j]));
    }
    return value;
}

SAC_ALWAYS_INLINE void bound_few(const sac_bound_job *job, const uint32_t half_k, bool oriented, float *out)
{
    const size_t wide = SAC_MESHLESS_WIDE(2 * half_k);
    const uint32_t count = job->count;
    _Alignas(32) float tops[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
    sac_f8 left = SET(1 - job->rest->low_sum), zero = SET(0), none = SET(-FLT_MAX);
    for (size_t at = 0; at < wide; at += 8) {
        sac_f8 b[SAC_MESHLESS_PAIRED], lows = zero, top = none, value;
        if (!job->exact) {
            leaders l = {none, zero, none};
            for (uint32_t j = 0; j < count; j++) {
                sac_f8 one = along_eight(job, j, wide, at, oriented);
                lows = ADD(lows, MUL(SET(job->low[j]), one));
                lead(&l, one, SET(job->room[j]));
            }
            value = share_out(&l, lows, left), top = l.first;
        } else {
            for (uint32_t j = 0; j < count; j++) {
                b[j] = along_eight(job, j, wide, at, oriented);
                lows = ADD(lows, MUL(SET(job->low[j]), b[j]));
                top = sac_f8_max(b[j], top);
            }
            value = fill_paired(job, b, left, lows);
        }
        sac_f8_store(out + at, value), sac_f8_store(tops + at, top);
    }
    add_slack(out, tops, half_k);
}

/* ---- many nodes: a vector is eight of them ---- */

/* The transformations of eight nodes, entry by entry (column by column): from the blocks where the eight are
 * one, else row by row. */
SAC_ALWAYS_INLINE void load_rows(const sac_bound_job *job, uint32_t i, sac_f8 m[16])
{
    const uint32_t *node = job->node + i;
    if (node[0] % 8 == 0 && node[7] == node[0] + 7) { /* they ascend, so all between are there */
        const float *block = job->blocks + (size_t)node[0] * SAC_MESHLESS_ROW;
        for (uint32_t e = 0; e < SAC_MESHLESS_ROW; e++)
            if (e % 4 < 3) m[e] = sac_f8_load(block + (size_t)e * 8);
        return;
    }
    const float *rows[8];
    for (int k = 0; k < 8; k++) rows[k] = job->rows + (size_t)node[k] * SAC_MESHLESS_ROW;
    sac_f8_rows_load(rows, m);
    for (int k = 0; k < 8; k++) rows[k] += 8;
    sac_f8_rows_load(rows, m + 8);
}

/* Highest values of eight parallelepipeds in all directions, and along their opposites: boxes about `centre`
 * under the transformations m, each `half` wide to both sides, or as the axes of an oriented one. */
SAC_ALWAYS_INLINE void spread(const sac_f8 m[16], const sac_f8 at[3], const sac_f8 half[3],
                              const float (*axes)[3], const uint32_t half_k, sac_f8 *b)
{
    sac_f8 centre[3];
    for (int r = 0; r < 3; r++)
        centre[r] = ADD(ADD(MUL(m[r], at[0]), MUL(m[4 + r], at[1])), ADD(MUL(m[8 + r], at[2]), m[12 + r]));
    for (uint32_t d = 0; d < half_k; d++) {
        sac_f8 middle, way[3], reach;
        if (d < 3) {
            middle = centre[d];
            for (uint32_t a = 0; a < 3; a++) way[a] = m[a * 4 + d];
        } else {
            const signed char *g = direction(half_k, d);
            middle = MUL(SET(g[0]), centre[0]);
            for (int a = 0; a < 3; a++) way[a] = MUL(SET(g[0]), m[a * 4]);
            for (int r = 1; r < 3; r++) {
                sac_f8 sign = SET(g[r]);
                middle = ADD(middle, MUL(sign, centre[r]));
                for (int a = 0; a < 3; a++) way[a] = ADD(way[a], MUL(sign, m[a * 4 + r]));
            }
        }
        if (axes)
            for (int a = 0; a < 3; a++) {
                const float *axis = axes[a];
                sac_f8 one = size_of(ADD(ADD(MUL(way[0], SET(axis[0])), MUL(way[1], SET(axis[1]))),
                                         MUL(way[2], SET(axis[2]))));
                reach = a ? ADD(reach, one) : one;
            }
        else
            reach = ADD(ADD(MUL(size_of(way[0]), half[0]), MUL(size_of(way[1]), half[1])),
                        MUL(size_of(way[2]), half[2]));
        b[d] = ADD(middle, reach), b[half_k + d] = SUB(reach, middle);
    }
}

/* b of eight nodes in all directions, high and (negated) low. */
SAC_ALWAYS_INLINE void project(const sac_bound_job *job, uint32_t i, const uint32_t half_k, bool oriented,
                               sac_f8 *b)
{
    const sac_meshless_rest *rest = job->rest;
    sac_f8 m[16], centre[3], half[3];
    load_rows(job, i, m);
    for (int a = 0; a < 3; a++) centre[a] = SET(rest->centre[a]), half[a] = SET(rest->half[a]);
    spread(m, centre, half, oriented ? rest->axes : NULL, half_k, b);
}

/* Lanes that do not count get the least there is. */
SAC_ALWAYS_INLINE void blank(sac_f8 room, const uint32_t half_k, sac_f8 *b)
{
    sac_f8 zero = SET(0), none = SET(-FLT_MAX);
    if (sac_f8_le(zero, room) == 0xffu) return;
    for (uint32_t d = 0; d < 2 * half_k; d++) b[d] = sac_f8_pick_less(room, zero, none, b[d]);
}

/* Eight lanes of each direction to one lane of eight vectors. */
SAC_ALWAYS_INLINE void turn_over(const sac_f8 *in, uint32_t first, const uint32_t count, sac_f8 out[8])
{
    _Alignas(32) float lanes[8][8];
    const float *rows[8];
    for (uint32_t k = 0; k < 8; k++) {
        if (first + k < count) sac_f8_store(lanes[k], in[first + k]);
        rows[k] = first + k < count ? lanes[k] : lanes[0];
    }
    sac_f8_rows_load(rows, out);
}

SAC_ALWAYS_INLINE sac_f8 sum_of(const sac_f8 v[8])
{
    return ADD(ADD(ADD(v[0], v[4]), ADD(v[2], v[6])), ADD(ADD(v[1], v[5]), ADD(v[3], v[7])));
}

SAC_ALWAYS_INLINE void bound_eq12(const sac_bound_job *job, const uint32_t half_k, bool oriented, float *out)
{
    const uint32_t k = 2 * half_k;
    _Alignas(32) float tops[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
    sac_f8 lows[SAC_MESHLESS_MOST_K], firsts[SAC_MESHLESS_MOST_K], rooms[SAC_MESHLESS_MOST_K],
        seconds[SAC_MESHLESS_MOST_K], b[SAC_MESHLESS_MOST_K];
    for (uint32_t d = 0; d < k; d++) lows[d] = rooms[d] = SET(0), firsts[d] = seconds[d] = SET(-FLT_MAX);
    bool any = job->rest->low_sum > 0;
    for (uint32_t i = 0; i < job->lanes; i += 8) {
        project(job, i, half_k, oriented, b);
        sac_f8 room = sac_f8_load(job->room + i);
        if (any) {
            sac_f8 low = sac_f8_load(job->low + i);
            for (uint32_t d = 0; d < k; d++) lows[d] = ADD(lows[d], MUL(low, b[d]));
        }
        blank(room, half_k, b);
        for (uint32_t d = 0; d < k; d++) {
            leaders l = {firsts[d], rooms[d], seconds[d]};
            lead(&l, b[d], room);
            firsts[d] = l.first, rooms[d] = l.room, seconds[d] = l.second;
        }
    }
    for (uint32_t at = 0; at < k; at += 8) {
        sac_f8 first[8], room[8], second[8], low[8];
        turn_over(firsts, at, k, first), turn_over(rooms, at, k, room);
        turn_over(seconds, at, k, second), turn_over(lows, at, k, low);
        leaders l = {first[0], room[0], second[0]};
        for (int i = 1; i < 8; i++) {
            lead(&l, first[i], room[i]);
            l.second = sac_f8_max(second[i], l.second);
        }
        sac_f8_store(out + at, share_out(&l, sum_of(low), SET(1 - job->rest->low_sum)));
        sac_f8_store(tops + at, l.first);
    }
    add_slack(out, tops, half_k);
}

/* Room of those of at least `bar`. */
SAC_ALWAYS_INLINE float room_from(const float *b, const float *rooms, uint32_t count, float bar)
{
    sac_f8 least = SET(bar), sum = SET(0);
    for (uint32_t i = 0; i < count; i += 8)
        sum = ADD(sum, sac_f8_pick_less(sac_f8_load(b + i), least, SET(0), sac_f8_load(rooms + i)));
    return sum_across(sum);
}

/* Those of at least `bar`, with their room: packed to whole vectors, the rest of the last one empty. To where
 * they are is fine. */
SAC_ALWAYS_INLINE uint32_t sift(const float *b, const float *rooms, uint32_t lanes, float bar, float *to,
                                float *to_rooms)
{
    uint32_t count = 0;
    sac_f8 least = SET(bar);
    for (uint32_t i = 0; i < lanes; i += 8) {
        uint32_t mask = sac_f8_le(least, sac_f8_load(b + i));
        if (!mask) continue;
        sac_n8 one = sac_n8_load((const uint32_t *)(const void *)(b + i)),
               room = sac_n8_load((const uint32_t *)(const void *)(rooms + i));
        sac_n8_pack((uint32_t *)(void *)(to + count), one, mask);
        sac_n8_pack((uint32_t *)(void *)(to_rooms + count), room, mask);
        count += sac_bits(mask);
    }
    sac_f8_store(to + count, SET(-FLT_MAX)), sac_f8_store(to_rooms + count, SET(0));
    return count;
}

/* The fill ends at the highest b down to which there is room for all that is left; each above it takes its
 * room. Few are that high: eight of them at least, and hardly three times as many, are not below the lowest
 * of eight maxima. */
SAC_ALWAYS_INLINE float fill(const sac_bound_job *job, const float *b, float top, float bar, float left)
{
    float *to = job->scratch + (size_t)job->k * job->lanes, *rooms = to + job->lanes + 8;
    uint32_t count;
    while ((count = sift(b, job->room, job->lanes, bar, to, rooms)) < job->count) {
        if (room_from(to, rooms, count, bar) >= left) break;
        float deeper = top - 3 * (top - bar);
        bar = deeper < bar && deeper > -1e30f ? deeper : -1e30f;
    }
    /* Too many, or all alike. */
    float share = 0;
    for (int round = 0; count > 40 && round < 12; round++) {
        float higher = top - share * (top - bar);
        bool enough = room_from(to, rooms, count, higher) >= left;
        if (enough && share == 0) return left * top;
        if (enough && higher > bar) {
            count = sift(to, rooms, count, higher, to, rooms);
            bar = higher, share = 0.125f;
        } else {
            share = share == 0 ? 0.125f : share < 0.4f ? share * 2 : (1 + share) / 2;
        }
    }
    sac_f8 end = SET(-FLT_MAX), all = SET(left), zero = SET(0), sum = zero;
    for (uint32_t i = 0; i < count; i += 8) {
        sac_f8 one = sac_f8_load(to + i), even = zero, odd = zero;
        for (uint32_t j = 0; j < count; j += 2) {
            even = ADD(even, sac_f8_pick_less(SET(to[j]), one, zero, SET(rooms[j])));
            odd = ADD(odd, sac_f8_pick_less(SET(to[j + 1]), one, zero, SET(rooms[j + 1])));
        }
        end = sac_f8_max(sac_f8_pick_less(ADD(even, odd), all, SET(-FLT_MAX), one), end);
    }
    float last = most_across(end);
    if (last == -FLT_MAX) /* all full but for rounding */
        for (uint32_t i = 0; i < count; i++) last = last == -FLT_MAX || to[i] < last ? to[i] : last;
    for (uint32_t i = 0; i < count; i += 8)
        sum = ADD(sum, MUL(sac_f8_max(SUB(sac_f8_load(to + i), SET(last)), zero), sac_f8_load(rooms + i)));
    return sum_across(sum) + left * last;
}

/* The higher of two with its room first. */
SAC_ALWAYS_INLINE void swap(sac_f8 *b, sac_f8 *room, sac_f8 *c, sac_f8 *other)
{
    sac_f8 one = *b, two = *c, here = *room, there = *other;
    *b = sac_f8_max(two, one), *c = sac_f8_min(two, one);
    *room = sac_f8_pick_less(one, two, there, here);
    *other = sac_f8_pick_less(one, two, here, there);
}

/* Eight in each lane, the highest first. */
SAC_ALWAYS_INLINE void sort_eight(sac_f8 b[8], sac_f8 room[8])
{
    static const uint8_t pairs[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                         {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                         {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
    for (int i = 0; i < 19; i++)
        swap(&b[pairs[i][0]], &room[pairs[i][0]], &b[pairs[i][1]], &room[pairs[i][1]]);
}

/* Fills from eight in order, down to `bar`; what is left then goes there. Returns how much that was. */
SAC_ALWAYS_INLINE sac_f8 pour(const sac_f8 b[8], const sac_f8 room[8], sac_f8 bar, float left, sac_f8 *value)
{
    sac_f8 rest = SET(left), zero = SET(0);
    for (int i = 0; i < 8; i++) {
        sac_f8 take = sac_f8_pick_less(b[i], bar, zero, sac_f8_min(room[i], rest));
        *value = ADD(*value, MUL(take, b[i]));
        rest = SUB(rest, take);
    }
    *value = ADD(*value, MUL(rest, bar));
    return rest;
}

/* The highest two of each lane and the third's height, one direction to a lane now. */
typedef struct field {
    sac_f8 first[8], room[8], second[8], second_room[8], third[8];
} field;

/* None that is not known is above the highest second: mostly the fill ends before it. Returns the directions
 * in which it does not. First ones are sorted. */
SAC_ALWAYS_INLINE uint32_t fill_short(field *f, float left, sac_f8 *value)
{
    sac_f8 bar = f->second[0], bar_room = f->second_room[0];
    for (int i = 1; i < 8; i++) {
        bar_room = sac_f8_pick_less(bar, f->second[i], f->second_room[i], bar_room);
        bar = sac_f8_max(f->second[i], bar);
    }
    sort_eight(f->first, f->room);
    sac_f8 rest = pour(f->first, f->room, bar, left, value);
    return ~sac_f8_le(SUB(rest, bar_room), SET(1e-6f));
}

/* With the seconds too: the highest eight of both, down to the highest third. */
SAC_ALWAYS_INLINE uint32_t fill_on(field *f, float left, sac_f8 *value)
{
    static const uint8_t steps[3] = {4, 2, 1};
    sac_f8 bar = f->third[0];
    for (int i = 1; i < 8; i++) bar = sac_f8_max(f->third[i], bar);
    sort_eight(f->second, f->second_room);
    for (int i = 0; i < 8; i++) {
        swap(&f->first[i], &f->room[i], &f->second[7 - i], &f->second_room[7 - i]);
        bar = sac_f8_max(f->second[7 - i], bar);
    }
    for (int s = 0; s < 3; s++)
        for (uint8_t i = 0; i < 8; i++)
            if (!(i & steps[s])) {
                uint8_t j = i + steps[s];
                swap(&f->first[i], &f->room[i], &f->first[j], &f->room[j]);
            }
    return ~sac_f8_le(pour(f->first, f->room, bar, left, value), SET(1e-6f));
}

SAC_ALWAYS_INLINE void bound_exact(const sac_bound_job *job, const uint32_t half_k, bool oriented, float *out)
{
    const uint32_t k = 2 * half_k;
    _Alignas(32) float sums[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)],
        highest[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)], least[SAC_MESHLESS_WIDE(SAC_MESHLESS_MOST_K)];
    sac_f8 lows[SAC_MESHLESS_MOST_K], firsts[SAC_MESHLESS_MOST_K], rooms[SAC_MESHLESS_MOST_K],
        seconds[SAC_MESHLESS_MOST_K], second_rooms[SAC_MESHLESS_MOST_K], thirds[SAC_MESHLESS_MOST_K],
        b[SAC_MESHLESS_MOST_K];
    bool any = job->rest->low_sum > 0;
    float left = 1 - job->rest->low_sum;
    for (uint32_t d = 0; d < k; d++) {
        lows[d] = rooms[d] = second_rooms[d] = SET(0);
        firsts[d] = seconds[d] = thirds[d] = SET(-FLT_MAX);
    }
    for (uint32_t i = 0; i < job->lanes; i += 8) {
        project(job, i, half_k, oriented, b);
        sac_f8 room = sac_f8_load(job->room + i);
        if (any) {
            sac_f8 low = sac_f8_load(job->low + i);
            for (uint32_t d = 0; d < k; d++) lows[d] = ADD(lows[d], MUL(low, b[d]));
        }
        blank(room, half_k, b);
        for (uint32_t d = 0; d < k; d++) {
            sac_f8_store(job->scratch + (size_t)d * job->lanes + i, b[d]);
            runners r = {{firsts[d], rooms[d], seconds[d]}, second_rooms[d], thirds[d]};
            run(&r, b[d], room);
            firsts[d] = r.lead.first, rooms[d] = r.lead.room, seconds[d] = r.lead.second;
            second_rooms[d] = r.second_room, thirds[d] = r.third;
        }
    }
    for (uint32_t at = 0; at < k; at += 8) {
        const uint32_t asked = k - at < 8 ? (1u << (k - at)) - 1 : 0xffu;
        field f;
        sac_f8 low[8];
        turn_over(firsts, at, k, f.first), turn_over(rooms, at, k, f.room);
        turn_over(seconds, at, k, f.second), turn_over(second_rooms, at, k, f.second_room);
        turn_over(lows, at, k, low);
        sac_f8 lowest = sum_of(low), value = lowest;
        uint32_t longer = fill_short(&f, left, &value) & asked;
        sac_f8_store(highest + at, f.first[0]), sac_f8_store(least + at, f.first[7]);
        if (longer) {
            turn_over(thirds, at, k, f.third);
            value = lowest, longer = fill_on(&f, left, &value) & asked;
        }
        sac_f8_store(out + at, value), sac_f8_store(sums + at, lowest);
        for (uint32_t d = at; d < k && d < at + 8; d++)
            if (longer >> (d - at) & 1u)
                out[d] =
                    sums[d] + fill(job, job->scratch + (size_t)d * job->lanes, highest[d], least[d], left);
    }
    for (uint32_t d = k; d < SAC_MESHLESS_WIDE(k); d++) out[d] = 0;
    add_slack(out, highest, half_k);
}

SAC_ALWAYS_INLINE void bound(const sac_bound_job *job, const uint32_t half_k, bool oriented, float *out)
{
    if (job->count <= SAC_MESHLESS_PAIRED)
        bound_few(job, half_k, oriented, out);
    else if (job->exact)
        bound_exact(job, half_k, oriented, out);
    else
        bound_eq12(job, half_k, oriented, out);
}

static void bound_any(const sac_bound_job *job, float *out)
{
    if (job->k == 6 && !job->oriented)
        bound(job, 3, false, out);
    else if (job->k == 6)
        bound(job, 3, true, out);
    else if (job->k == 14)
        bound(job, 7, job->oriented, out);
    else
        bound(job, job->k / 2, job->oriented, out);
}

#endif
