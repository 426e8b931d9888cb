/* Seams: floors are laid of pieces. What slides or rolls from one piece on to the next meets the next one's
 * edge before its face, from the side, and would be stopped by what it cannot even feel. Where a body is
 * borne by one piece, another that does not rise above it has no say until it bears the body itself. */
#include "runtime/world_internal.h"

#include <string.h>

/* Metres: pieces that differ by no more are level; so far beyond an edge and above it the other must rise to
 * be an obstacle. */
static const float LEVEL = 0.001f, BEYOND = 0.001f, ABOVE = 0.002f;
/* Normals that differ by no more than a degree are those of one floor. */
static const float ALIKE = 0.9998f;

static float dot(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static bool is_static(const sac_world *world, uint32_t slot)
{
    return !(world->flags[slot] & SAC_BODY_YIELDS) && world->cold[slot].kind == SAC_BODY_STATIC;
}

/* Who is in it with what stands; UINT32_MAX: nobody stands. */
static uint32_t mover_of(const sac_world *world, uint32_t p)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    if (is_static(world, pair->a)) return pair->b;
    return is_static(world, pair->b) ? pair->a : UINT32_MAX;
}

/* A point of what stands, and its normal there. */
static void surface(const sac_world *world, uint32_t p, const sac_manifold_point *from, float at[3],
                    float n[3])
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    float sign = is_static(world, pair->a) ? 1.0f : -1.0f;
    sac_transform_point(&world->pose[pair->a], from->local_a, at);
    for (int i = 0; i < 3; i++) {
        n[i] = sign * from->normal[i];
        at[i] += 0.5f * from->depth * n[i];
    }
}

static const sac_manifold_point *deepest(const sac_manifold *m)
{
    const sac_manifold_point *best = m->points;
    for (uint32_t k = 1; k < m->count; k++)
        if (m->points[k].depth > best->depth) best = &m->points[k];
    return best;
}

/* Does all of this contact lie in the plane of the one that bears, with nothing of its body above? */
static bool is_level_with(const sac_world *world, uint32_t p, uint32_t bearing)
{
    const sac_broad_pair *pair = &world->broad->pairs[p];
    const sac_manifold *m = &world->manifolds[p];
    uint32_t piece = is_static(world, pair->a) ? pair->a : pair->b;
    float floor[3], up[3], at[3], n[3], off[3], beyond[3];
    surface(world, bearing, deepest(&world->manifolds[bearing]), floor, up);
    for (uint32_t k = 0; k < m->count; k++) {
        surface(world, p, &m->points[k], at, n);
        for (int i = 0; i < 3; i++) off[i] = at[i] - floor[i];
        if (!(fabsf(dot(off, up)) <= LEVEL) || dot(n, up) > ALIKE) return false;
        for (int i = 0; i < 3; i++) beyond[i] = at[i] + ABOVE * up[i] - BEYOND * n[i];
        if (!(sac_form_distance(sac_body_form(world, piece), &world->pose[piece], beyond, 1, NULL, NULL) > 0))
            return false;
    }
    return true;
}

/* When it does bear, nothing is left of what pushed before. */
static void forget(sac_manifold *m)
{
    memset(m->rolling_impulse, 0, sizeof m->rolling_impulse);
    for (uint32_t k = 0; k < m->count; k++) {
        m->points[k].impulse = 0;
        memset(m->points[k].friction_impulse, 0, sizeof m->points[k].friction_impulse);
    }
}

uint32_t sac_world_cross_seams(sac_world *world, uint32_t count)
{
    enum { NONE = UINT32_MAX };
    uint32_t *bearing = world->sweep_round, standing = 0, kept = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t mover = mover_of(world, world->contact_pair[k]);
        if (mover != UINT32_MAX) bearing[mover] = NONE, standing++;
    }
    if (standing < 2) return count;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t p = world->contact_pair[k], mover = mover_of(world, p);
        if (mover == UINT32_MAX) continue;
        uint32_t best = bearing[mover];
        if (best == NONE || world->memory[p].depth > world->memory[best].depth) bearing[mover] = p;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t p = world->contact_pair[k], mover = mover_of(world, p);
        bool other = mover != UINT32_MAX && bearing[mover] != p;
        if (other && is_level_with(world, p, bearing[mover]))
            forget(&world->manifolds[p]);
        else
            world->contact_pair[kept++] = p;
    }
    sac_world_spend(world, 6u * count + 40u * standing);
    return kept;
}
