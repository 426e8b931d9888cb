/* Everything a clock decided in one step, in order. Live, decisions are taken and written down; replayed,
 * they are read back, and the step does bit for bit what it did. Private to runtime/. */
#ifndef SAC_RUNTIME_TAPE_INTERNAL_H
#define SAC_RUNTIME_TAPE_INTERNAL_H

#include "scheduler/scheduler.h"

#define SAC_TAPE_MOST 64u

typedef struct sac_tape {
    uint64_t values[SAC_TAPE_MOST];
    uint32_t count; /* written, or there to read */
    uint32_t at;    /* replay: next to read */
    bool replay;
    bool short_of; /* replay asked for more than there was: the recording is not of this program */
} sac_tape;

static inline uint64_t sac_tape_decide(sac_tape *tape, uint64_t live)
{
    if (tape->replay) {
        if (tape->at < tape->count) return tape->values[tape->at++];
        tape->short_of = true;
        return live;
    }
    if (tape->count < SAC_TAPE_MOST) tape->values[tape->count++] = live;
    return live;
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
