/* Which triangles share an edge. Half-edges are dropped into one bucket per lower vertex by counting, so a
 * bucket holds a handful and the whole is linear; a fan of a million triangles still sorts in n log n. */
#include "spheretree/mesh_internal.h"

static void sift_down(uint64_t *keys, size_t from, size_t count)
{
    uint64_t key = keys[from];
    for (size_t child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && keys[child + 1] > keys[child]) child++;
        if (keys[child] <= key) break;
        keys[from] = keys[child];
    }
    keys[from] = key;
}

void sac_keys_sort(uint64_t *keys, size_t count)
{
    if (count > 24) {
        for (size_t i = count / 2; i-- > 0;) sift_down(keys, i, count);
        for (size_t end = count - 1; end > 0; end--) {
            uint64_t top = keys[0];
            keys[0] = keys[end];
            keys[end] = top;
            sift_down(keys, 0, end);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* A key is other vertex << 32 | half-edge << 1 | direction; the half-edge fits because of the limits. */
_Static_assert((uint64_t)SAC_MESH_MOST_VERTICES < (1u << 31),
               "half-edges must leave a bit for the direction");

static void count_bucket(const uint64_t *keys, size_t count, uint32_t *mates, sac_edge_counts *counts)
{
    for (size_t i = 0, end; i < count; i = end) {
        size_t forward = 0;
        for (end = i; end < count && keys[end] >> 32 == keys[i] >> 32; end++) forward += keys[end] & 1;
        size_t uses = end - i;
        if (uses == 1)
            counts->boundary++;
        else if (uses > 2)
            counts->crowded++;
        else if (forward != 1)
            counts->clashing++;
        if (2 * forward != uses) counts->balanced = false;
        if (uses == 2 && mates) {
            uint32_t first = (uint32_t)keys[i] >> 1, second = (uint32_t)keys[i + 1] >> 1;
            mates[first] = second;
            mates[second] = first;
        }
    }
}

sac_result sac_mesh_edges(const sac_mesh *mesh, uint32_t *mates, sac_edge_counts *out_counts,
                          sac_error *error)
{
    size_t half_edges = (size_t)mesh->triangle_count * 3, buckets = (size_t)mesh->vertex_count + 1;
    const uint32_t *corners = mesh->triangles[0];
    uint32_t *start = sac_alloc_zero(buckets, sizeof *start);
    uint64_t *keys = sac_alloc(half_edges, sizeof *keys);
    sac_result result = SAC_OK;
    *out_counts = (sac_edge_counts){.balanced = true};
    if (!start || !keys) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the edges of %u triangles",
                               mesh->triangle_count);
        goto done;
    }
    if (mates) memset(mates, 0xff, half_edges * sizeof *mates);
    for (size_t h = 0; h < half_edges; h++) {
        uint32_t from = corners[h], to = corners[h % 3 == 2 ? h - 2 : h + 1];
        if (from != to) start[from < to ? from : to]++;
    }
    uint32_t sum = 0;
    for (size_t v = 0; v < buckets; v++) {
        uint32_t size = start[v];
        start[v] = sum;
        sum += size;
    }
    for (size_t h = 0; h < half_edges; h++) {
        uint32_t from = corners[h], to = corners[h % 3 == 2 ? h - 2 : h + 1];
        if (from == to) continue;
        uint32_t low = from < to ? from : to, high = from < to ? to : from;
        keys[start[low]++] = (uint64_t)high << 32 | (uint64_t)h << 1 | (from < to);
    }
    /* Filling moved every start to its bucket's end, which is the next one's start. */
    uint32_t begin = 0;
    for (size_t v = 0; v + 1 < buckets; v++) {
        sac_keys_sort(keys + begin, start[v] - begin);
        count_bucket(keys + begin, start[v] - begin, mates, out_counts);
        begin = start[v];
    }
done:
    sac_free(keys, half_edges, sizeof *keys);
    sac_free(start, buckets, sizeof *start);
    return result;
}
