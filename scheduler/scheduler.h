/* The door of scheduler/: who gets the time. A viewer becomes a focus, pairs become visible errors, errors
 * become groups, and groups are worked off until the time is up. */
#ifndef SAC_SCHEDULER_SCHEDULER_H
#define SAC_SCHEDULER_SCHEDULER_H

#include "viewer.h"
#include "perception.h"
#include "budget.h"
#include "agenda.h"

#endif
