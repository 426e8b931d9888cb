#define SAC_SIMD_PLAIN 1
#include "spheretree/field_kernel_internal.h"
