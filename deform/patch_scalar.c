#define SAC_SIMD_PLAIN 1
#include "deform/patch_kernel_internal.h"
