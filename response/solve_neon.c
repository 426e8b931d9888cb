#include "response/solve_kernel_internal.h"
