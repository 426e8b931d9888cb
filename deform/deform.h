/* The door of deform/: shapes that change, and what they look like to a collision.
 *
 *   #include <saccade/deform/deform.h>
 *
 *   sac_soft_def def = sac_default_soft_def();
 *   sac_soft_model *model;
 *   sac_soft *soft;
 *   sac_soft_model_create(points, NULL, count, &def, &model, NULL);
 *   sac_soft_create(model, NULL, &soft, NULL);
 *   sac_soft_step(&soft, 1, &(sac_soft_step_def){.dt = 1.0f / 90, .gravity = {0, -9.81f, 0}}, NULL, NULL);
 *   sac_soft_destroy(&soft);
 *   sac_soft_model_destroy(&model);
 */
#ifndef SAC_DEFORM_DEFORM_H
#define SAC_DEFORM_DEFORM_H

#include "shape_matching.h"
#include "meshless.h"
#include "skin.h"
#include "soft_motion.h"
#include "soft_response.h"
#include "soft_shape.h"
#include "soft_tree.h"

#endif
