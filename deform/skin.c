/* Joints of all points, cluster by cluster, so that a map is loaded once. */
#include "deform/skin.h"

#include "deform/soft_internal.h"

void sac_soft_joints(const sac_soft *soft, float (*out_rows)[3][4])
{
    if (!soft || !out_rows) return;
    const sac_soft_model *m = soft->model;
    const sac_match_kernels *kernels = sac_match_kernels_active();
    for (uint32_t c = 0; c < m->cluster_count; c++) kernels->joints(soft, c, out_rows);
}
