#include "spheretree/field_kernel_internal.h"
