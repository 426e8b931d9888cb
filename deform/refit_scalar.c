#define SAC_SIMD_PLAIN 1
#include "deform/refit_kernel_internal.h"
