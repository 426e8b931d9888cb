/* Figures to be made of soft matter: rounded parts melted together, as one closed mesh of even triangles.
 *
 *   sac_mesh *mesh;
 *   sac_figure_mesh("duck", 440, &mesh, &error);           // about so many vertices
 *   uint32_t colour = sac_figure_colour("duck", vertex);   // 0: the body's own
 *
 * y is up, metres; toys are centred about the origin, plants stand with their roots on it. The same numbers
 * on every machine.
 *
 * Index: sac_figure_mesh  sac_figure_colour  sac_figure_name
 */
#ifndef SAC_APPS_FIGURE_H
#define SAC_APPS_FIGURE_H

#include "spheretree/spheretree.h"

/* ERROR_ARGUMENT for an unknown name or a wish that is not within 64 to 200,000 vertices. */
sac_result sac_figure_mesh(const char *name, uint32_t vertices, sac_mesh **out_mesh, sac_error *error);
/* sRGB 0xAABBGGRR of the part that is nearest, alpha: how much of it; 0 where the figure leaves it to the
 * body, and for names that are not known. */
uint32_t sac_figure_colour(const char *name, const float at[3]);
/* NULL past the last. */
const char *sac_figure_name(uint32_t index);

#endif
