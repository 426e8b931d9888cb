/* Which touches of a front become contacts: the deepest, and others well spread around it. The arithmetic is
 * in touch_kernel_internal.h. */
#include "spheretree/meeting_internal.h"

uint32_t sac_touch_choose(sac_touch_list *list, uint32_t most, uint32_t *out_chosen)
{
    return sac_kernel_active()->choose(list, most, out_chosen);
}

static void move_touch(sac_touch_list *list, uint32_t to, uint32_t from)
{
    list->depth[to] = list->depth[from];
    list->x[to] = list->x[from], list->y[to] = list->y[from], list->z[to] = list->z[from];
    list->nx[to] = list->nx[from], list->ny[to] = list->ny[from], list->nz[to] = list->nz[from];
    list->a[to] = list->a[from], list->b[to] = list->b[from];
    list->final[to] = list->final[from];
}

void sac_touch_thin(sac_touch_list *list)
{
    uint32_t chosen[SAC_CONTACT_MOST], count = sac_touch_choose(list, SAC_CONTACT_MOST, chosen);
    /* In the order they lie, so that none is overwritten before it moved. */
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && chosen[k] < chosen[k - 1]; k--) {
            uint32_t later = chosen[k];
            chosen[k] = chosen[k - 1];
            chosen[k - 1] = later;
        }
    for (uint32_t i = 0; i < count; i++) move_touch(list, i, chosen[i]);
    list->count = count;
    list->padded = UINT32_MAX;
}
