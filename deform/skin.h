/* What carries a skin: for each point of a soft body the affine map of the rest space around it.
 *
 *   sac_soft_joints(soft, rows);               // once a frame, before drawing
 *   // vertex = sum over its points i of weight[i] * (rows[i] * (rest vertex, 1)); soft_shape.h has the
 * weights
 *
 * Index: sac_soft_joints
 */
#ifndef SAC_DEFORM_SKIN_H
#define SAC_DEFORM_SKIN_H

#include "shape_matching.h"

/* Rows (a | t) of each point: a is the derivative at the point of the map its own cluster was last matched
 * with, so that normals turn with it; t takes the rest point exactly (to rounding) where the point is now.
 * `out_rows` has room for sac_soft_model_points. Reads only: any number of threads, while nobody steps. */
void sac_soft_joints(const sac_soft *soft, float (*out_rows)[3][4]);

#endif
