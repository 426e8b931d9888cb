/* Time of a frame, as pure reckoning: no OpenXR here, so that every rule can be tested with numbers.
 *
 *   ledger   which display periods were missed, how regularly the runtime wakes us
 *   slice    how long physics may take this frame
 *   ticker   fixed simulation steps against display time, and how far between two of them the picture is
 *
 * Display times are predictions of the runtime; nothing here knows when light left the screen.
 *
 * Index: sac_ledger_init  sac_ledger_add  sac_ledger_tell  sac_slice_init  sac_slice_plan  sac_slice_learn
 *        sac_ticker_init  sac_ticker_advance
 */
#ifndef SAC_XR_FRAME_TIME_H
#define SAC_XR_FRAME_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* ---- ledger ---- */

/* What the runtime said about a frame. Times on the monotonic clock, ns; predicted: converted once, from the
 * runtime's. */
typedef struct sac_frame_stamp {
    uint64_t wait_begin_ns, wake_ns; /* around the runtime's wait */
    int64_t predicted_xr;            /* as the runtime said it, on its own clock */
    int64_t period_ns;               /* as the runtime said it */
    bool should_render;
} sac_frame_stamp;

typedef struct sac_frame_verdict {
    uint32_t missed;   /* periods between the last prediction and this one that no frame was made for */
    int64_t period_ns; /* believed: the runtime's where it makes sense, else the last good one */
    int64_t step_ns;   /* from the last prediction to this one */
    bool strange;      /* negative, absurd or backward times: not counted, reckoned from here on */
} sac_frame_verdict;

typedef struct sac_ledger {
    uint64_t frames, rendered, missed, missed_frames /* frames with a gap before them */, strange;
    uint32_t longest_miss; /* periods */
    int64_t predicted_xr, period_ns;
    uint64_t wake_ns;
    double wake_mean_ns, wake_square_ns2; /* of wake-to-wake, running */
    uint64_t wakes;
    bool any;
} sac_ledger;

void sac_ledger_init(sac_ledger *ledger);
/* missed = round(delta predicted / period) - 1. The first frame's period is not believed (some runtimes say
 * 16 ms and mean 50). */
void sac_ledger_add(sac_ledger *ledger, const sac_frame_stamp *stamp, sac_frame_verdict *out_verdict);

/* ---- slice ---- */

typedef struct sac_slice_def {
    uint64_t most_ns;        /* never longer than this; default 4 ms */
    uint64_t least_ns;       /* never shorter, however late it is; default 0.2 ms */
    uint64_t margin_ns;      /* at the start; default 0.5 ms */
    uint64_t most_margin_ns; /* default 4 ms */
} sac_slice_def;

typedef struct sac_slice {
    sac_slice_def def;
    uint64_t margin_ns; /* grows at a miss, shrinks slowly without */
    uint64_t
        render_ns; /* what drawing and handing over is expected to take: high percentile of what it took */
    uint64_t costs[64];
    uint32_t cost_count, cost_next, quiet;
} sac_slice;

sac_slice_def sac_default_slice_def(void);
void sac_slice_init(sac_slice *slice, const sac_slice_def *def); /* def may be NULL */
/* The deadline for physics, on the monotonic clock: wake + period or the predicted display time, whichever
 * comes first, less the expected cost of drawing, less the margin; within [now + least, now + most]. */
uint64_t sac_slice_plan(const sac_slice *slice, uint64_t now_ns, uint64_t wake_ns, uint64_t predicted_ns,
                        int64_t period_ns);
/* After the frame: what drawing took from the end of physics to the hand-over, and how many periods were then
 * missed. */
void sac_slice_learn(sac_slice *slice, uint64_t render_ns, uint32_t missed);

/* ---- ticker ---- */

typedef struct sac_ticker {
    double dt;           /* of a step, s; default 1/90 */
    uint32_t most_steps; /* in one frame; what is over is let go and counted; default 8 */
    bool any;
    int64_t origin_ns; /* display time of step 0 */
    uint64_t steps;    /* taken so far */
    int64_t display_ns;
    uint64_t dropped; /* steps let go */
    double rate;      /* 1; slow motion below, 0 paused */
    double owed;      /* simulated seconds not yet stepped */
} sac_ticker;

void sac_ticker_init(sac_ticker *ticker, double dt);
/* How many steps to take for a picture at this display time, and where between the last two states (0) and
 * (1) it lies. The same motion at any refresh rate; backward times take no step. */
uint32_t sac_ticker_advance(sac_ticker *ticker, int64_t display_ns, double *out_alpha);

#endif
