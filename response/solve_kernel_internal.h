/* The passes over bundles of eight contacts. Compiled once for each SIMD path by solve_*.c, which differ only
 * in their compiler flags and in what base/simd.h makes of them.
 *
 * A point is solved as a block: its relative velocity is read once, the normal impulse is found, what it does
 * to the tangential velocity comes from the coupling terms of K, friction is found against the new normal
 * impulse, and all three rows are applied at once. That is what one row after the other would give, with a
 * third of the work on bodies. */
#ifndef SAC_RESPONSE_SOLVE_KERNEL_INTERNAL_H
#define SAC_RESPONSE_SOLVE_KERNEL_INTERNAL_H

#include "base/simd.h"
#include "response/solver_internal.h"

#if defined(SAC_SIMD_PLAIN)
/* Without vector registers inlining brings little and costs the compiler a minute. */
#define INLINE static __attribute__((noinline, unused))
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#define BUNDLES 1
#include "response/solve_rows_internal.h"
#undef BUNDLES
#if !defined(SAC_SIMD_PLAIN)
#define BUNDLES 2
#include "response/solve_rows_internal.h"
#undef BUNDLES
#endif

INLINE v3 get3(const float p[3][8]) { return load3(p, p); }
INLINE void put3(float p[3][8], v3 a) { store3(p, p, a); }

INLINE void warm_bundle(const sac_pass *pass, const sac_bundle *bundle, uint32_t lanes, const bool fixed)
{
    side a, b;
    side_load(&a, pass, bundle->a, NULL, true);
    if (!fixed) side_load(&b, pass, bundle->b, NULL, true);
    const sac_point_block *point = pass->points + bundle->first;
    const sac_f8 zero = sac_f8_set(0.0f);
    v3 sum = {zero, zero, zero}, turn_a = sum, turn_b = sum;
    for (uint32_t i = 0; i < bundle->points; i++, point++) {
        v3 n = get3(point->normal), t = get3(point->tangent), u = cross(n, t);
        v3 p = add3(scale3(n, sac_f8_load(point->impulse)),
                    add3(scale3(t, sac_f8_load(point->rub[0])), scale3(u, sac_f8_load(point->rub[1]))));
        sum = add3(sum, p);
        turn_a = add3(turn_a, cross(get3(point->arm_a), p));
        if (!fixed) turn_b = add3(turn_b, cross(get3(point->arm_b), p));
    }
    if (bundle->roll != UINT32_MAX) {
        v3 roll = get3(pass->rolls[bundle->roll].impulse);
        turn_a = add3(turn_a, roll);
        if (!fixed) turn_b = add3(turn_b, roll);
    }
    a.v = sub3(a.v, scale3(sum, a.mass));
    a.w = sub3(a.w, times(a.inertia, turn_a));
    side_store(&a, pass, bundle->a, NULL, lanes, 0);
    if (fixed) return;
    b.v = add3(b.v, scale3(sum, b.mass));
    b.w = add3(b.w, times(b.inertia, turn_b));
    side_store(&b, pass, bundle->b, NULL, lanes, 0);
}

/* Greater than 0 in the lanes that are worked on. */
INLINE sac_f8 lane_weights(uint32_t lanes)
{
    _Alignas(32) float weights[8];
    for (uint32_t k = 0; k < 8; k++) weights[k] = (float)(lanes >> k & 1u);
    return sac_f8_load(weights);
}

INLINE void roll_solve(sac_roll_block *roll, side *a, side *b, sac_f8 load, sac_f8 mine, const bool fixed,
                       const bool alone)
{
    sac_f8 m[6];
    for (int i = 0; i < 6; i++) m[i] = sac_f8_load(roll->inverse[i]);
    v3 old = get3(roll->impulse), now = sub3(old, times(m, sub3(b->w, a->w)));
    now = scale3(now, shorten(dot(now, now), mul(sac_f8_load(roll->lever), load)));
    if (alone) now = pick3(sac_f8_set(0.0f), mine, now, old);
    put3(roll->impulse, now);
    v3 p = sub3(now, old);
    a->w = sub3(a->w, times(a->inertia, p));
    if (!fixed) b->w = add3(b->w, times(b->inertia, p));
}

INLINE void solve_bundle(const sac_pass *pass, const sac_bundle *bundle, uint32_t lanes, const bool fixed,
                         const bool alone, const bool bias)
{
    side a, b;
    side_load(&a, pass, bundle->a, NULL, true);
    side_load(&b, pass, bundle->b, NULL, !fixed);
    const sac_f8 mine = alone ? lane_weights(lanes) : sac_f8_set(0.0f);
    sac_f8 weight = solve_points(pass, bundle, bundle, &a, &b, mine, fixed, alone, bias);
    if (bundle->roll != UINT32_MAX)
        roll_solve(&pass->rolls[bundle->roll], &a, &b, weight, mine, fixed, alone);
    side_store(&a, pass, bundle->a, NULL, lanes, 0);
    if (!fixed) side_store(&b, pass, bundle->b, NULL, lanes, 0);
}

#if !defined(SAC_SIMD_PLAIN)
INLINE void solve_two(const sac_pass *pass, const sac_bundle *one, const bool fixed, const bool bias)
{
    const sac_bundle *two = one + 1;
    side2 a, b;
    side_load2(&a, pass, one->a, two->a, true);
    side_load2(&b, pass, one->b, two->b, !fixed);
    solve_points2(pass, one, two, &a, &b, all2(0.0f), fixed, false, bias);
    side_store2(&a, pass, one->a, two->a, one->lanes, two->lanes);
    if (!fixed) side_store2(&b, pass, one->b, two->b, one->lanes, two->lanes);
}
#endif

/* What touches in several places bounces off all of them at once: a blow in one changes what the others gave,
 * and after a single round two may part faster than they met. */
enum { REBOUND_ROUNDS = 8 };

INLINE void rebound_bundle(const sac_pass *pass, const sac_bundle *bundle, const sac_bundle_end *end,
                           uint32_t lanes, const bool fixed, const bool alone)
{
    side a, b;
    side_load(&a, pass, bundle->a, NULL, true);
    side_load(&b, pass, bundle->b, NULL, !fixed);
    const sac_f8 mine = alone ? lane_weights(lanes) : sac_f8_set(1.0f);
    const sac_f8 zero = sac_f8_set(0.0f), bounce = sac_f8_load(end->restitution);
    const sac_f8 fast = sac_f8_set(pass->restitution_speed);
    sac_point_block *first = pass->points + bundle->first;
    sac_f8 borne[SAC_SOLVER_POINTS];
    for (uint32_t i = 0; i < bundle->points; i++) borne[i] = sac_f8_load(first[i].impulse);
    uint32_t quiet = 0; /* lanes that got no blow in the last round, nor will in another */
    for (uint32_t round = 0; round < (bundle->points > 1 ? REBOUND_ROUNDS : 1) && quiet != 255u; round++) {
        quiet = 255u;
        for (uint32_t i = 0; i < bundle->points; i++) {
            sac_point_block *point = &first[i];
            v3 n = get3(point->normal), arm_a = get3(point->arm_a), arm_b = get3(point->arm_b);
            sac_f8 met = sac_f8_load(end->approach[i]);
            sac_f8 total = sac_f8_load(point->total), wish = mul(bounce, met);
            sac_f8 change = mul(sac_f8_load(point->mass), sub(wish, dot(n, speed_at(&a, &b, arm_a, arm_b))));
            sac_f8 blow = sub(sac_f8_max(add(borne[i], change), zero), borne[i]);
            blow = sac_f8_pick_less(fast, met, blow, zero);
            blow = sac_f8_pick_less(zero, add(total, borne[i]), blow, zero);
            blow = sac_f8_pick_less(zero, bounce, blow, zero);
            if (alone) blow = sac_f8_pick_less(zero, mine, blow, zero);
            borne[i] = add(borne[i], blow);
            quiet &= sac_f8_le(sac_f8_abs(blow), zero);
            sac_f8_store(point->total, sac_f8_max(add(total, blow), zero));
            apply(&a, &b, arm_a, arm_b, scale3(n, blow), fixed);
        }
    }
    side_store(&a, pass, bundle->a, NULL, lanes, 0);
    if (!fixed) side_store(&b, pass, bundle->b, NULL, lanes, 0);
}

INLINE void start_bundle(const sac_pass *pass, uint32_t i, uint32_t lanes, const bool fixed, const bool alone)
{
    (void)alone;
    warm_bundle(pass, &pass->bundles[i], lanes, fixed);
}

INLINE void bounce_bundle(const sac_pass *pass, uint32_t i, uint32_t lanes, const bool fixed,
                          const bool alone)
{
    if (!pass->bundles[i].bounces) return;
    rebound_bundle(pass, &pass->bundles[i], &pass->ends[i], lanes, fixed, alone);
}

INLINE void relax_bundle(const sac_pass *pass, uint32_t i, uint32_t lanes, const bool fixed, const bool alone)
{
    solve_bundle(pass, &pass->bundles[i], lanes, fixed, alone, false);
}

INLINE void push_bundle(const sac_pass *pass, uint32_t i, uint32_t lanes, const bool fixed, const bool alone)
{
    solve_bundle(pass, &pass->bundles[i], lanes, fixed, alone, true);
}

/* Those that are done two at a time; the result says how many were done. */
INLINE uint32_t one_only(const sac_pass *pass, uint32_t i, uint32_t last)
{
    (void)pass, (void)i, (void)last;
    return 0;
}

#if defined(SAC_SIMD_PLAIN)
#define push_two one_only
#define relax_two one_only
#else
INLINE uint32_t try_two(const sac_pass *pass, uint32_t i, uint32_t last, const bool bias)
{
    const sac_bundle *one = &pass->bundles[i], *two = one + 1;
    if (i + 1u >= last || one->points != two->points || one->roll != two->roll || one->roll != UINT32_MAX)
        return 0;
    if (one->fixed)
        solve_two(pass, one, true, bias);
    else
        solve_two(pass, one, false, bias);
    return 2;
}

INLINE uint32_t push_two(const sac_pass *pass, uint32_t i, uint32_t last)
{
    return try_two(pass, i, last, true);
}

INLINE uint32_t relax_two(const sac_pass *pass, uint32_t i, uint32_t last)
{
    return try_two(pass, i, last, false);
}
#endif

/* Bundles whose lanes share bodies: the same work eight times, one lane of it kept each time. */
#define PASS(name, one, two)                                                             \
    static __attribute__((noinline)) void name##_alone(const sac_pass *pass, uint32_t i) \
    {                                                                                    \
        for (uint32_t k = 0; k < 8; k++) {                                               \
            uint32_t lane = pass->bundles[i].lanes & 1u << k;                            \
            if (lane && pass->bundles[i].fixed) one(pass, i, lane, true, true);          \
            if (lane && !pass->bundles[i].fixed) one(pass, i, lane, false, true);        \
        }                                                                                \
    }                                                                                    \
    static void name(const sac_pass *pass, uint32_t first, uint32_t last)                \
    {                                                                                    \
        for (uint32_t i = first, done; i < last; i += done ? done : 1u) {                \
            const sac_bundle *bundle = &pass->bundles[i];                                \
            done = bundle->alone ? 0 : two(pass, i, last);                               \
            if (done) continue;                                                          \
            if (bundle->alone)                                                           \
                name##_alone(pass, i);                                                   \
            else if (bundle->fixed)                                                      \
                one(pass, i, bundle->lanes, true, false);                                \
            else                                                                         \
                one(pass, i, bundle->lanes, false, false);                               \
        }                                                                                \
    }
PASS(warm, start_bundle, one_only)
PASS(solve, push_bundle, push_two)
PASS(relax, relax_bundle, relax_two)
PASS(rebound, bounce_bundle, one_only)
#undef PASS

/* ---- the ends of a step ---- */

static const float nothing[16];

/* Where lane k's point i lies, or where nothing does. */
INLINE void point_rows(const sac_pass *pass, const sac_bundle *bundle, const sac_bundle_end *end, uint32_t i,
                       const float *rows[8])
{
    for (uint32_t k = 0; k < 8; k++) {
        rows[k] = nothing;
        if (!(bundle->lanes >> k & 1u)) continue;
        const sac_solver_contact *contact = &pass->contacts[end->contact[k]];
        if (i < contact->count) rows[k] = (const float *)&contact->points[i];
    }
}

/* Two orthogonal directions across a unit normal; this is the first, normal x first the second. */
INLINE v3 across(v3 n)
{
    const sac_f8 one = sac_f8_set(1.0f), minus = sac_f8_set(-1.0f), zero = sac_f8_set(0.0f);
    sac_f8 sign = sac_f8_pick_less(n.z, zero, minus, one);
    sac_f8 a = sac_f8_div(minus, add(sign, n.z)), b = mul(mul(n.x, n.y), a);
    return (v3){add(one, mul(mul(sign, mul(n.x, n.x)), a)), mul(sign, b), mul(mul(minus, sign), n.x)};
}

INLINE v3 spin_of(const side *s, v3 arm, v3 direction, v3 *out_lever)
{
    *out_lever = cross(arm, direction);
    return times(s->inertia, *out_lever);
}

INLINE void prepare_point(const sac_pass *pass, const sac_bundle *bundle, const sac_f8 in[16], const side *a,
                          const side *b, sac_f8 flip, sac_f8 scale, sac_point_block *point, float approach[8])
{
    (void)pass;
    const sac_f8 zero = sac_f8_set(0.0f), one = sac_f8_set(1.0f);
    v3 none = {zero, zero, zero};
    v3 arm_a = {in[0], in[1], in[2]}, arm_b = {in[3], in[4], in[5]}, n = {in[6], in[7], in[8]};
    v3 rub = {in[11], in[12], in[13]};
    sac_f8 gap = in[9], impulse = in[10];
    v3 swap = arm_a;
    arm_a = pick3(flip, zero, arm_b, arm_a), arm_b = pick3(flip, zero, swap, arm_b);
    n = scale3(n, flip), rub = scale3(rub, flip);

    /* What is not finite, a million metres off or without direction does not take part. */
    sac_f8 size = add(add(dot(arm_a, arm_a), dot(arm_b, arm_b)), mul(gap, gap));
    sac_f8 length = dot(n, n);
    sac_f8 good = sac_f8_pick_less(size, sac_f8_set(1e12f), one, zero);
    good = sac_f8_pick_less(sac_f8_set(0.25f), length, good, zero);
    good = sac_f8_pick_less(length, sac_f8_set(4.0f), good, zero);
    /* A warm start that is not usable is only a cold one. */
    sac_f8 heat = add(dot(rub, rub), mul(impulse, impulse));
    impulse = sac_f8_pick_less(heat, sac_f8_set(1e30f), sac_f8_max(impulse, zero), zero);
    rub = pick3(heat, sac_f8_set(1e30f), rub, none);
    n = scale3(n, sac_f8_div(one, sac_f8_sqrt(sac_f8_max(length, sac_f8_set(0.25f)))));
    n = pick3(zero, good, n, none), arm_a = pick3(zero, good, arm_a, none);
    arm_b = pick3(zero, good, arm_b, none), gap = sac_f8_pick_less(zero, good, gap, zero);

    v3 t = across(n), u = cross(n, t);
    v3 an, at, au, bn, bt, bu;
    v3 ian = spin_of(a, arm_a, n, &an), iat = spin_of(a, arm_a, t, &at), iau = spin_of(a, arm_a, u, &au);
    v3 ibn = spin_of(b, arm_b, n, &bn), ibt = spin_of(b, arm_b, t, &bt), ibu = spin_of(b, arm_b, u, &bu);
    sac_f8 mass = add(a->mass, b->mass);
    sac_f8 knn = add(mass, add(dot(an, ian), dot(bn, ibn))), ktt = add(mass, add(dot(at, iat), dot(bt, ibt)));
    sac_f8 kuu = add(mass, add(dot(au, iau), dot(bu, ibu))), ktu = add(dot(at, iau), dot(bt, ibu));
    sac_f8 ktn = add(dot(at, ian), dot(bt, ibn)), kun = add(dot(au, ian), dot(bu, ibn));
    good = sac_f8_pick_less(add(knn, add(ktt, kuu)), sac_f8_set(1e30f), good, zero);
    good = sac_f8_pick_less(zero, knn, good, zero);
    n = pick3(zero, good, n, none), t = pick3(zero, good, t, none), u = pick3(zero, good, u, none);
    impulse = sac_f8_pick_less(zero, good, mul(impulse, scale), zero);
    const sac_f8 tiny = sac_f8_set(1e-30f);
    sac_f8 inverse = sac_f8_div(one, sac_f8_max(knn, tiny));

    /* Tangential 2 x 2; when rounding leaves nothing of its determinant, its size in both directions. */
    sac_f8 both = mul(ktt, kuu), determinant = sub(both, mul(ktu, ktu));
    sac_f8 least = sac_f8_max(mul(both, sac_f8_set(1e-5f)), tiny);
    sac_f8 over = sac_f8_div(one, sac_f8_max(determinant, tiny));
    sac_f8 whole = sac_f8_div(one, sac_f8_max(add(ktt, kuu), tiny));
    sac_f8 m11 = sac_f8_pick_less(least, determinant, mul(kuu, over), whole);
    sac_f8 m22 = sac_f8_pick_less(least, determinant, mul(ktt, over), whole);
    sac_f8 m12 = sac_f8_pick_less(least, determinant, mul(sub(zero, ktu), over), zero);

    const sac_f8 half = sac_f8_set(0.5f);
    sac_f8 middle = mul(half, add(ktt, kuu)), apart = mul(half, sub(ktt, kuu));
    sac_f8 largest = add(middle, sac_f8_sqrt(add(mul(apart, apart), mul(ktu, ktu))));
    sac_f8 slip = sac_f8_div(one, sac_f8_max(largest, tiny));

    sac_f8 rub1 = mul(dot(t, rub), scale), rub2 = mul(dot(u, rub), scale);
    sac_f8 keep = shorten(add(mul(rub1, rub1), mul(rub2, rub2)), mul(sac_f8_load(bundle->friction), impulse));
    sac_f8_store(approach, sub(zero, dot(n, speed_at(a, b, arm_a, arm_b))));
    put3(point->normal, n), put3(point->tangent, t);
    put3(point->arm_a, arm_a), put3(point->arm_b, arm_b);
    sac_f8_store(point->gap, gap);
    sac_f8_store(point->mass, sac_f8_pick_less(zero, good, inverse, zero));
    sac_f8_store(point->couple[0], sac_f8_pick_less(zero, good, ktn, zero));
    sac_f8_store(point->couple[1], sac_f8_pick_less(zero, good, kun, zero));
    sac_f8_store(point->slide[0], sac_f8_pick_less(zero, good, m11, zero));
    sac_f8_store(point->slide[1], sac_f8_pick_less(zero, good, m12, zero));
    sac_f8_store(point->slide[2], sac_f8_pick_less(zero, good, m22, zero));
    sac_f8_store(point->slip, sac_f8_pick_less(zero, good, slip, zero));
    sac_f8_store(point->impulse, impulse);
    sac_f8_store(point->rub[0], mul(rub1, keep)), sac_f8_store(point->rub[1], mul(rub2, keep));
    sac_f8_store(point->total, zero);
}

INLINE void prepare_roll(const side *a, const side *b, sac_f8 load, sac_f8 flip, sac_f8 scale,
                         sac_roll_block *roll)
{
    const sac_f8 zero = sac_f8_set(0.0f), one = sac_f8_set(1.0f), tiny = sac_f8_set(1e-30f);
    sac_f8 m[6];
    for (int i = 0; i < 6; i++) m[i] = add(a->inertia[i], b->inertia[i]);
    sac_f8 xx = sub(mul(m[1], m[2]), mul(m[5], m[5])), xy = sub(mul(m[4], m[5]), mul(m[3], m[2]));
    sac_f8 xz = sub(mul(m[3], m[5]), mul(m[4], m[1])), yy = sub(mul(m[0], m[2]), mul(m[4], m[4]));
    sac_f8 yz = sub(mul(m[3], m[4]), mul(m[0], m[5])), zz = sub(mul(m[0], m[1]), mul(m[3], m[3]));
    sac_f8 determinant = add(add(mul(m[0], xx), mul(m[3], xy)), mul(m[4], xz));
    sac_f8 trace = add(add(m[0], m[1]), m[2]);
    sac_f8 least = sac_f8_max(mul(mul(trace, mul(trace, trace)), sac_f8_set(1e-6f)), tiny);
    sac_f8 over = sac_f8_div(one, sac_f8_max(determinant, tiny));
    sac_f8 whole = sac_f8_pick_less(tiny, trace, sac_f8_div(one, sac_f8_max(trace, tiny)), zero);
    const sac_f8 adjugate[6] = {xx, yy, zz, xy, xz, yz};
    for (int i = 0; i < 6; i++)
        sac_f8_store(roll->inverse[i],
                     sac_f8_pick_less(least, determinant, mul(adjugate[i], over), i < 3 ? whole : zero));
    v3 impulse = scale3(get3(roll->impulse), mul(flip, scale));
    impulse = scale3(impulse, shorten(dot(impulse, impulse), mul(sac_f8_load(roll->lever), load)));
    put3(roll->impulse, impulse);
}

INLINE sac_f8 flips(const sac_bundle *bundle)
{
    _Alignas(32) float flip[8];
    for (uint32_t k = 0; k < 8; k++) flip[k] = bundle->turned_round >> k & 1u ? -1.0f : 1.0f;
    return sac_f8_load(flip);
}

static void prepare(const sac_pass *pass, uint32_t first, uint32_t last)
{
    const sac_f8 scale = sac_f8_set(1.0f / pass->substeps);
    for (uint32_t i = first; i < last; i++) {
        const sac_bundle *bundle = &pass->bundles[i];
        sac_bundle_end *end = &pass->ends[i];
        sac_f8 flip = flips(bundle), load = sac_f8_set(0.0f);
        side a, b;
        side_load(&a, pass, bundle->a, NULL, true), side_load(&b, pass, bundle->b, NULL, true);
        for (uint32_t p = 0; p < bundle->points; p++) {
            const float *rows[8];
            sac_f8 in[16];
            point_rows(pass, bundle, end, p, rows);
            sac_f8_rows_load(rows, in);
            for (int k = 0; k < 8; k++) rows[k] += 8;
            sac_f8_rows_load(rows, in + 8);
            sac_point_block *point = &pass->points[bundle->first + p];
            prepare_point(pass, bundle, in, &a, &b, flip, scale, point, end->approach[p]);
            load = add(load, sac_f8_load(point->impulse));
        }
        if (bundle->roll != UINT32_MAX) prepare_roll(&a, &b, load, flip, scale, &pass->rolls[bundle->roll]);
    }
}

static void finish(const sac_pass *pass, uint32_t first, uint32_t last)
{
    const sac_f8 scale = sac_f8_set(pass->substeps);
    for (uint32_t i = first; i < last; i++) {
        const sac_bundle *bundle = &pass->bundles[i];
        const sac_bundle_end *end = &pass->ends[i];
        const sac_f8 flip = flips(bundle);
        for (uint32_t p = 0; p < bundle->points; p++) {
            const sac_point_block *point = &pass->points[bundle->first + p];
            const float *rows[8];
            float *places[8], nowhere[8];
            sac_f8 out[8];
            point_rows(pass, bundle, end, p, rows);
            for (uint32_t k = 0; k < 8; k++) {
                places[k] = nowhere;
                if (rows[k] != nothing) places[k] = (float *)&pass->contacts[end->contact[k]].points[p] + 8;
                rows[k] += 8;
            }
            sac_f8_rows_load(rows, out); /* normal z and separation stay */
            v3 n = get3(point->normal), t = get3(point->tangent), u = cross(n, t);
            v3 rub = add3(scale3(t, sac_f8_load(point->rub[0])), scale3(u, sac_f8_load(point->rub[1])));
            rub = scale3(rub, mul(flip, scale));
            out[2] = mul(sac_f8_load(point->impulse), scale);
            out[3] = rub.x, out[4] = rub.y, out[5] = rub.z;
            out[6] = sac_f8_load(end->approach[p]), out[7] = sac_f8_load(point->total);
            sac_f8_rows_store(places, out);
        }
        if (bundle->roll == UINT32_MAX) continue;
        _Alignas(32) float roll[3][8];
        put3(roll, scale3(get3(pass->rolls[bundle->roll].impulse), mul(flip, scale)));
        for (uint32_t k = 0; k < 8; k++)
            for (int j = 0; j < 3 && (bundle->lanes >> k & 1u); j++)
                pass->contacts[end->contact[k]].rolling_impulse[j] = roll[j][k];
    }
}

#define KERNEL_NAME_OF(path) sac_solve_kernel_##path
#define KERNEL_NAME(path) KERNEL_NAME_OF(path)
const sac_solve_kernel KERNEL_NAME(SAC_SIMD_PATH) = {prepare, warm, solve, relax, rebound, finish};

#endif
