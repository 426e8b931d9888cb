/* A soft body taken for a rigid one; see soft_whole.c. Private to deform/. */
#ifndef SAC_DEFORM_SOFT_WHOLE_INTERNAL_H
#define SAC_DEFORM_SOFT_WHOLE_INTERNAL_H

#include "deform/soft_response.h"

typedef struct sac_soft_whole {
    float centre[3], v[3], w[3], before[6]; /* v and w as they were */
    float inverse_mass, inverse_inertia[6]; /* 0: held, or its turn has not come */
} sac_soft_whole;

void sac_soft_whole_gather(const sac_soft_party *party, sac_soft_whole *out_whole);
/* All points take part in what changed. */
void sac_soft_whole_spread(const sac_soft_party *party, const sac_soft_whole *whole);

#endif
