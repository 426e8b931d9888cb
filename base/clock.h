/* Clocks behind one interface: wall time for people, work credits for tests, experiments and replays, or the
 * caller's own.
 * Code under a deadline asks sac_clock_now() and tells sac_clock_spend() what it did; which clock it runs on
 * is the caller's choice, so a time-critical run can be repeated exactly.
 *
 *   sac_clock clock = sac_clock_credits(500);           // half a nanosecond a credit, starts at 0
 *   sac_clock_spend(&clock, 64);                        // 64 node tests
 *   sac_clock_now(&clock);                              // 32 ns
 *
 * Index: sac_clock_monotonic  sac_clock_credits  sac_clock_caller  sac_clock_now  sac_clock_spend
 *        sac_time_now_ns  sac_time_thread_cpu_ns
 */
#ifndef SAC_BASE_CLOCK_H
#define SAC_BASE_CLOCK_H

#include <stdint.h>

typedef enum sac_clock_kind { SAC_CLOCK_MONOTONIC, SAC_CLOCK_CREDITS, SAC_CLOCK_CALLER } sac_clock_kind;

typedef struct sac_clock {
    sac_clock_kind kind;
    uint64_t spent;         /* credits, counted on both clocks */
    uint64_t ps_per_credit; /* picoseconds, so that a fraction of a nanosecond can be a credit */
    uint64_t (*now)(
        void *user); /* the caller's clock, nanoseconds; it may jump, nobody relies on it not to */
    void *user;
} sac_clock;

/* Machine time, in nanoseconds from an arbitrary start; never goes back. */
uint64_t sac_time_now_ns(void);
/* CPU time of the calling thread. Ten times dearer to read than the wall clock. */
uint64_t sac_time_thread_cpu_ns(void);

sac_clock sac_clock_monotonic(void);
sac_clock sac_clock_credits(uint64_t ps_per_credit);
sac_clock sac_clock_caller(uint64_t (*now)(void *user), void *user);

/* Nanoseconds on this clock. */
static inline uint64_t sac_clock_now(const sac_clock *clock)
{
    if (clock->kind == SAC_CLOCK_MONOTONIC) return sac_time_now_ns();
    if (clock->kind == SAC_CLOCK_CALLER) return clock->now(clock->user);
    return clock->spent * clock->ps_per_credit / 1000u;
}

static inline void sac_clock_spend(sac_clock *clock, uint64_t credits) { clock->spent += credits; }

#endif
