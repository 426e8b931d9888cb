/* The inner loops of ranking, compiled once for each SIMD path by perceive_*.c. Plain loops where a compiler
 * makes vectors of them by itself; nothing is fused or reordered, so all paths rank alike. */
#ifndef SAC_SCHEDULER_RANK_KERNEL_INTERNAL_H
#define SAC_SCHEDULER_RANK_KERNEL_INTERNAL_H

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "base/simd.h"
#include "scheduler/agenda_internal.h"
#include "scheduler/rank_internal.h"

static void gain(const sac_gain_frame *f, const float *gap, uint32_t levels, uint32_t first, uint32_t last)
{
    const sac_f8 zero = sac_f8_set(0), none = sac_f8_set(-1), stop = sac_f8_set(f->stop_jnd);
    const sac_f8 most_jnd = sac_f8_set(f->most_jnd), least = sac_f8_set(SAC_LEAST_GAIN);
    const bool stops = f->stop_jnd > 0;
    for (uint32_t i = first; i < last; i += 8) {
        sac_f8 jnd = sac_f8_load(f->jnd + i), sharp = sac_f8_load(f->sharpness + i);
        sac_f8 error = sac_f8_load(f->uncertainty + i), extent = sac_f8_load(f->extent + i);
        /* The error that makes up `jnd`. */
        sac_f8 seen = sac_f8_pick_less(error, extent, error, extent), most = zero, best = zero;
        seen = sac_f8_pick_less(jnd, most_jnd, seen, sac_f8_div(jnd, sharp));
        for (uint32_t level = 0; level <= levels; level++) {
            sac_f8 less = sac_f8_sub(seen, sac_f8_set(gap[level]));
            most = sac_f8_max(less, most);
            best = sac_f8_max(sac_f8_mul(less, sac_f8_set(f->worth[level])), best);
        }
        sac_f8 value = sac_f8_mul(sac_f8_mul(best, sharp), sac_f8_load(f->factor + i));
        if (stops) value = sac_f8_pick_less(sac_f8_mul(least, seen), most, value, none);
        sac_f8_store(f->out + i, sac_f8_pick_less(jnd, stop, none, value));
    }
}

static float most_of(const float *values, uint32_t count)
{
    sac_f8 a = sac_f8_set(0), b = a;
    uint32_t i = 0;
    for (; i + 16 <= count; i += 16)
        a = sac_f8_max(sac_f8_load(values + i), a), b = sac_f8_max(sac_f8_load(values + i + 8), b);
    float lanes[8], most = 0;
    sac_f8_store(lanes, sac_f8_max(a, b));
    for (int k = 0; k < 8; k++) most = lanes[k] > most ? lanes[k] : most;
    for (; i < count; i++) most = values[i] > most ? values[i] : most;
    return most;
}

SAC_ALWAYS_INLINE int32_t group_on(sac_rank_scale scale, float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    float steps = (scale.top - (float)bits * 0x1p-23f) * scale.per_step;
    steps = steps < scale.last ? steps : scale.last;
    steps = steps > 0 ? steps : 0;
    steps = value == value ? steps : scale.last;
    return (int32_t)steps;
}

/* Three loops, because a compiler makes vectors of each but not of all in one. Bytes may alias anything:
 * without names of their own all would be loaded again for each pair. */
SAC_ALWAYS_INLINE void rank(sac_rank_scale scale, const float *restrict value, const uint16_t *restrict age,
                            float frames, const uint8_t *restrict flags, uint8_t *restrict out,
                            uint32_t count)
{
    _Static_assert(SAC_AGENDA_TOP == 1, "a mask is made of it");
    for (uint32_t i = 0; i < count; i++) {
        /* Exact: both are whole numbers of 16 bits, or the result is below one. */
        int32_t up = age ? (int32_t)((float)(int32_t)age[i] / frames) : 0;
        int32_t low = (int32_t)(flags[i] & SAC_AGENDA_TOP) - 1, g = group_on(scale, value[i]) - up;
        out[i] = (uint8_t)((g > 0 ? g : 0) & low);
    }
}

static void groups_only(const sac_rank_frame *f, uint32_t count)
{
    rank(f->groups, f->value, f->age, f->frames, f->flags, f->group, count);
}

SAC_ALWAYS_INLINE void sort_out(const float *restrict value, const float *restrict known,
                                uint8_t *restrict group, uint8_t *restrict line, uint8_t last, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        /* All bits or none: choices that cannot be taken for branches. */
        uint8_t fresh = known[i] == FLT_MAX ? 0xff : 0, poor = value[i] < 0 ? 0xff : 0;
        uint8_t g = group[i], floor = (uint8_t)(SAC_LINE_FLOOR + line[i]), none = poor & ~fresh;
        uint8_t at = (uint8_t)((none & SAC_LINE_NONE) | (~none & g));
        line[i] = (uint8_t)((fresh & floor) | (~fresh & at));
        group[i] = (uint8_t)((none & last) | (~none & g));
    }
}

static void groups_and_floor(const sac_rank_frame *f, uint32_t count)
{
    rank(f->groups, f->value, f->age, f->frames, f->flags, f->group, count);
    rank(f->floor, f->priority, NULL, 1, f->flags, f->line, count);
    sort_out(f->value, f->known, f->group, f->line, (uint8_t)f->groups.last, count);
}

static void tally(const uint8_t *bytes, uint32_t count, uint32_t first, uint32_t values, uint32_t *out)
{
    enum { LANES = 64 };
    typedef uint8_t row __attribute__((vector_size(LANES)));
    for (uint32_t n = 0; n < values; n++) {
        const uint8_t value = (uint8_t)(first + n);
        uint32_t found = 0, i = 0;
        while (count - i >= LANES) {
            /* As many rows as a byte can count. */
            uint32_t rows = (count - i) / LANES < 255 ? (count - i) / LANES : 255;
            row sums = {0}, some;
            for (; rows; rows--, i += LANES) {
                memcpy(&some, bytes + i, sizeof some);
                sums -= (row)(some == value);
            }
            for (uint32_t k = 0; k < LANES; k++) found += sums[k];
        }
        for (; i < count; i++) found += bytes[i] == value;
        out[n] = found;
    }
}

static void bins_of(const float *restrict jnd, uint32_t count, uint16_t *restrict out)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &jnd[i], sizeof bits);
        int32_t bin = (bits >> 19) - SAC_JND_LOWEST + 1;
        bin = bin > 0 ? bin : 0;
        out[i] = (uint16_t)(bin < SAC_JND_BINS ? bin : SAC_JND_BINS);
    }
}

/* Always in sixteen parts, whatever the path. */
static double sum_of(const float *values, uint32_t count)
{
    enum { PARTS = 16 };
    double sums[PARTS] = {0};
    uint32_t i = 0;
    for (; i + PARTS <= count; i += PARTS)
        for (uint32_t k = 0; k < PARTS; k++) sums[k] += (double)values[i + k];
    for (uint32_t k = 0; i < count; i++, k++) sums[k] += (double)values[i];
    for (uint32_t half = PARTS / 2; half; half /= 2)
        for (uint32_t k = 0; k < half; k++) sums[k] += sums[k + half];
    return sums[0];
}

#define RANK_NAME_OF(path) sac_rank_##path
#define RANK_NAME(path) RANK_NAME_OF(path)
const sac_rank_kernels RANK_NAME(SAC_SIMD_PATH) = {gain,  most_of, groups_only, groups_and_floor,
                                                   tally, bins_of, sum_of};

#endif
