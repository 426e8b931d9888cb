/* A set for the solver without a scene: bodies on a cubic lattice, pressed on their neighbours below and
 * beside, numbered at random as bodies in a pile are. One to four points a contact, 2.5 on average. */
#ifndef SAC_BENCH_CONTACT_LATTICE_H
#define SAC_BENCH_CONTACT_LATTICE_H

#include "response/response.h"

/* Fills the solver's next set with about `contacts` contacts (returned); every third coordinate's first layer
 * lies on one fixed body. Each call with the same seed gives the same set. ERROR_MEMORY: 0. */
uint32_t sac_contact_lattice(sac_solver *solver, uint32_t contacts, float rolling, float restitution,
                             uint64_t seed);

#endif
