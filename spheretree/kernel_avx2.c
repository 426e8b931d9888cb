#include "spheretree/kernel_internal.h"
