/* A recording's steps timed again: whether a frame that was late then was late by its own work.
 *
 * Each pass replays the whole recording, so every frame has done the same work as often as there are passes.
 * The median of them is what the work takes here; what a frame took beyond that when it was recorded came
 * from outside it: a core taken away, caches emptied by others.
 *
 *   sac_replay_times times = {0};
 *   for each pass: for each frame: sac_replay_times_add(&times, &frame, &error);
 *                  sac_replay_times_close(&times, &error);
 *   sac_replay_times_judge(&times, 0, &error);
 *   sac_replay_times_say(&times);
 *   sac_replay_times_fini(&times);
 *
 * Index: sac_miss_verdict  sac_verdict_name  sac_replay_times_add  sac_replay_times_close
 *        sac_replay_times_judge  sac_replay_times_say  sac_replay_times_json  sac_replay_times_fini
 */
#ifndef SAC_APPS_REPLAY_TIME_H
#define SAC_APPS_REPLAY_TIME_H

#include "apps/console.h"
#include "base/memory.h"
#include "bench/percentile.h"
#include "runtime/world.h"

enum { SAC_MOST_PASSES = 100 };

typedef enum sac_verdict { SAC_VERDICT_HOST, SAC_VERDICT_WORK, SAC_VERDICT_OPEN, SAC_VERDICTS } sac_verdict;
const char *sac_verdict_name(sac_verdict verdict); /* "host", "own work", "not decided" */

/* Of a frame that missed: `replayed_us` is the median of its passes on one thread. Host up to 50 us over the
 * budget, own work from 250 us on, which is where a miss begins. A world that had `threads` shared its work
 * out, and one thread may well take longer for all of it: then more is not decided. */
sac_verdict sac_miss_verdict(double budget_us, double replayed_us, uint32_t threads);

typedef struct sac_timed_miss {
    uint64_t frame;
    double budget_us, recorded_us, median_us, least_us;
    sac_verdict verdict;
} sac_timed_miss;

typedef struct sac_timed_frame {
    uint64_t hash, cpu_ns, budget_ns; /* as recorded */
    uint32_t threads;                 /* 0: the recording does not tell the times */
} sac_timed_frame;

typedef struct sac_replay_times {
    uint32_t passes; /* whole ones */
    uint64_t at;     /* frames of the pass that is under way */
    sac_array(sac_timed_frame) frames;
    sac_array(uint64_t) cpu_ns; /* of all frames, pass after pass */
    /* Judged. Microseconds; NaN where there is nothing. */
    sac_percentiles recorded_us, replayed_us;
    double least_budget_us, most_budget_us;
    double spread;    /* of one frame's passes, longest less shortest, as a part of the median; that of the
                         median    frame: how quiet the machine is now */
    uint32_t threads; /* most of any frame; 0: nothing was timed */
    sac_array(sac_timed_miss) misses;
    uint64_t count[SAC_VERDICTS];
} sac_replay_times;

/* The next frame of this pass. ERROR_CORRUPT when it is not that of the pass before. */
sac_result sac_replay_times_add(sac_replay_times *times, const sac_replay_frame *frame, sac_error *error);
/* The pass is over, at the end of the recording or at the damage. */
sac_result sac_replay_times_close(sac_replay_times *times, sac_error *error);
/* Finds the misses and judges them, from the passes that were closed. `first_other`: first frame that
 * differed from the recording, 0: none; from there on the work was another and nothing is decided. */
sac_result sac_replay_times_judge(sac_replay_times *times, uint64_t first_other, sac_error *error);

void sac_replay_times_say(const sac_replay_times *times);
json_t *sac_replay_times_json(const sac_replay_times *times);
void sac_replay_times_fini(sac_replay_times *times);

#endif
