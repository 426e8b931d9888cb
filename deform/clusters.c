/* Overlapping clusters of a point set. Points are halved along their longest side until there are as many
 * groups as wanted: balanced, never empty, whatever the points are. A group's box, grown on all sides, is a
 * cluster's region. Neighbours must share enough points to hold on to each other, so boxes grow until all of
 * them hang together. */
#include "deform/soft_internal.h"

#include <stdlib.h>

static void halve(const float (*points)[3], sac_keyed *all, uint32_t count, uint32_t groups, uint32_t first,
                  uint32_t *home)
{
    while (groups > 1) {
        sac_box box = sac_box_empty();
        for (uint32_t i = 0; i < count; i++) sac_box_add(&box, points[all[i].point]);
        int axis = 0;
        for (int k = 1; k < 3; k++)
            if (box.high[k] - box.low[k] > box.high[axis] - box.low[axis]) axis = k;
        for (uint32_t i = 0; i < count; i++) all[i].key = points[all[i].point][axis];
        qsort(all, count, sizeof *all, sac_keyed_order);
        uint32_t left = groups / 2, cut = (uint32_t)((uint64_t)count * left / groups);
        halve(points, all, cut, left, first, home);
        all += cut, count -= cut, groups -= left, first += left;
    }
    for (uint32_t i = 0; i < count; i++) home[all[i].point] = first;
}

static bool inside(const sac_box *box, const float point[3], float grow)
{
    for (int k = 0; k < 3; k++) {
        float by = (box->high[k] - box->low[k]) * grow;
        if (!(point[k] >= box->low[k] - by && point[k] <= box->high[k] + by)) return false;
    }
    return true;
}

static uint32_t root_of(uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/* Enough to hang on to: three points, or all that the smaller one has. */
static bool hold_together(const sac_cluster_lists *lists, uint32_t *up)
{
    uint32_t n = lists->count, parts = n;
    for (uint32_t i = 0; i < n; i++) up[i] = i;
    for (uint32_t a = 0; a < n && parts > 1; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            uint32_t ra = root_of(up, a), rb = root_of(up, b), common = 0;
            if (ra == rb) continue;
            uint32_t i = lists->first[a], j = lists->first[b], ie = lists->first[a + 1],
                     je = lists->first[b + 1];
            uint32_t small = ie - i < je - j ? ie - i : je - j, need = small < 3 ? small : 3;
            while (i < ie && j < je && common < need) {
                uint32_t p = lists->point[i], q = lists->point[j];
                common += p == q;
                i += p <= q, j += q <= p;
            }
            if (common >= need) up[ra] = rb, parts--;
        }
    return parts == 1;
}

sac_result sac_clusters_make(sac_arena *arena, const float (*points)[3], uint32_t count, uint32_t wanted,
                             float overlap, sac_cluster_lists *out, sac_error *error)
{
    uint32_t n = wanted < count ? wanted : count;
    out->count = n;
    out->home = sac_arena_alloc(arena, count, sizeof *out->home);
    out->first = sac_arena_alloc(arena, n + 1, sizeof *out->first);
    sac_arena scratch;
    sac_arena_init(&scratch);
    sac_keyed *all = sac_arena_alloc(&scratch, count, sizeof *all);
    sac_box *boxes = sac_arena_alloc(&scratch, n, sizeof *boxes);
    uint32_t *up = sac_arena_alloc(&scratch, n, sizeof *up);
    sac_result result = SAC_OK;
    if (!out->home || !out->first || !all || !boxes || !up) {
        result =
            sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the clusters of %u points", count);
        goto done;
    }
    for (uint32_t i = 0; i < count; i++) all[i].point = i;
    halve(points, all, count, n, 0, out->home);
    for (uint32_t c = 0; c < n; c++) boxes[c] = sac_box_empty();
    for (uint32_t i = 0; i < count; i++) sac_box_add(&boxes[out->home[i]], points[i]);
    sac_arena_mark mark = sac_arena_mark_now(arena);
    for (float grow = overlap;; grow = grow * 1.5f + 0.05f) {
        bool everything = grow > 1e6f;
        uint64_t total = 0;
        for (uint32_t c = 0; c < n; c++)
            for (uint32_t i = 0; i < count; i++)
                total += out->home[i] == c || everything || inside(&boxes[c], points[i], grow);
        if (total > UINT32_MAX / 8) {
            result = sac_error_set(error, SAC_ERROR_LIMIT, "ask for fewer clusters or less overlap",
                                   "%u clusters of %u points overlap too much", n, count);
            break;
        }
        out->point = sac_arena_alloc(arena, (size_t)total, sizeof *out->point);
        if (!out->point) {
            result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the clusters of %u points",
                                   count);
            break;
        }
        uint32_t at = 0;
        for (uint32_t c = 0; c < n; c++) {
            out->first[c] = at;
            for (uint32_t i = 0; i < count; i++)
                if (out->home[i] == c || everything || inside(&boxes[c], points[i], grow))
                    out->point[at++] = i;
        }
        out->first[n] = at;
        if (everything || hold_together(out, up)) break;
        sac_arena_rewind(arena, mark);
    }
done:
    sac_arena_fini(&scratch);
    return result;
}
