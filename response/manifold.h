/* The memory of a pair: where it touched, with which impulses, and how sure that is. Carried from frame to
 * frame and across levels of detail, so that a change of level starts warm and a pair nobody looked at keeps
 * its contacts.
 *
 * Index: sac_manifold_merge  sac_manifold_correct  sac_chance_collides
 */
#ifndef SAC_RESPONSE_MANIFOLD_H
#define SAC_RESPONSE_MANIFOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/geometry.h"
#include "../spheretree/spheretree.h"

#define SAC_MANIFOLD_POINTS 4u

typedef struct sac_manifold_point {
    uint32_t node_a, node_b; /* who touches: a persistent id while the level stays */
    float local_a[3],
        local_b[3];  /* the point in both bodies' own space: finds its heir when the level changes */
    float normal[3]; /* world, a to b */
    float depth;     /* corrected: what the solver is told */
    float impulse, friction_impulse[3];
} sac_manifold_point;

typedef struct sac_manifold {
    uint32_t count;
    uint8_t level;     /* it was read at */
    bool final;        /* nothing finer there is */
    float uncertainty; /* world units, of its worst point when it was read */
    float rolling_impulse[3];
    sac_manifold_point points[SAC_MANIFOLD_POINTS];
} sac_manifold;

/* New contacts take the place of the old points. Impulses are inherited: by the same nodes; else by the
 * nearest old point within `reach` (a's local units), each old point giving to the heirs that chose it in
 * equal parts, so that the sum of impulses never grows. */
void sac_manifold_merge(sac_manifold *manifold, const sac_contact *contacts, uint32_t count,
                        const sac_transform *pose_a, const sac_transform *pose_b, float bias, float reach);

/* Depth the solver is told: spheres of a coarse level overlap before surfaces do, by up to `uncertainty`.
 * bias 1: respond only when surely inside; 0: treat spheres as solid; default 0.5. Between, what is only
 * likely stops two bodies but does not push them apart: only what is surely inside does, or each change of
 * level would lift what rests. */
static inline float sac_manifold_correct(float depth, float uncertainty, float bias)
{
    float likely = depth - bias * uncertainty, sure = depth - uncertainty;
    if (bias <= 0 || likely <= 0) return likely;
    return sure > 0 ? sure : 0;
}

/* The non-deterministic model: two nodes whose surfaces cross with probabilities s_a and s_b at penetration p
 * (0 touching, 1 the smaller one swallowed) collide with probability C = s_a s_b + (1 - s_a s_b) p. True when
 * they do: drawn from seed, frame and nodes, so that the same question has the same answer. */
bool sac_chance_collides(float s_a, float s_b, float p, uint64_t seed, uint64_t frame, uint32_t node_a,
                         uint32_t node_b);

#endif
