#include "deform/patch_kernel_internal.h"
