/* The non-deterministic model of contact: whether two nodes collide is drawn, with a probability that grows
 * from s_a s_b at first touch to 1 when the smaller is swallowed. */
#include "base/rng.h"
#include "response/manifold.h"

/* Into 0..1; what is not a number counts as surely solid, so that nothing falls through it. */
static double share(float x) { return x < 1.0f ? (x > 0.0f ? (double)x : 0.0) : 1.0; }

bool sac_chance_collides(float s_a, float s_b, float p, uint64_t seed, uint64_t frame, uint32_t node_a,
                         uint32_t node_b)
{
    double surface = share(s_a) * share(s_b), chance = surface + (1.0 - surface) * share(p);
    uint64_t key = seed;
    uint64_t mixed = sac_rng_splitmix(&key);
    key = mixed ^ frame;
    mixed = sac_rng_splitmix(&key);
    key = mixed ^ ((uint64_t)node_a << 32 | node_b);
    double drawn = (double)(sac_rng_splitmix(&key) >> 11) * 0x1p-53;
    return drawn < chance;
}
