#include "bench/peer.h"

#include <stddef.h>
#include <string.h>

static const sac_peer_engine *const engines[] = {
    &sac_peer_saccade,
#ifdef SACCADE_BULLET
    &sac_peer_bullet,
#endif
#ifdef SACCADE_ODE
    &sac_peer_ode,
#endif
    NULL,
};
enum { ENGINES = sizeof engines / sizeof *engines - 1 };

const sac_peer_engine *sac_peer_engine_at(uint32_t index)
{
    return engines[index <= ENGINES ? index : ENGINES];
}

const sac_peer_engine *sac_peer_engine_named(const char *name)
{
    uint32_t i = 0;
    while (engines[i] && strcmp(engines[i]->name, name) != 0) i++;
    return engines[i];
}

const char *sac_peer_missing(void)
{
#if defined(SACCADE_BULLET) && defined(SACCADE_ODE)
    return NULL;
#elif defined(SACCADE_BULLET)
    return "ODE is not in this build: install libode-dev and configure again";
#elif defined(SACCADE_ODE)
    return "Bullet is not in this build: install libbullet-dev and a C++ compiler, and configure again";
#else
    return "Bullet and ODE are not in this build: install libbullet-dev, libode-dev and a C++ compiler, and "
           "configure again";
#endif
}
