#include "deform/look_kernel_internal.h"
