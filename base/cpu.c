#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SAC_SIMD_COUNT] = {"scalar", "sse2", "avx2", "avx512", "neon"};

/* -1 until chosen. Relaxed is enough: every thread would choose the same. */
static atomic_int active = -1;

const char *sac_simd_name(sac_simd simd) { return (unsigned)simd < SAC_SIMD_COUNT ? names[simd] : "unknown"; }

bool sac_simd_from_name(const char *name, sac_simd *out)
{
    for (int i = 0; i < SAC_SIMD_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (sac_simd)i;
            return true;
        }
    return false;
}

bool sac_simd_supported(sac_simd simd)
{
    switch (simd) {
    case SAC_SIMD_SCALAR:
        return true;
#if defined(__x86_64__)
    case SAC_SIMD_SSE2:
        return true;
    case SAC_SIMD_AVX2:
        return __builtin_cpu_supports("avx2");
    case SAC_SIMD_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#elif defined(__aarch64__)
    case SAC_SIMD_NEON:
        return true;
#endif
    default:
        return false;
    }
}

static sac_simd best(void)
{
    static const sac_simd order[] = {SAC_SIMD_AVX512, SAC_SIMD_AVX2, SAC_SIMD_NEON, SAC_SIMD_SSE2};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (sac_simd_supported(order[i])) return order[i];
    return SAC_SIMD_SCALAR;
}

sac_simd sac_simd_active(void)
{
    int chosen = atomic_load_explicit(&active, memory_order_relaxed);
    if (chosen >= 0) return (sac_simd)chosen;
    sac_simd simd = best(), wanted;
    const char *name = getenv("SACCADE_SIMD");
    if (name && sac_simd_from_name(name, &wanted) && sac_simd_supported(wanted)) simd = wanted;
    atomic_store_explicit(&active, (int)simd, memory_order_relaxed);
    return simd;
}

sac_result sac_simd_force(sac_simd simd, sac_error *error)
{
    if (!sac_simd_supported(simd))
        return sac_error_set(error, SAC_ERROR_UNSUPPORTED, "choose another SIMD path, or none for the best",
                             "this CPU or build has no %s", sac_simd_name(simd));
    atomic_store_explicit(&active, (int)simd, memory_order_relaxed);
    return SAC_OK;
}
