/* Repair: weld, drop what has no area, and hand the rest to orientation. Works on copies and swaps them in at
 * the end, so that a failure leaves the mesh as it was. */
#include "spheretree/mesh_internal.h"

static uint32_t float_bits(float x)
{
    uint32_t bits;
    x += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_point(const float p[3])
{
    uint64_t h = (uint64_t)float_bits(p[0]) << 32 | float_bits(p[1]);
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ float_bits(p[2])) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 32);
}

/* remap[v] = the first vertex at the same place. */
static bool weld(const sac_mesh *mesh, uint32_t *remap, uint32_t *out_welded)
{
    size_t size = 16;
    while (size < (size_t)mesh->vertex_count * 2) size *= 2;
    uint32_t *table = sac_alloc(size, sizeof *table);
    if (!table) return false;
    memset(table, 0xff, size * sizeof *table);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const float *p = mesh->vertices[v];
        size_t slot = hash_point(p) & (size - 1);
        for (; table[slot] != UINT32_MAX; slot = (slot + 1) & (size - 1)) {
            const float *q = mesh->vertices[table[slot]];
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
        }
        if (table[slot] == UINT32_MAX)
            table[slot] = v;
        else
            ++*out_welded;
        remap[v] = table[slot];
    }
    sac_free(table, size, sizeof *table);
    return true;
}

static bool has_area(const sac_mesh *mesh, const uint32_t t[3])
{
    const float *a = mesh->vertices[t[0]], *b = mesh->vertices[t[1]], *c = mesh->vertices[t[2]];
    double u[3], v[3];
    for (int i = 0; i < 3; i++) u[i] = (double)b[i] - a[i], v[i] = (double)c[i] - a[i];
    return u[1] * v[2] != u[2] * v[1] || u[2] * v[0] != u[0] * v[2] || u[0] * v[1] != u[1] * v[0];
}

static double squared_length(const sac_mesh *mesh, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double d = (double)mesh->vertices[a][i] - mesh->vertices[b][i];
        sum += d * d;
    }
    return sum;
}

/* Directed edges of a triangle list, to find a neighbour and to keep up with swaps. */
#define NOBODY UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)
typedef struct edge_map {
    uint64_t *keys;
    uint32_t *triangles; /* NOBODY when the edge is gone, SEVERAL when it is used more than once */
    size_t size;
} edge_map;

static size_t edge_slot(const edge_map *map, uint32_t from, uint32_t to)
{
    uint64_t key = (uint64_t)from << 32 | to, h = key * 0x9e3779b97f4a7c15u;
    size_t slot = (h ^ (h >> 31)) & (map->size - 1);
    while (map->keys[slot] != UINT64_MAX && map->keys[slot] != key) slot = (slot + 1) & (map->size - 1);
    return slot;
}

static uint32_t edge_owner(const edge_map *map, uint32_t from, uint32_t to)
{
    size_t slot = edge_slot(map, from, to);
    return map->keys[slot] == UINT64_MAX ? NOBODY : map->triangles[slot];
}

static void edge_set(edge_map *map, uint32_t from, uint32_t to, uint32_t triangle)
{
    size_t slot = edge_slot(map, from, to);
    map->keys[slot] = (uint64_t)from << 32 | to;
    map->triangles[slot] = triangle;
}

static void edge_hand_over(edge_map *map, uint32_t from, uint32_t to, uint32_t triangle)
{
    if (edge_owner(map, from, to) != SEVERAL) edge_set(map, from, to, triangle);
}

/* A triangle t whose corner b lies on its edge a-c cannot just be dropped: that would leave a slit. Swapping
 * the edge a-c with the neighbour (a, c, d) gives (a, b, d) and (b, c, d), which have area. */
static bool swap_edge(const sac_mesh *mesh, edge_map *map, uint32_t (*triangles)[3], uint32_t t)
{
    int longest = 0;
    double length = -1;
    for (int i = 0; i < 3; i++) {
        double l = squared_length(mesh, triangles[t][i], triangles[t][(i + 1) % 3]);
        if (l > length) length = l, longest = i;
    }
    uint32_t c = triangles[t][longest], a = triangles[t][(longest + 1) % 3],
             b = triangles[t][(longest + 2) % 3];
    uint32_t n = edge_owner(map, a, c);
    if (edge_owner(map, c, a) != t || n == NOBODY || n == SEVERAL) return false;
    uint32_t d = triangles[n][0] ^ triangles[n][1] ^ triangles[n][2] ^ a ^ c;
    if (d == b || edge_owner(map, b, d) != NOBODY || edge_owner(map, d, b) != NOBODY) return false;
    uint32_t first[3] = {a, b, d}, second[3] = {b, c, d};
    if (!has_area(mesh, triangles[n]) || !has_area(mesh, first) || !has_area(mesh, second)) return false;
    memcpy(triangles[t], first, sizeof first);
    memcpy(triangles[n], second, sizeof second);
    edge_set(map, c, a, NOBODY);
    edge_set(map, a, c, NOBODY);
    edge_hand_over(map, a, b, t);
    edge_hand_over(map, d, a, t);
    edge_hand_over(map, b, c, n);
    edge_hand_over(map, c, d, n);
    edge_set(map, b, d, t);
    edge_set(map, d, b, n);
    return true;
}

/* Give area to the triangles in `list` where a neighbour can lend some. A run of points on one line resolves
 * from one of its ends, so the list is walked both ways until nothing changes. */
static bool reshape(const sac_mesh *mesh, uint32_t (*triangles)[3], uint32_t triangle_count, uint32_t *list,
                    size_t list_count, uint32_t *out_reshaped)
{
    edge_map map = {.size = 16};
    size_t edges = (size_t)triangle_count * 3 + list_count * 2; /* an item leaves the list when it swaps */
    while (map.size < edges * 2) map.size *= 2;
    map.keys = sac_alloc(map.size, sizeof *map.keys);
    map.triangles = sac_alloc(map.size, sizeof *map.triangles);
    bool enough = map.keys && map.triangles;
    if (enough) {
        memset(map.keys, 0xff, map.size * sizeof *map.keys);
        for (uint32_t t = 0; t < triangle_count; t++)
            for (int i = 0; i < 3; i++) {
                uint32_t from = triangles[t][i], to = triangles[t][(i + 1) % 3];
                edge_set(&map, from, to, edge_owner(&map, from, to) == NOBODY ? t : SEVERAL);
            }
        size_t before;
        int rounds = 0;
        do {
            before = list_count;
            size_t kept = 0;
            for (size_t i = 0; i < list_count; i++) {
                uint32_t t = list[i];
                if (swap_edge(mesh, &map, triangles, t))
                    ++*out_reshaped;
                else
                    list[kept++] = t;
            }
            list_count = kept;
            for (size_t i = 0; i < kept / 2; i++) {
                uint32_t t = list[i];
                list[i] = list[kept - 1 - i];
                list[kept - 1 - i] = t;
            }
        } while (list_count && list_count < before && ++rounds < 64);
    }
    sac_free(map.keys, map.size, sizeof *map.keys);
    sac_free(map.triangles, map.size, sizeof *map.triangles);
    return enough;
}

static bool drop_degenerate(const sac_mesh *mesh, uint32_t (*triangles)[3], uint32_t *triangle_count,
                            sac_mesh_report *report)
{
    sac_array(uint32_t) flat = {0};
    uint32_t kept = 0;
    bool enough = true;
    for (uint32_t t = 0; t < *triangle_count && enough; t++) {
        uint32_t *p = triangles[t];
        if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) continue;
        if (!has_area(mesh, p)) enough = sac_array_push(&flat, kept);
        memmove(triangles[kept++], p, sizeof *triangles);
    }
    report->degenerate_triangles = *triangle_count - kept;
    *triangle_count = kept;
    if (enough && flat.count) {
        enough = reshape(mesh, triangles, kept, flat.data, flat.count, &report->reshaped_triangles);
        kept = 0;
        for (uint32_t t = 0; t < *triangle_count; t++)
            if (has_area(mesh, triangles[t])) memmove(triangles[kept++], triangles[t], sizeof *triangles);
        report->degenerate_triangles += *triangle_count - kept;
        *triangle_count = kept;
    }
    sac_array_fini(&flat);
    return enough;
}

/* Corners in ascending order. */
static void sorted_corners(const uint32_t t[3], uint32_t out[3])
{
    uint32_t low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    out[0] = t[2] < low ? t[2] : low;
    out[2] = t[2] > high ? t[2] : high;
    out[1] = low ^ high ^ t[2] ^ out[0] ^ out[2];
}

/* Buckets by lowest vertex, as for edges; inside one, equal pairs of the other two are duplicates. */
static bool drop_duplicates(uint32_t vertex_count, uint32_t (*triangles)[3], uint32_t *triangle_count,
                            uint32_t *out_dropped)
{
    uint32_t count = *triangle_count, sum = 0, kept = 0;
    size_t buckets = (size_t)vertex_count + 1;
    uint32_t *start = sac_alloc_zero(buckets, sizeof *start);
    uint64_t *keys = sac_alloc(count, sizeof *keys);
    bool *drop = sac_alloc_zero(count, sizeof *drop);
    bool enough = start && keys && drop;
    if (!enough) goto done;
    for (uint32_t t = 0; t < count; t++) {
        uint32_t c[3];
        sorted_corners(triangles[t], c);
        start[c[0]]++;
    }
    for (size_t v = 0; v < buckets; v++) {
        uint32_t size = start[v];
        start[v] = sum;
        sum += size;
    }
    for (uint32_t t = 0; t < count; t++) {
        uint32_t c[3];
        sorted_corners(triangles[t], c);
        keys[start[c[0]]++] = (uint64_t)c[1] << 32 | t;
    }
    uint32_t begin = 0;
    for (size_t v = 0; v + 1 < buckets; begin = start[v++]) {
        uint32_t end = start[v];
        sac_keys_sort(keys + begin, end - begin);
        for (uint32_t i = begin; i < end;) {
            uint32_t next = i + 1;
            while (next < end && keys[next] >> 32 == keys[i] >> 32) next++;
            /* One edge: swap its middle vertex for the third one and sort the run again. */
            for (uint32_t j = i; j < next && next - i > 1; j++) {
                uint32_t c[3];
                sorted_corners(triangles[(uint32_t)keys[j]], c);
                keys[j] = (uint64_t)c[2] << 32 | (uint32_t)keys[j];
            }
            if (next - i > 1) sac_keys_sort(keys + i, next - i);
            for (uint32_t j = i + 1; j < next; j++)
                if (keys[j] >> 32 == keys[j - 1] >> 32) drop[(uint32_t)keys[j]] = true;
            i = next;
        }
    }
    for (uint32_t t = 0; t < count; t++)
        if (!drop[t]) memmove(triangles[kept++], triangles[t], sizeof *triangles);
    *out_dropped = count - kept;
    *triangle_count = kept;
done:
    sac_free(start, buckets, sizeof *start);
    sac_free(keys, count, sizeof *keys);
    sac_free(drop, count, sizeof *drop);
    return enough;
}

/* Number the used vertices in order into `remap`. */
static uint32_t number_used(uint32_t *remap, uint32_t vertex_count, uint32_t (*triangles)[3],
                            uint32_t triangle_count)
{
    memset(remap, 0xff, (size_t)vertex_count * sizeof *remap);
    for (uint32_t t = 0; t < triangle_count; t++)
        for (int i = 0; i < 3; i++) remap[triangles[t][i]] = 0;
    uint32_t used = 0;
    for (uint32_t v = 0; v < vertex_count; v++)
        if (remap[v] == 0) remap[v] = used++;
    return used;
}

sac_result sac_mesh_repair(sac_mesh *mesh, sac_mesh_report *out_report, sac_error *error)
{
    sac_mesh_report report = {0};
    if (out_report) *out_report = report;
    SAC_NEED(error, mesh);
    sac_result result = sac_mesh_check(mesh, error);
    if (result != SAC_OK) return result;

    uint32_t old_count = mesh->triangle_count, old_vertices = mesh->vertex_count, count = old_count, used = 0;
    uint32_t *remap = sac_alloc(old_vertices, sizeof *remap);
    uint32_t(*triangles)[3] = sac_alloc(old_count, sizeof *triangles);
    sac_mesh *clean = NULL;
    bool enough = remap && triangles && weld(mesh, remap, &report.welded_vertices);
    if (enough) {
        for (uint32_t t = 0; t < count; t++)
            for (int i = 0; i < 3; i++) triangles[t][i] = remap[mesh->triangles[t][i]];
        enough = drop_degenerate(mesh, triangles, &count, &report) &&
                 drop_duplicates(mesh->vertex_count, triangles, &count, &report.duplicate_triangles);
    }
    if (!enough) {
        result = sac_error_set(error, SAC_ERROR_MEMORY, "use a coarser mesh",
                               "no memory to repair %u triangles", old_count);
        goto done;
    }
    if (count == 0) {
        result = sac_error_set(error, SAC_ERROR_EMPTY, "check the mesh and its scale in a viewer",
                               "all %u triangles have no area", old_count);
        goto done;
    }
    used = number_used(remap, mesh->vertex_count, triangles, count);
    report.unused_vertices = mesh->vertex_count - report.welded_vertices - used;
    result = sac_mesh_allocate(used, count, mesh->name, &clean, error);
    if (result != SAC_OK) goto done;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        if (remap[v] != UINT32_MAX)
            memcpy(clean->vertices[remap[v]], mesh->vertices[v], sizeof *clean->vertices);
    for (uint32_t t = 0; t < count; t++)
        for (int i = 0; i < 3; i++) clean->triangles[t][i] = remap[triangles[t][i]];
    result = sac_mesh_orient(clean, &report, error);
    if (result != SAC_OK) goto done;
    sac_mesh old = *mesh;
    *mesh = *clean;
    *clean = old;
    if (out_report) *out_report = report;
done:
    sac_mesh_destroy(&clean);
    sac_free(triangles, old_count, sizeof *triangles);
    sac_free(remap, old_vertices, sizeof *remap);
    return result;
}
