#include "bench/noise_floor.h"

#include <math.h>

#include "base/clock.h"

bool sac_noise_floor_spin(sac_noise_floor *floor, uint64_t budget_ns)
{
    /* Room first, so that the loop is followed by nothing but the clocks. */
    if (!sac_array_reserve(&floor->wall_us, floor->wall_us.count + 1) ||
        !sac_array_reserve(&floor->cpu_us, floor->cpu_us.count + 1) ||
        !sac_array_reserve(&floor->stall_us, floor->stall_us.count + 1))
        return false;
    uint64_t cpu = sac_time_thread_cpu_ns(), start = sac_time_now_ns(), deadline = start + budget_ns;
    uint64_t now = start, stall = 0;
    while (now < deadline) {
        uint64_t before = now;
        now = sac_time_now_ns();
        if (now - before > stall) stall = now - before;
    }
    cpu = sac_time_thread_cpu_ns() - cpu;
    floor->wall_us.data[floor->wall_us.count++] = (double)(now - deadline) * 1e-3;
    floor->cpu_us.data[floor->cpu_us.count++] = ((double)cpu - (double)budget_ns) * 1e-3;
    floor->stall_us.data[floor->stall_us.count++] = (double)stall * 1e-3;
    return true;
}

sac_percentiles sac_noise_floor_wall_us(sac_noise_floor *floor)
{
    return sac_percentiles_of(floor->wall_us.data, floor->wall_us.count);
}

sac_percentiles sac_noise_floor_cpu_us(sac_noise_floor *floor)
{
    return sac_percentiles_of(floor->cpu_us.data, floor->cpu_us.count);
}

sac_percentiles sac_noise_floor_stall_us(sac_noise_floor *floor)
{
    return sac_percentiles_of(floor->stall_us.data, floor->stall_us.count);
}

uint64_t sac_noise_floor_allowance_ns(const sac_noise_floor *floor, size_t first)
{
    double most = 0;
    for (size_t i = first; i < floor->cpu_us.count; i++)
        if (floor->cpu_us.data[i] > most) most = floor->cpu_us.data[i];
    return (uint64_t)(fmin(most + 50, 250) * 1e3);
}

void sac_noise_floor_clear(sac_noise_floor *floor)
{
    floor->wall_us.count = floor->cpu_us.count = floor->stall_us.count = 0;
}

void sac_noise_floor_fini(sac_noise_floor *floor)
{
    sac_array_fini(&floor->wall_us);
    sac_array_fini(&floor->cpu_us);
    sac_array_fini(&floor->stall_us);
}
