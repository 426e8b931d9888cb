#include "scheduler/perceive_kernel_internal.h"
