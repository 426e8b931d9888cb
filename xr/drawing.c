/* Defaults of a frame and of the renderer. */
#include "xr/drawing.h"

#include <stdlib.h>

sac_drawing sac_default_drawing(void)
{
    return (sac_drawing){
        .sky =
            {
                .sun = {0.45f, 1.0f, 0.35f},
                .horizon = 0xFFE8E2DCu,
                .zenith = 0xFFB59A84u,
                .ground = 0xFFC9CDD1u,
                .grid = true,
                .shadow_reach = 6,
            },
        .near_plane = 0.05f,
    };
}

sac_renderer_def sac_default_renderer_def(void)
{
    return (sac_renderer_def){
        .samples = 4,
        .multiview = true,
        .shadow_size = 2048,
        .level_pixels = 6,
        .validation = getenv("SACCADE_VALIDATION") != NULL,
    };
}
