#define SAC_SIMD_PLAIN 1
#include "deform/match_kernel_internal.h"
