/* The storm as one sees it: a short video or a strip of pictures, and two stills.
 *
 * Index: sac_demo_film_make
 */
#ifndef SAC_APPS_DEMO_FILM_H
#define SAC_APPS_DEMO_FILM_H

#include "apps/demo_trees.h"

enum { SAC_FILM_STRIP = 6 };

typedef struct sac_demo_film {
    const char *video; /* file name in the folder; NULL: none */
    char strip[SAC_FILM_STRIP][24];
    uint32_t strip_count;
    bool stills;
    char still[2][24]; /* as it is; by visible error */
    char about[320];
    char device[128];
} sac_demo_film;

/* Where nothing can draw (no Vulkan, or built without it) the film stays empty and that is no error. */
sac_result sac_demo_film_make(sac_demo_film *film, const sac_demo_def *def, sac_error *error);

#endif
