#include "deform/refit_kernel_internal.h"
