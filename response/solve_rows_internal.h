/* The rows of a contact: vectors, bodies and the solving of points, for one bundle or for two at once.
 * Included twice by solve_kernel_internal.h.
 *
 * From reading a point's speed to applying its impulse each operation waits for the one before it, about 200
 * cycles in which an 8-lane unit is mostly idle, and the next point of a contact needs what this one did. Two
 * bundles of a colour share no body, so working on both at once fills the gaps; it changes no bit.
 *
 * BUNDLES: 1 or 2; the names of the second inclusion end in 2. */
#if BUNDLES == 2
#define wide wide2
#define v3 v3_2
#define side side2
#define all all2
#define load load2
#define store store2
#define add add2
#define sub sub2
#define mul mul2
#define over over2
#define greater greater2
#define root root2
#define pick pick2
#define load3 load3_2
#define store3 store3_2
#define add3 add3_2
#define sub3 sub3_2
#define scale3 scale3_2
#define dot dot2
#define cross cross2
#define times times2
#define pick3 pick3_2
#define side_load side_load2
#define side_store side_store2
#define speed_at speed_at2
#define apply apply2
#define separations separations2
#define shorten shorten2
#define solve_points solve_points2

typedef struct wide {
    sac_f8 p, q;
} wide;
#define UNARY(name, op) \
    INLINE wide name(wide a) { return (wide){op(a.p), op(a.q)}; }
#define BINARY(name, op) \
    INLINE wide name(wide a, wide b) { return (wide){op(a.p, b.p), op(a.q, b.q)}; }
INLINE wide all(float x)
{
    sac_f8 a = sac_f8_set(x);
    return (wide){a, a};
}
INLINE wide load(const float *p, const float *q) { return (wide){sac_f8_load(p), sac_f8_load(q)}; }
INLINE void store(float *p, float *q, wide a) { sac_f8_store(p, a.p), sac_f8_store(q, a.q); }
INLINE wide pick(wide a, wide b, wide x, wide y)
{
    return (wide){sac_f8_pick_less(a.p, b.p, x.p, y.p), sac_f8_pick_less(a.q, b.q, x.q, y.q)};
}
#else
typedef sac_f8 wide;
#define UNARY(name, op) \
    INLINE wide name(wide a) { return op(a); }
#define BINARY(name, op) \
    INLINE wide name(wide a, wide b) { return op(a, b); }
INLINE wide all(float x) { return sac_f8_set(x); }
INLINE wide load(const float *p, const float *q) { return (void)q, sac_f8_load(p); }
INLINE void store(float *p, float *q, wide a) { (void)q, sac_f8_store(p, a); }
INLINE wide pick(wide a, wide b, wide x, wide y) { return sac_f8_pick_less(a, b, x, y); }
#endif
BINARY(add, sac_f8_add)
BINARY(sub, sac_f8_sub)
BINARY(mul, sac_f8_mul)
BINARY(over, sac_f8_div)
BINARY(greater, sac_f8_max)
UNARY(root, sac_f8_sqrt)
#undef UNARY
#undef BINARY

typedef struct v3 {
    wide x, y, z;
} v3;

INLINE v3 load3(const float p[3][8], const float q[3][8])
{
    return (v3){load(p[0], q[0]), load(p[1], q[1]), load(p[2], q[2])};
}
INLINE void store3(float p[3][8], float q[3][8], v3 a)
{
    store(p[0], q[0], a.x), store(p[1], q[1], a.y), store(p[2], q[2], a.z);
}
INLINE v3 add3(v3 a, v3 b) { return (v3){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }
INLINE v3 sub3(v3 a, v3 b) { return (v3){sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)}; }
INLINE v3 scale3(v3 a, wide s) { return (v3){mul(a.x, s), mul(a.y, s), mul(a.z, s)}; }
INLINE wide dot(v3 a, v3 b) { return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)); }
INLINE v3 cross(v3 a, v3 b)
{
    return (v3){sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
                sub(mul(a.x, b.y), mul(a.y, b.x))};
}
/* A symmetric matrix times a vector. */
INLINE v3 times(const wide m[6], v3 a)
{
    return (v3){add(add(mul(m[0], a.x), mul(m[3], a.y)), mul(m[4], a.z)),
                add(add(mul(m[3], a.x), mul(m[1], a.y)), mul(m[5], a.z)),
                add(add(mul(m[4], a.x), mul(m[5], a.y)), mul(m[2], a.z))};
}
INLINE v3 pick3(wide a, wide b, v3 x, v3 y)
{
    return (v3){pick(a, b, x.x, y.x), pick(a, b, x.y, y.y), pick(a, b, x.z, y.z)};
}

/* The bodies on one side of a bundle. */
typedef struct side {
    v3 v, w;
    wide mass, spare, inertia[8];
} side;

#if BUNDLES == 1
/* Eight numbers of each of eight bodies, `skip` numbers after the start of a body. */
INLINE void rows_of_bodies(const sac_hot_body *bodies, const uint32_t at[8], uint32_t skip, sac_f8 out[8])
{
    const float *rows[8];
    for (int k = 0; k < 8; k++) rows[k] = (const float *)&bodies[at[k]] + skip;
    sac_f8_rows_load(rows, out);
}
INLINE void rows_of_inertias(const sac_hot_inertia *inertias, const uint32_t at[8], sac_f8 out[8])
{
    const float *rows[8];
    for (int k = 0; k < 8; k++) rows[k] = inertias[at[k]].inverse;
    sac_f8_rows_load(rows, out);
}
INLINE void rows_to_bodies(sac_hot_body *bodies, const uint32_t at[8], uint32_t lanes, const sac_f8 in[8])
{
    float *rows[8], nowhere[8];
    for (int k = 0; k < 8; k++) rows[k] = (float *)&bodies[at[k]];
    /* Idle lanes all read the one body that is nobody's, which other threads read too. */
    if (lanes != 0xffu)
        for (int k = 0; k < 8; k++)
            if (!(lanes >> k & 1u)) rows[k] = nowhere;
    sac_f8_rows_store(rows, in);
}
#endif

INLINE void side_load(side *s, const sac_pass *pass, const uint32_t *at, const uint32_t *also,
                      const bool movable)
{
    sac_f8 p[8];
    rows_of_bodies(pass->bodies, at, 0, p);
#if BUNDLES == 2
    sac_f8 q[8];
    rows_of_bodies(pass->bodies, also, 0, q);
#define BOTH(i) ((wide){p[i], q[i]})
#else
    (void)also;
#define BOTH(i) p[i]
#endif
    s->v = (v3){BOTH(0), BOTH(1), BOTH(2)}, s->w = (v3){BOTH(3), BOTH(4), BOTH(5)};
    s->mass = BOTH(6), s->spare = BOTH(7);
    if (!movable) return;
    rows_of_inertias(pass->inertias, at, p);
#if BUNDLES == 2
    rows_of_inertias(pass->inertias, also, q);
#endif
    for (int i = 0; i < 8; i++) s->inertia[i] = BOTH(i);
}

INLINE void side_store(const side *s, const sac_pass *pass, const uint32_t *at, const uint32_t *also,
                       uint32_t lanes, uint32_t also_lanes)
{
    const wide in[8] = {s->v.x, s->v.y, s->v.z, s->w.x, s->w.y, s->w.z, s->mass, s->spare};
#if BUNDLES == 2
    sac_f8 p[8], q[8];
    for (int i = 0; i < 8; i++) p[i] = in[i].p, q[i] = in[i].q;
    rows_to_bodies(pass->bodies, at, lanes, p);
    rows_to_bodies(pass->bodies, also, also_lanes, q);
#else
    (void)also, (void)also_lanes;
    rows_to_bodies(pass->bodies, at, lanes, in);
#endif
}

INLINE v3 speed_at(const side *a, const side *b, v3 arm_a, v3 arm_b)
{
    return sub3(add3(b->v, cross(b->w, arm_b)), add3(a->v, cross(a->w, arm_a)));
}

/* Impulse p on b, its opposite on a. */
INLINE void apply(side *a, side *b, v3 arm_a, v3 arm_b, v3 p, const bool fixed)
{
    a->v = sub3(a->v, scale3(p, a->mass));
    a->w = sub3(a->w, times(a->inertia, cross(arm_a, p)));
    if (fixed) return;
    b->v = add3(b->v, scale3(p, b->mass));
    b->w = add3(b->w, times(b->inertia, cross(arm_b, p)));
}

/* How far apart the points are by now, from how the bodies have moved. */
INLINE void separations(const sac_pass *pass, const sac_bundle *bundle, const sac_bundle *also,
                        wide out[SAC_SOLVER_POINTS])
{
    sac_f8 p[8];
#if BUNDLES == 2
    sac_f8 q[8];
    rows_of_bodies(pass->bodies, also->a, 8, q);
#endif
    rows_of_bodies(pass->bodies, bundle->a, 8, p);
    v3 moved_a = {BOTH(0), BOTH(1), BOTH(2)}, turned_a = {BOTH(3), BOTH(4), BOTH(5)};
    rows_of_bodies(pass->bodies, bundle->b, 8, p);
#if BUNDLES == 2
    rows_of_bodies(pass->bodies, also->b, 8, q);
#endif
    v3 moved_b = {BOTH(0), BOTH(1), BOTH(2)}, turned_b = {BOTH(3), BOTH(4), BOTH(5)};
    v3 moved = sub3(moved_b, moved_a);
    const sac_point_block *one = pass->points + bundle->first, *two = pass->points + also->first;
    for (uint32_t i = 0; i < bundle->points; i++, one++, two++) {
        v3 d = add3(moved, sub3(cross(turned_b, load3(one->arm_b, two->arm_b)),
                                cross(turned_a, load3(one->arm_a, two->arm_a))));
        out[i] = add(load(one->gap, two->gap), dot(load3(one->normal, two->normal), d));
    }
}

/* Longest vector allowed, kept in direction: limit / length where it is longer. */
INLINE wide shorten(wide length_squared, wide limit)
{
    /* A length of 0 is never longer, so what is divided by in its place does not matter. */
    wide length = root(greater(length_squared, all(1e-30f)));
    return pick(mul(limit, limit), length_squared, over(limit, length), all(1.0f));
}

/* All points of a bundle, or of two with the same number of points. `mine` is greater than 0 in the lanes
 * that are worked on, and looked at only when lanes are solved alone. Returns the normal impulse of each
 * contact. */
INLINE wide solve_points(const sac_pass *pass, const sac_bundle *bundle, const sac_bundle *also, side *a,
                         side *b, wide mine, const bool fixed, const bool alone, const bool bias)
{
    wide gaps[SAC_SOLVER_POINTS];
    separations(pass, bundle, also, gaps);
    const sac_softness *soft = &pass->soft[fixed];
    const wide zero = all(0.0f), friction = load(bundle->friction, also->friction), slop = all(pass->slop);
    const wide inverse_h = all(pass->inverse_h), rate = all(soft->rate), push = all(-pass->push_speed);
    const wide mass_scale = all(soft->mass_scale), impulse_scale = all(soft->impulse_scale);
    wide weight = zero;
    /* Points of a contact pull at the same two bodies: a second round among them, while all is in the first
     * cache, takes the push back far better than half as much again would otherwise. */
    const uint32_t count = bundle->points, steps = !bias && count > 1u ? 2u * count : count;
    for (uint32_t k = 0; k < steps; k++) {
        const bool last_round = k + count >= steps;
        const uint32_t i = k < count ? k : k - count;
        sac_point_block *one = pass->points + bundle->first + i, *two = pass->points + also->first + i;
        v3 n = load3(one->normal, two->normal), t = load3(one->tangent, two->tangent), u = cross(n, t);
        v3 arm_a = load3(one->arm_a, two->arm_a), arm_b = load3(one->arm_b, two->arm_b);
        v3 speed = speed_at(a, b, arm_a, arm_b);
        wide old = load(one->impulse, two->impulse), gap = gaps[i];
        wide mass = load(one->mass, two->mass), meet = dot(n, speed);
        /* Apart: just not to pass each other in this sub-step. */
        wide change = mul(mass, add(meet, mul(greater(gap, zero), inverse_h)));
        if (bias) {
            wide deep = add(gap, slop);
            wide out = mul(mass, add(meet, greater(mul(rate, deep), push)));
            change = pick(deep, zero, add(mul(out, mass_scale), mul(old, impulse_scale)), change);
        }
        wide now = greater(sub(old, change), zero);
        if (alone) now = pick(zero, mine, now, old);
        store(one->impulse, two->impulse, now);
        if (!bias && last_round && pass->last) {
            wide more = alone ? pick(zero, mine, now, zero) : now;
            store(one->total, two->total, add(load(one->total, two->total), more));
        }
        if (last_round) weight = add(weight, now);
        wide blow = sub(now, old);

        wide slip1 = add(dot(t, speed), mul(load(one->couple[0], two->couple[0]), blow));
        wide slip2 = add(dot(u, speed), mul(load(one->couple[1], two->couple[1]), blow));
        wide m11 = load(one->slide[0], two->slide[0]), m12 = load(one->slide[1], two->slide[1]);
        wide m22 = load(one->slide[2], two->slide[2]), even = load(one->slip, two->slip);
        wide old1 = load(one->rub[0], two->rub[0]), old2 = load(one->rub[1], two->rub[1]);
        /* Held: the impulse that stops the slip at once. Where that is more than friction gives it slides,
         * and only a step along the slip itself ends up opposite to it. */
        wide rub1 = sub(old1, add(mul(m11, slip1), mul(m12, slip2)));
        wide rub2 = sub(old2, add(mul(m12, slip1), mul(m22, slip2)));
        wide most = mul(friction, now), most_squared = mul(most, most);
        wide held = add(mul(rub1, rub1), mul(rub2, rub2));
        wide slid1 = sub(old1, mul(even, slip1)), slid2 = sub(old2, mul(even, slip2));
        wide keep = shorten(add(mul(slid1, slid1), mul(slid2, slid2)), most);
        rub1 = pick(most_squared, held, mul(slid1, keep), rub1);
        rub2 = pick(most_squared, held, mul(slid2, keep), rub2);
        if (alone) rub1 = pick(zero, mine, rub1, old1), rub2 = pick(zero, mine, rub2, old2);
        store(one->rub[0], two->rub[0], rub1), store(one->rub[1], two->rub[1], rub2);

        v3 p = add3(scale3(n, blow), add3(scale3(t, sub(rub1, old1)), scale3(u, sub(rub2, old2))));
        apply(a, b, arm_a, arm_b, p, fixed);
    }
    return weight;
}

#undef BOTH
#if BUNDLES == 2
#undef wide
#undef v3
#undef side
#undef all
#undef load
#undef store
#undef add
#undef sub
#undef mul
#undef over
#undef greater
#undef root
#undef pick
#undef load3
#undef store3
#undef add3
#undef sub3
#undef scale3
#undef dot
#undef cross
#undef times
#undef pick3
#undef side_load
#undef side_store
#undef speed_at
#undef apply
#undef separations
#undef shorten
#undef solve_points
#endif
