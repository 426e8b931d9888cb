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
 * place where it could count. Too large by less than one part in a thousand. `least`: never larger than the
 * smallest; exact when that is the one that differs from the other two. */
SAC_ALWAYS_INLINE sac_f8 norm_above(sac_f8 of[3][3], sac_f8 *least)
{
    sac_f8 most = SET(1e-30f), zero = SET(0), m[3][3], b[3][3], unit, square = zero;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) most = sac_f8_max(sac_f8_max(of[i][k], SUB(zero, of[i][k])), most);
    unit = sac_f8_div(SET(1), most);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[i][k] = MUL(of[i][k], unit);
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
    *least = MUL(sac_f8_sqrt(sac_f8_max(SUB(MUL(mean, SET(1 - 6e-6f)), MUL(p, SET(2 + 6e-6f))), zero)), most);
    return MUL(sac_f8_sqrt(value), most);
}

/* Square of the largest distance of a rim from the centre: |J d + Q (dx2, ..) + M (dx dy, ..)|. */
SAC_ALWAYS_INLINE float rim_square(const sac_refit_job *job, const float j[3][3], const sac_soft_rim *rim)
{
    const sac_soft_map *map = job->map;
    float most[SAC_LANES];
    sac_f8 all = SET(0);
    for (uint32_t i = 0; i < SAC_SOFT_RIM; i += SAC_LANES) {
        sac_f8 d[3] = {sac_f8_load(rim->x + i), sac_f8_load(rim->y + i), sac_f8_load(rim->z + i)},
               sum = SET(0);
        sac_f8 square[3], mixed[3];
        for (int k = 0; k < 3; k++) square[k] = MUL(d[k], d[k]), mixed[k] = MUL(d[k], d[(k + 1) % 3]);
        for (int r = 0; r < 3; r++) {
            sac_f8 y = ADD(ADD(MUL(SET(j[r][0]), d[0]), MUL(SET(j[r][1]), d[1])), MUL(SET(j[r][2]), d[2]));
            if (job->quadratic)
                for (int k = 0; k < 3; k++)
                    y = ADD(y, ADD(MUL(SET(map->qq[r][k]), square[k]), MUL(SET(map->mixed[r][k]), mixed[k])));
            sum = ADD(sum, MUL(y, y));
        }
        all = sac_f8_max(sum, all);
    }
    sac_f8_store(most, all);
    for (uint32_t k = 1; k < SAC_LANES; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

/* The radius by the rim where that is less; soft_rim.c has the formula. `least`: by which J stretches; away
 * from the centre it is less by at most 2 ||Q|| |d| + sqrt(2) ||M|| |d|. What the rim's points are off is
 * convex in s^2 r0 / (R ||J||), so it may be interpolated. Rounding is a few parts in a million of the norms'
 * radius. */
SAC_ALWAYS_INLINE sac_f8 by_rim(const sac_refit_job *job, const sac_soft_rest_block *rest,
                                const sac_soft_rim_block *rim, sac_f8 j[3][3], sac_f8 norm, sac_f8 least,
                                sac_f8 radius)
{
    _Alignas(32) float lanes[3][3][SAC_LANES], most[SAC_LANES] = {0};
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) sac_f8_store(lanes[r][k], j[r][k]);
    for (uint32_t lane = 0; lane < rim->lanes; lane++) {
        float of[3][3];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) of[r][k] = lanes[r][k][lane];
        most[lane] = rim_square(job, (const float(*)[3])of, &rim->rim[lane]);
    }
    sac_f8 zero = SET(0), one = SET(1), r0 = sac_f8_load(rest->r);
    sac_f8 reach = sac_f8_sqrt(sac_f8_load(most));
    sac_f8 deep = MUL(norm, sac_f8_load(rim->deep[0]));
    least = SUB(least, MUL(SET(2 * job->norm_square + 1.42f * job->norm_mixed), r0));
    least = sac_f8_max(least, zero);
    sac_f8 share = sac_f8_div(MUL(MUL(MUL(least, least), r0), SET(0.99999f / SAC_SOFT_RIM_KNOT)),
                              ADD(MUL(reach, norm), SET(1e-30f)));
    sac_f8 e[3] = {sac_f8_load(rim->off[0]), sac_f8_load(rim->off[1]), sac_f8_load(rim->off[2])};
    sac_f8 first = sac_f8_min(share, one), second = sac_f8_min(sac_f8_max(SUB(share, one), zero), one);
    sac_f8 off = SUB(SUB(e[0], MUL(first, SUB(e[0], e[1]))), MUL(second, SUB(e[1], e[2])));
    sac_f8 near = ADD(ADD(reach, MUL(norm, off)), MUL(radius, SET(4e-6f)));
    if (job->quadratic) {
        near = ADD(near, ADD(MUL(SET(job->norm_square), sac_f8_load(rim->off[3])),
                             MUL(SET(job->norm_mixed), sac_f8_load(rim->off[4]))));
        deep = ADD(deep, ADD(MUL(SET(job->norm_square), sac_f8_load(rim->deep[1])),
                             MUL(SET(job->norm_mixed), sac_f8_load(rim->deep[2]))));
    }
    return sac_f8_min(sac_f8_max(near, deep), radius);
}

#define REFIT_OF(path) sac_refit_kernel_##path
#define REFIT(path) REFIT_OF(path)
void REFIT(SAC_SIMD_PATH)(const sac_refit_job *job, const sac_soft_rest_block *rest,
                          const sac_soft_rim_block *rim, sac_sphere_block *out)
{
    const sac_soft_map *map = job->map;
    sac_f8 q[3] = {sac_f8_load(rest->x), sac_f8_load(rest->y), sac_f8_load(rest->z)};
    sac_f8 square[3], mixed[3], r0 = sac_f8_load(rest->r), norm = SET(job->norm_a), least = SET(0), radius,
                                j[3][3];
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
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            j[r][k] = SET(map->a[r][k]);
            if (!job->quadratic || !job->local) continue;
            /* J = A + 2 Q diag(c) + M [[cy, cx, 0], [0, cz, cy], [cz, 0, cx]]: term k is q[k] q[k + 1], so
             * q[k] is in terms k and k - 1. */
            sac_f8 m = ADD(MUL(SET(map->mixed[r][k]), q[(k + 1) % 3]),
                           MUL(SET(map->mixed[r][(k + 2) % 3]), q[(k + 2) % 3]));
            j[r][k] = ADD(j[r][k], ADD(MUL(SET(2), MUL(SET(map->qq[r][k]), q[k])), m));
        }
    if (job->local && (job->quadratic || rim)) {
        sac_f8 above = norm_above(j, &least);
        if (job->quadratic) norm = above;
    }
    radius = MUL(norm, r0);
    if (job->quadratic) {
        const float *squares = job->local ? rest->near_square : rest->far_square;
        const float *products = job->local ? rest->near_mixed : rest->far_mixed;
        radius = ADD(radius, ADD(MUL(SET(job->norm_square), sac_f8_load(squares)),
                                 MUL(SET(job->norm_mixed), sac_f8_load(products))));
    }
    if (rim && job->local) radius = by_rim(job, rest, rim, j, norm, least, radius);
    sac_f8_store(out->r, ADD(MUL(radius, SET(1 + 2e-6f)), SET(map->stray)));
}

#endif
