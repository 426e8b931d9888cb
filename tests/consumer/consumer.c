/* The ten lines somebody writes first, out of an install tree. */
#include <stdio.h>

#include <saccade/base/error.h>
#include <saccade/base/geometry.h>
#include <saccade/spheretree/spheretree.h>

int main(void)
{
    sac_transform turn = {.translation = {1, 2, 3}, .scale = 2, .rotation = {0, 0, 0, 1}};
    float out[3];
    sac_transform_point(&turn, (float[3]){1, 1, 1}, out);
    printf("%g %g %g, %s, %s\n", out[0], out[1], out[2], sac_method_name(SAC_METHOD_MEDIAL),
           sac_result_name(SAC_ERROR_FORMAT));
    return out[0] == 3 && out[1] == 4 && out[2] == 5 ? 0 : 1;
}
