/* Everything a clock decided in one step, in order. Live, decisions are taken and written down; replayed,
 * they are read back, and the step does bit for bit what it did. Private to runtime/. */
#ifndef SAC_RUNTIME_TAPE_INTERNAL_H
#define SAC_RUNTIME_TAPE_INTERNAL_H

#include "base/memory.h"
#include "scheduler/scheduler.h"

#define SAC_TAPE_MOST 64u

typedef struct sac_tape {
    uint64_t values[SAC_TAPE_MOST];
    uint32_t count; /* written, or there to read */
    uint32_t at;    /* replay: next to read */
    bool replay;
    bool short_of; /* replay asked for more than there was: the recording is not of this program; live: there
                      was more to decide than fits */
    /* What the caller's weight hook said of one pair after the other. */
    bool weigh; /* keep it, or read it back */
    sac_array(float) weights;
    size_t weight_at;
} sac_tape;

static inline uint64_t sac_tape_decide(sac_tape *tape, uint64_t live)
{
    if (tape->replay) {
        if (tape->at < tape->count) return tape->values[tape->at++];
        tape->short_of = true;
        return live;
    }
    if (tape->count < SAC_TAPE_MOST)
        tape->values[tape->count++] = live;
    else
        tape->short_of = true;
    return live;
}

/* As decide, of numbers from least to most; a recording that says otherwise is not of this program. */
static inline uint32_t sac_tape_choose(sac_tape *tape, uint32_t live, uint32_t least, uint32_t most)
{
    uint64_t value = sac_tape_decide(tape, live);
    if (value >= least && value <= most) return (uint32_t)value;
    tape->short_of = true;
    return value < least ? least : most;
}

/* The weight of the next pair: the hook's, or the recorded one. */
static inline float sac_tape_weigh(sac_tape *tape, float live)
{
    if (!tape->weigh) return live;
    if (!tape->replay) {
        if (!sac_array_push(&tape->weights, live)) tape->short_of = true;
        return live;
    }
    if (tape->weight_at < tape->weights.count) return tape->weights.data[tape->weight_at++];
    tape->short_of = true;
    return 1;
}

/* A step begins. */
static inline void sac_tape_rewind(sac_tape *tape)
{
    if (!tape->replay) tape->count = 0, tape->weights.count = 0;
    tape->at = 0;
    tape->weight_at = 0;
    tape->short_of = false;
}

/* A stop for the next loop: at a time, or where the recording stopped. Close it when the loop has ended. */
static inline void sac_tape_stop(sac_tape *tape, sac_stop *stop, sac_clock *clock, uint64_t deadline_ns,
                                 sac_pace *pace)
{
    if (tape->replay)
        sac_stop_after(stop, clock, sac_tape_decide(tape, 0));
    else
        sac_stop_at(stop, clock, deadline_ns, pace);
}

static inline void sac_tape_close(sac_tape *tape, const sac_stop *stop)
{
    if (!tape->replay) sac_tape_decide(tape, stop->reached ? stop->pieces : UINT64_MAX - 1);
}

#endif
