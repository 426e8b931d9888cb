/* From what pairs are worth to the groups they wait in: the kernels. Private to scheduler/. */
#ifndef SAC_SCHEDULER_RANK_INTERNAL_H
#define SAC_SCHEDULER_RANK_INTERNAL_H

#include <stdint.h>

/* An improvement below this share of the error is none. */
#define SAC_LEAST_GAIN 0.05f

/* Sixteen steps an octave, 32 octaves; bits 19 and up of a float count the steps from 2^-127 on. */
enum { SAC_JND_STEPS = 16, SAC_JND_BINS = 32 * SAC_JND_STEPS, SAC_JND_LOWEST = (127 - 16) * SAC_JND_STEPS };

/* What a run of pairs nobody has looked at yet would gain, all of the same two forms. */
typedef struct sac_gain_frame {
    const float *jnd, *uncertainty, *extent, *sharpness, *factor;
    float stop_jnd, most_jnd;
    const float *worth; /* of each level: 1 / what it costs to be there */
    float *out;
} sac_gain_frame;

/* A scale of groups: as sac_groups_of. */
typedef struct sac_rank_scale {
    float top, per_step, last;
} sac_rank_scale;

/* Pairs below zero are not worth it, and pairs nothing is known of wait in line on the floor. */
typedef struct sac_rank_frame {
    sac_rank_scale groups, floor;
    float frames; /* of waiting that move a pair up a group; infinite: none do */
    const float *value, *priority, *known;
    const uint16_t *age;
    const uint8_t *flags;
    uint8_t *group; /* out: for people who look */
    uint8_t *line;  /* out: where it waits, as for sac_groups_fill */
} sac_rank_frame;

typedef struct sac_rank_kernels {
    /* Pairs first..last-1, first a multiple of eight; whole blocks of eight are written. gap[0..levels]. */
    void (*gain)(const sac_gain_frame *frame, const float *gap, uint32_t levels, uint32_t first,
                 uint32_t last);
    /* The greatest, at least 0. The array is aligned to 32 bytes. */
    float (*most)(const float *values, uint32_t count);
    /* group[] by value[] and age[], nothing else looked at; or all of the frame. */
    void (*groups)(const sac_rank_frame *frame, uint32_t count);
    void (*groups_and_floor)(const sac_rank_frame *frame, uint32_t count);
    /* out[n] is how often first + n is among the bytes. */
    void (*tally)(const uint8_t *bytes, uint32_t count, uint32_t first, uint32_t values, uint32_t *out);
    /* Of errors, for the report: 0 for those below 2^-16 JNDs, then the step of an octave each is in, at most
     * SAC_JND_BINS; and their sum. */
    void (*bins)(const float *jnd, uint32_t count, uint16_t *out);
    double (*sum)(const float *values, uint32_t count);
} sac_rank_kernels;

extern const sac_rank_kernels sac_rank_scalar, sac_rank_sse2, sac_rank_avx2, sac_rank_avx512, sac_rank_neon;
const sac_rank_kernels *sac_rank_kernels_active(void);

#endif
