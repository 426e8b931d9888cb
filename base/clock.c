#include "base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sac_time_now_ns(void) { return read_ns(CLOCK_MONOTONIC); }

uint64_t sac_time_thread_cpu_ns(void) { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

sac_clock sac_clock_monotonic(void) { return (sac_clock){.kind = SAC_CLOCK_MONOTONIC}; }

sac_clock sac_clock_credits(uint64_t ps_per_credit)
{
    return (sac_clock){.kind = SAC_CLOCK_CREDITS, .ps_per_credit = ps_per_credit};
}

sac_clock sac_clock_caller(uint64_t (*now)(void *user), void *user)
{
    return (sac_clock){.kind = SAC_CLOCK_CALLER, .now = now, .user = user};
}
