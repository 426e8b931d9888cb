#define SAC_SIMD_PLAIN 1
#include "deform/look_kernel_internal.h"
