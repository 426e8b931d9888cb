#include "deform/match_kernel_internal.h"
