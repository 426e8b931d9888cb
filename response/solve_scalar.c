#define SAC_SIMD_PLAIN 1
#include "response/solve_kernel_internal.h"
