#define SAC_SIMD_PLAIN 1
#include "spheretree/kernel_internal.h"
