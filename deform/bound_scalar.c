#define SAC_SIMD_PLAIN 1
#include "deform/bound_kernel_internal.h"
