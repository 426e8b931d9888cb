/* Time of a frame, as pure reckoning: no OpenXR here, so that every rule can be tested with numbers.
 *
 *   ledger   which display periods were missed, how regularly the runtime wakes us
 *   slice    how long physics may take this frame
 *   ticker   fixed simulation steps against display time, and how far between two of them the picture is
 *
 *   sac_ledger_add(&ledger, &stamp, &verdict);                        // verdict.missed, verdict.display_xr
 *   deadline = sac_slice_plan(&slice, now, stamp.wake_ns, predicted_ns, verdict.period_ns);
 *   steps = sac_ticker_advance(&ticker, verdict.display_xr, &alpha);  // ...physics, drawing, hand-over...
 *   sac_slice_learn(&slice, drawing_took_ns, verdict.missed);
 *
 * Display times are predictions of the runtime; nothing here knows when light left the screen.
 *
 * Index: sac_ledger_init  sac_ledger_add  sac_ledger_break  sac_ledger_wake_sd_ns  sac_ledger_tell
 *        sac_default_slice_def  sac_slice_init  sac_slice_plan  sac_slice_learn
 *        sac_ticker_init  sac_ticker_advance  sac_ticker_nudge
 */
#ifndef SAC_XR_FRAME_TIME_H
#define SAC_XR_FRAME_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- ledger ---- */

/* What the runtime said about a frame. */
typedef struct sac_frame_stamp {
    uint64_t wait_begin_ns, wake_ns; /* around the runtime's wait, monotonic clock; 0: not measured */
    int64_t predicted_xr;            /* as the runtime said it, on its own clock */
    int64_t period_ns;               /* as the runtime said it */
    bool should_render;
} sac_frame_stamp;

typedef struct sac_frame_verdict {
    uint32_t missed;    /* periods between the last prediction and this one that no frame was made for */
    int64_t period_ns;  /* believed: the runtime's where it makes sense, else the last good one */
    int64_t display_xr; /* believed: what the runtime said, or one period after the last when that is
                           negative, backward or absurd. The runtime's own clock */
    int64_t step_ns;    /* from the last believed display time to this one; 0 in the first frame */
    bool strange;       /* something in the stamp was not believed */
} sac_frame_verdict;

typedef struct sac_ledger {
    uint64_t frames, rendered, missed, missed_frames /* frames with a gap before them */, strange;
    uint32_t longest_miss;            /* periods */
    int64_t display_xr, period_ns;    /* believed, of the last frame; period 0: none believed yet */
    int64_t odd_xr;                   /* a prediction that was not believed, 0: none. If the next one goes on
                                         from it, the clock itself has moved */
    uint64_t wake_ns;                 /* of the last frame; 0: not measured */
    double wake_mean_ns, wake_spread; /* of wake-to-wake: mean, and sum of squared differences from it */
    uint64_t wakes;                   /* in them */
    bool any;
} sac_ledger;

void sac_ledger_init(sac_ledger *ledger);
/* missed = round(delta predicted / period) - 1. The period of the first frame is not counted with (some
 * runtimes say 16 ms and mean 50); where the period changes, the longer of the two is. A step of more than
 * half a second is believed only if our clock says the same. What a strange frame hides is counted by the
 * next good one, so that the sum stays exact. */
void sac_ledger_add(sac_ledger *ledger, const sac_frame_stamp *stamp, sac_frame_verdict *out_verdict);
/* The session stopped or was lost: the gap before its next frame is nobody's miss. Counts stay. */
void sac_ledger_break(sac_ledger *ledger);
/* Standard deviation of the time from wake to wake; 0 below two of them. */
double sac_ledger_wake_sd_ns(const sac_ledger *ledger);
/* One line for people into `out` (always terminated); returns it. */
const char *sac_ledger_tell(const sac_ledger *ledger, char *out, size_t size);

/* ---- slice ---- */

typedef struct sac_slice_def {
    uint64_t most_ns;        /* never longer than this; default 4 ms */
    uint64_t least_ns;       /* never shorter, however late it is; default 0.2 ms */
    uint64_t margin_ns;      /* at the start, and never below; default 0.5 ms */
    uint64_t most_margin_ns; /* default 4 ms */
} sac_slice_def;

enum { SAC_SLICE_COSTS = 64 };

typedef struct sac_slice {
    sac_slice_def def;
    uint64_t margin_ns; /* grows at a miss, shrinks slowly without */
    uint64_t render_ns; /* what drawing and handing over is expected to take: 95 of 100 took no longer */
    uint64_t costs[SAC_SLICE_COSTS];       /* the last ones, in a ring */
    uint32_t cost_count, cost_next, quiet; /* quiet: frames since the margin last changed */
} sac_slice;

sac_slice_def sac_default_slice_def(void);
void sac_slice_init(sac_slice *slice, const sac_slice_def *def); /* def may be NULL */
/* The deadline for physics, on the monotonic clock: wake + period or the predicted display time, whichever
 * comes first, less the expected cost of drawing, less the margin; within [now + least, now + most].
 * wake_ns, predicted_ns 0 and period_ns <= 0: not known; when nothing is, now + most. */
uint64_t sac_slice_plan(const sac_slice *slice, uint64_t now_ns, uint64_t wake_ns, uint64_t predicted_ns,
                        int64_t period_ns);
/* After the frame: what drawing took from the end of physics to the hand-over (0: nothing was drawn), and
 * how many periods were missed, as the verdict of the next frame says. */
void sac_slice_learn(sac_slice *slice, uint64_t render_ns, uint32_t missed);

/* ---- ticker ---- */

/* The picture at display time T shows simulated time rate * (T - first display time), always, whatever the
 * refresh rate: between the last two states. It starts in the middle between them, so that a display as fast
 * as the steps gets one step a frame even when its times jitter. */
typedef struct sac_ticker {
    double dt;           /* of a step, s; default 1/90 */
    double rate;         /* 1; slow motion below, 0 paused; may be changed at any time */
    uint32_t most_steps; /* in one frame; what is over is let go and counted; default 8 */
    bool any;
    int64_t display_ns; /* latest so far */
    double elapsed_ns;  /* simulated; exact at rate 1 for a hundred days */
    uint64_t steps;     /* taken so far */
    uint64_t dropped;   /* steps let go */
} sac_ticker;

void sac_ticker_init(sac_ticker *ticker, double dt); /* dt <= 0: the default */
/* How many steps to take for a picture at this display time (any clock, ns), and where it lies between the
 * last two states: 0 the one before the last, 1 the last. Backward times take no step until the old time is
 * reached again; more than half a second back is a new clock, which goes on from here. */
uint32_t sac_ticker_advance(sac_ticker *ticker, int64_t display_ns, double *out_alpha);
/* One step more at the next call, for stepping while paused. */
void sac_ticker_nudge(sac_ticker *ticker);

#endif
