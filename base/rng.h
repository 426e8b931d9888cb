/* Random numbers: xoshiro256++ seeded through splitmix64. Same seed, same numbers, on every machine.
 *
 * Index: sac_rng_seed  sac_rng_next  sac_rng_below  sac_rng_float  sac_rng_range  sac_rng_unit_vector
 */
#ifndef SAC_BASE_RNG_H
#define SAC_BASE_RNG_H

#include <math.h>
#include <stdint.h>

typedef struct sac_rng {
    uint64_t state[4];
} sac_rng;

static inline uint64_t sac_rng_splitmix(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline sac_rng sac_rng_seed(uint64_t seed)
{
    sac_rng rng;
    for (int i = 0; i < 4; i++) rng.state[i] = sac_rng_splitmix(&seed);
    return rng;
}

static inline uint64_t sac_rng_rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t sac_rng_next(sac_rng *rng)
{
    uint64_t *s = rng->state, result = sac_rng_rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = sac_rng_rotate(s[3], 45);
    return result;
}

/* Uniform in [0, n), n > 0; multiply-shift, bias below 2^-32 for n < 2^32. */
static inline uint32_t sac_rng_below(sac_rng *rng, uint32_t n)
{
    return (uint32_t)(((sac_rng_next(rng) >> 32) * (uint64_t)n) >> 32);
}

/* Uniform in [0, 1). */
static inline float sac_rng_float(sac_rng *rng) { return (float)(sac_rng_next(rng) >> 40) * 0x1p-24f; }
static inline double sac_rng_double(sac_rng *rng) { return (double)(sac_rng_next(rng) >> 11) * 0x1p-53; }

static inline float sac_rng_range(sac_rng *rng, float low, float high)
{
    return low + (high - low) * sac_rng_float(rng);
}

/* Uniform on the unit sphere (Archimedes: height and angle are uniform). */
static inline void sac_rng_unit_vector(sac_rng *rng, float out[3])
{
    float z = sac_rng_range(rng, -1.0f, 1.0f), angle = sac_rng_range(rng, 0.0f, 6.28318531f);
    float ring = sqrtf(fmaxf(0.0f, 1.0f - z * z));
    out[0] = ring * cosf(angle);
    out[1] = ring * sinf(angle);
    out[2] = z;
}

#endif
