#define SAC_SIMD_PLAIN 1
#include "scheduler/perceive_kernel_internal.h"
#include "scheduler/rank_kernel_internal.h"
