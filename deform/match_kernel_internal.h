/* Shape matching over points, eight at a time. Compiled once for each SIMD path by match_*.c. Sums run in
 * eight lanes for at most SPELL vectors and then go into doubles, lanes in a fixed order: accurate for any
 * number of points, and the same bits everywhere. */
#ifndef SAC_DEFORM_MATCH_KERNEL_INTERNAL_H
#define SAC_DEFORM_MATCH_KERNEL_INTERNAL_H

#include "base/simd.h"
#include "deform/soft_internal.h"

enum { SPELL = 512 };

#define ADD sac_f8_add
#define SUB sac_f8_sub
#define MUL sac_f8_mul

/* ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)) in double: halves, and halves again. */
SAC_ALWAYS_INLINE double across(sac_f8 v)
{
#if defined(SAC_SIMD_IS_AVX)
    __m256d four = _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                                 _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
#else
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    return (((double)l[0] + l[4]) + ((double)l[2] + l[6])) + (((double)l[1] + l[5]) + ((double)l[3] + l[7]));
#endif
}

SAC_ALWAYS_INLINE sac_f8 pick(const float *from, const uint32_t *at)
{
#if defined(SAC_SIMD_IS_AVX)
    return _mm256_i32gather_ps(from, sac_n8_load(at), 4);
#else
    _Alignas(32) float l[8];
    for (int k = 0; k < 8; k++) l[k] = from[at[k]];
    return sac_f8_load(l);
#endif
}

/* One row of sum w p q~^T, quadratic terms included: nine sums stay in registers, three rows at once would
 * not. p is what `from` holds, relative to ref. */
SAC_ALWAYS_INLINE void moment_row(const sac_match_job *job, const float *from, float relative, uint32_t start,
                                  uint32_t end, double out[9])
{
    const float *qx = job->qx, *qy = job->qy, *qz = job->qz, *weight = job->weight;
    sac_f8 s[9], ref = sac_f8_set(relative);
    for (int k = 0; k < 9; k++) s[k] = sac_f8_set(0);
    for (uint32_t i = start; i < end; i += 8) {
        sac_f8 wp = MUL(sac_f8_load(weight + i), SUB(sac_f8_load(from + i), ref));
        sac_f8 x = sac_f8_load(qx + i), y = sac_f8_load(qy + i), z = sac_f8_load(qz + i);
        sac_f8 wx = MUL(wp, x), wy = MUL(wp, y), wz = MUL(wp, z);
        s[0] = ADD(s[0], wx), s[1] = ADD(s[1], wy), s[2] = ADD(s[2], wz);
        s[3] = ADD(s[3], MUL(wx, x)), s[4] = ADD(s[4], MUL(wy, y)), s[5] = ADD(s[5], MUL(wz, z));
        s[6] = ADD(s[6], MUL(wx, y)), s[7] = ADD(s[7], MUL(wy, z)), s[8] = ADD(s[8], MUL(wz, x));
    }
    for (int k = 0; k < 9; k++) out[k] = (start ? out[k] : 0) + across(s[k]);
}

#define MORE(sum, term) sum = ADD(sum, term)
#define TALLY(total, sum) total = (spell ? total : 0) + across(sum)

/* All sums relative to where the cluster was in the last step: close enough to its centre that what is left
 * can be taken away afterwards. Sums have names, or they would live in memory. */
SAC_ALWAYS_INLINE void sums_of(const sac_match_job *job, const bool whole, const bool quadratic,
                               const bool damped, sac_match_sums *sums)
{
    const float *x = job->x, *y = job->y, *z = job->z, *vx = job->vx, *vy = job->vy, *vz = job->vz;
    const float *weight = job->weight, *qx = job->qx, *qy = job->qy, *qz = job->qz;
    float *gx = job->gx, *gy = job->gy, *gz = job->gz;
    const uint32_t *point = job->point;
    const sac_match_motion m = *job->motion;
    const uint32_t lanes = job->lanes;
    if (!damped) memset(sums, 0, sizeof *sums);
    for (uint32_t spell = 0; spell < lanes; spell += SPELL) {
        const uint32_t end = spell + SPELL < lanes ? spell + SPELL : lanes;
        const sac_f8 zero = sac_f8_set(0);
        sac_f8 cx = zero, cy = zero, cz = zero, ux = zero, uy = zero, uz = zero, sx = zero, sy = zero,
               sz = zero;
        sac_f8 xx = zero, yy = zero, zz = zero, xy = zero, yz = zero, zx = zero;
        sac_f8 m00 = zero, m01 = zero, m02 = zero, m10 = zero, m11 = zero, m12 = zero, m20 = zero, m21 = zero,
               m22 = zero;
        for (uint32_t i = spell; i < end; i += 8) {
            sac_f8 w = sac_f8_load(weight + i);
            sac_f8 px = SUB(whole ? sac_f8_load(x + i) : pick(x, point + i), sac_f8_set(m.ref[0]));
            sac_f8 py = SUB(whole ? sac_f8_load(y + i) : pick(y, point + i), sac_f8_set(m.ref[1]));
            sac_f8 pz = SUB(whole ? sac_f8_load(z + i) : pick(z, point + i), sac_f8_set(m.ref[2]));
            if (!whole) sac_f8_store(gx + i, px), sac_f8_store(gy + i, py), sac_f8_store(gz + i, pz);
            sac_f8 wx = MUL(w, px), wy = MUL(w, py), wz = MUL(w, pz);
            MORE(cx, wx), MORE(cy, wy), MORE(cz, wz);
            if (!quadratic) {
                sac_f8 a = sac_f8_load(qx + i), b = sac_f8_load(qy + i), c = sac_f8_load(qz + i);
                MORE(m00, MUL(wx, a)), MORE(m01, MUL(wx, b)), MORE(m02, MUL(wx, c));
                MORE(m10, MUL(wy, a)), MORE(m11, MUL(wy, b)), MORE(m12, MUL(wy, c));
                MORE(m20, MUL(wz, a)), MORE(m21, MUL(wz, b)), MORE(m22, MUL(wz, c));
            }
            if (!damped) continue;
            MORE(xx, MUL(wx, px)), MORE(yy, MUL(wy, py)), MORE(zz, MUL(wz, pz));
            MORE(xy, MUL(wx, py)), MORE(yz, MUL(wy, pz)), MORE(zx, MUL(wz, px));
            sac_f8 a = SUB(whole ? sac_f8_load(vx + i) : pick(vx, point + i), sac_f8_set(m.velocity[0]));
            sac_f8 b = SUB(whole ? sac_f8_load(vy + i) : pick(vy, point + i), sac_f8_set(m.velocity[1]));
            sac_f8 c = SUB(whole ? sac_f8_load(vz + i) : pick(vz, point + i), sac_f8_set(m.velocity[2]));
            MORE(ux, MUL(w, a)), MORE(uy, MUL(w, b)), MORE(uz, MUL(w, c));
            MORE(sx, SUB(MUL(wy, c), MUL(wz, b))), MORE(sy, SUB(MUL(wz, a), MUL(wx, c)));
            MORE(sz, SUB(MUL(wx, b), MUL(wy, a)));
        }
        TALLY(sums->centre[0], cx), TALLY(sums->centre[1], cy), TALLY(sums->centre[2], cz);
        if (damped) {
            TALLY(sums->velocity[0], ux), TALLY(sums->velocity[1], uy), TALLY(sums->velocity[2], uz);
            TALLY(sums->spin[0], sx), TALLY(sums->spin[1], sy), TALLY(sums->spin[2], sz);
            TALLY(sums->pp[0], xx), TALLY(sums->pp[1], yy), TALLY(sums->pp[2], zz);
            TALLY(sums->pp[3], xy), TALLY(sums->pp[4], yz), TALLY(sums->pp[5], zx);
        }
        if (quadratic) {
            moment_row(job, whole ? x : gx, whole ? m.ref[0] : 0, spell, end, sums->pq[0]);
            moment_row(job, whole ? y : gy, whole ? m.ref[1] : 0, spell, end, sums->pq[1]);
            moment_row(job, whole ? z : gz, whole ? m.ref[2] : 0, spell, end, sums->pq[2]);
        } else {
            TALLY(sums->pq[0][0], m00), TALLY(sums->pq[0][1], m01), TALLY(sums->pq[0][2], m02);
            TALLY(sums->pq[1][0], m10), TALLY(sums->pq[1][1], m11), TALLY(sums->pq[1][2], m12);
            TALLY(sums->pq[2][0], m20), TALLY(sums->pq[2][1], m21), TALLY(sums->pq[2][2], m22);
        }
    }
}

static void sums(const sac_match_job *job, sac_match_sums *out)
{
    switch (job->whole * 4 + job->quadratic * 2 + job->damped) {
    case 0:
        sums_of(job, false, false, false, out);
        break;
    case 1:
        sums_of(job, false, false, true, out);
        break;
    case 2:
        sums_of(job, false, true, false, out);
        break;
    case 3:
        sums_of(job, false, true, true, out);
        break;
    case 4:
        sums_of(job, true, false, false, out);
        break;
    case 5:
        sums_of(job, true, false, true, out);
        break;
    case 6:
        sums_of(job, true, true, false, out);
        break;
    default:
        sums_of(job, true, true, true, out);
        break;
    }
}

/* rigid + (pq - rigid rest) full, for the compiler to widen: rows are padded to whole vectors. */
static void fit(const sac_soft_cluster *c, const double pq[3][9], const double rigid[3][3], double out[3][12])
{
    for (int i = 0; i < 3; i++) {
        double left[9], row[12] = {rigid[i][0], rigid[i][1], rigid[i][2]};
        for (int k = 0; k < 9; k++)
            left[k] = pq[i][k] - (rigid[i][0] * c->rest[0][k] + rigid[i][1] * c->rest[1][k] +
                                  rigid[i][2] * c->rest[2][k]);
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < 12; k++) row[k] += left[j] * c->full[j][k];
        for (int k = 0; k < 12; k++) out[i][k] = row[k];
    }
}

/* As sac_soft_goal, with the translation t. */
SAC_ALWAYS_INLINE void goal_of(const sac_soft_map *m, const float t[3], const bool quadratic,
                               const sac_match_job *job, uint32_t i, sac_f8 out[3])
{
    sac_f8 q[9];
    q[0] = sac_f8_load(job->qx + i), q[1] = sac_f8_load(job->qy + i), q[2] = sac_f8_load(job->qz + i);
    if (quadratic) {
        q[3] = MUL(q[0], q[0]), q[4] = MUL(q[1], q[1]), q[5] = MUL(q[2], q[2]);
        q[6] = MUL(q[0], q[1]), q[7] = MUL(q[1], q[2]), q[8] = MUL(q[2], q[0]);
    }
    for (int r = 0; r < 3; r++) {
        sac_f8 g = ADD(ADD(MUL(sac_f8_set(m->a[r][0]), q[0]), MUL(sac_f8_set(m->a[r][1]), q[1])),
                       MUL(sac_f8_set(m->a[r][2]), q[2]));
        if (quadratic)
            for (int k = 0; k < 3; k++)
                g = ADD(g, ADD(MUL(sac_f8_set(m->qq[r][k]), q[3 + k]),
                               MUL(sac_f8_set(m->mixed[r][k]), q[6 + k])));
        out[r] = ADD(g, sac_f8_set(t[r]));
    }
}

/* What the goal and the motion of its cluster change in the velocity of a point at p relative to `ref`:
 * pull (goal - p) + drag (drift - even), with goal and drift from there, where float is fine. */
SAC_ALWAYS_INLINE void change_of(const sac_match_points *to, const sac_match_job *job, const bool quadratic,
                                 uint32_t i, sac_f8 p[3], sac_f8 out[3])
{
    goal_of(job->map, job->near, quadratic, job, i, out);
    for (int r = 0; r < 3; r++) out[r] = MUL(sac_f8_set(to->pull), SUB(out[r], p[r]));
    if (!job->damped) return;
    const sac_match_motion *motion = job->motion;
    for (int r = 0; r < 3; r++) p[r] = SUB(p[r], sac_f8_set(motion->offset[r]));
    for (int r = 0; r < 3; r++) {
        int a = (r + 1) % 3, b = (r + 2) % 3;
        sac_f8 turn = SUB(MUL(sac_f8_set(motion->spin[a]), p[b]), MUL(sac_f8_set(motion->spin[b]), p[a]));
        sac_f8 drift = ADD(sac_f8_set(motion->velocity[r] - to->even[r]), turn);
        out[r] = ADD(out[r], MUL(sac_f8_set(to->drag), drift));
    }
}

/* The changes of a cluster's members, into g, which holds p until then. */
SAC_ALWAYS_INLINE void changes_of(const sac_match_points *to, const sac_match_job *job, const bool quadratic)
{
    float *g[3] = {job->gx, job->gy, job->gz};
    for (uint32_t i = 0; i < job->lanes; i += 8) {
        sac_f8 p[3], change[3];
        for (int r = 0; r < 3; r++) p[r] = sac_f8_load(g[r] + i);
        change_of(to, job, quadratic, i, p, change);
        for (int r = 0; r < 3; r++) sac_f8_store(g[r] + i, change[r]);
    }
}

static void changes(const sac_match_points *to, const sac_match_job *job)
{
    job->quadratic ? changes_of(to, job, true) : changes_of(to, job, false);
}

/* The mean over the clusters of eight points of what their slots hold. */
SAC_ALWAYS_INLINE sac_f8 mean(const sac_soft_model *model, const float *slots, uint32_t eight)
{
    uint32_t row = model->row_first[eight], end = model->row_first[eight + 1];
    sac_f8 sum = pick(slots, model->row_slot + (size_t)row * 8);
    for (row++; row < end; row++) sum = ADD(sum, pick(slots, model->row_slot + (size_t)row * 8));
    return MUL(sum, sac_f8_load(model->share + (size_t)eight * 8));
}

/* Slows eight velocities to `most` where they are faster; returns the lanes. What is no number stands still.
 */
SAC_ALWAYS_INLINE uint32_t limit(sac_f8 speed[3], sac_f8 most, float slack)
{
    sac_f8 square = ADD(ADD(MUL(speed[0], speed[0]), MUL(speed[1], speed[1])), MUL(speed[2], speed[2]));
    sac_f8 most2 = MUL(most, most), one = sac_f8_set(1);
    uint32_t fast = 255u & ~sac_f8_le(square, MUL(most2, sac_f8_set(slack)));
    if (!fast) return 0;
    /* square > most2 > 0, so the root is no 0 */
    sac_f8 shrink = sac_f8_pick_less(most2, square, sac_f8_div(most, sac_f8_sqrt(square)), one);
    _Alignas(32) float l[3][8];
    for (int r = 0; r < 3; r++) sac_f8_store(l[r], MUL(speed[r], shrink));
    for (int k = 0; k < 8; k++)
        if (!(l[0][k] - l[0][k] == 0 && l[1][k] - l[1][k] == 0 && l[2][k] - l[2][k] == 0))
            l[0][k] = l[1][k] = l[2][k] = 0;
    for (int r = 0; r < 3; r++) speed[r] = sac_f8_load(l[r]);
    return fast;
}

SAC_ALWAYS_INLINE uint32_t real_lanes(const sac_soft_model *model, uint32_t i)
{
    return model->count - i < 8 ? (1u << (model->count - i)) - 1 : 255u;
}

SAC_ALWAYS_INLINE uint32_t pull_of(const sac_match_points *job, const bool whole, const bool quadratic,
                                   uint32_t first, uint32_t last)
{
    sac_soft *soft = job->soft;
    const float *x[3] = {soft->x, soft->y, soft->z}, *g[3] = {soft->gx, soft->gy, soft->gz};
    float *v[3] = {soft->vx, soft->vy, soft->vz};
    sac_f8 drag = sac_f8_set(job->drag), most = sac_f8_set(job->most_speed);
    uint32_t slowed = 0;
    for (uint32_t e = first; e < last; e++) {
        uint32_t i = e * 8;
        sac_f8 speed[3], p[3], change[3];
        if (whole) {
            for (int r = 0; r < 3; r++)
                p[r] = SUB(sac_f8_load(x[r] + i), sac_f8_set(job->whole->motion->ref[r]));
            change_of(job, job->whole, quadratic, i, p, change);
        } else {
            for (int r = 0; r < 3; r++) change[r] = mean(soft->model, g[r], e);
        }
        for (int r = 0; r < 3; r++) {
            speed[r] = sac_f8_load(v[r] + i);
            sac_f8 own = MUL(drag, SUB(speed[r], sac_f8_set(job->even[r])));
            speed[r] = ADD(speed[r], ADD(SUB(change[r], own), sac_f8_set(job->gravity[r] * job->dt)));
        }
        uint32_t fast = limit(speed, most, 1);
        if (fast) slowed += sac_bits(fast & real_lanes(soft->model, i));
        for (int r = 0; r < 3; r++) sac_f8_store(v[r] + i, speed[r]);
    }
    return slowed;
}

static uint32_t pull(const sac_match_points *job, uint32_t first, uint32_t last)
{
    if (!job->whole) return pull_of(job, false, false, first, last);
    return job->whole->quadratic ? pull_of(job, true, true, first, last)
                                 : pull_of(job, true, false, first, last);
}

/* Held points: the velocity that takes them to their targets. */
SAC_ALWAYS_INLINE void follow(const sac_match_points *job, uint32_t i, sac_f8 speed[3])
{
    const sac_soft *soft = job->soft;
    const float *x[3] = {soft->x, soft->y, soft->z}, *to[3] = {soft->tx, soft->ty, soft->tz};
    sac_f8 loose = sac_f8_load(soft->loose + i), dt = sac_f8_set(job->dt), half = sac_f8_set(0.5f);
    for (int r = 0; r < 3; r++) {
        sac_f8 there = sac_f8_div(SUB(sac_f8_load(to[r] + i), sac_f8_load(x[r] + i)), dt);
        speed[r] = sac_f8_pick_less(half, loose, speed[r], there);
    }
}

static void hold(const sac_match_points *job, uint32_t first, uint32_t last)
{
    sac_soft *soft = job->soft;
    float *v[3] = {soft->vx, soft->vy, soft->vz};
    for (uint32_t i = first * 8; i < last * 8; i += 8) {
        sac_f8 speed[3];
        for (int r = 0; r < 3; r++) speed[r] = sac_f8_load(v[r] + i);
        follow(job, i, speed);
        limit(speed, sac_f8_set(job->most_speed), 1);
        for (int r = 0; r < 3; r++) sac_f8_store(v[r] + i, speed[r]);
    }
}

static uint32_t move(const sac_match_points *job, uint32_t first, uint32_t last)
{
    sac_soft *soft = job->soft;
    float *x[3] = {soft->x, soft->y, soft->z}, *v[3] = {soft->vx, soft->vy, soft->vz};
    sac_f8 dt = sac_f8_set(job->dt), most = sac_f8_set(job->most_speed);
    sac_f8 high = sac_f8_set(SAC_SOFT_REACH), low = sac_f8_set(-SAC_SOFT_REACH);
    uint32_t slowed = 0;
    for (uint32_t i = first * 8; i < last * 8; i += 8) {
        sac_f8 speed[3];
        for (int r = 0; r < 3; r++) speed[r] = sac_f8_load(v[r] + i);
        if (soft->held) follow(job, i, speed);
        /* What the pull has limited may be above by a rounding. */
        uint32_t fast = limit(speed, most, 1.000001f);
        if (fast) slowed += sac_bits(fast & real_lanes(soft->model, i));
        if (fast || soft->held)
            for (int r = 0; r < 3; r++) sac_f8_store(v[r] + i, speed[r]);
        for (int r = 0; r < 3; r++) {
            sac_f8 p = ADD(sac_f8_load(x[r] + i), MUL(dt, speed[r]));
            sac_f8_store(x[r] + i, sac_f8_min(sac_f8_max(p, low), high));
        }
    }
    return slowed;
}

/* Gravity, and the momentum after it. */
static void fall(const sac_match_points *job, double momentum[3])
{
    sac_soft *soft = job->soft;
    float *v[3] = {soft->vx, soft->vy, soft->vz};
    uint32_t lanes = soft->model->lanes, count = soft->model->count;
    for (int r = 0; r < 3; r++) {
        sac_f8 change = sac_f8_set(job->gravity[r] * job->dt);
        momentum[r] = 0;
        for (uint32_t spell = 0; spell < lanes; spell += SPELL) {
            uint32_t end = spell + SPELL < lanes ? spell + SPELL : lanes;
            sac_f8 sum = sac_f8_set(0);
            for (uint32_t i = spell; i < end; i += 8) {
                sac_f8 s = ADD(sac_f8_load(v[r] + i), change);
                sac_f8_store(v[r] + i, s);
                sum = ADD(sum, MUL(s, sac_f8_load(soft->model->mass + i)));
            }
            momentum[r] += across(sum);
        }
        for (uint32_t i = count; i < lanes; i++) momentum[r] -= (double)v[r][i] * soft->model->mass[i];
    }
}

/* Of finite numbers; -0 is 0. */
SAC_ALWAYS_INLINE float highest(sac_f8 v)
{
#if defined(SAC_SIMD_IS_AVX)
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four))) + 0.0f;
#else
    _Alignas(32) float l[8];
    sac_f8_store(l, v);
    for (int k = 1; k < 8; k++) l[0] = l[k] > l[0] ? l[k] : l[0];
    return l[0] + 0.0f;
#endif
}

SAC_ALWAYS_INLINE float stray_of(const sac_match_job *job, const sac_soft_map *map, const bool quadratic,
                                 sac_box *box)
{
    const float *x[3] = {job->x, job->y, job->z};
    sac_f8 most = sac_f8_set(0), low[3], high[3]; /* low: of the opposite */
    for (int r = 0; r < 3; r++) low[r] = high[r] = sac_f8_set(-2 * SAC_SOFT_REACH);
    for (uint32_t i = 0; i < job->lanes; i += 8) {
        sac_f8 d[3];
        goal_of(map, map->t, quadratic, job, i, d);
        for (int r = 0; r < 3; r++) {
            sac_f8 at = job->whole ? sac_f8_load(x[r] + i) : pick(x[r], job->point + i);
            high[r] = sac_f8_max(at, high[r]);
            low[r] = sac_f8_max(SUB(sac_f8_set(0), at), low[r]);
            d[r] = SUB(at, d[r]);
        }
        most = sac_f8_max(most, ADD(ADD(MUL(d[0], d[0]), MUL(d[1], d[1])), MUL(d[2], d[2])));
    }
    for (int r = 0; r < 3; r++) box->low[r] = 0 - highest(low[r]), box->high[r] = highest(high[r]);
    return highest(most);
}

static float stray(const sac_match_job *job, const sac_soft_map *map, sac_box *box)
{
    return job->quadratic ? stray_of(job, map, true, box) : stray_of(job, map, false, box);
}

/* The map's derivative at each point of a home, and what is left to where the point is. */
static void joints(const sac_soft *soft, uint32_t cluster, float (*out)[3][4])
{
    const sac_soft_model *model = soft->model;
    const sac_soft_map *m = &soft->clusters[cluster].map;
    const float *x[3] = {soft->x, soft->y, soft->z};
    bool quadratic = model->def.mode == SAC_SOFT_QUADRATIC;
    for (uint32_t i = model->home_first[cluster]; i < model->home_first[cluster + 1]; i += 8) {
        const uint32_t *who = model->home_point + i;
        sac_f8 q[3] = {sac_f8_load(model->hx + i), sac_f8_load(model->hy + i), sac_f8_load(model->hz + i)};
        sac_f8 entry[12];
        for (int r = 0; r < 3; r++) {
            sac_f8 t = pick(x[r], who);
            for (int k = 0; k < 3; k++) {
                sac_f8 j = sac_f8_set(m->a[r][k]);
                if (quadratic) /* q[k] is in the mixed terms k and k - 1 */
                    j = ADD(j, ADD(MUL(sac_f8_set(2 * m->qq[r][k]), q[k]),
                                   ADD(MUL(sac_f8_set(m->mixed[r][k]), q[(k + 1) % 3]),
                                       MUL(sac_f8_set(m->mixed[r][(k + 2) % 3]), q[(k + 2) % 3]))));
                entry[r * 4 + k] = j;
                t = SUB(t, MUL(j, ADD(q[k], sac_f8_set(m->rest_centre[k]))));
            }
            entry[r * 4 + 3] = t;
        }
        float *rows[8], *rest[8];
        for (int k = 0; k < 8; k++) {
            uint32_t name = model->name[who[k]];
            rows[k] = out[name][0], rest[k] = out[name][1];
        }
        sac_f8_rows_store(rows, entry);
        sac_f8_rows_store(rest, entry + 4);
    }
}

SAC_ALWAYS_INLINE float farthest(const float *x, const float *y, const float *z, uint32_t lanes,
                                 const float from[3])
{
    sac_f8 most = sac_f8_set(0);
    for (uint32_t i = 0; i < lanes; i += 8) {
        sac_f8 dx = SUB(sac_f8_load(x + i), sac_f8_set(from[0])),
               dy = SUB(sac_f8_load(y + i), sac_f8_set(from[1])),
               dz = SUB(sac_f8_load(z + i), sac_f8_set(from[2]));
        most = sac_f8_max(ADD(ADD(MUL(dx, dx), MUL(dy, dy)), MUL(dz, dz)), most);
    }
    return sqrtf(highest(most)) * 1.000001f;
}

/* The body as a whole: see soft_motion.h. Copies of the last point are taken out of the sums again. */
static void motion(const sac_soft *soft, sac_soft_motion *out)
{
    const sac_soft_model *model = soft->model;
    const float *x = soft->x, *y = soft->y, *z = soft->z, *vx = soft->vx, *vy = soft->vy, *vz = soft->vz;
    const float *mass = model->mass, *axes[3] = {x, y, z}, *speeds[3] = {vx, vy, vz};
    const float from[3] = {x[0], y[0], z[0]};
    const uint32_t lanes = model->lanes, last = model->count - 1;
    const sac_f8 zero = sac_f8_set(0), none = sac_f8_set(-2 * SAC_SOFT_REACH);
    sac_f8 hx = none, hy = none, hz = none, lx = none, ly = none, lz = none; /* l: of the opposite */
    double sum[6] = {0};
    for (uint32_t spell = 0; spell < lanes; spell += SPELL) {
        const uint32_t end = spell + SPELL < lanes ? spell + SPELL : lanes;
        sac_f8 cx = zero, cy = zero, cz = zero, ux = zero, uy = zero, uz = zero;
        for (uint32_t i = spell; i < end; i += 8) {
            sac_f8 m = sac_f8_load(mass + i);
            sac_f8 px = sac_f8_load(x + i), py = sac_f8_load(y + i), pz = sac_f8_load(z + i);
            hx = sac_f8_max(px, hx), hy = sac_f8_max(py, hy), hz = sac_f8_max(pz, hz);
            lx = sac_f8_max(SUB(zero, px), lx), ly = sac_f8_max(SUB(zero, py), ly);
            lz = sac_f8_max(SUB(zero, pz), lz);
            MORE(cx, MUL(m, SUB(px, sac_f8_set(from[0])))), MORE(cy, MUL(m, SUB(py, sac_f8_set(from[1]))));
            MORE(cz, MUL(m, SUB(pz, sac_f8_set(from[2]))));
            MORE(ux, MUL(m, sac_f8_load(vx + i))), MORE(uy, MUL(m, sac_f8_load(vy + i)));
            MORE(uz, MUL(m, sac_f8_load(vz + i)));
        }
        sum[0] += across(cx), sum[1] += across(cy), sum[2] += across(cz);
        sum[3] += across(ux), sum[4] += across(uy), sum[5] += across(uz);
    }
    for (int k = 0; k < 3; k++) {
        double copies = (double)mass[last] * (lanes - model->count);
        sum[k] -= copies * ((double)axes[k][last] - from[k]), sum[3 + k] -= copies * speeds[k][last];
        out->centre[k] = (float)(from[k] + sum[k] / model->mass_sum);
        out->velocity[k] = (float)(sum[3 + k] / model->mass_sum);
    }
    out->box = (sac_box){{0 - highest(lx), 0 - highest(ly), 0 - highest(lz)},
                         {highest(hx), highest(hy), highest(hz)}};
    out->radius = farthest(x, y, z, lanes, out->centre);
    out->spread = farthest(vx, vy, vz, lanes, out->velocity);
}

#define KERNELS_OF(path) sac_match_kernels_##path
#define KERNELS(path) KERNELS_OF(path)
const sac_match_kernels KERNELS(SAC_SIMD_PATH) = {sums, fit,  changes, pull,  hold,
                                                  move, fall, joints,  stray, motion};

#endif
