/* The inner loop of the descent. Compiled once for each SIMD path by kernel_*.c, which differ only in their
 * compiler flags and in what base/simd.h makes of them.
 *
 * A mispredicted branch costs as much as 30 sphere tests, so a batch of pairs is opened in two passes
 * that branch on nothing they compute. The first moves b's children into a's frame and tests them against
 * the ball that holds all children of a; the few that pass become jobs. The second tests each job, one child
 * of b against the block of a's children, and packs what touches. Entries of a batch do not depend on each
 * other, so the CPU overlaps them. (Testing all 8 x 8 in one pass was measured too: fewer instructions a
 * test, but a third more time.)
 *
 * Order of what is found: by pair, block of b, block of a, child of b, child of a. */
#ifndef SAC_SPHERETREE_KERNEL_INTERNAL_H
#define SAC_SPHERETREE_KERNEL_INTERNAL_H

#include "base/simd.h"
#include "spheretree/descent_internal.h"
#include "spheretree/touch_kernel_internal.h"

#define INLINE static inline __attribute__((always_inline))

/* Pairs looked ahead when prefetching: DRAM is about 100 ns away, an opening takes about 15. */
#define AHEAD 8u

_Static_assert(sizeof(sac_sphere_block) == 128 && sizeof(sac_link_block) == 64 &&
                   sizeof(sac_moved_block) == 160 && offsetof(sac_link_block, bound) == 32 &&
                   offsetof(sac_moved_block, link) == 128,
               "the offsets below count on it");

INLINE const float *at(const void *base, size_t offset)
{
    return (const float *)((const char *)base + offset);
}

INLINE sac_f8 square_of_distance(sac_f8 x, sac_f8 y, sac_f8 z)
{
    return sac_f8_add(sac_f8_add(sac_f8_mul(x, x), sac_f8_mul(y, y)), sac_f8_mul(z, z));
}

/* The second pass. `kind` and `some_lanes` are constants where this is called. */
INLINE bool run_jobs(const sac_descent *d, sac_job_list *jobs, sac_span *queue, sac_span *done,
                     const sac_open_kind kind, const bool some_lanes)
{
    const sac_sphere_block *spheres = d->a->spheres;
    const sac_link_block *links = d->a->links;
    const sac_moved_block *moved = jobs->moved;
    uint32_t *qa = queue->a, *qb = queue->b, *da = done->a, *db = done->b;
    size_t qn = queue->count, dn = done->count, j = jobs->next;
    const size_t count = jobs->count, q_room = queue->room, d_room = done->room;
    for (; j < count; j++) {
        if (kind != SAC_OPEN_TO_DONE && qn + SAC_LANES > q_room) break;
        if (kind != SAC_OPEN_TO_QUEUE && dn + SAC_LANES > d_room) break;
        size_t block = jobs->block_a[j], child = jobs->child_b[j];
        const float *a = at(spheres, 2 * block), *b = at(moved, child);
        sac_f8 x = sac_f8_sub(sac_f8_load(a), sac_f8_set(b[0]));
        sac_f8 y = sac_f8_sub(sac_f8_load(a + 8), sac_f8_set(b[8]));
        sac_f8 z = sac_f8_sub(sac_f8_load(a + 16), sac_f8_set(b[16]));
        sac_f8 r = sac_f8_add(sac_f8_load(a + 24), sac_f8_set(b[24]));
        uint32_t mask = sac_f8_le(square_of_distance(x, y, z), sac_f8_mul(r, r));
        if (some_lanes) mask &= jobs->lanes_a[j];
        sac_n8 link_a = sac_n8_load((const uint32_t *)at(links, block)),
               link_b = sac_n8_set(*((const uint32_t *)b + 32));
        if (kind == SAC_OPEN_TO_QUEUE) {
            sac_n8_pack(qa + qn, link_a, mask);
            sac_n8_store(qb + qn, link_b);
            qn += sac_bits(mask);
        } else if (kind == SAC_OPEN_TO_DONE) {
            sac_n8_pack(da + dn, sac_n8_clear_top(link_a), mask);
            sac_n8_store(db + dn, sac_n8_clear_top(link_b));
            dn += sac_bits(mask);
        } else {
            uint32_t leaves = sac_n8_top(link_a) & sac_n8_top(link_b);
            sac_n8_pack(qa + qn, link_a, mask & ~leaves);
            sac_n8_store(qb + qn, link_b);
            qn += sac_bits(mask & ~leaves);
            sac_n8_pack(da + dn, sac_n8_clear_top(link_a), mask & leaves);
            sac_n8_store(db + dn, sac_n8_clear_top(link_b));
            dn += sac_bits(mask & leaves);
        }
    }
    queue->count = (uint32_t)qn;
    done->count = (uint32_t)dn;
    jobs->next = (uint32_t)j;
    return j == count;
}

/* The second pass of pairs that skipped the first test: jobs are pairs, a's children stay in registers. */
INLINE bool run_direct(const sac_descent *d, sac_job_list *jobs, sac_span *to, const bool leaves)
{
    size_t n = to->count, j = jobs->next;
    const size_t count = jobs->count, room = to->room;
    for (; j < count && n + SAC_LANES * SAC_LANES <= room; j++) {
        size_t block = jobs->block_a[j];
        const float *a = at(d->a->spheres, 2 * block), *b = jobs->moved[j].x;
        sac_n8 link_a = sac_n8_load((const uint32_t *)at(d->a->links, block));
        if (leaves) link_a = sac_n8_clear_top(link_a);
#if defined(SAC_SIMD_IS_AVX512)
        /* Two children of b at a time against all of a's: the same pairs in the same order. */
        sac_f16 ax = sac_f16_twice(a), ay = sac_f16_twice(a + 8), az = sac_f16_twice(a + 16),
                ar = sac_f16_twice(a + 24);
        sac_f16 bx = sac_f16_twice(b), by = sac_f16_twice(b + 8), bz = sac_f16_twice(b + 16),
                br = sac_f16_twice(b + 24);
        sac_n8 own_b = sac_n8_load((const uint32_t *)b + 32);
        sac_n16 links_a = sac_n16_twice(link_a),
                links_b = sac_n16_twice(leaves ? sac_n8_clear_top(own_b) : own_b);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            sac_n16 two = sac_n16_two_lanes(k);
            sac_f16 x = sac_f16_sub(ax, sac_f16_spread(bx, two)),
                    y = sac_f16_sub(ay, sac_f16_spread(by, two));
            sac_f16 z = sac_f16_sub(az, sac_f16_spread(bz, two)),
                    r = sac_f16_add(ar, sac_f16_spread(br, two));
            sac_f16 d2 = sac_f16_add(sac_f16_add(sac_f16_mul(x, x), sac_f16_mul(y, y)), sac_f16_mul(z, z));
            uint32_t mask = sac_f16_le(d2, sac_f16_mul(r, r));
            sac_n16_pack(to->a + n, links_a, mask);
            sac_n16_pack(to->b + n, sac_n16_spread(links_b, two), mask);
            n += sac_bits(mask);
        }
#else
        sac_f8 ax = sac_f8_load(a), ay = sac_f8_load(a + 8), az = sac_f8_load(a + 16),
               ar = sac_f8_load(a + 24);
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++, b++) {
            sac_f8 x = sac_f8_sub(ax, sac_f8_set(b[0])), y = sac_f8_sub(ay, sac_f8_set(b[8]));
            sac_f8 z = sac_f8_sub(az, sac_f8_set(b[16])), r = sac_f8_add(ar, sac_f8_set(b[24]));
            uint32_t mask = sac_f8_le(square_of_distance(x, y, z), sac_f8_mul(r, r));
            uint32_t link_b = *((const uint32_t *)b + 32);
            sac_n8_pack(to->a + n, link_a, mask);
            sac_n8_store(to->b + n, sac_n8_set(leaves ? link_b & ~SAC_LINK_LEAF : link_b));
            n += sac_bits(mask);
        }
#endif
    }
    to->count = (uint32_t)n;
    jobs->next = (uint32_t)j;
    return j == count;
}

INLINE void prefetch_pair(const sac_descent *d, uint32_t a, uint32_t b)
{
    /* What is past the end of a queue names any block or none; integers keep the arithmetic defined,
     * and a prefetch of nowhere does nothing. */
    uintptr_t at_a = (uintptr_t)a * sizeof(sac_link_block), at_b = (uintptr_t)b * sizeof(sac_link_block);
    uintptr_t spheres_a = (uintptr_t)d->a->spheres + 2 * at_a,
              spheres_b = (uintptr_t)d->b->spheres + 2 * at_b;
    sac_prefetch(spheres_a);
    sac_prefetch(spheres_a + SAC_CACHE_LINE);
    sac_prefetch((uintptr_t)d->a->links + at_a);
    sac_prefetch(spheres_b);
    sac_prefetch(spheres_b + SAC_CACHE_LINE);
    sac_prefetch((uintptr_t)d->b->links + at_b);
}

/* The first pass. `simple`, a constant where this is called: no pair has a leaf, nodes have one block, and
 * the kind is known. */
INLINE uint32_t prepare_jobs(const sac_descent *d, const uint32_t *pa, const uint32_t *pb, uint32_t count,
                             sac_job_list *jobs, const bool simple, const bool direct)
{
    const sac_sphere_block *spheres_a = d->a->spheres, *spheres_b = d->b->spheres;
    const sac_link_block *links_a = d->a->links, *links_b = d->b->links;
    const uint32_t *parents = d->a->parents;
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
    const sac_f8 scale = sac_f8_set(d->scale), margin = sac_f8_set(d->margin);
    const sac_f8 slack = sac_f8_set(SAC_CULL_SLACK), tiny = sac_f8_set(SAC_CULL_TINY);
    static const _Alignas(32) uint32_t first_children[SAC_LANES] = {0, 4, 8, 12, 16, 20, 24, 28};
    sac_n8 children = sac_n8_load(first_children);
    const sac_n8 next_unit = sac_n8_set(sizeof(sac_moved_block));
    uint32_t kinds = 0;
    size_t job_count = 0;
    sac_moved_block *u = jobs->moved;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t a = pa[n], b = pb[n];
        prefetch_pair(d, pa[n + AHEAD], pb[n + AHEAD]);
        uint32_t lanes_a = 0xff, lanes_b = 0xff, blocks_a = 1, blocks_b = 1;
        uint32_t id_a = 0;
        if (direct) {
            /* node a itself is not looked at */
        } else if (simple || !((a | b) & SAC_LINK_LEAF)) {
            id_a = parents[a];
            if (!simple) blocks_a = d->a->blocks_per_node, blocks_b = d->b->blocks_per_node;
        } else {
            /* A leaf stands for itself: one lane of its own block. */
            if (a & SAC_LINK_LEAF) {
                id_a = a & ~SAC_LINK_LEAF;
                lanes_a = 1u << id_a % SAC_LANES;
                a = id_a / SAC_LANES;
            } else {
                id_a = parents[a];
                blocks_a = d->a->blocks_per_node;
            }
            if (b & SAC_LINK_LEAF) {
                lanes_b = 1u << b % SAC_LANES;
                b = (b & ~SAC_LINK_LEAF) / SAC_LANES;
            } else {
                blocks_b = d->b->blocks_per_node;
            }
        }
        /* Node a's own numbers: 128 bytes a block and 4 a lane, from the id, which is 8 a block. */
        size_t whole = id_a & ~7u;
        const float *own = at(spheres_a, 4 * (id_a + 3 * whole));
        const float *bound = at(links_a, 4 * (id_a + whole) + 32);
        sac_f8 ax = sac_f8_set(own[0]), ay = sac_f8_set(own[8]), az = sac_f8_set(own[16]),
               ar = sac_f8_set(bound[0]);
        for (uint32_t ib = 0; ib < blocks_b; ib++) {
            size_t block_b = (size_t)(b + ib) * sizeof(sac_link_block);
            const float *s = at(spheres_b, 2 * block_b);
            sac_f8 x = sac_f8_load(s), y = sac_f8_load(s + 8), z = sac_f8_load(s + 16);
#define ROW(i)                                                             \
    sac_f8_add(sac_f8_add(sac_f8_mul(x, m##i##0), sac_f8_mul(y, m##i##1)), \
               sac_f8_add(sac_f8_mul(z, m##i##2), m##i##3))
            sac_f8 bx = ROW(0), by = ROW(1), bz = ROW(2),
                   br = sac_f8_add(sac_f8_mul(sac_f8_load(s + 24), scale), margin);
#undef ROW
            sac_n8 link_b = sac_n8_load((const uint32_t *)at(links_b, block_b));
            sac_f8_store(u->x, bx);
            sac_f8_store(u->y, by);
            sac_f8_store(u->z, bz);
            sac_f8_store(u->r, br);
            sac_n8_store(u->link, link_b);
            if (direct) {
                jobs->block_a[job_count++] = a * (uint32_t)sizeof(sac_link_block);
                u++;
                continue;
            }
            sac_f8 r = sac_f8_add(br, ar);
            sac_f8 d2 = square_of_distance(sac_f8_sub(bx, ax), sac_f8_sub(by, ay), sac_f8_sub(bz, az));
            uint32_t live = sac_f8_le(d2, sac_f8_add(sac_f8_mul(sac_f8_mul(r, r), slack), tiny));
            if (!simple) live &= lanes_b;
            uint32_t live_count = sac_bits(live);
            for (uint32_t ia = 0; ia < blocks_a; ia++) {
                size_t block_a = (size_t)(a + ia) * sizeof(sac_link_block);
                if (!simple) {
                    sac_f8 ra = sac_f8_load(at(spheres_a, 2 * block_a) + 24);
                    uint32_t there_a = sac_f8_le(ra, ra) & lanes_a, there_b = sac_f8_le(br, br) & lanes_b;
                    uint32_t leaf_a =
                        sac_n8_top(sac_n8_load((const uint32_t *)at(links_a, block_a))) & lanes_a;
                    uint32_t leaf_b = sac_n8_top(link_b) & lanes_b;
                    kinds |= ((leaf_a != 0) & (leaf_b != 0)) * (uint32_t)SAC_OPEN_TO_DONE;
                    kinds |= ((leaf_a ^ there_a) | (leaf_b ^ there_b)) != 0 ? SAC_OPEN_TO_QUEUE : 0u;
                    sac_n8_store(jobs->lanes_a + job_count, sac_n8_set(lanes_a));
                }
                sac_n8_store(jobs->block_a + job_count, sac_n8_set((uint32_t)block_a));
                sac_n8_pack(jobs->child_b + job_count, children, live);
                job_count += live_count;
            }
            children = sac_n8_add(children, next_unit);
            u++;
        }
    }
    if (!simple) jobs->kind = (sac_open_kind)kinds;
    jobs->some_lanes = !simple;
    jobs->direct = direct;
    jobs->count = (uint32_t)job_count;
    jobs->next = 0;
    if (direct) return SAC_LANES * SAC_LANES * count;
    return SAC_LANES * (uint32_t)((size_t)(u - jobs->moved) + job_count);
}

static uint32_t prepare(const sac_descent *d, const uint32_t *a, const uint32_t *b, uint32_t count,
                        sac_open_kind kind, bool direct, sac_job_list *jobs)
{
    jobs->kind = kind;
    if (kind == SAC_OPEN_MIXED) return prepare_jobs(d, a, b, count, jobs, false, false);
    if (direct) return prepare_jobs(d, a, b, count, jobs, true, true);
    return prepare_jobs(d, a, b, count, jobs, true, false);
}

static bool run(const sac_descent *d, sac_job_list *jobs, sac_span *queue, sac_span *done)
{
    if (jobs->direct)
        return jobs->kind == SAC_OPEN_TO_DONE ? run_direct(d, jobs, done, true)
                                              : run_direct(d, jobs, queue, false);
    switch (jobs->kind * 2 + jobs->some_lanes) {
    case SAC_OPEN_TO_QUEUE * 2:
        return run_jobs(d, jobs, queue, done, SAC_OPEN_TO_QUEUE, false);
    case SAC_OPEN_TO_DONE * 2:
        return run_jobs(d, jobs, queue, done, SAC_OPEN_TO_DONE, false);
    case SAC_OPEN_TO_QUEUE * 2 + 1:
        return run_jobs(d, jobs, queue, done, SAC_OPEN_TO_QUEUE, true);
    case SAC_OPEN_TO_DONE * 2 + 1:
        return run_jobs(d, jobs, queue, done, SAC_OPEN_TO_DONE, true);
    default:
        return run_jobs(d, jobs, queue, done, SAC_OPEN_MIXED, true);
    }
}

#define KERNEL_NAME_OF(path) sac_kernel_##path
#define KERNEL_NAME(path) KERNEL_NAME_OF(path)
const sac_kernel KERNEL_NAME(SAC_SIMD_PATH) = {prepare, run, measure_touches, choose_touches};

#endif
