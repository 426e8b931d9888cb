#include "deform/bound_kernel_internal.h"
