/* Many in one place: a crowd spawned into itself has so many pairs that hardly anybody ever gets a turn, and
 * who gets one is pushed from all sides at once. Those that wait deep inside others are set apart a little at
 * a time without being solved: away from whom they are in, or, where centres coincide, each its own way. No
 * speed comes of it. */
#include "base/rng.h"
#include "runtime/world_internal.h"

#include <string.h>

/* Looked at in a frame, fewer where nobody was found lately; mates that say which way is out; mates that are
 * asked, and how many of them must be far inside. */
enum { LOOKS = 16, FEW_LOOKS = 2, GUIDES = 16, MATES = 128, DEEP = 3 };
/* Of the thickness of the thinner: nearer than this are centres of two that are far inside each other. Two
 * that touch, lie on each other or are linked are two apart. */
static const float INSIDE = 1.5f;
/* Of its thickness: how far one is set at a time. */
static const float WAY = 1;

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Away from its mates, when it is far inside of some. */
static bool way_out(const sac_world *world, uint32_t slot, float out[3])
{
    const sac_broad *broad = world->broad;
    const sac_body_hot *own = &world->hot[slot];
    uint32_t mates = 0, deep = 0;
    float sum[3] = {0};
    for (uint32_t p = broad->first_pair[slot];
         p != SAC_NO_PAIR && mates < MATES && (deep < DEEP || mates < GUIDES);
         p = sac_broad_next(broad, p, slot), mates++) {
        uint32_t other = broad->pairs[p].a == slot ? broad->pairs[p].b : broad->pairs[p].a;
        if (!sac_body_dynamic(world, other) || world->flags[other] & SAC_BODY_SENSOR) continue;
        const sac_body_hot *mate = &world->hot[other];
        float d[3];
        for (int i = 0; i < 3; i++) d[i] = own->centre[i] - mate->centre[i];
        deep += length3(d) < INSIDE * fminf(own->thickness, mate->thickness);
        for (int i = 0; i < 3 && mates < GUIDES; i++) sum[i] += d[i];
    }
    if (deep < DEEP) return false;
    float size = length3(sum);
    if (size > (float)GUIDES * 0.1f * own->thickness) {
        for (int i = 0; i < 3; i++) out[i] = sum[i] / size;
    } else {
        /* In the middle of all of them. */
        sac_rng rng = sac_rng_seed(slot + 1u);
        sac_rng_unit_vector(&rng, out);
    }
    return true;
}

/* As far as nothing that stands is in its way; along it when there is. */
static float free_way(const sac_world *world, uint32_t slot, float way[3])
{
    const sac_body_hot *hot = &world->hot[slot];
    const uint32_t kinds = SAC_KIND_BIT(SAC_BODY_STATIC) | SAC_KIND_BIT(SAC_BODY_KINEMATIC);
    for (int round = 0; round < 2; round++) {
        sac_world_hit hit;
        if (sac_world_sweep(world, hot->centre, hot->radius, way, world->cold[slot].filter.mask, kinds, &hit,
                            NULL) != SAC_OK)
            return 0;
        if (hit.t > 0.1f || round == 1) return hit.t;
        float into = way[0] * hit.normal[0] + way[1] * hit.normal[1] + way[2] * hit.normal[2];
        for (int i = 0; i < 3; i++) way[i] -= into * hit.normal[i];
    }
    return 0;
}

static bool set_apart(sac_world *world, uint32_t slot)
{
    sac_body_hot *hot = &world->hot[slot];
    float way[3];
    if (!way_out(world, slot, way)) return false;
    for (int i = 0; i < 3; i++) way[i] *= WAY * hot->thickness;
    float share = free_way(world, slot, way);
    for (int i = 0; i < 3; i++) {
        way[i] *= share;
        if (!(fabsf(hot->centre[i] + way[i]) <= world->def.far)) return false;
    }
    for (int i = 0; i < 3; i++) hot->centre[i] += way[i];
    sac_body_place_shape(world, slot);
    hot->travel += length3(way);
    hot->jolt = world->frame + 1u;
    sac_body_startle(world, slot);
    if (!(world->flags[slot] & SAC_BODY_MOVED)) {
        world->flags[slot] |= SAC_BODY_MOVED;
        sac_array_push(&world->moved, slot);
    }
    sac_world_spend(world, 4000u + sac_body_place_bounds(world, slot, world->step_dt));
    sac_world_fit_pairs(world);
    return true;
}

void sac_world_unpack(sac_world *world)
{
    uint32_t awake = world->awake_count, moves = 0;
    if (world->chosen_count >= awake) return;
    uint32_t looks = world->packed ? LOOKS : FEW_LOOKS;
    if (looks > awake) looks = awake;
    for (uint32_t k = 0; k < looks; k++) {
        uint32_t slot = world->awake[(world->unpack_at + k) % awake];
        if (world->flags[slot] & (SAC_BODY_CHOSEN | SAC_BODY_SOFT | SAC_BODY_HELD | SAC_BODY_SENSOR) ||
            !sac_body_dynamic(world, slot))
            continue;
        moves += set_apart(world, slot);
    }
    world->unpack_at = (world->unpack_at + looks) % awake;
    if (world->packed) world->packed--;
    if (moves) world->packed = 1 + awake / LOOKS; /* once round all of them */
    if (moves) sac_pairs_begun_and_ended(world);
}
