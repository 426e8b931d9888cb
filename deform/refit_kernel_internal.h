/* Eight spheres follow the map of their cluster. Compiled once for each SIMD path by refit_*.c. */
#ifndef SAC_DEFORM_REFIT_KERNEL_INTERNAL_H
#define SAC_DEFORM_REFIT_KERNEL_INTERNAL_H

#include "base/simd.h"
#include "deform/soft_tree_internal.h"

#define ADD sac_f8_add
#define SUB sac_f8_sub
#define MUL sac_f8_mul
#define SET sac_f8_set

SAC_ALWAYS_INLINE sac_f8 det(sac_f8 m[3][3])
{
    return ADD(SUB(MUL(m[0][0], SUB(MUL(m[1][1], m[2][2]), MUL(m[1][2], m[2][1]))),
                   MUL(m[0][1], SUB(MUL(m[1][0], m[2][2]), MUL(m[1][2], m[2][0])))),
               MUL(m[0][2], SUB(MUL(m[1][0], m[2][1]), MUL(m[1][1], m[2][0]))));
}

/* Largest singular values, never too small: sac_norm_above in float, with room for float's rounding in each
 * place where it could count. Too large by less than one part in a thousand. */
SAC_ALWAYS_INLINE sac_f8 norm_above(sac_f8 m[3][3])
{
    sac_f8 most = SET(1e-30f), zero = SET(0), b[3][3], unit, square = zero;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) most = sac_f8_max(sac_f8_max(m[i][k], SUB(zero, m[i][k])), most);
    unit = sac_f8_div(SET(1), most);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[i][k] = MUL(m[i][k], unit);
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            b[i][k] = b[k][i] = ADD(ADD(MUL(m[0][i], m[0][k]), MUL(m[1][i], m[1][k])), MUL(m[2][i], m[2][k]));
    sac_f8 mean = MUL(ADD(ADD(b[0][0], b[1][1]), b[2][2]), SET(1.0f / 3));
    for (int i = 0; i < 3; i++) b[i][i] = SUB(b[i][i], mean);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) square = ADD(square, MUL(b[i][k], b[i][k]));
    sac_f8 p = sac_f8_max(sac_f8_sqrt(MUL(square, SET(1.0f / 6))), ADD(MUL(mean, SET(1e-6f)), SET(1e-30f)));
    sac_f8 inverse = sac_f8_div(SET(1), p);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) b[i][k] = MUL(b[i][k], inverse);
    /* e^3 + 3e^2 = 2 + det(B/p), from above by Newton. */
    sac_f8 right = ADD(sac_f8_max(ADD(det(b), SET(2)), zero), SET(8e-6f));
    sac_f8 e = sac_f8_sqrt(MUL(right, SET(1.0f / 3)));
    for (int i = 0; i < 3; i++) {
        sac_f8 f = SUB(MUL(MUL(e, e), ADD(e, SET(3))), right);
        e = SUB(e, sac_f8_div(f, MUL(MUL(SET(3), e), ADD(e, SET(2)))));
    }
    sac_f8 value = ADD(MUL(mean, SET(1 + 6e-6f)), MUL(p, ADD(e, SET(1 + 4e-6f))));
    return MUL(sac_f8_sqrt(value), most);
}

#define REFIT_OF(path) sac_refit_kernel_##path
#define REFIT(path) REFIT_OF(path)
void REFIT(SAC_SIMD_PATH)(const sac_refit_job *job, const sac_soft_rest_block *rest, sac_sphere_block *out)
{
    const sac_soft_map *map = job->map;
    sac_f8 q[3] = {sac_f8_load(rest->x), sac_f8_load(rest->y), sac_f8_load(rest->z)};
    sac_f8 square[3], mixed[3], r0 = sac_f8_load(rest->r), radius;
    float *centre[3] = {out->x, out->y, out->z};
    for (int k = 0; k < 3; k++) square[k] = MUL(q[k], q[k]), mixed[k] = MUL(q[k], q[(k + 1) % 3]);
    for (int r = 0; r < 3; r++) { /* as in sac_soft_goal */
        sac_f8 g = ADD(ADD(MUL(SET(map->a[r][0]), q[0]), MUL(SET(map->a[r][1]), q[1])),
                       MUL(SET(map->a[r][2]), q[2]));
        if (job->quadratic)
            for (int k = 0; k < 3; k++)
                g = ADD(g, ADD(MUL(SET(map->qq[r][k]), square[k]), MUL(SET(map->mixed[r][k]), mixed[k])));
        sac_f8_store(centre[r], ADD(g, SET(map->t[r])));
    }
    if (!job->quadratic) {
        radius = MUL(SET(job->norm_a), r0);
    } else if (job->local) {
        /* J = A + 2 Q diag(c) + M [[cy, cx, 0], [0, cz, cy], [cz, 0, cx]] */
        sac_f8 j[3][3], two = SET(2);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) {
                /* Term k is q[k] q[k + 1]; q[k] is in terms k and k - 1. */
                sac_f8 m = ADD(MUL(SET(map->mixed[r][k]), q[(k + 1) % 3]),
                               MUL(SET(map->mixed[r][(k + 2) % 3]), q[(k + 2) % 3]));
                j[r][k] = ADD(SET(map->a[r][k]), ADD(MUL(two, MUL(SET(map->qq[r][k]), q[k])), m));
            }
        radius = ADD(MUL(norm_above(j), r0), ADD(MUL(SET(job->norm_square), sac_f8_load(rest->near_square)),
                                                 MUL(SET(job->norm_mixed), sac_f8_load(rest->near_mixed))));
    } else {
        radius = ADD(MUL(SET(job->norm_a), r0), ADD(MUL(SET(job->norm_square), sac_f8_load(rest->far_square)),
                                                    MUL(SET(job->norm_mixed), sac_f8_load(rest->far_mixed))));
    }
    sac_f8_store(out->r, ADD(MUL(radius, SET(1 + 2e-6f)), SET(map->stray)));
}

#endif
