/* Eight pairs of triangles at once: which of them cross. Compiled once for each SIMD path by bound_*.c; each
 * lane does what sac_triangles_cross does, in the same order. */
#ifndef SAC_DEFORM_CROSS_KERNEL_INTERNAL_H
#define SAC_DEFORM_CROSS_KERNEL_INTERNAL_H

#include "deform/bound_kernel_internal.h"

typedef struct sac_f8_point {
    sac_f8 at[3];
} sac_f8_point;

SAC_ALWAYS_INLINE sac_f8_point from_to(sac_f8_point a, sac_f8_point b)
{
    return (sac_f8_point){{SUB(b.at[0], a.at[0]), SUB(b.at[1], a.at[1]), SUB(b.at[2], a.at[2])}};
}

SAC_ALWAYS_INLINE sac_f8_point across(sac_f8_point a, sac_f8_point b)
{
    return (sac_f8_point){{SUB(MUL(a.at[1], b.at[2]), MUL(a.at[2], b.at[1])),
                           SUB(MUL(a.at[2], b.at[0]), MUL(a.at[0], b.at[2])),
                           SUB(MUL(a.at[0], b.at[1]), MUL(a.at[1], b.at[0]))}};
}

SAC_ALWAYS_INLINE sac_f8 product(sac_f8_point a, sac_f8_point b)
{
    return ADD(ADD(MUL(a.at[0], b.at[0]), MUL(a.at[1], b.at[1])), MUL(a.at[2], b.at[2]));
}

/* Corners of one triangle against the plane of the other, a bit a lane. */
typedef struct sides {
    uint32_t above[3], below[3], apart, flat, known;
} sides;

SAC_ALWAYS_INLINE sides sides_of(const sac_f8_point plane[3], const sac_f8_point other[3])
{
    sac_f8_point normal = across(from_to(plane[0], plane[1]), from_to(plane[0], plane[2]));
    sac_f8 zero = SET(0), most = SET(FLT_MAX), least = SET(-FLT_MAX);
    sides s = {.known = 0xffu};
    for (int i = 0; i < 3; i++) {
        sac_f8 h = product(normal, from_to(plane[0], other[i]));
        s.known &= sac_f8_le(h, most) & sac_f8_le(least, h);
        s.above[i] = ~sac_f8_le(h, zero), s.below[i] = ~sac_f8_le(zero, h);
    }
    s.apart = (s.above[0] & s.above[1] & s.above[2]) | (s.below[0] & s.below[1] & s.below[2]);
    s.flat = ~(s.above[0] | s.above[1] | s.above[2] | s.below[0] | s.below[1] | s.below[2]);
    return s;
}

/* Does an edge of `t` pass through `face`, whose plane its corners are on the sides of? */
SAC_ALWAYS_INLINE uint32_t through(const sac_f8_point face[3], const sac_f8_point t[3], const sides *s)
{
    uint32_t found = 0;
    sac_f8 zero = SET(0);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        uint32_t any = s->above[i] | s->below[i] | s->above[j] | s->below[j];
        uint32_t meets = any & ~((s->above[i] & s->above[j]) | (s->below[i] & s->below[j]));
        sac_f8_point way = from_to(t[i], t[j]), arm[3];
        uint32_t up = meets, down = meets;
        for (int k = 0; k < 3; k++) arm[k] = from_to(t[i], face[k]);
        for (int k = 0; k < 3; k++) {
            sac_f8 side = product(across(arm[k], arm[(k + 1) % 3]), way);
            up &= sac_f8_le(zero, side), down &= sac_f8_le(side, zero);
        }
        found |= up | down;
    }
    return found;
}

static uint32_t cross_eight(const float *const corner[6][8], uint32_t *unsure)
{
    sac_f8_point at[6], p[3], q[3];
    for (int c = 0; c < 6; c++) {
        sac_f8 columns[8];
        sac_f8_rows_load(corner[c], columns);
        for (int r = 0; r < 3; r++) at[c].at[r] = columns[r];
    }
    for (int i = 0; i < 3; i++) p[i] = from_to(at[0], at[i]), q[i] = from_to(at[0], at[3 + i]);
    sides b = sides_of(p, q);
    *unsure = ~b.known & 0xffu;
    if (!((~b.apart | ~b.known) & 0xffu)) return 0;
    sides a = sides_of(q, p);
    uint32_t known = a.known & b.known, near = ~(a.apart | b.apart) & 0xffu;
    *unsure = (~known | (near & b.flat)) & 0xffu;
    near &= ~*unsure;
    return near ? near & (through(p, q, &b) | through(q, p, &a)) : 0;
}

#endif
