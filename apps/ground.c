/* Soft shadows on the ground: each node of its grid takes the mean of a window as wide as its own softness.
 * Rows first, then columns, twice; sums from the start of a line make every window cost the same. */
#include "apps/render_internal.h"

static uint32_t clamp_index(float x, uint32_t count)
{
    if (x <= 0) return 0;
    return x >= (float)count ? count : (uint32_t)x;
}

/* One line of `count` nodes, `stride` apart; `sums` has count + 1 entries. */
static void soften_line(float (*light)[3], const float *soft, uint32_t count, uint32_t stride, float squeeze,
                        double (*sums)[3])
{
    for (int k = 0; k < 3; k++) sums[0][k] = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) sums[i + 1][k] = sums[i][k] + light[(size_t)i * stride][k];
    for (uint32_t i = 0; i < count; i++) {
        float half = lesser(soft[(size_t)i * stride] * squeeze, 40.0f);
        uint32_t first = clamp_index((float)i - half + 0.5f, count),
                 last = clamp_index((float)i + half + 1.5f, count);
        if (last <= first + 1) continue;
        for (int k = 0; k < 3; k++)
            light[(size_t)i * stride][k] = (float)((sums[last][k] - sums[first][k]) / (last - first));
    }
}

void sac_render_soften_ground(sac_render *render)
{
    uint32_t columns = render->ground_columns, rows = render->ground_rows,
             longest = columns > rows ? columns : rows;
    double(*sums)[3] = sac_alloc(longest + 1, sizeof *sums);
    /* Seen from the side the ground is foreshortened. */
    float squeeze = greater(0.15f, -dot3(render->camera->forward, render->camera->upright));
    if (!sums) {
        render->failed = true;
        return;
    }
    for (int round = 0; round < 2; round++) {
        for (uint32_t y = 0; y < rows; y++)
            soften_line(render->ground_light + (size_t)y * columns, render->ground_soft + (size_t)y * columns,
                        columns, 1, 0.7f, sums);
        for (uint32_t x = 0; x < columns; x++)
            soften_line(render->ground_light + x, render->ground_soft + x, rows, columns, 0.7f * squeeze,
                        sums);
    }
    sac_free(sums, longest + 1, sizeof *sums);
}
