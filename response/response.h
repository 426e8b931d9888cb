/* The door of response/: what a collision does. */
#ifndef SAC_RESPONSE_RESPONSE_H
#define SAC_RESPONSE_RESPONSE_H

#include "manifold.h"
#include "solver.h"

#endif
