/* Which SIMD path runs. Chosen once from what the CPU has; SACCADE_SIMD=scalar|sse2|avx2|avx512|neon or
 * sac_simd_force() pick another. All paths give the same bits.
 *
 * Index: sac_simd_active  sac_simd_force  sac_simd_supported  sac_simd_name  sac_simd_from_name
 */
#ifndef SAC_BASE_CPU_H
#define SAC_BASE_CPU_H

#include <stdbool.h>

#include "error.h"

typedef enum sac_simd {
    SAC_SIMD_SCALAR,
    SAC_SIMD_SSE2,
    SAC_SIMD_AVX2,
    SAC_SIMD_AVX512,
    SAC_SIMD_NEON,
    SAC_SIMD_COUNT
} sac_simd;

/* The path in use. First call reads SACCADE_SIMD; a name the machine cannot run is ignored. */
sac_simd sac_simd_active(void);
/* Use this path from now on. ERROR_UNSUPPORTED when this CPU or build cannot. Not for the middle of a query.
 */
sac_result sac_simd_force(sac_simd simd, sac_error *error);
bool sac_simd_supported(sac_simd simd);
const char *sac_simd_name(sac_simd simd);
/* False for an unknown name. */
bool sac_simd_from_name(const char *name, sac_simd *out);

#endif
