/* The second page of saccade demo: how objects become trees and what an interrupted descent knows.
 *
 * Index: sac_demo_trees
 */
#ifndef SAC_APPS_DEMO_TREES_H
#define SAC_APPS_DEMO_TREES_H

#include <stdbool.h>

#include <jansson.h>

#include "base/error.h"

typedef struct sac_demo_def {
    const char *folder;
    uint32_t threads, width; /* of the pictures */
    bool quick;
} sac_demo_def;

/* Writes trees.html, pictures and baked trees to the folder; *out_json has "shapes" and "pairs". */
sac_result sac_demo_trees(const sac_demo_def *def, json_t **out_json, sac_error *error);

#endif
