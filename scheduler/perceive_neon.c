#include "scheduler/perceive_kernel_internal.h"
#include "scheduler/rank_kernel_internal.h"
