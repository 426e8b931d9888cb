/* Eight spheres of a tree against a primitive. Compiled once for each SIMD path by field_*.c, which differ
 * only in their compiler flags and in what base/simd.h makes of them. No square root: a sphere comes within
 * the margin when the square of its centre's distance to the core does. */
#ifndef SAC_SPHERETREE_FIELD_KERNEL_INTERNAL_H
#define SAC_SPHERETREE_FIELD_KERNEL_INTERNAL_H

#include "base/simd.h"
#include "spheretree/descent_internal.h"
#include "spheretree/field_internal.h"

#define INLINE static inline __attribute__((always_inline))

/* How far |v| is beyond `half`; an empty lane's NaN may become 0 here, its radius still fails the test. */
INLINE sac_f8 beyond(sac_f8 v, float half)
{
    sac_f8 zero = sac_f8_set(0.0f), size = sac_f8_max(v, sac_f8_sub(zero, v));
    return sac_f8_max(sac_f8_sub(size, sac_f8_set(half)), zero);
}

INLINE uint32_t touching(const sac_field_job *job, const sac_sphere_block *block, const sac_form_kind kind)
{
    sac_f8 bx = sac_f8_load(block->x), by = sac_f8_load(block->y), bz = sac_f8_load(block->z);
#define ROW(i)                                                                                          \
    sac_f8_add(                                                                                         \
        sac_f8_add(sac_f8_mul(bx, sac_f8_set(job->m[i][0])), sac_f8_mul(by, sac_f8_set(job->m[i][1]))), \
        sac_f8_add(sac_f8_mul(bz, sac_f8_set(job->m[i][2])), sac_f8_set(job->m[i][3])))
    sac_f8 x = ROW(0), y = ROW(1), z = ROW(2);
#undef ROW
    sac_f8 r = sac_f8_add(sac_f8_mul(sac_f8_load(block->r), sac_f8_set(job->scale)), sac_f8_set(job->margin));
    const sac_solid *s = &job->solid;
    if (kind == SAC_FORM_PLANE) {
        sac_f8 d = sac_f8_add(
            sac_f8_add(sac_f8_mul(x, sac_f8_set(s->normal[0])), sac_f8_mul(y, sac_f8_set(s->normal[1]))),
            sac_f8_mul(z, sac_f8_set(s->normal[2])));
        return sac_f8_le(sac_f8_sub(d, sac_f8_set(s->offset)), r);
    }
    if (kind == SAC_FORM_BOX) {
        x = beyond(x, s->half[0]), y = beyond(y, s->half[1]), z = beyond(z, s->half[2]);
    } else {
        r = sac_f8_add(r, sac_f8_set(s->radius));
        if (kind == SAC_FORM_CAPSULE) y = beyond(y, s->half[1]);
    }
    sac_f8 d2 = sac_f8_add(sac_f8_add(sac_f8_mul(x, x), sac_f8_mul(y, y)), sac_f8_mul(z, z));
    return sac_f8_le(d2, sac_f8_mul(r, r));
}

INLINE void open_links(const sac_field_job *job, const uint32_t *links, uint32_t count, uint32_t *next,
                       uint32_t *next_count, uint32_t *done, uint32_t *done_count, const sac_form_kind kind)
{
    const sac_tree *tree = job->tree;
    uint32_t n = *next_count, d = *done_count;
    for (uint32_t i = 0; i < count; i++) {
        sac_lanes at = sac_link_lanes(tree, links[i]);
        for (uint32_t k = 0; k < at.blocks; k++) {
            uint32_t mask = touching(job, &tree->spheres[at.block + k], kind) & at.lanes;
            sac_n8 link = sac_n8_load(tree->links[at.block + k].link);
            uint32_t leaves = sac_n8_top(link);
            sac_n8_pack(next + n, link, mask & ~leaves);
            n += sac_bits(mask & ~leaves);
            sac_n8_pack(done + d, sac_n8_clear_top(link), mask & leaves);
            d += sac_bits(mask & leaves);
        }
    }
    *next_count = n;
    *done_count = d;
}

#define KERNEL_NAME_OF(path) sac_field_kernel_##path
#define KERNEL_NAME(path) KERNEL_NAME_OF(path)
void KERNEL_NAME(SAC_SIMD_PATH)(const sac_field_job *job, const uint32_t *links, uint32_t count,
                                uint32_t *next, uint32_t *next_count, uint32_t *done, uint32_t *done_count)
{
    switch (job->solid.kind) {
    case SAC_FORM_SPHERE:
        open_links(job, links, count, next, next_count, done, done_count, SAC_FORM_SPHERE);
        break;
    case SAC_FORM_CAPSULE:
        open_links(job, links, count, next, next_count, done, done_count, SAC_FORM_CAPSULE);
        break;
    case SAC_FORM_BOX:
        open_links(job, links, count, next, next_count, done, done_count, SAC_FORM_BOX);
        break;
    default:
        open_links(job, links, count, next, next_count, done, done_count, SAC_FORM_PLANE);
    }
}

#endif
