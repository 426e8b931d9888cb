/* Vertices where they are now, and the k-DOPs of those of a few triangles. Compiled once for each SIMD path
 * by bound_*.c. */
#ifndef SAC_DEFORM_LOOK_KERNEL_INTERNAL_H
#define SAC_DEFORM_LOOK_KERNEL_INTERNAL_H

#include "deform/cross_kernel_internal.h"
#include "deform/drift_kernel_internal.h"

/* The columns of the nodes are blended first, all of a cache line at once; one product with the vertex is
 * left. */
SAC_ALWAYS_INLINE void skin_one(const sac_skin_job *job, uint32_t v)
{
    const float *rest = job->vertices[v];
    sac_f8 near = SET(0), far = SET(0);
    for (uint32_t i = job->first[v], end = job->first[v + 1]; i < end; i++) {
        const float *row = job->rows + (size_t)job->influence[i].node * SAC_MESHLESS_ROW;
        sac_f8 w = SET(job->influence[i].weight);
        near = ADD(near, MUL(w, sac_f8_load(row)));
        far = ADD(far, MUL(w, sac_f8_load(row + 8)));
    }
    _Alignas(32) float blend[16];
    sac_f8_store(blend, near), sac_f8_store(blend + 8, far);
    float *out = job->now[v];
    for (int r = 0; r < 3; r++) {
        float at = (blend[r] * rest[0] + blend[4 + r] * rest[1]) + (blend[8 + r] * rest[2] + blend[12 + r]);
        out[r] = at, out[3 + r] = -at;
    }
    out[6] = out[0], out[7] = out[1];
}

static void skin_range(const sac_skin_job *job, uint32_t first, uint32_t end)
{
    for (uint32_t v = first; v < end; v++) skin_one(job, v);
}

static void skin_listed(const sac_skin_job *job, const uint32_t *who, uint32_t count, uint32_t *stamp,
                        uint32_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = who[i];
        if (stamp[v] == step) continue;
        stamp[v] = step;
        skin_one(job, v);
    }
}

/* Lane by lane: a direction, and its allowance for the rounding of the product (none for axes). */
typedef struct compass {
    sac_f8 g[3], slack;
} compass;

SAC_ALWAYS_INLINE compass compass_of(const uint32_t half_k, uint32_t at)
{
    _Alignas(32) float g[3][8], slack[8];
    for (uint32_t lane = 0; lane < 8; lane++) {
        uint32_t d = half_k == 3 && lane > 5 ? lane - 6 : at + lane, axis = d < half_k ? d : d - half_k;
        for (int r = 0; r < 3; r++) {
            float way = d < 2 * half_k ? direction(half_k, axis)[r] : 0;
            g[r][lane] = d < half_k ? way : -way;
        }
        slack[lane] = d < 2 * half_k && axis >= 3 ? 2e-7f : 0;
    }
    return (compass){{sac_f8_load(g[0]), sac_f8_load(g[1]), sac_f8_load(g[2])}, sac_f8_load(slack)};
}

SAC_ALWAYS_INLINE sac_f8 along(const compass *c, const float *v)
{
    sac_f8 x = SET(v[0]), y = SET(v[1]), z = SET(v[2]);
    return ADD(ADD(ADD(MUL(c->g[0], x), MUL(c->g[1], y)), MUL(c->g[2], z)),
               MUL(c->slack, ADD(ADD(size_of(x), size_of(y)), size_of(z))));
}

SAC_ALWAYS_INLINE void look_at(const sac_look_job *job, const uint32_t half_k, const uint32_t corner_count,
                               uint32_t first, uint32_t end)
{
    const size_t wide = SAC_MESHLESS_WIDE(2 * half_k);
    for (size_t at = 0; at < wide; at += 8) {
        compass c = compass_of(half_k, (uint32_t)at);
        for (uint32_t node = end; node-- > first;) {
            const sac_meshless_node *n = &job->tree[node];
            sac_f8 most;
            if (n->child) {
                const float *a = job->dops + n->child * wide + at;
                most = sac_f8_max(sac_f8_load(a), sac_f8_load(a + wide));
            } else {
                const uint32_t *corner = job->corners + (size_t)n->first * corner_count;
                most = half_k == 3 ? sac_f8_load(job->now[corner[0]]) : along(&c, job->now[corner[0]]);
                for (uint32_t i = 1; i < n->count * corner_count; i++) {
                    const float *v = job->now[corner[i]];
                    most = sac_f8_max(half_k == 3 ? sac_f8_load(v) : along(&c, v), most);
                }
            }
            sac_f8_store(job->dops + node * wide + at, most);
        }
    }
}

static void look_any(const sac_look_job *job, uint32_t first, uint32_t end)
{
    if (job->k == 6 && job->corner_count == 3)
        look_at(job, 3, 3, first, end);
    else
        look_at(job, job->k / 2, job->corner_count, first, end);
}

#define KERNELS_OF(path) sac_bound_kernels_##path
#define KERNELS(path) KERNELS_OF(path)
const sac_bound_kernels KERNELS(SAC_SIMD_PATH) = {bound_any, skin_range, skin_listed,
                                                  look_any,  drift_any,  cross_eight};

#endif
